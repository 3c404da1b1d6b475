// The strategies of one incremental program, by change signature, and which of them is in use.
#pragma once

#include <overdub/core/library.hpp>
#include <overdub/incremental/pending_changes.hpp>
#include <overdub/incremental/saved_values.hpp>
#include <overdub/incremental/update_strategy.hpp>

#include <cstdint>
#include <vector>

namespace overdub::increments {

class update_strategies {
public:
  update_strategies() = default;
  /// A copy has the same choices, and none in use.
  update_strategies(update_strategies const& other) : all_(other.all_) {}
  update_strategies(update_strategies&&) noexcept = default;
  update_strategies& operator=(update_strategies const&) = delete;
  update_strategies& operator=(update_strategies&&) noexcept = default;
  ~update_strategies() = default;

  /// The strategy for the pending changes, which is in use from now on. If plain runs of another change signature were committed, records
  /// that the values that they did not save are needed now.
  update_strategy& use(pending_changes const& changes, saved_values const& saved);
  /// The strategy of the last proposal, or null.
  update_strategy const* in_use() const { return in_use_ < all_.size() ? &all_[in_use_] : nullptr; }
  void use_none() { in_use_ = none; }

  /// Whether a proposal was committed since this strategy is in use; `forget_commits` makes it false.
  bool was_committed(saved_versions const& now) const { return now.numbers != numbers_version_; }
  void forget_commits(saved_versions const& now) { numbers_version_ = now.numbers; }

private:
  static constexpr std::uint32_t none = ~std::uint32_t{0};

  std::vector<update_strategy> all_; // by change signature that was proposed
  std::uint32_t in_use_ = none;      // of the last proposal
  std::uint64_t numbers_version_ =
      0;                    // of the saved numbers when the first proposal of a series with this strategy ran
  std::uint64_t shape_ = 0; // the arrays whose sizes it was last given
};

} // namespace overdub::increments
