// Calls of functions and of native functions that a context intercepts: they are dispatched like calls of C++ functions
// (program_function.hpp, program_native.hpp).
#pragma once

#include <overdub/core/quantifiers.hpp>
#include <overdub/stage/evaluation/run.hpp>
#include <overdub/stage/observed.hpp>
#include <overdub/stage/program_function.hpp>
#include <overdub/stage/program_native.hpp>

#include <cstddef>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace overdub::detail {

constexpr std::size_t at_most(std::size_t n, std::size_t limit) { return n < limit ? n : limit; }

// The number of arguments of an untyped call that contexts receive.
inline constexpr std::size_t maximum_seen = 8;

// A call of a function, or native function, of the program, dispatched to the contexts that observe or replace it.
template <class S, class Callee>
class intercepted_call {
  static constexpr std::size_t maximum_probed = 3; // the arguments for which hooks are tested one by one

  evaluation_state<S>& by_;
  Callee callee_;
  std::vector<slot<S>> const& arguments_;
  std::string_view name_;
  std::vector<ir::type> parameters_, result_types_;

public:
  intercepted_call(Callee callee, std::vector<slot<S>> const& arguments)
      : by_(callee.by), callee_(std::move(callee)), arguments_(arguments),
        name_(interned_name(recorder::base_name(callee_.name()))), parameters_(callee_.parameter_types()),
        result_types_(callee_.result_types()) {}

  /// Returns the results, if a context intercepts the call. The callee is the first function of the list that it matches, or else Unnamed.
  template <class Unnamed, class... F>
  std::optional<std::vector<slot<S>>> run(types<F...>) {
    std::optional<std::vector<slot<S>>> results;
    bool const is_named =
        ((is_called_as<F>(callee_.origin_in_cpp(), callee_.origin_name()) && (results = run_as<F>(), true)) ||
         ...);
    if (!is_named) {
      if constexpr (Callee::has_typed_rules_for_all)
        results = run_as<Unnamed>();
      else
        run_untyped<Unnamed>(results);
    }
    return results;
  }

  // Whether contexts intercept calls of a callee that no context names.
  template <class Unnamed>
  static consteval bool is_any_intercepted() {
    return intercepts_any<Unnamed>(tried_signatures_t<S, Unnamed>{}) || intercepts_untyped<Unnamed>() ||
           asks_types_of<Unnamed>() || observes_by_types<Unnamed>();
  }

private:
  template <class F, class R>
  using callee_as = typename Callee::template callee<F, R>;

  // ---- typed calls

  template <class R>
  using result_in = typename program_result<S, R>::type;
  template <class F, class R, class... X>
  static consteval bool intercepts_signature(called_with<R, X...>) {
    return any_intercepts_function<S, callee_as<F, R>, result_in<R>, wrap_t<S, X>...>();
  }
  template <class F, class... Signature>
  static consteval bool intercepts_any(types<Signature...>) {
    return (intercepts_signature<F>(Signature{}) || ...);
  }
  // Whether a context has a rule for the call, and does not declare answers_any_types.
  template <class F, class R, class... X>
  static consteval bool has_typed_rule(called_with<R, X...>) {
    if constexpr (Callee::template takes<F, X...>)
      return any_has_function_rule<any_answers_any_types<S>(), S, callee_as<F, R>, wrap_t<S, X>...>();
    else
      return false;
  }
  // Whether the `enter` of a context accepts argument types, for any number of arguments.
  template <class F>
  static consteval bool asks_types_of() {
    return []<std::size_t... N>(std::index_sequence<N...>) {
      return (any_asks_types<S, callee_as<F, one_cell>, N>() || ...);
    }
    (std::make_index_sequence<max_typed + 1>{});
  }
  template <class F>
  static consteval bool intercepts_untyped() {
    // Hooks of several parameters are compiled for the signatures that are listed, if any.
    constexpr std::size_t most = has_written_signatures<S, F> ? 1 : maximum_seen;
    return intercepts_cells<S, callee_as<F, one_cell>, most>();
  }
  // Whether a hook accepts calls with up to `maximum_probed` arguments of some types.
  template <class F>
  static consteval bool observes_by_types() {
    constexpr auto takes_one = []<class... X>(types<X...>) {
      return (hooks_take<S, callee_as<F, one_cell>>(types<wrap_t<S, X>>{}) || ...);
    };
    constexpr auto takes_several = []<std::size_t... N>(std::index_sequence<N...>) {
      return (hooks_take<S, callee_as<F, one_cell>>(list_of_t<anything, N + 2>{}) || ...);
    };
    return takes_one(concatenated_t<scalar_types, vector_types, matrix_types>{}) ||
           takes_several(std::make_index_sequence<maximum_probed - 1>{});
  }
  std::size_t count() const { return parameters_.size(); }
  bool takes(std::initializer_list<ir::type> types) const { return equal_ranges(parameters_, types); }
  bool takes_reals() const {
    return count() <= max_typed && holds_for_all(parameters_, [](ir::type t) { return t == ir::f64; });
  }
  template <class R>
  bool returns() const {
    if constexpr (std::is_same_v<R, one_cell>)
      return true;
    else if constexpr (std::is_same_v<R, none>)
      return result_types_.empty();
    else {
      std::vector<ir::type> leaves;
      return append_leaf_types<R>(leaves) && leaves == result_types_;
    }
  }

