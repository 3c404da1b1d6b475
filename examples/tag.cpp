// tag: the inputs on which a value depends. Here: the sparsity of a Jacobian, from one run of the program.
#include <overdub/contexts/tag.hpp>
#include <overdub/overdub.hpp>

#include <iostream>
#include <string>
#include <vector>

namespace od = overdub;
namespace contexts = overdub::contexts;
using od::i64;

// One step of heat conduction in a rod with fixed ends.
inline constexpr auto heat = od::fn<"heat">([](auto u) {
  auto const last = od::size(u) - 1;
  auto const change = [&](auto i) {
    auto const hold = [&] { return u[i]; };
    auto const flow = [&] { return u[i] + 0.1 * (u[i - 1] - 2.0 * u[i] + u[i + 1]); };
    return od::if_(i == 0 || i == last, hold, flow);
  };
  return od::map(change, od::iota(od::size(u)));
});
inline constexpr auto two_steps = od::fn<"two_steps">([](auto u) { return heat(heat(u)); });

int main() {
  constexpr i64 n = 8;
  std::vector<contexts::inputs<>> numbered;
  for (std::size_t i = 0; i < n; ++i) numbered.push_back(contexts::input(i));
  auto const u = od::tag(od::fill(n, 1.0), od::array<contexts::inputs<>>::copy_of(numbered));

  auto const r = od::run(contexts::tag{}, two_steps, u);
  std::string pattern;
  for (contexts::inputs<> const& used : r.metadata) {
    for (std::size_t i = 0; i < n; ++i) pattern += used[i] ? " #" : " .";
    pattern += '\n';
  }
  std::cout << "inputs (columns) that each output (row) depends on:\n" << pattern;
  bool const right = pattern == " # . . . . . . .\n"
                                " # # # # . . . .\n"
                                " # # # # # . . .\n"
                                " . # # # # # . .\n"
                                " . . # # # # # .\n"
                                " . . . # # # # #\n"
                                " . . . . # # # #\n"
                                " . . . . . . . #\n";
  return right ? 0 : 1;
}
