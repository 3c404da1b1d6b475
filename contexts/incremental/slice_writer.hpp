// Writes a slice: goes through a function's operations in order, and computes again what a change reaches. What it does not reach is
// read where it is needed: from what is kept, or computed from it.
#pragma once

#include <overdub/contexts/incremental/gather.hpp>
#include <overdub/contexts/incremental/slice.hpp>
#include <overdub/ir/bounds.hpp>
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

namespace overdub::contexts::increments {

using ir::function;
using ir::function_id;
using ir::node_id;
using ir::op;
using ir::region_id;
using ir::value_id;

/// What values of the function are in the slice.
using value_map = ir::value_map<value_id>;

struct change;

/// Elements of an array that changed: one, at `index`, or those at the indices in `list`. Pieces of one array may meet; what they
/// say of an element is then the same.
struct piece {
  value_id index = ir::nothing;
  value_id list = ir::nothing;
  value_id valid = ir::nothing;   // whether there is one at all; there is, where it is not given
  value_id element = ir::nothing; // what it is now; an array, for a list
  value_id difference =
      ir::nothing; // by how much it changes a sum: 0 where there is none, or an earlier piece says it, too
  change const* part = nullptr; // of an element that is an array, and changed in parts
  // Pieces of one source and different places are apart, and so are those of different shifts of one place.
  std::uint32_t source = 0, place = 0;
  std::int64_t shift = 0;
  bool is_sorted = false;         // a list is the source's, ascending, or a part of it, and shifted
  value_id skipped = ir::nothing; // so many in front are not
  // A list holds the turns in which this index, of the variable, has this value, or one on the source's list.
  std::uint32_t keys = layout::none;
  value_id key = ir::nothing;
  // Or all from a turn of a loop to another.
  value_id first = ir::nothing, end = ir::nothing;
  bool is_new = false; // it stands behind those that were there
};

/// How a value changed.
struct change {
  bool whole = false;
  value_id now = ir::nothing;
  value_id by = ir::nothing; // of a sum: the difference, where it is known
  std::vector<piece> pieces;
  // Of a number of turns: the indices of those that it has more; it was at least so much.
  std::vector<value_id> grown;
  std::int64_t least = 0;
  // Or so many of a list, from an index on.
  value_id came = ir::nothing, first_came = ir::nothing, count_came = ir::nothing;
  bool has_grown() const { return !grown.empty() || came != ir::nothing; }
  std::uint32_t appended = layout::none; // the input that this is, which has its new elements in memory
  std::uint32_t listed = layout::none;   // or whose elements are on a list
};

/// Whether a value is made in a region, or in one inside. O(how much deeper it stands).
inline bool is_inside(function const& f, value_id v, region_id r) {
  if (f.is_literal(v)) return false;
  for (region_id at = f.region_of(v); at != r;) {
    node_id const owner = f[at].parent;
    if (owner == ir::nothing) return false;
    at = f[owner].parent;
  }
  return true;
}

/// Which lengths, indices and conditions are compared at run time, and what is read of variables, is said by slice.hpp.
class slice_writer {
public:
  /// The function belongs to the program.
  slice_writer(ir::program const& p, function_id f, layout& all);

  void write(schema const& changes, doubts const& d);
  /// Runs all again: for what is kept, before there is anything.
  void write_all();

  /// Whether something became a part of the layout that the slice has passed already: it is to be written again.
  bool is_late() const { return late_; }
  slice finish() &&;

private:
  struct turn { // of a map that is followed
    region_id region;
    value_id index;              // in the slice
    value_id list = ir::nothing; // whose elements are the indices
    value_id position = ir::nothing;
    node_id around = ir::nothing;  // of the slice: what runs it more than once
    value_id behind = ir::nothing; // a lower index
  };
  struct parameter {
    slice_parameter what;
    value_id value;
  };
  struct pending {
    std::uint32_t variable;
    std::vector<value_id> path;
    value_id value;
    value_id valid = ir::nothing;
    store::action does = store::action::put;
  };
  // Of an assumption: what is written behind stands in its choice. Those that are known before anything runs have one together.
  struct guard {
    assumption what;
    value_id holds;
    node_id choice = ir::nothing;
  };
  // What is kept of the inside of an operation that runs again: what it is now, and whether it is there.
  struct kept_value {
    value_id of, now;
    value_id valid = ir::nothing;
  };
  // A turn, or many, that a change reaches.
  struct reached {
    piece from;
    value_id asked = ir::nothing;                 // of the function: an index that is known in the turn,
    value_id known = ir::nothing;                 // and what it is in the slice
    bool may_precede = false, may_exceed = false; // the turns that there are
    value_id of_list = ir::nothing;               // many: the list that they come from,
    std::int64_t step = 0;                        // and how far behind their own index they use it
    bool is_gathered = false;                     // their maps inside read an element that changed
    bool is_checked() const { return may_precede || may_exceed; }
  };

