// Idioms of ordinary C++ that work on values: algorithms of the standard library, printing, indexing, casts.
#include "catch.hpp"

#include <overdub/contexts/count.hpp>
#include <overdub/contexts/forward.hpp>
#include <overdub/contexts/log.hpp>
#include <overdub/overdub.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <iomanip>
#include <limits>
#include <memory>
#include <numeric>
#include <random>
#include <sstream>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

namespace {

namespace od = overdub;
using od::contexts::count;
using od::contexts::forward;

struct names : od::context {
  std::string all;
  void before(od::callee auto const& f, auto const&...) { all.append(f.name()).append(" "); }
};

template <class F, class... X>
std::string seen(F const& f, X const&... x) {
  names n;
  CHECK(od::run(n, f, x...) == f(x...));
  return n.all;
}

// The value of the same contexts with a number of another type.
template <class V, class N>
struct with_number {
  using type = N;
};
template <class T, class C, class R, class N>
struct with_number<od::value<T, C, R>, N> {
  using type = od::value<N, C, R>;
};

template <class V>
using element = std::remove_cvref_t<decltype(std::declval<V>()[0])>;

TEST_CASE("inner_product and accumulate start with a constant") {
  auto const f = od::fn<"f">([](auto const& a, auto const& b) {
    using T = element<decltype(a)>;
    T const product = std::inner_product(a.begin(), a.end(), b.begin(), T(0));
    return product + std::accumulate(a.begin(), a.end(), T{});
  });
  CHECK(seen(f, std::vector{1.0, 2.0}, std::vector{3.0, 4.0}) == "f mul add mul add add add add ");
  auto const d =
      od::run(forward{}, f, std::vector{od::tag(1.0, 1.0), od::tag(2.0, 0.0)}, std::vector{3.0, 4.0});
  CHECK(d.inner == 14.0);
  CHECK(d.metadata == 4.0); // b[0] + 1
}

TEST_CASE("sort, max, min and clamp of the standard library compare values") {
  auto const f = od::fn<"f">([](auto v) {
    using T = element<decltype(v)>;
    std::sort(v.begin(), v.end());
    return std::max(v[0], T(1.5)) + std::min(v[1], v[2]) + std::clamp(v[2], T(0), T(2));
  });
  std::vector const v{3.0, 1.0, 2.0};
  CHECK(seen(f, v).find("lt") != std::string::npos);
  auto const d =
      od::run(forward{}, f, std::vector{od::tag(3.0, 1.0), od::tag(1.0, 10.0), od::tag(2.0, 100.0)});
  CHECK(d.inner == 1.5 + 2.0 + 2.0);
  CHECK(d.metadata == 100.0);
}

TEST_CASE("compound assignment accumulates in a variable that starts with a constant") {
  auto const f = od::fn<"f">([](auto const& v) {
    element<decltype(v)> sum = 0, product = 1, difference{}, quotient = 8.0f;
    for (auto const& x : v) sum += x, product *= x, difference -= x, quotient /= x;
    return sum + product + difference + quotient;
  });
  CHECK(seen(f, std::vector{2.0}) == "f add mul sub div add add add ");
  auto const d = od::run(forward{}, f, std::vector{od::tag(2.0, 1.0), od::tag(4.0, 0.0)});
  CHECK(d.metadata == 1.0 + 4.0 - 1.0 - 8.0 / (2.0 * 2.0 * 4.0));
}

TEST_CASE("a value is printed as its number, with the stream's format") {
  std::ostringstream out;
  auto const f = od::fn<"f">([&](auto x, auto n) {
    out << std::setprecision(3) << x << ' ' << n << ' ' << (x < 1.0) << ' ' << -x << '\n';
    return x * 2.0;
  });
  names n;
  CHECK(od::run(n, f, 1.23456, 7) == 2.46912);
  CHECK(out.str() == "1.23 7 0 -1.23\n");
  CHECK(n.all == "f lt neg mul ");
  out.str("");
  od::run(forward{}, f, od::tag(0.5, 1.0), 7);
  od::run(od::compose(n, forward{}), f, od::tag(0.5, 1.0), 7);
  CHECK(out.str() == "0.5 7 1 -0.5\n0.5 7 1 -0.5\n");
}

TEST_CASE("a cast makes a value the index of containers, of pointers and of iterators") {
  auto const f = od::fn<"f">([](auto const& v, auto i, auto x) {
    using T = element<decltype(v)>;
    auto const k = static_cast<std::size_t>(i);
    std::vector<T> copy(v.size()), sized(k);
    std::array<T, 3> other{};
    copy[k] = v[k];
    other[k] = 2.0;
    double const plain[] = {1.0, 2.0, 4.0};
    double const* const pointer = plain;
    std::string const text = "abc";
    return copy[k] * other[k] + v.at(k) * static_cast<double>(sized.size()) + x * plain[k] +
           pointer[static_cast<std::ptrdiff_t>(i)] + *(pointer + k) + (text[k] - 'a');
  });
  names n;
  CHECK(od::run(n, f, std::vector{1.0, 5.0}, 1, 0.5) == 15.0 + 1.0 + 2.0 + 2.0 + 1.0);
  CHECK(od::run(n, f, std::vector{1.0, 5.0}, od::i64{1}, 0.5) == 21.0);
  CHECK(od::run(n, f, std::vector{1.0, 5.0}, std::size_t{1}, 0.5) == 21.0);
  auto const d = od::run(forward{}, f, std::vector{od::tag(1.0, 1.0), od::tag(5.0, 10.0)}, 1, 0.5);
  CHECK(d.inner == 21.0);
  CHECK(d.metadata == 30.0);
  auto const at = od::fn<"at">([](auto const& v, auto i) { return v[static_cast<std::size_t>(i)]; });
  n.all.clear();
  CHECK(od::run(n, at, std::vector{1.0, 5.0}, 1) == 5.0);
  CHECK(n.all == "at convert ");
}

template <class X, class To>
concept is_appended = requires(X const& x, std::vector<To>& v) {
  v.push_back(x);
};
TEST_CASE("a value does not lose its contexts as the argument of a function of integers") {
  using small = od::value<int, names>;
  using wide = od::value<od::i64, forward>;
  static_assert(!std::convertible_to<small, od::i64> && !std::convertible_to<wide, od::i64>);
  static_assert(!std::convertible_to<small, int> && !is_appended<wide, od::i64> && !is_appended<small, int>);
}

TEST_CASE("a C++ function of plain numbers makes a leaf") {
  auto const area = od::fn<"area">(static_cast<double (*)(double)>([](double r) { return 3.0 * r * r; }));
  auto const f = od::fn<"f">([=](auto x) { return area(x) + 1.0; });
  static_assert(od::native_leaf<decltype(area)>);
  CHECK(seen(f, 2.0) == "f area add ");
}

// What C++ computes: unsigned numbers wrap, and so does a compound assignment to a narrow variable.
template <class Narrow, class X>
auto hash(X const& x) {
  using T = typename with_number<X, Narrow>::type;
  T h = Narrow(7);
  for (int i = 0; i < 40; ++i) {
    h += x;
    h ^= h << 3;
    h *= Narrow(31);
    ++h;
    h -= static_cast<Narrow>(i);
    h++;
    h <<= 1;
    h |= Narrow(1);
  }
  return h;
}
template <class To, class From>
void check_cast(From x) {
  names n;
  auto const f =
      od::fn<"f">([](auto v) { return static_cast<typename with_number<decltype(v), To>::type>(v); });
  INFO("from " << +x << " of " << sizeof(x) << " bytes");
  CHECK(od::run(n, f, x) == static_cast<To>(x));
  auto const plain = od::fn<"plain">([](auto v) { return static_cast<To>(v); });
  CHECK(od::run(n, plain, x) == static_cast<To>(x));
}
template <class From>
void check_casts_of() {
  using limits = std::numeric_limits<From>;
  std::mt19937_64 random(7);
  std::vector<From> all{limits::min(), limits::max(), From(0), From(1), From(-1), From(limits::max() / 2)};
  for (int i = 0; i < 50; ++i) all.push_back(static_cast<From>(random()));
  for (From const x : all) {
    check_cast<std::int8_t>(x);
    check_cast<std::uint8_t>(x);
    check_cast<std::int16_t>(x);
    check_cast<std::uint16_t>(x);
    check_cast<std::int32_t>(x);
    check_cast<std::uint32_t>(x);
    check_cast<std::int64_t>(x);
    check_cast<std::uint64_t>(x);
  }
}
TEST_CASE("a cast to another integer type wraps as in C++") {
  check_casts_of<std::int8_t>();
  check_casts_of<std::uint8_t>();
  check_casts_of<std::int16_t>();
  check_casts_of<std::uint16_t>();
  check_casts_of<std::int32_t>();
  check_casts_of<std::uint32_t>();
  check_casts_of<std::int64_t>();
  check_casts_of<std::uint64_t>();
}
template <class Narrow>
void check_hash() {
  auto const f = od::fn<"hash">([](auto x) { return hash<Narrow>(x); });
  for (int x = -3; x < 70; x += 7) {
    names n;
    CHECK(od::run(n, f, static_cast<Narrow>(x)) == hash<Narrow>(static_cast<Narrow>(x)));
  }
}
TEST_CASE("compound assignment to narrow integers wraps as in C++") {
  check_hash<std::uint8_t>();
  check_hash<std::uint16_t>();
  check_hash<std::int8_t>();
  check_hash<std::int16_t>();
  check_hash<std::uint32_t>();
}

TEST_CASE("a cast to an integer is a conversion that contexts intercept, and its result is a plain number") {
  auto const f = od::fn<"f">([](auto x) {
    int const n = static_cast<int>(x);
    auto const m = static_cast<std::size_t>(x) + std::size_t(x > 1.0);
    return x * n + static_cast<int>(m);
  });
  CHECK(f(2.75) == 8.5);
  CHECK(seen(f, 2.75) == "f convert convert gt convert mul add ");
  CHECK(od::run(forward{}, f, od::tag(2.75, 1.0)).metadata == 2.0);
}

TEST_CASE("a conditional expression has a value and a plain number") {
  auto const f = od::fn<"f">([](auto x) { return (x > 0.0 ? x : 0.0) + (x > 1.0 ? 1 : x); });
  CHECK(seen(f, 0.5) == "f gt gt add ");
  CHECK(od::run(forward{}, f, od::tag(0.5, 1.0)).metadata == 2.0);
  CHECK(od::run(forward{}, f, od::tag(-0.5, 1.0)).metadata == 1.0);
}

struct ends : od::context {
  int consumed = 0, kept = 0, failed_calls = 0;
  template <class... X>
  void after(od::callee auto, auto const&, X const&...) {
    (..., ++(std::is_same_v<X, od::consumed_argument> ? consumed : kept));
  }
  template <class... X>
  void failed(od::function auto, std::exception_ptr, X const&...) {
    ++failed_calls;
    (..., ++(std::is_same_v<X, od::consumed_argument> ? consumed : kept));
  }
};

TEST_CASE("a hook after calls receives a consumed argument for one that cannot be copied") {
  auto const f = od::fn<"f">([](auto p, auto x) { return *p * x; });
  ends e;
  CHECK(od::run(e, f, std::make_unique<double>(3.0), 2.0) == 6.0);
  CHECK(e.consumed == 1);
  CHECK(e.kept == 1 + 2); // x, and the operands of the product
  auto const g = od::fn<"g">([](auto p) -> double {
    auto const taken = std::move(p);
    throw std::runtime_error(taken ? "taken" : "");
  });
  CHECK_THROWS_WITH(od::run(e, g, std::make_unique<double>(3.0)), "taken");
  CHECK(e.failed_calls == 1);
  CHECK(e.consumed == 2);
  std::ostringstream out;
  od::contexts::log log(out);
  CHECK(od::run(log, f, std::make_unique<double>(3.0), 2.0) == 6.0);
  auto const first = od::fn<"first">([](auto v) { return *v[0] * 2.0; });
  std::vector<std::unique_ptr<double>> many;
  many.push_back(std::make_unique<double>(4.0));
  ends of_many;
  CHECK(od::run(of_many, first, std::move(many)) == 8.0);
  CHECK(of_many.consumed == 1);
  CHECK(out.str().find("f(") != std::string::npos);
}

// Code for plain numbers qualifies the functions of <cmath>.
template <class T>
T qualified(T const& x, T const& y) {
  return std::sin(x) + std::sqrt(y) * std::pow(x, 2) - std::max(x, 0.0) + std::abs(-x) + std::fabs(y) +
         std::atan2(y, x) + std::fma(x, y, 1.0) + std::min(1.0, y) + std::exp(T(0.5)) + std::hypot(x, y) +
         std::fmod(x, 0.7) + (std::isnan(x) ? T(1) : T(2)) + std::floor(x) + std::log1p(y);
}
TEST_CASE("std::sin and other functions of the standard library take values") {
  auto const f = od::fn<"f">([](auto x, auto y) { return qualified(x, y); });
  double const expected = qualified(1.25, 2.5);
  names n;
  CHECK(od::run(n, f, 1.25, 2.5) == expected);
  for (char const* const name : {"sin", "sqrt", "pow", "max", "abs", "atan2", "fma", "min", "hypot", "isnan"})
    CHECK(n.all.find(name) != std::string::npos);
  auto const d = od::run(forward{}, f, od::tag(1.25, 1.0), 2.5);
  auto const e = od::run(
      forward{}, od::fn<"e">([](auto x, auto y) {
        using std::sin, std::sqrt, std::pow;
        return sin(x) + sqrt(y) * pow(x, 2);
      }),
      od::tag(1.25, 1.0), 2.5);
  CHECK(d.inner == expected);
  CHECK(std::isfinite(d.metadata));
  CHECK(e.metadata == std::cos(1.25) + std::sqrt(2.5) * 2.5);
  static_assert(
      std::is_same_v<decltype(std::sin(1.0f)), float> && std::is_same_v<decltype(std::pow(2, 3)), double>);
}

TEST_CASE("a context without a hook after calls passes on an argument that cannot be copied") {
  auto const f = od::fn<"f">([](auto p, auto x) { return *p * x; });
  count c;
  CHECK(od::run(c, f, std::make_unique<double>(3.0), 2.0) == 6.0);
  CHECK(od::run(forward{}, f, std::make_unique<double>(3.0), od::tag(2.0, 1.0)).metadata == 3.0);
}

} // namespace
