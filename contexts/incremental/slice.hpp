// Slices: programs that follow changes of a function's inputs; and what they keep.
#pragma once

#include <overdub/ir/program.hpp>

#include <compare>
#include <cstdint>
#include <string>
#include <vector>

namespace overdub::contexts::increments {

/// How an input changed: all of it, or elements at so many places, each named by so many indices, leading axis first, or the elements
/// of a list along the leading axis, or so many elements more, behind the last one, or a list of these. Nothing, where it is none of
/// these.
struct input_change {
  static constexpr std::uint8_t most_places = 4, listed = most_places + 1;

  bool whole = false;
  std::uint8_t places = 0; // or listed
  std::uint8_t indices = 0;
  bool appended = false; // the places are behind the end

  bool is_same() const { return !whole && places == 0; }
  bool is_listed() const { return places == listed && !appended; }
  bool appends_list() const { return places == listed && appended; }
  /// As a number of so many bits.
  static constexpr std::uint32_t bits = 7;
  std::uint64_t code() const {
    return std::uint64_t{appended} << 6 | std::uint64_t{whole} << 5 | std::uint64_t{indices} << 3 | places;
  }
  friend auto operator<=>(input_change const&, input_change const&) = default;
};
/// How all inputs changed: what slices are kept by. The indices themselves are arguments of a slice.
using schema = std::vector<input_change>;

/// What a slice takes for granted, and looks at when it runs, before what relies on it: that a number is what it was; that an element which
/// is read is none of those that changed; or that a turn which is reached is there, where the value is the map's own index.
struct assumption {
  ir::value_id of = ir::nothing;
  std::uint32_t turn = 0; // which of the turns that are reached, from 1 on
  friend auto operator<=>(assumption const&, assumption const&) = default;
};
/// Which assumptions a slice does not make, since they did not hold.
struct doubts {
  bool all = false;
  std::vector<assumption> of; // sorted
  friend auto operator<=>(doubts const&, doubts const&) = default;
};

/// Something that an incremental program keeps from update to update.
struct variable {
  enum class role : std::uint8_t {
    input,     // a parameter of the function
    kept,      // a value inside of it, for all turns of the maps around
    remainder, // of a sum that is kept: what was rounded away
    tree       // of a reduction: its elements, and all that they were combined to on the way to the whole
  };
  ir::value_id of = ir::nothing; // of the function
  ir::type type;                 // with an axis for each map around
  role what = role::input;
  std::uint32_t turns = 0; // maps around
};

/// All that a function's slices keep. It only grows; slices of an earlier version do not follow what came later.
class layout {
public:
  static constexpr std::uint32_t none = ~std::uint32_t{0};

  explicit layout(ir::function const& f)
      : of_(f.value_count(), none), remainder_of_(f.value_count(), none), tree_of_(f.value_count(), none) {
    for (ir::value_id const v : f.parameters()) add({.of = v, .type = f.type_of(v)});
  }

  variable const& operator[](std::uint32_t i) const { return all_[i]; }
  std::uint32_t size() const { return static_cast<std::uint32_t>(all_.size()); }

  /// The variable of a value, or none.
  std::uint32_t of(ir::value_id v) const { return of_[index_of(v)]; }
  std::uint32_t remainder_of(ir::value_id v) const { return remainder_of_[index_of(v)]; }
  std::uint32_t tree_of(ir::value_id v) const { return tree_of_[index_of(v)]; }
  std::uint32_t add(variable const& v) {
    auto& all_of = v.what == variable::role::remainder ? remainder_of_
                   : v.what == variable::role::tree    ? tree_of_
                                                       : of_;
    all_.push_back(v);
    return all_of[index_of(v.of)] = size() - 1;
  }

private:
  std::vector<variable> all_;
  std::vector<std::uint32_t> of_, remainder_of_, tree_of_; // by value
};

/// Where a slice finds an argument.
struct slice_parameter {
  enum class kind : std::uint8_t {
    variable,  // its value before the update
    input,     // the new value of an input, as a whole
    index,     // of a place where an input changed
    element,   // what stands there now
    list,      // of the indices where an input changed, ascending
    elements,  // what stands there now; of elements that came, they
    positions, // where on the list each index stands; -1, where it is not there
    gathered, // the iterations whose inner maps read an element of the input's, in the order of indices: `variable` is a gather of the slice
    members // the turns in which an index that is kept has this value, or one of the list's: places in `variable`, an index shifted
  };
  kind what = kind::variable;
  std::uint32_t variable = layout::none; // but for variable, members: the input
  std::uint32_t input = layout::none;    // members: of the index
  std::uint32_t place = 0;
  std::uint32_t axis = 0;
  std::int64_t shift = 0; // members: added to the index
  friend bool operator==(slice_parameter const&, slice_parameter const&) = default;
};

/// An argument or a result of a slice.
struct slice_value { // neither: 0
  static constexpr std::uint32_t none = ~std::uint32_t{0};
  std::uint32_t parameter = none;
  std::uint32_t result = none;
  bool exists() const { return parameter != none || result != none; }
};

/// What a commit does with a variable, or with an element of it, or with one for each element of arrays of indices and values.
struct store {
  enum class action : std::uint8_t {
    put,
    put_range, // the last index is the first of as many as there are values
    add,       // to a sum that is there
    append     // the first index is behind the end: there is an element, or a row, more
  };
  std::uint32_t variable = 0;
  std::vector<slice_value> path; // indices; an array where there are several elements
  slice_value value;
  slice_value valid; // where it is written at all; everywhere, where it does not exist
  bool each = false;
  action does = action::put;
};

/// What ran again.
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
  std::string why; // of a whole map, loop or reduction
};

/// Which elements a map inside of a map reads: programs of these variables.
struct gather {
  ir::value_id index = ir::nothing;     // of the function: the index that is read
  std::vector<std::uint32_t> variables; // which are arguments of both
  ir::program counts;                   // give how many inner iterations each outer one has,
  ir::program keys; // and the index for pairs of an outer and an inner one, two arguments more
};

struct slice {
  ir::program program; // its entry is the slice
  std::vector<slice_parameter> parameters;
  std::vector<gather> gathers;
  std::vector<store> stores;
  std::vector<slice_value> results;     // of the function's results that are numbers and changed
  std::vector<slice_value> differences; // by how much, where that is known before
  std::vector<step> steps;
  std::vector<assumption> assumed;
  // A bit for each assumption that did not hold, where that is known: then nothing else is given.
  slice_value failed;
};

} // namespace overdub::contexts::increments
