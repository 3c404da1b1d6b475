// Writes an update program. The writer visits a function's operations in order and emits code that recomputes those that a change
// affects. Unaffected values are read where an affected operation uses them: from memory, or recomputed from saved values.
#pragma once

#include <overdub/incremental/gather.hpp>
#include <overdub/incremental/invariant_shapes.hpp>
#include <overdub/incremental/update_program.hpp>
#include <overdub/ir/bounds.hpp>
#include <overdub/ir/builder.hpp>
#include <overdub/ir/cursor.hpp>
#include <overdub/ir/effects.hpp>
#include <overdub/ir/value_map.hpp>
#include <overdub/ir/walk.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace overdub::increments {

using ir::function;
using ir::function_id;
using ir::node_id;
using ir::op;
using ir::region_id;
using ir::value_id;

using values = ir::builder::values;

/// Values of the function, and the values of the update program that replace them.
using value_map = ir::value_map<value_id>;

struct change;

/// Changed elements of an array: one, at `index`, or those at the indices in `list`. Deltas of one array may overlap; their elements are
/// then equal.
struct delta {
  value_id index = ir::nothing;
  value_id list = ir::nothing;
  value_id valid = ir::nothing;   // the condition that the element changed; nothing, if it is certain
  value_id element = ir::nothing; // the new value; an array, for a list
  // by how much it changes a sum of the array; 0 where `valid` does not hold, or where an earlier delta has the same element
  value_id difference = ir::nothing;
  // the change of an element that is an array, where only elements of it changed
  change const* nested = nullptr;
  // Deltas of one source have different indices if their ordinals differ and their shifts are equal, or if their ordinals are equal and
  // their shifts differ.
  std::uint32_t source = 0, ordinal = 0;
  std::int64_t shift = 0;
  bool is_sorted = false; // `list` is the source's ascending list, or a consecutive part of it, shifted
  value_id skipped = ir::nothing; // how many of the source's first elements are not in `list`
  // `list` has the iterations whose saved index, the variable `keys`, equals `key`, or one of the source's list. A reverse index finds
  // them.
  std::uint32_t keys = layout::none;
  value_id key = ir::nothing;
  // Or the indices from `first` to `end`.
  value_id first = ir::nothing, end = ir::nothing;
  bool is_appended = false; // the elements were appended
};

/// How a value changed: as a whole, or at elements.
struct change {
  bool whole = false;
  value_id new_value = ir::nothing;
  value_id difference = ir::nothing; // of a sum: its difference, where it is known
  std::vector<delta> deltas;
  // Of a trip count: the indices of appended iterations. `minimum` is a lower bound of its old value.
  std::vector<value_id> appended_indices;
  std::int64_t minimum = 0;
  // Or a list of appended iterations, whose indices are consecutive.
  value_id appended_list = ir::nothing, first_appended = ir::nothing, appended_count = ir::nothing;
  bool has_appended() const { return !appended_indices.empty() || appended_list != ir::nothing; }
  // the input, to whose memory the new elements were appended already
  std::uint32_t appended_input = layout::none;
  std::uint32_t listed_input = layout::none; // the input of which a list of elements changed
};

/// Whether a value is defined in a region or in one that is nested in it. O(depth of nesting).
inline bool is_inside(function const& f, value_id v, region_id r) {
  if (f.is_literal(v)) return false;
  for (region_id at = f.region_of(v); at != r;) {
    node_id const owner = f[at].parent;
    if (owner == ir::nothing) return false;
    at = f[owner].parent;
  }
  return true;
}

/// The writer of one update program. Guards and saved values are described in update_program.hpp.
class update_writer {
public:
  /// The function belongs to the program; `shapes` are its invariant shapes. `all` is extended by the values that the update program reads.
  update_writer(ir::program const& p, function_id f, layout& all, invariant_shapes const& shapes);

  void write(change_signature const& changes, disabled_guards const& d);
  /// Recomputes everything, to compute the saved values.
  void write_full_update();

