// Selects the adjoint of an operation.
#pragma once

#include <overdub/reverse/writer_blocks.hpp>
#include <overdub/reverse/writer_checkpoint.hpp>
#include <overdub/reverse/writer_control.hpp>
#include <overdub/reverse/writer_data.hpp>
#include <overdub/reverse/writer_notes.hpp>
#include <overdub/reverse/writer_partials.hpp>
#include <overdub/reverse/writer_reduce.hpp>
#include <overdub/reverse/writer_residuals.hpp>
#include <overdub/reverse/writer_restore.hpp>

#include <algorithm>
#include <string>

namespace overdub::adjoint {

inline void writer::refuse(node_id n, std::string const& why) const {
  std::string const function(p_.name_of(at_.id()));
  ir::place_id const at = f()[n].place;
  std::string where;
  if (at != ir::nothing)
    where = " (" + std::string(p_.text(p_[at].file)) + ":" + std::to_string(p_[at].line) + ")";
  throw differentiation_error(message(
      "overdub: @%s: %s%s: %s", function.c_str(), std::string(name_of(f()[n].code)).c_str(), where.c_str(),
      why.c_str()));
}

inline writer::values writer::cotangents_of(node_id n) {
  values all;
  for (value_id const v : f().results_of(n))
    all.push_back(activity_.varies(v) ? sums_.take(v) : value_id(ir::nothing));
  return all;
}

inline void writer::back(node_id n) {
  op const code = f()[n].code;
  if (code == op::add_to) return add_to(n);
  if (code == op::at && type_of(f().result(n)).rank > 0) return row(n);
  values const cotangents = cotangents_of(n);
  bool const has_cotangent =
      std::any_of(cotangents.begin(), cotangents.end(), [](value_id v) { return v != ir::nothing; });
  if (!has_cotangent && !adds(n)) return;
  at_.set_place(f()[n].place);
  for (value_id const v :
       f().operands_of(n)) // operations with regions propagate it to the operations in the regions
    if (f()[n].region_count == 0 && activity_.of(v) == change::hides)
      refuse(
          n, "it accepts an object of the host, or a function value, that holds values which depend on the "
             "inputs of the derivative, and is not looked into");
  if (f()[n].region_count > 0) sums_.emit_pending(results_of(n));
  if (ir::is_elementwise(code)) {
    if (code == op::select && type_of(f().result(n)).rank > 0) return select_arrays(n, cotangents[0]);
    return elementwise(n, cotangents[0]);
  }
  if (data(n, cotangents.empty() ? value_id(ir::nothing) : cotangents[0])) return;
  switch (code) {
  case op::if_:
    return uses_partials(n) ? partials(n, cotangents) : if_(n, cotangents);
  case op::loop:
  case op::while_:
    return loop(n, cotangents);
  case op::map:
    return map(n, cotangents);
  case op::reduce:
    return reduce(n, cotangents);
  case op::accumulate:
    return accumulate(n, cotangents);
  case op::protect:
    return once(n, cotangents, 0);
  case op::call: {
    ir::derivative const& says = p_[f()[n].attributes.callee()].derivative;
    if (says.how == ir::derivative::by::refused)
      refuse(
          n, "@" + std::string(p_.name_of(f()[n].attributes.callee())) +
                 " cannot be differentiated: " + std::string(p_.text(says.why)));
    return call(n, cotangents);
  }
  case op::host:
    refuse(
        n, "the host's function \"" + std::string(p_.text(f()[n].attributes.text())) +
               "\" has no derivative, and its result depends on the inputs of the derivative");
  case op::sample:
    refuse(n, "a random choice has no derivative; say what it is, and differentiate the density");
  default:
    refuse(n, "it has no derivative, and its result depends on the inputs of the derivative");
  }
}

} // namespace overdub::adjoint
