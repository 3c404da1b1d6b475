// Laws of the flow of values through regions, on random programs: it covers all arguments and results, and preserves their
// types. Operations that the builder inserts equal those of a text.
#include "catch.hpp"
#include "pass/random_program.hpp"

#include <overdub/ir/builder.hpp>
#include <overdub/ir/parse.hpp>
#include <overdub/ir/print.hpp>
#include <overdub/ir/verify.hpp>
#include <overdub/ir/walk.hpp>

#include <cstdint>
#include <set>
#include <vector>

namespace {

using namespace overdub::ir;

// Whether a value of one type can flow to a value of another: unchanged, as an element or from an array, or as an accumulator.
bool may_flow(type from, type to) {
  return from == to || from.array_of() == to || (from.rank > 0 && from.element_type() == to) ||
         from.accumulator() == to;
}

} // namespace

TEST_CASE("all arguments of regions but indices, and all results, are destinations of an operand of the same "
          "type") {
  std::set<op> seen;
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    program const p = random_program::make(seed, random_program::any_options(seed));
    for (function const& f : p.functions) {
      std::vector<bool> reached(f.value_count());
      walk(f, function::body, [&](node_id n) {
        for (std::uint32_t i = 0; i < f[n].operand_count; ++i)
          for_each_destination(f, n, i, [&](value_id to) {
            reached[index_of(to)] = true;
            CHECK(may_flow(f.type_of(f.operand(n, i)), f.type_of(to)));
          });
      });
      walk(f, function::body, [&](node_id n) {
        if (f[n].region_count == 0) return;
        seen.insert(f[n].code);
        INFO("random program " << seed << ", operation " << name_of(f[n].code));
        for (value_id const v : f.results_of(n)) CHECK(reached[index_of(v)]);
        for (region_id const r : f.regions_of(n))
          for (value_id const v : f.arguments_of(r)) CHECK(reached[index_of(v)] != is_iteration_index(f, v));
      });
    }
  }
  for (std::size_t i = 0; i < op_count; ++i) // all operations with regions occur
    CHECK((row_of(static_cast<op>(i)).regions == 0 || seen.contains(static_cast<op>(i))));
}

TEST_CASE("the types of results are determined by operands and yields") {
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    program const p = random_program::make(seed, random_program::any_options(seed));
    for (function const& f : p.functions)
      walk(f, function::body, [&](node_id n) {
        if (f[n].region_count == 0) return;
        std::vector<type> found;
        for (value_id const v : f.results_of(n)) found.push_back(f.type_of(v));
        INFO("random program " << seed << ", operation " << name_of(f[n].code));
        CHECK(result_types(f, n) == found);
      });
  }
}

TEST_CASE("the loop-carried values of an operation can be found from each side") {
  program const p = parse(R"(
func @f(%n: i64, %x: f64) -> (f64, f64[]) {
  %r, %s = loop %n (%i: i64, %a: f64 = %x) -> f64 stack (f64) {
    %b = mul %a, 2.0 : f64
    yield %b, %a
  }
  return %r, %s
})");
  function const& f = p.functions.front();
  node_id const n = f[function::body].first;
  region_flow const flow(f, n);
  REQUIRE(flow.carried() == 1);
  CHECK(flow.trip_count() == f.argument(function::body, 0));
  CHECK(is_iteration_index(f, flow.index()));
  CHECK(flow.initial(0) == f.argument(function::body, 1));
  CHECK(flow.final(0) == f.result(n, 0));
  CHECK(f.node_of(flow.next(0)) == f[flow.body()].first);
  CHECK(flow.carried_index(flow.argument(0)) == 0u);
  CHECK(!flow.carried_index(f.argument(flow.body(), 0))); // the index
  CHECK(!flow.is_stacked(0));
  CHECK(flow.is_stacked(1));
  CHECK(is_iteration_index(f, f.argument(flow.body(), 0)));
}

TEST_CASE("the builder inserts the operations that text denotes") {
  program p;
  std::vector<type> const parameters{i64, f64, boolean, type(f64).array_of()};
  function_id const id = p.add("f", parameters);
  p[id].results = {f64, i64, type(f64).array_of(), f64, type(f64).array_of()};
  cursor c(p, id, function::body);
  builder b(c);
  auto const parameter = [&](std::uint32_t i) { return c->argument(function::body, i); };
  value_id const n = parameter(0), x = parameter(1);
  auto const loop = b.loop(n, {x}, [&](value_id i, builder::values const& s) {
    return builder::values{c.add(op::mul, s[0], x), i};
  });
  auto const halved = b.while_(
      {n}, [&](builder::values const& s) { return c.add(op::gt, s[0], c.literal(std::int64_t{1})); },
      [&](builder::values const& s) { return c.add(op::div, s[0], c.literal(std::int64_t{2})); });
  auto const chosen = b.if_(
      parameter(2), [&] { return c.add(op::sin, x); }, [&] { return x; });
  auto const filled = b.map(n, [&](value_id) { return chosen.result(); });
  auto const sums = b.accumulate({parameter(3)}, [&](builder::values const& a) {
    value_id const operands[] = {a[0], c.literal(std::int64_t{0}), x};
    c.insert(op::add_to, operands, std::span<type const>());
  });
  value_id const total = b.reduce(op::add, filled, c.literal(0.0));
  c.yield(std::vector{loop.results[0], halved.result(), filled.result(), total, sums.result()});
  verify(p);
  program const same = parse(R"(
func @f(%n: i64, %x: f64, %yes: bool, %xs: f64[]) -> (f64, i64, f64[], f64, f64[]) {
  %l, %is = loop %n (%i: i64, %s: f64 = %x) -> f64 stack (i64) {
    %t = mul %s, %x : f64
    yield %t, %i
  }
  %h = while (%a: i64 = %n) -> i64 {
    %more = gt %a, 1 : bool
    yield %more
  } do (%b: i64) {
    %half = div %b, 2 : i64
    yield %half
  }
  %y = if %yes -> f64 {
    %sine = sin %x : f64
    yield %sine
  } else {
    yield %x
  }
  %all = map %n (%j: i64) -> f64 {
    yield %y
  }
  %sums = accumulate (%to: acc f64[] = %xs) -> f64[] {
    add_to %to, 0, %x
    yield
  }
  %total = reduce add %all from 0.0 : f64
  return %l, %h, %all, %total, %sums
})");
  CHECK(p == same);
}

TEST_CASE("a region that is built in several steps yields the values of all steps") {
  program p;
  std::vector<type> const parameters{boolean, f64};
  function_id const id = p.add("f", parameters);
  p[id].results = {f64, f64};
  cursor c(p, id, function::body);
  builder b(c);
  value_id const x = c->argument(function::body, 1);
  node_id const n = b.open(op::if_, {c->argument(function::body, 0)}, 2);
  for (std::uint32_t r = 0; r < 2; ++r)
    b.in_region(n, r, [&] { return c.add(r == 0 ? op::sin : op::cos, x); });
  b.in_region(n, 0, [&] { return c.add(op::exp, x); });
  b.in_region(n, 1, [&] { return builder::values{x}; });
  c.yield(b.close(n).results);
  verify(p);
  program const same = parse(R"(
func @f(%yes: bool, %x: f64) -> (f64, f64) {
  %a, %b = if %yes -> (f64, f64) {
    %s = sin %x : f64
    %e = exp %x : f64
    yield %s, %e
  } else {
    %c = cos %x : f64
    yield %c, %x
  }
  return %a, %b
})");
  CHECK(p == same);
}
