// The abstract domain of 64-bit integers: intervals, with bounds relative to symbolic array lengths.
#pragma once

#include <overdub/core/requirements.hpp>

#include <algorithm>
#include <cstdint>
#include <limits>

namespace overdub::checking {

using std::int64_t;

/// An unknown length, plus a number: a relative bound. A symbol stands for one number while the region that introduced it
/// runs.
struct relative {
  static constexpr std::uint32_t none = 0;
  std::uint32_t symbol = none;
  int64_t offset = 0;
  constexpr bool operator==(relative const&) const = default;
};

/// The integers from low to high; empty if low > high.
struct integers {
  static constexpr int64_t minimum = std::numeric_limits<int64_t>::min();
  static constexpr int64_t maximum = std::numeric_limits<int64_t>::max();

  int64_t low = maximum;
  int64_t high = minimum;
  relative from{}; // a lower bound
  relative to{};   // an upper bound

  static constexpr integers of(int64_t low, int64_t high) { return {low, high, {}, {}}; }
  static constexpr integers any() { return of(minimum, maximum); }
  static constexpr integers only(int64_t x) { return of(x, x); }
  /// Lengths of arrays: more exceeds the address space.
  static constexpr integers sizes() { return of(0, int64_t{1} << 48); }

  constexpr bool operator==(integers const&) const = default;
  constexpr bool is_empty() const { return low > high; }
  constexpr bool has(int64_t x) const { return low <= x && x <= high; }
  constexpr bool is_only(int64_t x) const { return low == x && high == x; }
  /// Drops bounds relative to symbols from this one on.
  constexpr integers before(std::uint32_t symbol) const {
    return {low, high, from.symbol >= symbol ? relative{} : from, to.symbol >= symbol ? relative{} : to};
  }
};

/// Whether x < y for all members.
constexpr bool is_less(integers const& x, integers const& y) {
  return x.high < y.low ||
         (x.to.symbol != relative::none && x.to.symbol == y.from.symbol && x.to.offset < y.from.offset);
}
/// Whether x <= y for all members.
constexpr bool is_at_most(integers const& x, integers const& y) {
  return x.high <= y.low ||
         (x.to.symbol != relative::none && x.to.symbol == y.from.symbol && x.to.offset <= y.from.offset);
}

constexpr integers join(integers const& x, integers const& y) {
  if (x.is_empty()) return y;
  if (y.is_empty()) return x;
  integers r = integers::of(std::min(x.low, y.low), std::max(x.high, y.high));
  if (x.from.symbol == y.from.symbol) r.from = {x.from.symbol, std::min(x.from.offset, y.from.offset)};
  if (x.to.symbol == y.to.symbol) r.to = {x.to.symbol, std::max(x.to.offset, y.to.offset)};
  return r;
}
constexpr integers meet(integers const& x, integers const& y) {
  integers r = {std::max(x.low, y.low), std::min(x.high, y.high), x.from, x.to};
  if (r.from.symbol == relative::none || (r.from.symbol == y.from.symbol && r.from.offset < y.from.offset))
    r.from = y.from.symbol == relative::none ? r.from : y.from;
  if (r.to.symbol == relative::none || (r.to.symbol == y.to.symbol && r.to.offset > y.to.offset))
    r.to = y.to.symbol == relative::none ? r.to : y.to;
  return r;
}
/// Whether x implies everything known of y.
constexpr bool is_within(integers const& x, integers const& y) {
  if (x.is_empty()) return true;
  bool const from =
      y.from.symbol == relative::none || (x.from.symbol == y.from.symbol && x.from.offset >= y.from.offset);
  bool const to = y.to.symbol == relative::none || (x.to.symbol == y.to.symbol && x.to.offset <= y.to.offset);
  return y.low <= x.low && x.high <= y.high && from && to;
}

namespace detail {
// 128-bit bounds, wrapped if they exceed 64 bits.
__extension__ using wide = __int128;
constexpr integers wrapped(wide low, wide high) {
  if (low < integers::minimum || high > integers::maximum) return integers::any();
  return integers::of(static_cast<int64_t>(low), static_cast<int64_t>(high));
}
constexpr relative moved(relative r, int64_t by) {
  int64_t offset = 0;
  if (r.symbol == relative::none || __builtin_add_overflow(r.offset, by, &offset)) return {};
  return {r.symbol, offset};
}
constexpr int64_t difference(int64_t x, int64_t y, int64_t otherwise) {
  int64_t r = 0;
  return __builtin_sub_overflow(x, y, &r) ? otherwise : r;
}
// The range of f over the corners of its operands.
template <class F>
constexpr integers corners(F const& f, integers const& x, integers const& y) {
  wide const all[] = {
      f(wide{x.low}, wide{y.low}), f(wide{x.low}, wide{y.high}), f(wide{x.high}, wide{y.low}),
      f(wide{x.high}, wide{y.high})};
  return wrapped(std::min({all[0], all[1], all[2], all[3]}), std::max({all[0], all[1], all[2], all[3]}));
}
} // namespace detail

constexpr integers add(integers const& x, integers const& y) {
  if (x.is_empty() || y.is_empty()) return {};
  detail::wide const low = detail::wide{x.low} + y.low, high = detail::wide{x.high} + y.high;
  integers r = detail::wrapped(low, high);
  if (low < integers::minimum || high > integers::maximum) return r;
  r.from = x.from.symbol != relative::none ? detail::moved(x.from, y.low) : detail::moved(y.from, x.low);
  r.to = x.to.symbol != relative::none ? detail::moved(x.to, y.high) : detail::moved(y.to, x.high);
  return r;
}
constexpr integers neg(integers const& x) {
  if (x.is_empty()) return {};
  return detail::wrapped(-detail::wide{x.high}, -detail::wide{x.low});
}
constexpr integers sub(integers const& x, integers const& y) {
  if (x.is_empty() || y.is_empty()) return {};
  detail::wide const low = detail::wide{x.low} - y.high, high = detail::wide{x.high} - y.low;
  integers r = detail::wrapped(low, high);
  if (low < integers::minimum || high > integers::maximum) return r;
  if (y.high != integers::minimum) r.from = detail::moved(x.from, -y.high);
  if (y.low != integers::minimum) r.to = detail::moved(x.to, -y.low);
  // x is at most the length, y is at least the length plus a number.
  if (x.to.symbol != relative::none && x.to.symbol == y.from.symbol)
    r.high = std::min(r.high, detail::difference(x.to.offset, y.from.offset, r.high));
  if (x.from.symbol != relative::none && x.from.symbol == y.to.symbol)
    r.low = std::max(r.low, detail::difference(x.from.offset, y.to.offset, r.low));
  return r;
}
constexpr integers mul(integers const& x, integers const& y) {
  if (x.is_empty() || y.is_empty()) return {};
  return detail::corners([](detail::wide a, detail::wide b) { return a * b; }, x, y);
}
constexpr integers magnitude(integers const& x) {
  if (x.is_empty() || x.low >= 0) return x;
  integers const n = neg(x);
  if (x.low == integers::minimum) return integers::any(); // the magnitude of the least integer is itself
  return x.high <= 0 ? n : integers::of(0, std::max(n.high, x.high));
}
/// Excludes a divisor of 0.
constexpr integers without_zero(integers y) {
  if (y.low == 0) y.low = 1;
  if (y.high == 0) y.high = -1;
  return y;
}
constexpr integers div(integers const& x, integers const& divisor) {
  integers const y = without_zero(divisor);
  if (x.is_empty() || y.is_empty()) return {};
  auto const quotient = [](detail::wide a, detail::wide b) { return a / b; };
  integers r{};
  if (y.low < 0)
    r = join(r, detail::corners(quotient, x, integers::of(y.low, std::min<int64_t>(y.high, -1))));
  if (y.high > 0)
    r = join(r, detail::corners(quotient, x, integers::of(std::max<int64_t>(y.low, 1), y.high)));
  return r;
}
constexpr integers rem(integers const& x, integers const& divisor) {
  integers const y = without_zero(divisor);
  if (x.is_empty() || y.is_empty()) return {};
  detail::wide const of_y = std::max(detail::wide{y.high}, -detail::wide{y.low}) - 1;
  detail::wide const of_x = std::max(detail::wide{x.high}, -detail::wide{x.low});
  detail::wide const bound = std::min(of_x, of_y);
  return detail::wrapped(x.low < 0 ? -bound : 0, x.high > 0 ? bound : 0);
}
/// The minimum of both.
constexpr integers minimum(integers const& x, integers const& y) {
  if (x.is_empty() || y.is_empty()) return {};
  integers r = integers::of(std::min(x.low, y.low), std::min(x.high, y.high));
  r.to = x.to.symbol != relative::none ? x.to : y.to;
  if (x.from.symbol == y.from.symbol) r.from = {x.from.symbol, std::min(x.from.offset, y.from.offset)};
  return r;
}
constexpr integers maximum(integers const& x, integers const& y) {
  if (x.is_empty() || y.is_empty()) return {};
  integers r = integers::of(std::max(x.low, y.low), std::max(x.high, y.high));
  r.from = x.from.symbol != relative::none ? x.from : y.from;
  if (x.to.symbol == y.to.symbol) r.to = {x.to.symbol, std::max(x.to.offset, y.to.offset)};
  return r;
}
/// All numbers with as many bits as the largest of x and y: bounds of `and`, `or` and `xor` for nonnegative operands.
constexpr integers bits_of_both(integers const& x, integers const& y) {
  if (x.is_empty() || y.is_empty()) return {};
  if (x.low < 0 || y.low < 0) return integers::any();
  int64_t all = 0;
  while (all < x.high || all < y.high) all = 2 * all + 1;
  return integers::of(0, all);
}
constexpr integers bit_and(integers const& x, integers const& y) {
  if (x.is_empty() || y.is_empty()) return {};
  if (x.low < 0 && y.low < 0) return integers::any();
  return integers::of(0, x.low < 0 ? y.high : y.low < 0 ? x.high : std::min(x.high, y.high));
}
constexpr integers shift_right(integers const& x, integers const& distance) {
  if (x.is_empty() || distance.is_empty()) return {};
  if (distance.low < 0 || distance.high > 63)
    return integers::of(std::min<int64_t>(x.low, 0), std::max<int64_t>(x.high, 0));
  return detail::corners(
      [](detail::wide a, detail::wide b) { return a >> static_cast<int>(b); }, x, distance);
}
constexpr integers shift_left(integers const& x, integers const& distance) {
  if (x.is_empty() || distance.is_empty()) return {};
  if (distance.low < 0 || distance.high > 62) return integers::any();
  return mul(x, integers::of(int64_t{1} << distance.low, int64_t{1} << distance.high));
}

} // namespace overdub::checking
