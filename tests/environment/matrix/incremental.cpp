// A sum of squares that is updated, rolled back and committed.
#include "layers.hpp"

#include <overdub/incremental.hpp>
#include <overdub/overdub.hpp>

namespace od = overdub;

namespace {
inline constexpr auto squares =
    od::fn<"squares">([](auto const& xs) { return od::sum(od::map([](auto x) { return x * x; }, xs)); });
} // namespace

bool incremental_is_right() {
  auto sum = od::incremental(squares, od::array<double>{1, 2, 3});
  sum.set_at<0>(1, 4.0);
  bool const proposed = sum.propose() == 26.0;
  sum.rollback();
  bool const kept = sum.value() == 14.0;
  sum.set_at<0>(0, 5.0);
  sum.commit();
  return proposed && kept && sum.value() == 38.0;
}
