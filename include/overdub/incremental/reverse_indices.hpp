// The reverse indices of saved arrays: which iterations read an element.
#pragma once

#include <overdub/core/library.hpp>
#include <overdub/ir/program.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace overdub::increments {

class gather_index;
class reverse_index;

/// Reverse indices, each of which is made when an update first needs it.
class reverse_indices {
public:
  reverse_indices();
  /// A copy has the same number of saved values, and no reverse index.
  reverse_indices(reverse_indices const& other);
  reverse_indices(reverse_indices&& other) noexcept;
  reverse_indices& operator=(reverse_indices const& other) = delete;
  reverse_indices& operator=(reverse_indices&& other) noexcept;
  ~reverse_indices();

  /// Sets the number of saved values.
  void resize(std::size_t variables);
  /// The reverse index of a saved value, in which all writes to that value are recorded. Null if there is none.
  reverse_index* of(std::uint32_t variable) const { return of_[variable].get(); }
  void add(std::uint32_t variable);
  /// The reverse index of reads at a computed index in nested maps.
  gather_index& of_gather(ir::value_id index);
  /// Saved values may have changed without a record.
  void invalidate();

private:
  std::vector<std::unique_ptr<reverse_index>> of_; // by saved value
  std::vector<std::pair<ir::value_id, std::unique_ptr<gather_index>>> of_gathers_;
};

} // namespace overdub::increments
