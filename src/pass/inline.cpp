#include <overdub/implementation/pass/replace_call.hpp>
#include <overdub/ir/calls.hpp>
#include <overdub/pass/inline.hpp>
#include <overdub/pass/ir_names.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace overdub::pass {
namespace detail {

class inlining {
public:
  inlining(program& p, std::size_t small)
      : p_(p), small_(small), calls_(p), count_(p.functions.size()), closures_(p.functions.size()),
        size_(p.functions.size()) {
    for (std::uint32_t i = 0; i < p.functions.size(); ++i)
      if (!p.is_erased(function_id{i})) count(function_id{i}, 1);
  }

  std::size_t run() {
    for (function_id const f : calls_.order()) into(f);
    if (p_.entry != nothing) // callers first
      for (std::size_t i = calls_.order().size(); i-- > 0;) erase_unused(calls_.order()[i]);
    return inlined_;
  }

private:
  // Adds (or subtracts) the calls of a function.
  void count(function_id f, std::ptrdiff_t sign) {
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
  bool is_fit(function_id callee) const {
    if (calls_.is_recursive(callee) || p_[callee].derivative.how != ir::derivative::by::body) return false;
    std::uint32_t const i = index_of(callee);
    return size_[i] <= small_ ||
           (p_.entry != nothing && p_.entry != callee && count_[i] == 1 && closures_[i] == 0);
  }
  void into(function_id f) {
    for (cursor c(p_, f); c.next();) {
      if (c.code() != op::call) continue;
      function_id const callee = (*c)[c.node()].attributes.callee();
      if (!is_fit(callee) || (*c)[c.node()].attributes.is_exempt()) continue;
      replace_(c, c.node());
      ++inlined_;
      size_[index_of(f)] += size_[index_of(callee)];
      --count_[index_of(callee)];
      count(callee, 1);
    }
  }
  void erase_unused(function_id f) {
    std::uint32_t const i = index_of(f);
    if (f == p_.entry || count_[i] != 0 || closures_[i] != 0) return;
    count(f, -1);
    p_.erase(f);
  }

  program& p_;
  std::size_t small_;
  ir::call_components calls_;
  std::vector<std::ptrdiff_t> count_;    // calls of each function
  std::vector<std::ptrdiff_t> closures_; // closures of each function
  std::vector<std::size_t> size_;        // operations of each function
  call_replacement replace_;
  std::size_t inlined_ = 0;
};

} // namespace detail

std::size_t inline_calls(program& p, std::size_t small) { return detail::inlining(p, small).run(); }

} // namespace overdub::pass
