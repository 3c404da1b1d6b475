#include "catch.hpp"

#include <overdub/contexts/count.hpp>
#include <overdub/contexts/forward.hpp>
#include <overdub/contexts/tag.hpp>

#include <boost/hana/define_struct.hpp>

#include <initializer_list>
#include <tuple>
#include <vector>

namespace od = overdub;
using od::i64;
using overdub::contexts::count;
using overdub::contexts::forward;
using overdub::contexts::input;
using overdub::contexts::inputs;
using provenance = overdub::contexts::tag;

template <class T>
struct tagged_point {
  BOOST_HANA_DEFINE_STRUCT(tagged_point, (T, x), (T, y));
};

struct tagged_particle {
  BOOST_HANA_DEFINE_STRUCT(tagged_particle, (double, mass), (i64, charge));
};

namespace {

inputs<> set(std::initializer_list<std::size_t> members) {
  inputs<> all;
  for (std::size_t i : members) all.set(i);
  return all;
}
template <class T>
auto from(T x, std::size_t i) {
  return od::tag(x, input(i));
}
template <class F, class... X>
auto traced(F const& f, X const&... x) {
  provenance context;
  return od::run(context, f, x...);
}

} // namespace

TEST_CASE("tag: a result depends on all inputs that it is computed from, and on no other") {
  auto const f = od::fn<"f">([](auto x, auto y, auto z) { return std::tuple(x * y, sin(z) - x, y + y, x); });
  auto const [xy, zx, y, x] = traced(f, from(2.0, 0), from(3.0, 1), from(4.0, 2));
  CHECK((xy.inner == 6.0 && xy.metadata == set({0, 1})));
  CHECK(zx.metadata == set({0, 2}));
  CHECK((y.inner == 6.0 && y.metadata == set({1})));
  CHECK((x.inner == 2.0 && x.metadata == set({0})));
}

TEST_CASE("tag: a constant depends on no input, in the program or as an argument") {
  auto const f = od::fn<"f">([](auto x, auto y) { return std::tuple(2.0 * x + 1.0, y * 2.0); });
  auto const [a, b] = traced(f, from(3.0, 5), 4.0);
  CHECK(a.metadata == set({5}));
  CHECK((b.inner == 8.0 && b.metadata.none()));
}

TEST_CASE("tag: a product with 0 and a difference of equals still depend on their operands") {
  auto const f = od::fn<"f">([](auto x, auto y) { return (x - x) + 0.0 * y; });
  auto const r = traced(f, from(3.0, 0), from(4.0, 1));
  CHECK((r.inner == 0.0 && r.metadata == set({0, 1})));
}

TEST_CASE("tag applies to comparisons, conversions, integers, and functions of three arguments") {
  auto const f = od::fn<"f">([](auto x, auto n) {
    return std::tuple(x < 1.0, od::convert<i64>(x) % n, od::clamp(x, 0.0, od::convert<double>(n)));
  });
  auto const [less, rest, clamped] = traced(f, from(7.5, 3), from(i64{4}, 9));
  CHECK((less.inner == false && less.metadata == set({3})));
  CHECK((rest.inner == 3 && rest.metadata == set({3, 9})));
  CHECK((clamped.inner == 4.0 && clamped.metadata == set({3, 9})));
}

TEST_CASE("tag: select depends on its condition and both choices; if_ on the branch alone") {
  auto const chosen = od::fn<"chosen">([](auto c, auto x, auto y) { return od::select(c > 0.0, x, y); });
  auto const branch = od::fn<"branch">([](auto c, auto x, auto y) {
    return od::if_(
        c > 0.0, [&] { return x; }, [&] { return y; });
  });
  CHECK(traced(chosen, from(1.0, 0), from(2.0, 1), from(3.0, 2)).metadata == set({0, 1, 2}));
  CHECK(traced(branch, from(1.0, 0), from(2.0, 1), from(3.0, 2)).metadata == set({1}));
  CHECK(traced(branch, from(-1.0, 0), from(2.0, 1), from(3.0, 2)).metadata == set({2}));
}

TEST_CASE("tag: each element of an array has its own set, through map, zip, concat and update") {
  auto const f = od::fn<"f">([](auto xs, auto ys, auto z) {
    auto const products = od::map([&](auto x, auto y) { return x * y + z; }, xs, ys);
    return od::update(od::concat(products, xs), 0, z);
  });
  od::array<inputs<>> const of_x{input(0), input(1)}, of_y{input(2), set({3, 4})};
  auto const r =
      traced(f, od::tag(od::array<double>{1, 2}, of_x), od::tag(od::array<double>{3, 4}, of_y), from(5.0, 6));
  CHECK(r.inner == od::array<double>{5, 13, 1, 2});
  CHECK(r.metadata == od::array<inputs<>>{input(6), set({1, 3, 4, 6}), input(0), input(1)});
}

