// Native functions whose calls in contexts run the programs that were lifted from them.
#include "catch.hpp"
#include "sources/native.hpp"
#include "sources/numerics.hpp"

#include <overdub/contexts/count.hpp>
#include <overdub/contexts/forward.hpp>
#include <overdub/contexts/log.hpp>
#include <overdub/lifted.hpp>
#include <overdub/overdub.hpp>

#include <dlfcn.h>
#include <limits>
#include <random>
#include <span>
#include <sstream>
#include <type_traits>
#include <vector>

namespace od = overdub;
using od::i64;

namespace {

namespace lifted {
inline constexpr auto norm = od::lifted<&::norm>(od::extent<0>(od::arg<1>));
inline constexpr auto gcd = od::lifted<&::gcd>();
inline constexpr auto scale = od::lifted<&numerics::scale>(od::extent<0>(od::arg<1>));
inline constexpr auto add_to =
    od::lifted<&numerics::add_to>(od::extent<0>(od::arg<2>), od::extent<1>(od::arg<2>));
inline constexpr auto sum_of = od::lifted<&numerics::sum_of>(od::extent<0>(od::arg<1>));
inline constexpr auto brighter = od::lifted<&numerics::brighter>();
inline constexpr auto count_if = od::lifted<&numerics::count_if>(od::extent<0>(od::arg<1>));
inline constexpr auto is_sorted = od::lifted<&numerics::is_sorted>(od::extent<0>(od::arg<1>));
inline constexpr auto median = od::lifted<&numerics::median>(od::extent<0>(od::arg<1>));
inline constexpr auto printed = od::lifted<&numerics::printed>();
inline constexpr auto sort = od::lifted<&numerics::sort>(od::extent<0>(od::arg<1>));
inline constexpr auto dot =
    od::lifted<&numerics::dot>(od::extent<0>(od::arg<2> * od::arg<3>), od::extent<1>(od::arg<2>* od::arg<3>));
inline constexpr auto at_two = od::lifted<&numerics::at_two>(od::extent<0>(od::arg<1>));
inline constexpr auto split =
    od::lifted<&numerics::split>(od::extent<1>(od::elements<1>), od::extent<2>(od::elements<1>));
inline constexpr auto unused = od::lifted<&numerics::unused>(od::extent<0>(od::elements<0>));
inline constexpr auto clampf = od::lifted<&numerics::clampf>();
inline constexpr auto half = od::lifted<&numerics::half<double>>();
inline constexpr auto calls_native = od::lifted<&numerics::calls_native>(od::extent<0>(od::arg<1>));
inline constexpr auto calls_each_type = od::lifted<&numerics::calls_each_type>();
inline constexpr auto calls_absent = od::lifted<&numerics::calls_absent>();
inline constexpr auto complex_functions = od::lifted<&numerics::complex_functions>();
inline constexpr auto calls_with_structs = od::lifted<&numerics::calls_with_structs>();
} // namespace lifted

double outside(double x) { return x; }

struct halves : od::context {
  auto overdub(decltype(od::symbol<"double numerics::half<double>(double)">), auto x) { return x * 100.0; }
};

std::vector<double> numbers(std::size_t n, std::mt19937_64& random) {
  std::normal_distribution<double> draw;
  std::vector<double> all(n);
  for (double& x : all) x = draw(random);
  return all;
}

} // namespace

TEST_CASE("a lifted function on plain arguments is the native one") {
  double const x[] = {3, 4};
  CHECK(lifted::norm(x, 2) == 5);
  CHECK(lifted::norm(std::vector{3.0, 4.0}, 2) == 5);
  CHECK(lifted::norm(od::array<double>{3.0, 4.0}, 2L) == 5);
  CHECK(lifted::gcd(12, 18) == 6);
  double y[] = {1, 2};
  lifted::scale(y, 2, 10.0);
  CHECK(y[1] == 40);
  auto const scaled = lifted::scale(od::array<double>{1.0, 2.0}, 2, 10.0);
  CHECK(scaled[0] == 20);
  auto const [count, sorted] = lifted::sort(std::vector{3, 1, 2}, 3);
  CHECK(count == 3);
  CHECK(sorted[0] == 1);
  CHECK(sorted[2] == 3);
  std::vector<float> const small{1, 2, 3};
  CHECK(lifted::count_if(std::span<float const>(small), 3, 2.0F, true) == 1);
  CHECK(std::is_same_v<decltype(lifted::gcd(1L, 2L)), i64>);
}

