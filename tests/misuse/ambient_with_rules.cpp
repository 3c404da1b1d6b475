// A context with metadata observes the calls with plain arguments of a thread.
// expect: overdub: an ambient context only observes, and this one has rules, metadata or passes; run the function in it
#define OVERDUB_AMBIENT 1
#include <overdub/ambient.hpp>
#include <overdub/contexts/count.hpp>
#include <overdub/contexts/forward.hpp>

void observe() {
#ifdef OVERDUB_MENDED
  overdub::ambient const with(overdub::contexts::count{});
#else
  overdub::ambient const with(overdub::contexts::forward{});
#endif
}
