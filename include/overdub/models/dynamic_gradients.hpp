// choice_gradients and argument_gradients of dynamic models: the derivatives of a trace's score by its choices, and by the model's
// arguments, in forward mode with vector tangents.
#pragma once

#include <overdub/contexts/forward/forward_along.hpp>
#include <overdub/models/dynamic.hpp>

#include <array>
#include <concepts>
#include <cstddef>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace overdub::models {
namespace detail {

// A choice by which the score is differentiated. `first` is the index of its first coordinate among those of all active choices.
struct active_choice {
  datum value;
  std::size_t first = 0;
  std::size_t size() const { return static_cast<std::size_t>(value.size()); }
};

// Differentiates the log densities of the choices of an inner `choosing`, by `directions` coordinates in one run.
class score_tangents : public contexts::forward_along<8> {
public:
  using forward_along = contexts::forward_along<8>;
  explicit score_tangents(choosing& choices) : choices_(choices) {}

  /// The partial derivatives of the score.
  std::array<double, directions> const& partials() const { return partials_; }

protected:
  static constexpr auto density_at =
      fn<"log_density">([](auto const& d, auto const& x) { return log_density(d, x); });

  void add(zero) {}
  void add(auto const& tangent) {
    for (int k = 0; k < directions; ++k) partials_[static_cast<std::size_t>(k)] += concrete(tangent[k]);
  }
  // A value with its tangent, wrapped by the inner context: there arrays represent tangents differently.
  template <class T, class M>
  auto tagged_in_choosing(T const& x, M const& tangent) const {
    stack<level<choosing, void>> const inside{choices_, {}};
    return overdub::tag(overdub::detail::wrap(inside, x), tangent);
  }

  choosing& choices_;

private:
  std::array<double, directions> partials_{};
};

// By choices: some of their coordinates.
class choice_tangents : public score_tangents {
public:
  using forward_along::overdub;
  static constexpr std::string_view name = "choice_tangents";

  /// By the coordinates from `first` on. `active` points to the choice that was made last, or to nullptr where it is inactive.
  choice_tangents(choosing& choices, active_choice const* const& active, std::size_t first)
      : score_tangents(choices), active_(active), first_(first) {}

  template <rule_call Call, random_choice F, class D>
  auto overdub(Call const& call, F const& f, D const& d) {
    auto const x = with_tangents(choices_.overdub(f, overdub::detail::take_inner{}(d)));
    add(overdub::recurse(call, density_at, d, x).metadata);
    return x;
  }

private:
  auto with_tangents(double x) const {
    contexts::tangents<double, directions> unit;
    for (int k = 0; k < directions; ++k) unit[k] = is_seeded(k, 0);
    return tagged_in_choosing(x, unit);
  }
  auto with_tangents(array<double> const& x) const {
    contexts::tangents<array<double>, directions> units;
    for (int k = 0; k < directions; ++k) {
      std::vector<double> unit(static_cast<std::size_t>(x.size()));
      for (std::size_t i = 0; i < unit.size(); ++i) unit[i] = is_seeded(k, i);
      units[k] = array<double>::copy_of(unit);
    }
    return tagged_in_choosing(x, units);
  }
  auto with_tangents(auto const& x) const { return tagged_in_choosing(x, zero{}); }
  // Whether a tangent's direction is the i-th coordinate of the last choice.
  bool is_seeded(int direction, std::size_t i) const {
    return active_ != nullptr && active_->first + i == first_ + static_cast<std::size_t>(direction);
  }

  active_choice const* const& active_;
  std::size_t first_;
};

// By arguments: choices are constants.
class argument_tangents : public score_tangents {
public:
  using forward_along::overdub;
  using score_tangents::score_tangents;
  static constexpr std::string_view name = "argument_tangents";

  template <rule_call Call, random_choice F, class D>
  auto overdub(Call const& call, F const& f, D const& d) {
    auto const x = tagged_in_choosing(choices_.overdub(f, overdub::detail::take_inner{}(d)), zero{});
    add(overdub::recurse(call, density_at, d, x).metadata);
    return x;
  }
};

template <class X>
consteval bool is_differentiable_argument() {
  static_assert(
      !overdub::detail::plain_described<X>, "overdub: the score is differentiated by arguments that are "
                                            "numbers, arrays, and trees of them; make this "
                                            "struct a template over its number, or give its members");
  return true;
}

// Seeds the arguments with tangents: unit vectors for the coordinates from `first` on.
class seeded_arguments {
public:
  static constexpr int directions = argument_tangents::directions;
  explicit seeded_arguments(std::size_t first) : first_(first) {}

  template <class X>
  auto operator()(X const& x) const {
    if constexpr (std::floating_point<X>) {
      contexts::tangents<X, directions> unit;
      for (int k = 0; k < directions; ++k) unit[k] = is_seeded(k, next_);
      ++next_;
      return overdub::tag(x, unit);
    } else if constexpr (overdub::detail::is_array<X>) {
      if constexpr (std::floating_point<typename X::value_type>) {
        contexts::tangents<X, directions> units;
        auto const size = static_cast<std::size_t>(x.size());
        for (int k = 0; k < directions; ++k) {
          std::vector<typename X::value_type> unit(size);
          for (std::size_t i = 0; i < size; ++i) unit[i] = is_seeded(k, next_ + i);
          units[k] = X::copy_of(unit);
        }
        next_ += size;
        return overdub::tag(x, units);
      } else
        return x;
    } else if constexpr (is_differentiable_argument<X>() && overdub::detail::tree<X>)
      return tree_traits<X>::map(*this, x);
    else
      return x;
  }
  /// The number of coordinates of the arguments.
  std::size_t count() const { return next_; }

private:
  bool is_seeded(int direction, std::size_t number) const {
    return number == first_ + static_cast<std::size_t>(direction);
  }

