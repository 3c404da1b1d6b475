// fault and retry: tests a program under failures, and makes it robust. Here: the mean of numbers that are read from
// unreliable places.
#include <overdub/contexts/count.hpp>
#include <overdub/contexts/fault.hpp>
#include <overdub/contexts/retry.hpp>
#include <overdub/overdub.hpp>

#include <cstdio>
#include <exception>
#include <string_view>

namespace od = overdub;
namespace contexts = overdub::contexts;

inline constexpr auto reading = od::leaf<"reading">([](double place) { return 20.0 + place; });
inline constexpr auto mean = od::fn<"mean">(
    [](auto places) { return od::sum(od::map(reading, places)) / od::convert<double>(od::size(places)); });

int main() {
  od::array<double> const places{1, 2, 3, 4, 5, 6, 7, 8};

  // One reading in four fails, identically in each run.
  contexts::fault<decltype(reading)> faults(contexts::random_calls(0.25, 42));
  int lost = 0;
  for (int i = 0; i < 100; ++i) {
    try {
      (void)od::run(faults, mean, places);
    } catch (contexts::injected_fault const& e) {
      if (++lost == 1) std::printf("%s\n", e.what());
    }
  }
  std::printf("%d of 100 runs are lost\n", lost);

  // A reading has up to twenty attempts: fault is the inner context, so that it applies to each attempt.
  contexts::count_of<decltype(reading)> made;
  long const before = faults.calls;
  int survived = 0;
  for (int i = 0; i < 100; ++i) {
    auto const all = od::compose(contexts::retry(contexts::times<20>, reading), faults, made);
    survived += od::run(all, mean, places) == 24.5;
  }
  long const attempts = faults.calls - before;
  std::printf("%d of 100 runs survive: %ld attempts for %ld readings\n", survived, attempts, made(reading));

  // A user's policy: it decides by the number of failures and the exception, and may wait.
  int waits = 0;
  auto const patient = [&](std::string_view, int, std::exception_ptr const&) { return ++waits < 1000; };
  contexts::fault<decltype(mean)> stubborn([](long call) { return call < 10; });
  double const y = od::run(od::compose(contexts::retry(patient, mean), stubborn), mean, places);
  std::printf("%.1f at last, after %d failures\n", y, waits);
  return lost > 80 && survived == 100 && made(reading) == 800 && attempts > 1000 && y == 24.5 && waits == 9
             ? 0
             : 1;
}
