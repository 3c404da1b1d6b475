// Memory of machine code: it is counted and limited, and running out loses nothing.
#include "cache_folder.hpp"
#include "execute/texts.hpp"

#include <limits>
#include <optional>

namespace {

using namespace overdub;

constexpr std::size_t unlimited = std::numeric_limits<std::size_t>::max();

ir::program shifted(double by) {
  return texts::program(
      "func @f(%x: f64) -> f64 { %y = add %x, " + std::to_string(by) + " : f64 return %y }");
}

} // namespace

TEST_CASE("machine code is counted, and freed with the last copy of its executable") {
  std::size_t const before = jit::machine_code_bytes();
  {
    std::optional<executable> first(jit::compile(shifted(1)));
    std::size_t const one = jit::machine_code_bytes();
    CHECK(one > before);
    executable const copy = *first;
    first.reset();
    CHECK(jit::machine_code_bytes() == one);
    CHECK(copy.call<double>(1.0) == 2);
  }
  CHECK(jit::machine_code_bytes() == before);
}

TEST_CASE("an out-of-memory error of machine code is reported, existing code works, and later compilations "
          "succeed") {
  executable const first = jit::compile(shifted(1));
  std::size_t const one = jit::machine_code_bytes();
  for (std::size_t const limit : {std::size_t{0}, one, one + 1, one + 4096}) {
    jit::limit_machine_code(limit);
    CHECK_THROWS_WITH(
        jit::compile(shifted(2)),
        Catch::Matchers::StartsWith("overdub: there is no memory for machine code: it takes ") &&
            Catch::Matchers::Contains("jit::limit_machine_code"));
    CHECK_THROWS_AS(jit::compile(shifted(3)), not_executable);
    CHECK(jit::machine_code_bytes() == one);
    CHECK(first.call<double>(1.0) == 2);
  }
  jit::limit_machine_code(unlimited);
  CHECK(jit::compile(shifted(2)).call<double>(1.0) == 3);
  CHECK(jit::machine_code_bytes() == one);
}

TEST_CASE("an entry on disk for which there is no memory is not treated as damaged") {
  cache_folder const folder;
  auto const cache = folder.open();
  CHECK(jit::compile(shifted(1), {}, {.cache = cache}).call<double>(1.0) == 2);
  jit::limit_machine_code(0);
  CHECK_THROWS_WITH(
      jit::compile(shifted(1), {}, {.cache = cache}),
      Catch::Matchers::StartsWith("overdub: there is no memory for machine code"));
  jit::limit_machine_code(unlimited);
  CHECK(cache->statistics().rejected == 0);
  CHECK(jit::compile(shifted(1), {}, {.cache = cache}).call<double>(1.0) == 2);
  CHECK(cache->statistics().hits == 1);
}

TEST_CASE("exceptions pass through machine code that was loaded where other code was freed") {
  ir::program const p =
      texts::program("func @f(%x: i64, %y: i64) -> i64 { %q = div %x, %y : i64 return %q }");
  for (int round = 0; round < 20; ++round) {
    executable const run = jit::compile(p);
    CHECK_THROWS_AS(run.call<i64>(1, 0), division_by_zero);
    CHECK(run.call<i64>(9, 3) == 3);
  }
}
