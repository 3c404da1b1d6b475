// enter: which context a function's body runs in.
#include "call/recorder.hpp"
#include "catch.hpp"

namespace {

using namespace overdub;

constexpr auto inner_most = fn<"inner_most">([](auto x) { return x * x; });
constexpr auto middle = fn<"middle">([](auto x) {
  auto y = inner_most(x);
  return y + 1.0;
});
constexpr auto outer_most = fn<"outer_most">([](auto x) {
  auto y = middle(x);
  return y - 1.0;
});

struct leaving : recorder<"A"> {
  using recorder::recorder;
  auto& enter(callee auto) { return *this; }
  leave_t enter(decltype(middle)) { return leave; }
};

TEST_CASE("leave keeps the context out of a function and all that it calls") {
  events list;
  leaving a(list);
  CHECK(overdub::run(a, outer_most, 3.0) == 9.0);
  CHECK(list == events{"A outer_most", "A middle", "A sub"});
}

TEST_CASE("the next context observes a function that the first one left") {
  events list;
  leaving a(list);
  recorder<"B"> b(list);
  overdub::run(compose(a, b), middle, 3.0);
  CHECK(list == events{"A middle", "B middle", "B inner_most", "B mul", "B add"});
}

struct staying : recorder<"A"> {
  using recorder::recorder;
  auto& enter(callee auto) { return *this; }
};

TEST_CASE("enter that returns the context itself changes nothing") {
  events with;
  events without;
  staying a(with);
  recorder<"A"> b(without);
  overdub::run(a, outer_most, 3.0);
  overdub::run(b, outer_most, 3.0);
  CHECK(with == without);
}

template <int Depth>
struct limited : context {
  static constexpr std::string_view name = "limited";
  events* list;
  explicit limited(events& e) : list(&e) {}
  void before(callee auto f, auto const&...) { list->push_back(std::string(f.name())); }
  auto enter(callee auto) {
    if constexpr (Depth == 0)
      return leave;
    else
      return limited<Depth - 1>(*list);
  }
};

TEST_CASE("a depth limit is a template parameter") {
  events list;
  limited<0> none_at_all(list);
  overdub::run(none_at_all, outer_most, 3.0);
  CHECK(list == events{"outer_most"});
  list.clear();
  limited<1> one(list);
  overdub::run(one, outer_most, 3.0);
  CHECK(list == events{"outer_most", "middle", "sub"});
  list.clear();
  limited<2> two(list);
  CHECK(overdub::run(two, outer_most, 3.0) == 9.0);
  CHECK(list == events{"outer_most", "middle", "inner_most", "add", "sub"});
}

struct marking : context {
  template <class T>
  using metadata = int;
  int constant(auto const&) { return 0; }
  auto overdub(elementwise auto f, auto... x) { return tag(f(x.inner...), (x.metadata + ...)); }
};
struct marking_outside : marking {
  auto& enter(callee auto) { return *this; }
  leave_t enter(decltype(middle)) { return leave; }
};

TEST_CASE("leaving a function replaces the metadata of its result by a constant's") {
  marking inside;
  CHECK(overdub::run(inside, outer_most, tag(3.0, 7)).metadata == 14);
  marking_outside outside;
  auto const r = overdub::run(outside, outer_most, tag(3.0, 7));
  CHECK(r.inner == 9.0);
  CHECK(r.metadata == 0);
}

struct other_marking : marking {
  auto overdub(elementwise auto f, auto... x) { return tag(f(x.inner...), (x.metadata * ... * 10)); }
};
struct switching : marking {
  other_marking other;
  auto& enter(callee auto) { return *this; }
  auto& enter(decltype(inner_most)) { return other; }
};

TEST_CASE("metadata passes through a function that runs in another context with the same metadata") {
  switching c;
  auto const r = overdub::run(c, outer_most, tag(3.0, 7));
  CHECK(r.inner == 9.0);
  CHECK(r.metadata == 490);
}

// Adds its depth to each product: each function runs in another context than its caller does.
template <int Depth>
struct deepening : context {
  template <class X, class Y>
  auto overdub(mul_t f, X x, Y y) {
    return f(x, y) + static_cast<double>(Depth);
  }
  auto enter(callee auto) { return deepening<Depth + 1>{}; }
};
struct leaving_inside : context {
  auto overdub(mul_t f, auto x, auto y) { return f(x, y) + 100.0; }
  template <function F>
  requires(std::same_as<origin_t<F>, std::remove_const_t<decltype(middle)>>) leave_t enter(F) {
    return leave;
  }
  template <function F>
  auto& enter(F) {
    return *this;
  }
};

TEST_CASE("a context that enter replaces at each call does so inside of other contexts, too") {
  CHECK(overdub::run(deepening<0>{}, outer_most, 3.0) == 9.0 + 3.0);
  events list;
  recorder<"A"> a(list);
  CHECK(overdub::run(compose(a, deepening<0>{}), outer_most, 3.0) == 9.0 + 3.0);
  CHECK(list == events{"A outer_most", "A middle", "A inner_most", "A mul", "A add", "A sub"});
  CHECK(overdub::run(compose(deepening<0>{}, deepening<10>{}), outer_most, 3.0) == 9.0 + 13.0 + 3.0);
  CHECK(overdub::run(compose(a, deepening<0>{}, marking{}), outer_most, tag(3.0, 7)).inner == 12.0);
}

TEST_CASE("a context leaves a function inside of other contexts") {
  events list;
  recorder<"A"> a(list);
  CHECK(overdub::run(compose(a, leaving_inside{}), outer_most, 3.0) == 9.0);
  CHECK(list == events{"A outer_most", "A middle", "A inner_most", "A mul", "A add", "A sub"});
  CHECK(overdub::run(compose(a, leaving_inside{}), inner_most, 3.0) == 109.0);
}

// Observes functions of numbers, and leaves functions of arrays; it leaves `middle` only for floats.
struct by_types : recorder<"A"> {
  using recorder::recorder;
  auto& enter(callee auto) { return *this; }
  leave_t enter(decltype(middle), argument_types<float>) { return leave; }
  template <class T>
  leave_t enter(function auto, argument_types<array<T>>) {
    return leave;
  }
};
constexpr auto of_array = fn<"of_array">([](auto const& xs) { return inner_most(at(xs, i64{0})); });
constexpr auto mixed = fn<"mixed">([](auto x, auto y, auto const& xs) {
  auto const a = middle(x);
  auto const b = middle(y);
  auto const c = of_array(xs);
  auto const d = convert<double>(a);
  auto const e = d + b;
  return e + c;
});

TEST_CASE("enter receives the types of the arguments without any context") {
  events list;
  by_types a(list);
  CHECK(overdub::run(a, mixed, 2.0f, 3.0, array<double>{4.0}) == 31.0);
  events const wanted{"A mixed", "A middle",   "A middle",  "A inner_most", "A mul",
                      "A add",   "A of_array", "A convert", "A add",        "A add"};
  CHECK(list == wanted);
  list.clear();
  CHECK(
      overdub::run(compose(a, marking{}), mixed, tag(2.0f, 1), tag(3.0, 2), array<double>{4.0}).inner ==
      31.0);
  CHECK(list == wanted);
}

// Decides by the types of the numbers in a tree, and enters another context.
struct by_pairs : marking {
  other_marking other;
  auto& enter(decltype(inner_most), argument_types<double>) { return other; }
  leave_t enter(function auto, argument_types<std::pair<double, int>>) { return leave; }
};
constexpr auto of_pair = fn<"of_pair">([](auto const& p) { return inner_most(p.first); });
constexpr auto pair_and_number = fn<"pair_and_number">([](auto x, auto n) {
  auto const a = of_pair(std::pair(x, n));
  auto const b = inner_most(x);
  return std::pair(a, b);
});

TEST_CASE("enter by types applies to trees, lifts constants on leaving, and may enter other contexts") {
  by_pairs c;
  auto const [left, entered] = overdub::run(c, pair_and_number, tag(3.0, 7), 1);
  CHECK(left.inner == 9.0);
  CHECK(left.metadata == 0);
  CHECK(entered.inner == 9.0);
  CHECK(entered.metadata == 490);
}

} // namespace
