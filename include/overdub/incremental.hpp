// incremental(f, x...): the value of a function, updated when its inputs change. An update program, which is specialised for the change
// signature, recomputes only the affected operations.
#pragma once

#include <overdub/compile/session_program.hpp>
#include <overdub/compile/transformed.hpp>
#include <overdub/compile/tree_data.hpp>
#include <overdub/core/exact_math.hpp>
#include <overdub/incremental/incremental_program.hpp>
#include <overdub/ir/literal_bits.hpp>

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace overdub {
namespace increments {

// Contexts in which a function can be updated incrementally.
template <class... C>
consteval bool can_update_in() {
  static_assert(
      !(overdub::detail::declares_failed<C> || ...),
      "overdub: a context with a hook `failed` is given to incremental, which does not update protected "
      "calls; run or compile the function in it, or catch what propose() throws");
  return true;
}

// Fields of contexts, which are inputs of the program after its arguments: their values in the last commit, and in the last proposal.
class field_inputs {
public:
  field_inputs() = default;
  field_inputs(overdub::detail::session_contexts of, incremental_program const& p, std::uint32_t first)
      : of_(std::move(of)) {
    for (std::uint32_t k = 0; k < of_.size(); ++k) committed_.push_back(p.input(first + k));
    proposed_ = committed_;
  }
  // A copy has no pending changes.
  field_inputs(field_inputs const& other)
      : of_(other.of_), committed_(other.committed_), proposed_(other.committed_) {}
  field_inputs(field_inputs&&) = default;
  field_inputs& operator=(field_inputs const& other) { return *this = field_inputs(other); }
  field_inputs& operator=(field_inputs&&) = default;
  ~field_inputs() = default;

  void set_changed_fields(incremental_program& p, std::uint32_t first) {
    for (std::uint32_t k = 0; k < proposed_.size(); ++k)
      if (datum now = of_.now(k); !(now == proposed_[k])) {
        p.set_differing(first + k, proposed_[k], now);
        proposed_[k] = std::move(now);
      }
  }
  void commit() {
    if (!proposed_.empty()) committed_ = proposed_;
  }
  void rollback() {
    if (!proposed_.empty()) proposed_ = committed_;
  }

private:
  overdub::detail::session_contexts of_;
  std::vector<datum> committed_, proposed_;
};

} // namespace increments

/// The value of a function of A..., saved with its inputs. `set`, `set_at` and `append` change inputs; `propose` computes the value with
/// the changes, `commit` applies them, `rollback` discards them. Memory: the values that update programs read, one number for each
/// iteration of the enclosing maps. Not thread-safe. A copy has the committed state; copying does not run the function: O(memory).
template <class Result, class... A>
class incremental_function {
  static constexpr bool is_number = std::is_arithmetic_v<Result>;

public:
  incremental_function(std::shared_ptr<update_program_cache> of, A const&... x)
      : program_(std::move(of), data_of(x...)) {}
  /// In contexts. Their fields are inputs, and their hooks observe what is recomputed.
  incremental_function(
      std::shared_ptr<update_program_cache> of, detail::session_contexts const& contexts, A const&... x)
      : program_(std::move(of), contexts.with_fields(data_of(x...)), contexts.objects()),
        fields_(contexts, program_, first_field) {}

  /// Sets the argument I. O(size); O(1) for numbers.
  template <std::size_t I, class X>
  void set(X const& given) {
    using argument = argument_at<I>;
    auto const& x = as_argument<argument>(given);
    static_assert(
        std::is_convertible_v<decltype(x), argument> && (!std::floating_point<X> || !std::integral<argument>),
        "overdub: set<I>(x) takes what the function's argument I is, and no floating-point number for an "
        "integer; convert it");
    if constexpr (std::is_arithmetic_v<argument>) {
      program_.set_bits(first_leaf<I>, ir::bits_of_number(static_cast<argument>(x)));
    } else {
      std::uint32_t leaf = first_leaf<I>;
      for (datum const& d : data_of(argument(x))) program_.set(leaf++, d);
    }
  }
  /// Sets an element of the argument I, an array: set_at<0>(i, x); set_at<0>(i, j, x) for arrays of arrays. Throws index_error. O(1); for
  /// arrays of arrays, O(length of a row) for two elements in one row, or more than four; O(length) if more than an eighth changed.
  template <std::size_t I, class... X>
  void set_at(X const&... indices_and_element) {
    using argument = argument_at<I>;
    constexpr std::size_t rank = detail::type_of_cpp<argument>.rank;
    static_assert(
        rank > 0,
        "overdub: set_at<I>(i, x) is for arguments that are arrays; set other arguments by set<I>(x)");
    static_assert(
        rank == 0 || sizeof...(X) == rank + 1,
        "overdub: set_at<I>(i, x) takes an index for each axis of the array, and the element");
    static_assert(
        rank <= incremental_program::max_indices,
        "overdub: set_at<I>(i, x) is for arrays of up to three axes");
    if constexpr (rank > 0 && rank <= incremental_program::max_indices && sizeof...(X) == rank + 1) {
      auto const all = std::tie(indices_and_element...);
      using number = typename detail::number_in<argument>::type;
      using given = std::tuple<X...>;
      constexpr bool fits = []<std::size_t... K>(std::index_sequence<K...>) {
        return (std::integral<std::tuple_element_t<K, given>> && ...);
      }
      (std::make_index_sequence<rank>{}) &&
          (std::floating_point<number> || !std::floating_point<std::tuple_element_t<rank, given>>);
      static_assert(
          fits,
          "overdub: set_at<I>(i, x) takes integers as indices, and no floating-point number for an integer; "
          "convert it");
      auto const path = [&]<std::size_t... K>(std::index_sequence<K...>) {
        return std::array{static_cast<i64>(std::get<K>(all))...};
      }
      (std::make_index_sequence<rank>{});
      std::uint64_t const bits = ir::bits_of_number(static_cast<number>(std::get<rank>(all)));
      if constexpr (rank == 1)
        program_.set_at(first_leaf<I>, path[0], bits);
      else
        program_.set_at(first_leaf<I>, path, bits);
    }
  }
  /// The committed value of the argument I. O(size); O(1) for numbers.
  template <std::size_t I>
  auto get() const {
    using argument = argument_at<I>;
    if constexpr (std::is_arithmetic_v<argument>) {
      static_cast<void>(program_.update_programs()); // throws if it was moved from
      return ir::number_of_bits<argument>(program_.input_bits(first_leaf<I>, {}));
    } else {
      std::vector<datum> all;
      for (std::uint32_t k = 0; k < leaves<argument>; ++k) all.push_back(program_.input(first_leaf<I> + k));
      return tree_of<argument>(all);
    }
  }
  /// The committed value of an element of an array: get_at<0>(i); get_at<0>(i, j) for arrays of arrays. Throws index_error. O(1).
  template <std::size_t I, std::integral... X>
  auto get_at(X... indices) const {
    using argument = argument_at<I>;
    constexpr std::size_t rank = detail::type_of_cpp<argument>.rank;
    static_assert(rank > 0, "overdub: get_at<I>(i) is for arguments that are arrays; get<I>() gives others");
    static_assert(
        rank == 0 || sizeof...(X) == rank, "overdub: get_at<I>(i) takes an index for each axis of the array");
    if constexpr (rank > 0 && sizeof...(X) == rank)
      return ir::number_of_bits<typename detail::number_in<argument>::type>(
          program_.input_at(first_leaf<I>, std::array{static_cast<i64>(indices)...}));
  }

  /// Appends an element to the argument I, an array; for arrays of arrays, the element is a row. Amortised O(1) for numbers.
  template <std::size_t I, class X>
  void append(X const& given) {
    using argument = argument_at<I>;
    static_assert(
        detail::type_of_cpp<argument>.rank > 0,
        "overdub: append<I>(x) is for arguments that are arrays; set other arguments by set<I>(x)");
    if constexpr (detail::type_of_cpp<argument>.rank > 0) {
      using row = typename argument::value_type;
      auto const& element = as_argument<row>(given);
      static_assert(
          std::is_convertible_v<decltype(element), row> && (!std::floating_point<X> || !std::integral<row>),
          "overdub: append<I>(x) takes an element of the argument, and no floating-point number for an "
          "integer; convert it");
      if constexpr (std::is_arithmetic_v<row>)
        program_.append(first_leaf<I>, ir::bits_of_number(row(element)));
      else
        program_.append(first_leaf<I>, data_of(row(element)).front());
    }
  }

  /// Computes the value with the pending changes, and returns it if it is a number; otherwise commit, and read the value. Throws the
  /// exceptions of the function; there is then no proposal, and the changes remain pending.
  std::conditional_t<is_number, Result, void> propose() {
    fields_.set_changed_fields(program_, first_field);
    program_.propose();
    if constexpr (is_number) return ir::number_of_bits<Result>(program_.proposed());
  }
  /// The difference between the proposed and the committed value; if the value is a log density, the logarithm of the ratio. Throws
  /// incremental_error if there are changes that were not proposed.
  double difference() const requires is_number {
    if (program_.has_changes() && !program_.is_proposed()) [[unlikely]]
      program_.throw_not_proposed();
    return program_.difference();
  }
  /// Applies the pending changes to the state.
  void commit() {
    if (!program_.is_proposed()) fields_.set_changed_fields(program_, first_field);
    program_.commit();
    fields_.commit();
  }
  /// Discards the pending changes.
  void rollback() {
    program_.rollback();
    fields_.rollback();
  }

  /// The committed value.
  Result value() const {
    if constexpr (is_number) {
      return ir::number_of_bits<Result>(program_.value());
    } else {
      std::vector<datum> all;
      for (std::size_t k = 0; k < program_.update_programs().function().results.size(); ++k)
        all.push_back(program_.result(k));
      return tree_of<Result>(all);
    }
  }
  /// The operations that the pending proposal recomputed; for those that it recomputed in full, the reason.
  std::string explain() const { return program_.explain(); }
  incremental_program const& program() const { return program_; }

private:
  template <class X>
  static constexpr std::uint32_t leaves =
      []<class... L>(types<L...>) { return static_cast<std::uint32_t>(sizeof...(L)); }(leaves_of<X>{});
  template <std::size_t I>
  static constexpr std::size_t checked = [] {
    static_assert(
        I < sizeof...(A), "overdub: the function has no argument of this number; the first one is 0");
    return I < sizeof...(A) ? I : 0;
  }();
  template <std::size_t I>
  using argument_at = std::tuple_element_t<checked<I>, std::tuple<A...>>;
  template <std::size_t I>
  static constexpr std::uint32_t first_leaf = []<std::size_t... K>(std::index_sequence<K...>) {
    return (0u + ... + leaves<std::tuple_element_t<K, std::tuple<A...>>>);
  }
  (std::make_index_sequence<checked<I>>{});

  // A value for an argument of type T. Floating-point numbers are unchanged, other numbers are widened.
  template <class T, class X>
  static decltype(auto) as_argument(X const& x) {
    if constexpr (std::floating_point<T>)
      return (x);
    else
      return widened(x);
  }

  static constexpr std::uint32_t first_field = (0u + ... + leaves<A>);

  incremental_program program_;
  increments::field_inputs fields_;
};

/// overdub(contexts, f, x...), updated incrementally when x change. The contexts' rules and passes transform the function's program once
/// for each of their present fingerprints. Fields that rules read (context_field) are inputs, too: `propose` checks whether they changed.
/// Contexts that are lvalues and have such fields, or hooks, are stored by reference and must outlive the result. An argument is a
/// constant, or tag(x, metadata), and is set in the same form; the value is that of `overdub`. Hooks observe all calls of the first run,
/// and then those that a proposal recomputes; a hook `failed` is rejected. Throws incremental_error, and the exceptions of
/// staging, passes and f.
///   incremental(compose(fast_math(), single_precision()), f, x)
template <class Context, class F, class... A>
requires(detail::contexts_to_run_in<Context>) //
    auto incremental(compile_options const& o, Context&& contexts, F const& f, A const&... x) {
  constexpr bool is_function = !detail::contexts_to_run_in<F>;
  constexpr bool are_numbers = !(detail::contexts_to_run_in<A> || ...);
  static_assert(
      is_function,
      "overdub: incremental is given several contexts; compose them: incremental(compose(a, b), f, x)");
  static_assert(
      are_numbers || !is_function, "overdub: incremental is given a context after the function; a context "
                                   "is the first argument, and several "
                                   "are composed: incremental(compose(a, b), f, x)");
  static_assert(
      std::is_empty_v<F> || !is_function,
      "overdub: a function that is updated incrementally captures nothing; pass what it "
      "captures as an argument");
  static_assert(
      detail::outermost_t<A...>::empty, "overdub: incremental is given a value of a context; give it "
                                        "concrete(x), and the contexts in which the function "
                                        "is to run: incremental(contexts, f, concrete(x))");
  if constexpr (!detail::outermost_t<A...>::empty || !is_function || !are_numbers)
    return detail::refused{};
  else {
    using arguments = types<widened_t<A>...>;
    return [&]<class... Held>(composition<Held...> all) {
      using original = detail::compilation<F, arguments, detail::held_context_t<Held>...>;
      if constexpr (original::allowed() && increments::can_update_in<detail::held_context_t<Held>...>())
        return detail::session_in<update_program_cache, F, arguments>(
            f, detail::globals::applied, o, std::move(all),
            [&](auto const& slices, detail::session_contexts const& fields) {
              return incremental_function<typename original::result, widened_t<A>...>(
                  slices, fields, widened(x)...);
            });
    }(compose(std::forward<Context>(contexts)));
  }
}
template <class Context, class F, class... A>
requires(detail::contexts_to_run_in<Context>) //
    auto incremental(Context&& contexts, F const& f, A const&... x) {
  return incremental(compile_options(), std::forward<Context>(contexts), f, x...);
}

/// f(x...), updated incrementally when x change. The arguments are converted by `widened`. The function must have no side effects and no
/// captures. Throws incremental_error, and the exceptions of f.
template <class F, class... A>
requires(!(detail::contexts_to_run_in<F>)) //
    auto incremental(compile_options const& o, F const& f, A const&... x) {
  return incremental(o, compose(), f, x...);
}
template <class F, class... A>
requires(!std::same_as<F, compile_options> && !detail::contexts_to_run_in<F>) //
    auto incremental(F const& f, A const&... x) {
  return incremental(compile_options(), compose(), f, x...);
}

} // namespace overdub
