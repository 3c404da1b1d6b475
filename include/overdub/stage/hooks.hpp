// Hooks in staged programs: each call of a hook becomes an operation `host`, which calls the hook with the values when the
// program runs. Calls of leaves become host operations, too.
#pragma once

#include <overdub/call/callee_name.hpp>
#include <overdub/call/named_functions.hpp>
#include <overdub/stage/cell.hpp>
#include <overdub/stage/staged_hooks.hpp>
#include <overdub/stage/transform.hpp>

#include <cstddef>
#include <exception>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace overdub::detail {

// The callee that a hook receives at run time for a program's function, or for a function that outer contexts transformed: it has the name
// and the origin of the function.
template <class F>
struct callee_in_program {
  using overdub_callee = kind_of<F>;
  using origin = origin_t<F>;
  static constexpr int depth = F::depth;
  static constexpr bool is_named = named_at_compile_time<F>;
  static constexpr std::string_view name() {
    return F::name();
  } // for a program's function, valid only while the hook runs
};
template <class F>
struct callee_at_run_time {
  using type =
      std::conditional_t<std::is_empty_v<F> && std::is_default_constructible_v<F>, F, callee_in_program<F>>;
};
// A native function that contexts name by a symbol. Hooks for the symbol accept it, and so do hooks for all native functions.
template <class F>
struct named_native {
  using overdub_callee = kind::leaf;
  static constexpr int depth = 0;
  static constexpr effect effects = F::effects;
  static constexpr std::string_view name() { return F::name(); }
};
template <native_with_symbol F>
struct callee_at_run_time<F> {
  using type = named_native<F>;
};
// For a program's function, or native function, that was staged from a C++ function, hooks receive the C++ function.
template <class F>
requires(
    called_in_program<F>&& F::depth == 0 && named_at_compile_time<F> &&
    !native_with_symbol<F>) struct callee_at_run_time<F> {
  using type = origin_t<F>;
};
template <class F>
requires(of_kind<F, kind::native_of_program> && !named_at_compile_time<F>) struct callee_at_run_time<F> {
  using type = origin_t<F>;
};
template <class F>
using callee_at_run_time_t = typename callee_at_run_time<F>::type;

// Stands for the type of an empty cell.
inline constexpr i64 empty_cell = 0;
// The index, from 1 on, of a type among those that a cell (a variant, stage/cell.hpp) can hold here: scalars, and arrays of rank 1 and 2.
// `empty_cell` for other types.
template <class X>
consteval i64 number_of_cell() {
  return []<class... T>(types<T...>) {
    i64 number = 0;
    return ((++number, std::is_same_v<T, X>) || ...) ? number : empty_cell;
  }(concatenated_t<scalar_types, vector_types, matrix_types>{});
}

inline i64 number_of_cell(ir::type t) {
  return with_type(t, []<class T>(std::type_identity<T>) { return number_of_cell<T>(); });
}

// Whether X is a std::vector that is traversed: its number of elements is known when the hook is staged.
template <class X>
inline constexpr bool is_vector_of_values = false;
template <class T, class Allocator>
requires tree<std::vector<T, Allocator>>
inline constexpr bool is_vector_of_values<std::vector<T, Allocator>> = !is_list<std::vector<T, Allocator>>;

// The type of a hook's argument at run time for a staged argument of type X: the same tree with plain values, and without the metadata of
// outer contexts. A function that is an argument keeps its type if it is known to the compiler and captures nothing, since hooks may name
// it: before(reduce_t, add_t, ...). Other functions become `none`.
template <class X>
consteval auto find_hooked() {
  if constexpr (is_scalar_leaf<X>)
    return type_is<X>{};
  else if constexpr (is_tagged<X>)
    return find_hooked<std::remove_cvref_t<decltype(X::inner)>>();
  else if constexpr (is_list<X>)
    return type_is<listed_value>{};
  else if constexpr (is_any_of<X>)
    return type_is<cell<stack<>>>{};
  else if constexpr (is_value<X>)
    return type_is<bottom_t<X>>{};
  else if constexpr (is_vector_of_values<X> || generated_tree<concrete_t<X>>)
    return type_is<concrete_t<X>>{};
  else
    return type_is<std::conditional_t<std::is_empty_v<X> && std::is_default_constructible_v<X>, X, none>>{};
}
template <class X>
using hooked_t = typename decltype(find_hooked<X>())::type;

