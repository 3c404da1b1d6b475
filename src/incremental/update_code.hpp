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

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace overdub::increments {

using ir::function_id;

using values = ir::builder::values;

/// Values of the function, and the values of the update program that replace them.
using value_map = ir::value_map<value_id>;

/// Whether an operation has regions that may be updated incrementally.
bool has_loops(function const& f, node_id n);

/// Whether hooks observe calls in the regions of an operation.
bool is_observed_by_hooks(function const& f, node_id n);

/// Whether a sum adds the elements of an array of numbers.
bool is_summed(function const& f, value_id v);

/// Whether a value is a sum of floating-point numbers, of which a compensation may be saved.
bool is_floating_sum(function const& f, value_id v);

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

inline value_id update_code::read(std::uint32_t number, std::vector<value_id> const& path) {
  value_id const array = parameter_for({.variable = number}, saved[number].type);
  return path.empty() ? array : at(array, path);
}

inline value_id update_code::equals(value_id a, value_id b) {
  return a == b ? value_id(ir::nothing) : add(op::eq, a, b);
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

/// Whether the enclosing iteration is one of a loop, of which nothing but loop-carried values is saved.
inline bool update_code::is_in_loop() const {
  return !iterations.empty() && is_counted_loop(original()[original()[iterations.back().region].parent].code);
}

} // namespace overdub::increments
