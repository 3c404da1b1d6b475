// Values, their metadata and their levels: metadata follows its value, and never leaks into another level.
#include "call/recorder.hpp"
#include "catch.hpp"

#include <boost/hana/define_struct.hpp>

#include <array>
#include <concepts>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace {

using namespace overdub;

struct stateless : context {};
struct other_stateless : context {};
struct stateful : context {
  int state = 0;
};
struct empty_metadata : context {
  template <class T>
  using metadata = none;
};
struct marking : context {
  template <class T>
  using metadata = int;
  int constant(auto const&) { return 0; }
  auto overdub(elementwise auto f, auto... x) { return tag(f(x.inner...), (x.metadata + ...)); }
};

template <class T, class C>
using in = value<T, C>;

static_assert(sizeof(in<double, stateless>) == sizeof(double));
static_assert(sizeof(in<in<double, stateless>, stateless>) == sizeof(double));
static_assert(sizeof(in<in<in<double, other_stateless>, stateless>, stateless>) == sizeof(double));
static_assert(sizeof(in<float, stateless>) == sizeof(float));
static_assert(sizeof(in<double, empty_metadata>) == sizeof(double));
static_assert(sizeof(in<in<double, stateless>, empty_metadata>) == sizeof(double));
#if !OVERDUB_CHECKED // values refer to their run, too
static_assert(sizeof(in<double, stateful>) == sizeof(double) + sizeof(void*));
#endif
static_assert(sizeof(in<double, marking>) == 2 * sizeof(double));
static_assert(std::is_trivially_copyable_v<in<in<double, stateless>, stateful>>);

TEST_CASE("tag makes a value with metadata; untag and metadata take it apart") {
  marking c;
  auto const x = tag(2.0, c, 7);
  static_assert(std::same_as<decltype(x), in<double, marking> const>);
  CHECK(untag(x) == 2.0);
  CHECK(metadata(x) == 7);
  CHECK(untag(2.0) == 2.0);
  static_assert(std::same_as<decltype(metadata(2.0)), none>);
  auto const pair = tag(2.0, 7);
  CHECK(untag(pair) == 2.0);
  CHECK(metadata(pair) == 7);
}

TEST_CASE("has_metadata tells whether the outermost context has metadata") {
  marking c;
  stateful s;
  CHECK(has_metadata(tag(2.0, c, 7)));
  CHECK_FALSE(has_metadata(2.0));
  CHECK_FALSE(overdub::run(
      s, [](auto x) { return has_metadata(x); }, 2.0));
  CHECK(overdub::run(
            c, [](auto x) { return has_metadata(x); }, 2.0)
            .inner);
  CHECK(overdub::run(
            compose(c, s), [](auto x) { return has_metadata(x) && !has_metadata(untag(x)); }, 2.0)
            .inner);
}

TEST_CASE("metadata survives construction, assignment, containers and conversion of its value") {
  marking c;
  auto const program = [](auto x) {
    auto copy = x;
    copy = copy * 1.0;
    std::vector<decltype(copy)> many{copy, copy};
    std::pair<decltype(copy), int> member{many[1], 0};
    return convert<float>(std::get<0>(std::tuple{member.first}));
  };
  auto const r = overdub::run(c, program, tag(2.0, 7));
  static_assert(std::same_as<decltype(r.inner), float>);
  CHECK(r.metadata == 7);
}

TEST_CASE("two consecutive runs do not share metadata") {
  marking c;
  auto const program = [](auto x) { return x + 1.0; };
  CHECK(overdub::run(c, program, tag(2.0, 7)).metadata == 7);
  CHECK(overdub::run(c, program, tag(2.0, 1)).metadata == 1);
  CHECK(overdub::run(c, program, 2.0).metadata == 0);
}

TEST_CASE("nested runs of one context keep two levels of metadata apart") {
  marking outer;
  marking inner;
  auto const program = [&](auto x) {
    auto const r = overdub::run(
        inner, [x](auto y) { return x + y; }, tag(x, 100));
    return std::tuple{r.inner, r.metadata};
  };
  auto const [sum, levels] = overdub::run(outer, program, tag(2.0, 7));
  CHECK(sum.inner == 4.0);
  CHECK(sum.metadata == 14);
  CHECK(metadata(levels) == 0); // a plain number for the outer run: a constant
  CHECK(untag(levels) == 100);
}

