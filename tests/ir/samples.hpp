// Valid programs that together have every structural operation, for the tests of the IR.
#pragma once

#include <overdub/ir/cursor.hpp>

#include <initializer_list>
#include <string_view>
#include <vector>

namespace samples {

using namespace overdub::ir;
using types = std::vector<type>;
using values = std::vector<value_id>;

inline constexpr type f64s = f64.array_of();
inline constexpr type i64s = i64.array_of();

/// Adds a function, whose body `fill(cursor&, parameters...)` fills; returns the result of fill.
template <class Fill>
function_id
define(program& p, std::string_view name, types const& parameters, types const& results, Fill fill) {
  function_id const f = p.add(name, parameters);
  p[f].results = results;
  cursor c(p, f, function::body);
  values const given(c->parameters().begin(), c->parameters().end());
  c.yield(fill(c, given));
  return f;
}

/// Fills a region as `define` fills a body, then moves the cursor back.
template <class Fill>
void fill(cursor& c, region_id r, Fill fill) {
  cursor inner(c.owner(), c.id(), r);
  values const given(inner->arguments_of(r).begin(), inner->arguments_of(r).end());
  inner.yield(fill(inner, given));
}

/// An operation with regions that take these types.
inline node_id with_regions(
    cursor& c, op code, values const& operands, types const& results, std::vector<types> const& regions,
    attributes const& a = {}) {
  return c.insert(code, operands, results, a, regions);
}

/// square(x) = x * x; norm(x) = sqrt(sum of the squares); both called by `run`.
inline program norm() {
  program p;
  function_id const square = define(
      p, "square", {f64}, {f64}, [](cursor& c, values x) { return values{c.add(op::mul, x[0], x[0])}; });
  function_id const norm = define(p, "norm", {f64s}, {f64}, [&](cursor& c, values x) {
    value_id const n = c.add(op::length, x[0]);
    node_id const map = with_regions(c, op::map, {n}, {f64s}, {{i64}});
    fill(c, c->region_at(map, 0), [&](cursor& in, values i) {
      value_id const element = in.add(op::at, x[0], i[0]);
      return values{in->result(in.insert(op::call, {element}, attributes::of(square)))};
    });
    node_id const sum = c.insert(op::reduce, {c->result(map)}, attributes::of(op::add));
    return values{c.add(op::sqrt, c->result(sum))};
  });
  p.entry = define(p, "run", {f64s, boolean}, {f64}, [&](cursor& c, values x) {
    node_id const branch = with_regions(c, op::if_, {x[1]}, {f64}, {{}, {}});
    fill(c, c->region_at(branch, 0), [&](cursor& in, values) {
      return values{in->result(in.insert(op::call, {x[0]}, attributes::of(norm)))};
    });
    fill(c, c->region_at(branch, 1), [&](cursor& in, values) { return values{in.literal(0.0)}; });
    return values{c.add(op::add, c->result(branch), c.literal(1.0))};
  });
  return p;
}

/// Loops of both kinds with loop-carried and stacked values, and reductions with and without a region.
inline program loops() {
  program p;
  p.entry = define(p, "loops", {i64, f64, f64s}, {f64, f64s, i64, i64s, f64, f64}, [](cursor& c, values x) {
    node_id const loop =
        with_regions(c, op::loop, {x[0], x[1]}, {f64, f64s}, {{i64, f64}}, {.flags = attributes::reversed});
    fill(c, c->region_at(loop, 0), [&](cursor& in, values a) {
      value_id const step = in.add(op::mul, a[1], in.convert(a[0], f64));
      return values{in.add(op::add, step, x[1]), step};
    });
    node_id const search =
        with_regions(c, op::while_, {c.literal(std::int64_t{1})}, {i64, i64s}, {{i64}, {i64}});
    fill(
        c, c->region_at(search, 0), [&](cursor& in, values a) { return values{in.add(op::lt, a[0], x[0])}; });
    fill(c, c->region_at(search, 1), [&](cursor& in, values a) {
      return values{in.add(op::add, a[0], a[0]), a[0]};
    });
    node_id const largest =
        c.insert(op::reduce, {x[2], x[1]}, {.operation = op::max, .flags = attributes::started});
    node_id const combined = with_regions(c, op::reduce, {x[2]}, {f64}, {{f64, f64}});
    fill(c, c->region_at(combined, 0), [&](cursor& in, values a) {
      return values{in.add(op::hypot, a[0], a[1])};
    });
    return values{c->result(loop, 0),   c->result(loop, 1), c->result(search, 0),
                  c->result(search, 1), c->result(largest), c->result(combined)};
  });
  return p;
}

/// A histogram: accumulators, added to in a map.
inline program histogram() {
  program p;
  p.entry = define(p, "histogram", {f64s, i64s}, {f64s, i64}, [](cursor& c, values x) {
    node_id const all = with_regions(c, op::accumulate, {x[0]}, {f64s, i64}, {{f64s.accumulator()}});
    fill(c, c->region_at(all, 0), [&](cursor& in, values acc) {
      value_id const n = in.add(op::length, x[1]);
      node_id const map = with_regions(in, op::map, {n}, {}, {{i64}});
      fill(in, in->region_at(map, 0), [&](cursor& each, values i) {
        value_id const bin = each.add(op::at, x[1], i[0]);
        each.insert(op::add_to, {acc[0], bin, each.literal(1.0)});
        return values{};
      });
      return values{n};
    });
    return values{c->result(all, 0), c->result(all, 1)};
  });
  return p;
}

/// Function values, the host, random choices, assertions, protection, opaque objects.
inline program outside() {
  program p;
  type const handle = p.opaque_type("file");
  type const unary = p.function_type({.parameters = {f64}, .results = {f64}});
  symbol const print = p.intern("print");
  function_id const scale = define(
      p, "scale", {f64, f64}, {f64}, [](cursor& c, values x) { return values{c.add(op::mul, x[0], x[1])}; });
  p.entry = define(p, "effects", {f64, handle, i64, key}, {f64, f32}, [&](cursor& c, values x) {
    attributes const printing{.subject = index_of(print), .effects = overdub::effect::ordered};
    c.insert(op::assert_, {c.add(op::gt, x[0], c.literal(0.0))}, attributes::of(p.intern("x is positive")));
    node_id const guarded = with_regions(c, op::protect, {}, {f64}, {{}, {}});
    fill(c, c->region_at(guarded, 0), [&](cursor& in, values) {
      attributes const normal{
          .subject = index_of(p.intern("height")), .detail = p.intern("normal"), .count = 1};
      value_id const operands[] = {x[2], x[0], in.literal(1.0)};
      type const results[] = {f64};
      return values{in->result(in.insert(op::sample, operands, results, normal))};
    });
    fill(c, c->region_at(guarded, 1), [&](cursor& in, values) {
      value_id const operands[] = {x[1], x[0]};
      in.insert(op::host, operands, types{}, printing);
      return values{};
    });
    value_id const captures[] = {x[0]};
    type const results[] = {unary};
    value_id const f = c->result(c.insert(op::closure, captures, results, attributes::of(scale)));
    node_id const y = c.insert(op::apply, {f, c->result(guarded)});
    return values{c->result(y), c.literal(1.5f)};
  });
  return p;
}

/// Arrays of all kinds.
inline program arrays() {
  program p;
  p.entry =
      define(p, "arrays", {f64s.array_of(), i64s, i64}, {f64s, f64s.array_of()}, [](cursor& c, values x) {
        value_id const row = c.add(op::at, x[0], x[2]);
        value_id const part = c.add(op::slice, row, c.literal(std::int64_t{0}), x[2]);
        value_id const zeros = c.add(op::fill, x[2], c.literal(0.0));
        value_id const long_row = c.add(op::concat, part, zeros, c.add(op::array, c.literal(2.0)));
        value_id const taken = c.add(op::gather, long_row, c.add(op::concat, x[1], c.add(op::iota, x[2])));
        value_id const changed = c.add(op::update, c.add(op::copy, x[0]), x[2], taken);
        value_id const number = c.add(op::update, changed, x[2], x[2], c.literal(4.0));
        value_id const chosen = c.add(op::select, c.literal(true), taken, row);
        return values{chosen, number};
      });
  return p;
}

inline std::vector<program> all() { return {norm(), loops(), histogram(), outside(), arrays()}; }

} // namespace samples