  static constexpr std::size_t most_guards = 62;         // each has a bit
  static constexpr std::size_t most_written_twice = 64;  // operations, of a turn of a loop
  static constexpr std::size_t most_moved = 16;          // operations, of a condition
  static constexpr std::int64_t most_distance = 1 << 20; // of literals in indices, so that nothing overflows

  function const& original() const { return made_.program[f_]; }
  function const& written() const { return made_.program[draft_]; }
  ir::type type_of(value_id v) const { return written().type_of(v); }

  // ---- slice_writer_values.hpp: values, before and now
  change const* change_of(value_id v) const {
    std::uint32_t const number = changes_[index_of(v)];
    return number == 0 ? nullptr : &pool_[number - 1];
  }
  change& set_change(value_id v);
  void set_whole(value_id v, value_id now);
  std::size_t mark() const { return undo_.size(); }
  void return_to(std::size_t mark);
  value_id old(value_id v);
  void silence(node_id made);
  bool is_observed_by_hooks(node_id n) const;
  value_id now(value_id v);
  value_id whole(value_id array, change const& c);
  node_id repeated_around(value_id v) const;
  value_id replaced(value_id array, piece const& p);
  value_id read(std::uint32_t variable, std::vector<value_id> const& path);
  value_id parameter_for(slice_parameter const& key, ir::type t);
  std::uint32_t kept(value_id v);
  std::uint32_t remainder(value_id v);
  std::optional<std::uint32_t> turns_around(value_id v) const;
  bool is_at_top(region_id r) const;
  std::vector<value_id> path(std::uint32_t turns) const;
  std::vector<value_id> path_to(value_id last) const;
  void store_value(
      value_id v, value_id s, std::vector<value_id> const& further = {}, value_id valid = ir::nothing);
  bool is_computed_again(node_id n) const;
  value_id literal(ir::type t, std::uint64_t bits) { return at_.literal(t, bits); }

  // ---- slice_writer_lists.hpp: elements that changed, in a list
  struct place_in_list {
    value_id is_there, position;
  };
  value_id count_below(value_id list, value_id number);
  value_id indices_from(value_id first, value_id count);
  static bool is_searchable(piece const& p);
  place_in_list find_in(piece const& p, value_id index);
  place_in_list find_in_source(std::uint32_t input, std::int64_t shift, value_id index);
  piece shifted(piece p, std::int64_t step, value_id count);
  std::pair<value_id, value_id> ends_of_list(piece const& p, value_id count);

  // ---- slice_writer_assumptions.hpp: what is taken for granted
  void begin_assuming();
  bool may_assume(assumption const& a) const;
  bool is_outermost() const;
  bool assume(assumption const& a, value_id holds);
  value_id at_front(value_id v);
  bool can_be_at_front(value_id v, std::vector<node_id>& moved) const;
  struct meeting {
    bool is_sure = false;
    value_id met = ir::nothing; // where it is not: whether; nothing, where it is none of them
  };
  meeting meets(node_id n, std::uint32_t axis, std::uint32_t end, change const& c, value_id where);
  bool is_taken_apart(node_id n, change const& c, std::uint32_t end);
  void end_assuming(std::vector<value_id> const& results);
  bool may_stay(node_id n) const;
  bool has_costly_uses(value_id v);
  bool set_or_keep(node_id n, value_id v, value_id now);

  // ---- slice_writer_elements.hpp: elements that are read
  void visit_at(node_id n);
  void choose_row(node_id n, change const& c);
  void choose_element(
      change const& c, std::vector<value_id> const& indices, std::size_t k, value_id where, value_id& found);
  bool has_old_indices(node_id n) const;
  static bool has_new(change const& c);
  static bool may_be_missing(change const& c);
  static bool has_unsearchable(change const& c);
  static bool has_lists_alone(change const& c);
  value_id equals(value_id a, value_id b);
  std::optional<std::int64_t> distance(value_id a, value_id b) const;
  bool are_apart(value_id a, value_id b) const;
  value_id both(value_id a, value_id b);

