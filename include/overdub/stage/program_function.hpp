// Functions of programs as callees of the dispatcher: rules, hooks and `enter` apply to their calls as to calls of C++ functions.
//
// A call is typed if contexts are compiled for its signature (program_signatures.hpp): they then receive arguments of C++ types. Otherwise
// each argument is a value with a dynamic type (cell.hpp). Hooks observe such an untyped call; rules reject it, unless their context
// declares answers_any_types.
#pragma once

#include <overdub/call/arity.hpp>
#include <overdub/call/body.hpp>
#include <overdub/call/callee_name.hpp>
#include <overdub/call/fn.hpp>
#include <overdub/call/intercepts.hpp>
#include <overdub/call/keep_loaded.hpp>
#include <overdub/call/named_functions.hpp>
#include <overdub/call/ops.hpp>
#include <overdub/call/recurse.hpp>
#include <overdub/control/map.hpp>
#include <overdub/core/effect.hpp>
#include <overdub/stage/cell.hpp>
#include <overdub/stage/evaluation/run.hpp>
#include <overdub/stage/evaluation/symbols.hpp>
#include <overdub/stage/program_set.hpp>
#include <overdub/stage/program_signatures.hpp>
#include <overdub/stage/recorder.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace overdub::detail {

// ---- the functions that contexts name

// Whether the context C, which is the head of S or is extended by it, names functions for arguments of these types. Records the names.
// Rules are tried with plain arguments, too: g++ compares parameters of concrete types, which accept no values of programs, before it
// converts the function.
template <class C, class S, class... X>
consteval bool find_names_at(types<X...> plain) {
  bool const found = find_names_of_rules<C>(types<open_t<S, wrap_t<S, X>>...>{});
  bool const found_plain = find_names_of_rules<C>(plain);
  return find_names_of_hooks<C>(plain) || found || found_plain;
}
template <class C, class S, class R, class... X>
consteval bool find_names_at(called_with<R, X...>) {
  return find_names_at<C, S>(types<X...>{});
}
template <class C, class S, class... List>
consteval bool find_names_at_each(types<List...>) {
  return (find_names_at<C, S>(List{}) || ...);
}
template <class C, class S, std::size_t... N>
consteval bool find_all_names(std::index_sequence<N...>) {
  return (find_names_at<C, S>(list_of_t<double, N>{}) || ...) || find_names_at_each<C, S>(argument_lists{}) ||
         find_names_at_each<C, S>(typename written_signatures<typename listed_signatures<C>::type>::type{}) ||
         find_entered_names<C>();
}
template <class C, class S>
struct names_in {
  static constexpr bool is_looked_for = find_all_names<C, S>(std::make_index_sequence<max_typed + 1>{});
  using rules = decltype(remembered_functions<types<C, S, std::bool_constant<is_looked_for>>, rules_of<C>>());
  using own_hooks =
      decltype(remembered_functions<types<C, S, std::bool_constant<is_looked_for>>, hooks_of<C>>());
  // A hook for all callees calls the hooks of extended contexts, and does not state their names.
  template <class... Base>
  static auto with_bases(types<Base...>) -> concatenated_t<own_hooks, typename names_in<Base, S>::hooks...>;
  using hooks = decltype(with_bases(typename extended_contexts<C>::type{}));
};
template <class S>
struct level_names {
  using C = typename S::context;
  using rules = typename names_in<C, S>::rules;
  using hooks = typename names_in<C, S>::hooks;
  using type = typename united_lists<typename listed_functions<C>::type, concatenated_t<rules, hooks>>::type;
};

// The functions that the contexts of S, except `staging`, name, without duplicates.
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
// Symbols are last: a function that is named by its type, too, is dispatched as the function, which converts to the symbol.
template <class... F>
auto functions_among(types<F...>)
    -> concatenated_t<keep<function<F> && !is_symbol_name<F>, F>..., keep<is_symbol_name<F>, F>...>;
