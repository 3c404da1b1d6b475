// Functions of many thousand operations, whose blocks are compiled in parts.
#include "execute/texts.hpp"

#include <algorithm>
#include <string>

namespace {

using namespace overdub;

// Straight code with values that live long, which writes an array, calls and fails on the way, in front of and in a loop.
std::string long_text(unsigned operations) {
  std::string text = "func @f(%x: f64[], %n: i64) -> (f64, f64[]) {\n";
  text += "%a0 = at %x, 0 : f64 %a1 = at %x, 1 : f64\n";
  text += "%v0 = fill 2, %a0 : f64[]\n";
  unsigned seed = 1, arrays = 0;
  auto const line = [&](unsigned k) {
    auto const earlier = [&] {
      seed = seed * 1664525 + 1013904223;
      return "%a" + std::to_string(k - 1 - (seed >> 16) % std::min(k, 60u));
    };
    std::string const name = "%a" + std::to_string(k), x = earlier(), y = earlier();
    static constexpr char const* codes[] = {"add", "max", "sub", "min"};
    text += name + " = " + codes[k % 4] + " " + x + ", " + y + " : f64\n";
    if (k % 500 != 0) return;
    text += "%v" + std::to_string(arrays + 1) + " = update %v" + std::to_string(arrays) + ", %n, " + name +
            " : f64[]\n";
    ++arrays;
  };
  for (unsigned k = 2; k < operations; ++k) line(k);
  text += "%r = loop 3 (%i: i64, %l: f64 = %a" + std::to_string(operations - 1) + ") -> f64 {\n";
  std::string last = "%l";
  for (unsigned k = 0; k < operations / 2; ++k) {
    std::string const name = "%b" + std::to_string(k);
    text +=
        name + " = " + (k % 2 == 0 ? "add " : "max ") + last + ", %a" + std::to_string(k % 7) + " : f64\n";
    last = name;
  }
  text += "yield " + last + "\n}\nreturn %r, %v" + std::to_string(arrays) + "\n}\n";
  return text;
}

} // namespace

TEST_CASE("long functions give what the interpreter gives, errors too, with lines and without") {
  ir::program const p = texts::program(long_text(9000));
  executable const reference(p);
  for (bool const debug : {false, true}) {
    executable const run = jit::compile(p, {}, {.optimisation = debug ? 1 : 2, .debug = debug});
    for (char const* const arguments : {"[0.25, -1.5], 1", "[0.25, -1.5], 2", "[2.0], 0"})
      CHECK(texts::outcome_of(run, arguments) == texts::outcome_of(reference, arguments));
  }
}
