// Trace transforms: a user's function reads the choices of a trace and of an auxiliary model, and writes those of a new trace and of the
// auxiliary model of the reverse move. The logarithm of its Jacobian determinant is computed by forward-mode differentiation
// (Cusumano-Towner, Lew and Mansinghka, Automating Involutive MCMC using Probabilistic and Differentiable Programming, 2020).
#pragma once

#include <overdub/contexts/forward/forward_along.hpp>
#include <overdub/distributions/support.hpp>
#include <overdub/execute/datum_text.hpp>
#include <overdub/models/dynamic.hpp>
#include <overdub/models/model.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace overdub::models {
namespace detail {

// ---- single choices of traces of either kind of model

datum choice_at(trace const& t, address const& at);
template <class Result>
datum choice_at(dynamic_trace<Result> const& t, address const& at) {
  made_choice const* const found = t.made().find(at);
  return found == nullptr ? datum() : found->value;
}
template <class F>
void for_each_choice_of(trace const& t, F const& f) {
  for (std::uint32_t s = 0; s < t.values().size(); ++s)
    t.for_each(s, [&](std::vector<i64> const& at) {
      f(address(t.core().sites()[s].address, at), part_of(t.values(s), at));
    });
}
template <class Result, class F>
void for_each_choice_of(dynamic_trace<Result> const& t, F const& f) {
  for (auto const& [at, choice] : t.made()) f(at, choice.value);
}

inline bool is_continuous(datum const& x) { return x.type().element == ir::scalar::f64; }
inline std::size_t numbers_in(datum const& x) { return static_cast<std::size_t>(x.size()); }
/// The number of free coordinates of a choice. A simplex of n elements has n - 1: its density is that of the first n - 1 elements
/// (distributions::simplex), which determine the last one. An array that satisfies the constraints of a simplex counts as one, since the
/// elements of any other array sum to 1 with probability 0.
std::size_t free_numbers_in(datum const& x);

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
  transformed_choices(detail::transform_pass& run, int side) : run_(&run), side_(side) {}

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
  };
  static trace_type simulate(random_key const&) { return {}; }
  static trace_type assess(choice_map const& all) {
    if (!all.empty())
      throw model_error(message(
          "overdub: the transform writes the auxiliary choice %.80s, and its inverse has no auxiliary model",
          text_of(all.begin()->first).c_str()));
    return {};
  }
};

namespace detail {

inline datum choice_at(choice_map const& t, address const& at) { return t.find(at); }
inline datum choice_at(no_auxiliary::trace_type const&, address const&) { return {}; }
template <class F>
void for_each_choice_of(no_auxiliary::trace_type const&, F const&) {}

/// A choice of the model or of the auxiliary model.
using transform_address = std::pair<int, address>;
inline constexpr int model_side = 0, auxiliary_side = 1;
std::string text_of_address(transform_address const& p);

/// One run of a transform, with derivatives with respect to eight of the numbers that it reads: those from position `first` on in the order
/// in which it reads them.
class transform_pass {
public:
  static constexpr int directions = transform_tangents::directions;
  using tangents = contexts::tangents<double, directions>;
  using source = std::function<datum(address const&)>;

  struct input {
    std::size_t first = 0, size = 0; // the position of its first free coordinate, and their number
  };
  struct output {
    datum value;
    std::vector<tangents> rows = {}; // the tangents of each number
    bool is_copy = false;
    transform_address from = {};
  };

  transform_pass(source model, source auxiliary, std::size_t first)
      : sources_{std::move(model), std::move(auxiliary)}, first_(first) {}

  template <class F>
  void run(F const& f) {
    transformed_traces t{transformed_choices(*this, model_side), transformed_choices(*this, auxiliary_side)};
    f(t);
  }

  datum find(transform_address const& p) const { return sources_[p.first](p.second); }
  datum existing(transform_address const& p) const;
  std::vector<transformed_number> numbers(transform_address const& p, unsigned rank);
  void write(transform_address p, output made);

