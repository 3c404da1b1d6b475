#include "laws/support/executors.hpp"

#include "pass/random_program.hpp"

#include <overdub/execute/datum_text.hpp>
#include <overdub/execute/interpreter.hpp>
#include <overdub/ir/parse.hpp>
#include <overdub/ir/print.hpp>
#include <overdub/pass/pipeline.hpp>
#include <overdub/stage/evaluate_data.hpp>

#if OVERDUB_TESTS_JIT
#include <overdub/jit/jit.hpp>
#endif

#include <array>
#include <optional>

namespace executors {
namespace {

using namespace overdub;

struct no_op : context {};

outcome interpreted(ir::program const& p, arguments const& a) {
  return outcome_of([&] { return executable(p).run(a); });
}

outcome by_interpreter(ir::program const& p, arguments const& a, std::uint64_t) { return interpreted(p, a); }
outcome in_lanes(ir::program const& p, arguments const& a, std::uint64_t) {
  return outcome_of([&] { return executable(p, {}, {.lanes_from = 1}).run(a); });
}
outcome after_reading(ir::program const& p, arguments const& a, std::uint64_t) {
  return interpreted(ir::parse(ir::print(p)), a);
}
outcome after_the_pipeline(ir::program const& p, arguments const& a, std::uint64_t) {
  ir::program q = p;
  pass::default_pipeline(q);
  return interpreted(q, a);
}
// A random sequence of passes, with repetitions.
outcome after_some_passes(ir::program const& p, arguments const& a, std::uint64_t seed) {
  random_program::random_numbers random(~seed);
  ir::program q = p;
  pass::pass_runner const run(q);
  for (std::uint32_t count = random.below(2 * pass::passes.size()); count > 0; --count)
    run(pass::passes[random.below(pass::passes.size())]);
  return interpreted(q, a);
}
outcome after_a_context(ir::program const& p, arguments const& a, std::uint64_t) {
  return outcome_of([&] {
    no_op context;
    return executable(overdub::overdub(context, p)).run(a);
  });
}
#if OVERDUB_TESTS_JIT
// Repeated runs of a program share one compilation.
outcome compiled(ir::program const& p, arguments const& a, std::uint64_t seed) {
  static ir::program last;
  static std::optional<executable> run;
  return outcome_of([&] {
    if (!run || last != p) {
      run = jit::compile(p, {}, {.optimisation = seed % 40 == 0 ? 2 : seed % 20 == 0 ? 1 : 0});
      last = p;
    }
    return run->run(a);
  });
}
#endif

} // namespace

std::string text_of(outcome const& o) {
  std::string text = o.thrown.empty() ? "" : "throws " + o.thrown;
  for (datum const& d : o.results) text += (text.empty() ? "" : ", ") + overdub::text_of(d);
  return text;
}

outcome evaluated(ir::program const& p, arguments const& a) {
  return outcome_of([&] { return evaluate(p, a); });
}

std::span<way const> all() {
  static constexpr std::array ways {
    way{"the interpreter", by_interpreter, true, 1},
        way{"the interpreter, all maps in lanes", in_lanes, true, 1},
        way{"the interpreter, on what the printed program is read as", after_reading, true, 1},
        way{"the interpreter, after the default pipeline", after_the_pipeline, false, 1},
        way{"the interpreter, after some passes", after_some_passes, false, 1},
#if OVERDUB_TESTS_JIT
        way{"machine code", compiled, true, 5},
#endif
        way {
      "the interpreter, on what a context without rules rewrites", after_a_context, false, 10
    }
  };
  return ways;
}

} // namespace executors
