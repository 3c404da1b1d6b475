// Machine code aligns its stack memory for vectors, so that its speed does not depend on the caller's stack.
#include "execute/texts.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <regex>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#if defined(__x86_64__)

namespace {

using namespace overdub;

// Sums in lanes in memory, in registers, and across calls; rows of arrays; a reduction by a region.
constexpr char const* sums = R"(
func @f(%x: f64[], %y: f64[], %k: i64) -> (f64, f64, f64) {
  %n = length %x : i64
  %all = map %n (%i: i64) -> f64 {
    %a = at %x, %i : f64
    %terms = map %k (%j: i64) -> f64 {
      %l = add %i, %j : i64 %m = rem %l, %n : i64 %b = at %x, %m : f64 %c = at %y, %j : f64 %d = mul %b, %c : f64
      yield %d
    }
    %t = reduce add %terms from 0.0 : f64
    %u = mul %t, %a : f64
    yield %u
  }
  %s = reduce add %all from 0.0 : f64
  %parts = map %n (%i1: i64) -> f64 {
    %a1 = at %x, %i1 : f64 %b1 = mul %a1, %a1 : f64 %c1 = add %b1, 1.0 : f64
    yield %c1
  }
  %p = reduce add %parts from 0.0 : f64
  %roots = map %n (%i2: i64) -> f64 {
    %inner = map 3 (%i3: i64) -> f64 { %a3 = at %y, %i3 : f64 yield %a3 }
    %a2 = at %x, %i2 : f64 %b2 = reduce max %inner from %a2 : f64
    yield %b2
  }
  %q = reduce add %roots from 0.0 : f64
  return %s, %p, %q
}
)";
// The same sum of a map, whose elements call the mathematics library, or not.
std::string sum_of(char const* element) {
  return std::string(R"(
func @f(%x: f64[]) -> f64 {
  %n = length %x : i64 %first = at %x, 0 : f64 %log = log %first : f64
  %all = map %n (%i: i64) -> f64 {
    %count = min %i, 3 : i64
    %inner = map %count (%j: i64) -> f64 { %a = at %x, %j : f64 yield %a }
    %b = reduce max %inner from %log : f64
    %c = )") +
         element + R"( : f64
    yield %c
  }
  %s = reduce add %all from 0.0 : f64
  return %s
})";
}

struct memory {
  std::uint64_t bytes, alignment;
};
// The stack memory that functions use for a call.
std::vector<memory> memory_in(std::string const& assembly) {
  static std::regex const of_words(R"(= alloca \[(\d+) x (i64|i8)\], align (\d+))"), any("= alloca ");
  std::vector<memory> all;
  std::istringstream in(assembly);
  for (std::string line; std::getline(in, line);) {
    std::smatch m;
    if (!std::regex_search(line, any)) continue;
    INFO(line);
    REQUIRE(std::regex_search(line, m, of_words));
    all.push_back({std::stoull(m[1]) * (m[2] == "i64" ? 8 : 1), std::stoull(m[3])});
  }
  return all;
}

} // namespace

TEST_CASE("stack memory of machine code is aligned for the processor's vectors") {
  ir::program const p = texts::program(sums);
  struct processor {
    char const* name;
    std::uint64_t vector;
  };
  for (auto const& [name, vector] : {processor{"x86-64-v2", 16}, {"x86-64-v3", 32}, {"x86-64-v4", 64}})
    for (int const level : {0, 2}) {
      INFO(name << " " << level);
      auto const all =
          memory_in(jit::detail::llvm_text(p, p.entry, {}, {.optimisation = level, .cpu = name}));
      CHECK(!all.empty());
      for (memory const& each : all)
        if (each.bytes >= 8) CHECK(each.alignment >= std::min(std::bit_ceil(each.bytes), vector));
    }
}

TEST_CASE("functions with vectors can align a stack that is not aligned") {
  ir::program const p = texts::program(sums);
  for (char const* const name : {"x86-64-v3", "x86-64-v4"}) {
    std::string const assembly = jit::detail::llvm_text(p, p.entry, {}, {.cpu = name});
    INFO(name << "\n" << assembly);
    REQUIRE(std::regex_search(assembly, std::regex("<[48] x double>")));
    // The attribute of the function's attribute group.
    std::smatch m;
    bool found = false;
    std::istringstream in(assembly);
    std::string group;
    for (std::string line; std::getline(in, line);) {
      if (std::regex_search(line, m, std::regex("^define .* (#\\d+)"))) group = m[1];
      if (!line.starts_with("  %") || !std::regex_search(line, std::regex("= .*<[48] x double>"))) continue;
      CHECK(
          std::regex_search(assembly, std::regex("attributes " + group + " = .*\"frame-pointer\"=\"all\"")));
      found = true;
      break;
    }
    CHECK(found);
  }
}

TEST_CASE("loops that call scalar functions of the mathematics library have no vectors of 512 bits") {
  for (auto const& [element, bytes] : {std::pair{"mul %b, 2.0", 64u}, {"exp %b", 32u}}) {
    ir::program const p = texts::program(sum_of(element));
    auto const all = memory_in(jit::detail::llvm_text(p, p.entry, {}, {.cpu = "x86-64-v4"}));
    INFO(element);
    REQUIRE(!all.empty());
    for (memory const& each : all)
      if (each.bytes >= 64) CHECK(each.alignment == bytes);
  }
}

#endif
