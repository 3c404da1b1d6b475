#include <overdub/ir/calls.hpp>
#include <overdub/pass/inline.hpp>
#include <overdub/pass/ir_names.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>
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
  // The map of a copied function's values, by index, for cursor::clone.
  class copied_values {
  public:
    void clear(std::size_t size) { all_.assign(size, {nothing, nothing}); }
    std::pair<value_id, value_id> const* find(value_id v) const {
      auto const& x = all_[index_of(v)];
      return x.second == nothing ? end() : &x;
    }
    std::pair<value_id, value_id> const* end() const { return nullptr; }
    void insert_or_assign(value_id v, value_id copy) { all_[index_of(v)] = {v, copy}; }

  private:
    std::vector<std::pair<value_id, value_id>> all_;
  };

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
      copy(c, callee);
      ++inlined_;
      size_[index_of(f)] += size_[index_of(callee)];
      --count_[index_of(callee)];
      count(callee, 1);
    }
  }
  // Copies the body of a function to the cursor, at a call, and replaces the call.
  void copy(cursor& c, function_id callee) {
    node_id const call = c.node();
    copied_.clear(p_[callee].value_count());
    for (std::uint32_t i = 0; i < (*c)[call].operand_count; ++i)
      copied_.insert_or_assign(p_[callee].argument(function::body, i), c->operand(call, i));
    c.clone_contents(callee, function::body, copied_);
    node_id const last = (*c)[call].previous; // the copy of the yield
    results_.clear();
    for (value_id const v : c->operands_of(last)) results_.push_back(v);
    c.erase(last);
    c.replace(call, results_);
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
  copied_values copied_;
  std::vector<value_id> results_;
  std::size_t inlined_ = 0;
};

} // namespace detail

std::size_t inline_calls(program& p, std::size_t small) { return detail::inlining(p, small).run(); }

} // namespace overdub::pass