  /// Whether a value was saved after the operation that computes it was visited: the update program must be written again, with that
  /// value saved.
  bool must_restart() const { return must_restart_; }
  update_program finish() &&;

private:
  struct iteration { // of a map or a loop whose body is being emitted
    region_id region;
    value_id index;              // of the update program
    value_id list = ir::nothing; // of iterations, of which `index` is an element
    value_id position = ir::nothing;
    node_id repeated_by = ir::nothing;  // the emitted map or loop, if the body is executed repeatedly
    value_id lower_index = ir::nothing; // an index that is less than `index`
  };
  struct parameter {
    update_parameter what;
    value_id value;
  };
  struct pending_store {
    std::uint32_t variable;
    std::vector<value_id> path;
    value_id value;
    value_id valid = ir::nothing;
    store::action does = store::action::put;
  };
  // A guard, and its condition. The code after it is nested in `branch`; guards without one are hoisted and share the entry guard.
  struct emitted_guard {
    guard what;
    value_id condition;
    node_id branch = ir::nothing;
  };
  // The new value of a saved value in an operation that is recomputed in full, and the condition that it exists.
  struct saved_value {
    value_id of, new_value;
    value_id valid = ir::nothing;
  };
  // An affected iteration, or a list of these.
  struct affected {
    delta from;
    value_id known_index = ir::nothing;           // of the function: an index that is known in the iteration,
    value_id known_as = ir::nothing;              // and its value in the update program
    bool may_precede = false, may_exceed = false; // the index may be out of the range of iterations
    value_id source_list = ir::nothing;           // the list of changed elements,
    std::int64_t step = 0;    // and the difference of the index they are read at and the iteration's
    bool is_gathered = false; // rows that read changed elements in a nested map
    bool is_checked() const { return may_precede || may_exceed; }
  };

  static constexpr std::size_t maximum_guards = 62;     // each has a bit
  static constexpr std::size_t maximum_duplicated = 64; // operations of an iteration that is peeled off
  static constexpr std::size_t maximum_hoisted = 16;    // operations of a condition
  // of literals in indices, so that their sums do not overflow
  static constexpr std::int64_t maximum_shift = 1 << 20;

  function const& original() const { return made_.program[f_]; }
  function const& written() const { return made_.program[draft_]; }
  ir::region_flow flow_of(node_id n) const { return {original(), n}; }
  ir::type type_of(value_id v) const { return written().type_of(v); }
  ir::builder build() { return ir::builder(at_); }
  // The emitted operation in whose region code is emitted.
  node_id enclosing() const { return written()[at_.region()].parent; }

  // ---- update_writer_values.hpp: old and new values
  change const* change_of(value_id v) const {
    std::uint32_t const number = changes_[index_of(v)];
    return number == 0 ? nullptr : &pool_[number - 1];
  }
  change& set_change(value_id v);
  void set_whole(value_id v, value_id now);
  std::size_t checkpoint() const { return undo_.size(); }
  void restore(std::size_t checkpoint);
  value_id old_value(value_id v);
  void erase_hooks(node_id made);
  bool is_observed_by_hooks(node_id n) const;
  value_id new_value(value_id v);
  value_id whole(value_id array, change const& c);
  node_id repeating_operation(value_id v) const;
  value_id replaced(value_id array, delta const& p);
  value_id read(std::uint32_t variable, std::vector<value_id> const& path);
  value_id parameter_for(update_parameter const& key, ir::type t);
  std::uint32_t save(value_id v);
  std::uint32_t compensation(value_id v);
  std::optional<std::uint32_t> enclosing_depth(value_id v) const;
  std::vector<value_id> path(std::uint32_t depth) const;
  std::vector<value_id> path_to(value_id last) const;
  void store_value(
      value_id v, value_id s, std::vector<value_id> const& further = {}, value_id valid = ir::nothing);
  bool is_rematerialised(node_id n) const;
  value_id literal(ir::type t, std::uint64_t bits) { return at_.literal(t, bits); }

  // ---- update_writer_lists.hpp: lists of changed elements
  struct list_position {
    value_id is_there, position;
  };
  value_id count_below(value_id list, value_id number);
  value_id indices_from(value_id first, value_id count);
  static bool is_searchable(delta const& p);
  list_position find_in(delta const& p, value_id index);
  list_position find_in_source(std::uint32_t input, std::int64_t shift, value_id index);
  delta shifted(delta p, std::int64_t step, value_id count);
  std::pair<value_id, value_id> bounds_of_list(delta const& p, value_id count);

  // ---- update_writer_guards.hpp: speculation
  void begin_speculation();
  bool may_speculate_on(guard const& a) const;
  bool is_outermost() const;
  bool speculate_on(guard const& a, value_id holds);
  value_id hoisted_condition(value_id v);
  bool can_be_hoisted(value_id v, std::vector<node_id>& moved) const;
  struct overlap {
    bool is_certain = false;
    value_id condition = ir::nothing; // if it is not certain: the condition, or nothing if it is impossible
  };
  overlap overlap_of(node_id n, std::uint32_t axis, std::uint32_t end, change const& c, value_id where);
  bool speculates_apart(node_id n, change const& c, std::uint32_t end);
  void end_speculation(std::vector<value_id> const& results);
  bool may_be_unchanged(node_id n) const;
  bool has_costly_uses(value_id v);
  bool set_or_guard_unchanged(node_id n, value_id v, value_id now);