TEST_CASE("tag: the result of an array operation depends on each argument") {
  auto const x = from(od::array<double>{1, 2, 3}, 0);
  auto const matrix = from(od::array<od::array<double>>{{1, 2}, {3, 4}, {5, 6}}, 0);
  auto const total = [](auto const& operation, auto const&... arguments) {
    auto const f = od::fn<"total">([=](auto... a) { return od::sum(operation(a...)); });
    return traced(f, arguments...).metadata;
  };
  auto const n = from(i64{1}, 1);
  auto const m = from(i64{2}, 2);
  CHECK(total(od::slice, x, n, m) == set({0, 1, 2}));
  CHECK(total(od::gather, x, from(od::array<i64>{2, 0}, 1)) == set({0, 1}));
  CHECK(total(od::fill, n, from(2.0, 0)) == set({0, 1}));
  CHECK(total(od::iota, m) == set({2}));
  CHECK(total(od::update, x, n, from(7.0, 2)) == set({0, 1, 2}));
  CHECK(total(od::concat, x, from(od::array<double>{4}, 1)) == set({0, 1}));
  auto const flat = [](auto const& rows) {
    return od::map([](auto const& row) { return od::sum(row); }, rows);
  };
  CHECK(total(od::at, matrix, n) == set({0, 1}));
  CHECK(
      total(
          [&](auto const& a, auto const& i, auto const& j) { return flat(od::slice(a, i, j)); }, matrix, n,
          m) == set({0, 1, 2}));
  CHECK(
      total(
          [&](auto const& a, auto const& i) { return flat(od::gather(a, i)); }, matrix,
          from(od::array<i64>{2}, 1)) == set({0, 1}));
  CHECK(total([&](auto const& i, auto const& row) { return flat(od::fill(i, row)); }, m, x) == set({0, 2}));
  CHECK(
      total(
          [&](auto const& a, auto const& i, auto const& row) { return flat(od::update(a, i, row)); }, matrix,
          n, from(od::array<double>{8, 9}, 2)) == set({0, 1, 2}));

  auto const pairs = [&](auto const& operation) {
    return [&operation](auto const& a, auto const& b, auto const&... rest) {
      auto const [first, second] = operation(od::zip(a, b), rest...);
      return std::tuple(od::sum(first), od::sum(second));
    };
  };
  auto const y = from(od::array<double>{1, 2, 3}, 3);
  auto const f = od::fn<"of_pairs">([&](auto a, auto b, auto i, auto j, auto indices) {
    return std::tuple(pairs(od::slice)(a, b, i, j), pairs(od::gather)(a, b, indices));
  });
  auto const [sliced, gathered] = traced(f, x, y, n, m, from(od::array<i64>{2, 0}, 4));
  CHECK(std::get<0>(sliced).metadata == set({0, 1, 2}));
  CHECK(std::get<1>(sliced).metadata == set({1, 2, 3}));
  CHECK(std::get<0>(gathered).metadata == set({0, 4}));
  CHECK(std::get<1>(gathered).metadata == set({3, 4}));
}

TEST_CASE("tag: one set of an array is the set of each element") {
  auto const f = od::fn<"f">([](auto xs) { return std::tuple(od::at(xs, 1), od::sum(xs), od::size(xs)); });
  auto const [element, sum, size] = traced(f, from(od::array<double>{1, 2, 3}, 8));
  CHECK((element.metadata == set({8}) && sum.metadata == set({8})));
  CHECK((size.inner == 3 && size.metadata.none()));
}

TEST_CASE("tag: reductions depend on every element, loops on every iteration") {
  auto const f = od::fn<"f">([](auto xs, auto start) {
    auto const looped = od::loop(od::size(xs), start, [&](auto i, auto s) { return s + od::at(xs, i); });
    return std::tuple(od::sum(xs), od::dot(xs, xs), od::reduce(od::max, xs), looped);
  });
  od::array<inputs<>> const each{input(0), input(1), input(2)};
  auto const [sum, dot, most, looped] = traced(f, od::tag(od::array<double>{1, 2, 3}, each), from(0.0, 7));
  CHECK(
      (sum.metadata == set({0, 1, 2}) && dot.metadata == set({0, 1, 2}) && most.metadata == set({0, 1, 2})));
  CHECK((looped.inner == 6.0 && looped.metadata == set({0, 1, 2, 7})));
}

