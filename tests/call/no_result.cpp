// Functions that return nothing.
#include "catch.hpp"

#include <overdub/contexts/count.hpp>
#include <overdub/contexts/forward.hpp>
#include <overdub/derivative.hpp>

namespace {

using namespace overdub;

double said = 0;
constexpr auto say = leaf<"say">([](double x) { said += x; });
constexpr auto speak = fn<"speak">([](auto x) { say(2.0 * x); });
constexpr auto speak_in_scope = fn<"speak_in_scope">([](scope auto& cx, auto x) { cx(speak, x); });
constexpr auto answer = fn<"answer">([](auto x) {
  speak(x);
  speak_in_scope(x);
  return x;
});

TEST_CASE("a function may return nothing, in every context") {
  said = 0;
  CHECK(answer(1.0) == 1.0);
  CHECK(said == 4.0);

  contexts::count count;
  overdub::run(count, speak, 1.0);
  CHECK(overdub::run(count, answer, 1.0) == 1.0);
  CHECK(count.functions == 5);
  CHECK(said == 10.0);

  CHECK(derivative(answer, 1.0) == 1.0);
  CHECK(said == 14.0);
}

struct quiet : context {
  int calls = 0;
  void overdub(decltype(speak), auto) { ++calls; }
  void overdub(decltype(say), auto) { ++calls; }
};

TEST_CASE("a rule for a function that returns nothing may return nothing") {
  said = 0;
  quiet rules;
  CHECK(overdub::run(rules, answer, 1.0) == 1.0);
  overdub::run(
      rules, [](auto x) { say(x); }, 1.0);
  CHECK(rules.calls == 3);
  CHECK(said == 0.0);
}

} // namespace
