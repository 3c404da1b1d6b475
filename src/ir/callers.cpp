#include <overdub/ir/callers.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace overdub::ir {
namespace {

template <class F>
void for_each_call(program const& p, F const& f) {
  for (std::uint32_t i = 0; i < p.functions.size(); ++i) {
    function const& caller = p.functions[i];
    if (p.is_erased(function_id{i})) continue;
    for (std::uint32_t n = 0; n < caller.node_count(); ++n) {
      function::node const& node = caller[node_id{n}];
      if (node.parent == nothing || (node.code != op::call && node.code != op::closure)) continue;
      f(function_call{function_id{i}, node.attributes.callee(), node_id{n}});
    }
  }
}

} // namespace

callers::callers(program const& p) : first_(p.functions.size() + 1, 0) {
  for_each_call(p, [&](function_call const& c) { ++first_[index_of(c.callee) + 1]; });
  for (std::size_t i = 1; i < first_.size(); ++i) first_[i] += first_[i - 1];
  calls_.resize(first_.back());
  std::vector<std::uint32_t> next(first_.begin(), first_.end() - 1);
  for_each_call(p, [&](function_call const& c) { calls_[next[index_of(c.callee)]++] = c; });
}

} // namespace overdub::ir
