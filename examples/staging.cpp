// A C++ function as a program: staged, printed, parsed, run, and rewritten by a context.
#include <overdub/contexts/forward.hpp>
#include <overdub/ir/parse.hpp>
#include <overdub/ir/print.hpp>
#include <overdub/stage/evaluate.hpp>

#include <iostream>

namespace od = overdub;

inline constexpr auto square = od::fn<"square">([](auto x) { return x * x; });
inline constexpr auto distance = od::fn<"distance">(
    [](auto xs, auto x) { return od::sum(od::map([&](auto y) { return square(x - y); }, xs)); });

int main() {
  // Calls remain calls, and map remains a map: the size of the program does not depend on the size of the array.
  od::ir::program const program = od::stage(distance, od::signature<od::array<double>, double>);
  std::string const text = od::ir::print(program);
  std::cout << text;

  od::array<double> const xs{1.0, 2.0, 4.0};
  bool ok = od::evaluate<double>(program, xs, 2.0) == distance(xs, 2.0);
  ok = ok && od::ir::parse(text) == program;

  // The derivative of the program, made from the program alone. Each parameter is followed by its tangent.
  od::ir::program const slope = od::run(od::contexts::forward{}, od::ir::parse(text));
  od::array<double> const still{0.0, 0.0, 0.0};
  auto const [value, derivative] = od::evaluate<double, double>(slope, xs, still, 2.0, 1.0);
  std::cout << "the distance is " << value << ", its slope " << derivative << '\n';
  return ok && value == 5.0 && derivative == -2.0 ? 0 : 1;
}
