// A value of a program that is being staged is printed.
// expect first: overdub: a value of a program that is being staged is printed, and is not known yet
#include <overdub/overdub.hpp>
#include <overdub/stage/stage.hpp>

#include <iostream>

constexpr auto shown = overdub::fn<"shown">([](auto x) {
#ifndef OVERDUB_MENDED
  std::cout << x << '\n';
#endif
  return 2.0 * x;
});

auto run() { return overdub::stage(shown, overdub::types<double>{}); }
