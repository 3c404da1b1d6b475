// Pairs of a sine and a cosine of one number: libraries compute both in little more time than one.
#pragma once

#include <overdub/ir/function.hpp>

namespace overdub::ir {

/// The cosine of a sine's operand, or the sine of a cosine's, in the same region; nothing if there is none, or more than
/// one. O(uses of the operand).
inline node_id other_of_sine_and_cosine(function const& f, node_id n) {
  op const code = f[n].code;
  if (code != op::sin && code != op::cos) return nothing;
  value_id const x = f.operand(n, 0);
  if (f.is_literal(x)) return nothing;
  node_id found = nothing;
  for (use_id const u : f.uses_of(x)) {
    node_id const user = f[u].user;
    op const other = f[user].code;
    if (user == n || f[user].parent != f[n].parent || (other != op::sin && other != op::cos)) continue;
    if (other == code || found != nothing) return nothing; // the pairing is ambiguous
    found = user;
  }
  return found;
}

} // namespace overdub::ir
