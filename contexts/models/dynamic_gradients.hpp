// choice_gradients and argument_gradients of dynamic models: the derivatives of a trace's score by its choices, and by the model's
// arguments, forwards, some numbers a run.
#pragma once

#include <overdub/contexts/forward.hpp>
#include <overdub/contexts/models/dynamic.hpp>

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

// A choice by which the score is differentiated: the first of its numbers among all of them.
struct varied_choice {
  datum value;
  std::size_t first = 0;
  std::size_t size() const { return static_cast<std::size_t>(value.size()); }
};

// Differentiates the log densities of the choices that `choosing`, inside of it, makes, along `directions` numbers at once.
class score_tangents : public contexts::forward_along<8> {
public:
  using forward_along = contexts::forward_along<8>;
  explicit score_tangents(choosing& choices) : choices_(choices) {}

  /// The derivatives of the score along the directions.
  std::array<double, directions> const& slopes() const { return slopes_; }

protected:
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

  choosing& choices_;

private:
  std::array<double, directions> slopes_{};
};

// Of choices: along some of their numbers.
class choice_tangents : public score_tangents {
public:
  using forward_along::overdub;
  static constexpr std::string_view name = "choice_tangents";

  /// Numbers from `first` on. `varied` is where the choice made last stands among those that vary; nullptr, where it does not.
  choice_tangents(choosing& choices, varied_choice const* const& varied, std::size_t first)
      : score_tangents(choices), varied_(varied), first_(first) {}

  template <rule_call Call, random_choice F, class D>
  auto overdub(Call const& call, F const& f, D const& d) {
    auto const x = with_tangents(choices_.overdub(f, overdub::detail::take_inner{}(d)));
    add(overdub::recurse(call, density_at, d, x).metadata);
    return x;
  }

private:
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

  varied_choice const* const& varied_;
  std::size_t first_;
};

// Of arguments: choices are constants.
class argument_tangents : public score_tangents {
public:
  using forward_along::overdub;
  using score_tangents::score_tangents;
  static constexpr std::string_view name = "argument_tangents";

  template <rule_call Call, random_choice F, class D>
  auto overdub(Call const& call, F const& f, D const& d) {
    auto const x = tagged_inside(choices_.overdub(f, overdub::detail::take_inner{}(d)), zero{});
    add(overdub::recurse(call, density_at, d, x).metadata);
    return x;
  }
};

template <class X>
consteval bool is_argument_to_vary() {
  static_assert(
      !overdub::detail::plain_described<X>, "overdub: the score is differentiated by arguments that are "
                                            "numbers, arrays, and trees of them; make this "
                                            "struct a template over its number, or give its members");
  return true;
}

// Arguments with the tangents of a run: one along each of the numbers from `first` on, of all that there are.
class varied_arguments {
public:
  static constexpr int directions = argument_tangents::directions;
  explicit varied_arguments(std::size_t first) : first_(first) {}

  template <class X>
  auto operator()(X const& x) const {
    if constexpr (std::floating_point<X>) {
      contexts::tangents<X, directions> unit;
      for (int k = 0; k < directions; ++k) unit[k] = is_along(k, next_);
      ++next_;
      return overdub::tag(x, unit);
    } else if constexpr (overdub::detail::is_array<X>) {
      if constexpr (std::floating_point<typename X::value_type>) {
        contexts::tangents<X, directions> units;
        auto const size = static_cast<std::size_t>(x.size());
        for (int k = 0; k < directions; ++k) {
          std::vector<typename X::value_type> unit(size);
          for (std::size_t i = 0; i < size; ++i) unit[i] = is_along(k, next_ + i);
          units[k] = X::copy_of(unit);
        }
        next_ += size;
        return overdub::tag(x, units);
      } else
        return x;
    } else if constexpr (is_argument_to_vary<X>() && overdub::detail::tree<X>)
      return tree_traits<X>::map(*this, x);
    else
      return x;
  }
  /// How many numbers it went through.
  std::size_t count() const { return next_; }

private:
  bool is_along(int direction, std::size_t number) const {
    return number == first_ + static_cast<std::size_t>(direction);
  }

  std::size_t first_;
  mutable std::size_t next_ = 0;
};

// The same arguments, with derivatives for numbers; 0 for integers.
class slopes_of_arguments {
public:
  explicit slopes_of_arguments(std::vector<double> const& all) : all_(all) {}

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

// Gives the choices of a trace again.
template <class Trace>
datum choice_again(Trace const& t, address const& at) {
  made_choice const* const choice = t.made().find(at);
  if (choice == nullptr)
    throw model_error(message(
        "overdub: the trace has no choice at %.80s, which the model makes: it is one of another model, "
        "or of other arguments",
        text_of(at).c_str()));
  return choice->value;
}
template <class Trace>
void check_all_again(Trace const& t, choosing const& choices) {
  if (choices.made().size() != t.size())
    throw model_error(message(
        "overdub: the trace has %zu choices, and the model makes %zu of them: it is one of another model, "
        "or of "
        "other arguments",
        t.size(), choices.made().size()));
}

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
      return detail::choice_again(t, at);
    });
    detail::choice_tangents along(choices, varied, slopes.size());
    m.run_in(compose(along, choices));
    detail::check_all_again(t, choices);
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

/// The derivatives of the score of a trace of m by the model's arguments, in their types: numbers, arrays and trees of them; 0 by integers
/// and bools, and an empty array by arrays of them. Choices stay as they are. Forwards, by eight numbers in a run of the function.
template <class F, class... A>
std::tuple<A...> argument_gradients(
    dynamic_function<F, A...> const& m, typename dynamic_function<F, A...>::trace_type const& t) {
  std::vector<double> slopes;
  std::size_t count = 0;
  do {
    choosing choices(random_key(0), [&](address const& at, ir::type) { return detail::choice_again(t, at); });
    detail::argument_tangents along(choices);
    detail::varied_arguments const varied(slopes.size());
    std::apply(
        [&](A const&... x) {
          std::apply(
              [&](auto const&... each) { m.run_with(compose(along, choices), each...); },
              std::tuple<decltype(varied(x))...>{varied(x)...});
        },
        m.arguments());
    detail::check_all_again(t, choices);
    count = varied.count();
    slopes.insert(slopes.end(), along.slopes().begin(), along.slopes().end());
  } while (slopes.size() < count);
  detail::slopes_of_arguments const of(slopes);
  return std::apply([&](A const&... x) { return std::tuple<A...>{of(x)...}; }, m.arguments());
}

} // namespace overdub::models
