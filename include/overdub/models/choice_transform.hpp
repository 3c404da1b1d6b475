// Trace transforms: a user's function reads the choices of a trace and of an auxiliary model, and writes those of a new trace and of the
// auxiliary model of the reverse move. The logarithm of its Jacobian determinant is computed by forward-mode differentiation
// (Cusumano-Towner, Lew and Mansinghka, Automating Involutive MCMC using Probabilistic and Differentiable Programming, 2020).
#pragma once

#include <overdub/contexts/forward/forward_along.hpp>
#include <overdub/core/function_view.hpp>
#include <overdub/models/dynamic.hpp>
#include <overdub/models/model.hpp>

#include <concepts>
#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace overdub::models {
namespace detail {

/// Differentiates a transform with respect to eight of the numbers that it reads.
class transform_tangents : public contexts::forward_along<8> {
public:
  static constexpr std::string_view name = "choice_transform";
};

class transform_pass;

} // namespace detail

/// A continuous choice in a transform. The functions and operators of overdub accept it.
using transformed_number = value<double, detail::transform_tangents>;

/// The choices of the model, or of the auxiliary model, in a transform. It reads choices of the present trace, and writes those of the new
/// one. An address must name one choice, with all its indices. A transform must write each choice at most once. All members may throw
/// model_error.
class transformed_choices {
public:
  /// A choice of the present trace. Discrete choices are constants.
  transformed_number real(address const& at) const;
  std::vector<transformed_number> reals(address const& at) const; // an array; of a simplex, all elements
  i64 integer(address const& at) const;
  bool boolean(address const& at) const;
  bool contains(address const& at) const;
  /// Sets a choice of the new trace: a number, or a std::vector of transformed numbers.
  template <class X>
  void write(address at, X const& x) const;
  /// Sets a choice of the new trace to a choice of the present one. It does not enter the Jacobian.
  void copy(address to, transformed_choices const& from, address const& at) const;

private:
  friend class detail::transform_pass;
  using tangents = contexts::tangents<double, detail::transform_tangents::directions>;
  transformed_choices(detail::transform_pass& run, int side) : run_(&run), side_(side) {}
  void write_value(address at, datum x, std::vector<tangents> rows) const;

  detail::transform_pass* run_;
  int side_;
};

/// The argument of a transform f(t), which reads and writes t.model and t.auxiliary.
struct transformed_traces {
  transformed_choices model, auxiliary;
};

/// The auxiliary model without choices.
struct no_auxiliary {
  struct trace_type {
    static constexpr double score() { return 0; }
    static datum find(address const&) { return {}; }
    static datum find_one(address const&) { return {}; }
    template <class F>
    static void for_each_choice(F const&) {}
  };
  static trace_type simulate(random_key const&) { return {}; }
  /// Throws model_error where there is a choice.
  static trace_type assess(choice_map const& all);
};

namespace detail {

/// A choice of the model or of the auxiliary model.
using transform_address = std::pair<int, address>;
inline constexpr int model_side = 0, auxiliary_side = 1;

// A transform; and functions that return a choice, and that call another function for each choice.
using choice_finder = overdub::detail::function_view<datum(address const&)>;
using choice_function = overdub::detail::function_view<void(address const&, datum const&)>;
using transform_function = overdub::detail::function_view<void(transformed_traces&)>;
using choice_visitor = overdub::detail::function_view<void(choice_function const&)>;

/// One run of a transform, with derivatives with respect to eight of the numbers that it reads: those from position `first` on in the order
/// in which it reads them.
class transform_pass {
public:
  static constexpr int directions = transform_tangents::directions;
  using tangents = contexts::tangents<double, directions>;

  struct input {
    std::size_t first = 0, size = 0; // the position of its first free coordinate, and their number
  };
  struct output {
    datum value;
    std::vector<tangents> rows = {}; // the tangents of each number
    bool is_copy = false;
    transform_address from = {};
  };

  transform_pass(choice_finder const& model, choice_finder const& auxiliary, std::size_t first)
      : sources_{model, auxiliary}, first_(first) {}

