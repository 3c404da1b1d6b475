#include "call/recorder.hpp"
#include "catch.hpp"

#include <overdub/stage/evaluate.hpp>

#include <algorithm>
// A rule recurses in the context of the run, also in a staged program: its hooks observe what they observe in direct runs.
namespace {
using namespace overdub;
struct going_on : context {
  auto overdub(rule_call auto call, decltype(square), auto x) { return call.recurse(x); }
};
struct heir : going_on {
  static constexpr std::string_view name = "A";
  events* list;
  explicit heir(events& e) : list(&e) {}
  void before(callee auto f, auto const&...) { list->push_back(entry("A", "", f.name())); }
};
constexpr auto two = fn<"two">([](scope auto& cx) { return cx.lift(1.0) + 1.0; });
constexpr auto doubled = fn<"doubled">([](scope auto& cx, auto x) -> decltype(x) { return cx(two) * x; });
struct nullary : recorder<"A"> {
  using recorder::recorder;
  auto overdub(rule_call auto call, decltype(two)) { return call.recurse(); }
};
struct of_any_arity : context {
  template <rule_call Call, class... X>
  recurse_t<Call, decltype(square), X...> overdub(Call call, decltype(square), X... x) {
    return call.recurse(x...) + 1.0;
  }
};
struct noisy : recorder<"A"> {
  using recorder::recorder;
  auto overdub(rule_call auto call, decltype(square), auto x) { return call.recurse(x) + 1.0; }
};
constexpr auto factorial = fn<"factorial">([](scope auto& cx, auto n) -> decltype(n) {
  return if_(
      n < 1.5, [&] { return n * 1.0; },
      [&] {
        auto const rest = cx.self(n - 1.0);
        return n * rest;
      });
});
constexpr auto two_factorials = fn<"two_factorials">([](auto x) {
  auto const y = factorial(x);
  return factorial(y - 3.0);
});
struct one_more : context {
  template <rule_call Call, class X>
  recurse_t<Call, decltype(factorial), X> overdub(Call call, decltype(factorial), X x) {
    return call.recurse(x) + 1.0;
  }
};
struct doubling : recorder<"A"> {
  using recorder::recorder;
  template <rule_call Call, function F, class... X>
  recurse_t<Call, F, X...> overdub(Call call, F, X... x) {
    return call.recurse(x...) * 2.0;
  }
};
} // namespace

TEST_CASE("an inherited rule of a staged program recurses in the derived context") {
  events direct, staged;
  heir a(direct), b(staged);
  double const result = overdub::run(a, norm, 3.0, 4.0);
  ir::program const p = stage(b, norm, signature<double, double>);
  CHECK(staged.empty());
  CHECK(evaluate<double>(p, 3.0, 4.0) == result);
  CHECK(staged == direct);
}

TEST_CASE("a rule for a function without arguments recurses in a staged program") {
  events direct, staged;
  nullary a(direct), b(staged);
  double const result = overdub::run(a, doubled, 3.0);
  ir::program const p = stage(b, doubled, signature<double>);
  CHECK(evaluate<double>(p, 3.0) == result);
  CHECK(staged == direct);
}

TEST_CASE("a rule with a pack of arguments recurses in a program that was staged before") {
  double const result = overdub::run(of_any_arity{}, norm, 3.0, 4.0);
  ir::program const p = stage(norm, signature<double, double>);
  CHECK(evaluate<double>(overdub::overdub(of_any_arity{}, p), 3.0, 4.0) == result);
}

TEST_CASE("without_hooks observes nothing in a staged program") {
  events list;
  noisy a(list);
  auto quiet = without_hooks(a);
  ir::program const p = stage(quiet, square, signature<double>);
  CHECK(evaluate<double>(p, 3.0) == 10.0);
  CHECK(list.empty());
}

TEST_CASE("rules recurse in recursive functions, staged as in direct runs") {
  double const expected = overdub::run(one_more{}, two_factorials, 3.0);
  ir::program const p = stage(one_more{}, two_factorials, signature<double>);
  CHECK(evaluate<double>(p, 3.0) == expected);
  CHECK(std::ranges::count_if(p.functions, [&](ir::function const& f) {
          return p.text(f.name).starts_with("factorial");
        }) == 1);
  CHECK(
      evaluate<double>(overdub::overdub(one_more{}, stage(two_factorials, signature<double>)), 3.0) ==
      expected);
}

TEST_CASE("contexts outside and inside of a recursing rule observe the same, staged as in direct runs") {
  events direct, staged;
  doubling a(direct), b(staged);
  recorder<"B"> direct_inner(direct), staged_inner(staged);
  double const result = overdub::run(compose(a, direct_inner), factorial, 3.0);
  ir::program const p = stage(compose(b, staged_inner), factorial, signature<double>);
  CHECK(staged.empty());
  CHECK(evaluate<double>(p, 3.0) == result);
  CHECK(staged == direct);
}
