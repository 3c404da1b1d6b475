// Described templates with members that are described templates or arrays of fixed size, as arguments and results of compiled functions.
#include "catch.hpp"

#include <overdub/compile/compile.hpp>
#include <overdub/contexts/forward.hpp>
#include <overdub/overdub.hpp>

#include <boost/hana/define_struct.hpp>

#include <array>
#include <concepts>
#include <string>
#include <vector>

namespace {

using namespace overdub;

template <class T>
struct point {
  BOOST_HANA_DEFINE_STRUCT(point, (T, x), (T, y));
};
// A template that accepts numbers and values of contexts only.
template <class T>
struct body {
  static_assert(!std::same_as<T, none>);
  BOOST_HANA_DEFINE_STRUCT(body, (T, mass), (point<T>, at), (std::array<T, 2>, speed));
};

constexpr auto moved = fn<"moved">([](auto b, auto by) {
  auto c = b;
  c.at.x = b.at.x + by * b.speed[0];
  c.at.y = b.at.y + by * b.speed[1];
  return c;
});
constexpr auto twice_moved = fn<"twice_moved">([](auto b, auto by) { return moved(moved(b, by), by); });

body<double> start() { return {2, {3, 4}, {0.5, 1}}; }
bool is_moved(body<double> const& b) {
  return b.mass == 2 && b.at.x == 5 && b.at.y == 8 && b.speed == std::array{0.5, 1.0};
}

struct observed : context {
  std::vector<double> before_x, after_y;
  void before(std::same_as<std::remove_const_t<decltype(moved)>> auto const&, body<double> const& b, double) {
    before_x.push_back(b.at.x);
  }
  void after(
      std::same_as<std::remove_const_t<decltype(moved)>> auto const&, body<double> const& b,
      body<double> const&, double) {
    after_y.push_back(b.at.y);
  }
};

} // namespace

TEST_CASE("a compiled function takes and returns described templates with such members") {
  CHECK(is_moved(compile(compose(), twice_moved, signature<body<double>, double>)(start(), 2.0)));
}

TEST_CASE("hooks receive described templates with such members") {
  observed direct, compiled;
  CHECK(is_moved(run(direct, twice_moved, start(), 2.0)));
  CHECK(is_moved(compile(compiled, twice_moved, signature<body<double>, double>)(start(), 2.0)));
  CHECK(direct.before_x == std::vector<double>{3, 4});
  CHECK(direct.after_y == std::vector<double>{6, 8});
  CHECK(compiled.before_x == direct.before_x);
  CHECK(compiled.after_y == direct.after_y);
}

TEST_CASE("forward differentiates described templates with such members") {
  auto const x_at = fn<"x_at">([](auto by) {
    auto const b = twice_moved(body<decltype(by)>{by, {by, by}, {by, by}}, by);
    return b.at.x + b.speed[1];
  });
  contexts::forward direct;
  auto const r = run(direct, x_at, tag(2.0, 1.0));
  CHECK(r.metadata == 10);
  CHECK(compile(direct, x_at, signature<tagged<double, double>>)(tag(2.0, 1.0)).metadata == 10);
}
