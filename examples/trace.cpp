// trace: the begin and the end of calls, on all threads. Here: an integral by bisection, on two threads. If the
// argument is a folder, the program writes files there for trace viewers.
#include <overdub/contexts/trace.hpp>
#include <overdub/control/parallel.hpp>
#include <overdub/overdub.hpp>

#include <cmath>
#include <cstdint>
#include <iostream>
#include <string>

namespace od = overdub;
namespace contexts = overdub::contexts;
namespace tracing = overdub::contexts::tracing;

inline constexpr auto density = od::fn<"density">([](auto x) { return exp(-0.5 * x * x); });
inline constexpr auto simpson = od::fn<"simpson">(
    [](auto a, auto b) { return (b - a) / 6.0 * (density(a) + 4.0 * density(0.5 * (a + b)) + density(b)); });
inline constexpr auto integral = od::fn<"integral">([](od::scope auto& cx, auto a, auto b) -> decltype(a) {
  auto const middle = 0.5 * (a + b);
  auto const coarse = simpson(a, b);
  auto const fine = simpson(a, middle) + simpson(middle, b);
  return od::if_(
      abs(fine - coarse) < 1e-6, [&] { return fine; },
      [&] { return cx.self(a, middle) + cx.self(middle, b); });
});
inline constexpr auto piece = od::fn<"piece">([](auto a) { return integral(a, a + 1.0); });
inline constexpr auto total =
    od::fn<"total">([](auto a) { return od::sum(od::parallel_map.on(2)(piece, a)); });

int main(int count, char** arguments) {
  auto const starts = od::array<double>{-4, -3, -2, -1, 0, 1, 2, 3};
  contexts::recording spans(1 << 13); // records, of each thread
  double const y = od::run(contexts::trace{}, total, starts);
  spans.stop();
  if (count > 1) { // into the given folder
    std::string const name = std::string(arguments[1]) + "/trace.";
    spans.write(name + "pftrace", contexts::trace_format::perfetto);           // ui.perfetto.dev
    spans.write(name + "json", contexts::trace_format::chrome);                // chrome://tracing, too
    spans.write(name + "speedscope.json", contexts::trace_format::speedscope); // www.speedscope.app
    spans.write(name + "svg", contexts::trace_format::svg);                    // any browser
    spans.write(name + "folded", contexts::trace_format::folded);              // flamegraph.pl
  }
  std::cout << spans.statistics().records / 2 << " spans\n";

  contexts::recording few; // one in four outermost integrals, with the calls inside
  using one_in_four = contexts::trace_with<tracing::only<"integral">, tracing::one_in<4>>;
  for (double const x : starts) od::run(one_in_four{}, piece, x);
  std::cout << few.text(contexts::trace_format::folded);
  few.stop();
  contexts::recording counted;
  od::run(contexts::trace_with<tracing::counts>{}, total, starts);
  std::uint64_t all = 0;
  for (auto const& [name, n] : counted.counts()) {
    std::cout << name << ": " << n << '\n';
    all += n;
  }
  return std::abs(y - 2.5064695) < 1e-5 && spans.statistics().records == 2 * all ? 0 : 1;
}
