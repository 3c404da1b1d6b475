// Constants made of a number alone, as T s = 0, in functions that are staged: they are literals of the program.
#include "catch.hpp"

#include <overdub/contexts/forward.hpp>
#include <overdub/execute/interpreter.hpp>
#include <overdub/stage/evaluate.hpp>
#include <overdub/stage/stage.hpp>

#include <type_traits>
#include <utility>
#include <vector>

namespace {

using namespace overdub;

constexpr auto add_up = fn<"add_up">([](auto x, auto y) {
  using T = std::decay_t<decltype(x)>;
  T s = 0, c = 3;
  std::vector<T> v(2);
  v[1] = T(2);
  s += x * v[1];
  c *= T(2);
  return s + c * y + v[0];
});
constexpr auto power = fn<"power">(
    [](auto x) { return loop(i64{3}, std::decay_t<decltype(x)>(1), [&](auto, auto s) { return s * x; }); });
constexpr auto of_constants =
    fn<"of_constants">([](auto x) { return add_up(decltype(x)(2), decltype(x)(5)) + x; });

template <class P, class... X>
double run_program(P const& p, X... x) {
  return executable(p).template call<double>(x...);
}

TEST_CASE("a staged function computes with constants as the function does") {
  CHECK(add_up(1.5, 0.25) == 4.5);
  CHECK(run_program(stage(add_up, signature<double, double>), 1.5, 0.25) == 4.5);
  CHECK(power(1.5) == 3.375);
  CHECK(run_program(stage(power, signature<double>), 1.5) == 3.375);
  CHECK(of_constants(1.0) == 35.0);
  CHECK(run_program(stage(of_constants, signature<double>), 1.0) == 35.0);
}

struct calls : context {
  long number = 0;
  void before(callee auto const&, auto const&...) { ++number; }
};

TEST_CASE("so it does when it is staged in contexts, whose hooks observe its constants as literals") {
  calls direct, staged;
  CHECK(overdub::run(direct, add_up, 1.5, 0.25) == 4.5);
  CHECK(evaluate<double>(stage(staged, add_up, signature<double, double>), 1.5, 0.25) == 4.5);
  CHECK(staged.number == direct.number);
  auto const p = stage(contexts::forward{}, add_up, signature<double, double>);
  auto const [value, slope] = evaluate<double, double>(p, 1.5, 1.0, 0.25, 0.0);
  CHECK(value == 4.5);
  CHECK(slope == 2.0);
}

TEST_CASE("outside of a staging there is none to which a constant belongs") {
  CHECK(staging::current() == nullptr);
  (void)stage(add_up, signature<double, double>);
  CHECK(staging::current() == nullptr);
}

} // namespace
