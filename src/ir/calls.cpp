#include <overdub/ir/calls.hpp>

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

namespace overdub::ir {

call_components::call_components(program const& p)
    : number_(p.functions.size(), 0), low_(p.functions.size(), 0), recursive_(p.functions.size()) {
  for (std::uint32_t i = 0; i < p.functions.size(); ++i)
    if (number_[i] == 0 && !p.is_erased(function_id{i})) search(p, function_id{i});
}

std::span<function_id const> call_components::operator[](std::size_t i) const {
  std::size_t const end = i + 1 < first_.size() ? first_[i + 1] : order_.size();
  return std::span(order_).subspan(first_[i], end - first_[i]);
}

void call_components::search(program const& p, function_id start) {
  struct position {
    function_id function;
    std::uint32_t node; // the next one to visit
  };
  std::vector<position> path;
  auto enter = [&](function_id f) {
    number_[index_of(f)] = low_[index_of(f)] = ++last_number_;
    open_.push_back(f);
    path.push_back({f, 0});
  };
  enter(start);
  while (!path.empty()) {
    std::uint32_t const at = index_of(path.back().function);
    function const& f = p.functions[at];
    if (path.back().node < f.node_count()) {
      function::node const& node = f[node_id{path.back().node++}];
      if (node.parent == nothing || (node.code != op::call && node.code != op::closure)) continue;
      std::uint32_t const callee = node.attributes.subject;
      if (callee == at) recursive_[at] = true;
      if (number_[callee] == 0)
        enter(function_id{callee});
      else
        low_[at] = std::min(low_[at], number_[callee]); // maximal in closed components
      continue;
    }
    path.pop_back();
    if (!path.empty()) {
      std::uint32_t& low = low_[index_of(path.back().function)];
      low = std::min(low, low_[at]);
    }
    if (low_[at] == number_[at]) close(at);
  }
}

void call_components::close(std::uint32_t at) {
  first_.push_back(order_.size());
  bool const several = index_of(open_.back()) != at;
  for (std::uint32_t closed = ~at; closed != at; open_.pop_back()) {
    closed = index_of(open_.back());
    order_.push_back(open_.back());
    number_[closed] = low_[closed] = ~0u;
    if (several) recursive_[closed] = true;
  }
}

} // namespace overdub::ir
