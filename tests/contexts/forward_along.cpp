// Tangents in several directions, inside and outside of other contexts.
#include "catch.hpp"

#include <overdub/contexts/count.hpp>
#include <overdub/contexts/forward.hpp>
#include <overdub/derivative.hpp>

#include <tuple>

namespace {

using namespace overdub::contexts;
using overdub::array;
using overdub::tag;
using pair = tangents<double, 2>;

constexpr auto product = overdub::fn<"product">([](auto x, auto y) {
  return overdub::if_(
      x < y, [&] { return x * y * overdub::exp(x); }, [&] { return x; });
});
constexpr auto sum_of_squares = overdub::fn<"sum_of_squares">(
    [](auto xs) { return overdub::reduce(overdub::add, overdub::map([](auto x) { return x * x; }, xs)); });
constexpr auto doubled_twice = overdub::fn<"doubled_twice">(
    [](auto xs) { return overdub::sum(overdub::concat(overdub::update(xs, 0, xs[0] * 2.0), xs)); });

TEST_CASE("tangents in several directions are correct with a counting context inside and outside") {
  forward_along<2> forward;
  auto const alone = overdub::run(forward, product, tag(1.0, pair{1, 0}), tag(2.0, pair{0, 1}));
  count inside, outside;
  auto const over =
      overdub::run(overdub::compose(forward, inside), product, tag(1.0, pair{1, 0}), tag(2.0, pair{0, 1}));
  auto const under =
      overdub::run(overdub::compose(outside, forward), product, tag(1.0, pair{1, 0}), tag(2.0, pair{0, 1}));
  CHECK(over.inner == alone.inner);
  CHECK(over.metadata == alone.metadata);
  CHECK(under.metadata == alone.metadata);
  CHECK(inside.calls() > outside.calls());
}

TEST_CASE("outside of an inner context, each direction of an array has its own array of tangents") {
  array<double> const xs{1, 2, 3};
  tangents<array<double>, 2> const directions{array<double>{1, 0, 0}, array<double>{0, 1, 0}};
  count inside;
  auto const composed = overdub::compose(forward_along<2>{}, inside);
  auto const squares = overdub::run(composed, sum_of_squares, tag(xs, directions));
  CHECK(squares.inner == 14);
  CHECK(squares.metadata == pair{2, 4});
  auto const moved = overdub::run(composed, doubled_twice, tag(xs, directions));
  CHECK(moved.inner == 13);
  CHECK(moved.metadata == pair{3, 2});
}

TEST_CASE("an array that is filled with a number or a pair has the tangents of the number or pair") {
  auto const filled = overdub::run(
      forward_along<2>{}, [](auto x) { return overdub::sum(overdub::fill(overdub::i64{3}, x * x)); },
      tag(2.0, pair{1, 0.5}));
  CHECK(filled.inner == 12);
  CHECK(filled.metadata == pair{12, 6});
  auto const of_pairs = overdub::run(
      forward_along<2>{},
      [](auto x) {
        auto const [a, b] = overdub::fill(overdub::i64{2}, std::tuple(x * x, 3.0 * x));
        return overdub::dot(a, b);
      },
      tag(2.0, pair{1, 0.5}));
  CHECK(of_pairs.inner == 48);
  CHECK(of_pairs.metadata == pair{72, 36});
}

TEST_CASE("the derivative of a run with two directions is correct") {
  auto const along_first = [](auto s) {
    forward_along<2> inner;
    return overdub::run(inner, product, tag(s, pair{1, 0}), tag(2.0 * s, pair{0, 1})).metadata[0];
  };
  // d/ds of 2s exp(s) (1 + s) at 1
  CHECK(overdub::derivative(along_first, 1.0) == Approx(10 * std::exp(1.0)));
}

} // namespace
