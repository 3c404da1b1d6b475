// Trace transforms: a user's function reads the choices of a trace and of an auxiliary model, and writes those of a new trace and of the
// auxiliary model of the reverse move. The logarithm of its Jacobian determinant is computed by forward-mode differentiation
// (Cusumano-Towner, Lew and Mansinghka, Automating Involutive MCMC using Probabilistic and Differentiable Programming, 2020).
#pragma once

#include <overdub/contexts/forward/forward_along.hpp>
#include <overdub/distributions/support.hpp>
#include <overdub/execute/datum_text.hpp>
#include <overdub/models/dynamic.hpp>
#include <overdub/models/model.hpp>

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace overdub::models {
namespace detail {

// ---- single choices of traces of either kind of model

inline datum choice_at(trace const& t, address const& at) {
  std::uint32_t const s = t.core().site_at(at.site);
  if (at.indices.size() != t.core().sites()[s].index_count || !t.is_made(s, at.indices)) return {};
  return part_of(t.values(s), at.indices);
}
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
inline std::size_t free_numbers_in(datum const& x) {
  if (x.type().rank != 1 || !distributions::simplex::contains(x.as<array<double>>())) return numbers_in(x);
  return numbers_in(x) - 1;
}

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
  inline transformed_number real(address const& at) const;
  inline std::vector<transformed_number>
  reals(address const& at) const; // an array; of a simplex, all elements
  inline i64 integer(address const& at) const;
  inline bool boolean(address const& at) const;
  inline bool contains(address const& at) const;
  /// Sets a choice of the new trace: a number, or a std::vector of transformed numbers.
  template <class X>
  void write(address at, X const& x) const;
  /// Sets a choice of the new trace to a choice of the present one. It does not enter the Jacobian.
  inline void copy(address to, transformed_choices const& from, address const& at) const;

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
inline std::string text_of_address(transform_address const& p) {
  return (p.first == model_side ? "the choice " : "the auxiliary choice ") + text_of(p.second).substr(0, 80);
}

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
  datum existing(transform_address const& p) const {
    datum x = find(p);
    if (!x)
      throw model_error(message(
          "overdub: the transform reads %s, which there is not; name one choice, with all its indices",
          text_of_address(p).c_str()));
    return x;
  }
  std::vector<transformed_number> numbers(transform_address const& p, unsigned rank) {
    datum const x = existing(p);
    if (!is_continuous(x) || x.type().rank != rank)
      throw model_error(message(
          "overdub: the transform reads %s as %s, and it is %s", text_of_address(p).c_str(),
          rank == 0 ? "a number" : "an array of numbers", overdub::detail::text_of(x.type()).c_str()));
    auto const [found, is_new] = inputs_.try_emplace(p);
    if (is_new) {
      found->second = {count_, free_numbers_in(x)};
      count_ += found->second.size;
    }
    input const& read = found->second;
    std::vector<transformed_number> all;
    for (std::size_t k = 0; k < numbers_in(x); ++k) {
      tangents along;
      for (int i = 0; i < directions; ++i) {
        std::size_t const column = first_ + static_cast<std::size_t>(i);
        if (k < read.size)
          along[i] = column == read.first + k;
        else if (column >= read.first && column < read.first + read.size)
          along[i] = -1; // the last element of a simplex is 1 minus the others
      }
      all.emplace_back(
          rank == 0 ? x.as<double>() : x.elements<double>()[static_cast<i64>(k)], along,
          overdub::detail::ref<transform_tangents>());
    }
    return all;
  }
  void write(transform_address p, output made) {
    auto const text = text_of_address(p);
    if (!outputs_.emplace(std::move(p), std::move(made)).second)
      throw model_error(message("overdub: the transform writes %s twice", text.c_str()));
  }

  std::map<transform_address, input> const& inputs() const { return inputs_; }
  std::map<transform_address, output> const& outputs() const { return outputs_; }
  std::size_t numbers_read() const { return count_; }

private:
  source sources_[2];
  std::size_t first_, count_ = 0;
  std::map<transform_address, input> inputs_;
  std::map<transform_address, output> outputs_;
};

/// log |det a| of a row-major n by n matrix, by Gaussian elimination with partial pivoting. O(n^3).
inline double log_abs_determinant(std::vector<double> a, std::size_t n) {
  double sum = 0;
  for (std::size_t k = 0; k < n; ++k) {
    std::size_t pivot = k;
    for (std::size_t i = k + 1; i < n; ++i)
      if (std::abs(a[i * n + k]) > std::abs(a[pivot * n + k])) pivot = i;
    if (pivot != k)
      for (std::size_t j = k; j < n; ++j) std::swap(a[k * n + j], a[pivot * n + j]);
    double const diagonal = a[k * n + k];
    sum += std::log(std::abs(diagonal));
    if (diagonal == 0) return -std::numeric_limits<double>::infinity();
    for (std::size_t i = k + 1; i < n; ++i) {
      double const factor = a[i * n + k] / diagonal;
      if (factor == 0) continue;
      for (std::size_t j = k + 1; j < n; ++j) a[i * n + j] -= factor * a[k * n + j];
    }
  }
  return sum;
}

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
  bool uses(transform_address const& p) const {
    if (now().inputs().contains(p)) return true;
    for (auto const& [at, made] : now().outputs())
      if (made.is_copy && made.from == p) return true;
    return false;
  }

  /// log |det J|. `is_lost(address)` returns whether the new trace lacks a choice of the model, or has another value of it. The other
  /// choices of the model are constants of the transform. Throws model_error if the transform does not write as many coordinates as it
  /// reads. O(n^3) for n coordinates.
  template <class IsLost>
  double log_determinant(IsLost const& is_lost) const {
    auto const is_unchanged = [&](transform_address const& p) {
      return p.first == model_side && !is_lost(p.second);
    };
    std::map<transform_address, bool> copied; // the choices that were counted as copied
    std::size_t rows = 0, surplus = 0;
    std::vector<std::pair<transform_address, std::size_t>>
        all; // rows: the address and the coordinate that are written
    for (auto const& [at, made] : now().outputs()) {
      if (!is_continuous(made.value)) continue;
      std::size_t const size = free_numbers_in(made.value);
      if (made.is_copy) {
        if (is_unchanged(made.from) || !copied.emplace(made.from, true).second) surplus += size;
        continue;
      }
      for (std::size_t k = 0; k < size; ++k) all.emplace_back(at, k);
      rows += size;
    }
    std::vector<std::size_t> columns;
    for (auto const& [at, read] : now().inputs())
      if (!is_unchanged(at) && !copied.contains(at))
        for (std::size_t k = 0; k < read.size; ++k) columns.push_back(read.first + k);
    if (rows + surplus != columns.size())
      throw model_error(message(
          "overdub: the transform writes %zu continuous numbers, and reads %zu that do not stay: it is no "
          "bijection",
          rows + surplus, columns.size()));
    std::vector<double> matrix;
    matrix.reserve(rows * rows);
    auto const width = static_cast<std::size_t>(transform_pass::directions);
    for (auto const& [at, k] : all)
      for (std::size_t const column : columns)
        matrix.push_back(passes_[column / width].outputs().at(at).rows[k][static_cast<int>(column % width)]);
    return log_abs_determinant(std::move(matrix), rows);
  }

  /// Throws model_error if the transform neither reads nor copies a continuous choice, which the inverse could not restore.
  void reject_unused(transform_address const& p, datum const& x) const {
    if (is_continuous(x) && !uses(p))
      throw model_error(message(
          "overdub: the transform does not read %s, whose value its inverse needs",
          text_of_address(p).c_str()));
  }

private:
  transform_pass const& now() const { return passes_.front(); }

  std::vector<transform_pass> passes_; // one for each eight coordinates that are read
  choice_map written_[2];
};

