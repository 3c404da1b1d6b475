// Several threads would share a context with state.
// expect: overdub: a context for several threads has no state, or the members C fork
#include <overdub/compile/scoped_global.hpp>

struct counting : overdub::context {
  int sines = 0;
  void before(overdub::sin_t, auto const&...) { ++sines; }
#ifdef OVERDUB_MENDED
  counting fork() { return {}; }
  void join(counting&& other) { sines += other.sines; }
#endif
};

void run() {
  counting all;
  overdub::shared_global everywhere(all);
}
