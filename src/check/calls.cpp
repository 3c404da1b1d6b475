// The analysis of calls, function values, and operations that leave the program; and the dispatch over operations.

#include <overdub/implementation/check/analysis.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <utility>

namespace overdub::checking {

possible_values analysis::body(function_id f, values arguments) {
  state s(p_, f);
  return region(s, ir::function::body, std::move(arguments));
}

void analysis::call_with_unknown(function_id f) {
  if (is_unknown_[index_of(f)]) return;
  is_unknown_[index_of(f)] = true;
  unknown_.push_back(f);
}

possible_values analysis::call(function_id f, values arguments) {
  constexpr int deepest = 300; // regions: limits recursion on the stack
  if (is_exhausted() || depth_ > deepest) {
    call_with_unknown(f);
    values results;
    for (ir::type const t : p_[f].results) results.push_back(anything(t));
    return results;
  }
  return components_.is_recursive(f) ? recursive(f, std::move(arguments)) : body(f, std::move(arguments));
}

// All calls of a recursive function are analysed together, to a fixpoint.
possible_values analysis::recursive(function_id f, values arguments) {
  for (abstract& each : arguments) each = before(std::move(each), 1);
  if (auto const known = summaries_.find(f); known != summaries_.end()) {
    summary& all = known->second;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      if (is_within(arguments[i], all.arguments[i])) continue;
      all.arguments[i] = widened(all.arguments[i], arguments[i]);
      all.has_grown = true;
    }
    return all.results;
  }
  summary& all = summaries_[f];
  all.arguments = std::move(arguments);
  with<bool> const perhaps(must_, false);
  auto const analyse = [&] { // whether the summary grew
    all.has_grown = false;
    possible_values next = body(f, all.arguments);
    if (!next) return all.has_grown;
    for (abstract& each : *next) each = before(std::move(each), 1);
    if (all.results && detail::are_within(*next, *all.results)) return all.has_grown;
    if (!all.results)
      all.results = std::move(next);
    else
      for (std::size_t i = 0; i < next->size(); ++i)
        (*all.results)[i] = is_exhausted() ? join(anything((*next)[i].type), (*next)[i])
                                           : widened((*all.results)[i], (*next)[i]);
    return true;
  };
  {
    with<bool> const silently(reporting_, false);
    while (analyse()) {
    }
  }
  while (reporting_ && analyse()) {
  }
  possible_values results = std::move(all.results);
  summaries_.erase(f);
  return results;
}

bool analysis::call_node(state& s, node_id n, function_id callee, values arguments) {
  path_.push_back({s.id, n});
  possible_values results = call(callee, std::move(arguments));
  path_.pop_back();
  if (!results) return false;
  give(s, n, std::move(*results));
  return true;
}

bool analysis::function_value(state& s, node_id n) {
  ir::type const t = s.f.type_of(s.f.result(n));
  abstract x{t, number::any(), {}, nullptr};
  if (s.f[n].code == op::reabstract)
    x.calls = s[s.f.operand(n, 0)].calls;
  else {
    constexpr int deepest = 100; // limits recursion over function values that capture one another
    known_closure made{s.f[n].attributes.callee(), {}};
    for (value_id const v : s.f.operands_of(n)) {
      made.captured.push_back(s[v]);
      if (s[v].calls) made.depth = std::max(made.depth, s[v].calls->depth + 1);
    }
    if (made.depth <= deepest) x.calls = std::make_shared<known_closure>(std::move(made));
  }
  give(s, n, {std::move(x)});
  return true;
}

bool analysis::apply(state& s, node_id n) {
  if (auto const calls = s[s.f.operand(n, 0)].calls) {
    values arguments = calls->captured;
    for (std::uint32_t i = 1; i < s.f[n].operand_count; ++i) arguments.push_back(s[s.f.operand(n, i)]);
    return call_node(s, n, calls->callee, std::move(arguments));
  }
  for (ir::function const& f : p_.functions)
    for (std::uint32_t i = 0; i < f.node_count(); ++i)
      if (node_id const made{i}; !f.is_erased(made) && f[made].code == op::closure)
        call_with_unknown(f[made].attributes.callee());
  give_anything(s, n);
  return true;
}

bool analysis::node(state& s, node_id n) {
  op const code = s.f[n].code;
  switch (code) {
  case op::select:
    return select(s, n);
  case op::if_:
    return branch(s, n);
  case op::loop:
    return loop(s, n);
  case op::while_:
    return conditional_loop(s, n);
  case op::map:
    return map(s, n);
  case op::reduce:
    return reduce(s, n);
  case op::accumulate:
    return accumulate(s, n);
  case op::protect:
    return protect(s, n);
  case op::call: {
    values arguments;
    for (value_id const v : s.f.operands_of(n)) arguments.push_back(s[v]);
    return call_node(s, n, s.f[n].attributes.callee(), std::move(arguments));
  }
  case op::closure:
  case op::reabstract:
    return function_value(s, n);
  case op::apply:
    return apply(s, n);
  case op::host:
  case op::sample:
    give_anything(s, n);
    return true;
  case op::assert_: {
    value_id const v = s.f.operand(n, 0);
    bools const t = s[v].element.boolean;
    if (t.may_be_false &&
        !fail(
            s, n, finding_kind::assertion, !t.may_be_true,
            std::string("the assertion \"") + std::string(p_.text(s.f[n].attributes.text())) +
                (t.may_be_true ? "\" may not hold" : "\" does not hold")))
      return false;
    return s.assume(v, true);
  }
  default:
    return ir::is_elementwise(code) ? elementwise(s, n) : array_operation(s, n);
  }
}

} // namespace overdub::checking
