// The density of some choices of a trace given all others, on the unconstrained space, with its gradient.
#pragma once

#include <overdub/compile/tiered_program.hpp>
#include <overdub/core/library.hpp>
#include <overdub/models/operations.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace overdub::models {

/// The density of the choices of active sites, an `inference::target`. `bind` computes once what depends on other choices alone, and refers
/// to the trace: until the next `bind`, the trace must not change or be moved. Evaluation allocates nothing after the first call. Used by
/// one thread at a time.
class conditional_density {
public:
  /// Throws model_error for a site that is discrete, has no transform, or whose number of choices varies between traces.
  conditional_density(shared_core core, std::vector<std::uint32_t> sites);

  /// Conditions on the other choices of a mutable trace.
  template <class Trace>
  void bind(Trace const& t) {
    auto const inputs = static_cast<std::uint32_t>(t.arguments());
    auto const all = inputs + static_cast<std::uint32_t>(active_.size());
    std::uint32_t known = 0;
    for (std::uint32_t k = 0; k < all; ++k) {
      t.program().pass_input(unconstrain_, k, k);
      if (k >= inputs && active_[k - inputs]) continue;
      t.program().pass_input(precomputed_, known++, k);
      t.program().pass_input(gradient_, k, k);
      t.program().pass_input(values_, k, k);
    }
    precomputed_.run();
    for (std::size_t k = 0; k < precomputed_.code().results.size(); ++k)
      if (precomputed_.code().results[k].rank == 0)
        gradient_.set(all + k, precomputed_.word(k));
      else
        gradient_.lend(all + k, precomputed_.elements(k), precomputed_.extents(k));
    unconstrain_.run();
    numbers_.clear();
    for (part& p : parts_) {
      p.parameter = inputs + p.site;
      p.first = numbers_.size();
      p.extents.clear();
      std::uint32_t const rank = unconstrain_.code().results[p.unconstrained].rank;
      if (rank == 0) {
        numbers_.push_back(std::bit_cast<double>(unconstrain_.word(p.unconstrained)));
        continue;
      }
      p.extents.assign(unconstrain_.extents(p.unconstrained), unconstrain_.extents(p.unconstrained) + rank);
      std::size_t size = 1;
      for (i64 const n : p.extents) size *= static_cast<std::size_t>(n);
      numbers_.resize(p.first + size);
      if (size > 0)
        std::memcpy(numbers_.data() + p.first, unconstrain_.elements(p.unconstrained), size * sizeof(double));
    }
  }
  /// The choices of the trace, on the unconstrained space.
  std::span<double const> numbers() const { return numbers_; }
  std::size_t dimension() const { return numbers_.size(); }

  /// The log density at q, up to a constant, and its gradient.
  double operator()(std::span<double const> q, std::span<double> gradient);

  /// Sets the choices of the trace to those of a point of the unconstrained space.
  template <class Trace>
  void set(Trace& t, std::span<double const> q) {
    lend(values_, q);
    values_.run();
    for (part const& p : parts_)
      if (values_.code().results[p.site].rank == 0)
        t.set_bits(p.site, {}, values_.word(p.site));
      else
        t.set_all(
            p.site,
            datum::of(
                {values_.extents(p.site), values_.extents(p.site) + values_.code().results[p.site].rank},
                array<double>::copy_of(
                    {reinterpret_cast<double const*>(values_.elements(p.site)), scalars(p.site)})));
  }

private:
  struct part { // the coordinates of a site
    std::uint32_t site = 0;
    std::uint32_t unconstrained = 0; // the result of the program `unconstrain`
    std::uint32_t parameter = 0;
    std::size_t first = 0;
    std::vector<i64> extents = {};
  };
  std::size_t size_of(part const& p) const;
  std::size_t scalars(std::uint32_t result) const;
  void lend(bound_call& to, std::span<double const> q) const;
  model_core::conditional_code code_of(std::vector<std::uint32_t> const& sites) const;

  shared_core core_;
  std::vector<bool> active_; // by site
  model_core::conditional_code code_;
  tiered_call precomputed_, gradient_, unconstrain_, values_;
  std::vector<part> parts_;
  std::vector<double> numbers_;
};

} // namespace overdub::models