  // ---- slice_writer_operations.hpp: what changes
  void visit(region_id r);
  void visit(node_id n);
  void visit_length(node_id n);
  bool add_list_to_length(node_id n);
  void add_growth(node_id n);
  void add_difference(node_id n);
  void run_again(node_id n, std::string_view why = {});
  bool is_reached(node_id n);
  std::vector<value_id> const& captured(node_id n);
  std::vector<value_id> run_afresh(node_id n);
  node_id copy(node_id n, value_map& here, std::vector<kept_value>& kept_inside);
  node_id copy_branch(node_id n, value_map& here, std::vector<kept_value>& kept_inside);
  void copy_all(region_id r, value_map& here, std::vector<kept_value>& inside);
  value_id now_in(value_map const& here, value_id v);
  bool keeps_inside(node_id n);
  value_map values_of(node_id n);
  value_map values_inside(node_id n);
  value_id at(value_id array, value_id index) { return at_.add(op::at, array, index); }
  value_id at(value_id array, std::vector<value_id> const& path);
  bool is_in_loop() const;
  void note(node_id n, step::extent ran, std::string_view why = {}) {
    made_.steps.push_back({n, ran, std::string(why)});
  }

  // ---- slice_writer_shapes.hpp: which arrays surely have one shape
  struct carried_array { // of a loop
    value_id argument, initial;
  };
  static constexpr int most_shape_steps = 1000; // operations that are looked at for one array
  bool keeps_shape(node_id loop, std::uint32_t carried) const;
  bool keeps_shape(node_id loop, std::uint32_t carried, int& steps) const;
  bool has_shape_of(value_id v, carried_array const& a, std::uint32_t axis, int& steps) const;
  bool is_length_of(value_id count, carried_array const& a, std::uint32_t axis, int& steps) const;
  bool has_length(value_id v, value_id count, std::uint32_t axis, int& steps) const;
  bool has_one_shape(value_id v) const;

  // ---- slice_writer_reductions.hpp: sums, and trees
  struct ascent { // by level: where it came along, and what is there, of each array; and the whole
    value_id index = ir::nothing, positions = ir::nothing;
    std::vector<value_id> leaves, values, root;
  };
  void visit_reduction(node_id n);
  void visit_sum(node_id n);
  std::string_view cannot_climb(node_id n);
  void climb(node_id n);
  ascent ascend(
      node_id n, std::size_t place, value_id size, std::vector<value_id> const& trees,
      std::vector<ascent> const& earlier, value_map const& around);
  std::vector<value_id>
  combined_with_initial(node_id n, value_id size, std::vector<value_id> const& root, value_map const& around);
  std::vector<value_id> combine(
      node_id n, std::vector<value_id> const& left, std::vector<value_id> const& right,
      value_map const& around);
  void store_trees(node_id n);
  std::uint32_t tree(value_id v);

  // ---- slice_writer_reached.hpp: which turns
  // Reads of elements at indices that are the same in all turns.
  struct common_read {
    node_id at;
    change const* of;
  };
  std::string_view find_reached(node_id n, std::vector<reached>& all, std::vector<common_read>& common);
  std::string_view take_apart(std::vector<common_read> const& all);
  std::string_view add_reached(node_id n, value_id index, change const& c, std::vector<reached>& all);
  std::optional<std::int64_t> shift_from(value_id own, value_id index) const;
  std::string_view find_members(node_id n, value_id index, reached& r);
  std::string_view find_gathered(node_id n, node_id read, change const& c, std::vector<reached>& all);
  bool has_length_of_turns(node_id n, value_id v) const;
  std::optional<std::int64_t> turns_behind(node_id n, value_id array) const;
  value_id in_range(node_id n, reached const& r);
  value_id met_by(reached const& earlier, reached const& later, value_id index);
  bool is_summed(value_id v) const;