TEST_CASE("a context sees the call by its name, and what the function calls") {
  std::ostringstream out;
  od::contexts::log log(out);
  double const x[] = {3};
  CHECK(od::run(log, lifted::norm, x, 1) == 3);
  CHECK(
      out.str() == "norm(double const*, long)([3], 1)\n"
                   "  loop(1, 0, <lambda>)\n"
                   "    at([3], 0) = 3\n"
                   "    square(double)(3)\n"
                   "      mul(3, 3) = 9\n"
                   "    = 9\n"
                   "    add(0, 9) = 9\n"
                   "  = 9\n"
                   "  sqrt(9) = 3\n"
                   "= 3\n");
}

TEST_CASE("the results of lifted functions in a context are those of native ones to the bit") {
  std::mt19937_64 random(1);
  for (int round = 0; round < 20; ++round) {
    auto const n = static_cast<int>(random() % 9);
    std::vector<double> const x = numbers(static_cast<std::size_t>(n), random), y = numbers(x.size(), random);
    od::contexts::count count;
    CHECK(od::run(count, lifted::norm, x, n) == norm(x.data(), n));
    CHECK(od::run(count, lifted::dot, x, y, 1, n) == numerics::dot(x.data(), y.data(), 1, n));
    CHECK(od::run(count, lifted::at_two, x, n) == numerics::at_two(x.data(), n));
    std::vector<double> native = y;
    numerics::add_to(native.data(), x.data(), n);
    auto const added = od::run(count, lifted::add_to, y, x, n);
    for (i64 i = 0; i < n; ++i) CHECK(added[i] == native[static_cast<std::size_t>(i)]);
    if (n > 0) {
      native = x;
      CHECK(std::get<0>(od::run(count, lifted::median, x, n)) == numerics::median(native.data(), n));
    }
    auto const a = static_cast<long>(random() % 1000), b = static_cast<long>(random() % 1000);
    CHECK(od::run(count, lifted::gcd, a, b) == gcd(a, b));
    double whole = 0, rest = 0;
    numerics::split(y.empty() ? 0.5 : y[0], &whole, &rest);
    od::array<double> const one{0.0};
    auto const [w, r] = od::run(count, lifted::split, y.empty() ? 0.5 : y[0], one, one);
    CHECK(w[0] == whole);
    CHECK(r[0] == rest);
    CHECK(count.primitives > 0);
  }
  CHECK(lifted::norm.calls().lifted >= 20);
  CHECK(lifted::norm.calls().native == 0);
}

