// Side effects of operations, and the consequences for erasing, merging and moving them.
#include "catch.hpp"
#include "ir/samples.hpp"

#include <overdub/ir/effects.hpp>

#include <string>

namespace {

using namespace samples;
using overdub::effect;

effect_set const pure;
effect_set const fails = effect::may_fail;

// The effect of the operation that `build` returns, in a function of an f64, an i64 and an f64[].
template <class Build>
effect_set of_operation(Build build) {
  program p;
  node_id n = nothing;
  function_id const f = define(p, "f", {f64, i64, f64s}, {}, [&](cursor& c, values x) {
    n = build(c, x);
    return values{};
  });
  return effects(p).of(p[f], n);
}
template <class... Operands>
effect_set of_plain(op code, Operands... which) {
  return of_operation([&](cursor& c, values x) { return c.insert(code, {x[which]...}); });
}
attributes host(program& p, effect e) { return {.subject = index_of(p.intern("host")), .effects = e}; }

} // namespace

TEST_CASE("arithmetic is pure, and division fails on integers alone") {
  CHECK(of_plain(op::mul, 0u, 0u) == pure);
  CHECK(of_plain(op::div, 0u, 0u) == pure);
  CHECK(of_plain(op::div, 1u, 1u) == fails);
  CHECK(of_plain(op::rem, 1u, 1u) == fails);
}

TEST_CASE("the length of one array is pure, and that of several may fail") {
  CHECK(of_plain(op::length, 2u) == pure);
  CHECK(of_plain(op::length, 2u, 2u) == fails);
}

TEST_CASE("an array of numbers is pure, and one of arrays may have rows of different lengths") {
  CHECK(of_plain(op::array, 0u, 0u) == pure);
  CHECK(of_plain(op::array, 2u) == pure);
  CHECK(of_plain(op::array, 2u, 2u) == fails);
}

TEST_CASE("reads at an index may fail") {
  CHECK(of_plain(op::at, 2u, 1u) == fails);
  CHECK(of_plain(op::update, 2u, 1u, 0u) == fails);
}

TEST_CASE("a reduction may fail without an initial value, on several arrays, and if its operation may") {
  auto const reduce = [](values const& which, attributes const& a) {
    return of_operation([&](cursor& c, values x) {
      type const ints = i64s;
      x.push_back(c->result(c.insert(op::iota, {x[1]})));
      CHECK(c->type_of(x[3]) == ints);
      values operands;
      for (value_id const i : which) operands.push_back(x[index_of(i)]);
      return c.insert(op::reduce, operands, a);
    });
  };
  std::uint8_t const started = attributes::started;
  value_id const number{0}, integer{1}, array{2}, integers{3};
  CHECK(reduce({array}, {.operation = op::add}) == fails);
  CHECK(reduce({array, number}, {.operation = op::add, .flags = started}) == pure);
  CHECK(reduce({array, number}, {.operation = op::div, .flags = started}) == pure);
  CHECK(reduce({integers, integer}, {.operation = op::div, .flags = started}) == fails);
  CHECK(reduce({integers, integer}, {.operation = op::rem, .flags = started}) == fails);
}

TEST_CASE("the effects of an operation with regions are those of its regions") {
  auto const branch = [](op inner) {
    return of_operation([&](cursor& c, values x) {
      node_id const n = with_regions(c, op::if_, {c.literal(true)}, {}, {{}, {}});
      fill(c, c->region_at(n, 0), [](cursor&, values) { return values{}; });
      fill(c, c->region_at(n, 1), [&](cursor& in, values) {
        in.add(inner, x[1], x[1]);
        return values{};
      });
      return n;
    });
  };
  CHECK(branch(op::add) == pure);
  CHECK(branch(op::rem) == fails);
}

TEST_CASE("a loop that stacks arrays may fail, and one that stacks numbers does not") {
  auto const loop = [](std::uint32_t stacked, type result) {
    return of_operation([&](cursor& c, values x) {
      node_id const n = with_regions(c, op::loop, {x[1], x[0]}, {f64, result}, {{i64, f64}});
      fill(c, c->region_at(n, 0), [&](cursor&, values a) { return values{a[1], x[stacked]}; });
      return n;
    });
  };
  CHECK(loop(0, f64s) == pure);
  CHECK(loop(2, f64s.array_of()) == fails);
}

TEST_CASE("adding to an accumulator is an effect inside of its accumulate only, and its index may be out of "
          "range") {
  program p = histogram();
  function const& f = p[p.entry];
  effects const e(p);
  node_id all = nothing, map = nothing, add = nothing;
  walk(f, function::body, [&](node_id n) {
    if (f[n].code == op::accumulate) all = n;
    if (f[n].code == op::map) map = n;
    if (f[n].code == op::add_to) add = n;
  });
  CHECK(e.of(f, add) == (effect_set(effect::accumulates) | fails));
  CHECK(e.of(f, map) == (effect_set(effect::accumulates) | fails));
  CHECK(e.in_region(f, f.region_at(all, 0)).has(effect::accumulates));
  CHECK(e.of(f, all) == fails);
  CHECK(e.of(p.entry) == fails);
}

