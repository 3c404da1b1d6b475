// An update program while it is written, and the operations of which the parts of the writer compose it.
#pragma once

#include <overdub/implementation/incremental/change.hpp>
#include <overdub/implementation/incremental/saves.hpp>
#include <overdub/implementation/incremental/update_arguments.hpp>
#include <overdub/implementation/ir/affine.hpp>
#include <overdub/implementation/ir/shapes.hpp>
#include <overdub/implementation/ir/value_map.hpp>
#include <overdub/implementation/ir/zero_value.hpp>
#include <overdub/incremental/update_program.hpp>
#include <overdub/ir/builder.hpp>
#include <overdub/ir/cursor.hpp>
#include <overdub/ir/effects.hpp>
#include <overdub/ir/walk.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace overdub::increments {

using ir::function_id;

using values = ir::builder::values;

/// Values of the function, and the values of the update program that replace them.
using value_map = ir::value_map<value_id>;

/// Whether an operation has regions that may be updated incrementally.
inline bool has_loops(function const& f, node_id n) {
  bool found = false;
  for (region_id const r : f.regions_of(n))
    ir::walk(f, r, [&](node_id m) { found = found || repeats_regions(f[m].code); });
  return found;
}

/// Whether hooks observe calls in the regions of an operation.
inline bool is_observed_by_hooks(function const& f, node_id n) {
  bool any = false;
  for (region_id const r : f.regions_of(n))
    ir::walk(f, r, [&](node_id m) { any = any || ir::is_observer(f, m); });
  return any;
}

/// Whether a sum adds the elements of an array of numbers.
inline bool is_summed(function const& f, value_id v) {
  for (ir::use_id const u : f.uses_of(v)) {
    node_id const n = f[u].user;
    if (f[n].code == op::reduce && f[n].attributes.operation == op::add && f[n].operand_count == 2 &&
        f.type_of(v).rank == 1 && f.type_of(v).element_type().is_number())
      return true;
  }
  return false;
}

/// Whether a value is a sum of floating-point numbers, of which a compensation may be saved.
inline bool is_floating_sum(function const& f, value_id v) {
  if (!f.is_result(v)) return false;
  function::node const& n = f[f.node_of(v)];
  return n.code == op::reduce && n.attributes.operation == op::add && f.type_of(v).rank == 0 &&
         f.type_of(v).is_floating();
}

/// An iteration of a map or a loop whose body is being emitted.
struct iteration {
  region_id region;
  value_id index;              // of the update program
  value_id list = ir::nothing; // of iterations, of which `index` is an element
  value_id position = ir::nothing;
  node_id repeated_by = ir::nothing;  // the emitted map or loop, if the body is executed repeatedly
  value_id lower_index = ir::nothing; // an index that is less than `index`
};

/// A value of the function that the update program computes. If the value is saved, a commit writes it.
struct computed_value {
  value_id of;                     // of the function
  value_id value;                  // of the draft
  std::vector<value_id> path = {}; // the indices of the iterations, and of the elements
  value_id valid = ir::nothing;    // the condition that it is computed; nothing, if it always is
  store::action does = store::action::put;
  variable::role what = variable::role::saved; // or the tree of a reduction
  region_id region = ir::nothing;              // of the draft, where all of these are known
};

/// The update program that is written, and the place where code is emitted. It knows nothing of how values change.
struct update_code {
  // The old value of a sum, with and without a compensation.
  struct old_sum {
    value_id of, alone, compensated;
  };

  // of literals that are added to indices and trip counts, so that the sums do not overflow
  static constexpr std::int64_t maximum_shift = 1 << 20;

  /// The function belongs to the program; `of_function` are its invariant shapes. `all_saved` is extended by the values that the update
  /// program reads.
  update_code(ir::program const& p, function_id of, layout& all_saved, ir::shapes const& of_function)
      : source(of), draft([&] {
          made.program = p;
          return made.program.add("draft", {});
        }()),
        saved(p[of], all_saved), shapes(of_function), cursor(made.program, draft, function::body) {}
  update_code(update_code const&) = delete;
  update_code& operator=(update_code const&) = delete;

