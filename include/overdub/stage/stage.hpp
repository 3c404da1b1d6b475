// stage(f, signature) records a C++ function as a program; stage(contexts, f, signature) records it in contexts.
#pragma once

#include <overdub/call/keep_loaded.hpp>
#include <overdub/core/exact_math.hpp>
#include <overdub/core/library.hpp>
#include <overdub/overdub.hpp>
#include <overdub/stage/hooks.hpp>
#include <overdub/stage/staging.hpp>
#include <overdub/stage/transform.hpp>

#include <type_traits>
#include <utility>
#include <vector>

namespace overdub {

namespace detail {

// If the entry only calls another function, makes that function the entry.
void enter_callee(ir::program& p);

// Rejects temporary contexts with hooks: the program calls the hooks of the contexts in which it was staged.
template <class... Given>
consteval void refuse_temporary_hooks() {
  constexpr bool is_kept =
      ((std::is_lvalue_reference_v<Given> || std::is_empty_v<std::remove_cvref_t<Given>> ||
        !has_hooks<std::remove_cvref_t<Given>>)&&...);
  static_assert(
      is_kept, "overdub: a context with hooks and members is given as a temporary, and its hooks would be "
               "called when the "
               "program runs, and it is gone; give a variable that lives as long as the program is run");
}
// The contexts that a temporary composition owns.
template <class Composition>
struct owned_contexts;
template <class... Held>
struct owned_contexts<composition<Held...>> {
  static consteval void refuse_temporary_hooks() { detail::refuse_temporary_hooks<Held...>(); }
};
template <class Composition>
consteval void refuse_temporary_composition() {
  if constexpr (!std::is_lvalue_reference_v<Composition>)
    owned_contexts<std::remove_cvref_t<Composition>>::refuse_temporary_hooks();
}

class stager {
public:
  template <class S, class F, class... A>
  static ir::program run(recorder& r, S const& contexts, F const& f, types<A...> arguments) {
    auto const in_contexts = [&](auto const& a) { return wrap(contexts, a); };
    return run_body_of<F>(r, arguments, in_contexts, [&](auto const&... a) {
      if constexpr (callee<F>)
        return wrap(contexts, call(contexts, f, a...));
      else
        return wrap(contexts, run_body(contexts, f, a...));
    });
  }
  // Stages a program whose entry has the name of F, and computes body(admit(x)...) for arguments x of these types.
  template <class F, class... A, class Admit, class Body>
  static ir::program run_body_of(recorder& r, types<A...> arguments, Admit const& admit, Body const& body) {
    keep_loaded(); // the program, and programs derived from it, have addresses of functions of this shared object
    if constexpr ((has_known_size<A>() && ...))
      return staged<F>(r, arguments, admit, body);
    else
      return {};
  }

private:
  // Whether arguments of type A can be parameters of a program, which constructs an A to find the types of its leaves.
  template <class A>
  static consteval bool has_known_size() {
    constexpr bool known = !tree<A> || generated_tree<A>;
    static_assert(
        known, "overdub: the type of an argument does not say how many values it holds, and cannot be "
               "staged; give an "
               "overdub::array, or a std::array");
    if constexpr (known && std::is_class_v<A>)
      return is_made_of_members<A>();
    else
      return known;
  }
  template <class F, class... A, class Admit, class Body>
  static ir::program staged(recorder& r, types<A...>, Admit const& admit, Body const& body) {
    ir::program& p = r.program;
    std::vector<ir::type> parameters;
    auto const arguments = [&] {
      auto const scope = r.enter(r.scratch());
      auto parameter = [&]<class T>(symbol_of_value, std::type_identity<T>) {
        parameters.push_back(ir_type_of<T>);
        return symbol_of_value{ir::value_id{static_cast<std::uint32_t>(parameters.size() - 1)}};
      };
      return std::tuple<decltype(transform_symbols(admit(A{}), parameter))...>{
          transform_symbols(admit(A{}), parameter)...}; // in their order
    }();
    ir::function_id const root = p.add(r.unique_name(name<F>()), parameters);
    {
      auto const scope = r.enter(root);
      auto const result = overdub::detail::apply_to(body, arguments);
      symbol_list symbols;
      note_symbols(symbols, result);
      r.yield(symbols.ids);
      p[root].results = r.types_of(symbols.ids);
    }
    p.entry = root;
    enter_callee(p);
    return r.finish();
  }
  template <class F>
  static std::string_view name() {
    if constexpr (callee<F>)
      return F::name();
    else
      return "main";
  }
};

} // namespace detail

/// Stages f for arguments of these types, in a context or in a composition of contexts: the entry of the program computes f in the
/// contexts. Parameters are flattened; a context with metadata adds parameters for the metadata. A call becomes a `call`, of one
/// function for each signature. The result is canonical: one source has one program under all compilers. Throws staging_error.
/// O(operations). Thread-safe.
template <class Composition, class F, class... A>
requires detail::is_composition<std::remove_cvref_t<Composition>> ir::program
stage(Composition&& composed, F const& f, types<A...> arguments) {
  detail::refuse_temporary_composition<Composition>();
  auto&& contexts = detail::changeable(std::forward<Composition>(composed));
  detail::recorder r;
  staging innermost(r);
  return detail::hana::unpack(contexts.contexts, [&]<class... Held>(Held&... held) {
    detail::run_lifetime<detail::held_context_t<Held>...> const run;
    auto const stack = detail::make_run_stack<types<>>(
        run.get(), overdub::stack<level<staging, void>>(innermost, overdub::stack<>{}),
        detail::get_held(held)...);
    return detail::stager::run(r, stack, f, arguments);
  });
}
template <class Context, class F, class... A>
requires is_context<Context> ir::program stage(Context&& context, F const& f, types<A...> arguments) {
  detail::refuse_temporary_hooks<Context>();
  detail::recorder r;
  staging innermost(r);
  detail::run_lifetime<std::remove_cvref_t<Context>> const run;
  auto const stack = detail::make_run_stack<types<>>(
      run.get(), overdub::stack<level<staging, void>>(innermost, overdub::stack<>{}), context);
  return detail::stager::run(r, stack, f, arguments);
}
template <class F, class... A>
ir::program stage(F const& f, types<A...> arguments) {
  detail::recorder r;
  staging innermost(r);
  return detail::stager::run(r, stack<level<staging, void>>(innermost, stack<>{}), f, arguments);
}

} // namespace overdub
