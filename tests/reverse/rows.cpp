// Gradients of functions that read rows of arrays of arrays.
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
using matrix = array<vec>;

matrix matrix_of(i64 rows, i64 columns, double diagonal, double scale) {
  std::vector<vec> all;
  for (i64 i = 0; i < rows; ++i) {
    std::vector<double> row;
    for (i64 j = 0; j < columns; ++j)
      row.push_back((i == j ? diagonal : 0.0) + scale * static_cast<double>((i * 7 + j * 3) % 5 - 2));
    all.push_back(vec::copy_of(row));
  }
  return matrix::copy_of(all);
}
matrix moved(matrix const& a, matrix const& direction, double by) {
  return map(
      [&](auto const& x, auto const& d) { return map([&](double e, double s) { return e + by * s; }, x, d); },
      a, direction);
}
double dot_of(matrix const& a, matrix const& b) {
  double all = 0;
  for (i64 i = 0; i < a.size(); ++i)
    for (i64 j = 0; j < a[i].size(); ++j) all += a[i][j] * b[i][j];
  return all;
}

// The directional derivative by the first argument agrees with finite differences; and between executors, up to the order
// of sums.
template <class F, class... X>
void check_along(F const& f, matrix const& a, matrix const& direction, X const&... x) {
  double const h = 1e-3;
  auto const at = [&](double by) { return f(moved(a, direction, by), x...); };
  double const first_derivative = (8 * (at(h) - at(-h)) - (at(2 * h) - at(-2 * h))) / (12 * h);
  for (compile_options const& o : executors()) {
    auto const [value, derivatives] = compile(value_and_gradient<0>(f), signature<matrix, X...>, o)(a, x...);
    CHECK(value == Approx(f(a, x...)));
    CHECK(dot_of(derivatives, direction) == Approx(first_derivative).epsilon(1e-7));
  }
}

// Elements of rows in inner loops, by columns and by rows.
inline constexpr auto product = fn<"product">([](auto const& a, auto const& b) {
  auto const n = size(a);
  return sum(tabulate(n, [&](auto i) {
    return sum(tabulate(n, [&](auto j) {
      auto const p = sum(tabulate(n, [&](auto k) { return a[i][k] * b[k][j] + a[k][i] * a[j][k]; }));
      return p * p;
    }));
  }));
});
// A row that is used as a whole, and whose elements branches and loops read.
inline constexpr auto some = fn<"some">([](scope auto& cx, auto const& a, auto n) {
  return cx(loop, n, cx.lift(0.0), [&](auto t, auto s) {
    auto const r = cx(loop, size(a), s, [&](auto i, auto u) {
      auto const row = a[i];
      auto const few =
          cx(loop, i64{2}, cx.lift(0.0), [&](auto k, auto v) { return v + row[k + i % 2] * row[t]; });
      return u + if_(
                     few > 0.0, [&] { return row[0] * few + sum(row); }, [&] { return row[1] - a[t][i]; });
    });
    return r * 0.5;
  });
});
// Rows in a loop whose trip count depends on the elements.
inline constexpr auto until_large = fn<"until_large">([](scope auto& cx, auto const& a) {
  auto const end = cx(
      while_, std::tuple{i64{0}, cx.lift(0.0)},
      [&](auto const& s) { return std::get<0>(s) < 9 && std::get<1>(s) < 20.0; },
      [&](auto const& s) {
        auto const i = std::get<0>(s) % size(a);
        auto const row = a[i];
        return std::tuple{std::get<0>(s) + 1, std::get<1>(s) + dot(row, row) + row[i] * a[0][i]};
      });
  return std::get<1>(end);
});
// The likelihood of a linear system with two observed sums of states, by a Kalman filter.
inline constexpr auto kalman = fn<"kalman">([](auto const& A, auto const& log_q, auto const& log_r,
                                               auto const& H, auto const& y, auto const& P0) {
  auto const n = size(log_q), m = size(log_r);
  auto const q = map([](auto v) { return overdub::exp(v); }, log_q),
             r = map([](auto v) { return overdub::exp(v); }, log_r);
  auto const end = loop(size(y), std::tuple{fill(n, 0.0), P0, 0.0}, [&](auto t, auto const& state) {
    auto const& [x_, P_, likelihood] = state;
    auto const& x = x_;
    auto const& P = P_;
    auto const xp = tabulate(n, [&](auto i) { return dot(A[i], x); });
    auto const AP = tabulate(n, [&](auto i) {
      return tabulate(n, [&](auto j) { return sum(tabulate(n, [&](auto k) { return A[i][k] * P[k][j]; })); });
    });
    auto const Pp = tabulate(n, [&](auto i) {
      return tabulate(n, [&](auto j) {
        return dot(AP[i], A[j]) + if_(
                                      i == j, [&] { return q[i]; }, [&] { return 0.0 * q[i]; });
      });
    });
    auto const v = tabulate(m, [&](auto o) { return y[t][o] - dot(H[o], xp); });
    auto const PH =
        tabulate(n, [&](auto i) { return tabulate(m, [&](auto o) { return dot(Pp[i], H[o]); }); });
    auto const S = tabulate(m, [&](auto a) {
      return tabulate(m, [&](auto b) {
        return sum(tabulate(n, [&](auto k) { return H[a][k] * PH[k][b]; })) +
               if_(
                   a == b, [&] { return r[a]; }, [&] { return 0.0 * r[a]; });
      });
    });
    auto const inverse = 1.0 / (S[0][0] * S[1][1] - S[0][1] * S[1][0]);
    auto const i00 = S[1][1] * inverse, i01 = -S[0][1] * inverse, i10 = -S[1][0] * inverse,
               i11 = S[0][0] * inverse;
    auto const w0 = i00 * v[0] + i01 * v[1], w1 = i10 * v[0] + i11 * v[1];
    auto const next = tabulate(n, [&](auto i) { return xp[i] + PH[i][0] * w0 + PH[i][1] * w1; });
    auto const next_P = tabulate(n, [&](auto i) {
      auto const k0 = PH[i][0] * i00 + PH[i][1] * i10, k1 = PH[i][0] * i01 + PH[i][1] * i11;
      return tabulate(n, [&](auto j) { return Pp[i][j] - (k0 * PH[j][0] + k1 * PH[j][1]); });
    });
    return std::tuple{next, next_P, likelihood - 0.5 * (v[0] * w0 + v[1] * w1 - overdub::log(inverse))};
  });
  return std::get<2>(end);
});

