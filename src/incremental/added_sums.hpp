// Sums that an update program changes by differences, other than single numbers of type f64 (bound_stores.hpp).
#pragma once

#include <overdub/execute/values.hpp>
#include <overdub/implementation/incremental/reverse_index.hpp>
#include <overdub/incremental/compensated_sum.hpp>
#include <overdub/incremental/saved_values.hpp>
#include <overdub/incremental/update_results.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

namespace overdub::increments {

/// Whether cancellation makes the rounding errors of a sum visible, so that it must be added up again.
[[gnu::noinline]] inline bool cancels(store const& s, bound_call const& from, saved_values& saved) {
  auto const cancels_one = [&](std::size_t number, std::uint64_t sum, std::uint64_t by) {
    return execute::with_type(saved.variables[s.variable].type.element, [&]<class T>(T) {
      if constexpr (std::is_floating_point_v<T>) {
        T const before = number_in<T>(sum), now = before + number_in<T>(by);
        return is_cancelled(now, larger_magnitude(before, *saved.largest_magnitude(s.variable, number)));
      } else
        return false;
    });
  };
  if (saved.is_number(s.variable))
    return !(s.valid.exists() && word_of(from, s.valid) == 0) &&
           cancels_one(0, saved.numbers[s.variable], word_of(from, s.value));
  cells const& to = saved.arrays[s.variable];
  bool any = false;
  for_each_part(s, from, nullptr, to.size_of_scalar(), [&](std::span<i64 const> path, std::byte const* part) {
    std::size_t const at = to.at(path);
    any =
        any || cancels_one(at / to.size_of_scalar(), to.bits_at(at), bits_or_zero(part, to.size_of_scalar()));
  });
  return any;
}

/// The sum of a saved sum and a difference. Adds the rounding error to the compensation.
std::uint64_t added(
    saved_values& saved, std::uint32_t variable, std::size_t number, std::uint64_t sum, std::uint64_t by,
    std::uint64_t& compensation);

/// Adds differences to sums, and the rounding errors to their compensations.
void add_to_sums(store const& s, bound_call const& from, saved_values& saved);

} // namespace overdub::increments
