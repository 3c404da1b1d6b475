#include "thunks.hpp"

#include <overdub/ir/calls.hpp>
#include <overdub/ir/cursor.hpp>
#include <overdub/ir/type_text.hpp>
#include <overdub/ir/walk.hpp>

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace overdub::jit {
namespace {

using namespace ir;

bool reabstracts(program const& p, function_id f) {
  bool found = false;
  walk(p[f], function::body, [&](node_id n) { found = found || p[f][n].code == op::reabstract; });
  return found;
}

class thunk_maker {
public:
  explicit thunk_maker(program& p) : p_(p) {}

  /// In this function, and in the thunks that it needs.
  void replace_in(function_id f) {
    open_.push_back(f);
    while (!open_.empty()) {
      function_id const id = open_.back();
      open_.pop_back();
      for (cursor c(p_, id); c.next();) {
        if (c.code() != op::reabstract) continue;
        value_id const operands[] = {c.operand(0)};
        type const results[] = {c->type_of(c.result())};
        if (c->type_of(operands[0]) == results[0]) {
          c.replace(operands[0]);
          continue;
        }
        function_id const made = thunk(c->type_of(operands[0]), results[0]);
        c.replace(c->result(c.insert(op::closure, operands, results, attributes::of(made))));
      }
    }
  }
  std::uint32_t count() const { return static_cast<std::uint32_t>(thunks_.size()); }

private:
  // A function that takes a function value of one type, and the arguments of the other type; returns what that one returns.
  function_id thunk(type from, type to) {
    auto const [at, added] = thunks_.try_emplace({from.index, to.index}, nothing);
    if (!added) return at->second;
    signature const inner = p_.signature_of(from), outer = p_.signature_of(to);
    std::vector<type> parameters{from};
    parameters.insert(parameters.end(), outer.parameters.begin(), outer.parameters.end());
    std::string name = "reabstract " + text_of(p_, from) + " as " + text_of(p_, to);
    while (p_.find(name)) name += '\'';
    function_id const made = p_.add(name, parameters);
    at->second = made;
    p_[made].results = outer.results;
    cursor c(p_, made, function::body);
    std::vector<value_id> arguments{c->argument(function::body, 0)};
    for (std::uint32_t i = 0; i < inner.parameters.size(); ++i)
      arguments.push_back(reabstracted(c, c->argument(function::body, i + 1), inner.parameters[i]));
    node_id const applied = c.insert(op::apply, arguments, inner.results);
    std::vector<value_id> results;
    for (std::uint32_t i = 0; i < inner.results.size(); ++i)
      results.push_back(reabstracted(c, c->result(applied, i), outer.results[i]));
    c.yield(results);
    open_.push_back(made);
    return made;
  }
  static value_id reabstracted(cursor& c, value_id v, type to) {
    if (c->type_of(v) == to) return v;
    value_id const operands[] = {v};
    type const results[] = {to};
    return c->result(c.insert(op::reabstract, operands, results));
  }

  program& p_;
  std::map<std::pair<std::uint16_t, std::uint16_t>, function_id> thunks_;
  std::vector<function_id> open_;
};

} // namespace

std::optional<program_with_thunks> with_thunks(program const& p, function_id entry) {
  std::vector<function_id> changed;
  for (function_id const f : reachable_functions(p, entry))
    if (reabstracts(p, f)) changed.push_back(f);
  if (changed.empty()) return {};
  program_with_thunks made{p, 0};
  thunk_maker thunks(made.program);
  for (function_id const f : changed) thunks.replace_in(f);
  made.thunks = thunks.count();
  return made;
}

} // namespace overdub::jit
