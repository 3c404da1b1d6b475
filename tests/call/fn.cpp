// Every form of a C++ function, called through contexts.
#include "call/recorder.hpp"
#include "catch.hpp"

#include <array>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace {

using namespace overdub;

template <class F, class... X>
events observed(F const& f, X const&... x) {
  events list;
  recorder<"A"> a(list);
  overdub::run(a, f, x...);
  return list;
}

TEST_CASE("a function without contexts is an ordinary C++ call") {
  static_assert(fn<"double">([](auto x) { return 2 * x; })(21) == 42);
  CHECK(norm(3.0, 4.0) == 5.0);
  CHECK(square.name() == "square");
}

constexpr auto arities = fn<"arities">(
    [](auto x) { return x; }, [](auto x, auto y) { return x + y; },
    [](auto x, auto y, auto z) { return x * y * z; });

TEST_CASE("a function may have several arities") {
  CHECK(arities(2.0) == 2.0);
  CHECK(arities(2.0, 3.0) == 5.0);
  CHECK(observed(arities, 2.0) == events{"A arities"});
  CHECK(observed(arities, 2.0, 3.0) == events{"A arities", "A add"});
  CHECK(observed(arities, 2.0, 3.0, 4.0) == events{"A arities", "A mul", "A mul"});
}

constexpr auto total = fn<"total">([](auto... x) { return (x + ...); });
constexpr auto total_in_scope =
    fn<"total_in_scope">([](scope auto& cx, auto... x) { return cx(total, x...); });

TEST_CASE("a function may be variadic, with and without the scope") {
  CHECK(total(1.0, 2.0, 3.0) == 6.0);
  CHECK(total_in_scope(1.0, 2.0, 3.0) == 6.0);
  CHECK(observed(total, 1.0, 2.0, 3.0) == events{"A total", "A add", "A add"});
  CHECK(observed(total_in_scope, 1.0, 2.0) == events{"A total_in_scope", "A total", "A add"});
}

template <class T>
struct line {
  T slope, offset;
  template <class X>
  auto at(X x) const {
    return slope * x + offset;
  }
};
constexpr auto line_at = fn<"line_at">(&line<double>::at<double>);
constexpr auto generic_line_at = fn<"generic_line_at">([](auto const& l, auto x) { return l.at(x); });

TEST_CASE("a member function can be named, and called with its object as the first argument") {
  CHECK(line_at(line<double>{2.0, 1.0}, 3.0) == 7.0);
  CHECK(
      observed(generic_line_at, line<double>{2.0, 1.0}, 3.0) ==
      events{"A generic_line_at", "A mul", "A add"});
}

struct scaling {
  double factor;
  template <class X>
  auto operator()(X x) const {
    return factor * x;
  }
};

TEST_CASE("a function object with state is a function too, and keeps its state") {
  auto const scale = fn<"scale">(scaling{3.0});
  events list;
  recorder<"A"> a(list);
  CHECK(overdub::run(a, scale, 2.0) == 6.0);
  CHECK(
      overdub::run(
          a, [&](auto x) { return scale(x); }, 2.0) == 6.0);
  CHECK(list == events{"A scale", "A mul", "A scale", "A mul"});
}

constexpr auto twice = fn<"twice">([](auto f, auto x) { return f(f(x)); });

TEST_CASE("the context applies to function objects that are passed as arguments") {
  CHECK(observed(twice, square, 3.0) == events{"A twice", "A square", "A mul", "A square", "A mul"});
  CHECK(
      observed(
          twice, [](auto x) { return x + 1.0; }, 3.0) == events{"A twice", "A add", "A add"});
  CHECK(observed(twice, scaling{2.0}, 3.0) == events{"A twice", "A mul", "A mul"});
}

TEST_CASE("a local function may capture values") {
  auto const program = [](auto x) {
    auto const add_x = fn<"add_x">([x](auto y) { return x + y; });
    return twice(add_x, x * 10.0);
  };
  events list;
  recorder<"A"> a(list);
  recorder<"B"> b(list);
  CHECK(overdub::run(a, program, 2.0) == 24.0);
  CHECK(list == events{"A mul", "A twice", "A add_x", "A add", "A add_x", "A add"});
  CHECK(overdub::run(compose(a, b), program, 2.0) == 24.0);
}

TEST_CASE("a call whose only value is a capture of a function argument needs the scope") {
  constexpr auto apply_to = fn<"apply_to">([](auto f, auto x) { return f(x); });
  constexpr auto program = fn<"program">([=](scope auto& cx, auto x) {
    return cx(
        apply_to, [x](auto y) { return x + y; }, 1.0);
  });
  CHECK(observed(program, 2.0) == events{"A program", "A apply_to", "A add"});
}

constexpr auto pairs = fn<"pairs">([](auto p, auto xs) {
  auto product = p.first * xs[0];
  return std::tuple{product, std::pair{p.second, std::array{product, product}}};
});

TEST_CASE("a function takes and returns tuples, pairs, arrays and vectors of numbers leaf by leaf") {
  events list;
  recorder<"A"> a(list);
  recorder<"B"> b(list);
  auto const r = overdub::run(compose(a, b), pairs, std::pair{2.0, i64{7}}, std::vector<double>{4.0, 1.0});
  CHECK(r == std::tuple{8.0, std::pair{i64{7}, std::array{8.0, 8.0}}});
  CHECK(list == events{"A pairs", "B pairs.A", "A mul", "B mul"});
}

TEST_CASE("opaque objects are passed unchanged") {
  constexpr auto label = fn<"label">([](auto x, std::string const& s) {
    return std::pair{x * 2.0, s + "!"};
  });
  events list;
  recorder<"A"> a(list);
  CHECK(overdub::run(a, label, 1.0, std::string("x")) == std::pair{2.0, std::string("x!")});
}

TEST_CASE("a function may be const, constexpr, a copy or a temporary: it is the same function") {
  auto const copy = square;
  CHECK(copy == square);
  CHECK(observed(copy, 2.0) == observed(square, 2.0));
  CHECK(overdub::run(compose(), fn<"temporary">([](auto x) { return x; }), 2.0) == 2.0);
}

TEST_CASE("leaf makes a native function a primitive, which contexts observe and do not enter") {
  int calls = 0;
  auto const native = leaf<"native">([&](double x, i64 n) { return ++calls, x * static_cast<double>(n); });
  CHECK(observed(native, 2.0, i64{3}) == events{"A native"});
  CHECK(native(2.0, i64{3}) == 6.0);
  CHECK(calls == 2);
  static_assert(decltype(native)::effects == effect::ordered);
  auto const pure = leaf<"pure">([](double x) { return x; }, effects::pure);
  static_assert(decltype(pure)::effects == effect::pure);
}

TEST_CASE("a leaf that returns nothing runs once for each call") {
  int calls = 0;
  auto const say = leaf<"say">([&](double) { ++calls; });
  CHECK(
      observed(
          [&](auto x) {
            say(x);
            return x;
          },
          2.0) == events{"A say"});
  CHECK(calls == 1);
}

} // namespace

TEST_CASE("an array of C++, a string literal and a function are passed as pointers") {
  double const numbers[]{1, 2, 4};
  auto const third = fn<"last">([](double const* x) { return x[2]; });
  auto const characters = fn<"length">([](std::string const& text) { return static_cast<int>(text.size()); });
  auto const applied_twice = fn<"twice">([](auto f, double x) { return f(f(x)); });
  auto const halved = +[](double x) { return x / 2; };
  CHECK(third(numbers) == 4);
  CHECK(characters("four") == 4);
  CHECK(applied_twice(*halved, 8.0) == 2);
}