  // ---- update_writer_elements.hpp: reads of elements
  void visit_at(node_id n);
  void select_row(node_id n, change const& c);
  void select_element(
      change const& c, std::vector<value_id> const& indices, std::size_t k, value_id where, value_id& found);
  bool has_old_indices(node_id n) const;
  static bool has_appended_elements(change const& c);
  static bool has_conditional(change const& c);
  static bool has_unsearchable_list(change const& c);
  static bool has_only_lists(change const& c);
  value_id equals(value_id a, value_id b);
  std::optional<std::int64_t> offset(value_id a, value_id b) const;
  bool are_distinct(value_id a, value_id b) const;
  value_id both(value_id a, value_id b);

  // ---- update_writer_operations.hpp: dispatch, and operations that are recomputed in full
  void visit(region_id r);
  void visit(node_id n);
  void visit_length(node_id n);
  bool add_list_to_length(node_id n);
  void add_appended(node_id n);
  void add_difference(node_id n);
  void recompute(node_id n, std::string_view why = {});
  bool is_affected(node_id n);
  std::vector<value_id> const& captured(node_id n);
  std::vector<value_id> emit_recomputation(node_id n);
  node_id copy(node_id n, value_map& here, std::vector<saved_value>& saved_inside);
  node_id copy_branch(node_id n, value_map& here, std::vector<saved_value>& saved_inside);
  void copy_region(region_id r, value_map& here, std::vector<saved_value>& inside);
  value_id mapped(value_map const& here, value_id v);
  bool saves_inside(node_id n);
  value_map values_of(node_id n);
  value_map captured_values(node_id n);
  value_id at(value_id array, value_id index) { return at_.add(op::at, array, index); }
  value_id at(value_id array, std::vector<value_id> const& path);
  bool is_in_loop() const;
  void note(node_id n, step::extent ran, std::string_view why = {}) {
    made_.steps.push_back({n, ran, std::string(why)});
  }

  // ---- update_writer_reductions.hpp: sums and segment trees
  struct tree_path { // from a leaf to the root: positions, and the values of each array, by level
    value_id index = ir::nothing, positions = ir::nothing;
    std::vector<value_id> leaves, values, root;
  };
  void visit_reduction(node_id n);
  void visit_sum(node_id n);
  std::string_view why_recompute_reduction(node_id n);
  void update_path(node_id n);
  tree_path emit_path(
      node_id n, std::size_t delta_index, value_id size, std::vector<value_id> const& trees,
      std::vector<tree_path> const& earlier, value_map const& outer_values);
  std::vector<value_id> combined_with_initial_values(
      node_id n, value_id size, std::vector<value_id> const& root, value_map const& outer_values);
  std::vector<value_id> combine(
      node_id n, std::vector<value_id> const& left, std::vector<value_id> const& right,
      value_map const& outer_values);
  void store_saved_trees(node_id n);
  std::uint32_t saved_tree(value_id v);

  // ---- update_writer_affected.hpp: affected iterations
  // Reads at an index that is the same in all iterations.
  struct common_read {
    node_id at;
    change const* of;
  };
  std::string_view find_affected(node_id n, std::vector<affected>& all, std::vector<common_read>& common);
  std::string_view guard_common_reads(std::vector<common_read> const& all);
  std::string_view add_affected(node_id n, value_id index, change const& c, std::vector<affected>& all);
  std::optional<std::int64_t> shift_from(value_id own, value_id index) const;
  std::string_view find_by_reverse_index(node_id n, value_id index, affected& r);
  std::string_view find_gathering_rows(node_id n, node_id read, change const& c, std::vector<affected>& all);
  bool has_length_of_trip_count(node_id n, value_id v) const;
  std::optional<std::int64_t> trip_count_minus_length(node_id n, value_id array) const;
  value_id in_range(node_id n, affected const& r);
  value_id is_covered_by(affected const& earlier, affected const& later, value_id index);
  bool is_summed(value_id v) const;