TEST_CASE("the type of a run's result without metadata is that of the function") {
  stateful c;
  static_assert(std::same_as<decltype(overdub::run(c, norm, 3.0, 4.0)), double>);
  static_assert(std::same_as<decltype(overdub::run(compose(c, c), norm, 3.0, 4.0)), double>);
  auto const program = [](auto x, std::string s) { return std::tuple{x, std::pair{x > 0.0, s}}; };
  auto const r = overdub::run(c, program, 2.0, std::string("opaque"));
  static_assert(std::same_as<decltype(r), std::tuple<double, std::pair<bool, std::string>> const>);
  CHECK(std::get<1>(r) == std::pair{true, std::string("opaque")});
}

TEST_CASE("in a composition of contexts with metadata, tags are nested in the order of the contexts") {
  marking a;
  marking b;
  auto const r = overdub::run(
      compose(a, b), [](auto x) { return x * x; }, tag(tag(3.0, 1), 10));
  CHECK(r.inner.inner == 9.0);
  CHECK(r.inner.metadata == 2);
  CHECK(concrete(r.metadata) == 20);
}

namespace {
struct following : context { // its metadata are values of the next contexts
  template <class T>
  using metadata = T;
  auto overdub(mul_t f, auto x, auto y) { return tag(f(x.inner, y.inner), f(x.metadata, y.metadata)); }
};
} // namespace

TEST_CASE("nested tags belong to the next context with metadata, whatever contexts are in between") {
  following a, b;
  stateful s;
  auto const product = fn<"product">([](auto x, auto ys) { return x * ys[1]; });
  auto const check = [&](auto const& contexts) {
    auto const r = overdub::run(
        contexts, product, tag(tag(2.0, 3.0), tag(5.0, 7.0)),
        tag(tag(array<double>{1, 2}, array<double>{1, 3}), tag(array<double>{1, 5}, array<double>{1, 7})));
    CHECK(r.inner.inner == 4.0);
    CHECK(r.inner.metadata == 9.0);
    CHECK(r.metadata.inner == 25.0);
    CHECK(r.metadata.metadata == 49.0);
  };
  check(compose(a, b));
  check(compose(a, s, b));
  check(compose(a, s, s, b, s));
}

TEST_CASE("metadata of a plain type is plain in any enclosing context") {
  events list;
  marking a;
  recorder<"B"> b(list);
  auto const r = overdub::run(compose(a, b), norm, tag(3.0, 1), tag(4.0, 10));
  CHECK(r.inner == 5.0);
  CHECK(r.metadata == 22);
  CHECK(
      list ==
      events{"B norm.marking", "B square.marking", "B mul", "B square.marking", "B mul", "B add", "B sqrt"});
  CHECK(overdub::run(compose(b, a), norm, tag(3.0, 1), tag(4.0, 10)).metadata == 22);
}

struct carrying : context {
  template <class T>
  using metadata = int;
};

TEST_CASE("an operation without a rule returns a constant in a context with metadata") {
  carrying c;
  auto const r = overdub::run(
      c, [](auto x) { return x + x; }, tag(3.0, 1));
  CHECK(r.inner == 6.0);
  CHECK(r.metadata == 0);
}

TEST_CASE("the metadata of an array is an array of the elements' metadata, reordered as the elements are") {
  marking c;
  array<double> const xs{1.0, 2.0, 3.0};
  array<int> const marks{10, 20, 30};
  auto const moved = overdub::run(
      c, [](auto a) { return concat(update(a, i64{0}, a[2]), a); }, tag(xs, marks));
  CHECK(moved.inner == array<double>{3.0, 2.0, 3.0, 1.0, 2.0, 3.0});
  CHECK(moved.metadata == array<int>{30, 20, 30, 10, 20, 30});
  auto const mapped = overdub::run(
      c, [](auto a) { return map([](auto x) { return x * x; }, a); }, tag(xs, marks));
  CHECK(mapped.inner == array<double>{1.0, 4.0, 9.0});
  CHECK(mapped.metadata == array<int>{20, 40, 60});
}

namespace {
struct same_type : context { // metadata of the number's own type
  template <class T>
  using metadata = T;
  auto constant(auto const& x) const { return 0 * x; }
};
struct counted : context {
  template <class T>
  using metadata = int;
  int constant(auto const&) const { return 0; }
};
struct named_for_doubles : context {
  template <class T>
  using metadata = std::conditional_t<std::is_same_v<plain_t<T>, double>, std::tuple<int, int>, int>;
  int constant(auto const&) const { return 5; }
};
} // namespace