  void run(transform_function const& f);

  datum find(transform_address const& p) const { return sources_[p.first](p.second); }
  datum existing(transform_address const& p) const;
  std::vector<transformed_number> numbers(transform_address const& p, unsigned rank);
  void write(transform_address p, output made);

  std::map<transform_address, input> const& inputs() const { return inputs_; }
  std::map<transform_address, output> const& outputs() const { return outputs_; }
  std::size_t numbers_read() const { return count_; }

private:
  choice_finder sources_[2]; // of which the run is the last use
  std::size_t first_, count_ = 0;
  std::map<transform_address, input> inputs_;
  std::map<transform_address, output> outputs_;
};

/// The result of a transform of a trace and an auxiliary trace.
class transformed {
public:
  template <class F, class Model, class Auxiliary>
  transformed(F const& f, Model const& t, Auxiliary const& auxiliary)
      : transformed(
            transform_function([&f](transformed_traces& x) { f(x); }),
            choice_finder([&](address const& at) { return t.find_one(at); }),
            choice_finder([&](address const& at) { return auxiliary.find_one(at); })) {}

  choice_map const& model() const { return written_[model_side]; }
  choice_map const& auxiliary() const { return written_[auxiliary_side]; }
  /// Whether the transform reads or copies a choice.
  bool uses(transform_address const& p) const;

  /// log |det J|. `is_lost(address)` returns whether the new trace lacks a choice of the model, or has another value of it. The other
  /// choices of the model are constants of the transform. Throws model_error if the transform does not write as many coordinates as it
  /// reads. O(n^3) for n coordinates.
  double log_determinant(overdub::detail::function_view<bool(address const&)> const& is_lost) const;

  /// Throws model_error if the transform neither reads nor copies a continuous choice, which the inverse could not restore.
  void reject_unused(transform_address const& p, datum const& x) const;
  /// The same for all auxiliary choices.
  template <class Trace>
  void reject_unused_auxiliary(Trace const& t) const {
    t.for_each_choice([&](address const& at, datum const& x) { reject_unused({auxiliary_side, at}, x); });
  }
  /// Throws model_error if the transform writes an observed choice.
  void reject_observed(choice_map const& observed) const;

private:
  transformed(transform_function const& f, choice_finder const& model, choice_finder const& auxiliary);
  transform_pass const& now() const { return passes_.front(); }

  std::vector<transform_pass> passes_; // one for each eight coordinates that are read
  choice_map written_[2];
};

/// Throws model_error if `now` lacks one of the choices, or has a value of it that differs by more than the tolerance.
void check_restored(choice_visitor const& all, choice_finder const& now, int side, double tolerance);
template <class Was, class Is>
void check_restored(Was const& was, Is const& is, int side, double tolerance) {
  check_restored(
      choice_visitor([&](choice_function const& f) { was.for_each_choice(f); }),
      choice_finder([&](address const& at) { return is.find(at); }), side, tolerance);
}

} // namespace detail

template <class X>
void transformed_choices::write(address at, X const& x) const {
  auto const tangents_of = []<class T>(T const& each) {
    if constexpr (std::same_as<T, transformed_number>)
      return each.metadata();
    else
      return tangents();
  };
  using T = std::remove_cvref_t<decltype(concrete(x))>;
  if constexpr (std::floating_point<T>)
    write_value(std::move(at), static_cast<double>(concrete(x)), {tangents_of(x)});
  else if constexpr (std::same_as<T, bool>)
    write_value(std::move(at), concrete(x), {});
  else if constexpr (std::integral<T>)
    write_value(std::move(at), static_cast<i64>(concrete(x)), {});
  else {
    std::vector<double> numbers;
    std::vector<tangents> rows;
    for (auto const& each : x) {
      numbers.push_back(static_cast<double>(concrete(each)));
      rows.push_back(tangents_of(each));
    }
    write_value(std::move(at), array<double>::copy_of(numbers), std::move(rows));
  }
}

} // namespace overdub::models