  std::map<transform_address, input> const& inputs() const { return inputs_; }
  std::map<transform_address, output> const& outputs() const { return outputs_; }
  std::size_t numbers_read() const { return count_; }

private:
  source sources_[2];
  std::size_t first_, count_ = 0;
  std::map<transform_address, input> inputs_;
  std::map<transform_address, output> outputs_;
};

/// The result of a transform of a trace and an auxiliary trace.
class transformed {
public:
  template <class F, class Model, class Auxiliary>
  transformed(F const& f, Model const& t, Auxiliary const& auxiliary) {
    auto const of = [](auto const& from) { return [&](address const& at) { return choice_at(from, at); }; };
    do {
      auto const width = static_cast<std::size_t>(transform_pass::directions);
      transform_pass pass(of(t), of(auxiliary), passes_.size() * width);
      pass.run(f);
      if (!passes_.empty() && pass.numbers_read() != passes_.front().numbers_read())
        throw model_error(message(
            "overdub: the transform reads other choices each time that it is called with the same ones"));
      passes_.push_back(std::move(pass));
    } while (passes_.size() * static_cast<std::size_t>(transform_pass::directions) < now().numbers_read());
    for (auto const& [at, made] : now().outputs()) written_[at.first].set(at.second, made.value);
  }

  choice_map const& model() const { return written_[model_side]; }
  choice_map const& auxiliary() const { return written_[auxiliary_side]; }
  /// Whether the transform reads or copies a choice.
  bool uses(transform_address const& p) const;

  /// log |det J|. `is_lost(address)` returns whether the new trace lacks a choice of the model, or has another value of it. The other
  /// choices of the model are constants of the transform. Throws model_error if the transform does not write as many coordinates as it
  /// reads. O(n^3) for n coordinates.
  double log_determinant(std::function<bool(address const&)> const& is_lost) const;

  /// Throws model_error if the transform neither reads nor copies a continuous choice, which the inverse could not restore.
  void reject_unused(transform_address const& p, datum const& x) const;

private:
  transform_pass const& now() const { return passes_.front(); }

  std::vector<transform_pass> passes_; // one for each eight coordinates that are read
  choice_map written_[2];
};

/// Throws model_error if the inverse does not restore a choice: if it lacks it, or has a value that differs by more than the tolerance.
void check_restored(transform_address const& p, datum const& was, datum const& is, double tolerance);
/// The same for all choices of `was`.
template <class Was, class Is>
void check_restored(Was const& was, Is const& is, int side, double tolerance) {
  for_each_choice_of(was, [&](address const& at, datum const& x) {
    check_restored(transform_address(side, at), x, choice_at(is, at), tolerance);
  });
}

} // namespace detail

template <class X>
void transformed_choices::write(address at, X const& x) const {
  using pass = detail::transform_pass;
  auto const tangents_of = []<class T>(T const& each) {
    if constexpr (std::same_as<T, transformed_number>)
      return each.metadata();
    else
      return pass::tangents();
  };
  pass::output made;
  using T = std::remove_cvref_t<decltype(concrete(x))>;
  if constexpr (std::floating_point<T>) {
    made.value = datum(static_cast<double>(concrete(x)));
    made.rows.push_back(tangents_of(x));
  } else if constexpr (std::same_as<T, bool>)
    made.value = datum(concrete(x));
  else if constexpr (std::integral<T>)
    made.value = datum(static_cast<i64>(concrete(x)));
  else {
    std::vector<double> numbers;
    for (auto const& each : x) {
      numbers.push_back(static_cast<double>(concrete(each)));
      made.rows.push_back(tangents_of(each));
    }
    made.value = datum(array<double>::copy_of(numbers));
  }
  run_->write({side_, std::move(at)}, std::move(made));
}

} // namespace overdub::models
