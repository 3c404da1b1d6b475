// Machine code of consistent programs: vectors of every width give the bits of the function on one number.
#include "catch.hpp"

#include <overdub/execute/interpreter.hpp>
#include <overdub/ir/consistent.hpp>
#include <overdub/ir/parse.hpp>
#include <overdub/jit/jit.hpp>

#include <bit>
#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace overdub;

// The architectures with vectors that this processor supports, by LLVM's names.
std::vector<jit::options> processors() {
  std::vector<jit::options> all(1);
#if defined(__x86_64__)
  all.push_back({.cpu = "x86-64"});
  if (__builtin_cpu_supports("avx")) all.push_back({.cpu = "x86-64", .features = "+avx"});
  if (__builtin_cpu_supports("avx2")) all.push_back({.cpu = "x86-64-v3"});
  if (__builtin_cpu_supports("avx512vl")) all.push_back({.cpu = "x86-64-v4"});
#endif
  all.push_back({.optimisation = 0});
  all.push_back({.optimisation = 3});
  return all;
}

std::string replaced(std::string text, std::string const& from, std::string const& to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
  return text;
}

// A function of each element of an array: stored, summed, and after a loop.
std::string const texts = R"(
math MODE
func @stored(%x: T[], %y: T[]) -> T[] {
  %n = length %x : i64
  %r = map %n (%i: i64) -> T {
    %a = at %x, %i : T
    %b = at %y, %i : T
    %c = OP : T
    yield %c
  }
  return %r
}
func @added(%x: T[], %y: T[]) -> T {
  %n = length %x : i64
  %r = map %n (%i: i64) -> T {
    %a = at %x, %i : T
    %b = at %y, %i : T
    %c = OP : T
    %d = abs %c : T
    %e = ONE
    %f = min %e, %d : T
    yield %f
  }
  %s = reduce add %r from ZERO : T
  return %s
}
func @behind(%x: T[], %y: T[]) -> (T[], T) {
  %n = length %x : i64
  %r, %q = map %n (%i: i64) -> (T, T) {
    %b = at %y, %i : T
    %a = loop %i (%j: i64, %s: T = ZERO) -> T {
      %0 = rem %j, 3 : i64
      %1 = at %x, %0 : T
      %2 = add %s, %1 : T
      yield %2
    }
    %c = OP : T
    %d = mul %c, %a : T
    %e = ONE
    %f = min %e, %d : T
    %g = max %f, ZERO : T
    yield %d, %g
  }
  %t = reduce add %q from ZERO : T
  return %r, %t
}
)";

std::string program_of(ir::op code, std::string const& type, std::string const& mode) {
  bool const two = ir::row_of(code).least == 2, narrow = type == "f32";
  std::string text = replaced(texts, "MODE", mode);
  text = replaced(text, "OP", std::string(ir::name_of(code)) + (two ? " %a, %b" : " %a"));
  text = replaced(text, "ONE", "convert 1 : T");
  text = replaced(text, "ZERO", narrow ? "0.0f32" : "0.0");
  return replaced(text, "T", type);
}

template <class T>
array<T> numbers(std::uint64_t seed, std::size_t count) {
  std::mt19937_64 random(seed);
  std::vector<T> all{T{0}, T(-0.0), T{1}, T(1e30), T(-800), T(800)};
  while (all.size() < count) {
    std::uint64_t const x = random();
    double const scale[] = {1, 3, 20, 700};
    all.push_back(static_cast<T>(static_cast<double>(static_cast<std::int64_t>(x)) * 0x1p-63 * scale[x % 4]));
  }
  return array<T>::copy_of(all);
}

std::vector<datum> run(executable const& f, std::vector<datum> const& a) { return f.run(a); }

template <class T>
void same_bits(std::string const& type) {
  std::vector<datum> const arguments{datum(numbers<T>(1, 203)), datum(numbers<T>(2, 203))};
  for (std::size_t i = 0; i < ir::op_count; ++i) {
    auto const code = static_cast<ir::op>(i);
    if (!ir::is_elementary(code)) continue;
    ir::program const p = ir::parse(program_of(code, type, "consistent"));
    for (char const* const name : {"stored", "added", "behind"}) {
      auto const expected = run(executable(p, *p.find(name), {}, {.lanes_from = 1'000'000}), arguments);
      CHECK(run(executable(p, *p.find(name), {}, {.lanes_from = 1}), arguments) == expected);
      for (jit::options const& o : processors()) {
        INFO(
            "@" << name << " of " << ir::name_of(code) << " " << type << ", for \"" << o.cpu << "\" "
                << o.features);
        CHECK(run(jit::compile(p, *p.find(name), {}, o), arguments) == expected);
      }
    }
  }
}

} // namespace

TEST_CASE("programs of consistent mathematics are not compiled without SLEEF's functions") {
  ir::program const p = ir::parse(program_of(ir::op::sin, "f64", "consistent"));
  auto const* const kept = std::exchange(ir::consistent, nullptr);
  std::string refused;
  try {
    (void)jit::compile(p, *p.find("added"));
  } catch (not_executable const& e) {
    refused = e.what();
  }
  ir::consistent = kept;
  CHECK(refused.starts_with(
      "overdub: @added cannot be compiled: its mathematics are consistent, and that takes"));
}

#if OVERDUB_TESTS_SLEEF
TEST_CASE("vectors of every width have the same bits as scalars, f64") { same_bits<double>("f64"); }
TEST_CASE("vectors of every width have the same bits as scalars, f32") { same_bits<float>("f32"); }

TEST_CASE("machine code of a consistent map calls vector functions") {
  // A million numbers: all bits are compared here, and bench/jit.cpp measures the time.
  ir::program const p = ir::parse(program_of(ir::op::exp, "f64", "consistent"));
  std::vector<datum> const arguments{
      datum(numbers<double>(3, 1'000'000)), datum(numbers<double>(4, 1'000'000))};
  auto const found = run(jit::compile(p, *p.find("stored")), arguments);
  auto const x = arguments[0].elements<double>(), y = found[0].elements<double>();
  std::size_t different = 0;
  for (i64 i = 0; i < x.size(); ++i)
    different +=
        std::bit_cast<std::uint64_t>(y[i]) !=
        std::bit_cast<std::uint64_t>(ir::consistent->f64.one[static_cast<std::size_t>(ir::op::exp)](x[i]));
  CHECK(different == 0);
}
#endif
