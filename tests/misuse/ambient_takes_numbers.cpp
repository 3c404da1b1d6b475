// An ambient context has a hook for numbers alone.
// expect: overdub: a hook of this context accepts no call that an ambient context observes; take the arguments as auto const&... x
#define OVERDUB_AMBIENT 1
#include <overdub/ambient.hpp>
#include <overdub/overdub.hpp>

struct watch : overdub::context {
#ifdef OVERDUB_MENDED
  void before(overdub::callee auto, auto const&...) {}
#else
  void before(overdub::callee auto, double) {}
#endif
};

void observe() { overdub::ambient const with(watch{}); }
