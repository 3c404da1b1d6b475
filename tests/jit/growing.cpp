// Arrays of unknown length. Their initial capacity is slightly above the number of iterations in the previous run.
#include "execute/texts.hpp"

#include <string>

namespace {

using namespace overdub;

constexpr char const* countdown_and_squares = R"(func @f(%n: i64) -> (i64[], f64[], i64) {
    %last, %all, %squares = while (%k: i64 = %n) -> i64 stack (i64, f64) {
      %c = gt %k, 0 : bool
      yield %c
    } do (%j: i64) {
      %next = sub %j, 1 : i64
      %x = convert %j : f64
      %y = mul %x, %x : f64
      yield %next, %j, %y
    }
    return %all, %squares, %last
  })";

} // namespace

TEST_CASE("consecutive runs of any lengths have the results of the interpreter") {
  ir::program const p = texts::program(countdown_and_squares);
  for (int level = 0; level <= 3; ++level) {
    executable const compiled = jit::compile(p, {}, {.optimisation = level});
    for (i64 const n : {0, 1, 7, 1000, 3, 0, 2000, 70'000, 5, 70'001})
      CHECK(
          texts::outcome_of(compiled, std::to_string(n)) ==
          texts::outcome_of(executable(p), std::to_string(n)));
  }
}

TEST_CASE("a run of the same length as the previous one allocates one buffer for each array") {
  executable const compiled = jit::compile(texts::program(countdown_and_squares));
  auto const bytes_of = [&](i64 n) {
    auto once = compiled.instance();
    (void)once.run(std::vector<datum>{n});
    return once.array_bytes();
  };
  std::size_t const first = bytes_of(1000), next = bytes_of(1000);
  CHECK(first > 2 * 8'000 * 3 / 2); // and those that were too small
  CHECK(next < 2 * 8'000 * 4 / 3);
}
