// The iterations of a map or loop that a change affects: an analysis, which emits nothing. `emitted_iterations.hpp` emits their indices.
#pragma once

#include <overdub/implementation/incremental/gather.hpp>
#include <overdub/implementation/incremental/update_code.hpp>
#include <overdub/implementation/incremental/value_changes.hpp>
#include <overdub/implementation/ir/affine.hpp>
#include <overdub/implementation/ir/names_of_values.hpp>
#include <overdub/ir/bounds.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace overdub::increments {

/// Iterations that read a changed element, or one of a list.
struct affected_read {
  enum class finding {
    own_index,     // the index of the element, minus `step`
    reverse_index, // the iterations in which `keys` is the index of the element
    gathered_rows  // the iterations in which a nested map reads the element at `index`
  };
  finding by = finding::own_index;
  delta const* of = nullptr;    // the changed elements
  value_id index = ir::nothing; // of the function: the index of the read
  std::int64_t step = 0;        // own_index: the index of the read minus that of the iteration
  // reverse_index: a value of the function, one of each iteration or an array of them
  value_id keys = ir::nothing;
  bool may_precede = false, may_exceed = false; // the index may be out of the range of iterations
  // of the update program: the element changed if one of them holds; none, if it is certain to have changed
  std::vector<value_id> conditions = {};
  bool is_list() const { return by != finding::own_index || of->list != ir::nothing; }
  /// Whether the iterations can be searched for one.
  bool is_searchable() const { return by == finding::own_index && increments::is_searchable(*of); }
};

/// A read at an index that is the same in all iterations.
struct common_read {
  node_id at;
  change const* of;
};

/// The affected iterations; or why they are all iterations.
struct affected_iterations {
  std::string_view why; // empty, if they are not all
  std::vector<affected_read> reads;
  std::vector<common_read> common;
};

affected_iterations find_affected(update_code const& code, value_changes const& known, node_id n);
/// A line for each read, with the names of values in the printed function.
std::string text_of(affected_iterations const& all, ir::names_of_values const& names);

// Parts of it. Functions that return a text return why all iterations are affected; an empty one, if they are not.
std::string_view add_affected(
    update_code const& code, value_changes const& known, node_id n, value_id index, change const& c,
    std::vector<affected_read>& all);
std::string_view find_by_reverse_index(update_code const& code, node_id n, affected_read& r);
std::string_view add_gathering_rows(
    update_code const& code, value_changes const& known, node_id n, node_id read, change const& c,
    std::vector<affected_read>& all);
bool are_same_iterations(update_code const& code, affected_read const& a, affected_read const& b);
void merge(affected_read& known, affected_read const& r);
std::optional<std::int64_t> shift_from(update_code const& code, value_id own, value_id index);
std::optional<std::int64_t> trip_count_minus_length(update_code const& code, node_id n, value_id array);

} // namespace overdub::increments
