// A user's executor, which runs programs. This one is the interpreter, and counts its programs; the tiers compile hot
// functions with it.
#include <overdub/compile/compile.hpp>
#include <overdub/overdub.hpp>

#include <cmath>
#include <cstdio>
#include <memory>
#include <string>

namespace od = overdub;

struct counting_executor final : od::executor {
  std::string const& name() const override { return name_; }
  std::shared_ptr<od::execute::code const> prepare(od::ir::program const& p) const override {
    ++programs;
    return od::executable(p).code();
  }
  static inline int programs = 0;

private:
  std::string name_ = "counting";
};

inline constexpr auto wave = od::fn<"wave">([](auto x) { return sin(x) + 0.5 * sin(2.0 * x); });

int main() {
  auto const by = std::make_shared<counting_executor const>();
  auto const hot =
      od::compile(od::compose(), wave, od::signature<double>, {.executor = by, .hot_calls = 100});
  double sum = 0;
  for (int i = 0; i < 200; ++i) sum += hot(0.01 * i);
  od::wait_for_compilations();
  std::printf("%.6f, %d program\n%s", sum, counting_executor::programs, explain(hot).c_str());
  return counting_executor::programs == 1 && hot(1.0) == wave(1.0) ? 0 : 1;
}
