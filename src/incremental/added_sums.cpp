#include <overdub/execute/values.hpp>
#include <overdub/implementation/incremental/added_sums.hpp>
#include <overdub/implementation/incremental/reverse_index.hpp>
#include <overdub/incremental/compensated_sum.hpp>
#include <overdub/incremental/saved_values.hpp>
#include <overdub/incremental/update_results.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

namespace overdub::increments {

std::uint64_t added(
    saved_values& saved, std::uint32_t variable, std::size_t number, std::uint64_t sum, std::uint64_t by,
    std::uint64_t& compensation) {
  return execute::with_type(saved.variables[variable].type.element, [&]<class T>(T) -> std::uint64_t {
    if constexpr (std::is_floating_point_v<T>) {
      using word = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;
      auto const [now, lost] = two_sum(number_in<T>(sum), number_in<T>(by));
      double& largest = *saved.largest_magnitude(variable, number);
      largest = larger_magnitude(number_in<T>(sum), largest);
      compensation = std::bit_cast<word>(static_cast<T>(number_in<T>(compensation) + lost));
      return std::bit_cast<word>(now);
    } else {
      return sum + by;
    }
  });
}

void add_to_sums(store const& s, bound_call const& from, saved_values& saved) {
  std::uint32_t const compensations = saved.variables.compensation_of(saved.variables[s.variable].of);
  bool const has_compensation = compensations != layout::none;
  std::uint64_t compensation = 0;
  if (saved.is_number(s.variable)) {
    if (s.valid.exists() && word_of(from, s.valid) == 0) return;
    std::uint64_t& sum = saved.numbers[s.variable];
    sum = added(
        saved, s.variable, 0, sum, word_of(from, s.value),
        has_compensation ? saved.numbers[compensations] : compensation);
    return saved.check_finite(s.variable, sum);
  }
  cells& to = saved.arrays[s.variable];
  reverse_index* const index = saved.indices.of(s.variable);
  for_each_part(s, from, nullptr, to.size_of_scalar(), [&](std::span<i64 const> path, std::byte const* part) {
    std::size_t const at = to.at(path);
    if (has_compensation) compensation = saved.arrays[compensations].bits_at(at);
    std::uint64_t const by = bits_or_zero(part, to.size_of_scalar());
    to.set_bits_at(at, added(saved, s.variable, at / to.size_of_scalar(), to.bits_at(at), by, compensation));
    if (has_compensation) saved.arrays[compensations].set_bits_at(at, compensation);
    saved.check_finite(s.variable, to.bits_at(at));
    if (index != nullptr) index->record_write(path[0]);
  });
}

} // namespace overdub::increments
