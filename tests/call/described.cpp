#include "catch.hpp"

#include <overdub/contexts/count.hpp>
#include <overdub/contexts/forward.hpp>
#include <overdub/contexts/log.hpp>
#include <overdub/overdub.hpp>

#include <boost/hana/adapt_struct.hpp>
#include <boost/hana/define_struct.hpp>

#include <array>
#include <cmath>
#include <concepts>
#include <sstream>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace od = overdub;
using od::i64;
using overdub::contexts::count;
using overdub::contexts::forward;

namespace described {

template <class T>
struct point {
  BOOST_HANA_DEFINE_STRUCT(point, (T, x), (T, y));
};
template <class T, class U>
struct mixed {
  BOOST_HANA_DEFINE_STRUCT(mixed, (T, scale), (U, index));
};
template <class T, int N>
struct sized {
  BOOST_HANA_DEFINE_STRUCT(sized, (T, first), (T, last));
  static constexpr int size = N;
};
template <class T>
struct segment {
  BOOST_HANA_DEFINE_STRUCT(segment, (point<T>, from), (point<T>, to));
};
template <class Array>
struct table {
  BOOST_HANA_DEFINE_STRUCT(table, (Array, xs), (Array, ys));
};
template <class T>
struct empty {
  BOOST_HANA_DEFINE_STRUCT(empty);
};

} // namespace described

namespace {
using namespace described;

constexpr auto norm = od::fn<"norm">([](auto p) { return sqrt(p.x * p.x + p.y * p.y); });
constexpr auto mirror = od::fn<"mirror">([](auto p) { return decltype(p){p.y, p.x}; });

// Records whether the hooks of this context receive points or something else.
struct witness : od::context {
  std::vector<std::string_view> called;
  std::vector<double> results;
  bool only_points = true;
  template <class... X>
  void before(od::function auto f, X const&...) {
    called.push_back(f.name());
    only_points = only_points && std::same_as<std::tuple<X...>, std::tuple<point<double>>>;
  }
  void after(od::function auto, point<double> const& result, auto const&...) { results.push_back(result.x); }
};

} // namespace

TEST_CASE("a function takes and returns described templates, with and without contexts") {
  count c;
  auto const p = od::run(c, mirror, point<double>{3.0, 4.0});
  STATIC_REQUIRE(std::is_same_v<decltype(p), point<double> const>);
  CHECK((p.x == 4.0 && p.y == 3.0 && c.functions == 1));
  CHECK(od::run(c, norm, point<double>{3.0, 4.0}) == norm(point<double>{3.0, 4.0}));
  auto const r =
      od::run(forward{}, norm, point<od::tagged<double, double>>{od::tag(3.0, 1.0), od::tag(4.0, 0.0)});
  CHECK((r.inner == 5.0 && r.metadata == 0.6));
}

TEST_CASE("forward accepts a described template without tags, and a body can construct one of constants") {
  auto const f = od::fn<"f">([](auto p, auto x) {
    return norm(mirror(p)) + norm(point<decltype(x)>{x, x * 2.0});
  });
  auto const r = od::run(forward{}, f, point<double>{3.0, 4.0}, od::tag(1.0, 1.0));
  CHECK(r.inner == Approx(5.0 + std::sqrt(5.0)));
  CHECK(r.metadata == Approx(std::sqrt(5.0)));
}

TEST_CASE("each of two type parameters is lifted independently") {
  auto const f = od::fn<"f">([](auto m, auto xs) {
    return mixed{od::at(xs, m.index) * m.scale, m.index + 1};
  });
  using tagged = mixed<od::tagged<double, double>, i64>;
  auto const r = od::run(forward{}, f, tagged{od::tag(2.0, 1.0), 1}, od::array<double>{3, 5});
  CHECK((r.scale.inner == 10.0 && r.scale.metadata == 5.0 && r.index.inner == 2));
  count c;
  auto const plain = od::run(c, f, mixed<double, i64>{2.0, 1}, od::array<double>{3, 5});
  STATIC_REQUIRE(std::is_same_v<decltype(plain), mixed<double, i64> const>);
  CHECK((plain.scale == 10.0 && plain.index == 2));
}

