#pragma once

#include <overdub/pass/inline.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace overdub::pass::detail {

OVERDUB_DECL inlining::inlining(program& p, std::size_t small)
    : p_(p), small_(small), calls_(p), count_(p.functions.size()), closures_(p.functions.size()),
      size_(p.functions.size()) {
  for (std::uint32_t i = 0; i < p.functions.size(); ++i)
    if (!p.is_erased(function_id{i})) count(function_id{i}, 1);
}

OVERDUB_DECL std::size_t inlining::run() {
  for (function_id const f : calls_.order()) into(f);
  if (p_.entry != nothing) // callers first
    for (std::size_t i = calls_.order().size(); i-- > 0;) erase_unused(calls_.order()[i]);
  return inlined_;
}

OVERDUB_DECL std::pair<value_id, value_id> const* inlining::copied_values::find(value_id v) const {
  auto const& x = all_[index_of(v)];
  return x.second == nothing ? end() : &x;
}

OVERDUB_DECL void inlining::count(function_id f, std::ptrdiff_t sign) {
  std::size_t size = 0;
  ir::walk(p_[f], function::body, [&](node_id n) {
    function::node const& node = p_[f][n];
    ++size;
    if (node.code == op::call) count_[node.attributes.subject] += sign;
    if (node.code == op::closure) closures_[node.attributes.subject] += sign;
  });
  size_[index_of(f)] = size;
  for (function_id const rule : {p_[f].derivative.tangent, p_[f].derivative.cotangent})
    if (rule != nothing) closures_[index_of(rule)] += sign;
}

OVERDUB_DECL bool inlining::is_fit(function_id callee) const {
  if (calls_.is_recursive(callee) || p_[callee].derivative.how != ir::derivative::by::body) return false;
  std::uint32_t const i = index_of(callee);
  return size_[i] <= small_ ||
         (p_.entry != nothing && p_.entry != callee && count_[i] == 1 && closures_[i] == 0);
}

OVERDUB_DECL void inlining::into(function_id f) {
  for (cursor c(p_, f); c.next();) {
    if (c.code() != op::call) continue;
    function_id const callee = (*c)[c.node()].attributes.callee();
    if (!is_fit(callee)) continue;
    copy(c, callee);
    ++inlined_;
    size_[index_of(f)] += size_[index_of(callee)];
    --count_[index_of(callee)];
    count(callee, 1);
  }
}

OVERDUB_DECL void inlining::copy(cursor& c, function_id callee) {
  node_id const call = c.node();
  copied_.clear(p_[callee].value_count());
  for (std::uint32_t i = 0; i < (*c)[call].operand_count; ++i)
    copied_.insert_or_assign(p_[callee].argument(function::body, i), c->operand(call, i));
  c.clone_contents(callee, function::body, copied_);
  node_id const last = (*c)[call].previous; // the copy of its yield
  results_.clear();
  for (value_id const v : c->operands_of(last)) results_.push_back(v);
  c.erase(last);
  c.replace(call, results_);
}

OVERDUB_DECL void inlining::erase_unused(function_id f) {
  std::uint32_t const i = index_of(f);
  if (f == p_.entry || count_[i] != 0 || closures_[i] != 0) return;
  count(f, -1);
  p_.erase(f);
}

} // namespace overdub::pass::detail
