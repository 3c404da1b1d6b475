// Functions of C++, with the types for which they are staged: the hand-made cases of the laws.
#pragma once

#include <overdub/overdub.hpp>

#include <array>
#include <tuple>

namespace functions {

using namespace overdub;

template <class F, class... A>
struct item {
  F f;
  types<A...> arguments;
};
template <class... A, class F>
constexpr item<F, A...> of(F const& f) {
  return {f, {}};
}

// ---- scalars
inline constexpr auto square = fn<"square">([](auto x) { return x * x; });
inline constexpr auto norm = fn<"norm">([](auto x, auto y) { return overdub::sqrt(square(x) + square(y)); });
inline constexpr auto poly = fn<"poly">([](auto x) { return 1.0 + x * (2.0 + x * (0.5 - x / 3)); });
inline constexpr auto logistic = fn<"logistic">([](auto x) { return 1 / (1 + overdub::exp(-x)); });
inline constexpr auto density = fn<"density">([](auto x, auto mean, auto sd) {
  auto const z = (x - mean) / sd;
  return -0.5 * z * z - overdub::log(sd) - 0.91893853320467274178;
});
inline constexpr auto waves = fn<"waves">([](auto x) {
  auto const a = overdub::sin(x);
  auto const b = overdub::cos(x);
  return overdub::atan2(a, b) + overdub::tanh(a * b) + overdub::erf(x) - overdub::expm1(a);
});
inline constexpr auto rounding = fn<"rounding">([](auto x) {
  return overdub::floor(x) + 2 * overdub::ceil(x) - overdub::trunc(x / 3) +
         overdub::round(x) * overdub::copysign(x, -1.0);
});
inline constexpr auto extremes = fn<"extremes">([](auto x, auto y) {
  return overdub::min(x, y) + 3 * overdub::max(x, y) + overdub::clamp(x, -1.0, 1.0) + overdub::fmin(x, y) +
         overdub::abs(y);
});
inline constexpr auto selects = fn<"selects">([](auto x, auto y) {
  return overdub::select(x < y, x, y) - overdub::select(!(x < 0.0) && y > 0.0, 1.0, y);
});
inline constexpr auto fused = fn<"fused">([](auto x, auto y, auto z) {
  return overdub::fma(x, y, z) + overdub::fma(x, 2.0, z) + overdub::hypot(x, y);
});
inline constexpr auto powers = fn<"powers">([](auto x, auto n) {
  return overdub::pow(x, 3.0) + overdub::ldexp(x, n) + overdub::pow(overdub::abs(x), 0.5);
});
inline constexpr auto single =
    fn<"single">([](auto x, auto y) { return x * y + overdub::sqrt(overdub::abs(x)) - 0.5f * y; });
inline constexpr auto mixed =
    fn<"mixed">([](auto x, auto n) { return convert<double>(n) * x + convert<double>(convert<i64>(x)); });
inline constexpr auto narrow = fn<"narrow">([](auto x) { return convert<double>(convert<float>(x)) - x; });
inline constexpr auto integers = fn<"integers">(
    [](auto a, auto b) { return (a + b) * (a - b) + (a & b) - (a | 5) + (a ^ b) + (~a >> 3) + (b << 2); });
inline constexpr auto division = fn<"division">([](auto a, auto b) {
  auto const d = (b & 15) + 1;
  return a / d + a % d;
});
inline constexpr auto truths =
    fn<"truths">([](auto a, auto b) { return (a && !b) || (b && !a) || (a == b); });
inline constexpr auto tests = fn<"tests">([](auto x) {
  return overdub::isnan(x) || overdub::isinf(x) || overdub::signbit(x) || !overdub::isfinite(x);
});
inline constexpr auto several = fn<"several">([](auto x, auto y) { return std::tuple{x + y, x * y, x < y}; });
inline constexpr auto constant = fn<"constant">([](auto x) { return x * 0 + 42.5; });
inline constexpr auto unused = fn<"unused">([](auto x, auto) { return x; });

// ---- branches
inline constexpr auto piecewise = fn<"piecewise">([](auto x) {
  return if_(
      x < 0.0, [&] { return -x; }, [&] { return overdub::sqrt(x); });
});
inline constexpr auto nested_if = fn<"nested_if">([](auto x, auto y) {
  return if_(
      x < y,
      [&] {
        return if_(
            x < 0.0, [&] { return x * y; }, [&] { return x - y; });
      },
      [&] { return y / 2; });
});
inline constexpr auto swapped = fn<"swapped">([](auto x, auto y) {
  auto const [a, b] = if_(
      x < y,
      [&] {
        return std::tuple{x, y};
      },
      [&] {
        return std::tuple{y, x};
      });
  return a - 2 * b;
});

// ---- loops
inline constexpr auto newton =
    fn<"newton">([](auto x) { return loop(i64{6}, x, [&](auto, auto r) { return 0.5 * (r + x / r); }); });
inline constexpr auto counting =
    fn<"counting">([](auto n) { return loop(n & 31, i64{0}, [](auto i, auto s) { return s + i * i; }); });
inline constexpr auto horner = fn<"horner">([](auto x, auto n) {
  auto const s = loop(n & 15, std::tuple{x * 0, x * 0 + 1}, [&](auto i, auto state) {
    auto const [sum, power] = state;
    return std::tuple{sum + power / (convert<double>(i) + 1), power * x};
  });
  return std::get<0>(s);
});
inline constexpr auto nested_loop = fn<"nested_loop">([](auto x) {
  return loop(i64{3}, x, [&](auto i, auto a) {
    return loop(i + 1, a, [&](auto j, auto b) { return b * 0.5 + convert<double>(i * j) + x; });
  });
});
inline constexpr auto halving = fn<"halving">([](auto x) {
  return while_(
      x, [](auto s) { return overdub::isfinite(s) && overdub::abs(s) > 1.0; }, [](auto s) { return s / 2; });
});
inline constexpr auto collatz = fn<"collatz">([](auto n) {
  auto const start = (n & 63) + 1;
  auto const end = while_(
      std::tuple{start, i64{0}}, [](auto s) { return std::get<0>(s) != 1; },
      [](auto s) {
        auto const [k, steps] = s;
        return std::tuple{
            if_(
                k % 2 == 0, [&] { return k / 2; }, [&] { return 3 * k + 1; }),
            steps + 1};
      });
  return std::get<1>(end);
});
inline constexpr auto unrolled = fn<"unrolled">([](auto x) {
  auto s = x;
  for (int i = 1; i < 8; ++i) s = s * x + i;
  return s;
});

// ---- recursion
inline constexpr auto factorial = fn<"factorial">([](overdub::scope auto& cx, auto n) -> decltype(n) {
  return if_(
      n <= 1, [&] { return cx.lift(i64{1}); }, [&] { return n * cx.self(n - 1); });
});
inline constexpr auto of_small = fn<"of_small">([](auto n) { return factorial(n & 7); });
inline constexpr auto fib = fn<"fib">([](overdub::scope auto& cx, auto n) -> decltype(n) {
  return if_(
      n < 2, [&] { return n + 0; }, [&] { return cx.self(n - 1) + cx.self(n - 2); });
});
inline constexpr auto fib_of_small = fn<"fib_of_small">([](auto n) { return fib(n & 7); });
inline constexpr auto power = fn<"power">([](overdub::scope auto& cx, auto x, auto n) -> decltype(x) {
  return if_(
      n <= 0, [&] { return x * 0 + 1; }, [&] { return x * cx.self(x, n - 1); });
});
inline constexpr auto small_power = fn<"small_power">([](auto x, auto n) { return power(x, n & 7); });
struct odd_body {
  template <overdub::scope Scope, class N>
  auto operator()(Scope& cx, N n) const -> decltype(n == 0);
};
inline constexpr auto odd = fn<"odd">(odd_body{});
inline constexpr auto even = fn<"even">([](overdub::scope auto& cx, auto n) -> decltype(n == 0) {
  return if_(
      n == 0, [&] { return cx.lift(true); }, [&] { return cx(odd, n - 1); });
});
template <overdub::scope Scope, class N>
auto odd_body::operator()(Scope& cx, N n) const -> decltype(n == 0) {
  return if_(
      n == 0, [&] { return cx.lift(false); }, [&] { return cx(even, n - 1); });
}
inline constexpr auto even_of_small = fn<"even_of_small">([](auto n) { return even(n & 15); });

// ---- arrays
inline constexpr auto total = fn<"total">([](auto xs) { return sum(xs); });
inline constexpr auto squares =
    fn<"squares">([](auto xs) { return overdub::map([](auto x) { return x * x; }, xs); });
inline constexpr auto sum_of_squares =
    fn<"sum_of_squares">([](auto xs) { return sum(overdub::map([](auto x) { return x * x; }, xs)); });
inline constexpr auto inner_product =
    fn<"inner_product">([](auto xs, auto ys) { return dot(xs, ys) + dot(ys, ys); });
inline constexpr auto largest = fn<"largest">([](auto xs) {
  return reduce(overdub::max, -1.0, xs) - reduce([](auto a, auto b) { return a * 0.5 + b; }, 1.0, xs);
});
inline constexpr auto scaled =
    fn<"scaled">([](auto xs, auto a) { return overdub::map([&](auto x) { return a * x + 1; }, xs); });
inline constexpr auto centred = fn<"centred">([](auto xs) {
  auto const mean = sum(xs) / convert<double>(overdub::size(xs));
  return overdub::map([&](auto x) { return x - mean; }, xs);
});
inline constexpr auto running = fn<"running">([](auto xs) {
  auto const [last, all] = scan([](auto s, auto x) { return std::tuple{s + x, s * x}; }, 0.0, xs);
  return std::tuple{last, all};
});
inline constexpr auto neighbours = fn<"neighbours">([](auto xs) {
  auto const n = overdub::size(xs);
  return tabulate(
      n, [&](auto i) { return xs[overdub::min(i + 1, n - 1)] - xs[overdub::max(i - 1, i64{0})]; });
});
inline constexpr auto replaced = fn<"replaced">([](auto xs, auto x) {
  return loop(overdub::size(xs), xs, [&](auto i, auto a) { return update(std::move(a), i, a[i] * x); });
});
inline constexpr auto joined =
    fn<"joined">([](auto xs, auto ys) { return concat(xs, overdub::map([](auto y) { return -y; }, ys)); });
inline constexpr auto filled = fn<"filled">([](auto x, auto n) { return fill(n & 7, x * 2); });
inline constexpr auto indices =
    fn<"indices">([](auto n) { return overdub::map([](auto i) { return i * i; }, iota(n & 15)); });
inline constexpr auto sliced = fn<"sliced">([](auto xs, auto n) {
  auto const size = overdub::size(xs);
  auto const first = overdub::min(n & 3, size);
  return slice(xs, first, size - first);
});
inline constexpr auto reversed = fn<"reversed">([](auto xs) {
  auto const n = overdub::size(xs);
  return gather(xs, overdub::map([&](auto i) { return n - 1 - i; }, iota(n)));
});
inline constexpr auto pairs = fn<"pairs">([](auto xs, auto ys) {
  auto const both = zip(xs, ys);
  return overdub::map([](auto p) { return std::get<0>(p) * std::get<1>(p); }, both);
});
inline constexpr auto two_arrays = fn<"two_arrays">([](auto xs) {
  return overdub::map([](auto x) { return std::tuple{x + 1, x < 0.0}; }, xs);
});
inline constexpr auto signs = fn<"signs">([](auto xs) {
  return overdub::map(
      [](auto x) {
        return if_(
            x < 0.0, [&] { return x * 0 - 1; }, [&] { return x * 0 + 1; });
      },
      xs);
});
inline constexpr auto rows = fn<"rows">([](auto xs) {
  return overdub::map([&](auto x) { return overdub::map([&](auto y) { return x * y; }, xs); }, xs);
});
inline constexpr auto row_sums =
    fn<"row_sums">([](auto xs) { return overdub::map([](auto row) { return sum(row); }, rows(xs)); });
inline constexpr auto log_sum_exp = fn<"log_sum_exp">([](auto xs) {
  auto const m = reduce(overdub::max, -1e300, xs);
  return m + overdub::log(sum(overdub::map([&](auto x) { return overdub::exp(x - m); }, xs)));
});
inline constexpr auto recurrence = fn<"recurrence">([](auto xs, auto a) {
  return loop(overdub::size(xs), a, [&](auto i, auto s) { return s * 0.9 + xs[i]; });
});
inline constexpr auto counts = fn<"counts">([](auto xs) {
  return sum(overdub::map([](auto x) { return overdub::select(x > 0.0, x * 0 + 1, x * 0); }, xs));
});
inline constexpr auto whole_numbers = fn<"whole_numbers">(
    [](auto ks) { return reduce(overdub::add, i64{0}, overdub::map([](auto k) { return k * k - 1; }, ks)); });
inline constexpr auto any_negative = fn<"any_negative">([](auto xs) {
  return reduce(overdub::logical_or, false, overdub::map([](auto x) { return x < 0.0; }, xs));
});

using numbers = array<double>;
inline constexpr std::tuple all{
    of<double>(square),
    of<double, double>(norm),
    of<double>(poly),
    of<double>(logistic),
    of<double, double, double>(density),
    of<double>(waves),
    of<double>(rounding),
    of<double, double>(extremes),
    of<double, double>(selects),
    of<double, double, double>(fused),
    of<double, i64>(powers),
    of<float, float>(single),
    of<double, i64>(mixed),
    of<double>(narrow),
    of<i64, i64>(integers),
    of<i64, i64>(division),
    of<bool, bool>(truths),
    of<double>(tests),
    of<double, double>(several),
    of<double>(constant),
    of<double, double>(unused),
    of<double>(piecewise),
    of<double, double>(nested_if),
    of<double, double>(swapped),
    of<double>(newton),
    of<i64>(counting),
    of<double, i64>(horner),
    of<double>(nested_loop),
    of<double>(halving),
    of<i64>(collatz),
    of<double>(unrolled),
    of<i64>(of_small),
    of<i64>(fib_of_small),
    of<double, i64>(small_power),
    of<i64>(even_of_small),
    of<numbers>(total),
    of<numbers>(squares),
    of<numbers>(sum_of_squares),
    of<numbers, numbers>(inner_product),
    of<numbers>(largest),
    of<numbers, double>(scaled),
    of<numbers>(centred),
    of<numbers>(running),
    of<numbers>(neighbours),
    of<numbers, double>(replaced),
    of<numbers, numbers>(joined),
    of<double, i64>(filled),
    of<i64>(indices),
    of<numbers, i64>(sliced),
    of<numbers>(reversed),
    of<numbers, numbers>(pairs),
    of<numbers>(two_arrays),
    of<numbers>(signs),
    of<numbers>(rows),
    of<numbers>(row_sums),
    of<numbers>(log_sum_exp),
    of<numbers, double>(recurrence),
    of<numbers>(counts),
    of<array<i64>>(whole_numbers),
    of<numbers>(any_negative),
    of<array<float>>(total)};

} // namespace functions