/// Throws model_error if `is` lacks a choice of `was`, or has a value of it that differs by more than the tolerance.
template <class Was, class Is>
void check_restored(Was const& was, Is const& is, int side, double tolerance) {
  for_each_choice_of(was, [&](address const& at, datum const& x) {
    datum const y = choice_at(is, at);
    bool same = static_cast<bool>(y) && x.type() == y.type() && x.shape() == y.shape();
    if (same && is_continuous(x)) {
      auto const near = [&](double a, double b) {
        return a == b || std::abs(a - b) <= tolerance * std::max({1.0, std::abs(a), std::abs(b)});
      };
      if (x.type().rank == 0)
        same = near(x.as<double>(), y.as<double>());
      else
        for (i64 k = 0; k < x.size(); ++k)
          same = same && near(x.elements<double>()[k], y.elements<double>()[k]);
    } else if (same)
      same = x == y;
    if (!same)
      throw model_error(message(
          "overdub: the inverse does not restore %s: it was %s, and is %s",
          text_of_address({side, at}).c_str(), overdub::text_of(x).c_str(),
          y ? overdub::text_of(y).c_str() : "not there"));
  });
}

} // namespace detail

// ---- members that transforms call

inline transformed_number transformed_choices::real(address const& at) const {
  return run_->numbers({side_, at}, 0).front();
}
inline std::vector<transformed_number> transformed_choices::reals(address const& at) const {
  return run_->numbers({side_, at}, 1);
}
inline i64 transformed_choices::integer(address const& at) const {
  return detail::choice_as<i64>(at, run_->existing({side_, at}));
}
inline bool transformed_choices::boolean(address const& at) const {
  return detail::choice_as<bool>(at, run_->existing({side_, at}));
}
inline bool transformed_choices::contains(address const& at) const {
  return static_cast<bool>(run_->find({side_, at}));
}
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
inline void transformed_choices::copy(address to, transformed_choices const& from, address const& at) const {
  detail::transform_address source{from.side_, at};
  datum x = run_->existing(source);
  run_->write({side_, std::move(to)}, {.value = std::move(x), .is_copy = true, .from = std::move(source)});
}

} // namespace overdub::models
