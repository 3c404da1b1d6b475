// The functions, and native functions, that a context names by the types of the first parameters of its rules, its hooks and `enter`, or in
// its list
//   using callees = overdub::types<decltype(norm), ...>;
// if it selects functions in other ways. A program's function that was staged from one of these is dispatched as this callee. The
// signatures of a program's functions are known only at run time: a context lists the signatures for which its rules are compiled,
//   using signatures = overdub::types<double(overdub::array<double>), ...>;
// instead of the default ones (program_signatures.hpp).
#pragma once

#include <overdub/call/hook.hpp>
#include <overdub/call/name.hpp>
#include <overdub/call/recorded_types.hpp>

#include <string_view>
#include <type_traits>

namespace overdub {

/// Names the functions and native functions of this name, such as a function of a program that has no type in C++:
/// auto overdub(decltype(overdub::symbol<"area(double)">), auto x), or mock(overdub::symbol<"area(double)">, replacement). A function of C++
/// converts to the symbol of its name. With a C++ signature, symbol<"weight", double(array<double>)>, rules and hooks receive arguments of
/// its types.
template <fixed_string Name, class... Signatures>
struct symbol_t {
  using overdub_callee = kind::function;
  static constexpr int depth = 0;
  static constexpr std::string_view name() { return Name.view(); }
  static_assert(
      !detail::names_version(Name.view()), "overdub: norm#2 is a version of norm, for other types of "
                                           "arguments, and a symbol names all versions of a function; name "
                                           "norm");

