#include <overdub/core/floating_point.hpp>
#include <overdub/models/filter.hpp>

#include <cstddef>
#include <optional>

namespace overdub::models {

double particle::score() const { return incremental_ ? incremental_->score() : trace_.score(); }

datum particle::find(address const& at) const {
  return incremental_ ? incremental_->find(at) : trace_.find(at);
}

datum particle::existing(address const& at) const {
  return incremental_ ? incremental_->existing(at) : trace_.existing(at);
}

datum particle::find_one(address const& at) const {
  return incremental_ ? incremental_->find_one(at) : trace_.find_one(at);
}

choice_map particle::choices(selection const& of) const {
  return incremental_ ? incremental_->choices(of) : trace_.choices(of);
}

void particle::for_each_choice(
    overdub::detail::function_view<void(address const&, datum const&)> const& f) const {
  incremental_ ? incremental_->for_each_choice(f) : trace_.for_each_choice(f);
}

std::size_t particle::size() const { return incremental_ ? incremental_->size() : trace_.size(); }

double particle::project(selection const& of) const {
  return incremental_ ? incremental_->project(of) : trace_.project(of);
}

std::optional<double> particle::extend_incrementally(trace_extension const* by, random_key const& key) {
  try {
    if (by != nullptr) {
      incremental_->extend(*by);
      double const weight = incremental_->propose(key);
      if (overdub::is_nan(weight))
        incremental_->rollback();
      else
        incremental_->commit();
      return weight;
    }
  } catch (error const&) { // if it is an error of the model, `update` throws it again
  }
  trace_ = incremental_->as_trace();
  observed_ = incremental_->observed();
  incremental_.reset();
  return {};
}

} // namespace overdub::models
