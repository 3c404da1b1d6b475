// A batch equals the function on each element: on random programs, whose loops the context `batched` interchanges with
// the map, in the interpreter and as machine code. OVERDUB_PROGRAMS=1000000 runs more.
#include "laws/support/executors.hpp"
#include "pass/laws.hpp"

#include <overdub/batch.hpp>
#include <overdub/execute/datum_text.hpp>
#include <overdub/execute/interpreter.hpp>
#include <overdub/ir/print.hpp>
#include <overdub/pass/pipeline.hpp>

#if OVERDUB_TESTS_JIT
#include <overdub/jit/jit.hpp>
#endif

#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace overdub;
using ir::op;

// The function `batch`: a map that calls the entry for each element of the first three arguments and the last one; the
// other arguments, which are arrays, are the same for all elements. It returns the results that are numbers. Returns
// whether there are any.
bool add_batch(ir::program& p) {
  ir::function_id const callee = p.entry;
  std::vector<ir::type> parameters, results, numbers;
  for (ir::value_id const v : p[callee].parameters()) {
    ir::type const t = p[callee].type_of(v);
    parameters.push_back(t.is_scalar() ? t.array_of() : t);
  }
  results = p[callee].results;
  for (ir::type const t : results)
    if (t.is_literal()) numbers.push_back(t.array_of());
  if (numbers.empty()) return false;
  ir::function_id const f = p.add("batch", parameters);
  p[f].results = numbers;
  ir::cursor c(p, f, ir::function::body);
  ir::value_id const n = c.add(op::length, c->argument(ir::function::body, 0));
  std::vector<ir::type> const regions[] = {{ir::i64}};
  std::vector<ir::value_id> const count{n};
  ir::node_id const map = c.insert(op::map, count, numbers, {}, regions);
  c.to_end(c->region_at(map, 0));
  std::vector<ir::value_id> arguments, yielded;
  for (std::uint32_t i = 0; i < parameters.size(); ++i) {
    ir::value_id const v = c->argument(ir::function::body, i);
    bool const is_same = c->type_of(v) == p[callee].type_of(p[callee].argument(ir::function::body, i));
    arguments.push_back(is_same ? v : c.add(op::at, v, c->argument(c->region_at(map, 0), 0)));
  }
  ir::node_id const call = c.insert(op::call, arguments, results, ir::attributes::of(callee));
  for (ir::value_id const v : c->results_of(call))
    if (c->type_of(v).is_literal()) yielded.push_back(v);
  c.yield(yielded);
  c.to_end(ir::function::body);
  yielded.clear();
  for (ir::value_id const v : c->results_of(map)) yielded.push_back(v);
  c.yield(yielded);
  p.entry = f;
  return true;
}

struct batch_arguments {
  executors::arguments all;                  // arrays of the arguments that differ
  std::vector<executors::arguments> of_each; // element by element
};
batch_arguments arguments(std::uint64_t seed, std::size_t size) {
  random_program::random_numbers random(seed);
  auto number = [&] { return static_cast<double>(random.below(64)) / 8 - 4; };
  auto row = [&] { return array<double>{number(), number(), number()}; };
  auto integer = [&] { return static_cast<i64>(random.below(5)) - 1; };
  auto const xs = row();
  array<i64> const is{integer(), integer(), integer()};
  array<array<double>> const m{row(), row(), row()};
  std::vector<i64> depths;
  std::vector<double> numbers;
  std::vector<float> floats;
  std::vector<std::uint8_t> bools;
  batch_arguments made;
  for (std::size_t i = 0; i < size; ++i) {
    depths.push_back(random.below(3));
    numbers.push_back(number());
    bools.push_back(random.chance(50));
    floats.push_back(1.5f);
    executors::arguments one;
    one.emplace_back(depths.back());
    one.emplace_back(numbers.back());
    one.emplace_back(bools.back() != 0);
    one.emplace_back(xs);
    one.emplace_back(is);
    one.emplace_back(m);
    one.emplace_back(floats.back());
    made.of_each.push_back(std::move(one));
  }
  made.all.emplace_back(array<i64>::copy_of(depths));
  made.all.emplace_back(array<double>::copy_of(numbers));
  made.all.emplace_back(overdub::map(
      [](auto x) { return x != 0; }, array<i64>::copy_of(std::vector<i64>(bools.begin(), bools.end()))));
  made.all.emplace_back(xs);
  made.all.emplace_back(is);
  made.all.emplace_back(m);
  made.all.emplace_back(array<float>::copy_of(floats));
  return made;
}

