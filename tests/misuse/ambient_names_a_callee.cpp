// An ambient context has a hook that names a callee.
// expect: overdub: an ambient context observes the calls of all functions, and the hooks of this one name functions; take any callee
#define OVERDUB_AMBIENT 1
#include <overdub/ambient.hpp>
#include <overdub/overdub.hpp>

inline constexpr auto area = overdub::fn<"area">([](double r) { return 3 * r * r; });
struct watch : overdub::context {
  int calls = 0;
#ifdef OVERDUB_MENDED
  void before(overdub::callee auto f, auto const&...) { calls += f.name() == "area"; }
#else
  void before(decltype(area), auto const&...) { ++calls; }
#endif
};

int calls() {
  watch w;
  overdub::ambient const with(w);
  return w.calls;
}