  std::size_t first_;
  mutable std::size_t next_ = 0;
};

// Derivatives in the types of the arguments; 0 for integers.
class argument_derivatives {
public:
  explicit argument_derivatives(std::vector<double> const& all) : all_(all) {}

  template <class X>
  X operator()(X const& x) const {
    if constexpr (std::floating_point<X>)
      return static_cast<X>(all_[next_++]);
    else if constexpr (overdub::detail::is_array<X>) {
      if constexpr (std::floating_point<typename X::value_type>) {
        std::vector<typename X::value_type> each(static_cast<std::size_t>(x.size()));
        for (auto& e : each) e = static_cast<typename X::value_type>(all_[next_++]);
        return X::copy_of(each);
      } else
        return X();
    } else if constexpr (overdub::detail::tree<X>)
      return tree_traits<X>::map(*this, x);
    else
      return X();
  }

private:
  std::vector<double> const& all_;
  mutable std::size_t next_ = 0;
};

// A choice of the trace that is replayed.
template <class Trace>
datum replayed_choice(Trace const& t, address const& at) {
  made_choice const* const choice = t.made().find(at);
  if (choice == nullptr)
    throw model_error(message(
        "overdub: the trace has no choice at %.80s, which the model makes: it is one of another model, "
        "or of other arguments",
        text_of(at).c_str()));
  return choice->value;
}
template <class Trace>
void check_replayed(Trace const& t, choosing const& choices) {
  if (choices.made().size() != t.size())
    throw model_error(message(
        "overdub: the trace has %zu choices, and the model makes %zu of them: it is one of another model, "
        "or of "
        "other arguments",
        t.size(), choices.made().size()));
}

} // namespace detail

/// The derivatives of the score of a trace of m by the selected choices, with the structure of the trace fixed. Throws model_error where
/// one is discrete. Forward mode: a run of the function for each eight coordinates. The elements of a simplex count as independent
/// coordinates.
template <class F, class... A>
choice_map choice_gradients(
    dynamic_function<F, A...> const& m, typename dynamic_function<F, A...>::trace_type const& t,
    selection const& of) {
  std::map<address, detail::active_choice> all;
  std::size_t count = 0;
  for (auto const& [at, choice] : t.made()) {
    if (!of.contains(at)) continue;
    if (choice.value.type().element != ir::scalar::f64) detail::throw_discrete(text_of(at));
    auto const& active = all[at] = {choice.value, count};
    count += active.size();
  }
  std::vector<double> partials;
  while (partials.size() < count) {
    detail::active_choice const* active = nullptr;
    choosing choices(random_key(0), [&](address const& at, ir::type) {
      auto const found = all.find(at);
      active = found == all.end() ? nullptr : &found->second;
      return detail::replayed_choice(t, at);
    });
    detail::choice_tangents along(choices, active, partials.size());
    m.run_in(compose(along, choices));
    detail::check_replayed(t, choices);
    partials.insert(partials.end(), along.partials().begin(), along.partials().end());
  }
  choice_map gradients;
  for (auto const& [at, each] : all) {
    auto const first = partials.begin() + static_cast<std::ptrdiff_t>(each.first);
    gradients.set(
        at,
        each.value.type().rank == 0 ? datum(*first) : datum(array<double>::copy_of({&*first, each.size()})));
  }
  return gradients;
}

/// The derivatives of the score of a trace of m by the model's arguments, in their types: numbers, arrays and trees of them; 0 by integers
/// and bools, and an empty array by arrays of them. Choices are constants. Forward mode: a run of the function for each eight coordinates.
template <class F, class... A>
std::tuple<A...> argument_gradients(
    dynamic_function<F, A...> const& m, typename dynamic_function<F, A...>::trace_type const& t) {
  std::vector<double> partials;
  std::size_t count = 0;
  do {
    choosing choices(
        random_key(0), [&](address const& at, ir::type) { return detail::replayed_choice(t, at); });
    detail::argument_tangents along(choices);
    detail::seeded_arguments const seeded(partials.size());
    std::apply(
        [&](A const&... x) {
          std::apply(
              [&](auto const&... each) { m.run_with(compose(along, choices), each...); },
              std::tuple<decltype(seeded(x))...>{seeded(x)...});
        },
        m.arguments());
    detail::check_replayed(t, choices);
    count = seeded.count();
    partials.insert(partials.end(), along.partials().begin(), along.partials().end());
  } while (partials.size() < count);
  detail::argument_derivatives const of(partials);
  return std::apply([&](A const&... x) { return std::tuple<A...>{of(x)...}; }, m.arguments());
}

} // namespace overdub::models
