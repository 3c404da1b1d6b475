// The primitives that only move data, with and without contexts.
#include "call/recorder.hpp"
#include "catch.hpp"

#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace {

using namespace overdub;
using Catch::Contains;

struct no_op : context {};
struct marking : context {
  template <class T>
  using metadata = int;
  int constant(auto const&) { return 0; }
};

array<double> const xs{1.0, 2.0, 3.0};

TEST_CASE("at out of range throws an error with the index and the size, with and without contexts") {
  auto const program = [](auto a, auto i) { return at(a, i); };
  CHECK_THROWS_WITH(program(xs, i64{3}), Contains("at") && Contains("index 3") && Contains("size 3"));
  CHECK_THROWS_WITH(overdub::run(no_op{}, program, xs, i64{-1}), Contains("index -1") && Contains("size 3"));
  CHECK_THROWS_WITH(overdub::run(marking{}, program, xs, i64{7}), Contains("index 7") && Contains("size 3"));
  CHECK(overdub::run(compose(no_op{}, no_op{}), program, xs, i64{2}) == 3.0);
}

TEST_CASE("size, iota and fill have the specified elements, and reject negative sizes") {
  CHECK(size(xs) == 3);
  CHECK(iota(i64{3}) == array<i64>{0, 1, 2});
  CHECK(iota(i64{0}).empty());
  CHECK(fill(i64{2}, 1.5) == array<double>{1.5, 1.5});
  CHECK(fill(i64{2}, std::pair{1.5, true}) == std::pair{array<double>{1.5, 1.5}, array<bool>{true, true}});
  CHECK_THROWS_WITH(iota(i64{-1}), Contains("iota") && Contains("-1"));
  CHECK_THROWS_WITH(fill(i64{-2}, 0.0), Contains("fill") && Contains("-2"));
  CHECK_THROWS_AS(
      overdub::run(
          no_op{}, [](auto n) { return iota(n); }, i64{-1}),
      size_error);
}

TEST_CASE("concat joins arrays, and zip makes a tree of arrays of one size") {
  CHECK(concat(xs, array<double>{9.0}) == array<double>{1.0, 2.0, 3.0, 9.0});
  CHECK(concat(array<double>{}, array<double>{}).empty());
  CHECK(at(zip(xs, iota(i64{3})), i64{1}) == std::tuple{2.0, i64{1}});
  CHECK(size(zip(xs, iota(i64{3}))) == 3);
  CHECK(concat(zip(xs, xs), zip(xs, xs)) == zip(concat(xs, xs), concat(xs, xs)));
  CHECK_THROWS_WITH(zip(xs, iota(i64{2})), Contains("zip") && Contains("3") && Contains("2"));
}

TEST_CASE("every primitive on arrays has the same result in contexts") {
  auto const program = [](auto a, auto n) {
    auto b = concat(update(a, n, a[i64{0}]), fill(n, a[n]));
    return std::tuple{b, size(b), iota(n), zip(a, a), at(zip(a, a), n)};
  };
  auto const expected = program(xs, i64{2});
  CHECK(std::get<0>(expected) == array<double>{1.0, 2.0, 1.0, 3.0, 3.0});
  CHECK(overdub::run(no_op{}, program, xs, i64{2}) == expected);
  events list;
  recorder<"A"> a(list);
  CHECK(overdub::run(compose(a, no_op{}, a), program, xs, i64{2}) == expected);
}

TEST_CASE("update copies an lvalue, and does not copy a moved array that is unique") {
  auto a = xs;
  auto const b = update(a, i64{0}, 9.0);
  CHECK(b == array<double>{9.0, 2.0, 3.0});
  CHECK(a == xs);
  CHECK(a.data() == xs.data());
  auto alone = concat(xs, xs);
  auto const data = alone.data();
  alone = update(std::move(alone), i64{0}, 9.0);
  CHECK(alone.data() == data);
  auto const shared = alone;
  alone = update(std::move(alone), i64{0}, 8.0);
  CHECK(alone.data() != data);
  CHECK(shared[0] == 9.0);
}

template <class Context>
bool updates_in_place(Context contexts) {
  bool in_place = true;
  auto const program = [&](auto a) {
    auto b = concat(a, a);
    auto const data = concrete(b).data();
    for (int i = 0; i < 3; ++i) b = update(std::move(b), i64{i}, a[i64{0}]);
    in_place = concrete(b).data() == data;
    return b;
  };
  overdub::run(contexts, program, xs);
  return in_place;
}

TEST_CASE("a moved array is updated in place in every context") {
  CHECK(updates_in_place(no_op{}));
  CHECK(updates_in_place(compose(no_op{}, no_op{}, no_op{})));
  CHECK(updates_in_place(marking{}));
  CHECK(updates_in_place(compose(no_op{}, marking{}, no_op{})));
}

TEST_CASE("hooks before a call do not prevent updates in place") {
  events list;
  CHECK(updates_in_place(recorder<"A">(list)));
}

TEST_CASE("a loop-carried array is updated in place") {
  bool in_place = true;
  auto const program = [&](auto a, auto n) {
    auto b = concat(a, a);
    auto const data = concrete(b).data();
    auto const x = a[i64{0}];
    auto c = loop(n, std::move(b), [&](auto i, auto state) { return update(std::move(state), i, x); });
    in_place = in_place && concrete(c).data() == data;
    return c;
  };
  program(xs, i64{3});
  CHECK(in_place);
  overdub::run(no_op{}, program, xs, i64{3});
  CHECK(in_place);
  overdub::run(compose(no_op{}, marking{}, no_op{}), program, xs, i64{3});
  CHECK(in_place);
}

TEST_CASE("a borrowed array as an argument is never written, in any context") {
  std::vector<double> v{1.0, 2.0, 3.0};
  auto const program = [](auto a) { return update(std::move(a), i64{0}, 9.0); };
  CHECK(overdub::run(no_op{}, program, array<double>::borrow(v)) == array<double>{9.0, 2.0, 3.0});
  auto const r = overdub::run(compose(no_op{}, marking{}), program, array<double>::borrow(v));
  CHECK(r.inner == array<double>{9.0, 2.0, 3.0});
  CHECK(v == std::vector{1.0, 2.0, 3.0});
}

TEST_CASE("update writes trees into trees of arrays") {
  auto const t = update(zip(xs, iota(i64{3})), i64{1}, std::tuple{9.0, i64{7}});
  CHECK(t == std::tuple{array<double>{1.0, 9.0, 3.0}, array<i64>{0, 7, 2}});
  CHECK_THROWS_AS(update(zip(xs, xs), i64{3}, std::tuple{0.0, 0.0}), index_error);
}

TEST_CASE("the primitives accept elements of any type") {
  array<std::string> const words{"a first string that needs memory of its own", "second"};
  CHECK(concat(words, words)[3] == "second");
  CHECK(update(words, i64{1}, std::string("other"))[1] == "other");
  CHECK(fill(i64{2}, std::string("x")) == array<std::string>{"x", "x"});
  CHECK(
      overdub::run(
          no_op{}, [](auto w) { return concat(w, w); }, words)
          .size() == 4);
}

TEST_CASE("indices may be values, and contexts intercept reads by them") {
  events list;
  recorder<"A"> a(list);
  auto const second = [](auto v, auto i) { return v[i + i64{1}]; };
  CHECK(overdub::run(a, second, xs, i64{0}) == 2.0);
  CHECK(list == events{"A add", "A at"});
}

} // namespace