TEST_CASE("a non-type template parameter is unchanged") {
  auto const f = od::fn<"f">([](auto s) {
    return sized<decltype(s.first), decltype(s)::size>{
        s.first + s.last, s.last * static_cast<double>(decltype(s)::size)};
  });
  count c;
  auto const r = od::run(c, f, sized<double, 7>{1.0, 2.0});
  STATIC_REQUIRE(std::is_same_v<decltype(r), sized<double, 7> const>);
  CHECK((r.first == 3.0 && r.last == 14.0));
  using tagged = sized<od::tagged<double, double>, 7>;
  CHECK(od::run(forward{}, f, tagged{od::tag(1.0, 1.0), od::tag(2.0, 1.0)}).last.metadata == 7.0);
}

TEST_CASE("nested described templates are trees of trees, also in containers") {
  auto const length = od::fn<"length">([](auto s) {
    return norm(point{s.to.x - s.from.x, s.to.y - s.from.y});
  });
  auto const path = od::fn<"path">([length](auto segments) {
    auto total = length(segments[0]);
    for (std::size_t i = 1; i < segments.size(); ++i) total += length(segments[i]);
    return total;
  });
  using T = od::tagged<double, double>;
  auto const at = [](double x, double y) { return point<T>{od::tag(x, 1.0), od::tag(y, 0.0)}; };
  std::vector<segment<T>> const segments{
      {at(0, 0), {od::tag(3.0, 0.0), od::tag(4.0, 0.0)}}, {at(0, 0), at(6, 8)}};
  auto const r = od::run(forward{}, path, segments);
  CHECK((r.inner == 15.0 && r.metadata == -0.6));
  count c;
  using plain = segment<double>;
  CHECK(od::run(c, path, std::array{plain{{0, 0}, {3, 4}}, plain{{0, 0}, {6, 8}}}) == 15.0);
  CHECK(c.functions == 5);
}

TEST_CASE("a described template over arrays: a table") {
  auto const f = od::fn<"f">([](auto t) {
    auto const row = od::at(t, 1);
    return std::tuple(row, od::dot(t.xs, t.ys), od::size(t));
  });
  using array = od::array<double>;
  auto const [row, dot, size] = od::run(
      forward{}, f,
      table<od::tagged<array, array>>{od::tag(array{1, 2}, array{1, 0}), od::tag(array{3, 4}, array{0, 1})});
  CHECK(
      (row.xs.inner == 2.0 && row.ys.metadata == 1.0 && dot.inner == 11.0 && dot.metadata == 5.0 &&
       size.inner == 2));
  STATIC_REQUIRE(std::is_same_v<decltype(f(table<array>{})), std::tuple<table<double>, double, i64>>);
}

TEST_CASE("hooks receive rebuilt structs, in nested contexts too") {
  witness alone, outer, inner;
  od::run(alone, mirror, point<double>{3, 4});
  od::run(od::compose(outer, forward{}), mirror, point<double>{3, 4});
  od::run(od::compose(forward{}, inner), mirror, point<double>{3, 4});
  for (witness const* w : {&alone, &outer, &inner}) {
    CHECK(w->only_points);
    CHECK(w->called == std::vector<std::string_view>{w == &inner ? "mirror.forward" : "mirror"});
    CHECK(w->results == std::vector{4.0});
  }
}

TEST_CASE("log names a struct by its type") {
  std::ostringstream out;
  overdub::contexts::log log(out);
  od::run(log, mirror, point<double>{3, 4});
  CHECK(out.str() == "mirror(point<double>) = point<double>\n");
}

