#include <overdub/check/reals.hpp>

#include <algorithm>
#include <cmath>

namespace overdub::checking {

reals join(reals const& x, reals const& y) {
  return {
      std::min(x.low, y.low), std::max(x.high, y.high), x.nan || y.nan,
      (x.whole || !x.has_numbers()) && (y.whole || !y.has_numbers())};
}

reals meet(reals x, reals const& y) {
  x.low = std::max(x.low, y.low);
  x.high = std::min(x.high, y.high);
  x.nan = x.nan && y.nan;
  x.whole = x.whole || y.whole;
  if (x.whole) x.low = std::ceil(x.low), x.high = std::floor(x.high);
  return x.has_numbers() ? x : x.nan ? reals::only_nan() : reals{};
}

bool is_within(reals const& x, reals const& y) {
  return (!x.nan || y.nan) &&
         (!x.has_numbers() || (y.low <= x.low && x.high <= y.high && (x.whole || !y.whole)));
}

reals magnitude(reals const& x) { // adding 0.0 makes 0 of -0
  if (x.low >= 0) return {x.low + 0.0, x.high + 0.0, x.nan, x.whole};
  if (x.high <= 0) return {-x.high + 0.0, -x.low + 0.0, x.nan, x.whole};
  return {0, std::max(-x.low, x.high), x.nan, x.whole};
}

reals minimum(reals const& x, reals const& y) {
  reals r = {std::min(x.low, y.low), std::min(x.high, y.high), x.nan, x.whole && y.whole};
  if (!x.has_numbers()) r = reals{}.with_nan(x.nan);
  if (!y.has_numbers()) r = x;
  if (y.nan) r = join(r, x); // x is returned
  return r;
}

reals minimum_number(reals const& x, reals const& y) {
  reals r = minimum(x.without_nan(), y.without_nan());
  if (!x.has_numbers()) r = reals{};
  if (x.nan) r = join(r, y.without_nan());
  if (y.nan) r = join(r, x.without_nan());
  return r.with_nan(x.nan && y.nan);
}

reals maximum_number(reals const& x, reals const& y) {
  return negated(minimum_number(negated(x), negated(y)));
}

reals remainder_of(reals const& x, reals const& y, hazards& h) {
  bool const nan = x.nan || y.nan;
  if (!x.has_numbers() || !y.has_numbers()) return reals{}.with_nan(nan);
  h.nan = x.has_infinity() || y.has(0);
  if ((x.low == x.high && overdub::is_infinite(x.low)) || y.is_only(0)) return reals::only_nan();
  double const maximum = std::min(magnitude(x).high, magnitude(y).high);
  return {x.low < 0 ? -maximum : 0, x.high > 0 ? maximum : 0, nan || h.nan, x.whole && y.whole};
}

} // namespace overdub::checking
