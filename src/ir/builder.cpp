#include <overdub/ir/builder.hpp>

#include <array>
#include <iterator>

namespace overdub::ir {

node_id builder::open(
    op code, values const& operands, std::uint32_t regions, std::vector<type> const& arguments,
    attributes const& a) {
  std::vector<std::vector<type>> const of_regions(regions, arguments);
  return at_.insert(code, operands, std::span<type const>(), a, of_regions);
}

node_id builder::open_like(function const& f, node_id n, values const& operands) {
  std::vector<std::vector<type>> of_regions;
  for (region_id const r : f.regions_of(n)) {
    auto& types = of_regions.emplace_back();
    for (value_id const v : f.arguments_of(r)) types.push_back(f.type_of(v));
  }
  attributes const a = f[n].attributes; // `f` may be the function that is edited
  return at_.insert(f[n].code, operands, std::span<type const>(), a, of_regions);
}

builder::built builder::close(node_id n) {
  at_.set_results(n, result_types(*at_, n));
  auto const all = at_->results_of(n);
  return {n, values(all.begin(), all.end())};
}

value_id builder::reduce(op combine, value_id array, value_id initial) {
  attributes a = attributes::of(combine);
  a.flags = attributes::started;
  return at_->result(
      at_.insert(op::reduce, std::array{array, initial}, std::array{at_->type_of(initial)}, a));
}

void builder::yield(region_id r, node_id end, values const& more) {
  if (end == nothing) {
    at_.to_end(r);
    return at_.yield(more);
  }
  if (more.empty()) return;
  auto const known = at_->operands_of(end);
  values all(known.begin(), known.end());
  all.insert(all.end(), more.begin(), more.end());
  at_.set_operands(end, all);
}

builder::values builder::arguments(node_id n, std::uint32_t region, std::uint32_t first) const {
  auto const all = at_->arguments_of(at_->region_at(n, region));
  return values(std::next(all.begin(), first), all.end());
}

} // namespace overdub::ir
