// The committed state of an incremental program.
#pragma once

#include <overdub/core/library.hpp>
#include <overdub/execute/bound_call.hpp>
#include <overdub/execute/datum.hpp>
#include <overdub/incremental/cells.hpp>
#include <overdub/incremental/reverse_indices.hpp>
#include <overdub/incremental/sum_errors.hpp>
#include <overdub/incremental/update_program.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace overdub::increments {

/// What update programs that are bound to saved values depend on. Each number is incremented.
struct saved_versions {
  std::uint64_t numbers = 1; // when a saved number changes
  std::uint64_t arrays = 1;  // when a saved array moves, or changes its shape
  std::uint64_t lengths = 1; // when a saved array grows in place
  /// Differs after each of these.
  std::uint64_t state() const { return numbers + arrays + lengths; }
};

/// The inputs of a function, the values that its update programs save, and its results, all as committed.
struct saved_values {
  explicit saved_values(ir::function const& f) : variables(f), results(f.results.size()) {}

  bool is_number(std::uint32_t variable) const { return variables[variable].type.rank == 0; }
  /// The bits of a number, or of the element of an array. Does not throw: the path must be in range.
  std::uint64_t bits_at(std::uint32_t variable, std::span<i64 const> path) const {
    return is_number(variable) ? numbers[variable] : arrays[variable].bits_at(arrays[variable].at(path));
  }
  datum as_datum(std::uint32_t variable) const;
  /// The number of elements of the arrays among these variables.
  std::uint64_t elements(std::uint32_t first, std::uint32_t last) const;
  /// Passes a saved value to a program. Arrays are borrowed, and not copied.
  void pass(bound_call& to, std::size_t parameter, std::uint32_t variable) const {
    if (is_number(variable))
      to.set(parameter, numbers[variable]);
    else
      to.lend(parameter, arrays[variable].data(), arrays[variable].extents());
  }

  /// Allocates the values that were added to `variables`.
  void resize();
  /// Whether all values are allocated.
  bool is_whole() const { return sums.size() == variables.size(); }
  /// The largest magnitude of a saved sum since it was last added up.
  double* largest_magnitude(std::uint32_t variable, std::size_t number) {
    return sums.largest_magnitude(variable, number, arrays[variable]);
  }
  /// A saved sum was set to this number.
  void check_finite(std::uint32_t variable, std::uint64_t bits) {
    sums.check_finite(variables[variable].type.element, bits);
  }
  /// The next proposal recomputes everything.
  void recompute_all_next() {
    sums.recompute_all_next();
    ++versions.arrays; // no bound update program is ready
  }
  /// From now on commits record their writes to a saved array. Update programs are bound again for that.
  void track_writes(std::uint32_t variable) {
    if (indices.of(variable) != nullptr) return;
    indices.add(variable);
    ++versions.arrays;
  }

  /// Allocates memory for a copy of the values of another computation of the function; then `assign` does not allocate.
  void reserve(saved_values const& other);
  void assign(saved_values const& other);

  layout variables;
  std::vector<std::uint64_t> numbers; // by variable: its bits, if it is a number
  std::vector<cells> arrays;          // by variable
  std::vector<std::uint64_t> results; // by result of the function: its bits, if it is a number
  saved_versions versions;
  sum_errors sums;
  reverse_indices indices;
};

} // namespace overdub::increments
