#include <overdub/implementation/pass/reabstraction.hpp>
#include <overdub/pass/ir_names.hpp>
#include <overdub/pass/reabstract_at_callers.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace overdub::pass {
namespace detail {

/// The calls and closures of a program's functions.
class call_sites {
public:
  struct site {
    function_id caller;
    node_id node;
  };
  explicit call_sites(program const& p) : of_(p.functions.size()) {
    for (std::uint32_t i = 0; i < p.functions.size(); ++i)
      ir::walk(p.functions[i], function::body, [&](node_id n) {
        function::node const& node = p.functions[i][n];
        if (node.code == op::call || node.code == op::closure)
          of_[node.attributes.subject].push_back({function_id{i}, n});
      });
  }
  std::vector<site> const& operator[](function_id f) const { return of_[index_of(f)]; }

private:
  std::vector<std::vector<site>> of_;
};

class edge_reabstraction {
public:
  explicit edge_reabstraction(program& p) : p_(p), sites_(p) {}

  std::size_t run() {
    std::size_t changes = 0;
    ir::call_components const calls(p_); // callees first: reabstractions move up several levels
    for (function_id const f : calls.order()) {
      if (f == p_.entry) continue;
      for (std::uint32_t i = 0; i < p_[f].parameters().size(); ++i) changes += parameter(f, i);
      for (std::uint32_t i = 0; i < p_[f].results.size(); ++i) changes += result(f, i);
    }
    return changes;
  }

private:
  bool parameter(function_id id, std::uint32_t i) {
    function const& f = p_[id];
    value_id const v = f.argument(function::body, i);
    if (!f.type_of(v).is_function()) return false;
    type const to = wanted(id, v, i);
    if (!to) return false;
    for (call_sites::site const& s :
         sites_[id]) // the parameter is not captured: it is a part of the closure's type
      if (i >= p_[s.caller][s.node].operand_count) return false;
    cursor c(p_, id, function::body);
    std::vector<node_id> made;
    for (use_id const u : f.uses_of(v))
      if (f[f[u].user].code == op::reabstract) made.push_back(f[u].user);
    c.set_type(v, to);
    for (node_id const n : made) c.replace(n, cursor::values(&v, 1));
    for (call_sites::site const& s : sites_[id]) {
      if (s.caller == id && p_[id].operand(s.node, i) == v) continue; // passed on unchanged
      cursor at(p_, s.caller);
      at.to_before(s.node);
      at.set_place(p_[s.caller][s.node].place);
      value_id const given = at->operand(s.node, i);
      at.set_operand(s.node, i, reabstracted(at, given, to));
      drop_unused(at, given);
    }
    return true;
  }
  // The one type that a parameter is reabstracted to, if its other uses are only applications, and calls of the function
  // itself; no type otherwise.
  type wanted(function_id id, value_id v, std::uint32_t i) const {
    function const& f = p_[id];
    type to;
    for (use_id const u : f.uses_of(v)) {
      if (f[f[u].user].code != op::reabstract) continue;
      type const t = f.type_of(f.result(f[u].user));
      if (to && to != t) return {};
      to = t;
    }
    if (!to || to == f.type_of(v)) return {};
    for (use_id const u : f.uses_of(v)) {
      node_id const n = f[u].user;
      std::uint32_t const operand = index_of(u) - f[n].first_operand;
      bool const is_applied =
          f[n].code == op::apply && operand == 0 && ir::inner_differences(p_, f.type_of(v), to) == 0;
      bool const is_handed_on = (f[n].code == op::call || f[n].code == op::closure) &&
                                f[n].attributes.callee() == id && operand == i;
      if (f[n].code != op::reabstract && !is_applied && !is_handed_on) return {};
    }
    return to;
  }

  bool result(function_id id, std::uint32_t i) {
    function const& f = p_[id];
    for (call_sites::site const& s : sites_[id])
      if (p_[s.caller][s.node].code == op::closure) return false; // a part of the closure's type
    node_id const last = f.yield_of(function::body);
    value_id const v = f.operand(last, i);
    node_id const made = maker_of(f, v, op::reabstract);
    if (made == nothing || !is_used_once(f, v)) return false;
    value_id const first = f.operand(made, 0);
    type const t = f.type_of(first);
    cursor c(p_, id, function::body);
    c.set_operand(last, i, first);
    c.erase(made);
    p_[id].results[i] = t;
    for (call_sites::site const& s : sites_[id]) {
      cursor at(p_, s.caller);
      at.to_after(s.node);
      at.set_place(p_[s.caller][s.node].place);
      retype(at, at->result(s.node, i), t);
    }
    return true;
  }

  program& p_;
  call_sites sites_;
};

} // namespace detail

std::size_t reabstract_at_callers(program& p) {
  return p.entry == nothing ? 0 : detail::edge_reabstraction(p).run();
}

} // namespace overdub::pass
