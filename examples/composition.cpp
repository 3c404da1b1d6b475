// Composition: the first context is outermost and observes the program, and the next one observes the
// calls of the first.
#include <overdub/contexts/count.hpp>
#include <overdub/contexts/forward.hpp>
#include <overdub/contexts/log.hpp>
#include <overdub/overdub.hpp>

#include <iostream>
#include <sstream>

namespace od = overdub;
namespace contexts = overdub::contexts;

inline constexpr auto cube = od::fn<"cube">([](auto x) {
  auto const square = x * x;
  return square * x;
});

// A context with a rule: a product of equal factors is a power.
struct powers : od::context {
  auto overdub(od::mul_t, auto x, auto y) { return x == y ? od::pow(x, 2.0) : x * y; }
};

std::string seen(auto make) {
  std::ostringstream text;
  contexts::log log(text);
  make(log);
  return text.str();
}

int main() {
  contexts::forward forward;
  auto const program = seen([&](auto& log) { od::run(od::compose(log, forward), cube, od::tag(2.0, 1.0)); });
  auto const derivative =
      seen([&](auto& log) { od::run(od::compose(forward, log), cube, od::tag(2.0, 1.0)); });
  auto const rewritten = seen([&](auto& log) { od::run(od::compose(powers{}, log), cube, 2.0); });
  std::cout << "compose(log, forward): log sees the program\n" << program;
  std::cout << "compose(forward, log): log sees the program and its derivative\n" << derivative;
  std::cout << "compose(powers, log): log sees the program after the rule\n" << rewritten;

  // Composition is associative, and each context has its own result.
  contexts::count a, b;
  auto const left = od::run(od::compose(od::compose(a, forward), b), cube, od::tag(2.0, 1.0));
  auto const right = od::run(od::compose(a, od::compose(forward, b)), cube, od::tag(2.0, 1.0));
  std::cout << "twice: " << a.calls() << " calls of the program, " << b.calls() << " with its derivative\n";

  bool const same = left.inner == 8 && left.metadata == 12 && left.metadata == right.metadata;
  return same && a.calls() == 2 * 3 && b.calls() > a.calls() && rewritten == R"(cube.powers(2)
  eq(2, 2) = true
  pow(2, 2) = 4
  eq(4, 2) = false
  mul(4, 2) = 8
= 8
)"
             ? 0
             : 1;
}
