// An update program while it is written, and the operations of which the parts of the writer compose it.
#pragma once

#include <overdub/implementation/incremental/change.hpp>
#include <overdub/implementation/ir/shapes.hpp>
#include <overdub/implementation/ir/value_map.hpp>
#include <overdub/implementation/ir/zero_value.hpp>
#include <overdub/incremental/update_program.hpp>
#include <overdub/ir/builder.hpp>
#include <overdub/ir/cursor.hpp>
#include <overdub/ir/effects.hpp>
#include <overdub/ir/enclosing.hpp>
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

/// An iteration of a map or a loop whose body is being emitted.
struct iteration {
  region_id region;
  value_id index;              // of the update program
  value_id list = ir::nothing; // of iterations, of which `index` is an element
  value_id position = ir::nothing;
  node_id repeated_by = ir::nothing;  // the emitted map or loop, if the body is executed repeatedly
  value_id lower_index = ir::nothing; // an index that is less than `index`
};

/// The update program that is written, and the place where code is emitted. It knows nothing of how values change.
struct update_code {
  struct parameter {
    update_parameter what;
    value_id value; // free in the draft
  };
  struct pending_store { // of a saved value
    std::uint32_t variable;
    std::vector<value_id> path;
    value_id value;
    value_id valid = ir::nothing;
    store::action does = store::action::put;
  };

  // of literals in indices, so that their sums do not overflow
  static constexpr std::int64_t maximum_shift = 1 << 20;

  /// The function belongs to the program; `of_function` are its invariant shapes. `all_saved` is extended by the values that the update
  /// program reads.
  update_code(ir::program const& p, function_id of, layout& all_saved, ir::shapes const& of_function)
      : source(of), draft([&] {
          made.program = p;
          return made.program.add("draft", {});
        }()),
        saved(all_saved), shapes(of_function), cursor(made.program, draft, function::body) {}
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
  value_id parameter_for(update_parameter const& key, ir::type t);
  value_id read(std::uint32_t variable, std::vector<value_id> const& path);
  // ---- enclosing iterations
  std::optional<std::uint32_t> enclosing_depth(value_id v) const;
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
  layout& saved;
  ir::shapes const& shapes;
  ir::cursor cursor;
  std::vector<parameter> parameters;
  std::vector<iteration> iterations; // those that enclose the code
  std::vector<pending_store> stores;
  bool is_new_iteration = false; // the code is of an appended iteration, which has no saved values
};

/// The number of maps and loops that enclose a value. Nothing where values cannot be saved: in a `while`, in a reduction, or in a branch
/// in an iteration.
inline std::optional<std::uint32_t> update_code::enclosing_depth(value_id v) const {
  function const& f = original();
  std::uint32_t depth = 0;
  for (auto const around : ir::enclosing_regions(f, f.region_of(v))) {
    if (selects_region(f[around.owner].code) && is_outside_loops(f, around.region)) return depth;
    if (!is_counted(f[around.owner].code)) return {};
    ++depth;
  }
  return depth;
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

inline value_id update_code::parameter_for(update_parameter const& key, ir::type t) {
  for (update_code::parameter const& p : parameters)
    if (p.what == key) return p.value;
  parameters.push_back({key, cursor.free_value(t)});
  return parameters.back().value;
}

inline value_id update_code::read(std::uint32_t number, std::vector<value_id> const& path) {
  value_id const array = parameter_for({.variable = number}, saved[number].type);
  return path.empty() ? array : at(array, path);
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

/// The difference of two indices, if both are one value plus literals.
inline std::optional<std::int64_t> update_code::offset(value_id from, value_id to) const {
  auto const parts_of = [&](value_id v) {
    std::int64_t more = 0;
    while (!written().is_literal(v) && written().is_result(v)) {
      node_id const n = written().node_of(v);
      op const code = written()[n].code;
      if ((code != op::add && code != op::sub) || !written().is_literal(written().operand(n, 1)) ||
          type_of(v) != ir::i64)
        break;
      auto const by = static_cast<std::int64_t>(written().bits_of(written().operand(n, 1)));
      if (by < -maximum_shift || by > maximum_shift) break;
      more += code == op::add ? by : -by;
      v = written().operand(n, 0);
    }
    return std::pair(v, more);
  };
  auto const [a, shift_a] = parts_of(from);
  auto const [b, shift_b] = parts_of(to);
  if (a == b) return shift_b - shift_a;
  if (!written().is_literal(a) || !written().is_literal(b)) return {};
  return static_cast<std::int64_t>(written().bits_of(b) - written().bits_of(a)) + shift_b - shift_a;
}

/// Whether two indices are certain to differ: by a literal, or since one is of a later iteration.
inline bool update_code::are_distinct(value_id a, value_id b) const {
  if (offset(a, b).value_or(0) != 0) return true;
  return std::any_of(iterations.begin(), iterations.end(), [&](iteration const& t) {
    if (t.lower_index == ir::nothing) return false;
    auto const before = offset(a, t.lower_index), after = offset(t.index, b);
    return before && after && *before + *after >= 0;
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
