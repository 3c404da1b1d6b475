// batch: one function on a batch of arguments. Here: the limits of populations of the logistic map, for many growth rates.
#include <overdub/batch.hpp>
#include <overdub/compile/compile.hpp>
#include <overdub/overdub.hpp>

#include <cstdio>

namespace od = overdub;
using od::batch;
using od::batched;

// A function of one rate.
inline constexpr auto population = od::fn<"population">([](auto rate, auto start) {
  return od::loop(200, start, [&](auto, auto x) { return rate * x * (1.0 - x); });
});

int main() {
  auto const rates =
      od::map([](auto i) { return 2.0 + 0.01 * od::convert<double>(i); }, od::iota(od::i64{200}));

  // A C++ function, whose calls contexts observe; and a program, whose loop runs for several elements together.
  auto const direct = batch(population)(rates, 0.4);
  auto const compiled =
      od::compile(batched{}, batch(population), od::signature<od::array<double>, double>)(rates, 0.4);

  bool same = direct.size() == compiled.size();
  for (od::i64 i = 0; i < direct.size(); ++i)
    same = same && direct[i] == compiled[i] && direct[i] == population(rates[i], 0.4);
  std::printf("at rate 2.0 it becomes %.3f, at 2.9 %.3f\n", direct[0], direct[90]);
  std::printf("each element is the same to the bit: %s\n", same ? "yes" : "no");
  return same && direct[0] == 0.5 ? 0 : 1;
}
