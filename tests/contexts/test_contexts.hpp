// Contexts for tests: one for each possible member of a context, which all replace or observe sines and products.
#pragma once

#include <overdub/compile/context_field.hpp>
#include <overdub/ir/cursor.hpp>
#include <overdub/overdub.hpp>

#include <cstdint>
#include <tuple>
#include <vector>

namespace test_contexts {

namespace od = overdub;

inline constexpr auto wave = od::fn<"wave">([](auto x) { return sin(x * x) + x; });

// A rule, and no state.
struct doubling : od::context {
  auto overdub(od::sin_t, auto x) { return 2.0 * sin(x); }
};
// The rule depends on a fingerprint.
struct repeating : od::context {
  int times = 1;
  repeating() = default;
  explicit repeating(int n) : times(n) {}
  int fingerprint() const { return times; }
  auto overdub(od::sin_t, auto x) {
    auto all = sin(x);
    for (int i = 1; i < times; ++i) all = all + sin(x);
    return all;
  }
};
// The rule reads a field.
struct scaling : od::context {
  od::context_field<double> by = 3.0;
  scaling() = default;
  explicit scaling(std::tuple<>) {}
  std::tuple<> fingerprint() const { return {}; }
  auto overdub(od::sin_t, auto x) { return by(x) * sin(x); }
};
// A pass that replaces sines by cosines.
inline void turn(od::ir::program& p) {
  for (std::uint32_t f = 0; f < p.functions.size(); ++f)
    for (od::ir::cursor c(p, od::ir::function_id{f}); c.next();)
      if (c.code() == od::ir::op::sin) c.replace(c->result(c.insert(od::ir::op::cos, {c.operand(0)})));
}
struct turning : od::context {
  bool is_on = true;
  bool fingerprint() const { return is_on; }
  static void before_optimise(od::ir::program& p, bool is_on) {
    if (is_on) turn(p);
  }
};
struct turning_last : od::context {
  static void after_optimise(od::ir::program& p) { turn(p); }
};
// Hooks.
struct observing : od::context {
  std::vector<double> products, cosines;
  void before(od::mul_t, auto x, auto y) { products.push_back(static_cast<double>(x * y)); }
  void before(od::cos_t, auto x) { cosines.push_back(static_cast<double>(x)); }
};

} // namespace test_contexts
