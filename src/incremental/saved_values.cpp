#include <overdub/incremental/saved_values.hpp>

#include <cstddef>
#include <cstdint>

namespace overdub::increments {

datum saved_values::as_datum(std::uint32_t variable) const {
  return is_number(variable) ? datum::of_bits(variables[variable].type, numbers[variable])
                             : arrays[variable].as_datum();
}

std::uint64_t saved_values::elements(std::uint32_t first, std::uint32_t last) const {
  std::uint64_t all = 0;
  for (std::uint32_t k = first; k < last; ++k)
    if (!is_number(k)) all += static_cast<std::uint64_t>(arrays[k].scalars());
  return all;
}

void saved_values::resize() {
  while (arrays.size() < variables.size())
    arrays.emplace_back(variables[static_cast<std::uint32_t>(arrays.size())].type);
  numbers.resize(variables.size());
  indices.resize(variables.size());
  sums.resize(variables);
}

void saved_values::reserve(saved_values const& other) {
  for (std::size_t k = 0; k < arrays.size(); ++k) arrays[k].reserve(other.arrays[k]);
  sums.reserve(other.sums);
}
void saved_values::assign(saved_values const& other) {
  ++versions.numbers;
  numbers = other.numbers;
  arrays = other.arrays;
  results = other.results;
  sums.assign(other.sums);
  indices.invalidate();
}

} // namespace overdub::increments