  function const& original() const { return made.program[source]; }
  function const& written() const { return made.program[draft]; }
  ir::region_flow flow_of(node_id n) const { return {original(), n}; }
  /// The type of a value of the draft.
  ir::type type_of(value_id v) const { return written().type_of(v); }
  ir::builder build() { return ir::builder(cursor); }
  /// The emitted operation in whose region code is emitted.
  node_id enclosing() const { return written()[cursor.region()].parent; }
  template <class... V>
  value_id add(op code, V... operands) {
    return cursor.add(code, operands...);
  }
  value_id literal(ir::type t, std::uint64_t bits) { return cursor.literal(t, bits); }
  value_id at(value_id array, value_id index) { return add(op::at, array, index); }
  value_id at(value_id array, std::vector<value_id> const& path);
  void note(node_id n, step::extent ran, std::string_view why = {}) {
    made.steps.push_back({n, ran, std::string(why)});
  }
  // ---- parameters
  value_id parameter_for(update_parameter const& key, ir::type t) {
    return arguments.value_of({key}, t, cursor);
  }
  value_id read(std::uint32_t variable, std::vector<value_id> const& path);
  value_id read_compensation(value_id v, std::vector<value_id> const& path);
  value_id read_sum(value_id v, std::vector<value_id> const& path);
  // ---- what a commit may write
  void record(computed_value c);
  // ---- enclosing iterations
  void enter(iteration const& t);
  void leave() { iterations.pop_back(); }
  std::vector<value_id> path(std::uint32_t depth) const;
  std::vector<value_id> path_to(value_id last) const;
  bool is_in_loop() const;
  // ---- indices and conditions
  value_id equals(value_id a, value_id b);
  std::optional<std::int64_t> offset(value_id a, value_id b) const;
  bool are_distinct(value_id a, value_id b) const;
  value_id both(value_id a, value_id b);
  value_id selected(value_id condition, value_id yes, value_id no);
  value_id indices_from(value_id first, value_id count);
  value_id differs(value_id now, value_id before);
  value_id arrays_differ(value_id now, value_id before);

  update_program made;
  function_id source, draft; // the draft's parameters are free values until all are known
  saves saved;
  ir::shapes const& shapes;
  ir::cursor cursor;
  update_arguments arguments;
  std::vector<old_sum> old_sums;
  std::vector<iteration> iterations; // those that enclose the code
  value_map lists;                   // of iterations, by the index of an iteration
  std::vector<computed_value> computed;
  bool is_new_iteration = false; // the code is of an appended iteration, which has no saved values
};

/// Code is emitted in the body of an iteration from now on.
inline void update_code::enter(iteration const& t) {
  if (t.list != ir::nothing) lists.insert_or_assign(t.index, t.list);
  iterations.push_back(t);
}

inline std::vector<value_id> update_code::path(std::uint32_t depth) const {
  std::vector<value_id> all;
  for (std::uint32_t k = 0; k < depth; ++k) all.push_back(iterations[k].index);
  return all;
}

/// The indices of the enclosing iterations, and one more.
inline std::vector<value_id> update_code::path_to(value_id last) const {
  std::vector<value_id> all = path(static_cast<std::uint32_t>(iterations.size()));
  all.push_back(last);
  return all;
}

inline value_id update_code::read(std::uint32_t number, std::vector<value_id> const& path) {
  value_id const array = parameter_for({.variable = number}, saved[number].type);
  return path.empty() ? array : at(array, path);
}

/// The compensation of a saved sum, which is an argument only if it is saved, too.
inline value_id update_code::read_compensation(value_id v, std::vector<value_id> const& path) {
  value_id const array =
      arguments.value_of({.what = {}, .compensation_of = v}, saved[saved.value(v)].type, cursor);
  return path.empty() ? array : at(array, path);
}

/// The old value of a saved sum: with its compensation, if that is saved in the end.
inline value_id update_code::read_sum(value_id v, std::vector<value_id> const& path) {
  value_id const alone = read(saved.value(v), path);
  value_id const compensated = add(op::add, alone, read_compensation(v, path));
  old_sums.push_back({v, alone, compensated});
  return compensated;
}

/// Records that a value of the function is computed, or elements of it at the indices `c.path`, in the iterations that enclose the code.
inline void update_code::record(computed_value c) {
  auto const depth = enclosing_depth(original(), c.of);
  if (!depth) return; // it cannot be saved
  if (c.region == ir::nothing) c.region = cursor.region();
  auto const outer = path(std::min(*depth, static_cast<std::uint32_t>(iterations.size())));
  c.path.insert(c.path.begin(), outer.begin(), outer.end());
  computed.push_back(std::move(c));
}