// Appends the symbols of the values of a tree, without metadata, and literals for plain values.
struct add_symbols {
  recorder& to;
  std::vector<ir::value_id>& symbols;
  template <class X>
  int operator()(X const& x) const {
    if constexpr (is_value<X>) {
      if constexpr (std::is_same_v<typename X::context_type, staging>) {
        if (!x.context().is_null()) return add_symbol(x.metadata()), 0;
      }
      (*this)(x.inner());
    } else if constexpr (is_tagged<X>)
      (*this)(x.inner);
    else if constexpr (plain_described<X>)
      each_member(x, std::make_index_sequence<member_count<X>>{});
    else if constexpr (is_scalar_leaf<X>)
      symbols.push_back(to.literal(x));
    else if constexpr (is_any_of<X>)
      add_cell(x);
    else if constexpr (is_list<X>)
      add_cell(one_of_list(x));
    else if constexpr (is_vector_of_values<X>) {
      symbols.push_back(to.literal(static_cast<i64>(x.size())));
      for (auto const& element : x) (*this)(element);
    } else if constexpr (generated_tree<concrete_t<X>>)
      each_child(*this, x);
    return 0;
  }

private:
  // A plain described struct has the symbols of its members.
  void add_symbol(symbol_of_value s) const { symbols.push_back(s.id); }
  template <class... M>
  void add_symbol(std::tuple<M...> const& members) const {
    std::apply([&](auto const&... each) { (add_symbol(each), ...); }, members);
  }
  template <class X, std::size_t... I>
  void each_member(X const& x, std::index_sequence<I...>) const {
    ((*this)(member<I>(x)), ...);
  }
  // Appends the index of the type that the cell holds, and its value; for an empty cell, `empty_cell`.
  template <class X>
  void add_cell(X const& x) const {
    i64 number = empty_cell;
    if (x) x.visit([&]<class T>(T const&) { number = number_of_cell<hooked_t<T>>(); });
    symbols.push_back(to.literal(number));
    if (number != empty_cell) x.visit([&](auto const& held) { (*this)(held); });
  }
};

// Reads the tree of a hook's argument from consecutive values.
struct read_values {
  void const* const*& next;
  template <class X>
  X operator()(std::type_identity<X>) const {
    if constexpr (plain_described<X>)
      return read_members<X>(static_cast<members_t<X>*>(nullptr));
    else if constexpr (is_scalar_leaf<X>)
      return *static_cast<X const*>(*next++);
    else if constexpr (is_any_of<X> || std::is_same_v<X, listed_value>)
      return X(read_cell(concatenated_t<scalar_types, vector_types, matrix_types>{}));
    else if constexpr (is_vector_of_values<X>) {
      X read;
      for (i64 left = *static_cast<i64 const*>(*next++); left > 0; --left)
        read.push_back((*this)(std::type_identity<typename X::value_type>{}));
      return read;
    } else if constexpr (generated_tree<X>)
      return tree_traits<X>::generate(*this);
    else
      return X{};
  }

private:
  // The initialisers of a tuple are evaluated in order.
  template <class X, class... M>
  X read_members(std::tuple<M...>*) const {
    return std::apply(
        [](M const&... members) { return X{members...}; },
        std::tuple<M...>{(*this)(std::type_identity<M>{})...});
  }
  template <class... T>
  cell<stack<>> read_cell(types<T...>) const {
    i64 const number = *static_cast<i64 const*>(*next++);
    cell<stack<>> read;
    (void)((number_of_cell<T>() == number && (read = *static_cast<T const*>(*next++), true)) || ...);
    return read;
  }
};

// Calls a hook in its constructor: C++ evaluates the initialisers of an object in order, but not the arguments of a call.
template <class Hook, class C, class F>
struct hook_on_values {
  template <class... X>
  hook_on_values(C& context, F const& f, X const&... x) {
    if constexpr (requires { Hook::named(context, f, x...); })
      Hook::named(context, f, x...);
    else if constexpr (observes_origin<Hook, C, F, X...>)
      Hook::named(context, origin_t<F>{}, x...);
    else if constexpr (requires { Hook::family(context, f, x...); })
      Hook::family(context, f, x...);
  }
};
template <class Hook, class C, class F, class... X>
void run_hook(void* object, [[maybe_unused]] void const* const* arguments, void* const*) {
  using call = hook_on_values<Hook, C, F>;
  C& context = *static_cast<C*>(object);
  if constexpr (!named_at_compile_time<F>) {
    name_during_call const named(name_of_number(*static_cast<i64 const*>(*arguments++)));
    if constexpr (std::is_same_v<Hook, failed_hook>)
      (void)call{context, F{}, std::current_exception(), read_values{arguments}(std::type_identity<X>{})...};
    else
      (void)call{context, F{}, read_values{arguments}(std::type_identity<X>{})...};
  } else if constexpr (std::is_same_v<Hook, failed_hook>)
    (void)call{context, F{}, std::current_exception(), read_values{arguments}(std::type_identity<X>{})...};
  else
    (void)call{context, F{}, read_values{arguments}(std::type_identity<X>{})...};
}