TEST_CASE("an inner accumulate does not hide additions to an outer one") {
  program p;
  node_id outer = nothing, inner = nothing;
  function_id const f = define(p, "f", {f64s}, {f64s}, [&](cursor& c, values x) {
    outer = with_regions(c, op::accumulate, {x[0]}, {f64s}, {{f64s.accumulator()}});
    fill(c, c->region_at(outer, 0), [&](cursor& in, values a) {
      inner = with_regions(in, op::accumulate, {x[0]}, {f64s}, {{f64s.accumulator()}});
      fill(in, in->region_at(inner, 0), [&](cursor& deep, values b) {
        deep.insert(op::add_to, {a[0], deep.literal(std::int64_t{0}), deep.literal(1.0)});
        deep.insert(op::add_to, {b[0], deep.literal(std::int64_t{0}), deep.literal(1.0)});
        return values{};
      });
      return values{};
    });
    return values{c->result(outer)};
  });
  effects const e(p);
  CHECK(e.of(p[f], inner).has(effect::accumulates));
  CHECK_FALSE(e.of(p[f], inner).can_drop());
  CHECK_FALSE(e.of(p[f], outer).has(effect::accumulates));
}

TEST_CASE("a call has the effects of its function, a host call its declared ones, and an application any") {
  program p;
  function_id const log = define(p, "log", {}, {}, [&](cursor& c, values) {
    c.insert(op::host, values{}, types{}, host(p, effect::ordered));
    return values{};
  });
  function_id const read = define(p, "read", {}, {}, [&](cursor& c, values) {
    c.insert(op::host, values{}, types{}, host(p, effect::reads_context));
    return values{};
  });
  function_id const both = define(p, "both", {}, {}, [&](cursor& c, values) {
    c.insert(op::call, {}, attributes::of(log));
    c.insert(op::call, {}, attributes::of(read));
    return values{};
  });
  effects const e(p);
  CHECK(e.of(log) == effect_set(effect::ordered));
  CHECK(e.of(read).can_drop());
  CHECK_FALSE(e.of(read).can_merge());
  CHECK(e.of(both) == (e.of(log) | e.of(read)));
  program const q = samples::outside();
  CHECK(effects(q).of(q.entry).has(effect::ordered));
  CHECK(effects(q).of(q.entry).has(effect::addressed));
}

TEST_CASE("recursive functions may fail; mutually recursive ones have common effects, which their callers "
          "have, too") {
  program p;
  for (auto const name : {"even", "odd", "self", "plain", "caller"}) (void)p.add(name, types{});
  auto const call = [&](std::uint32_t from, std::uint32_t to) {
    cursor(p, function_id{from}, function::body).insert(op::call, {}, attributes::of(function_id{to}));
  };
  call(0, 1);
  call(1, 0);
  call(2, 2);
  call(4, 3);
  call(4, 0);
  cursor(p, function_id{1}, function::body).insert(op::host, values{}, types{}, host(p, effect::ordered));
  for (std::uint32_t i = 0; i < 5; ++i) cursor(p, function_id{i}, function::body).yield({});
  effects const e(p);
  effect_set const both = fails | effect::ordered;
  CHECK(e.of(function_id{0}) == both);
  CHECK(e.of(function_id{1}) == both);
  CHECK(e.of(function_id{2}) == fails);
  CHECK(e.of(function_id{3}) == pure);
  CHECK(e.of(function_id{4}) == both);
  call_components const components(p);
  REQUIRE(components.size() == 4);
  CHECK(components[0].size() == 2);
  CHECK(components.is_recursive(function_id{2}));
  CHECK_FALSE(components.is_recursive(function_id{4}));
  CHECK(components.order().back() == function_id{4});
}

TEST_CASE("a chain of many functions, called in any order, takes no recursion and linear time") {
  program p;
  std::uint32_t const many = 100'000;
  for (std::uint32_t i = 0; i < many; ++i) (void)p.add("f" + std::to_string(i), types{});
  for (std::uint32_t i = 0; i < many; ++i) {
    cursor c(p, function_id{i}, function::body);
    if (i + 1 < many) c.insert(op::call, {}, attributes::of(function_id{i + 1}));
    c.yield({});
  }
  CHECK(effects(p).of(function_id{0}) == pure);
  cursor last(p, function_id{many - 1}, function::body);
  last.to_yield(function::body);
  last.insert(op::call, {}, attributes::of(function_id{0}));
  CHECK(effects(p).of(function_id{many / 2}) == fails);
}
