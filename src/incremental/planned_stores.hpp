// Plans the writes of a commit: of the values that an update program computes, it selects those that are saved, and emits nothing.
// `emitted_stores.hpp` makes the selected values results of the update program.
#pragma once

#include <overdub/implementation/incremental/update_code.hpp>
#include <overdub/implementation/incremental/update_program_text.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace overdub::increments {

/// A write to a saved value. Its operands are values of the unfinished update program (the draft) that are available in `region`.
struct planned_store {
  std::uint32_t variable;
  std::vector<value_id> path;
  value_id value; // nothing: zeros
  value_id valid;
  store::action does;
  region_id region;
};

/// The writes, in the order in which the values are computed. O(computed values).
std::vector<planned_store> plan_stores(layout const& saved, std::vector<computed_value> const& computed);
/// A line for each write, with the names of values in the printed function, and the emitted operations that enclose the written value,
/// innermost first.
std::string text_of(
    std::vector<planned_store> const& all, layout const& saved, function const& draft, region_id outermost,
    update_program_text const& names);

} // namespace overdub::increments