TEST_CASE("tag: at depends on the element and the index, for one array or zipped ones") {
  auto const f = od::fn<"f">([](auto xs, auto i) { return od::at(xs, i); });
  od::array<inputs<>> const each{input(0), input(1)};
  auto const xs = od::tag(od::array<double>{1, 2}, each);
  CHECK(traced(f, xs, from(i64{1}, 9)).metadata == set({1, 9}));
  CHECK(traced(f, xs, 1).metadata == set({1}));
  CHECK(traced(f, od::array<double>{1, 2}, from(i64{1}, 9)).metadata == set({9}));

  auto const pair = od::fn<"pair">([](auto a, auto b, auto i) { return od::at(od::zip(a, b), i); });
  auto const [x, y] = traced(pair, xs, od::array<i64>{3, 4}, from(i64{0}, 9));
  CHECK((x.inner == 1.0 && x.metadata == set({0, 9})));
  CHECK((y.inner == 3 && y.metadata == set({9})));
}

TEST_CASE("tag: an updated array depends on the index, for one array or zipped ones") {
  auto const f = od::fn<"f">([](auto xs, auto i, auto x) { return od::update(xs, i, x); });
  od::array<inputs<>> const each{input(0), input(1)};
  auto const xs = od::tag(od::array<double>{1, 2}, each);
  auto const r = traced(f, xs, from(i64{1}, 9), from(5.0, 3));
  CHECK(r.inner == od::array<double>{1, 5});
  CHECK(r.metadata == od::array<inputs<>>{set({0, 9}), set({3, 9})});
  CHECK(traced(f, xs, 1, 5.0).metadata == od::array<inputs<>>{input(0), set({})});

  auto const pair = od::fn<"pair">(
      [](auto a, auto b, auto i, auto x) { return od::update(od::zip(a, b), i, std::tuple(x, x)); });
  auto const [a, b] = traced(pair, xs, od::array<double>{3, 4}, from(i64{0}, 9), from(5.0, 3));
  CHECK((a.inner == od::array<double>{5, 2} && b.inner == od::array<double>{5, 4}));
  CHECK(a.metadata == od::array<inputs<>>{set({3, 9}), set({1, 9})});
  CHECK(b.metadata == od::array<inputs<>>{set({3, 9}), set({9})});
}

TEST_CASE("tag: each member of described templates and plain structs has its own set") {
  auto const f = od::fn<"f">([](auto p) { return decltype(p){p.y, p.x + p.y}; });
  using point = tagged_point<od::tagged<double, inputs<>>>;
  auto const moved = traced(f, point{from(1.0, 0), from(2.0, 1)});
  CHECK((moved.x.metadata == set({1}) && moved.y.metadata == set({0, 1})));

  auto const heavier = od::fn<"heavier">([](auto p, auto m) {
    return od::make<tagged_particle>(
        od::field<&tagged_particle::mass>(p) + m, od::field<&tagged_particle::charge>(p));
  });
  auto const r =
      traced(heavier, od::tag(tagged_particle{1.0, 2}, std::tuple(input(0), input(1))), from(3.0, 2));
  CHECK(
      (r.inner.mass == 4.0 && std::get<0>(r.metadata) == set({0, 2}) && std::get<1>(r.metadata) == set({1})));
}

TEST_CASE("tag: a native function depends on all arguments: numbers, arrays, tuples and structs") {
  auto const add = od::leaf<"native_add">([](double x, double y) { return x + y; });
  auto const total = od::leaf<"native_total">([](od::array<double> const& xs) { return xs[0] + xs[1]; });
  auto const of_tuple = od::leaf<"of_tuple">([](std::tuple<double, double> p) { return std::get<0>(p); });
  auto const of_struct = od::leaf<"of_struct">([](tagged_particle p) { return p.mass; });
  auto const of_point = od::leaf<"of_point">([](tagged_point<double> p) { return p.x; });
  od::array<inputs<>> const each{input(0), input(1)};
  auto const particle = od::tag(tagged_particle{1.0, 2}, std::tuple(input(0), input(1)));
  using point = tagged_point<od::tagged<double, inputs<>>>;

  auto const f = od::fn<"f">([&](auto x, auto y) { return add(x, y); });
  auto const g = od::fn<"g">([&](auto xs) { return total(xs); });
  auto const h = od::fn<"h">([&](auto x, auto y) { return of_tuple(std::tuple(x, y)); });
  auto const s = od::fn<"s">([&](auto p) { return of_struct(p); });
  auto const p = od::fn<"p">([&](auto q) { return of_point(q); });
  CHECK(traced(f, from(1.0, 0), from(2.0, 3)).metadata == set({0, 3}));
  CHECK(traced(f, from(1.0, 0), 2.0).metadata == set({0}));
  CHECK(traced(g, od::tag(od::array<double>{1, 2}, each)).metadata == set({0, 1}));
  CHECK(traced(h, from(1.0, 0), from(2.0, 3)).metadata == set({0, 3}));
  CHECK(traced(s, particle).metadata == set({0, 1}));
  CHECK(traced(p, point{from(1.0, 0), from(2.0, 1)}).metadata == set({0, 1}));
}

