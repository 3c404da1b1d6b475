// Functions of programs as callees of the dispatcher: rules, hooks and `enter` apply to their calls as to those of functions of C++.
//
// A call is typed where its arguments and its result are numbers f64: contexts then see what they see of a function of C++. Else each
// argument is a value whose type is known when the program is (cell.hpp); hooks hear such a call, and rules refuse it.
#pragma once

#include <overdub/call/arity.hpp>
#include <overdub/call/callee_name.hpp>
#include <overdub/call/fn.hpp>
#include <overdub/call/intercepts.hpp>
#include <overdub/call/named_functions.hpp>
#include <overdub/call/recurse.hpp>
#include <overdub/stage/cell.hpp>

#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace overdub::detail {

// ---- the functions that contexts name

inline constexpr std::size_t most_typed = 8; // arguments of a typed call

template <class X, std::size_t>
using repeated = X;
template <class X, std::size_t... I>
auto list_of(std::index_sequence<I...>) -> types<repeated<X, I>...>;
template <class X, std::size_t N>
using list_of_t = decltype(list_of<X>(std::make_index_sequence<N>{}));

template <class S, std::size_t... N>
consteval bool find_all_names(std::index_sequence<N...>) {
  using C = typename S::context;
  using X = open_t<S, wrap_t<S, double>>;
  return (find_names<C>(list_of_t<X, N>{}, list_of_t<double, N>{}) || ...) || find_entered_names<C>();
}
template <class S>
struct level_names {
  using C = typename S::context;
  static constexpr bool is_looked_for = find_all_names<S>(std::make_index_sequence<most_typed + 1>{});
  using rules = decltype(remembered_functions<types<S, std::bool_constant<is_looked_for>>, rules_of<C>>());
  using hooks = decltype(remembered_functions<types<S, std::bool_constant<is_looked_for>>, hooks_of<C>>());
  using type = typename united_lists<typename listed_functions<C>::type, concatenated_t<rules, hooks>>::type;
};

// Those of all contexts of S above `staging`, one time each; those that rules name.
template <class S>
consteval auto find_named_functions() {
  if constexpr (S::empty)
    return types<>{};
  else if constexpr (symbolic<typename S::context>)
    return types<>{};
  else
    return typename united_lists<
        typename level_names<S>::type, decltype(find_named_functions<typename S::tail>())>::type{};
}
template <class S>
using named_functions_t = decltype(find_named_functions<S>());

// Whether a function of C++ may be called with these arguments, in front of which its body may take the scope.
struct any_scope : scope_base {};
template <class F, class... A>
inline constexpr bool is_called_with = true;
template <fixed_string Name, class Body, class... A>
inline constexpr bool
    is_called_with<fn_t<Name, Body>, A...> = may_take<Body, A...>() || may_take<Body, any_scope, A...>();

// ---- the callee

// What is called where the types of the values are known when the program is: the result is a cell; none, where there are several.
struct one_cell {};

// A function of a program that came from no function of C++ which is named.
struct unnamed_function {
  using overdub_callee = kind::of_program;
  static constexpr int depth = 0;
  static constexpr std::string_view name() { return name_at_compile_time; }
};

template <class S, class R>
struct program_result {
  using type = wrap_t<S, R>;
};
template <class S>
struct program_result<S, one_cell> {
  using type = cell<S>;
};

/// A call of a function that an evaluator has come to. F is the function of C++ that it is called as; R is its result.
template <class Evaluator, class F, class R>
struct program_function : F {
  using overdub_callee = kind::of_program;
  using origin = F;
  static constexpr int depth = 0;
  static constexpr bool is_named = !std::is_same_v<F, unnamed_function>;
  static constexpr bool is_typed = !std::is_same_v<R, one_cell>;
  static constexpr std::string_view name() {
    if constexpr (is_named)
      return F::name();
    else if (std::is_constant_evaluated())
      return name_at_compile_time;
    else
      return called_name();
  }

  using slot = typename Evaluator::slot;
  Evaluator* evaluator = nullptr;
  ir::function_id id{};
  std::vector<slot> const* arguments = nullptr; // of the call
  std::vector<slot>* results = nullptr;         // of the last run of the body in the evaluator's contexts
  bool returns_cell = true;

  program_function const& call_of_program() const { return *this; }
  // The symbols of the results, of which others take the place.
  std::vector<ir::value_id> result_symbols() const { return evaluator->symbols_of_results(id, *results); }
  void take_results(ir::id_range<ir::value_id> symbols) const {
    *results = evaluator->results_of_symbols(id, symbols);
  }

  template <class S, class... X>
  static consteval bool declares_type() {
    return true;
  }
  template <class S, class... X>
  using body_type = typename program_result<S, R>::type;

