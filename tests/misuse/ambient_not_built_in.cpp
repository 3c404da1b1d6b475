// An ambient context in a program that is built without them.
// expect: overdub: ambient contexts are not built into this program; define OVERDUB_AMBIENT as 1 for all of its units
#ifdef OVERDUB_MENDED
#define OVERDUB_AMBIENT 1
#endif
#include <overdub/ambient.hpp>
#include <overdub/contexts/count.hpp>

long calls() {
  overdub::contexts::count count;
  overdub::ambient const with(count);
  return count.functions;
}
