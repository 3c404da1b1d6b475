// Compiles gradients for benchmarks, and checks them before they are timed.
#pragma once

#include "models.hpp"

#include <overdub/compile/compile.hpp>
#include <overdub/jit/executor.hpp>
#include <overdub/reverse.hpp>

#include <utility>

namespace bench {

using overdub::array;
using overdub::gradient;
using overdub::i64;
using overdub::value_and_gradient;

/// The function, transformed and compiled to machine code.
template <class... A, class F>
auto machine_code(F const& f) {
  return overdub::compile(
      f, overdub::signature<A...>,
      {.executor = overdub::jit::compiled(), .tiers = overdub::tiers::compile_now});
}
template <class... A, class F>
auto interpreted(F const& f) {
  return overdub::compile(f, overdub::signature<A...>, {.tiers = overdub::tiers::interpret_only});
}

inline array<double> borrowed(view x) { return array<double>::borrow(x); }

inline int misses = 0;

inline void check(char const* what, char const* whose, double expected, double found, double tolerance) {
  if (std::abs(expected - found) <= tolerance * std::max({1.0, std::abs(expected), std::abs(found)})) return;
  if (++misses < 20)
    std::printf("MISS: %s: %.17g %s, %.17g by reverse differentiation\n", what, expected, whose, found);
}
inline void check(char const* what, double by_hand, double found) {
  check(what, "by hand", by_hand, found, 1e-9);
}
/// Checks a gradient against the hand-written one.
template <class Found>
void check(char const* what, view by_hand, Found const& found) {
  if (by_hand.size() != static_cast<std::size_t>(found.size()))
    return check(
        what, "numbers by hand", static_cast<double>(by_hand.size()), static_cast<double>(found.size()), 0);
  for (std::size_t i = 0; i < by_hand.size(); ++i)
    check(what, by_hand[i], found[static_cast<decltype(found.size())>(i)]);
}
/// Checks some elements of a gradient against finite differences of f(), which reads x and is smooth within 2 h.
template <class F>
void check_by_differences(char const* what, numbers& x, view slopes, F const& f, double h = 1e-3) {
  for (std::size_t i = 0; i < x.size(); i += 1 + x.size() / 8) {
    double const before = x[i];
    auto const at = [&](double y) {
      x[i] = y;
      forget_memory();
      return f();
    };
    double const slope =
        (8.0 * (at(before + h) - at(before - h)) - (at(before + 2.0 * h) - at(before - 2.0 * h))) /
        (12.0 * h);
    x[i] = before;
    check(what, "by differences", slope, slopes[i], 1e-6);
  }
}

} // namespace bench
