#include <overdub/implementation/check/real_operations.hpp>

namespace overdub::checking::detail {

reals clamped(reals const& x, reals const& y, reals const& z) {
  if (x.is_empty() || y.is_empty() || z.is_empty()) return {};
  reals r{};
  if (x.has_numbers() && y.has_numbers() && x.low < y.high) r = join(r, meet(y, reals::of(x.low, infinity)));
  // If x is not below y, it is at least y, or one of both is NaN.
  reals rest = x.nan || y.nan ? x : meet(x, reals::of(y.low, infinity, true));
  if (rest.is_empty()) return r;
  if (rest.has_numbers() && z.has_numbers() && z.low < rest.high)
    r = join(r, meet(z, reals::of(-infinity, rest.high)));
  if (!z.nan && !rest.nan) rest = meet(rest, reals::of(-infinity, z.high));
  return join(r, rest);
}

} // namespace overdub::checking::detail