template <class S>
using named_functions_t = decltype(functions_among(find_named_functions<S>()));

// Whether a C++ function may be called with these arguments. Its body may have the scope as an additional first parameter.
struct any_scope : scope_base {};
template <class F, class... A>
inline constexpr bool is_called_with = true;
template <fixed_string Name, class Body, class... A>
inline constexpr bool is_called_with<fn_t<Name, Body>, A...> = may_take<Body, A...>() ||
                                                               (!mistakes_scope<Body, A...> &&
                                                                may_take<Body, any_scope, A...>());

// Whether a callee of a program is F. Compares the C++ type if the callee was staged in this shared object, and otherwise the name, which
// may be followed by the number of a signature.
template <class F>
bool is_called_as(void const* origin_in_cpp, std::string_view name) {
  bool const is_named = name == F::name() || recorder::base_name(name) == F::name();
  if constexpr (is_symbol_name<F>)
    return is_named;
  else if (origin_in_cpp == nullptr)
    return is_named;
  else
    return origin_in_cpp == &type_key<F> || (is_named && !are_in_one_object(origin_in_cpp, &type_key<F>));
}

// ---- the callee

// The number of the evaluation that runs on this thread, during which the program does not change. Each shared object has its own numbers.
OVERDUB_HIDDEN inline i64& evaluation_number() {
  thread_local i64 number = 0;
  return number;
}
class numbered_evaluation {
public:
  OVERDUB_HIDDEN numbered_evaluation() : before_(std::exchange(evaluation_number(), next())) {}
  numbered_evaluation(numbered_evaluation const&) = delete;
  numbered_evaluation& operator=(numbered_evaluation const&) = delete;
  OVERDUB_HIDDEN ~numbered_evaluation() { evaluation_number() = before_; }

private:
  OVERDUB_HIDDEN static i64 next() {
    static std::atomic<i64> last = 0;
    return ++last;
  }
  i64 before_;
};

// Numbers programs. Programs that are equal and call the same native functions have one number.
class known_programs {
public:
  /// O(program) for each new evaluation, independently of the number of known programs.
  i64 number_of(ir::program const& p) {
    if (&evaluation_number() == thread_ && evaluation_number() == evaluation_) return number_;
    thread_ = &evaluation_number();
    evaluation_ = evaluation_number();
    number_ = static_cast<i64>(all_.number_of(p));
    return number_;
  }

private:
  program_set all_;
  i64 const* thread_ = nullptr;
  i64 evaluation_ = 0;
  i64 number_ = 0;
};

// A function of a program that no context names.
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