inline value_id update_code::at(value_id array, std::vector<value_id> const& path) {
  std::vector<value_id> operands{array};
  operands.insert(operands.end(), path.begin(), path.end());
  ir::type result = type_of(array);
  for (std::size_t k = 0; k < path.size(); ++k) result = result.element_type();
  return written().result(cursor.insert(op::at, operands, std::array{result}));
}

inline value_id update_code::equals(value_id a, value_id b) {
  return a == b ? value_id(ir::nothing) : add(op::eq, a, b);
}

/// The difference of two indices, modulo 2^64, if both are one value plus literals.
inline std::optional<std::int64_t> update_code::offset(value_id from, value_id to) const {
  ir::invariant_number const a = plus_literal(written(), from), b = plus_literal(written(), to);
  if (a.value != b.value) return {};
  return static_cast<std::int64_t>(
      static_cast<std::uint64_t>(b.literal) - static_cast<std::uint64_t>(a.literal));
}

/// Whether two indices are certain to differ: by a literal, or since one is of a later iteration.
inline bool update_code::are_distinct(value_id a, value_id b) const {
  if (offset(a, b).value_or(0) != 0) return true;
  // The later index is greater by 1 to 2^63 - 1: with two differences up to this limit, the sum is not 0 modulo 2^64.
  constexpr std::int64_t limit = std::int64_t{1} << 62;
  auto const is_in_limits = [&](std::int64_t x) { return x >= -limit && x <= limit; };
  return std::any_of(iterations.begin(), iterations.end(), [&](iteration const& t) {
    if (t.lower_index == ir::nothing) return false;
    auto const before = offset(a, t.lower_index), after = offset(t.index, b);
    return before && after && is_in_limits(*before) && is_in_limits(*after) && *before + *after >= 0;
  });
}

/// The conjunction of two conditions, where nothing stands for true.
inline value_id update_code::both(value_id a, value_id b) {
  if (a == ir::nothing) return b;
  return b == ir::nothing ? a : add(op::logical_and, a, b);
}

/// `count` consecutive indices.
inline value_id update_code::indices_from(value_id first, value_id count) {
  return build().map(count, [&](value_id k) { return add(op::add, first, k); });
}

inline value_id update_code::selected(value_id condition, value_id yes, value_id no) {
  if (yes == no) return yes;
  if (type_of(yes).rank == 0) return add(op::select, condition, yes, no);
  return build().if_(condition, {yes}, {no});
}

/// Whether two values differ in their bits; a NaN differs from everything. Arrays differ if their lengths or any elements do.
inline value_id update_code::differs(value_id now, value_id before) {
  if (type_of(now).rank > 0) return arrays_differ(now, before);
  value_id const other = add(op::ne, now, before);
  if (!type_of(now).is_floating()) return other;
  // Operands are added one by one: the order of arguments' evaluation depends on the compiler, and programs do not.
  value_id const sign_before = add(op::signbit, before);
  value_id const sign = add(op::ne, add(op::signbit, now), sign_before);
  return add(op::logical_or, other, sign);
}

inline value_id update_code::arrays_differ(value_id now, value_id before) {
  value_id const length = add(op::length, now);
  value_id const is_as_long = add(op::eq, length, add(op::length, before));
  auto const is_equal = [&](values const& k) {
    return build().if_(
        add(op::lt, k[0], length),
        [&] {
          value_id const y = at(before, k[0]), x = at(now, k[0]);
          return add(op::logical_not, differs(x, y));
        },
        [&] { return literal(ir::boolean, 0); });
  };
  auto const next = [&](values const& k) { return add(op::add, k[0], literal(ir::i64, 1)); };
  auto const ends_early = [&] {
    value_id const end = build().while_({literal(ir::i64, 0)}, is_equal, next);
    return add(op::lt, end, length);
  };
  return build().if_(is_as_long, ends_early, [&] { return literal(ir::boolean, 1); });
}

/// Whether the enclosing iteration is one of a loop, of which nothing but loop-carried values is saved.
inline bool update_code::is_in_loop() const {
  return !iterations.empty() && is_counted_loop(original()[original()[iterations.back().region].parent].code);
}

} // namespace overdub::increments
