// batch: one function on a whole batch of arguments. Here: where populations of the logistic map go, for many rates of growth.
#include <overdub/batch.hpp>
#include <overdub/compile/compile.hpp>
#include <overdub/overdub.hpp>

#include <cstdio>

namespace od = overdub;
using od::batch;
using od::batched;

// Written for one rate.
inline constexpr auto population = od::fn<"population">([](auto rate, auto start) {
  return od::loop(200, start, [&](auto, auto x) { return rate * x * (1.0 - x); });
});

int main() {
  auto const rates =
      od::map([](auto i) { return 2.0 + 0.01 * od::convert<double>(i); }, od::iota(od::i64{200}));

  // A function of C++, which contexts see into; and a program, whose elements go through the loop together.
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
