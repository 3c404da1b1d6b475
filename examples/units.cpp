// A checker of units, as a user's context: the metadata of a number is its dimension, and an error names the
// function in which dimensions do not fit.
#include <overdub/overdub.hpp>

#include <array>
#include <cstdio>
#include <stdexcept>
#include <string>

namespace od = overdub;
using dimension = std::array<double, 3>; // exponents of metres, kilograms and seconds
constexpr dimension pure{}, length{1, 0, 0}, mass{0, 1, 0}, speed{1, 0, -1}, acceleration{1, 0, -2};

struct units : od::context {
  template <class T>
  using metadata = dimension;
  dimension constant(auto const&) const { return pure; }
  std::string where; // the last function that was called

  auto overdub(od::mul_t f, auto x, auto y) { return product(f(x.inner, y.inner), x, 1, y, 1); }
  auto overdub(od::div_t f, auto x, auto y) { return product(f(x.inner, y.inner), x, 1, y, -1); }
  auto overdub(od::sqrt_t f, auto x) { return product(f(x.inner), x, 0.5, x, 0); }
  // The operands of sums, differences, maxima and comparisons have one dimension.
  auto overdub(od::arithmetic auto f, auto x, auto... y) { return all(f, x.metadata, x.metadata, x, y...); }
  auto overdub(od::comparison auto f, auto x, auto... y) { return all(f, x.metadata, pure, x, y...); }
  // The operands of all other operations, as sin and exp, are dimensionless.
  auto overdub(od::elementwise auto f, auto... x) { return all(f, pure, pure, x...); }
  void before(od::function auto f, auto const&...) { where = f.name(); }

private:
  static auto product(auto result, auto const& x, double a, auto const& y, double b) {
    dimension d;
    for (std::size_t i = 0; i < d.size(); ++i) d[i] = a * x.metadata[i] + b * y.metadata[i];
    return od::tag(result, d);
  }
  auto all(auto f, dimension const& wanted, dimension const& result, auto const&... x) const {
    if (((x.metadata != wanted) || ...))
      throw std::invalid_argument("units do not fit: " + std::string(f.name()) + " in " + where);
    return od::tag(f(x.inner...), result);
  }
};

inline constexpr auto kinetic = od::fn<"kinetic">([](auto m, auto v) { return m * v * v / 2.0; });
inline constexpr auto fall = od::fn<"fall">([](auto g, auto h) { return sqrt(2.0 * g * h); });
inline constexpr auto mistake = od::fn<"mistake">([](auto g, auto h) { return h + 0.5 * g; });

int main() {
  units context;
  auto const g = od::tag(9.81, acceleration), h = od::tag(20.0, length);
  auto const v = od::run(context, fall, g, h);
  auto const e = od::run(context, kinetic, od::tag(2.0, mass), v);
  std::printf("%.1f m^%g kg^%g s^%g\n", e.inner, e.metadata[0], e.metadata[1], e.metadata[2]);
  try {
    (void)od::run(context, mistake, g, h);
  } catch (std::invalid_argument const& error) {
    std::puts(error.what());
    return v.metadata == speed && e.metadata == dimension{2, 1, -2} && context.where == "mistake" ? 0 : 1;
  }
  return 1;
}