TEST_CASE("tag: each element of an array that a native function returns depends on its arguments") {
  auto const twice = od::leaf<"twice">([](double x) { return od::array<double>{x, x}; });
  auto const f = od::fn<"f">([&](auto x) { return od::at(twice(x), 1); });
  CHECK(traced(f, from(1.0, 4)).metadata == set({4}));
}

TEST_CASE("tag: native functions may return tuples, structs, opaque classes, or nothing") {
  struct opaque {
    double x;
  };
  auto const both = od::leaf<"both">([](double x, double y) {
    return std::tuple(x, tagged_point<double>{y, x});
  });
  auto const hide = od::leaf<"hide">([](double x) { return opaque{x}; });
  auto const show = od::leaf<"show">([](opaque const& o, double y) { return o.x + y; });
  auto const drop = od::leaf<"drop">([](double) {});
  auto const f = od::fn<"f">([&](auto x, auto y) {
    drop(x);
    auto const [a, b] = both(x, y);
    return std::tuple(a, b.y, show(hide(x), y));
  });
  auto const [a, b, c] = traced(f, from(1.0, 0), from(2.0, 1));
  CHECK((a.inner == 1.0 && a.metadata == set({0, 1})));
  CHECK((b.inner == 1.0 && b.metadata == set({0, 1})));
  CHECK((c.inner == 3.0 && c.metadata == set({1}))); // tag does not see into an opaque class
}

TEST_CASE("tag applies to fill and iota") {
  auto const f = od::fn<"f">([](auto n, auto x) { return std::tuple(od::fill(n, x), od::iota(n)); });
  auto const [filled, counted] = traced(f, from(i64{2}, 0), from(5.0, 1));
  CHECK(
      (filled.inner == od::array<double>{5, 5} &&
       filled.metadata == od::array<inputs<>>{set({0, 1}), set({0, 1})}));
  CHECK(
      (counted.inner == od::array<i64>{0, 1} && counted.metadata == od::array<inputs<>>{input(0), input(0)}));
}

TEST_CASE("tag supports more than 64 inputs") {
  overdub::contexts::tag_of<1000> context;
  auto const f = od::fn<"f">([](auto xs) { return od::sum(xs) - od::at(xs, 0); });
  auto const seeds = od::map([](i64 i) { return input<1000>(static_cast<std::size_t>(i)); }, od::iota(1000));
  auto const r = od::run(context, f, od::tag(od::map(od::convert<double>, od::iota(1000)), seeds));
  CHECK((r.inner == 499500.0 && r.metadata.all()));
}

TEST_CASE("tag composes with forward and count, in both orders") {
  auto const f = od::fn<"f">([](auto x, auto y, auto z) { return x * y + 0.0 * z; });
  // The values of the program have their inputs as tags, and so have their derivatives.
  auto const constant = [](double x, std::size_t i) { return od::tag(from(x, i), od::zero{}); };
  auto const inner = od::run(
      od::compose(forward{}, provenance{}), f, od::tag(from(2.0, 0), from(1.0, 3)), constant(5.0, 1),
      constant(7.0, 2));
  CHECK((inner.inner.inner == 10.0 && inner.inner.metadata == set({0, 1, 2})));
  CHECK((inner.metadata.inner == 5.0 && inner.metadata.metadata == set({0, 1, 3}))); // dx * y + x * dy

  count c;
  auto const outer = od::run(od::compose(provenance{}, c), f, from(2.0, 0), from(5.0, 1), 7.0);
  CHECK((outer.metadata == set({0, 1}) && c.functions == 1 && c.primitives == 3));
}