std::string fault_of(ir::program const& p, std::uint64_t seed, std::size_t& changed) {
  constexpr std::size_t sizes[] = {0, 1, 3, 64, 70};
  auto const a = arguments(seed, sizes[seed % 5]);
  ir::program batch = p;
  if (!add_batch(batch)) return {};
  ir::program swapped = batch;
  pass::inline_calls(swapped, 400);
  std::size_t const splits = pass::interchange(swapped);
  changed += splits > 0;
  if (splits == 0) return {};
  if (auto const faults = ir::faults_of(swapped); !faults.empty())
    return "the result is not valid: " + faults[0].text;

  bool fails = false;
  std::vector<executors::outcome> each;
  executable const one(p);
  for (auto const& x : a.of_each) {
    each.push_back(executors::outcome_of([&] { return one.run(x); }));
    fails = fails || !each.back().thrown.empty();
  }
  auto const wrong = [&](std::string const& way, auto const& run) -> std::string {
    executors::outcome const given = executors::outcome_of([&] { return run().run(a.all); });
    if (!given.thrown.empty() || fails)
      return given.thrown.empty() == fails ? way + " fails, or does not" : "";
    // The results that are numbers, for each element.
    std::vector<executors::outcome> lanes(each.size());
    for (std::size_t r = 0, k = 0; r < p[p.entry].results.size(); ++r) {
      if (!p[p.entry].results[r].is_literal()) continue;
      for (std::size_t i = 0; i < each.size(); ++i) lanes[i].results.push_back(each[i].results[r]);
      std::string expected = "[";
      for (std::size_t i = 0; i < each.size(); ++i)
        expected += (i == 0 ? "" : ", ") + text_of(each[i].results[r]);
      expected += "]";
      std::string const got = text_of(given.results[k++]);
      if (!each.empty() && got != expected) return way + " returns " + got + " instead of " + expected;
    }
    return {};
  };
  ir::program optimised = swapped;
  pass::default_pipeline(optimised);
  std::string fault = wrong("the interpreter", [&] { return executable(swapped); });
  if (fault.empty())
    fault = wrong("the interpreter, after the pipeline", [&] { return executable(optimised); });
#if OVERDUB_TESTS_JIT
  if (fault.empty() && seed % 5 == 0) fault = wrong("machine code", [&] { return jit::compile(optimised); });
#endif
  return fault;
}

std::uint64_t number_in(char const* variable, std::uint64_t otherwise) {
  char const* const text = std::getenv(variable);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

} // namespace

TEST_CASE(
    "a batch equals its function for each element, to the bit, though its iterations run in loops of maps") {
  std::uint64_t const count = number_in("OVERDUB_PROGRAMS", laws::seeds(10'000));
  std::size_t changed = 0, none = 0;
  for (std::uint64_t seed = number_in("OVERDUB_FIRST_PROGRAM", 1), last = seed + count; seed < last; ++seed) {
    random_program::options o = random_program::any_options(seed);
    o.effects = o.samples = o.function_values = false;
    o.loops_of_numbers = true;
    ir::program const p =
        random_program::of_some_mode(random_program::without_signs(random_program::make(seed, o)), seed);
    if (!reference::run(p, laws::arguments(seed), 5'000)) continue; // it runs too long
    std::string const fault = fault_of(p, seed, changed);
    if (fault.empty()) continue;
    ir::program const small = laws::shrunk(p, [&](ir::program const& q) {
      return reference::run(q, laws::arguments(seed), 5'000) && !fault_of(q, seed, none).empty();
    });
    FAIL("random program " << seed << ": " << fault_of(small, seed, none) << "\n" << ir::print(small));
  }
  CHECK((count < 100 || changed > count / 20));
}
