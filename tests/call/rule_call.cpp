// A rule recurses in the context of the run: a derived class, a context without its hooks, a composition, outside or inside of other
// contexts, also if no argument shows which contexts are inside. The law: the list of events is that of the context of the run.
#include "call/recorder.hpp"
#include "catch.hpp"

#include <cmath>
#include <string>

namespace {

using namespace overdub;

// The hook of a recorder alone.
template <fixed_string Name>
struct recorder_hooks {
  events* list;
  void before(callee auto f, auto const&...) { list->push_back(entry(Name.view(), "", f.name())); }
};

// Recurses into squares, and has no hooks.
struct going_on : context {
  auto overdub(rule_call auto call, decltype(square), auto x) { return call.recurse(x); }
};
template <fixed_string Name>
struct heir : going_on, recorder_hooks<Name> {
  static constexpr std::string_view name = Name.view();
  explicit heir(events& e) : recorder_hooks<Name>{&e} {}
};
// The same with metadata: the number of operations between the arguments and a value.
struct depths : context {
  template <class T>
  using metadata = int;
  int constant(auto const&) const { return 0; }
  auto overdub(elementwise auto f, auto... x) { return tag(f(x.inner...), 1 + max_of(x.metadata...)); }
  auto overdub(rule_call auto call, decltype(square), auto x) { return call.recurse(x); }

private:
  static int max_of(int x) { return x; }
  static int max_of(int x, int y) { return x < y ? y : x; }
};
struct depths_heir : depths, recorder_hooks<"A"> {
  static constexpr std::string_view name = "A";
  explicit depths_heir(events& e) : recorder_hooks<"A">{&e} {}
};

events const alone{"A norm", "A square", "A mul", "A square", "A mul", "A add", "A sqrt"};

TEST_CASE("an inherited rule recurses in the derived context, which observes the calls in the function") {
  events list;
  heir<"A"> a(list);
  CHECK(overdub::run(a, norm, 3.0, 4.0) == 5.0);
  CHECK(list == alone);
}

TEST_CASE("an inherited rule recurses in the derived context, with metadata") {
  events list;
  depths_heir a(list);
  auto const r = overdub::run(a, norm, tag(3.0, 0), tag(4.0, 0));
  CHECK(r.inner == 5.0);
  CHECK(r.metadata == 3);
  CHECK(list == alone);
}

struct noisy : recorder<"A"> {
  using recorder::recorder;
  auto overdub(rule_call auto call, decltype(square), auto x) { return call.recurse(x) + 1.0; }
};

TEST_CASE("without_hooks observes nothing, also inside of a rule that recurses") {
  events list;
  noisy a(list);
  auto quiet = without_hooks(a);
  CHECK(overdub::run(quiet, square, 3.0) == 10.0);
  CHECK(list.empty());
  recorder<"B"> b(list);
  CHECK(overdub::run(compose(quiet, b), norm, 3.0, 4.0) == overdub::run(quiet, norm, 3.0, 4.0));
  CHECK(list == events{"B norm.A", "B mul", "B add", "B mul", "B add", "B add", "B sqrt"});
}

struct extended : extends<going_on, recorder<"A">> {
  static constexpr std::string_view name = "A";
  explicit extended(events& e) : extends<going_on, recorder<"A">>{going_on{}, recorder<"A">(e)} {}
};

TEST_CASE("a rule that extends merges recurses in the whole context") {
  events list;
  extended a(list);
  CHECK(overdub::run(a, norm, 3.0, 4.0) == 5.0);
  CHECK(list == alone);
}

TEST_CASE("in compositions a rule recurses in its context and in the inner ones") {
  events list;
  heir<"A"> a(list);
  recorder<"B"> b(list);
  overdub::run(compose(a, b), square, 3.0);
  CHECK(list == events{"A square", "A mul", "B mul"});
  list.clear();
  overdub::run(compose(b, a), norm, 3.0, 4.0);
  CHECK(list.front() == "B norm");
  list.clear();
  depths_heir d(list);
  auto const r = overdub::run(compose(d, b), square, tag(3.0, 0));
  CHECK(r.metadata == 1);
  CHECK(list == events{"A square", "A mul", "B mul"});
}

// Functions without arguments, called through the scope.
constexpr auto two = fn<"two">([](scope auto& cx) { return cx.lift(1.0) + 1.0; });
constexpr auto doubled = fn<"doubled">([](scope auto& cx, auto x) -> decltype(x) { return cx(two) * x; });

struct nullary : recorder<"A"> {
  using recorder::recorder;
  auto overdub(rule_call auto call, decltype(two)) { return call.recurse(); }
};
struct nullary_out : recorder<"A"> {
  using recorder::recorder;
  auto overdub(rule_call auto call, decltype(two)) { return call.fallback(); }
};
struct replaced : recorder<"A"> {
  using recorder::recorder;
  auto overdub(rule_call auto call, decltype(two)) { return call.lift(1.0) + call(two); }
};

TEST_CASE("a rule for a function without arguments recurses with the inner contexts") {
  events list;
  recorder<"B"> b(list);
  nullary a(list);
  CHECK(overdub::run(compose(a, b), doubled, 3.0) == 6.0);
  CHECK(list == events{"A doubled", "B doubled.A", "A two", "A add", "B add", "A mul", "B mul"});
  list.clear();
  nullary_out out(list);
  CHECK(overdub::run(compose(out, b), doubled, 3.0) == 6.0);
  CHECK(list == events{"A doubled", "B doubled.A", "A two", "B two", "B add", "A mul", "B mul"});
  list.clear();
  replaced r(list);
  CHECK(overdub::run(compose(r, b), doubled, 3.0) == 9.0);
  CHECK(list == events{"A doubled", "B doubled.A", "A two", "B two", "B add", "B add", "A mul", "B mul"});
}

struct both_forms : context {
  std::string last;
  auto overdub(callee auto f, auto... x) { return last = "family", f(x...); }
  auto overdub(rule_call auto call, sin_t, auto x) { return last = "call", call.fallback(x); }
};
struct families : context {
  std::string last;
  auto overdub(rule_call auto call, callee auto, auto... x) { return last = "callee", call.fallback(x...); }
  auto overdub(rule_call auto call, math auto, auto... x) { return last = "math", call.fallback(x...); }
};

TEST_CASE("a rule that names the callee is preferred to a family, whether or not it takes a rule_call") {
  both_forms c;
  overdub::run(
      c, [](auto x) { return overdub::sin(x); }, 1.0);
  CHECK(c.last == "call");
  families d;
  overdub::run(
      d, [](auto x) { return overdub::cos(x); }, 1.0);
  CHECK(d.last == "math");
  overdub::run(
      d, [](auto x) { return x + x; }, 1.0);
  CHECK(d.last == "callee");
}

struct looking : context {
  int seen = 0;
  template <rule_call Call, class X>
  recurse_t<Call, decltype(square), X> overdub(Call call, decltype(square) f, X x) {
    static_assert(std::is_same_v<typename Call::context_type, looking>);
    call.context().seen += call.callee() == f;
    return overdub::recurse(call, f, overdub::fallback(call, f, x));
  }
};

TEST_CASE(
    "a rule_call has its callee and its context; recurse and fallback accept it instead of the context") {
  looking c;
  CHECK(overdub::run(c, square, 3.0) == 81.0);
  CHECK(c.seen == 1);
}

// A rule of the derived class hides that of the base.
struct own_heir : noisy {
  using noisy::noisy;
  auto overdub(rule_call auto call, decltype(square), auto x) { return call.recurse(x) + 2.0; }
};

TEST_CASE("the rule of a derived context hides the base's, and recurses in the derived context") {
  events list;
  own_heir a(list);
  CHECK(overdub::run(a, square, 3.0) == 11.0);
  CHECK(list == events{"A square", "A mul"});
}

// Operations and native functions on plain numbers, whose arguments do not show which contexts are inside.
constexpr auto reading = leaf<"reading">([](double x) { return 2.0 * x; });
constexpr auto of_constants = fn<"of_constants">([](scope auto& cx, auto x) -> decltype(x) {
  auto const sine = cx(overdub::sin, 1.0);
  auto const read = cx(reading, 1.0);
  return x + sine * read;
});
struct falling_back : recorder<"A"> {
  using recorder::recorder;
  auto overdub(rule_call auto call, sin_t, auto x) { return call.fallback(x); }
  auto overdub(rule_call auto call, native_leaf auto, auto x) { return call.fallback(x); }
};

TEST_CASE("inner contexts observe the fallback of operations and native functions on plain numbers") {
  events list;
  recorder<"B"> b(list);
  falling_back a(list);
  CHECK(overdub::run(compose(a, b), of_constants, 3.0) == 3.0 + std::sin(1.0) * 2.0);
  CHECK(
      list == events{
                  "A of_constants", "B of_constants.A", "A sin", "B sin", "A reading", "B reading", "A mul",
                  "B mul", "A add", "B add"});
}

} // namespace
