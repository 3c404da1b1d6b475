// An ambient trace is to record arguments.
// expect: overdub: an ambient context observes all calls with their names, and this one leaves some functions or records arguments
#define OVERDUB_AMBIENT 1
#include <overdub/ambient.hpp>
#include <overdub/contexts/trace.hpp>

void observe() {
#ifdef OVERDUB_MENDED
  overdub::ambient const with(overdub::contexts::trace{});
#else
  overdub::ambient const with(overdub::contexts::trace_with<overdub::contexts::tracing::arguments>{});
#endif
}
