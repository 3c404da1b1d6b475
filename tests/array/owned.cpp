// owned: a copy that owns all of its memory.
#include "catch.hpp"

#include <overdub/array/owned.hpp>
#include <overdub/contexts/memoize.hpp>
#include <overdub/contexts/slice.hpp>
#include <overdub/overdub.hpp>

#include <tuple>
#include <vector>

namespace {

namespace od = overdub;
using numbers = od::array<double>;
using rows = od::array<numbers>;

double recorded = 0;
inline constexpr auto record_first = od::leaf<"record_first">([](rows const& m) { recorded = m[0][0]; });
inline constexpr auto told_first = od::fn<"told_first">([](auto const& m) {
  record_first(m);
  return m[0][0];
});
inline constexpr auto same = od::fn<"same">([](auto const& m) { return m; });

} // namespace

TEST_CASE("an owned value keeps the elements of borrowed arrays, in arrays and in trees") {
  std::vector<double> mine{1, 2};
  auto const row = numbers::borrow(mine);
  auto const kept = od::detail::owned(std::tuple(row, rows{row, numbers{5}}, 3));
  numbers const shared{7, 8};
  mine = {0, 0};
  CHECK(kept == std::tuple(numbers{1, 2}, rows{{1, 2}, {5}}, 3));
  CHECK(od::detail::owned(shared).data() == shared.data());
  CHECK(od::detail::owned(rows{shared})[0].data() == shared.data());
}

TEST_CASE("memoize and deferred effects keep rows longer than the memory that the rows were borrowed from") {
  std::vector<double> mine{1, 2};
  od::contexts::memoize m;
  (void)od::run(m, same, rows{numbers::borrow(mine)});
  od::contexts::deferred_effects later;
  (void)od::run(od::contexts::slice(later), told_first, rows{numbers::borrow(mine)});
  mine = {3, 4};
  CHECK(od::run(m, same, rows{{1, 2}})[0] == numbers{1, 2});
  later.replay();
  CHECK(recorded == 1);
}
