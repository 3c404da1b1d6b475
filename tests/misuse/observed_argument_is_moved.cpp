// A hook after calls names the type of an argument that cannot be copied.
// expect first: overdub: a hook observes the end of a call, and names the type of an argument that cannot be copied
#include <overdub/overdub.hpp>

#include <memory>

struct ends : overdub::context {
  int calls = 0;
#ifdef OVERDUB_MENDED
  void after(overdub::callee auto const&, auto const&, auto const&) { ++calls; }
#else
  void after(overdub::callee auto const&, auto const&, std::unique_ptr<double> const&) { ++calls; }
#endif
};

constexpr auto twice = overdub::fn<"twice">([](auto p) { return *p * 2.0; });

double run() {
  ends context;
  return overdub::run(context, twice, std::make_unique<double>(2.0));
}