/// A call of a program's function in an evaluation. F is the C++ function that contexts receive as the callee; R is the result type.
template <class Stack, class F, class R>
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

  evaluation_state<Stack>* evaluation = nullptr;
  ir::function_id id{};
  std::vector<slot<Stack>> const* arguments = nullptr; // of the call
  std::vector<slot<Stack>>* results = nullptr; // of the last run of the body in the evaluation's contexts
  bool returns_cell = true;

  program_function const& call_of_program() const { return *this; }
  // Whether contexts receive all arguments and results of the function.
  template <class... X>
  bool is_seen_whole(X const&... x) const {
    [[maybe_unused]] constexpr auto is_seen = []<class Y>(Y const& y) {
      if constexpr (is_any_of<Y>)
        return static_cast<bool>(y);
      else
        return true;
    };
    return sizeof...(X) == arguments->size() && (is_typed || returns_cell) && (is_seen(x) && ...);
  }
  // Appends a key that identifies the function among those of all programs. The caller keeps `programs`.
  void append_identity(std::string& key, std::shared_ptr<void>& programs) const {
    if (!programs) programs = std::make_shared<known_programs>();
    i64 const number = static_cast<known_programs*>(programs.get())->number_of(evaluation->program());
    key.append(reinterpret_cast<char const*>(&number), sizeof number)
        .append(evaluation->program().name_of(id));
    key.append(1, '\0');
  }
  // The symbols of the results; take_results replaces them.
  std::vector<ir::value_id> result_symbols() const { return symbols_of_results(*evaluation, id, *results); }
  void take_results(ir::id_range<ir::value_id> symbols) const {
    *results = results_of_symbols(*evaluation, id, symbols);
  }

  template <class S, class... X>
  static consteval bool declares_type() {
    return true;
  }
  template <class S, class... X>
  using body_type = typename program_result<S, R>::type;

  // Runs the body in the contexts that the dispatcher has reached.
  template <class S, class... X>
  body_type<S, X...> run(S const& stack, X const&... x) const {
    if constexpr (std::is_same_v<S, Stack>) {
      std::size_t i = 0;
      std::vector<slot<Stack>> slots;
      (put_argument(slots, i, x), ...);
      while (i < arguments->size()) slots.push_back((*arguments)[i++]);
      if (are_same(stack, evaluation->stack())) {
        *results = call_directly(*evaluation, id, std::move(slots));
        return result_of<S>(*evaluation, *results);
      }
      auto other = evaluation_in(*evaluation, stack); // `enter` returned another object of the class
      *results = call_directly(other, id, std::move(slots));
      return result_of<S>(other, *results);
    } else {
      auto other = evaluation_in(*evaluation, stack);
      std::vector<slot<S>> slots;
      (put_cell(slots, x), ...);
      if (slots.size() != arguments->size()) throw_other_contexts();
      auto const made = call_directly(other, id, std::move(slots));
      if (!is_typed && (made.size() != 1 || !other.cell_or_none(made[0]))) throw_other_contexts();
      return result_of<S>(other, made);
    }
  }
  template <class... A>
  auto operator()(A const&... a) const {
    return call(stack_from<outermost_t<A...>>(a...), *this, a...);
  }

private:
  // Whether two stacks have the same context objects.
  template <class S>
  static bool are_same(S const& a, S const& b) {
    if constexpr (S::empty)
      return true;
    else
      return a.top().is_null() == b.top().is_null() &&
             (a.top().is_null() || &a.top().get() == &b.top().get()) && are_same(a.rest(), b.rest());
  }
  // Adds an argument. An empty cell stands for an original argument that has no cell type: a function value, a key, an array of rank 3.
  template <class X>
  void put_argument(std::vector<slot<Stack>>& slots, std::size_t& i, X const& x) const {
    if constexpr (std::is_same_v<X, cell<Stack>>) {
      if (x)
        slots.push_back({x});
      else
        slots.push_back(arguments->at(i));
    } else
      slots.push_back({cell<Stack>(x)});
    ++i;
  }
  template <class S, class X>
  static void put_cell(std::vector<slot<S>>& slots, X const& x) {
    cell<S> const c(x);
    if (!c) throw_other_contexts();
    slots.push_back({c});
  }
  [[noreturn]] static void throw_other_contexts() {
    throw evaluation_error(message(
        "overdub: a rule calls @%.*s outside of its context, or `enter` changes its context, which programs "
        "do for functions "
        "of up to 8 numbers and arrays that return one; `enter` must return *this or leave for it, and the "
        "rule must "
        "not call it",
        static_cast<int>(name().size()), name().data()));
  }
  template <class S>
  static typename program_result<S, R>::type
  result_of(evaluation_state<S> const& e, std::vector<slot<S>> const& slots) {
    if constexpr (std::is_same_v<R, one_cell>) {
      if (slots.size() != 1) return {};
      return e.cell_or_none(slots[0]);
    } else {
      std::size_t i = 0;
      return read_result(std::type_identity<R>{}, [&]<class X>(std::type_identity<X>) {
        return *e.cell_or_none(slots.at(i++)).template get<wrap_t<S, X>>();
      });
    }
  }
  template <class X, class Read>
  static auto read_result(std::type_identity<X> type, Read const& read) {
    if constexpr (is_cell_type<X>)
      return read(type);
    else
      return tree_traits<X>::generate(
          [&]<class Child>(std::type_identity<Child> child) { return read_result(child, read); });
  }
};

