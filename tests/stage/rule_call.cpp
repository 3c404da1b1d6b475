#include "call/recorder.hpp"
#include "catch.hpp"

#include <overdub/stage/evaluate.hpp>
// A rule goes on in the context that runs, also in a program that is staged: its hooks fire as they do directly.
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
struct noisy : recorder<"A"> {
  using recorder::recorder;
  auto overdub(rule_call auto call, decltype(square), auto x) { return call.recurse(x) + 1.0; }
};
} // namespace

TEST_CASE("an inherited rule of a staged program goes on in the heir") {
  events direct, staged;
  heir a(direct), b(staged);
  double const result = overdub::run(a, norm, 3.0, 4.0);
  ir::program const p = stage(b, norm, signature<double, double>);
  CHECK(staged.empty());
  CHECK(evaluate<double>(p, 3.0, 4.0) == result);
  CHECK(staged == direct);
}

TEST_CASE("a rule for a function without arguments goes on in a staged program") {
  events direct, staged;
  nullary a(direct), b(staged);
  double const result = overdub::run(a, doubled, 3.0);
  ir::program const p = stage(b, doubled, signature<double>);
  CHECK(evaluate<double>(p, 3.0) == result);
  CHECK(staged == direct);
}

TEST_CASE("without_hooks hears nothing in a staged program") {
  events list;
  noisy a(list);
  auto quiet = without_hooks(a);
  ir::program const p = stage(quiet, square, signature<double>);
  CHECK(evaluate<double>(p, 3.0) == 10.0);
  CHECK(list.empty());
}