  // ---- update_writer_iterations.hpp: maps
  using deltas_of_results = std::vector<std::vector<delta>>;
  void visit_map(node_id n);
  bool returns_arrays(node_id n) const;
  std::vector<value_id> emit_body(node_id n, affected const& r);
  std::vector<value_id> emit_new_iteration(node_id n, iteration const& t, std::span<value_id const> entering);
  std::vector<value_id> emit_new_iterations(node_id n, change const& count, values const& entering);
  void add_appended_deltas(value_id v, change const& count, value_id elements, std::vector<delta>& to);
  void yield_stores(std::size_t first_store, value_id index, values& yielded);
  void
  collect_stores(std::size_t first_store, value_id index, value_id list, node_id many, std::uint32_t next);
  void add_appended_delta(
      value_id v, value_id index, value_id element, std::uint32_t ordinal, std::vector<delta>& to);
  void emit_iteration(
      node_id n, affected const& r, std::size_t number, std::vector<affected> const& earlier,
      deltas_of_results& deltas);
  void emit_iteration_list(
      node_id n, affected const& r, std::vector<affected> const& earlier, deltas_of_results& deltas);
  value_id old_element(value_id v, value_id index);
  template <class Emit>
  values emit_if(value_id condition, Emit const& emit);
  value_id zero_of(ir::type t);

  // ---- update_writer_branches.hpp: branches
  struct branch_update { // the changes of the values that a branch yields
    struct one {
      bool changed = false;
      value_id new_value = ir::nothing, difference = ir::nothing;
      std::vector<delta> deltas;
    };
    std::vector<one> results;
  };
  void visit_branch(node_id n);
  bool has_loops(node_id n) const;
  branch_update update_branch(node_id n, std::uint32_t i, value_id taken, bool as_whole);
  std::vector<value_id> emit_flipped(node_id n, value_id flips);
  bool has_only_elements(change const& c, region_id inside) const;
  value_id selected(value_id condition, value_id yes, value_id no);

  // ---- update_writer_loops.hpp: loops with loop-carried values
  void visit_loop(node_id n);
  void recompute_nested(node_id n);
  bool reads_elements(node_id n);
  std::string_view why_recompute_loop(node_id n, std::vector<affected>& all);
  void set_stacked_results(node_id n, std::span<value_id const> elements, value_id first, value_id stop);
  void append_to_loop(node_id n, change const& count);
  std::pair<value_id, value_id> bounds_of(node_id n, std::vector<affected> const& all);
  value_id initial_values_differ(node_id n);
  value_id
  continues(values const& entering, value_id count, value_id last, std::span<std::uint32_t const> states);
  std::vector<value_id> emit_loop_iteration(iteration const& t, std::span<value_id const> entering);
  bool is_short(region_id body) const;
  value_id differs(value_id now, value_id before);
  value_id arrays_differ(value_id now, value_id before);
  value_id differences(value_id v, delta const& p, value_id count);

  // ---- make_update_program.ipp: changes of inputs, and the finished program
  void begin_input(std::uint32_t input, input_change const& how);
  void begin_list(std::uint32_t input, change& to);
  void begin_element(
      std::uint32_t input, input_change const& how, std::uint32_t ordinal, std::uint32_t axis, change& to);
  update_value value_of(value_id v, std::vector<value_id>& results) const;

  update_program made_;
  function_id f_, draft_; // the draft's parameters are temporary operations until all are known
  layout& layout_;
  invariant_shapes const& shapes_;
  ir::cursor at_;
  disabled_guards disabled_guards_;
  std::vector<emitted_guard> guards_;
  value_map hoisted_;                 // values of hoisted conditions
  std::vector<std::uint8_t> costly_;  // by value: whether maps, loops or arrays depend on it
  node_id entry_guard_ = ir::nothing; // the branch that encloses all code that relies on hoisted guards
  region_id outermost_region_ = function::body; // where code goes that is not in an iteration or a branch
  std::vector<parameter> parameters_;
  std::vector<iteration> iterations_;
  std::vector<pending_store> stores_;
  bool must_restart_ = false;
  bool recomputes_all_ = false;
  bool is_new_iteration_ = false; // the code is of an appended iteration, which has no saved values

  std::vector<std::uint32_t> changes_; // by value: its number in the pool, from 1; 0: unchanged
  std::deque<change> pool_;
  std::vector<value_id> old_, new_;   // by value: the value of the update program, once it was emitted
  std::vector<std::uint8_t> visited_; // by value: whether its operation was visited
  struct undo {
    value_id value;
    std::uint32_t change;
    value_id old_value, new_value;
  };
  std::vector<undo> undo_;
  std::vector<std::vector<value_id>> captured_; // by operation
  std::vector<std::uint8_t> has_captured_;
};

} // namespace overdub::increments