TEST_CASE("a described template can be loop-carried, and the result of if_") {
  auto const f = od::fn<"f">([](auto p) {
    auto const rotated = od::loop(3, p, [](auto, auto q) { return decltype(q){-q.y, q.x}; });
    auto const far = od::while_(
        rotated, [](auto q) { return q.x < 100.0; },
        [](auto q) {
          return decltype(q){q.x * 10.0, q.y + 1.0};
        });
    return od::if_(
        far.y > 0.0, [&] { return far; }, [&] { return mirror(far); });
  });
  auto const plain = f(point<double>{3, 4});
  CHECK((plain.x == -1.0 && plain.y == 400.0));
  auto const r =
      od::run(forward{}, f, point<od::tagged<double, double>>{od::tag(3.0, 1.0), od::tag(4.0, 2.0)});
  CHECK((r.x.inner == -1.0 && r.x.metadata == -1.0 && r.y.inner == 400.0 && r.y.metadata == 200.0));
}

TEST_CASE("a map whose function returns a struct returns a struct of arrays, whose elements are structs") {
  auto const f = od::fn<"f">([](auto xs) {
    auto const points = od::map([](auto x) { return point<decltype(x)>{x, x * x}; }, xs);
    auto const norms = od::map([](auto p) { return p.y - p.x; }, points);
    return std::tuple(points, od::at(points, 2).y, od::sum(norms), od::size(points));
  });
  auto const [points, y, sum, size] = f(od::array<double>{1, 2, 3});
  STATIC_REQUIRE(std::is_same_v<decltype(points), point<od::array<double>> const>);
  CHECK((points.y == od::array<double>{1, 4, 9} && y == 9.0 && sum == 8.0 && size == 3));
  auto const xs = od::tag(od::array<double>{1, 2, 3}, od::array<double>{1, 1, 1});
  auto const [tagged, dy, dsum, n] = od::run(forward{}, f, xs);
  CHECK((tagged.y.metadata == od::array<double>{2, 4, 6} && dy.metadata == 6.0 && dsum.metadata == 9.0));
  CHECK(n.inner == 3);
}

TEST_CASE("reduce and scan over a struct of arrays combine structs") {
  auto const f = od::fn<"f">([](auto points) {
    auto const both = [](auto p, auto q) { return decltype(p){p.x + q.x, p.y * q.y}; };
    auto const [last, all] = od::scan(
        [&](auto state, auto p) { return std::tuple(both(state, p), p.x); }, od::at(points, 0), points);
    return std::tuple(od::reduce(both, points), last, all);
  });
  auto const [total, last, all] = f(point<od::array<double>>{{1, 2, 3}, {4, 5, 6}});
  CHECK((total.x == 6.0 && total.y == 120.0 && last.x == 7.0 && last.y == 480.0));
  CHECK(all == od::array<double>{1, 2, 3});
  count c;
  CHECK(std::get<0>(od::run(c, f, point<od::array<double>>{{1, 2, 3}, {4, 5, 6}})).y == 120.0);
}

TEST_CASE("a struct may have no members, and structs work in nested runs") {
  count c;
  auto const same = od::fn<"same">([](auto e) { return e; });
  STATIC_REQUIRE(std::is_same_v<decltype(od::run(c, same, empty<double>{})), empty<double>>);
  auto const slope = od::fn<"slope">([](auto p) {
    return od::run(
               forward{},
               [](auto x, auto y) {
                 return norm(point<decltype(x)>{x, y});
               },
               od::tag(p.x, 1.0), p.y)
        .metadata;
  });
  CHECK(od::run(c, slope, point<double>{3, 4}) == 0.6);
  auto const r =
      od::run(forward{}, slope, point<od::tagged<double, double>>{od::tag(3.0, 1.0), od::tag(4.0, 0.0)});
  CHECK((r.inner == 0.6 && r.metadata == Approx(16.0 / 125.0)));
}
