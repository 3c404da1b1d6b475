// Notes on what the backward pass saves and recomputes, which `explain` prints.
#pragma once

#include <overdub/ir/type_text.hpp>
#include <overdub/reverse/writer.hpp>

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>

namespace overdub::adjoint {

/// Describes a value of a copy by its type and the operation that computes it.
inline std::string writer::described(primal_copy const& r, value_id v) const {
  std::string text = ir::text_of(p_, type_of(v));
  if (std::find(r.arguments.begin(), r.arguments.end(), v) != r.arguments.end())
    return text + " (loop-carried)";
  if (f().is_result(v)) text.append(" of ").append(ir::name_of(f()[f().node_of(v)].code));
  return text;
}

/// Notes the residuals of an operation, and how many operations its adjoint recomputes.
inline void writer::note_residuals(
    function::node const& of, bool in_each_iteration, std::vector<std::string> const& saved,
    std::size_t operations, std::vector<std::string> const& restored) {
  std::string text = std::string(1, '@').append(p_.name_of(of_)) + ": " + std::string(ir::name_of(of.code)) +
                     (saved.empty() ? " saves nothing" : " saves ");
  for (std::size_t i = 0; i < saved.size(); ++i) text.append(i > 0 ? ", " : "").append(saved[i]);
  if (in_each_iteration && !saved.empty()) text += ", in each iteration";
  for (std::string const& array : restored) text.append("; restores ").append(array);
  if (operations > 0)
    text.append("; recomputes ").append(std::to_string(operations)).append(" of its operations");
  p_.notes.push_back({std::move(text), of.place});
}

/// Notes that a branch computes its partial derivatives in the forward pass.
inline void writer::note_partials(node_id n, std::size_t count) {
  p_.notes.push_back(
      {std::string(1, '@').append(p_.name_of(of_)) + ": if computes " + std::to_string(count) +
           " partial derivatives in the forward pass",
       f()[n].place});
}

} // namespace overdub::adjoint
