// choice_gradients of dynamic models: the derivatives of a trace's score by its choices, forwards, some choices a run.
#pragma once

#include <overdub/contexts/forward.hpp>
#include <overdub/contexts/models/dynamic.hpp>

#include <array>
#include <cstddef>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

namespace overdub::models {
namespace detail {

// A choice by which the score is differentiated: the first of its numbers among all of them.
struct varied_choice {
  datum value;
  std::size_t first = 0;
  std::size_t size() const { return static_cast<std::size_t>(value.size()); }
};

// Differentiates the log densities of the choices that `choosing`, inside of it, makes: along `directions` numbers of choices at once.
class choice_tangents : public contexts::forward_along<8> {
public:
  using forward_along = contexts::forward_along<8>;
  using forward_along::overdub;
  static constexpr std::string_view name = "choice_tangents";

  /// Numbers from `first` on. `varied` is where the choice made last stands among those that vary; nullptr, where it does not.
  choice_tangents(choosing& choices, varied_choice const* const& varied, std::size_t first)
      : choices_(choices), varied_(varied), first_(first) {}

  template <random_choice F, class D>
  auto overdub(F const& f, D const& d) {
    auto const x = with_tangents(choices_.overdub(f, overdub::detail::take_inner{}(d)));
    add(recurse(*this, density_at, d, x).metadata);
    return x;
  }
  /// The derivatives of the score along the directions.
  std::array<double, directions> const& slopes() const { return slopes_; }

private:
  static constexpr auto density_at =
      fn<"log_density">([](auto const& d, auto const& x) { return log_density(d, x); });

  void add(zero) {}
  void add(auto const& tangent) {
    for (int k = 0; k < directions; ++k) slopes_[static_cast<std::size_t>(k)] += concrete(tangent[k]);
  }

  // In the context inside, where arrays keep their tangents in another way than out of it.
  template <class T, class M>
  auto tagged_inside(T const& x, M const& tangent) const {
    stack<level<choosing, void>> const inside{choices_, {}};
    return overdub::tag(overdub::detail::wrap(inside, x), tangent);
  }
  auto with_tangents(double x) const {
    contexts::tangents<double, directions> unit;
    for (int k = 0; k < directions; ++k) unit[k] = is_along(k, 0);
    return tagged_inside(x, unit);
  }
  auto with_tangents(array<double> const& x) const {
    contexts::tangents<array<double>, directions> units;
    for (int k = 0; k < directions; ++k) {
      std::vector<double> unit(static_cast<std::size_t>(x.size()));
      for (std::size_t i = 0; i < unit.size(); ++i) unit[i] = is_along(k, i);
      units[k] = array<double>::copy_of(unit);
    }
    return tagged_inside(x, units);
  }
  auto with_tangents(auto const& x) const { return tagged_inside(x, zero{}); }
  // Whether a direction is the i-th number of the choice.
  bool is_along(int direction, std::size_t i) const {
    return varied_ != nullptr && varied_->first + i == first_ + static_cast<std::size_t>(direction);
  }

  choosing& choices_;
  varied_choice const* const& varied_;
  std::size_t first_;
  std::array<double, directions> slopes_{};
};

} // namespace detail

/// The derivatives of the score of a trace of m by the selected choices, which are continuous, as they are: which choices there are stays.
/// Throws model_error for others. Forwards, by eight numbers in a run of the function. By a simplex, they are those by all its elements, as
/// if they were free.
template <class F, class... A>
choice_map choice_gradients(
    dynamic_function<F, A...> const& m, typename dynamic_function<F, A...>::trace_type const& t,
    selection const& of) {
  std::map<address, detail::varied_choice> all;
  std::size_t count = 0;
  for (auto const& [at, choice] : t.made()) {
    if (!of.contains(at)) continue;
    if (choice.value.type().element != ir::scalar::f64) detail::throw_discrete(text_of(at));
    auto const& varied = all[at] = {choice.value, count};
    count += varied.size();
  }
  std::vector<double> slopes;
  while (slopes.size() < count) {
    detail::varied_choice const* varied = nullptr;
    choosing choices(random_key(0), [&](address const& at, ir::type) {
      auto const found = all.find(at);
      varied = found == all.end() ? nullptr : &found->second;
      made_choice const* const choice = t.made().find(at);
      if (choice == nullptr)
        throw model_error(message(
            "overdub: the trace has no choice at %.80s, which the model makes: it is one of another model, "
            "or of other arguments",
            text_of(at).c_str()));
      return choice->value;
    });
    detail::choice_tangents along(choices, varied, slopes.size());
    m.run_in(compose(along, choices));
    if (choices.made().size() != t.size())
      throw model_error(message(
          "overdub: the trace has %zu choices, and the model makes %zu of them: it is one of another model, "
          "or of "
          "other arguments",
          t.size(), choices.made().size()));
    slopes.insert(slopes.end(), along.slopes().begin(), along.slopes().end());
  }
  choice_map gradients;
  for (auto const& [at, each] : all) {
    auto const first = slopes.begin() + static_cast<std::ptrdiff_t>(each.first);
    gradients.set(
        at,
        each.value.type().rank == 0 ? datum(*first) : datum(array<double>::copy_of({&*first, each.size()})));
  }
  return gradients;
}

} // namespace overdub::models