TEST_CASE("a conversion preserves metadata, also in contexts without rules") {
  auto const to_double = fn<"to_double">([](auto x) { return convert<double>(x); });
  auto const own = run(same_type{}, to_double, tag(1, 2));
  CHECK((own.inner == 1.0 && own.metadata == 2.0));
  auto const number = run(counted{}, to_double, tag(1, 2));
  CHECK((number.inner == 1.0 && number.metadata == 2));
  auto const both = run(compose(same_type{}, counted{}), to_double, tag(tag(1, 7), tag(2, 8)));
  CHECK((both.inner.inner == 1.0 && both.inner.metadata == 7));
  CHECK((both.metadata.inner == 2.0 && both.metadata.metadata == 8));
  auto const other = run(named_for_doubles{}, to_double, tag(1, 2)); // another type: the constant
  CHECK((other.inner == 1.0 && other.metadata == std::tuple(5, 5)));
}

namespace {
// Two ends, in a struct, an array and a vector.
template <class T>
struct range {
  BOOST_HANA_DEFINE_STRUCT(range, (T, low), (T, high));
};
struct ranges : context {
  template <class T>
  using metadata = std::tuple<range<T>, std::array<T, 2>, std::vector<T>>;
  template <class T>
  static auto of(T low, T high) {
    return std::tuple(range<T>{low, high}, std::array<T, 2>{low, high}, std::vector<T>{low, high});
  }
  auto constant(auto const& x) const { return of(x, x); }
};
struct plain_numbers : context {
  template <class T>
  using metadata = std::conditional_t<std::is_same_v<plain_t<T>, double>, float, int>;
  int constant(auto const&) const { return 5; }
};
} // namespace

TEST_CASE("a conversion converts the numbers of metadata that are trees") {
  auto const to_double = fn<"to_double">([](auto x) { return convert<double>(x); });
  auto const check = [](auto const& r) {
    auto const& [ends, in_array, in_vector] = r.metadata;
    static_assert(std::is_same_v<decltype(concrete(ends)), range<double>>);
    CHECK((concrete(r.inner) == 2.0 && concrete(ends).low == 1.0 && concrete(ends).high == 3.0));
    CHECK((concrete(in_array) == std::array{1.0, 3.0} && concrete(in_vector) == std::vector{1.0, 3.0}));
  };
  events list;
  recorder<"B"> b(list);
  auto const given = tag(i64{2}, ranges::of(i64{1}, i64{3}));
  check(run(ranges{}, to_double, given));
  check(run(compose(b, ranges{}), to_double, given));
  check(run(compose(ranges{}, b), to_double, given));
  auto const plain = run(compose(plain_numbers{}, b), to_double, tag(1, 2));
  CHECK((concrete(plain.inner) == 1.0 && plain.metadata == 2.0f));
}

TEST_CASE("a tagged opaque object keeps its metadata in functions") {
  auto const pass = fn<"pass">([](auto x) { return x; });
  auto const twice = fn<"twice">([pass](auto x) { return pass(pass(x)); });
  auto const r = run(counted{}, twice, tag(std::string("text"), 3));
  CHECK((r.inner == "text" && r.metadata == 3));
}

TEST_CASE("a tagged opaque object passes through inner contexts, too") {
  auto const pass = fn<"pass">([](auto x) { return x; });
  auto const twice = fn<"twice">([pass](auto x) { return pass(pass(x)); });
  events list;
  recorder<"B"> b(list);
  auto const outer = run(compose(counted{}, b), twice, tag(std::string("text"), 3));
  CHECK((outer.inner == "text" && outer.metadata == 3 && list.size() == 3));
  auto const inner = run(compose(b, counted{}), twice, tag(std::string("text"), 3));
  CHECK((inner.inner == "text" && inner.metadata == 3 && list.size() == 6));
  auto const both =
      run(compose(counted{}, same_type{}), twice, tag(tag(std::string("text"), std::string("why")), 3));
  CHECK((both.inner.inner == "text" && both.inner.metadata == "why" && concrete(both.metadata) == 3));
}

TEST_CASE("a scope tags numbers, arrays and objects, for the outermost context with metadata") {
  auto const tagging = fn<"tagging">([](scope auto& cx, auto x) {
    auto const y = cx.tag(x, 3);
    return std::tuple(y, cx.tag(2.0, 5), cx.tag(std::string("text"), 7), cx.tag(array<double>{1.0, 2.0}, 9));
  });
  auto const check = [](auto const& r) {
    CHECK((std::get<0>(r).inner == 1.0 && std::get<0>(r).metadata == 3));
    CHECK((std::get<1>(r).inner == 2.0 && std::get<1>(r).metadata == 5));
    CHECK((std::get<2>(r).inner == "text" && std::get<2>(r).metadata == 7));
    CHECK(std::get<3>(r).metadata == array<int>{9, 9});
  };
  check(run(counted{}, tagging, 1.0));
  check(run(counted{}, tagging, tag(1.0, 8)));
  stateful s;
  check(run(compose(s, counted{}), tagging, 1.0));
  check(run(compose(counted{}, s), tagging, 1.0));
  auto const plain = tagging(1.0);
  CHECK((std::get<0>(plain) == 1.0 && std::get<2>(plain) == "text"));
  CHECK(std::get<1>(run(s, tagging, 1.0)) == 2.0);
}

