// The speed of the printer and the parser, in bytes of text a second, for a program of 2,000 functions of 60 operations, with loops,
// calls, arrays and literals. Values have names, or are numbered.
#include <overdub/ir/cursor.hpp>
#include <overdub/ir/parse.hpp>
#include <overdub/ir/print.hpp>

#include <benchmark/benchmark.h>

#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

namespace {

using namespace overdub::ir;

constexpr type f64s = f64.array_of();

// A scan of x[i] * scale + f(x[i], previous), then a sum of the results of all iterations.
function_id add_function(program& p, std::uint32_t number, function_id callee, bool named) {
  type const parameters[] = {f64s, f64};
  function_id const f = p.add("function_" + std::to_string(number), parameters);
  p[f].results = {f64};
  cursor c(p, f, function::body);
  auto const name = [&](value_id v, std::string const& text) {
    if (named) c.set_name(v, p.intern(text));
    return v;
  };
  value_id const xs = name(c->argument(function::body, 0), "xs");
  value_id const scale = name(c->argument(function::body, 1), "scale");
  value_id const operands[] = {name(c.add(op::length, xs), "n"), c.literal(0.0)};
  type const results[] = {f64, f64s};
  std::vector<type> const arguments[] = {{i64, f64}};
  node_id const loop = c.insert(op::loop, operands, results, {}, arguments);
  region_id const body = c->region_at(loop, 0);
  value_id const index = name(c->argument(body, 0), "i");
  value_id state = name(c->argument(body, 1), "state");
  c.to_end(body);
  value_id const x = name(c.add(op::at, xs, index), "x");
  for (int i = 0; i < 17; ++i) {
    std::string const suffix = std::to_string(i);
    value_id const product = name(c.add(op::mul, x, scale), "product_" + suffix);
    value_id const shifted = name(c.add(op::add, product, c.literal(0.1 * number + i)), "shifted_" + suffix);
    state = name(c.add(op::max, shifted, state), "state_" + suffix);
  }
  value_id const yielded[] = {state, name(c.add(op::sqrt, state), "root")};
  c.yield(yielded);
  c.to_end(function::body);
  name(c->result(loop, 0), "last");
  value_id const roots = name(c->result(loop, 1), "roots");
  value_id sum = name(c->result(c.insert(op::reduce, {roots}, attributes::of(op::add))), "sum");
  if (callee != nothing)
    sum = name(c->result(c.insert(op::call, {roots, sum}, attributes::of(callee))), "rest");
  c.yield({&sum, 1});
  return f;
}

program of_functions(std::uint32_t count, bool named) {
  program p;
  function_id last = nothing;
  for (std::uint32_t i = 0; i < count; ++i) last = add_function(p, i, last, named);
  p.entry = last;
  return p;
}

program const& example(bool named) {
  static program const with_names = of_functions(2000, true);
  static program const with_numbers = of_functions(2000, false);
  return named ? with_names : with_numbers;
}

void count_bytes(benchmark::State& state, std::string const& text) {
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(text.size()));
  state.counters["text"] = benchmark::Counter(static_cast<double>(text.size()));
}

void printing(benchmark::State& state) {
  program const& p = example(state.range(0) != 0);
  std::string text;
  for (auto _ : state) {
    text = print(p);
    benchmark::DoNotOptimize(text.data());
  }
  count_bytes(state, text);
}
BENCHMARK(printing)->ArgName("names")->Arg(1)->Arg(0)->Unit(benchmark::kMillisecond);

void parsing(benchmark::State& state) {
  std::string const text = print(example(state.range(0) != 0));
  program p;
  for (auto _ : state) {
    p = parse(text);
    benchmark::DoNotOptimize(&p);
  }
  if (!(p == example(state.range(0) != 0))) std::abort();
  count_bytes(state, text);
}
BENCHMARK(parsing)->ArgName("names")->Arg(1)->Arg(0)->Unit(benchmark::kMillisecond);

} // namespace

BENCHMARK_MAIN();
