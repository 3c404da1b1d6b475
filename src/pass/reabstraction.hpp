// Finds and inserts reabstractions: used by all passes over reabstractions.
#pragma once

#include <overdub/implementation/ir/maker.hpp>
#include <overdub/ir/function_types.hpp>
#include <overdub/pass/ir_names.hpp>

namespace overdub::pass {

/// Whether a program reabstracts a function value. O(operations).
inline bool has_reabstractions(program const& p) {
  for (function const& f : p.functions)
    for (std::uint32_t i = 0; i < f.node_count(); ++i)
      if (!f.is_erased(node_id{i}) && f[node_id{i}].code == op::reabstract) return true;
  return false;
}

namespace detail {

// The operand of the reabstraction that defines a value; the value itself, if there is none.
inline value_id before_reabstraction(function const& f, value_id v) {
  for (node_id n = maker_of(f, v, op::reabstract); n != nothing; n = maker_of(f, v, op::reabstract))
    v = f.operand(n, 0);
  return v;
}
// Inserts a reabstraction at the cursor.
inline value_id reabstracted(cursor& c, value_id v, type to) {
  v = before_reabstraction(*c, v);
  if (c->type_of(v) == to) return v;
  value_id const operands[] = {v};
  type const results[] = {to};
  return c->result(c.insert(op::reabstract, operands, results));
}
inline bool is_used_once(function const& f, value_id v) {
  return f.is_used(v) && f[f[v].first_use].next == nothing;
}
// Erases the reabstraction that defines a value, if it is unused.
inline void drop_unused(cursor& c, value_id v) {
  node_id const made = maker_of(*c, v, op::reabstract);
  if (made != nothing && !c->is_used(v)) c.erase(made);
}
// Changes the type of a value; its uses get a reabstraction of it, inserted at the cursor.
inline void retype(cursor& c, value_id v, type to) {
  type const from = c->type_of(v);
  c.set_type(v, to);
  if (!c->is_used(v)) return;
  value_id const operands[] = {v};
  type const results[] = {from};
  node_id const made = c.insert(op::reabstract, operands, results);
  c.substitute(v, c->result(made));
  c.set_operand(made, 0, v);
}

} // namespace detail
} // namespace overdub::pass
