// widened: integers of all sizes, and vectors.
#include "catch.hpp"

#include <overdub/array/widened.hpp>
#include <overdub/execute/datum.hpp>
#include <overdub/overdub.hpp>

#include <array>
#include <cstdint>
#include <limits>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace od = overdub;
using od::i64;
using numbers = od::array<double>;

TEST_CASE("widened converts integers to 64 bits, and vectors to arrays") {
  static_assert(std::is_same_v<od::widened_t<int>, i64> && std::is_same_v<od::widened_t<bool>, bool>);
  static_assert(std::is_same_v<od::widened_t<float>, float>);
  static_assert(std::is_same_v<od::widened_t<od::array<bool>>, od::array<bool>>);
  static_assert(std::is_same_v<
                od::widened_t<std::tuple<unsigned char, std::vector<std::vector<int>>>>,
                std::tuple<i64, od::array<od::array<i64>>>>);
  CHECK(od::widened(std::vector<bool>{true, false}) == od::array<bool>{true, false});
  CHECK(od::widened(std::vector<std::vector<short>>{{1}, {2, -3}})[1] == od::array<i64>{2, -3});
  CHECK(od::widened(std::tuple(2u, 0.5)) == std::tuple(i64{2}, 0.5));
  numbers const x{1, 2};
  CHECK(od::widened(x).data() == x.data());
  CHECK_THROWS_WITH(
      od::widened(std::numeric_limits<std::uint64_t>::max()),
      "overdub: 18446744073709551615 is given, and integers go to 2^63 - 1");
  CHECK(od::widened('a') == 97);
  CHECK(od::widened(std::numeric_limits<std::uint32_t>::max()) == 4294967295);
  CHECK(od::widened(std::array<int, 2>{3, -4}) == std::array<i64, 2>{3, -4});
  CHECK(od::widened(std::pair(1, 2.5f)) == std::pair(i64{1}, 2.5f));
  CHECK(od::datum(std::vector<int>{1, 2}) == od::datum(od::array<i64>{1, 2}));
  CHECK(od::datum(std::vector<char>{'a'}) == od::datum(od::array<i64>{97}));
  CHECK_THROWS_AS(od::datum(std::numeric_limits<std::uint64_t>::max()), od::argument_error);
}