// The length of an array whose elements a map reads, in a region that is nested in the map.
inline constexpr auto weighted_by_size = fn<"weighted_by_size">([](auto const& xs, auto const& ws) {
  return sum(map(
      [&](auto x, auto w) {
        return if_(
            w > 1.5, [&] { return x * convert<double>(size(xs)); }, [&] { return x; });
      },
      xs, ws));
});
inline constexpr auto weighted_means = fn<"weighted_means">([](auto const& m, auto const& ws) {
  return sum(
      map([&](auto const& row,
              auto w) { return w * sum(map([&](auto e) { return e / convert<double>(size(m)); }, row)); },
          m, ws));
});

} // namespace

TEST_CASE("functions that read rows and elements of rows have correct derivatives") {
  for (i64 const n : {3, 5}) {
    matrix const a = matrix_of(n, n, 0.7, 0.3), d = matrix_of(n, n, 0.1, 0.2);
    check_along(product, a, d, matrix_of(n, n, -0.2, 0.4));
    check_along(some, a, d, n - 1);
    check_along(until_large, a, d);
  }
}

TEST_CASE("a Kalman filter, whose matrices are arrays of rows, has correct derivatives") {
  for (i64 const n : {3, 4}) {
    matrix const A = matrix_of(n, n, 0.8, 0.05), y = matrix_of(6, 2, 1.0, 0.5), H = matrix_of(2, n, 1.0, 0.2);
    vec const log_q = fill(n, -0.5), log_r{-0.3, -0.8};
    check_along(kalman, A, matrix_of(n, n, 0.1, 0.2), log_q, log_r, H, y, matrix_of(n, n, 1.0, 0.0));
  }
}

TEST_CASE("the length of an array in a nested region does not change the array's gradient") {
  vec const xs{1.0, 2.0, 3.0}, ws{1.0, 2.0, 1.0};
  matrix const m = matrix_of(2, 3, 1.0, 0.5);
  vec const two{1.0, 2.0};
  for (compile_options const& o : executors()) {
    vec const slopes = compile(gradient<0>(weighted_by_size), signature<vec, vec>, o)(xs, ws);
    CHECK(slopes[0] == 1.0);
    CHECK(slopes[1] == 3.0);
    CHECK(slopes[2] == 1.0);
    matrix const of_rows = compile(gradient<0>(weighted_means), signature<matrix, vec>, o)(m, two);
    for (i64 i = 0; i < 2; ++i)
      for (i64 j = 0; j < 3; ++j) CHECK(of_rows[i][j] == 0.5 * two[i]);
  }
}