TEST_CASE("integers of all widths have the numbers of the native function") {
  od::contexts::count count;
  std::vector<unsigned> const large{4'000'000'000U, 200'000'000U, 5U};
  CHECK(od::run(count, lifted::sum_of, large, 2) == numerics::sum_of(large.data(), 2));
  CHECK(od::run(count, lifted::sum_of, large, 3) == numerics::sum_of(large.data(), 3));
  CHECK(lifted::sum_of(large, 2) == numerics::sum_of(large.data(), 2));
  for (int x = 0; x < 256; x += 5)
    for (int by = 0; by < 256; by += 51) {
      auto const a = static_cast<unsigned char>(x), b = static_cast<unsigned char>(by);
      CHECK(od::run(count, lifted::brighter, a, b) == numerics::brighter(a, b));
      CHECK(od::run(count, lifted::brighter, i64{x}, i64{by}) == numerics::brighter(a, b));
    }
  std::vector<short> const steps{-3, -1, 4};
  CHECK(od::run(count, lifted::is_sorted, steps, 3));
  CHECK(!od::run(count, lifted::is_sorted, std::vector<short>{-1, -3}, 2));
  std::vector<float> const x{1, 2, 3};
  CHECK(od::run(count, lifted::count_if, x, 3, 2.0F, false) == 2);
  CHECK(od::run(count, lifted::count_if, x, 3, 2.0, true) == 1);
}

TEST_CASE("integers that a width cannot represent wrap, as natively") {
  od::contexts::count count;
  constexpr auto is_large = od::lifted<&numerics::is_large>(od::extent<0>(od::arg<1>));
  constexpr auto complement = od::lifted<&numerics::complement>(od::extent<0>(od::arg<1>));
  constexpr auto same = od::lifted<&numerics::same>();
  constexpr auto low = od::lifted<&numerics::low>();
  od::array<i64> const large{4'000'000'000, 4'000'000'000 + (i64{1} << 32), 5};
  CHECK(od::run(count, is_large, large, 3) == 2);
  CHECK(is_large(large, 3) == 2);
  CHECK(od::run(count, is_large, std::vector<i64>{4'000'000'000}, 1) == 1);
  CHECK(od::run(count, complement, std::vector<unsigned>{1, 0}, 2)[0] == 4'294'967'294);
  CHECK(complement(std::vector<unsigned>{1, 0}, 2)[0] == 4'294'967'294);
  unsigned memory[] = {1, 0};
  od::run(count, complement, memory, 2);
  CHECK(memory[0] == 4'294'967'294U);
  CHECK(same(~0UL) == ~0UL);
  CHECK(std::is_same_v<decltype(same(1UL)), unsigned long>);
  CHECK(od::run(count, same, ~0UL) == -1);
  CHECK(od::run(od::contexts::forward{}, same, ~0UL).inner == -1);
  CHECK(od::run(count, low, (i64{1} << 32) + 1) == 2);
  std::vector<double> const two{3, 4};
  CHECK(od::run(count, lifted::at_two, two, (i64{1} << 32) + 2) == 11); // an int
}

TEST_CASE("memory, null pointers, and functions without parameters") {
  od::contexts::count count;
  CHECK(od::run(count, od::lifted<&numerics::constant>()) == 4.5);
  constexpr auto zeros = od::lifted<&numerics::zeros_by_bytes>();
  constexpr auto none = od::lifted<&numerics::sum_of_maybe_none>();
  CHECK(od::run(count, zeros, 5) == 2);
  CHECK(od::run(count, none, 0) == 0);
  CHECK(od::run(count, none, 3) == 6);
  CHECK(zeros.why_native().empty());
  CHECK(none.why_native().empty());
  static double const x[] = {1, 2}; // in memory that cannot be written
  constexpr auto read_alone = od::lifted<&numerics::read_alone>(od::extent<0>(od::arg<1>));
  CHECK(od::run(count, read_alone, const_cast<double*>(x), 2) == 3);
  CHECK(!od::lifted<&numerics::replaceable>().why_native().empty());
}

TEST_CASE("a lifted function writes to memory in a context, as natively") {
  od::contexts::count count;
  double x[] = {1, 2};
  od::run(count, lifted::scale, x, 2, 10.0);
  CHECK(x[0] == 20);
  CHECK(x[1] == 40);
  int many[] = {5, 3, 4};
  CHECK(od::run(count, lifted::sort, many, 3) == 3);
  CHECK(many[0] == 3);
  CHECK(many[2] == 5);
  CHECK(lifted::scale.calls().native == 0);
}

TEST_CASE("memory that overlaps takes the native function, and is counted") {
  double native[] = {1, 2, 3, 4}, x[] = {1, 2, 3, 4};
  numerics::add_to(native + 1, native, 3);
  od::contexts::count count;
  od::run(count, lifted::add_to, x + 1, x, 3);
  for (int i = 0; i < 4; ++i) CHECK(x[i] == native[i]);
  CHECK(lifted::add_to.calls().native == 1);
  od::run(count, lifted::add_to, x + 2, x, 2); // adjacent
  CHECK(lifted::add_to.calls().native == 1);
}

TEST_CASE("a function that was not lifted is one call of a leaf") {
  std::ostringstream out;
  od::contexts::log log(out);
  CHECK(od::run(log, lifted::printed, 1.0) == 2);
  CHECK(out.str() == "numerics::printed(1) = 2\n");
  CHECK_THAT(
      lifted::printed.why_native(),
      Catch::Contains("numerics::printed(double)") && Catch::Contains("printf"));
  CHECK_THROWS_WITH(
      od::run(od::contexts::forward{}, lifted::printed, od::tag(1.0, 1.0)), Catch::Contains("printf"));
  constexpr auto other = od::lifted<&outside>();
  CHECK(od::run(log, other, 1.0) == 1);
  CHECK_THAT(other.why_native(), Catch::Contains("overdub_lift"));
  CHECK(other.calls().lifted == 0); // nothing is remembered of functions without a program
  CHECK_THAT(lifted::unused.why_native(), Catch::Contains("parameter 1 has the type f64[]"));
  CHECK(std::get<0>(od::run(log, lifted::unused, od::array<i64>{}, 1.5)) == 1.5);
}

TEST_CASE("native functions of numbers are called by their names") {
  std::ostringstream out;
  od::contexts::log log(out);
  double const x[] = {1.25, -2.5};
  CHECK(od::run(log, lifted::calls_native, &x[0], 2) == numerics::calls_native(x, 2));
  CHECK(lifted::calls_native.why_native().empty());
  CHECK_THAT(
      out.str(), Catch::Contains("numerics::native_scaled(double, int)(-2.5, 1) = 0.5") &&
                     Catch::Contains("lround(-2.5) = -3"));

  for (int k : {0, 1, -7})
    for (int byte : {0, 200, 255})
      for (int s : {-1, 300}) {
        auto const native = [&](auto const& call) {
          native_notes().clear();
          bool const is =
              call(k, static_cast<unsigned char>(byte), static_cast<short>(s), static_cast<float>(s));
          return std::pair(is, native_notes());
        };
        CHECK(native([](auto... a) {
                return od::run(od::contexts::count{}, lifted::calls_each_type, a...);
              }) == native(numerics::calls_each_type));
      }
  CHECK(lifted::calls_each_type.calls().native == 0);
}

TEST_CASE("native functions receive and return structs in registers") {
  for (double const x : {0.5, -1.25, 3.0})
    for (int const k : {-2, 0, 7}) {
      CHECK(
          od::run(od::contexts::count{}, lifted::complex_functions, x, k + 0.5) ==
          numerics::complex_functions(x, k + 0.5));
      CHECK(
          od::run(od::contexts::count{}, lifted::calls_with_structs, x, k) ==
          numerics::calls_with_structs(x, k));
    }
  CHECK(lifted::complex_functions.why_native().empty());
  CHECK(lifted::calls_with_structs.why_native().empty());
}

TEST_CASE("a call of a native function that is not linked is an error of the run") {
  CHECK(od::run(od::contexts::count{}, lifted::calls_absent, 1.5) == 1.5);
  CHECK_THROWS_WITH(
      od::run(od::contexts::count{}, lifted::calls_absent, -1.5),
      Catch::Contains("numerics::native_absent(double)"));
}

TEST_CASE("lengths are compared with extents") {
  CHECK_THROWS_WITH(
      lifted::norm(std::vector{3.0, 4.0}, 3),
      "overdub: norm: argument 0 has only 2 elements, and its extent is 3");
  od::contexts::count count;
  CHECK_THROWS_AS(od::run(count, lifted::norm, od::array<double>{3.0}, 2), od::argument_error);
  CHECK_THROWS_WITH(
      od::run(count, lifted::norm, std::vector{3.0}, -1),
      Catch::Contains("argument 0 has the negative length -1"));
  CHECK(od::run(count, lifted::norm, od::array<double>{3.0, 1.0}, 1) == 3);
  constexpr auto first_of = od::lifted<&numerics::first_of>(od::extent<0>(od::arg<1>));
  CHECK_THROWS_AS(od::run(count, first_of, od::array<double>{3.0}, 2), od::argument_error);
  constexpr auto huge = od::lifted<&numerics::dot>(
      od::extent<0>(od::arg<2> * od::arg<3> * od::elements<std::numeric_limits<i64>::max()>),
      od::extent<1>(od::elements<0>));
  CHECK_THROWS_WITH(
      od::run(count, huge, std::vector{3.0}, std::vector{3.0}, 2, 2), Catch::Contains("is too large"));
  double const* const none = nullptr;
  CHECK(od::run(count, lifted::norm, none, 0) == 0);
}

TEST_CASE("a context sees a lifted function that is given memory alone") {
  od::contexts::count count;
  double const c[] = {1, 2, 3};
  static constexpr auto f = od::lifted<&numerics::at_two>(od::extent<0>(od::elements<3>));
  constexpr auto g = od::fn<"g">([](od::scope auto& cx, auto n) {
    return cx(f, std::vector{1.0, 2.0, 3.0}, n);
  });
  CHECK(od::run(count, f, c, 3) == 17);
  auto const before = count.primitives;
  CHECK(before > 0);
  CHECK(od::run(count, g, 3) == 17);
  CHECK(count.primitives == 2 * before);
}

TEST_CASE("rules replace functions inside a lifted function") {
  CHECK(numerics::clampf(3) == 1.5);
  CHECK(od::run(halves{}, lifted::clampf, 3.0) == 300);
  CHECK(od::run(halves{}, lifted::half, 3.0) == 300);
}

TEST_CASE("derivatives of lifted functions") {
  std::mt19937_64 random(2);
  std::vector<double> const v = numbers(5, random), d = numbers(5, random);
  auto const x = od::array<double>::copy_of(v), dx = od::array<double>::copy_of(d);
  auto const t = od::run(od::contexts::forward{}, lifted::norm, od::tag(x, dx), 5);
  double expected = 0;
  for (std::size_t i = 0; i < v.size(); ++i) expected += v[i] * d[i];
  CHECK(t.metadata == Approx(expected / norm(v.data(), 5)));
  auto const y = od::run(od::contexts::forward{}, lifted::scale, od::tag(x, dx), 5, 3.0);
  CHECK(y.metadata[2] == 6 * d[2]);
}

TEST_CASE("a program of a loaded library is known as long as it is loaded") {
  void* const library = dlopen(OVERDUB_LIFTED_PLUGIN, RTLD_NOW | RTLD_LOCAL);
  REQUIRE(library != nullptr);
  auto const is_lifted = reinterpret_cast<bool (*)()>(dlsym(library, "is_lifted"));
  REQUIRE(is_lifted != nullptr);
  CHECK(is_lifted());
  CHECK(dlclose(library) == 0);
}
