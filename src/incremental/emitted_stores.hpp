// What is emitted once it is known which values are saved: the results of the update program that a commit writes. A value in a map, a
// loop or a branch becomes a further result of that operation: an array of all iterations, or, of a branch that is not taken, a zero.
#pragma once

#include <overdub/implementation/incremental/planned_stores.hpp>
#include <overdub/implementation/incremental/update_code.hpp>

#include <cstddef>
#include <vector>

namespace overdub::increments {

/// Values of the draft, and those that replaced them.
class replaced_values {
public:
  void replace(update_code& code, value_id from, value_id to) {
    code.cursor.substitute(from, to);
    now_.insert_or_assign(from, to);
  }
  value_id operator()(value_id v) const {
    auto const at = now_.find(v);
    return at == now_.end() ? v : at->second;
  }

private:
  value_map now_;
};

void complete_old_sums(update_code& code, replaced_values& now);
void carry_out(
    update_code& code, region_id outermost, std::vector<planned_store>& stores, replaced_values& now);

// Parts of it.
using stores_inside = std::vector<planned_store*>;
void carry_out_of_branch(update_code& code, node_id n, stores_inside const& stores, replaced_values& now);
void carry_out_of_iterations(update_code& code, node_id n, stores_inside const& stores, replaced_values& now);

/// Adds results to an operation, and replaces those that it has.
values add_results(update_code& code, node_id n, replaced_values& now);

/// Values that become results, each once.
struct carried_values {
  values all;
  ir::value_map<std::size_t> position;
  void add(value_id v) {
    if (position.insert({v, all.size()}).second) all.push_back(v);
  }
};

} // namespace overdub::increments
