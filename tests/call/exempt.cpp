// exempt(f): a call that no context observes, with all calls in it.
#include "call/recorder.hpp"
#include "catch.hpp"

#include <overdub/contexts/forward.hpp>
#include <overdub/derivative.hpp>

#include <cmath>
#include <utility>

namespace {

using namespace overdub;

constexpr auto scaled = fn<"scaled">([](auto x, auto y) { return norm(x, y) * 2.0; });
constexpr auto program = fn<"program">([](auto x, auto y) {
  auto const unseen = exempt(scaled)(x, y);
  return unseen + x;
});

TEST_CASE("no context observes an exempt call, nor the calls in it") {
  CHECK(program(3.0, 4.0) == 13.0);
  events list;
  recorder<"A"> a(list);
  recorder<"B"> b(list);
  CHECK(overdub::run(a, program, 3.0, 4.0) == 13.0);
  CHECK(list == events{"A program", "A add"});
  list.clear();
  CHECK(overdub::run(compose(a, b), program, 3.0, 4.0) == 13.0);
  CHECK(list == events{"A program", "B program.A", "A add", "B add"});
}

TEST_CASE("the result of an exempt call is a constant in all contexts, and the next call is observed") {
  using contexts::forward;
  auto const slope = [](auto const& f, double x) { return derivative(f, x); };
  CHECK(slope([](auto x) { return x * exempt(square)(x); }, 3.0) == 9.0);
  CHECK(slope([](auto x) { return square(exempt(square)(x) * x); }, 3.0) == 2 * 27.0 * 9.0);
  auto const twice = overdub::run(
      compose(forward{}, forward{}), [](auto x) { return x * exempt(square)(x); },
      tag(tag(3.0, 1.0), tag(1.0, 0.0)));
  CHECK(twice.metadata.inner == 9.0);
  CHECK(twice.metadata.metadata == 0.0);
}

constexpr auto read = leaf<"read">([](double x) { return x + 1.0; });
constexpr auto twice_pair =
    fn<"twice_pair">([](auto const& p) { return std::pair(p.first * 2.0, p.second * 2.0); });
constexpr auto kinds = fn<"kinds">([](scope auto& cx, auto x) -> decltype(x) {
  auto const sine = exempt(overdub::sin)(x);
  auto const native = exempt(read)(x);
  auto const scoped = cx(exempt(square), 3.0);
  auto const pair = exempt(twice_pair)(std::pair(x, 1.0));
  return x + sine + native + scoped + pair.first + pair.second;
});

TEST_CASE("exempt applies to operations, native functions, calls through the scope, and functions of trees") {
  events list;
  recorder<"A"> a(list);
  CHECK(overdub::run(a, kinds, 1.0) == kinds(1.0));
  CHECK(list == events{"A kinds", "A add", "A add", "A add", "A add", "A add"});
  auto const d = overdub::run(contexts::forward{}, kinds, tag(1.0, 1.0));
  CHECK(d.metadata == 1.0);
}

// Neither the rule nor enter applies to an exempt call.
struct refusing : recorder<"A"> {
  using recorder::recorder;
  auto overdub(decltype(scaled), auto x, auto) { return x * 0.0; }
  leave_t enter(decltype(square)) { return leave; }
};

TEST_CASE("rules do not apply to exempt calls") {
  events list;
  refusing a(list);
  CHECK(overdub::run(a, program, 3.0, 4.0) == 13.0);
  CHECK(overdub::run(a, scaled, 3.0, 4.0) == 0.0);
}

} // namespace
