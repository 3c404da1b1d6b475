// Gradients of functions of arrays of rank 3.
#include "catch.hpp"
#include "contexts/executors.hpp"

#include <overdub/compile/compile.hpp>
#include <overdub/overdub.hpp>
#include <overdub/reverse.hpp>

#include <tuple>
#include <vector>

namespace {

using namespace overdub;
using vec = array<double>;
using cube = array<array<vec>>;

cube cube_of(double offset) {
  std::vector<array<vec>> all;
  for (int i = 0; i < 2; ++i) {
    std::vector<vec> rows;
    for (int j = 0; j < 3; ++j)
      rows.push_back(vec{offset + 0.5 * i - 0.25 * j, 1.0 - 0.125 * j * i, 0.75 + i});
    all.push_back(array<vec>::copy_of(rows));
  }
  return array<array<vec>>::copy_of(all);
}

// Elements, rows and planes.
inline constexpr auto mixed = fn<"mixed">([](auto const& a) {
  auto const planes = sum(map([](auto const& plane) { return dot(plane[0], plane[1]); }, a));
  auto const elements =
      sum(tabulate(size(a[0]), [&](auto j) { return a[0][j][2] * a[1][j][0] * a[1][2][j]; }));
  return planes + elements;
});
// The derivative by hand.
double slope_of_mixed(cube const& a, i64 i, i64 j, i64 k) {
  double first_derivative = j < 2 ? a[i][1 - j][k] : 0.0;
  for (i64 m = 0; m < 3; ++m) {
    first_derivative += (i == 0 && j == m && k == 2 ? a[1][m][0] * a[1][2][m] : 0.0);
    first_derivative += (i == 1 && j == m && k == 0 ? a[0][m][2] * a[1][2][m] : 0.0);
    first_derivative += (i == 1 && j == 2 && k == m ? a[0][m][2] * a[1][m][0] : 0.0);
  }
  return first_derivative;
}

} // namespace

TEST_CASE("functions that read elements, rows and planes of an array of rank 3 have correct gradients") {
  cube const a = cube_of(0.375);
  for (compile_options const& o : executors()) {
    auto const [value, derivatives] = compile(value_and_gradient<0>(mixed), signature<cube>, o)(a);
    CHECK(value == Approx(mixed(a)));
    for (i64 i = 0; i < 2; ++i)
      for (i64 j = 0; j < 3; ++j)
        for (i64 k = 0; k < 3; ++k) CHECK(derivatives[i][j][k] == Approx(slope_of_mixed(a, i, j, k)));
  }
}
