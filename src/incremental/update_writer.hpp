// What the emission of an update program shares, and what the groups of operations need from one another.
#pragma once

#include <overdub/implementation/incremental/speculation.hpp>
#include <overdub/implementation/incremental/update_code.hpp>
#include <overdub/implementation/incremental/value_changes.hpp>

#include <string_view>

namespace overdub::increments {

/// The update program that is written, what is known of the function's values where code is emitted, and the guards. The function is
/// `original`, the draft of the update program `written`.
struct update_writer {
  explicit update_writer(update_code& c) : code(c), known(c), guards(c, known) {}
  update_writer(update_writer const&) = delete;
  update_writer& operator=(update_writer const&) = delete;

  function const& original() const { return code.original(); }
  function const& written() const { return code.written(); }

  update_code& code;
  value_changes known;
  speculation guards;
  bool recomputes_all = false; // the program computes all saved values
};

/// Emits the update of a region's operations, in order.
void visit(update_writer& w, region_id r);
/// Emits an operation in full, and sets its results' new values. `why`: of a map, loop or reduction, why it is not updated.
void recompute(update_writer& w, node_id n, std::string_view why = {});

} // namespace overdub::increments