namespace {
template <class M>
struct with_trees : context { // metadata that are trees, and no rules
  template <class T>
  using metadata = M;
  M constant(auto const&) const { return {-1, -2}; }
};
} // namespace

TEMPLATE_TEST_CASE(
    "trees are metadata of elements, as trees of arrays", "", (std::array<double, 2>),
    (std::pair<double, int>), (std::tuple<double, double>)) {
  with_trees<TestType> c;
  auto const moved = fn<"moved">([](auto xs) {
    auto const same = map([](auto x) { return x; }, xs);
    return std::tuple(
        same[1], concat(same, fill(i64{2}, same[0])),
        if_(
            same[0] > 0.0, [&] { return same; }, [&] { return xs; }));
  });
  auto const constants = run(c, moved, array<double>{1.0, 2.0});
  CHECK(std::get<0>(constants).metadata == TestType{-1, -2});
  CHECK(std::get<0>(std::get<1>(constants).metadata)[3] == -1);
  auto const all = run(c, moved, tag(array<double>{1.0, 2.0}, TestType{7, 8}));
  CHECK(std::get<0>(all).metadata == TestType{7, 8});
  CHECK(std::get<1>(std::get<2>(all).metadata)[1] == 8);
  auto const each =
      run(c, moved, tag(array<double>{1.0, 2.0}, array<TestType>{TestType{1, 2}, TestType{3, 4}}));
  CHECK(std::get<0>(each).metadata == TestType{3, 4});
  CHECK(std::get<1>(std::get<1>(each).metadata)[3] == 2);
  stateful s;
  auto const inner = run(compose(s, c), moved, tag(array<double>{1.0, 2.0}, TestType{7, 8}));
  CHECK(std::get<0>(inner).metadata == TestType{7, 8});
}

namespace {
template <class M>
struct with_containers : context { // metadata of numbers and bools, without rules
  template <class T>
  using metadata = M;
};
} // namespace

TEMPLATE_TEST_CASE(
    "metadata of numbers may be containers, which are empty where a value has no metadata", "",
    std::vector<int>, array<int>, std::string) {
  auto const moved = fn<"moved">([](auto x) {
    auto const y = convert<double>(convert<float>(x));
    auto const all = update(fill(i64{2}, y), 1, x * 2.0);
    return std::tuple(all[0], all[1], x > 1.0);
  });
  TestType const mark{65, 66};
  stateful s;
  with_containers<TestType> c;
  auto const check = [&](auto const& r) {
    CHECK(std::get<0>(r).metadata == mark);
    CHECK(std::get<1>(r).metadata == TestType{});
    CHECK(std::get<2>(r).metadata == TestType{});
  };
  check(run(c, moved, tag(2.0, mark)));
  check(run(compose(s, c), moved, tag(2.0, mark)));
}

TEST_CASE("similar constructs a context of the same type with its own state") {
  stateful a{{}, 4};
  auto const b = similar(a, 5);
  static_assert(std::same_as<decltype(b), stateful const>);
  CHECK(b.state == 5);
  CHECK(a.state == 4);
}

TEST_CASE("a value can be constructed from a number, whether or not a context has state") {
  auto const program = [](auto x) {
    decltype(x) start = 2.0;
    decltype(x) nothing{};
    return start * x + nothing;
  };
  CHECK(overdub::run(stateless{}, program, 3.0) == 6.0);
  stateful context;
  CHECK(overdub::run(context, program, 3.0) == 6.0);
}

TEST_CASE("concrete returns a tree without contexts, which may outlive its argument") {
  stateful a;
  marking b;
  auto const seen = overdub::run(
      compose(a, b),
      [](auto x) {
        return concrete(std::tuple{x, std::pair{x, 1}});
      },
      2.0);
  static_assert(std::same_as<decltype(concrete(std::tuple{2.0})), std::tuple<double>>);
  CHECK(untag(std::get<0>(seen)) == 2.0);
}

TEST_CASE("values can be compared, and a bool value decides a branch") {
  stateful c;
  auto const program = [](auto x) {
    int branches = 0;
    if (x > 1.0 && !(x == 5.0)) ++branches;
    if (x < 1.0 || x != x) ++branches;
    return branches;
  };
  CHECK(overdub::run(c, program, 2.0) == 1);
}

} // namespace