  symbol_t() = default;
  template <class F>
  requires(function<F> || native_leaf<F>) && requires {
    requires F::name()
    == Name.view();
  }
  constexpr symbol_t(F const&) {}
};
template <fixed_string Name, class... Signatures>
inline constexpr symbol_t<Name, Signatures...> symbol{};

namespace detail {

template <class F>
inline constexpr bool is_symbol_name = false;
template <fixed_string Name, class... Signatures>
inline constexpr bool is_symbol_name<symbol_t<Name, Signatures...>> = true;

} // namespace detail

/// F is Callee, a function that outer contexts derived from it, or a function that the symbol Callee names.
template <class F, class Callee>
concept named_by = std::is_same_v<origin_t<F>, std::remove_cv_t<Callee>> ||
    (detail::is_symbol_name<std::remove_cv_t<Callee>>&&
         std::is_convertible_v<origin_t<F> const&, std::remove_cv_t<Callee>>);

namespace detail {

// A function, or a native function, of a program that contexts name by a symbol: its C++ function is unknown.
template <class F>
concept called_with_symbol = called_in_program<F> && is_symbol_name<origin_t<F>>;
template <class F>
concept native_with_symbol = called_with_symbol<F> && of_kind<F, kind::native_of_program>;

// The signatures of a symbol, and those that a context lists.
template <class F>
struct named_signatures {
  using type = types<>;
};
template <fixed_string Name, class... Signatures>
struct named_signatures<symbol_t<Name, Signatures...>> {
  using type = types<Signatures...>;
};
template <class C>
struct listed_signatures {
  using type = types<>;
};
template <class C>
requires requires { typename C::signatures; }
struct listed_signatures<C> {
  using type = typename C::signatures;
};

template <class C>
struct rules_of {};
template <class C>
struct hooks_of {};

// Converts to a parameter of any function type, and records the type. A probe calls a rule with it. The call is ambiguous by
// construction: the probe's own overload is a better match for this argument, and a worse match for the others. So overload resolution
// considers each rule, and instantiates the return type of none.
template <class Where>
struct any_function {
  template <callee F>
  requires(
      std::is_empty_v<F> &&
      (function<F> || native_leaf<F>)&&record_type<Where, std::type_identity<std::remove_cv_t<F>>>())
  operator F() const;
};
// The argument of probes. It is a derived class, so that the probe's own overload needs a conversion: in a call without other arguments,
// g++ does not consider templates beside an exact match.
template <class Where>
struct any_named_function : any_function<Where> {};

template <class C>
struct rule_name_probe : C {
  using C::overdub;
  nothing overdub(any_function<rules_of<C>>, ...);
  nothing overdub(any_rule_call, any_function<rules_of<C>>, ...);
};
#define OVERDUB_HOOK_NAME_PROBE(NAME)                                                                        \
  template <class C>                                                                                         \
  struct NAME##_name_probe : C {                                                                             \
    using C::NAME;                                                                                           \
    void NAME(any_function<hooks_of<C>>, ...);                                                               \
  };
OVERDUB_HOOK_NAME_PROBE(before)
OVERDUB_HOOK_NAME_PROBE(after)
OVERDUB_HOOK_NAME_PROBE(failed)
OVERDUB_HOOK_NAME_PROBE(enter)
#undef OVERDUB_HOOK_NAME_PROBE

// Finds the functions that rules name in calls with X....
template <class C, class... X>
consteval bool find_names_of_rules(types<X...>) {
  if constexpr (!declares_rules<C>)
    return false;
  else {
    using f = any_named_function<rules_of<C>>;
    bool const found = requires(rule_name_probe<C> & c, X... x) { c.overdub(f{}, x...); };
    return requires(rule_name_probe<C> & c, any_rule_call call, X... x) { c.overdub(call, f{}, x...); }
    || found;
  }
}
// Finds the functions that hooks name in calls with Y....
template <class C, class... Y>
consteval bool find_names_of_hooks(types<Y...>) {
  bool found = false;
  using f = any_named_function<hooks_of<C>>;
  if constexpr (declares_before<C>) found |= requires(before_name_probe<C> & c, Y... y) {
      c.before(f{}, y...);
    };
  if constexpr (declares_after<C>) found |= requires(after_name_probe<C> & c, double r, Y... y) {
      c.after(f{}, r, y...);
    };
  if constexpr (declares_failed<C>)
    found |= requires(failed_name_probe<C> & c, std::exception_ptr e, Y... y) { c.failed(f{}, e, y...); };
  if constexpr (declares_enter<C>) found |= requires(enter_name_probe<C> & c, argument_types<Y...> y) {
      c.enter(f{}, y);
    };
  return found;
}
template <class C>
consteval bool find_entered_names() {
  if constexpr (declares_enter<C>) return requires(enter_name_probe<C> & c) {
      c.enter(any_named_function<hooks_of<C>>{});
    }
  || requires(enter_name_probe<C> & c, anything x) { c.enter(any_named_function<hooks_of<C>>{}, x); };
  else return false;
}

// The recorded functions as a list; Query makes each instantiation a different one.
template <class Query, class Where, int N = 0, class... F>
consteval auto remembered_functions() {
  if constexpr (is_recorded<types<Query, F...>, Where, N>())
    return remembered_functions<
        Query, Where, N + 1, F..., typename decltype(recorded(recorded_slot<Where, N>{}))::type>();
  else
    return types<F...>{};
}

template <class C>
struct listed_functions {
  using type = types<>;
};
template <class C>
requires requires { typename C::callees; }
struct listed_functions<C> {
  template <class... F>
  static auto without_const(types<F...>)
      -> concatenated_t<keep<function<F> || native_leaf<F>, std::remove_cv_t<F>>...>;
  using type = decltype(without_const(typename C::callees{}));
};

// The bases of a context by `extends`.
template <class C>
struct extended_contexts {
  using type = types<>;
};
template <class C>
requires requires { typename C::overdub_bases; }
struct extended_contexts<C> {
  using type = typename C::overdub_bases;
};

template <class List, class... F>
struct united {
  using type = List;
};
template <class... L, class F, class... More>
struct united<types<L...>, F, More...>
    : united<std::conditional_t<(std::is_same_v<L, F> || ...), types<L...>, types<L..., F>>, More...> {};
template <class List, class Other>
struct united_lists;
template <class List, class... F>
struct united_lists<List, types<F...>> : united<List, F...> {};

} // namespace detail
} // namespace overdub
