#include <overdub/incremental/update_strategies.hpp>

#include <algorithm>
#include <cstdint>

namespace overdub::increments {

update_strategy& update_strategies::use(pending_changes const& changes, saved_values const& saved) {
  auto const is_known = [&](update_strategy const& s) {
    return s.is_of(changes.code()) && (changes.has_exact_code() || s.changes() == changes.signature());
  };
  if (in_use() == nullptr || !is_known(*in_use())) {
    auto const at = std::ranges::find_if(all_, is_known);
    auto const found = static_cast<std::uint32_t>(at - all_.begin());
    if (at == all_.end()) all_.emplace_back(changes.signature(), changes.code());
    bool const needs_values = in_use() != nullptr && was_committed(saved.versions);
    if (needs_values && !all_[found].is_plain()) all_[in_use_].was_needed();
    in_use_ = found;
    forget_commits(saved.versions);
    shape_ = 0;
  }
  update_strategy& strategy = all_[in_use_];
  if (std::uint64_t const shape = saved.versions.arrays + saved.versions.lengths + saved.variables.size();
      shape_ != shape) [[unlikely]] {
    shape_ = shape;
    strategy.has_size(saved.elements(0, changes.inputs()), saved.variables.size());
  }
  return strategy;
}

} // namespace overdub::increments
