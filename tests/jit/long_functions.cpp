// Functions with many thousand operations, whose blocks are split.
#include "execute/texts.hpp"

#include <algorithm>
#include <ctime>
#include <sstream>
#include <string>

namespace {

using namespace overdub;

// Straight-line code with long live ranges, which updates an array and may fail, before and in a loop. Each third operation
// may be a call of libm.
std::string long_text(unsigned operations, bool calls = false) {
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
    text +=
        name + " = " + (calls && k % 3 == 0 ? "sin " + x : codes[k % 4] + (" " + x) + ", " + y) + " : f64\n";
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

// A chain of sines: three operations for each.
std::string sines(unsigned operations) {
  std::string text = "func @f(%x: f64) -> f64 {\n%s0 = add %x, 0.5 : f64\n";
  for (unsigned k = 0; k < operations / 3; ++k) {
    std::string const i = std::to_string(k);
    text += "%a" + i + " = sin %s" + i + " : f64 %b" + i + " = mul %a" + i + ", %x : f64 %s" +
            std::to_string(k + 1) + " = add %b" + i + ", %s" + i + " : f64\n";
  }
  return text + "return %s" + std::to_string(operations / 3) + "\n}\n";
}

// The largest number of calls in an LLVM function.
std::size_t max_calls(std::string const& assembly) {
  std::istringstream in(assembly);
  std::size_t most = 0, here = 0;
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("define")) here = 0;
    if (line.find("call double @\"overdub:sin") != std::string::npos) most = std::max(most, ++here);
  }
  return most;
}

double seconds_of_thread() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}
double seconds_to_compile(ir::program const& p) {
  double const start = seconds_of_thread();
  (void)jit::compile(p);
  return seconds_of_thread() - start;
}

} // namespace

TEST_CASE("long functions have the results and errors of the interpreter, with lines and without") {
  ir::program const p = texts::program(long_text(9000));
  executable const reference(p);
  for (bool const debug : {false, true}) {
    executable const run = jit::compile(p, {}, {.optimisation = debug ? 1 : 2, .debug = debug});
    for (char const* const arguments : {"[0.25, -1.5], 1", "[0.25, -1.5], 2", "[2.0], 0"})
      CHECK(texts::outcome_of(run, arguments) == texts::outcome_of(reference, arguments));
  }
}

TEST_CASE(
    "long functions with calls of the mathematics library have the results and errors of the interpreter") {
  ir::program const p = texts::program(long_text(9000, true));
  executable const reference(p);
  for (int const level : {0, 1, 2, 3}) {
    executable const run = jit::compile(p, {}, {.optimisation = level});
    for (char const* const arguments : {"[0.25, -1.5], 1", "[0.25, -1.5], 2", "[2.0], 0"})
      CHECK(texts::outcome_of(run, arguments) == texts::outcome_of(reference, arguments));
  }
}

TEST_CASE("straight-line code with many calls is split into functions with a bounded number of calls") {
  for (unsigned const operations : {3000u, 9000u, 30'000u}) {
    ir::program const p = texts::program(sines(operations));
    std::string const assembly = jit::detail::llvm_text(p, p.entry, {}, {});
    CHECK(max_calls(assembly) <= 2000);
    CHECK(max_calls(assembly) >= std::min(operations / 3, 400u)); // and fewer functions than calls
    CHECK(texts::outcome_of(jit::compile(p), "0.25") == texts::outcome_of(executable(p), "0.25"));
  }
}

TEST_CASE("the code for LLVM is linear in the number of operations, over two decades") {
  auto const size_of = [](ir::program const& p) {
    return static_cast<double>(jit::detail::llvm_text(p, p.entry, {}, {}).size());
  };
  for (bool const calls : {false, true}) {
    double const small = size_of(texts::program(long_text(300, calls))) / 300;
    double const large = size_of(texts::program(long_text(30'000, calls))) / 30'000;
    INFO(small << " bytes for each of 300 operations, " << large << " for each of 30,000");
    CHECK(
        large <=
        3.0 * small); // names are longer, and long code is split into functions, which have frames and calls
  }
}

TEST_CASE("the compile time is linear in the number of calls, over two decades") {
  ir::program const small = texts::program(sines(1000)), large = texts::program(sines(100'000));
  double ratio = 1e9; // of times for each operation; other processes only add time
  for (int attempt = 0; attempt < 3 && ratio > 2; ++attempt) {
    double best = 1e9;
    for (int k = 0; k < 5; ++k) best = std::min(best, seconds_to_compile(small));
    ratio = std::min(ratio, seconds_to_compile(large) / best / 100);
  }
  INFO("an operation takes " << ratio << " times as long");
  CHECK(ratio < 2);
}
