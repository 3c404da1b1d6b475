// Headers and the component sleef: a consistent program is interpreted.
#include <overdub/execute/interpreter.hpp>
#include <overdub/overdub.hpp>
#include <overdub/stage/stage.hpp>

#include <cmath>

namespace od = overdub;

inline constexpr auto wave = od::fn<"wave">([](auto x) { return sin(x); });

int main() {
  od::ir::program p = od::stage(wave, od::signature<double>);
  p.math = od::ir::math_mode::consistent;
  return std::abs(od::executable(p).call<double>(1.0) - std::sin(1.0)) < 1e-15 ? 0 : 1;
}