  template <class F>
  std::optional<std::vector<slot<S>>> run_as() {
    std::optional<std::vector<slot<S>>> results;
    bool const is_typed = [&] {
      if constexpr (has_written_signatures<S, F>)
        return run_written<F>(written_signatures_t<S, F>{}, results);
      else
        return run_declared<F>(typename native_signature<F>::type{}, results) ||
               (takes_reals() && run_reals<F>(results)) ||
               run_declared<F>(decltype(find_declared_types<true, S, F>()){}, results) ||
               (!is_in_rules<F>() &&
                run_observed<F>(decltype(find_declared_types<false, S, F>()){}, results));
    }();
    if (!is_typed) run_untyped<F>(results);
    return results;
  }
  // Each returns whether the function has one of the signatures, and then calls it.
  template <class F, class... Signature>
  bool run_written(types<Signature...>, std::optional<std::vector<slot<S>>>& results) {
    return (run_typed<F>(Signature{}, results) || ...);
  }
  template <class F>
  bool run_reals(std::optional<std::vector<slot<S>>>& results) {
    return [&]<std::size_t... N>(std::index_sequence<N...>) {
      return ((count() == N && run_numbers<F>(list_of_t<double, N>{}, results)) || ...);
    }
    (std::make_index_sequence<max_typed + 1>{});
  }
  template <class F, class... List>
  bool run_declared(types<List...>, std::optional<std::vector<slot<S>>>& results) {
    return (run_numbers<F>(List{}, results) || ...);
  }
  template <class F, class... List>
  bool run_observed(types<List...>, std::optional<std::vector<slot<S>>>& results) {
    return (run_typed<F>(with_cell(List{}), results) || ...);
  }
  template <class... X>
  static called_with<one_cell, X...> with_cell(types<X...>) {
    return {};
  }
  // The function must return an f64, or the type that the rule returns.
  template <class F, class... X>
  bool run_numbers(types<X...>, std::optional<std::vector<slot<S>>>& results) {
    if constexpr (Callee::template takes<F, X...>) {
      using Own = typename Callee::template result_of_numbers<F, X...>;
      using R = typename decltype(find_rule_result<S, callee_as<F, Own>, wrap_t<S, X>...>())::type;
      if constexpr (std::is_same_v<R, nothing>)
        return run_typed<F>(called_with<Own, X...>{}, results);
      else
        return run_typed<F>(called_with<R, X...>{}, results);
    } else
      return false;
  }
  template <class F, class R, class... X>
  bool run_typed(called_with<R, X...>, std::optional<std::vector<slot<S>>>& results) {
    if constexpr (!Callee::template takes<F, X...>)
      return false;
    else {
      if (!takes({ir_type_of<X>...})) return false;
      if constexpr (!is_result<R>)
        throw_result();
      else {
        if (!returns<R>()) return false;
        if constexpr (std::is_same_v<R, one_cell>) refuse_types<F>();
        reject_unmatched_rule<F, any_has_function_rule<false, S, callee_as<F, R>, wrap_t<S, X>...>()>();
        if constexpr (!intercepts_signature<F>(called_with<R, X...>{}))
          return true;
        else if constexpr (Callee::is_staged_between_hooks)
          results = between_hooks<callee_as<F, R>>(
              observations<S, callee_as<F, R>, result_in<R>, wrap_t<S, X>...>, false,
              std::is_same_v<R, one_cell>);
        else
          [&]<std::size_t... I>(std::index_sequence<I...>) {
            auto const result = called<F, R>(*by_.leaf(arguments_[I]).template get<wrap_t<S, X>>()...);
            if constexpr (std::is_same_v<R, one_cell>)
              results = slots_of_result(result);
            else
              put_results(results.emplace(), result);
          }
        (std::index_sequence_for<X...>{});
        return true;
      }
    }
  }
  // Whether R can be the result type of a program's function: numbers, arrays, and trees of them.
  template <class R>
  static constexpr bool is_result =
      std::is_same_v<R, one_cell> || std::is_same_v<R, none> || is_cell_type<R> || generated_tree<R>;
  [[noreturn]] void throw_result() const {
    throw evaluation_error(message(
        "overdub: a rule for @%.*s returns another type than it has in this program; convert it with "
        "overdub::convert<T>",
        static_cast<int>(name_.size()), name_.data()));
  }
  template <class R>
  void put_results(std::vector<slot<S>>& slots, R const& result) const {
    append_leaves(slots, result);
    bool const are_same = slots.size() == result_types_.size() &&
                          equal_ranges(slots, result_types_, [](slot<S> const& s, ir::type t) {
                            return detail::opened(s.leaf, []<class X>(auto const&, std::type_identity<X>) {
                                     return ir_type_of<X>;
                                   }) == t;
                          });
    if (!are_same) throw_result();
  }
  template <class X>
  static void append_leaves(std::vector<slot<S>>& slots, X const& x) {
    if constexpr (std::is_same_v<X, none>)
      return;
    else if constexpr (std::is_constructible_v<cell<S>, X const&>)
      slots.push_back({cell<S>(x)});
    else
      each_child([&](auto const& child) { append_leaves(slots, child); }, x);
  }
  // Throws evaluation_error if a rule names the function and does not accept its arguments.
  template <class F, bool HasRule>
  void reject_unmatched_rule() const {
    if constexpr (!HasRule && is_in_rules<F>())
      throw evaluation_error(message(
          "overdub: a rule names @%.*s, and does not take the arguments that it has in this program; give "
          "the rule one parameter for the function, and one of type auto for each number or array",
          static_cast<int>(name_.size()), name_.data()));
  }
  // Whether a rule of a context that does not declare answers_any_types names F.
  template <class F, class T = S>
  static consteval bool is_in_rules() {
    if constexpr (T::empty)
      return false;
    else if constexpr (detail::symbolic<typename T::context>)
      return false;
    else
      return (!answers_any_types<typename T::context> && is_listed<typename level_names<T>::rules, F>) ||
             is_in_rules<F, typename T::tail>();
  }

