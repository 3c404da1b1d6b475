// Update programs as plain data. An update program recomputes a function's value after some of its inputs changed. Self-adjusting
// computation (Acar, 2005) records a dynamic dependence graph in each run. An update program is instead specialised for a change signature,
// and its runs record nothing.
#pragma once

#include <overdub/ir/program.hpp>

#include <compare>
#include <cstdint>
#include <string>
#include <vector>

namespace overdub::increments {

/// How an input changed in an update: as a whole; at up to four elements, each named by `indices` indices, leading axis first; at a list
/// of elements along the leading axis; or by up to four elements, or a list of elements, that are appended. By default it is unchanged.
struct input_change {
  static constexpr std::uint8_t maximum_elements = 4, listed = maximum_elements + 1;

  bool whole = false;
  std::uint8_t elements = 0; // the number of changed elements, or `listed`
  std::uint8_t indices = 0;
  bool appended = false; // the elements are appended

  bool is_same() const { return !whole && elements == 0; }
  bool is_listed() const { return elements == listed && !appended; }
  bool appends_list() const { return elements == listed && appended; }
  /// The change, encoded in `bits` bits.
  static constexpr std::uint32_t bits = 7;
  std::uint64_t code() const {
    return std::uint64_t{appended} << 6 | std::uint64_t{whole} << 5 | std::uint64_t{indices} << 3 | elements;
  }
  friend auto operator<=>(input_change const&, input_change const&) = default;
};
/// How each input of a function changed. It is the key of cached update programs. The indices of changed elements are arguments of
/// an update program, and not part of the signature.
using change_signature = std::vector<input_change>;

/// A condition on which an update program speculates, and which it checks before the operations that rely on it: a number is unchanged; an
/// element that is read is not a changed one; or, if the value is the index of a map, an affected iteration exists.
struct guard {
  ir::value_id of = ir::nothing;
  std::uint32_t iteration = 0; // the affected iteration of a map, from 1 on
  friend auto operator<=>(guard const&, guard const&) = default;
};
/// The guards that an update program does not use, since they failed before.
struct disabled_guards {
  bool all = false;
  std::vector<guard> of; // sorted
  friend auto operator<=>(disabled_guards const&, disabled_guards const&) = default;
};

/// A value that an incremental program saves between updates.
struct variable {
  enum class role : std::uint8_t {
    input,        // a parameter of the function
    saved,        // a value of the function, in all iterations of the enclosing maps and loops
    compensation, // of a saved sum: its rounding errors (compensated summation)
    tree          // of a reduction: its elements, and the inner nodes of its segment tree
  };
  ir::value_id of = ir::nothing; // of the function
  ir::type type;                 // with an axis for each enclosing map or loop
  role what = role::input;
  std::uint32_t depth = 0; // the number of enclosing maps and loops
};

/// All values that the update programs of a function save. Values are added and never removed. An update program that is older than a value
/// does not update the value.
class layout {
public:
  static constexpr std::uint32_t none = ~std::uint32_t{0};

  explicit layout(ir::function const& f)
      : of_(f.value_count(), none), compensation_of_(f.value_count(), none), tree_of_(f.value_count(), none) {
    for (ir::value_id const v : f.parameters()) add({.of = v, .type = f.type_of(v)});
  }

  variable const& operator[](std::uint32_t i) const { return all_[i]; }
  std::uint32_t size() const { return static_cast<std::uint32_t>(all_.size()); }

  /// The index of a saved value, or none.
  std::uint32_t of(ir::value_id v) const { return of_[index_of(v)]; }
  std::uint32_t compensation_of(ir::value_id v) const { return compensation_of_[index_of(v)]; }
  std::uint32_t tree_of(ir::value_id v) const { return tree_of_[index_of(v)]; }
  std::uint32_t add(variable const& v) {
    auto& all_of = v.what == variable::role::compensation ? compensation_of_
                   : v.what == variable::role::tree       ? tree_of_
                                                          : of_;
    all_.push_back(v);
    return all_of[index_of(v.of)] = size() - 1;
  }

private:
  std::vector<variable> all_;
  std::vector<std::uint32_t> of_, compensation_of_, tree_of_; // by value
};

/// An argument of an update program.
struct update_parameter {
  enum class kind : std::uint8_t {
    variable,      // a saved value, as it was before the update
    input,         // an input, as it is after the update
    index,         // an index of a changed element
    element,       // the new value of a changed element
    list,          // the indices of a list of changed elements, ascending
    elements,      // the new values of a list of elements, changed or appended
    positions,     // for each index of an input: its position in the list of changed elements, or -1
    gathered_rows, // the iterations that read a changed element in a nested map, ascending; `variable` is a gather of the update program
    matching_iterations // the iterations whose saved index, `variable`, equals the index of a changed element plus `shift`
  };
  kind what = kind::variable;
  // variable and matching_iterations: the saved value; gathered_rows: the gather; else the input
  std::uint32_t variable = layout::none;
  std::uint32_t input = layout::none; // matching_iterations and gathered_rows: the input that changed
  std::uint32_t ordinal = 0;          // index and element: which of the changed elements
  std::uint32_t axis = 0;
  std::int64_t shift = 0; // matching_iterations and gathered_rows: added to the indices of changed elements
  friend bool operator==(update_parameter const&, update_parameter const&) = default;
};

/// A reference to an argument or a result of an update program; 0, if it refers to neither.
struct update_value {
  static constexpr std::uint32_t none = ~std::uint32_t{0};
  std::uint32_t parameter = none;
  std::uint32_t result = none;
  bool exists() const { return parameter != none || result != none; }
};

/// A write of a commit to a saved value: to the whole value, to an element, or to the elements that arrays of indices and values list.
struct store {
  enum class action : std::uint8_t {
    put,
    put_range, // to consecutive elements; the last index is that of the first one
    add,       // adds to a sum
    append     // appends an element, or a row; the first index is that of the end
  };
  std::uint32_t variable = 0;
  std::vector<update_value> path; // indices; arrays of indices, where a list is written
  update_value value;
  update_value valid; // the value is written only if this bool is true; if it is absent, always
  bool each = false;  // path and value are arrays, with an entry for each element that is written
  action does = action::put;
};

/// An operation that an update program recomputes, and the recomputed part of it.
struct step {
  enum class extent : std::uint8_t {
    scalar,
    one_iteration,
    some_iterations,
    appended_iteration,
    appended_iterations,
    difference,
    path,
    from_the_first_affected,
    branch,
    unchanged,
    whole
  };
  ir::node_id node = ir::nothing; // of the function
  extent ran = extent::scalar;
  std::string why; // of a map, loop or reduction that is recomputed in full
};

/// A read in a nested map at a computed index, as in the product with a sparse matrix. Two programs list the index of each read; their
/// arguments are saved values.
struct gather {
  ir::value_id index = ir::nothing;     // of the function: the index
  std::vector<std::uint32_t> variables; // the arguments of both programs
  ir::program counts;                   // returns the trip counts of the inner map
  // Returns the index for pairs of an outer and an inner iteration, which are two more arguments.
  ir::program keys;
};

/// An update program: the program, the sources of its arguments, and the writes of its results in a commit.
struct update_program {
  ir::program program;
  std::vector<update_parameter> parameters;
  std::vector<gather> gathers;
  std::vector<store> stores;
  std::vector<update_value> results;     // the function's results that are numbers and changed
  std::vector<update_value> differences; // the changes of these results, if the program computes them
  std::vector<step> steps;
  std::vector<guard> guards;
  // A bit for each guard that failed. If one failed, the other results are zeros.
  update_value failed_guards;
};

} // namespace overdub::increments
