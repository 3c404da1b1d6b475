// A context with a hook after calls observes one with an argument that cannot be copied.
// expect first: overdub: a context observes the end of a call, and an argument cannot be copied
#include <overdub/overdub.hpp>

#include <memory>

struct ends : overdub::context {
  int calls = 0;
  void after(overdub::callee auto const&, auto const&, auto const&...) { ++calls; }
};

constexpr auto twice = overdub::fn<"twice">([](auto p) { return *p * 2.0; });

double run() {
  ends context;
  auto p = std::make_unique<double>(2.0);
#ifdef OVERDUB_MENDED
  return overdub::run(context, twice, p.get());
#else
  return overdub::run(context, twice, std::move(p));
#endif
}