// The hooks `before` and `after` of operations on numbers and arrays are instantiated for each operation and type: they are called without
// other functions. As in call/hook.hpp, a parameter `double` accepts integers.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wfloat-conversion"
#ifdef __clang__
#pragma GCC diagnostic ignored "-Wimplicit-conversion-floating-point-to-bool"
#endif
template <class Hook, class C, class F, class Positions, class... X>
struct hook_on_numbers;
template <class Hook, class C, class F, std::size_t... I, class... X>
struct hook_on_numbers<Hook, C, F, std::index_sequence<I...>, X...> {
  static void run(void* object, [[maybe_unused]] void const* const* arguments, void* const*) {
    C& context = *static_cast<C*>(object);
    F const f{};
    constexpr bool is_before = std::is_same_v<Hook, before_hook>;
    if constexpr (requires(X const&... x) { Hook::named(context, f, x...); }) {
      if constexpr (is_before)
        context.before({f}, *static_cast<X const*>(arguments[I])...);
      else
        context.after({f}, *static_cast<X const*>(arguments[I])...);
    } else if constexpr (observes_origin<Hook, C, F, X...>)
      Hook::named(context, origin_t<F>{}, *static_cast<X const*>(arguments[I])...);
    else if constexpr (is_before)
      context.before(f, *static_cast<X const*>(arguments[I])...);
    else
      context.after(f, *static_cast<X const*>(arguments[I])...);
  }
};
#pragma GCC diagnostic pop

// The function that calls the hook, if a staged program calls it with arguments of these types.
template <class Hook, class C, class F, class... X>
constexpr observation::hook hook_runner() {
  if constexpr (
      named_at_compile_time<F> && !std::is_same_v<Hook, failed_hook> &&
      ((std::is_arithmetic_v<X> || is_array<X>)&&...))
    return &hook_on_numbers<Hook, C, F, std::index_sequence_for<X...>, X...>::run;
  else
    return &run_hook<Hook, C, F, X...>;
}

template <class Hook>
consteval std::string_view hook_name() {
  return std::is_same_v<Hook, before_hook> ? "before" : std::is_same_v<Hook, after_hook> ? "after" : "failed";
}

template <class S>
recorder& recorder_of(S const& stack) {
  if constexpr (S::depth == 1) {
    if (stack.top().is_null()) throw_constants("a hook", context_name_v<typename S::context>);
    return stack.top().get().recorder();
  } else
    return recorder_of(stack.rest());
}

template <hook_kind How>
consteval void refuse_raw_hook() {
  static_assert(
      How != hook_kind::raw_named && How != hook_kind::raw_family,
      "overdub: a hook that takes overdub::raw sees metadata, and cannot be staged; take the arguments as "
      "they are, or run the "
      "program directly");
}

template <class Hook, class S, class F, class... X>
void emit_hook(S const& stack, F const&, X const&... x) {
  using C = typename S::context;
  using Callee = callee_at_run_time_t<F>;
  constexpr hook_kind how = find_hook<Hook, S, F, X...>();
  refuse_raw_hook<has_raw_hook_too<Hook, S, F, X...>(how) ? hook_kind::raw_family : how>();
  recorder& r = recorder_of(stack);
  std::vector<ir::value_id> operands;
  if constexpr (!named_at_compile_time<F>) operands.push_back(r.literal(number_of_name(called_name())));
  (void)(add_symbols{r, operands}(x) + ... + 0);
  r.add_hook(
      {.context = context_name_v<C>,
       .name = hook_name<Hook>(),
       .function = F::name(),
       .run = hook_runner<Hook, C, Callee, hooked_t<X>...>(),
       .object = &stack.top().get(),
       .has_state = !std::is_empty_v<C>},
      operands);
}
template <class Hook, class S, class F, class... X>
void stage_hook(S const& stack, F const& f, X const&... x) {
  if constexpr (std::is_same_v<Hook, failed_hook>)
    [&](std::exception_ptr const&, auto const&... k) { emit_hook<Hook>(stack, f, k...); }(x...);
  else
    emit_hook<Hook>(stack, f, x...);
}

template <class S>
void begin_context(S const& stack, void const* context) {
  recorder_of(stack).begin_context(context);
}
template <class S>
void end_context(S const& stack, void const* context) {
  recorder_of(stack).end_context(context);
}
template <class S>
void begin_temporary(S const& stack, void const* begin, std::size_t size) {
  begin_context(stack, begin);
  recorder_of(stack).temporaries.push_back({static_cast<std::byte const*>(begin), size});
}
template <class S>
void end_temporary(S const& stack) {
  recorder& r = recorder_of(stack);
  r.end_context(r.temporaries.back().data());
  r.temporaries.pop_back();
}

template <class R, class S, class Compute, class Fail>
R stage_protected(S const& stack, Compute const& compute, Fail const& fail) {
  std::optional<R> computed;
  auto const symbols = [&] {
    symbol_list all;
    note_symbols(all, computed.emplace(compute()));
    return std::move(all.ids);
  };
  auto const behind = stage_protect(recorder_of(stack), symbols, fail);
  std::size_t next = 0;
  return with_symbols(*computed, behind, next);
}

template <class S, class F, class Compute, class Fail>
void stage_protected_call(S const& stack, F const& f, Compute const& compute, Fail const& fail) {
  auto const symbols = [&] {
    (void)compute();
    auto const all = f.call_of_program().result_symbols();
    return std::vector<ir::value_id>(all.begin(), all.end());
  };
  f.call_of_program().take_results(stage_protect(recorder_of(stack), symbols, fail));
}

} // namespace overdub::detail
