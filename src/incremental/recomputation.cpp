#include <overdub/implementation/incremental/recomputation.hpp>
#include <overdub/implementation/incremental/update_writer.hpp>

#include <cstdint>
#include <vector>

namespace overdub::increments {

/// Emits the operation with the new values of its operands. Values in its regions are recorded; its results are not.
std::vector<value_id> emit_in_full(update_writer& w, node_id n) {
  value_map here = values_of(w, n);
  node_id const made = w.code.cursor.clone(w.code.source, n, here);
  record_inside(w, n, here);
  auto const results = w.written().results_of(made);
  return {results.begin(), results.end()};
}

/// The new values of an operation's operands and captured values.
value_map values_of(update_writer& w, node_id n) {
  value_map all = captured_values(w, n);
  for (std::uint32_t k = 0; k < w.original()[n].operand_count; ++k) {
    value_id const v = w.original().operand(n, k);
    all.insert_or_assign(v, w.known.new_value(v));
  }
  return all;
}

/// The new values that its regions capture.
value_map captured_values(update_writer& w, node_id n) {
  value_map all;
  if (w.original()[n].region_count != 0)
    for (value_id const v : w.known.captured(n)) all.insert_or_assign(v, w.known.new_value(v));
  return all;
}

/// Records the values in the regions of a copied operation: of a map or a loop, those of all iterations; of a branch, those of the side
/// that is taken.
void record_inside(update_writer& w, node_id n, value_map const& here) {
  function const& f = w.original();
  if (!is_counted(f[n].code) && !selects_region(f[n].code)) return; // others save nothing
  auto const record = [&](value_id v) {
    value_id const now = here.at(v);
    w.code.record({.of = v, .value = now, .region = w.written().region_of(now)});
  };
  for (region_id const r : f.regions_of(n)) {
    for (value_id const v : f.arguments_of(r)) record(v);
    for (node_id m = f[r].first; m != f[r].last; m = f[m].next) {
      record_inside(w, m, here);
      for (value_id const v : f.results_of(m)) record(v);
    }
  }
}

} // namespace overdub::increments