  // Stages the call between the calls of hooks.
  template <class F>
  std::vector<slot<S>>
  between_hooks(std::span<observation const> hooks, bool are_cells, bool is_result_cell) {
    name_during_call const named(name_);
    return callee_.between_hooks(
        arguments_, F::name(), hooks, {!named_at_compile_time<F>, are_cells, is_result_cell});
  }
  template <class F, class R, class... X>
  auto called(X const&... x) {
    name_during_call const named(name_);
    return call(by_.stack(), callee_.template made<F, R>(arguments_), x...);
  }

  // ---- untyped calls

  template <class F>
  void run_untyped(std::optional<std::vector<slot<S>>>& results) {
    refuse_types<F>();
    if constexpr (intercepts_untyped<F>()) {
      std::vector<cell<S>> all;
      for (slot<S> const& s : arguments_) all.push_back(by_.cell_or_none(s));
      refuse_rules<F>();
      callee_.check_untyped(all);
      if constexpr (Callee::is_staged_between_hooks)
        results = between_hooks<callee_as<F, one_cell>>(
            hooks_for_cells<callee_as<F, one_cell>>(
                at_most(all.size(), maximum_seen), std::make_index_sequence<maximum_seen + 1>{}),
            true, true);
      else if (result_types_.empty() && Callee::gives_none)
        results = slots_of_result(call_untyped<F, no_cell>(all));
      else
        results = slots_of_result(call_untyped<F, one_cell>(all));
    } else {
      refuse_rules<F>();
      refuse_typed_hooks<F>(std::make_index_sequence<maximum_probed + 1>{});
    }
  }
  // The hooks for a call on this number of values with a dynamic type.
  template <class F, std::size_t... N>
  static std::span<observation const> hooks_for_cells(std::size_t count, std::index_sequence<N...>) {
    std::span<observation const> const of_count[] = {hooks_for_list<F>(list_of_t<cell<S>, N>{})...};
    return of_count[count];
  }
  template <class F, class... X>
  static consteval std::span<observation const> hooks_for_list(types<X...>) {
    return observations<S, F, cell<S>, X...>;
  }
  // Throws evaluation_error if a hook accepts the C++ types of the arguments, but not values with a dynamic type.
  template <class F, std::size_t... N>
  void refuse_typed_hooks(std::index_sequence<N...>) const {
    bool const is_meant = ((count() == N && takes_by_types<F, N>(std::make_index_sequence<N>{})) || ...);
    if (is_meant) {
      std::string const signature = signature_in_cpp(parameters_, result_types_);
      throw evaluation_error(message(
          "overdub: a hook takes calls of @%.*s, which is %s, and is compiled for other signatures; list "
          "this one in the "
          "context, `using signatures = overdub::types<...>`, or stage the function of C++ in it",
          static_cast<int>(name_.size()), name_.data(), signature.c_str()));
    }
  }
  template <class F, std::size_t N, std::size_t... I>
  bool takes_by_types(std::index_sequence<I...> each) const {
    if constexpr (N != 1 && !hooks_take<S, callee_as<F, one_cell>>(list_of_t<anything, N>{}))
      return false;
    else
      return (takes_argument<F, I>(each) && ...);
  }
  // Whether a hook accepts the I-th argument with its C++ type and arbitrary other arguments.
  template <class F, std::size_t I, std::size_t... K>
  bool takes_argument(std::index_sequence<K...>) const {
    if (!is_cell(parameters_[I])) return false;
    return with_type(parameters_[I], []<class T>(std::type_identity<T>) {
      return hooks_take<S, callee_as<F, one_cell>>(
          types<std::conditional_t<K == I, wrap_t<S, T>, anything>...>{});
    });
  }
  // Contexts receive at most `maximum_seen` arguments, the first ones.
  template <class F, class R>
  cell<S> call_untyped(std::vector<cell<S>> const& all) {
    if constexpr (Callee::template is_only_observed<F, R>())
      return callee_.template observed<F, R>(all, name_);
    else {
      cell<S> result;
      [&]<std::size_t... N>(std::index_sequence<N...>) {
        (void)((at_most(all.size(), maximum_seen) == N && (result = call_on<F, R>(all, std::make_index_sequence<N>{}), true)) || ...);
      }
      (std::make_index_sequence<maximum_seen + 1>{});
      return result;
    }
  }
  template <class F, class R, std::size_t... I>
  cell<S> call_on(std::vector<cell<S>> const& all, std::index_sequence<I...>) {
    if constexpr (std::is_same_v<R, no_cell> && !Callee::gives_none)
      return {};
    else if constexpr (std::is_same_v<decltype(called<F, R>(all[I]...)), none>) {
      (void)called<F, R>(all[I]...);
      return {};
    } else
      return called<F, R>(all[I]...);
  }
  // Several results, and results without a cell type, are those of the body.
  std::vector<slot<S>> slots_of_result(cell<S> const& result) const {
    if (result) return {slot<S>{result}};
    return callee_.results;
  }
  // Throws evaluation_error if `enter` accepts argument types, which are known only at run time.
  template <class F>
  void refuse_types() const {
    bool const asks = [&]<std::size_t... N>(std::index_sequence<N...>) {
      return ((count() == N && any_asks_types<S, callee_as<F, one_cell>, N>()) || ...);
    }
    (std::make_index_sequence<max_typed + 1>{});
    if (asks)
      throw evaluation_error(message(
          "overdub: a context's `enter` asks for the types of the arguments of @%.*s, which is not compiled "
          "for "
          "its signature; list the "
          "signature in the context, `using signatures = overdub::types<...>`, or stage the function of C++ "
          "in it",
          static_cast<int>(name_.size()), name_.data()));
  }
  // Throws evaluation_error if a rule matches the function, but is not compiled for its signature.
  template <class F>
  void refuse_rules() const {
    if (is_in_rules<F>() || is_in_families<F>()) {
      std::string const signature = signature_in_cpp(parameters_, result_types_);
      throw evaluation_error(message(
          "overdub: a rule answers @%.*s, which is %s in this program, and it is not compiled for this "
          "signature, "
          "or returns another type: convert its result with overdub::convert<T>, or list the signature in "
          "the "
          "context, `using signatures = overdub::types<...>`, or stage the function of C++ in it",
          static_cast<int>(name_.size()), name_.data(), signature.c_str()));
    }
  }
  template <class F>
  bool is_in_families() const {
    if constexpr (!Callee::has_typed_rules_for_all)
      return false;
    else if constexpr (has_written_signatures<S, F>)
      return []<class... Signature>(types<Signature...>) {
        return (has_typed_rule<F>(Signature{}) || ...);
      }(written_signatures_t<S, F>{});
    else
      return [&]<class... Signature>(types<Signature...>) {
        std::size_t n = 0;
        return ((at_most(count(), max_typed) == n++ && has_typed_rule<F>(Signature{})) || ...);
      }(calls_of_reals{});
  }
};

} // namespace overdub::detail
