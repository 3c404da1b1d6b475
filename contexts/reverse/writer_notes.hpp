// Which values the reverse pass reads, in sentences: notes of the program, which `explain` shows.
#pragma once

#include <overdub/contexts/reverse/writer.hpp>
#include <overdub/ir/type_text.hpp>

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>

namespace overdub::contexts::adjoint {

/// A value of a copy, by its type and by what makes it.
inline std::string writer::described(replica const& r, value_id v) const {
  std::string text = ir::text_of(p_, type_of(v));
  if (std::find(r.arguments.begin(), r.arguments.end(), v) != r.arguments.end())
    return text + " (loop-carried)";
  if (f().is_result(v)) text.append(" of ").append(ir::name_of(f()[f().node_of(v)].code));
  return text;
}

/// What an operation keeps, and how much its adjoint computes again.
inline void writer::note_kept(
    function::node const& of, bool in_each_turn, std::vector<std::string> const& kept, std::size_t operations,
    std::vector<std::string> const& restored) {
  std::string text = std::string(1, '@').append(p_.name_of(of_)) + ": " + std::string(ir::name_of(of.code)) +
                     (kept.empty() ? " saves nothing" : " saves ");
  for (std::size_t i = 0; i < kept.size(); ++i) text.append(i > 0 ? ", " : "").append(kept[i]);
  if (in_each_turn && !kept.empty()) text += ", in each iteration";
  for (std::string const& array : restored) text.append("; restores ").append(array);
  if (operations > 0)
    text.append("; recomputes ").append(std::to_string(operations)).append(" of its operations");
  p_.notes.push_back({std::move(text), of.place});
}

/// A branch gives its slopes on the way there.
inline void writer::note_slopes(node_id n, std::size_t count) {
  p_.notes.push_back(
      {std::string(1, '@').append(p_.name_of(of_)) + ": if computes " + std::to_string(count) +
           " partial derivatives in the forward pass",
       f()[n].place});
}

} // namespace overdub::contexts::adjoint
