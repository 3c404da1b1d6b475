// A trace: the choices of one run of a model, its result, and its log density.
#pragma once

#include <overdub/compile/tree_data.hpp>
#include <overdub/models/generative_function.hpp>
#include <overdub/models/model_core.hpp>
#include <overdub/models/site_choices.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace overdub::models {

/// A run of a model: its arguments, choices, results, and the log density of the choices. Choices are stored by site, as an array with an
/// axis for each index. A plain value, whose copies share the arrays; reading is thread-safe. Reading choices of a trace without a run,
/// which is default-constructed or moved from, throws model_error.
class trace : public site_choices<trace> {
public:
  trace() = default;
  /// From a run whose schema is `detail::tracing`.
  trace(std::shared_ptr<model_core const> of, std::vector<datum> arguments, model_run run)
      : core_(std::move(of)), arguments_(std::move(arguments)), results_(std::move(run.results)),
        values_(std::move(run.values)), presence_(std::move(run.presence)),
        score_(run.score + run.drawn_score) {}

  /// The logarithm of the density of all choices.
  double score() const { return score_; }
  /// The result of the model. Throws type_error where it is no R.
  template <class R>
  R result() const {
    return tree_of<R>(results_);
  }
  std::vector<datum> const& arguments() const { return arguments_; }

  /// The log densities of all choices, by site. Runs the model.
  std::vector<datum> log_densities() const;

  model_core const& core() const {
    if (core_ == nullptr) [[unlikely]]
      throw_no_run();
    return *core_;
  }
  std::shared_ptr<model_core const> const& shared_core() const { return core_; }
  /// All choices of each site. Choices that were not made are 0.
  std::vector<datum> const& values() const { return values_; }
  datum const& values(std::uint32_t site) const { return values_[site]; }
  /// The number of choices of a site along each index; and one of them.
  std::span<i64 const> shape(std::uint32_t site) const {
    return {values_[site].shape().data(), core_->sites()[site].index_count};
  }
  datum choice(std::uint32_t site, std::span<i64 const> at) const { return part_of(values_[site], at); }
  /// Which choices of a conditional site were made, as bools; nothing for other sites.
  datum const& presence(std::uint32_t site) const { return presence_[site]; }
  /// Throws model_error: a trace without a run is read.
  [[noreturn]] static void throw_no_run();
  /// Throws model_error: there is no choice at the address, of a site that makes `made[k]` choices along index k.
  [[noreturn]] static void throw_none(model_core const& of, address const& at, std::span<i64 const> made);
  /// Whether a choice was made.
  bool is_made(std::uint32_t site, std::span<i64 const> indices) const;
  /// Calls f(indices) for each choice of a site that was made.
  template <class F>
  void for_each(std::uint32_t s, F const& f) const {
    for_each_index(shape(s), [&](std::vector<i64> const& at) {
      if (is_made(s, at)) f(at);
    });
  }

private:
  std::shared_ptr<model_core const> core_;
  std::vector<datum> arguments_, results_, values_, presence_;
  double score_ = 0;
};

extern template class site_choices<trace>;

} // namespace overdub::models
