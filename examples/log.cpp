// log: the calls of a program as a tree. Here: Newton's method for a square root, until it converges.
#include <overdub/contexts/log.hpp>
#include <overdub/overdub.hpp>

#include <iostream>
#include <sstream>

namespace od = overdub;
namespace contexts = overdub::contexts;

inline constexpr auto improve = od::fn<"improve">([](auto guess, auto x) {
  auto const quotient = x / guess;
  auto const sum = guess + quotient;
  return sum * 0.5;
});

inline constexpr auto root = od::fn<"root">([](od::scope auto& cx, auto x) {
  auto const far = [&](auto guess) {
    auto const error = guess * guess - x;
    return od::abs(error) > 0.01;
  };
  return od::while_(cx.lift(1.0), far, [&](auto guess) { return improve(guess, x); });
});

int main() {
  std::ostringstream text;
  contexts::log log(text);
  double const y = od::run(log, root, 2.0);
  std::cout << text.str();

  char const* const tree = R"(root(2)
  while(1, <lambda>, <lambda>)
    mul(1, 1) = 1
    sub(1, 2) = -1
    abs(-1) = 1
    gt(1, 0.01) = true
    improve(1, 2)
      div(2, 1) = 2
      add(1, 2) = 3
      mul(3, 0.5) = 1.5
    = 1.5
    mul(1.5, 1.5) = 2.25
    sub(2.25, 2) = 0.25
    abs(0.25) = 0.25
    gt(0.25, 0.01) = true
    improve(1.5, 2)
      div(2, 1.5) = 1.33333
      add(1.5, 1.33333) = 2.83333
      mul(2.83333, 0.5) = 1.41667
    = 1.41667
    mul(1.41667, 1.41667) = 2.00694
    sub(2.00694, 2) = 0.00694444
    abs(0.00694444) = 0.00694444
    gt(0.00694444, 0.01) = false
  = 1.41667
= 1.41667
)";
  return text.str() == tree && y == root(2.0) ? 0 : 1;
}
