// incremental: sums are updated by differences, and added up again after cancellation.
#include "catch.hpp"
#include "contexts/executors.hpp"

#include <overdub/incremental.hpp>
#include <overdub/overdub.hpp>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <vector>

namespace {

namespace od = overdub;
using od::i64;

constexpr auto squares =
    od::fn<"squares">([](auto x) { return od::sum(od::map([](auto e) { return e * e; }, x)); });
constexpr auto least_row = od::fn<"least_row">([](auto x) {
  return od::reduce(
      od::min, od::map([](auto row) { return od::sum(od::map([](auto e) { return e * e; }, row)); }, x));
});

template <class T>
bool same_bits(T a, T b) {
  return std::memcmp(&a, &b, sizeof a) == 0;
}

// Each element becomes huge and small again; then the same from a huge start.
template <class T>
void check_outliers(od::compile_options const& o, T huge, double within) {
  std::vector<T> x{T(1.5), T(0.25), T(3), T(0.125)};
  auto f = od::incremental(o, squares, od::array<T>::copy_of(x));
  auto const set = [&](std::size_t i, T e) {
    x[i] = e;
    f.template set_at<0>(i, e);
    T const proposed = f.propose();
    f.commit();
    INFO("element " << i << " is " << e);
    CHECK(same_bits(proposed, f.value()));
    double const wanted = static_cast<double>(squares(od::array<T>::copy_of(x)));
    CHECK(std::abs(static_cast<double>(f.value()) - wanted) <= within * wanted);
  };
  for (std::size_t i = 0; i < x.size(); ++i) {
    T const before = x[i];
    set(i, huge);
    set(i, before);
    set(i, before / 2);
  }
  x[2] = huge;
  f.template set<0>(od::array<T>::copy_of(x));
  f.commit();
  set(2, T(0.5));
  set(1, T(2));
  for (T& e : x) e = huge; // one by one, so that each step is small
  f.template set<0>(od::array<T>::copy_of(x));
  f.commit();
  for (std::size_t i = 0; i < x.size(); ++i) set(i, T(1e-3));
}

} // namespace

TEST_CASE("a sum and its proposal are accurate again after a far greater element is removed") {
  for (od::compile_options const& o : executors()) {
    check_outliers(o, 1e10, 1e-9);
    check_outliers(o, 1e5, 1e-9);
    check_outliers(o, 3e3f, 1e-4);
  }
}

TEST_CASE("each of many sums is accurate again after a far greater element is removed") {
  using numbers = od::array<double>;
  std::vector<std::vector<double>> x(5, std::vector<double>{1, 2, 0.5});
  auto const all = [&] {
    std::vector<numbers> rows;
    for (auto const& row : x) rows.push_back(numbers::copy_of(row));
    return od::array<numbers>::copy_of(rows);
  };
  auto f = od::incremental(least_row, all());
  for (std::size_t k = 0; k < 40; ++k) {
    std::size_t const i = k * 3 % x.size(), j = k % 3;
    x[i][j] = k % 2 == 0 ? 1e9 : 0.125 * static_cast<double>(k % 7);
    f.set_at<0>(i, j, x[i][j]);
    double const proposed = f.propose();
    f.commit();
    CHECK(same_bits(proposed, f.value()));
    CHECK(f.value() == Approx(least_row(all())).epsilon(1e-9));
  }
}

TEST_CASE("a sum near zero without cancellation is updated by differences, and loses no element") {
  std::uint64_t state = 1;
  auto const random = [&] {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return static_cast<double>(state >> 40) * 0x1p-24 - 0.5;
  };
  std::vector<double> x(100);
  for (double& e : x) e = random();
  constexpr auto total =
      od::fn<"total">([](auto y) { return od::sum(od::map([](auto e) { return 2 * e; }, y)); });
  auto f = od::incremental(total, od::array<double>::copy_of(x));
  for (int k = 0; k < 20'000; ++k) {
    auto const i = static_cast<std::size_t>((random() + 0.5) * 100);
    x[i] = random();
    f.set_at<0>(i, x[i]);
    f.commit();
  }
  CHECK(std::abs(f.value() - total(od::array<double>::copy_of(x))) < 1e-13);
}

TEST_CASE(
    "a sum that becomes small in steps is as accurate as one that becomes small at once, at any scale") {
  constexpr auto total = od::fn<"total">([](auto y) { return od::sum(y); });
  for (double const step : {10.0, 1e3, 4e5}) {
    std::vector<double> x;
    for (double e = 1e5; e > 1e-40; e /= step) x.push_back(e / 3);
    auto f = od::incremental(total, od::array<double>::copy_of(x));
    for (std::size_t i = 0; i < x.size(); ++i) {
      x[i] = 0;
      f.set_at<0>(static_cast<i64>(i), 0.0);
      double const proposed = f.propose();
      f.commit();
      CHECK(same_bits(proposed, f.value()));
      CHECK(f.value() == Approx(total(od::array<double>::copy_of(x))).epsilon(1e-9).margin(0));
    }
  }
}
