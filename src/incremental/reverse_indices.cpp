#include <overdub/implementation/incremental/gather_index.hpp>
#include <overdub/implementation/incremental/reverse_index.hpp>
#include <overdub/incremental/reverse_indices.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace overdub::increments {

reverse_indices::reverse_indices() = default;
reverse_indices::reverse_indices(reverse_indices const& other) : of_(other.of_.size()) {}
reverse_indices::reverse_indices(reverse_indices&& other) noexcept = default;
reverse_indices& reverse_indices::operator=(reverse_indices&& other) noexcept = default;
reverse_indices::~reverse_indices() = default;

void reverse_indices::resize(std::size_t variables) { of_.resize(variables); }
void reverse_indices::add(std::uint32_t variable) { of_[variable] = std::make_unique<reverse_index>(); }

gather_index& reverse_indices::of_gather(ir::value_id index) {
  auto at = std::ranges::find(of_gathers_, index, [](auto const& known) { return known.first; });
  if (at == of_gathers_.end()) at = of_gathers_.insert(at, {index, std::make_unique<gather_index>()});
  return *at->second;
}

void reverse_indices::invalidate() {
  for (auto const& each : of_)
    if (each != nullptr) each->invalidate();
}

} // namespace overdub::increments
