// Lifted functions in programs: compiled, differentiated, and updated incrementally.
#include "catch.hpp"
#include "sources/numerics.hpp"

#include <overdub/compile/compile.hpp>
#include <overdub/incremental.hpp>
#include <overdub/lifted.hpp>
#include <overdub/overdub.hpp>
#include <overdub/reverse.hpp>

#include <cmath>
#include <vector>

namespace od = overdub;
using od::i64;

namespace {
inline constexpr auto lifted_norm = od::lifted<&::norm>(od::extent<0>(od::arg<1>));
inline constexpr auto lifted_sum = od::lifted<&numerics::sum_of>(od::extent<0>(od::arg<1>));
inline constexpr auto lifted_sort = od::lifted<&numerics::sort>(od::extent<0>(od::arg<1>));
inline constexpr auto lifted_first = od::lifted<&numerics::first_of>(od::extent<0>(od::arg<1>));
inline constexpr auto lifted_printed = od::lifted<&numerics::printed>();
inline constexpr auto staged_norm = od::fn<"staged_norm">([](auto x, auto n) {
  return od::sqrt(od::loop(n, 0.0, [=](auto i, auto s) { return x[i] * x[i] + s; }));
});
} // namespace

TEST_CASE("a lifted function is compiled in a function of C++") {
  auto const f = od::compile(
      od::compose(), od::fn<"f">([](auto x, auto n) { return lifted_norm(x, n) + 1.0; }),
      od::signature<od::array<double>, i64>);
  CHECK(f(od::array<double>{3.0, 4.0}, 2) == 6);
  auto const sum = od::compile(od::compose(), lifted_sum, od::signature<od::array<i64>, i64>);
  auto const sort = od::compile(od::compose(), lifted_sort, od::signature<od::array<i64>, i64>);
  auto const [count, sorted] = sort(od::array<i64>{3, 1, 2}, 3);
  CHECK(count == 3);
  CHECK(sorted[0] == 1);
  std::vector<unsigned> const large{4'000'000'000U, 200'000'000U, 5U};
  CHECK(sum(od::array<i64>{-294967296, 200'000'000, 5}, 3) == numerics::sum_of(large.data(), 3));
}

TEST_CASE("the gradient of a lifted function is that of the staged one") {
  od::array<double> const x{3.0, 4.0, -1.0};
  auto const a = od::gradient<0>(lifted_norm)(x, i64{3});
  auto const b = od::gradient<0>(staged_norm)(x, i64{3});
  for (i64 i = 0; i < 3; ++i) CHECK(a[i] == b[i]);
}

TEST_CASE("a lifted function is updated incrementally") {
  auto session = od::incremental(lifted_norm, od::array<double>{3.0, 4.0}, i64{2});
  CHECK(session.value() == 5);
  session.set_at<0>(0, 0.0);
  CHECK(session.propose() == 4);
}

TEST_CASE("a function that was not lifted is a native function of the program") {
  auto const f = od::compile(od::compose(), lifted_printed, od::signature<double>);
  CHECK(f(1.0) == 2);
  auto const first = od::compile(od::compose(), lifted_first, od::signature<od::array<double>, i64>);
  CHECK(first(od::array<double>{3.0, 4.0}, 2) == 4);
  CHECK_THROWS_AS(first(od::array<double>{3.0, 4.0}, 3), od::argument_error);
  CHECK_THROWS(od::gradient(lifted_printed)(1.0));
}
