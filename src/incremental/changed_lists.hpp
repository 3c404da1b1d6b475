// Lists of changed elements: searches in a list, and lists of shifted indices.
#pragma once

#include <overdub/implementation/incremental/update_code.hpp>

#include <cstdint>
#include <utility>

namespace overdub::increments {

/// Whether an index is in a list, and its position, which is valid only if it is.
struct list_position {
  value_id is_there, position;
};

// Each of these emits operations on a list of indices. A search is O(log length) at run time.

list_position find_in(update_code& code, delta const& p, value_id index);
list_position find_in_source(update_code& code, std::uint32_t input, std::int64_t shift, value_id index);
delta shifted(update_code& code, delta p, std::int64_t step, value_id count);
std::pair<value_id, value_id> bounds_of_list(update_code& code, delta const& p, value_id count);

/// The number of elements of an ascending list that are less than a number: binary search, O(log length).
value_id count_below(update_code& code, value_id list, value_id number);

} // namespace overdub::increments
