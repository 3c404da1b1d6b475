// array<T> is a range, for the standard library and for range-v3.
#include "catch.hpp"

#include <overdub/overdub.hpp>

#include <range/v3/numeric/accumulate.hpp>
#include <range/v3/range/concepts.hpp>
#include <range/v3/view/drop.hpp>
#include <range/v3/view/transform.hpp>
#include <range/v3/view/zip.hpp>
#include <ranges>

#include <algorithm>
#include <iterator>
#include <numeric>
#include <span>
#include <string>
#include <vector>

namespace od = overdub;
using array = od::array<double>;

TEST_CASE("array models the standard's contiguous, sized and common ranges, of constant elements") {
  STATIC_REQUIRE(std::ranges::contiguous_range<array>);
  STATIC_REQUIRE(std::ranges::contiguous_range<array const&>);
  STATIC_REQUIRE(std::ranges::sized_range<array const&>);
  STATIC_REQUIRE(std::ranges::common_range<array const&>);
  STATIC_REQUIRE(std::is_same_v<std::ranges::range_reference_t<array&>, double const&>);
  STATIC_REQUIRE(!std::ranges::output_range<array&, double>);
  STATIC_REQUIRE(std::ranges::contiguous_range<od::array<bool>>);
  STATIC_REQUIRE(std::ranges::contiguous_range<od::array<std::string>>);
}

TEST_CASE("an array owns its elements: it is no view, and a temporary array has only dangling iterators") {
  STATIC_REQUIRE(!std::ranges::view<array>);
  STATIC_REQUIRE(!std::ranges::borrowed_range<array>);
  STATIC_REQUIRE(std::is_same_v<decltype(std::ranges::max_element(array{1, 2})), std::ranges::dangling>);
}

TEST_CASE("array models range-v3's concepts") {
  STATIC_REQUIRE(ranges::contiguous_range<array const&>);
  STATIC_REQUIRE(ranges::sized_range<array const&>);
  STATIC_REQUIRE(ranges::common_range<array const&>);
  STATIC_REQUIRE(!ranges::view_<array>);
}

TEST_CASE("algorithms of the standard library accept arrays") {
  array const xs{3, 1, 2};
  CHECK(std::accumulate(xs.begin(), xs.end(), 0.0) == 6.0);
  CHECK(*std::ranges::max_element(xs) == 3.0);
  CHECK(std::ranges::count_if(xs, [](double x) { return x > 1; }) == 2);
  CHECK((std::size(xs) == 3 && std::data(xs) == &xs[0] && !std::empty(xs)));
  CHECK((std::ranges::size(xs) == 3 && std::ranges::data(xs) == xs.data() && std::ranges::ssize(xs) == 3));
  std::vector<double> sorted(xs.begin(), xs.end());
  std::ranges::sort(sorted);
  CHECK(std::ranges::equal(sorted, array{1, 2, 3}));
  CHECK(std::ranges::empty(array{}));
  for (double x : array{}) FAIL_CHECK(x);
}

TEST_CASE(
    "an array converts to a span, and can be constructed from a span or a type with data() and size()") {
  array const xs{1, 2, 3, 4};
  std::span<double const> const all(xs);
  CHECK((all.size() == 4 && all.data() == xs.data() && xs.span().data() == xs.data()));
  CHECK(array::copy_of(all.subspan(1, 2)) == array{2, 3});
  std::vector<double> const v{5, 6};
  CHECK((array::copy_of(v) == array{5, 6} && array::borrow(v).data() == v.data()));
  CHECK(array::borrow(all.last(1)) == array{4});
  CHECK((array::borrow({}).empty() && array{}.span().empty() && array::copy_of({}) == array{}));
}

TEST_CASE("views of the standard library and of range-v3 refer to an array without a copy") {
  array const xs{1, 2, 3, 4}, ys{10, 20, 30, 40};
  auto const square = [](double x) { return x * x; };
  double total = 0;
  for (double x : xs | std::views::transform(square) | std::views::reverse | std::views::take(2)) total += x;
  CHECK(total == 25.0);
  auto const dropped = xs | ranges::views::drop(1);
  CHECK(&*dropped.begin() == &xs[1]);
  CHECK(ranges::accumulate(dropped | ranges::views::transform(square), 0.0) == 29.0);
  double dot = 0;
  for (auto const [x, y] : ranges::views::zip(xs, ys)) dot += x * y;
  CHECK(dot == od::dot(xs, ys));
}

TEST_CASE("an array that a view owns lives as long as the view") {
  auto const make = [] { return array{1, 2, 3} | std::views::drop(1); };
  CHECK(std::ranges::equal(make(), array{2, 3}));
}
