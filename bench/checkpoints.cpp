// Time and memory of a gradient that saves at most a tenth of its residuals and recomputes the others, against one that saves all.
#include "gradient.hpp"
#include "models.hpp"
#include "ratio.hpp"

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <string>

namespace {

using namespace bench;
using overdub::memory_limit, overdub::save_logarithmic;

constexpr i64 steps = 1'000'000;
constexpr std::int64_t tenth = 1'600'000; // bytes; the state of a step is two numbers

// The value, in kilobytes, of a field of Linux's /proc/self/status.
double kilobytes(std::string const& name) {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;)
    if (word == name) {
      double value = 0;
      status >> value;
      return value;
    }
  std::printf("%s is not in /proc/self/status\n", name.c_str());
  std::exit(1);
}
// The peak of the memory that a call allocates, in megabytes.
template <class F>
double peak(F const& f) {
  std::ofstream("/proc/self/clear_refs") << '5';
  double const before = kilobytes("VmRSS:");
  use(f());
  return (kilobytes("VmHWM:") - before) / 1024;
}

template <class Keep>
auto gradient_keeping(Keep const& keep) {
  return machine_code<i64, double, double, double>(value_and_gradient<1, 2, 3>(pendulum, keep));
}

} // namespace

int main() {
  auto const all = gradient_keeping(overdub::save_all{});
  auto const less = gradient_keeping(memory_limit<tenth>);
  auto const least = gradient_keeping(save_logarithmic);
  auto const run = [](auto const& made) {
    return [&made] { return made(opaque(steps), 1.0, 0.5, 0.1).first; };
  };
  // Only the first runs are measured: later ones reuse memory that is allocated already.
  double const of_least = peak(run(least)), of_less = peak(run(less)), of_all = peak(run(all));
  if (all(steps, 1.0, 0.5, 0.1) != less(steps, 1.0, 0.5, 0.1) ||
      all(steps, 1.0, 0.5, 0.1) != least(steps, 1.0, 0.5, 0.1)) {
    std::printf("the gradients differ\n");
    return 1;
  }
  std::printf(
      "memory of the gradient of a damped pendulum, 1,000,000 steps: %.2f MB where all is kept, %.2f MB with "
      "a "
      "limit of %.2f MB, %.2f MB logarithmically\n",
      of_all, of_less, static_cast<double>(tenth) / 1e6, of_least);
  compare<allocating::allowed>(
      "the gradient of a damped pendulum, 1,000,000 steps", way{"all that is needed is kept", 0, run(all)},
      way{"a tenth of the memory", 3.0, run(less)}, way{"logarithmic memory", 0, run(least)});
  return misses > 0;
}
