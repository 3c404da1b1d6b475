// slice: removes or defers the side effects of a program. Here: a simulation writes its progress while it runs; sliced, it
// is a pure function, and its output is kept, and written only if the run is selected.
#include <overdub/contexts/slice.hpp>
#include <overdub/overdub.hpp>

#include <cstdio>
#include <string>

namespace od = overdub;
namespace contexts = overdub::contexts;

std::string report; // the text written so far

inline constexpr auto write = od::leaf<"write">([](double t, double height) {
  char line[60];
  std::snprintf(line, sizeof line, "%4.1f s  %6.2f m\n", t, height);
  report += line;
});

// A ball is thrown upwards, with steps of half a second. The result is its height after two seconds.
inline constexpr auto flight = od::fn<"flight">([](od::scope auto& cx, auto speed) {
  return od::loop(4, cx.lift(0.0), [&](auto i, auto height) {
    auto const t = 0.5 * od::convert<double>(i);
    write(t, height);
    return height + 0.5 * (speed - 9.81 * t);
  });
});

int main() {
  // The fastest throw that is at most 12 m high at the end. Dozens of runs write nothing.
  double low = 0, high = 50;
  while (high - low > 1e-9) {
    double const middle = (low + high) / 2;
    (od::run(contexts::slice(), flight, middle) <= 12.0 ? low : high) = middle;
  }
  bool const silent = report.empty();

  // Writes the output of the selected run.
  contexts::deferred_effects later;
  double const height = od::run(contexts::slice(later), flight, low);
  std::printf("%.4f m/s: %.4f m, after %zu lines\n", low, height, later.size());
  later.replay();
  std::printf("%s", report.c_str());

  std::string const sliced = report;
  report.clear();
  bool const same = flight(low) == height && report == sliced;
  return silent && same && later.size() == 0 ? 0 : 1;
}
