// Random programs: every executor returns the bits that `evaluate` returns. The ordinary run has 20,000 programs, and a fortieth of that under
// sanitizers. OVERDUB_PROGRAMS=10000000 runs more, and OVERDUB_FIRST_PROGRAM=123 starts at another seed.
#include "laws/support/executors.hpp"
#include "pass/laws.hpp"

#include <overdub/ir/print.hpp>

#include <cstdlib>
#include <string>

namespace {

using namespace overdub;

#if defined(__clang__)
constexpr std::uint64_t first_program = 100'001;
#else
constexpr std::uint64_t first_program = 1;
#endif

std::uint64_t number_in(char const* variable, std::uint64_t otherwise) {
  char const* const text = std::getenv(variable);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

// The arguments of laws::arguments(seed), as data.
executors::arguments arguments(std::uint64_t seed) {
  random_program::random_numbers random(seed);
  auto number = [&] { return static_cast<double>(random.below(64)) / 8 - 4; };
  auto row = [&] { return array<double>{number(), number(), number()}; };
  auto integer = [&] { return static_cast<i64>(random.below(5)) - 1; };
  executors::arguments all;
  all.emplace_back(static_cast<i64>(random.below(3)));
  all.emplace_back(number());
  all.emplace_back(random.chance(50));
  all.emplace_back(row());
  all.emplace_back(array<i64>{integer(), integer(), integer()});
  all.emplace_back(array<array<double>>{row(), row(), row()});
  all.emplace_back(1.5f);
  return all;
}

// Evaluation has no host functions; tests/execute tests them.
random_program::options options_of(std::uint64_t seed) {
  random_program::options o = random_program::any_options(seed);
  o.effects = o.samples = false;
  o.function_values = true;
  return o;
}

// Few programs run long; shrunk ones may not terminate.
bool ends_soon(ir::program const& p, std::uint64_t seed) {
  return reference::run(p, laws::arguments(seed), 5'000).has_value();
}

bool differs(executors::way const& way, ir::program const& p, std::uint64_t seed) {
  if (!ends_soon(p, seed)) return false;
  auto const a = arguments(seed);
  return !executors::agrees(way, executors::evaluated(p, a), way.run(p, a, seed));
}

// Whether the program was run.
bool agree(std::uint64_t seed) {
  ir::program const p = random_program::of_some_mode(
      random_program::without_signs(random_program::make(seed, options_of(seed))), seed);
  if (!ends_soon(p, seed)) return false;
  auto const a = arguments(seed);
  auto const expected = executors::evaluated(p, a);
  for (auto const& way : executors::all()) {
    if (seed % way.every != 0) continue;
    if (executors::agrees(way, expected, way.run(p, a, seed))) continue;
    ir::program const small = laws::shrunk(p, [&](ir::program const& q) { return differs(way, q, seed); });
    FAIL(
        "random program " << seed << ": " << way.name << " returns "
                          << executors::text_of(way.run(small, a, seed)) << ", and evaluation "
                          << executors::text_of(executors::evaluated(small, a)) << "\n"
                          << ir::print(small));
  }
  return true;
}

} // namespace

TEST_CASE("every executor of a random program returns the result of evaluation") {
  std::uint64_t const first = number_in("OVERDUB_FIRST_PROGRAM", first_program);
  std::uint64_t const count = number_in("OVERDUB_PROGRAMS", laws::seeds(20'000));
  std::uint64_t run = 0;
  for (std::uint64_t seed = first; run < count; ++seed) run += agree(seed);
  SUCCEED(run << " programs");
}
