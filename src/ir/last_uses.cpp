#include <overdub/implementation/ir/last_uses.hpp>
#include <overdub/implementation/ir/names_of_values.hpp>

#include <utility>

namespace overdub::ir {

last_uses::last_uses(function const& f, use_order const& order) : first_(f.node_count() + 1) {
  std::vector<std::pair<value_id, node_id>> ends;
  auto const end = [&](value_id v, node_id n) {
    ends.push_back({v, n});
    ++first_[index_of(n) + 1];
  };
  auto const end_used = [&](auto const& values, region_id r) {
    for (value_id const v : values)
      if (node_id const last = order.last_use_in(v, r); last != nothing) end(v, last);
  };
  walk(f, function::body, [&](node_id n) {
    for (value_id const v : f.results_of(n))
      if (!f.is_used(v)) end(v, n);
  });
  end_used(f.arguments_of(function::body), function::body);
  walk(f, function::body, [&](node_id n) {
    for (region_id const r : f.regions_of(n)) end_used(f.arguments_of(r), r);
    end_used(f.results_of(n), f[n].parent);
  });
  for (std::size_t n = 1; n < first_.size(); ++n) first_[n] += first_[n - 1];
  std::vector<std::uint32_t> next(first_.begin(), first_.end() - 1);
  values_.resize(ends.size());
  for (auto const& [v, n] : ends) values_[next[index_of(n)]++] = v;
}

std::string text_of(last_uses const& ends, program const& p, function const& f) {
  names_of_values const names(p, f);
  std::string text;
  walk(f, function::body, [&](node_id n) {
    if (ends.at(n).empty()) return;
    for (value_id const v : f.results_of(n)) text.append(v == f.result(n) ? "" : ", ").append(names[v]);
    text.append(f[n].result_count > 0 ? " = " : "").append(name_of(f[n].code)).append(": ends");
    for (value_id const v : ends.at(n)) text.append(" ").append(names[v]);
    text += '\n';
  });
  return text;
}

} // namespace overdub::ir