  // ---- slice_writer_turns.hpp: maps
  using pieces_of_results = std::vector<std::vector<piece>>;
  void visit_map(node_id n);
  bool has_one_length(node_id n) const;
  bool gives_arrays(node_id n) const;
  std::vector<value_id> run_body(node_id n, reached const& r);
  std::vector<value_id> run_new_turn(node_id n, turn const& t, std::span<value_id const> entering);
  std::vector<value_id> run_new_turns(node_id n, change const& count, std::span<value_id const> entering);
  void add_new_pieces(value_id v, change const& count, value_id elements, std::vector<piece>& to);
  void give_stores(std::size_t first_store, value_id index, region_id inside, std::vector<value_id>& yielded);
  void take_stores(
      std::size_t first_store, value_id index, value_id list, region_id inside, node_id many,
      std::uint32_t next);
  void
  add_new_piece(value_id v, value_id index, value_id element, std::uint32_t place, std::vector<piece>& to);
  void run_turn(
      node_id n, reached const& r, std::size_t number, std::vector<reached> const& earlier,
      pieces_of_results& pieces);
  void run_turns(node_id n, reached const& r, std::vector<reached> const& earlier, pieces_of_results& pieces);
  value_id element_before(value_id v, value_id index);
  std::vector<value_id>
  leave_choice(node_id choice, std::vector<value_id> yielded, std::size_t first_store, value_id valid);
  value_id nothing_of(ir::type t);

  // ---- slice_writer_branches.hpp: branches
  struct of_branch { // what a branch's yield became
    struct one {
      bool changed = false;
      value_id now = ir::nothing, by = ir::nothing;
      std::vector<piece> pieces;
    };
    std::vector<one> results;
  };
  void visit_branch(node_id n);
  bool has_turns(node_id n) const;
  of_branch follow_branch(node_id n, std::uint32_t i, value_id taken, bool as_whole);
  std::vector<value_id> run_flipped(node_id n, value_id flips);
  bool is_plain(change const& c, region_id inside) const;
  value_id chosen(value_id condition, value_id yes, value_id no);

  // ---- slice_writer_loops.hpp: loops that carry something
  void visit_loop(node_id n);
  void run_inside(node_id n);
  bool reads_elements(node_id n);
  std::string_view cannot_follow(node_id n, std::vector<reached>& all);
  void set_turns(node_id n, std::span<value_id const> elements, value_id first, value_id stop);
  void grow_loop(node_id n, change const& count);
  std::pair<value_id, value_id> ends_of(node_id n, std::vector<reached> const& all);
  value_id begins_anew(node_id n);
  void write_goes_on(node_id loop, value_id count, value_id last, std::span<std::uint32_t const> states);
  std::vector<value_id> run_turn_again(turn const& t, std::span<value_id const> entering);
  bool is_short(region_id body) const;
  value_id differs(value_id now, value_id before);
  value_id differs_somewhere(value_id now, value_id before);
  value_id differences(value_id v, piece const& p, value_id count);

  // ---- slice_program.ipp: the ends
  void begin(std::uint32_t input, input_change const& how);
  void begin_list(std::uint32_t input, change& to);
  void begin_place(
      std::uint32_t input, input_change const& how, std::uint32_t place, std::uint32_t axis, change& to);
  slice_value value_at(value_id v, std::vector<value_id>& results) const;

  slice made_;
  function_id f_, draft_; // the draft's arguments are operations in front, until all are known
  layout& layout_;
  ir::cursor at_;
  doubts doubts_;
  std::vector<guard> guards_;
  value_map front_of_;               // values of the slice that are computed in front of it, too
  std::vector<std::uint8_t> costly_; // by value: whether maps, loops or arrays depend on it
  node_id front_ = ir::nothing;      // the choice that all of the slice stands in
  region_id top_ = function::body;   // where all of it goes
  std::vector<parameter> parameters_;
  std::vector<turn> turns_;
  std::vector<pending> stores_;
  bool late_ = false;
  bool runs_all_ = false;
  bool is_new_turn_ = false; // of which nothing is kept

  std::vector<std::uint32_t> changes_; // by value: numbers of the pool, from 1
  std::deque<change> pool_;
  std::vector<value_id> old_, now_;  // by value: where they stand in the slice already
  std::vector<std::uint8_t> passed_; // by value: its operation was visited
  struct undo {
    value_id value;
    std::uint32_t change;
    value_id old, now;
  };
  std::vector<undo> undo_;
  std::vector<std::vector<value_id>> captured_; // by node
  std::vector<std::uint8_t> has_captured_;
};

} // namespace overdub::contexts::increments
