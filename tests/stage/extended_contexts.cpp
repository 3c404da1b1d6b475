// Run by g++: the sanitizers run evaluate, which shares its code.
// A context that extends others has their rules, hooks and `enter` in programs that were staged before, too.
#include "catch.hpp"

#include <overdub/stage/evaluate.hpp>

#include <string>
#include <vector>

namespace {

using namespace overdub;

inline constexpr auto twice = leaf<"twice">([](double x) { return 2 * x; }, effects::pure);
inline constexpr auto square = fn<"square">([](auto x) { return x * x; });
inline constexpr auto cube = fn<"cube">([](auto x) { return x * square(x); });
inline constexpr auto function_of_all = fn<"function_of_all">([](auto x) { return twice(cube(x)); });

// Each names what it observes.
struct observes_square : context {
  std::vector<std::string> seen;
  void before(decltype(square), auto const&...) { seen.push_back("square"); }
};
struct observes_twice : context {
  int calls = 0;
  void after(decltype(twice), auto const&...) { ++calls; }
};
struct leaves_cube : context {
  auto enter(decltype(cube)) { return leave; }
};
struct observes_both : extends<observes_square, observes_twice> {};
struct observes_more : extends<observes_both> {};
struct leaves : extends<observes_both, leaves_cube> {};

} // namespace

TEMPLATE_TEST_CASE(
    "hooks of extended contexts, which name functions, observe programs that were staged before", "",
    observes_both, observes_more, leaves) {
  TestType direct, rewritten;
  double const result = overdub::run(direct, function_of_all, 3.0);
  ir::program const p = stage(function_of_all, signature<double>);
  CHECK(evaluate<double>(overdub::overdub(rewritten, p), 3.0) == result);
  CHECK(rewritten.seen == direct.seen);
  CHECK(rewritten.calls == 1);
  CHECK(direct.calls == 1);
}
