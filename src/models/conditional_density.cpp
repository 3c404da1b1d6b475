#include <overdub/models/conditional_density.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace overdub::models {

conditional_density::conditional_density(shared_core core, std::vector<std::uint32_t> sites)
    : core_(std::move(core)), active_(core_->sites().size(), false), code_(code_of(sites)),
      precomputed_(code_.precomputed), gradient_(code_.gradient), unconstrain_(code_.unconstrain),
      values_(code_.values) {
  for (std::uint32_t const s : sites) active_[s] = true;
  std::uint32_t unconstrained = 0;
  for (std::uint32_t s = 0; s < core_->sites().size(); ++s) {
    if (active_[s]) parts_.push_back({.site = s, .unconstrained = unconstrained});
    unconstrained +=
        parts_of(core_->program(), core_->program().entry, core_->sites()[s].nodes[0]).unconstrain !=
        ir::nothing;
  }
}

double conditional_density::operator()(std::span<double const> q, std::span<double> gradient) {
  lend(gradient_, q);
  gradient_.run();
  std::size_t next = 1;
  for (part const& p : parts_) {
    if (p.extents.empty())
      gradient[p.first] = std::bit_cast<double>(gradient_.word(next));
    else if (size_t const size = size_of(p); size > 0)
      std::memcpy(gradient.data() + p.first, gradient_.elements(next), size * sizeof(double));
    ++next;
  }
  return std::bit_cast<double>(gradient_.word(0));
}

std::size_t conditional_density::size_of(part const& p) const {
  std::size_t size = 1;
  for (i64 const n : p.extents) size *= static_cast<std::size_t>(n);
  return size;
}

std::size_t conditional_density::scalars(std::uint32_t result) const {
  std::size_t size = 1;
  for (std::uint32_t k = 0; k < values_.code().results[result].rank; ++k)
    size *= static_cast<std::size_t>(values_.extents(result)[k]);
  return size;
}

void conditional_density::lend(bound_call& to, std::span<double const> q) const {
  for (part const& p : parts_)
    if (p.extents.empty())
      to.set(p.parameter, std::bit_cast<std::uint64_t>(q[p.first]));
    else
      to.lend(p.parameter, q.data() + p.first, p.extents.data());
}

model_core::conditional_code conditional_density::code_of(std::vector<std::uint32_t> const& sites) const {
  std::vector<bool> active(core_->sites().size(), false);
  for (std::uint32_t const s : sites) {
    site const& of = core_->sites()[s];
    char const* const why =
        of.is_discrete() ? "is discrete, and has no gradient: move it by gibbs or from_prior"
        : of.is_conditional || of.has_random_count || of.varies_in_size
            ? "is not made in each trace, or not as often: Hamiltonian Monte Carlo moves among as many "
              "numbers each time; move it by random_walk"
            : nullptr;
    if (why != nullptr) throw model_error(message("overdub: the choice \"%s\" %s", of.address.c_str(), why));
    active[s] = true;
  }
  return core_->conditional_code_of(active);
}

} // namespace overdub::models