  // The body, in whatever contexts the call has come to.
  template <class S, class... X>
  body_type<S, X...> run(S const& stack, X const&... x) const {
    if constexpr (std::is_same_v<S, typename Evaluator::stack_type>) {
      std::size_t i = 0;
      std::vector<slot> slots;
      (put_argument(slots, i, x), ...);
      while (i < arguments->size()) slots.push_back((*arguments)[i++]);
      *results = evaluator->call_unseen(id, std::move(slots));
      return result_of<S>(*evaluator, *results);
    } else {
      auto other = evaluator->in_contexts(stack);
      std::vector<typename decltype(other)::slot> slots;
      (put_cell<typename decltype(other)::any>(slots, x), ...);
      if (slots.size() != arguments->size()) throw_other_contexts();
      auto const made = other.call_unseen(id, std::move(slots));
      if (made.size() != 1 || !other.cell_or_none(made[0])) throw_other_contexts();
      return result_of<S>(other, made);
    }
  }
  template <class... A>
  auto operator()(A const&... a) const {
    return call(stack_from<outermost_t<A...>>(a...), *this, a...);
  }

private:
  // What a cell does not hold is what it was: a function value, a key, an array of rank 3.
  template <class X>
  void put_argument(std::vector<slot>& slots, std::size_t& i, X const& x) const {
    if constexpr (std::is_same_v<X, typename Evaluator::any>) {
      if (x)
        slots.push_back({x, nullptr, {}});
      else
        slots.push_back(arguments->at(i));
    } else
      slots.push_back({typename Evaluator::any(x), nullptr, {}});
    ++i;
  }
  template <class Any, class Slots, class X>
  static void put_cell(Slots& slots, X const& x) {
    Any const c(x);
    if (!c) throw_other_contexts();
    slots.push_back({c, nullptr, {}});
  }
  [[noreturn]] static void throw_other_contexts() {
    throw evaluation_error(message(
        "overdub: a context that `enter` gives takes a program's functions of up to 8 numbers and arrays "
        "that "
        "return one, and @%.*s is none; leave this function as it is in `enter`",
        static_cast<int>(name().size()), name().data()));
  }
  template <class S, class E, class Slots>
  static typename program_result<S, R>::type result_of(E& e, Slots const& slots) {
    if constexpr (std::is_same_v<R, one_cell>) {
      if (slots.size() != 1) return {};
      return e.cell_or_none(slots[0]);
    } else
      return *e.cell_or_none(slots.at(0)).template get<wrap_t<S, R>>();
  }
};

// ---- which calls contexts hear

// Whether the outermost context of S says something of a call of the function F.
template <class S, class F, class R, class... X>
consteval bool hears_function() {
  using C = typename S::context;
  bool heard = find_hook<before_hook, S, F, X...>() != listens::never ||
               find_hook<after_hook, S, F, R, X...>() != listens::never ||
               find_hook<failed_hook, S, F, std::exception_ptr, X...>() != listens::never;
  if constexpr (enters<C, F, X...>) heard |= !std::is_same_v<entered_t<C, F, X...>, C>;
  if (!heard) heard = rule_for<S, F, open_t<S, X>...> != rule::none;
  return heard;
}
// Whether a context above `staging` does.
template <class S, class F, class R, class... X>
consteval bool any_hears_function() {
  if constexpr (S::empty)
    return false;
  else if constexpr (symbolic<typename S::context>)
    return false;
  else
    return hears_function<S, F, R, X...>() ||
           any_hears_function<typename S::tail, F, inner_t<S, R>, inner_t<S, X>...>();
}
// Whether the `enter` of one asks for the types of a call of F with N arguments, which are not all numbers f64.
template <class C, class F, class... X>
inline constexpr bool takes_types = requires(C& context, F const& f) {
  context.enter(f, argument_types<X...>{});
};
template <class C, class F, std::size_t N>
consteval bool asks_types() {
  if constexpr (!declares_enter<C>)
    return false;
  else
    return requires(C & context, F const& f, anything x) { context.enter(f, x); }
  || []<class... X>(types<X...>) { return takes_types<C, F, X...>; }(list_of_t<double, N>{}) ||
      []<class... X>(types<X...>) { return takes_types<C, F, X...>; }(list_of_t<i64, N>{}) ||
      []<class... X>(types<X...>) { return takes_types<C, F, X...>; }(list_of_t<array<double>, N>{});
}
template <class S, class F, std::size_t N>
consteval bool any_asks_types() {
  if constexpr (S::empty)
    return false;
  else if constexpr (symbolic<typename S::context>)
    return false;
  else
    return asks_types<typename S::context, F, N>() || any_asks_types<typename S::tail, F, N>();
}
// Whether one has a rule.
template <class S, class F, class... X>
consteval bool any_has_function_rule() {
  if constexpr (S::empty)
    return false;
  else if constexpr (symbolic<typename S::context>)
    return false;
  else
    return rule_for<S, F, open_t<S, X>...> != rule::none ||
           any_has_function_rule<typename S::tail, F, inner_t<S, X>...>();
}

} // namespace overdub::detail

#if OVERDUB_HEADER_ONLY
#include <overdub/call/callee_name.ipp>
#endif
