// The laws of composition.
#include "call/recorder.hpp"
#include "catch.hpp"

#include <boost/hana/equal.hpp>
#include <boost/hana/tuple.hpp>

#include <concepts>
#include <type_traits>
#include <utility>

namespace {

using namespace overdub;
namespace hana = boost::hana;

struct counting : context {
  int calls = 0;
  void before(callee auto, auto const&...) { ++calls; }
};

template <class Composition>
events observed(Composition contexts, events& list) {
  list.clear();
  overdub::run(contexts, norm, 3.0, 4.0);
  return list;
}

TEST_CASE("composition is associative: one type, one list of events") {
  events list;
  recorder<"A"> a(list);
  recorder<"B"> b(list);
  recorder<"C"> c(list);
  auto left = compose(compose(a, b), c);
  auto right = compose(a, compose(b, c));
  auto flat = compose(a, b, c);
  static_assert(std::same_as<decltype(left), decltype(right)>);
  static_assert(std::same_as<decltype(left), decltype(flat)>);
  auto const expected = observed(flat, list);
  CHECK(expected.size() == 21);
  CHECK(observed(left, list) == expected);
  CHECK(observed(right, list) == expected);
}

TEST_CASE("the empty composition is the identity") {
  events list;
  recorder<"A"> a(list);
  static_assert(std::same_as<decltype(compose(a, compose())), decltype(compose(a))>);
  static_assert(std::same_as<decltype(compose(compose(), a)), decltype(compose(a))>);
  CHECK(observed(compose(compose(), a), list) == observed(a, list));
  CHECK(overdub::run(compose(), norm, 3.0, 4.0) == 5.0);
  static_assert(std::same_as<decltype(overdub::run(compose(), norm, 3.0, 4.0)), double>);
}

TEST_CASE("compose of one context runs like the context") {
  events list;
  recorder<"A"> a(list);
  CHECK(observed(compose(a), list) == observed(a, list));
}

TEST_CASE("a composition's types are a tuple of types, outermost first") {
  using both = decltype(compose(std::declval<counting&>(), recorder<"B">(std::declval<events&>())));
  static_assert(decltype(both::types() == hana::tuple_t<counting, recorder<"B">>){});
}

TEST_CASE("a composition refers to contexts that are variables") {
  counting a;
  counting b;
  auto both = compose(a, b);
  overdub::run(both, square, 3.0);
  CHECK(a.calls == 2);
  CHECK(b.calls == 2);
}

TEST_CASE("a composition owns contexts that are temporaries, and copies of it are independent") {
  counting a;
  auto both = compose(a, counting{});
  auto copy = both;
  overdub::run(both, square, 3.0);
  auto& owned = hana::at_c<1>(both.contexts);
  static_assert(std::same_as<std::remove_reference_t<decltype(owned)>, counting>);
  CHECK(owned.calls == 2);
  CHECK(hana::at_c<1>(copy.contexts).calls == 0);
  CHECK(a.calls == 2);
}

TEST_CASE("a context that is moved into a composition keeps its state") {
  counting a;
  a.calls = 40;
  auto one = compose(std::move(a));
  overdub::run(one, square, 3.0);
  CHECK(hana::at_c<0>(one.contexts).calls == 42);
}

TEST_CASE("a run in a composition equals nested runs in its contexts") {
  events list;
  recorder<"A"> a(list);
  recorder<"B"> b(list);
  auto const together = observed(compose(a, b), list);
  list.clear();
  // The run of `a` starts from values of `b`'s run: one level above them.
  overdub::run(
      b, [&](auto x, auto y) { return overdub::run(a, norm, x, y); }, 3.0, 4.0);
  CHECK(list == together);
}

TEST_CASE("two contexts of one type in a composition are two levels") {
  events first;
  events second;
  recorder<"A"> a(first);
  recorder<"A"> b(second);
  overdub::run(compose(a, b), square, 3.0);
  CHECK(first == events{"A square", "A mul"});
  CHECK(second == events{"A square.A", "A mul"});
}

struct polite : context {
  using commutes_with = types<counting>;
};
static_assert(commutes_v<polite, counting> && commutes_v<counting, polite>);
static_assert(!commutes_v<counting, counting>);

struct first_of_all : context {
  using must_precede = types<counting>;
};

TEST_CASE("contexts may declare that they must precede others, and compose accepts that order") {
  CHECK(overdub::run(compose(first_of_all{}, counting{}), square, 3.0) == 9.0);
}

} // namespace