// ---- the calls that contexts intercept

// Whether the outermost context of S intercepts a call of the function F.
template <class S, class F, class R, class... X>
consteval bool intercepts_function() {
  using C = typename S::context;
  bool intercepted = find_hook<before_hook, S, F, X...>() != hook_kind::never ||
                     find_hook<after_hook, S, F, R, X...>() != hook_kind::never ||
                     find_hook<failed_hook, S, F, std::exception_ptr, X...>() != hook_kind::never;
  if constexpr (function<F>) intercepted |= changes_context<C, F, X...>;
  if (!intercepted) intercepted = rule_for<S, F, open_t<S, X>...> != rule::none;
  return intercepted;
}
// Whether a context of S, except `staging`, intercepts it.
template <class S, class F, class R, class... X>
consteval bool any_intercepts_function() {
  if constexpr (S::empty)
    return false;
  else if constexpr (symbolic<typename S::context>)
    return false;
  else if constexpr (intercepts_function<S, F, R, X...>())
    return true; // does not instantiate rules of inner contexts, which may be ill-formed
  else
    return any_intercepts_function<typename S::tail, F, inner_t<S, R>, inner_t<S, X>...>();
}
// Whether the `enter` of a context accepts the argument types of a call of F with N arguments.
template <class C, class F, class... X>
inline constexpr bool takes_types = requires(C& context, F const& f) {
  context.enter(f, argument_types<X...>{});
};
template <class C, class F, std::size_t N>
consteval bool asks_types() {
  if constexpr (!declares_enter<C> || !function<F>)
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
// Whether a context intercepts an untyped call of at most N arguments.
template <class S, class F, std::size_t N>
consteval bool intercepts_cells() {
  constexpr bool here = []<class... X>(types<X...>) {
    return any_intercepts_function<S, F, cell<S>, X...>();
  }(list_of_t<cell<S>, N>{});
  if constexpr (here || N == 0)
    return here;
  else
    return intercepts_cells<S, F, N - 1>();
}
// Whether a hook of a context of S, except `staging`, accepts a call of F with these arguments.
template <class S, class F, class... X>
consteval bool hooks_take(types<X...> list) {
  if constexpr (S::empty)
    return false;
  else if constexpr (symbolic<typename S::context>)
    return false;
  else
    return find_hook<before_hook, S, F, X...>() != hook_kind::never ||
           find_hook<after_hook, S, F, anything, X...>() != hook_kind::never ||
           find_hook<failed_hook, S, F, std::exception_ptr, X...>() != hook_kind::never ||
           hooks_take<typename S::tail, F>(list);
}
// Whether hooks of the outermost context of S observe calls of the operation F with some number of arguments.
template <class S, class F>
consteval bool observes_operation_in() {
  return []<std::size_t... N>(std::index_sequence<N...>) {
    constexpr auto observes = []<class... X>(types<X...>) {
      return find_hook<before_hook, S, F, X...>() != hook_kind::never ||
             find_hook<after_hook, S, F, anything, X...>() != hook_kind::never;
    };
    return (observes(list_of_t<anything, N + 1>{}) || ...);
  }
  (std::make_index_sequence<4>{});
}
// Whether a rule or hook of the outermost context of S is for the operation F and not for another one. `any_names`: whether one of a
// context of S, except `staging`, is.
template <class S, class F, class Other>
consteval bool names_operation_in() {
  using C = typename S::context;
  if constexpr (declares_rules<C>)
    if (named_arities<C, F>() != 0 && named_arities<C, Other>() == 0) return true;
  return observes_operation_in<S, F>() && !observes_operation_in<S, Other>();
}
template <class S, class F, class Replacement>
consteval bool any_names() {
  if constexpr (S::empty)
    return false;
  else if constexpr (symbolic<typename S::context>)
    return false;
  else
    return names_operation_in<S, F, Replacement>() || any_names<typename S::tail, F, Replacement>();
}
// Whether a hook of the outermost context of S depends on the types of the values of a call of F: it names F, or accepts one value and not a
// list, or conversely.
template <class Hook, class S, class F, class... One, class... Several>
consteval bool hook_distinguishes(types<One...>, types<Several...>) {
  constexpr hook_kind how = find_hook<Hook, S, F, One...>();
  if constexpr (std::is_same_v<F, tabulate_t> && std::is_same_v<Hook, after_hook>)
    if (how != hook_kind::never) return true; // a list of arrays without elements does not have their types
  return how == hook_kind::named || how == hook_kind::raw_named || how != find_hook<Hook, S, F, Several...>();
}
// Whether a context of S, except `staging`, distinguishes a call of F on one value from one on a list: by a rule, which may depend on types,
// or by a hook. R and Rs are the types of the results.
template <class S, class F, class R, class Rs, class... One, class... Several>
consteval bool any_distinguishes(types<One...>, types<Several...>) {
  if constexpr (S::empty)
    return false;
  else if constexpr (symbolic<typename S::context>)
    return false;
  else if constexpr (has_rule<S, F, One...>())
    return true;
  else if constexpr (
      hook_distinguishes<before_hook, S, F>(types<One...>{}, types<Several...>{}) ||
      hook_distinguishes<after_hook, S, F>(types<R, One...>{}, types<Rs, Several...>{}) ||
      hook_distinguishes<failed_hook, S, F>(
          types<std::exception_ptr, One...>{}, types<std::exception_ptr, Several...>{}))
    return true;
  else
    return any_distinguishes<typename S::tail, F, inner_t<S, R>, inner_t<S, Rs>>(
        arguments_inside_t<S, F, One...>{}, arguments_inside_t<S, F, Several...>{});
}
// Whether a hook of the outermost context of S names F and accepts neither a list in place of the lists of X, nor one value of a program. Then
// it is for values that are trees in C++.
template <class X, class T>
using in_place_of_list = std::conditional_t<is_list<X>, T, X>;
template <class Hook, class S, class F, class... X>
consteval bool hook_rejects_list(types<X...>) {
  if constexpr (!(is_list<X> || ...) || find_hook<Hook, S, F, X...>() != hook_kind::never)
    return false;
  else if constexpr (find_hook<Hook, S, F, in_place_of_list<X, anything>...>() == hook_kind::never)
    return false;
  else
    return []<class... T>(types<T...>) {
      constexpr auto accepts = []<class One>(std::type_identity<One>) {
        return find_hook<Hook, S, F, in_place_of_list<X, One>...>() != hook_kind::never;
      };
      return !(accepts(std::type_identity<T>{}) || ...);
    }(concatenated_t<scalar_types, vector_types, matrix_types>{});
}
// The same of any context of S, except `staging`. The types are that of the result, and those of the arguments.
template <class S, class F, class R, class... X>
consteval bool any_rejects_list(types<R, X...>) {
  if constexpr (S::empty)
    return false;
  else if constexpr (symbolic<typename S::context>)
    return false;
  else
    return hook_rejects_list<before_hook, S, F>(types<X...>{}) ||
           hook_rejects_list<after_hook, S, F>(types<R, X...>{}) ||
           hook_rejects_list<failed_hook, S, F>(types<std::exception_ptr, X...>{}) ||
           any_rejects_list<typename S::tail, F>(types<inner_t<S, R>, inner_t<S, X>...>{});
}
template <class S>
consteval bool any_answers_any_types() {
  if constexpr (S::empty)
    return false;
  else
    return answers_any_types<typename S::context> || any_answers_any_types<typename S::tail>();
}
// Whether a context has a rule for a call of F. With Untyped, contexts that declare answers_any_types do not count.
template <bool Untyped, class S, class F, class... X>
consteval bool any_has_function_rule() {
  if constexpr (S::empty)
    return false;
  else if constexpr (symbolic<typename S::context>)
    return false;
  else if constexpr (Untyped && answers_any_types<typename S::context>)
    return any_has_function_rule<Untyped, typename S::tail, F, inner_t<S, X>...>();
  else if constexpr (rule_for<S, F, open_t<S, X>...> != rule::none)
    return true;
  else
    return any_has_function_rule<Untyped, typename S::tail, F, inner_t<S, X>...>();
}

// ---- the signatures for which calls of F are compiled

// The signatures that a context lists apply to the functions that it names, or to all functions if it names none.
template <class S, class F>
consteval auto find_written_signatures() {
  using own = typename named_signatures<F>::type;
  if constexpr (S::empty)
    return typename written_signatures<own>::type{};
  else if constexpr (symbolic<typename S::context>)
    return typename written_signatures<own>::type{};
  else {
    using listed = typename listed_signatures<typename S::context>::type;
    using below = decltype(find_written_signatures<typename S::tail, F>());
    if constexpr (std::is_same_v<listed, types<>>)
      return below{};
    else {
      using names = typename level_names<S>::type;
      constexpr bool applies = std::is_same_v<names, types<>> || is_listed<names, F>;
      using here = typename written_signatures<std::conditional_t<applies, listed, types<>>>::type;
      return typename united_lists<here, below>::type{};
    }
  }
}

// The signatures for which a call of F is compiled in S: those that contexts list, or else calls with f64 numbers.
template <class S, class F>
using written_signatures_t = decltype(find_written_signatures<S, F>());
template <class S, class F>
inline constexpr bool has_written_signatures = !std::is_same_v<written_signatures_t<S, F>, types<>>;
template <class S, class F>
using tried_signatures_t =
    std::conditional_t<has_written_signatures<S, F>, written_signatures_t<S, F>, calls_of_reals>;

// The lists in argument_lists that the parameters of rules, or of hooks, of a context of S state.
template <bool OfRules, class S, class F, class... X>
consteval bool states_types(types<X...> list) {
  if constexpr (all_reals<types<X...>>)
    return false;
  else if constexpr (OfRules)
    return says_it_takes<S, F>(list, std::index_sequence_for<X...>{});
  else
    return observes_types<S, F>(list);
}
template <bool OfRules, class S, class F>
consteval auto find_declared_types() {
  if constexpr (S::empty)
    return types<>{};
  else if constexpr (symbolic<typename S::context>)
    return types<>{};
  else {
    using names = std::conditional_t<OfRules, typename level_names<S>::rules, typename level_names<S>::hooks>;
    using below = decltype(find_declared_types<OfRules, typename S::tail, F>());
    if constexpr (!is_listed<names, F>)
      return below{};
    else
      return []<class... List>(types<List...>) {
        using here = concatenated_t<keep<states_types<OfRules, S, F>(List{}), List>...>;
        return typename united_lists<here, below>::type{};
      }(argument_lists{});
  }
}

// The result type, for these arguments, of the outermost rule that names F and has no parameter `rule_call`; nothing, if there is none.
template <class S, class F, class... X>
consteval auto find_rule_result() {
  if constexpr (S::empty)
    return type_is<nothing>{};
  else if constexpr (symbolic<typename S::context>)
    return type_is<nothing>{};
  else if constexpr (constexpr rule found = named_rule<S, F, open_t<S, X>...>; found == rule::named)
    return type_is<concrete_t<decltype(wrap(
        std::declval<S const&>(),
        call_rule<found>(
            std::declval<S const&>(), std::declval<F const&>(), std::declval<open_t<S, X>>()...)))>>{};
  else
    return find_rule_result<typename S::tail, F, inner_t<S, X>...>();
}

} // namespace overdub::detail
