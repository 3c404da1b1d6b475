// evaluate<R>(program, x...) runs a program on numbers, on values of contexts, or on symbols. overdub(context, program) returns
// the program in a context.
#pragma once

#include <overdub/core/library.hpp>
#include <overdub/ir/function_types.hpp>
#include <overdub/ir/type_text.hpp>
#include <overdub/ir/verify.hpp>
#include <overdub/pass/defunctionalise.hpp>
#include <overdub/stage/evaluated_in_library.hpp>
#include <overdub/stage/evaluation/operations.hpp>
#include <overdub/stage/program_observer.hpp>
#include <overdub/stage/stage.hpp>

#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace overdub {
namespace detail {

ir::function_id entry_of(ir::program const& p);

// Throws argument_error if a function does not accept arguments of these types.
void check_arguments(ir::program const& p, ir::function_id id, std::span<ir::type const> given);

// S without the outer contexts that do not intercept calls, which do not change the result of a program.
template <class S>
using skip_transparent_t = typename skip_transparent<S>::type;

// Whether function values occur in other operations than calls, branches and select, where contexts do not track them.
bool has_functions_in_data(ir::program const& p);

// Defunctionalises a program with the given entry.
ir::program with_functions_as_data(ir::program p, ir::function_id entry);

// The functions of an evaluation, implemented here.
template <class S>
struct evaluation_here {
  // Runs a function; returns its results. If `failed` is given, sets it to the operation that threw. If contexts cannot track the program's
  // function values, it is first defunctionalised, as in overdub(context, program).
  static std::vector<cell<S>>
  run(ir::program const& given, S const& contexts, ir::function_id f, std::vector<cell<S>> const& arguments,
      [[maybe_unused]] evaluation_place* failed = nullptr) {
    if constexpr (!S::empty && !is_symbolic<S>)
      if (has_functions_in_data(given))
        return run_as_given(with_functions_as_data(given, f), contexts, f, arguments);
    return run_as_given(given, contexts, f, arguments, failed);
  }
  // Stages a call of the function in the contexts. `above` has the names of the outer contexts. Returns the results.
  static std::vector<cell<S>> call_staged(
      ir::program const& p, S const& contexts, std::string above, ir::function_id f,
      std::vector<cell<S>> const& arguments) requires is_symbolic<S> {
    evaluation_state<S> e = evaluation_in(p, contexts, std::move(above));
    return stage_call_on_cells(e, f, arguments);
  }
  // Stages these functions in the contexts; returns the staged functions.
  static std::vector<ir::function_id> staged(
      ir::program const& p, S const& contexts, std::string above,
      std::span<ir::function_id const> functions) requires is_symbolic<S> {
    evaluation_state<S> e = evaluation_in(p, contexts, std::move(above));
    std::vector<ir::function_id> made;
    for (ir::function_id const f : functions) made.push_back(stage_intercepted(e, f));
    return made;
  }

private:
  static std::vector<cell<S>> run_as_given(
      ir::program const& p, S const& contexts, ir::function_id f, std::vector<cell<S>> const& arguments,
      evaluation_place* failed = nullptr) {
    evaluation_state<S> e = evaluation_in(p, contexts);
    try {
      return run_on_cells(e, f, arguments);
    } catch (...) {
      if (failed) *failed = e.failed();
      throw;
    }
  }
};

// A parameter says how, since clang 16 does not match the members of a constrained specialisation with their definitions.
enum class evaluated { here, in_library, by_observer };
template <class S>
inline constexpr evaluated how_evaluated = evaluated_in_library<S>       ? evaluated::in_library
                                           : is_evaluated_by_observer<S> ? evaluated::by_observer
                                                                         : evaluated::here;

template <class S, evaluated How = how_evaluated<S>>
struct evaluation : evaluation_here<S> {};
// Contexts that observe any callee (program_observer.hpp).
template <class S>
struct evaluation<S, evaluated::by_observer> {
  static std::vector<cell<S>>
  run(ir::program const& p, S const& contexts, ir::function_id f, std::vector<cell<S>> const& arguments,
      evaluation_place* failed = nullptr) {
    return evaluate_by_observer(p, contexts, f, arguments, failed);
  }
};
// The compiled library has the evaluation for these contexts (evaluation_in_library.hpp).
template <class S>
struct evaluation<S, evaluated::in_library> {
  static std::vector<cell<S>>
  run(ir::program const& p, S const& contexts, ir::function_id f, std::vector<cell<S>> const& arguments,
      evaluation_place* failed = nullptr);
  static std::vector<cell<S>> call_staged(
      ir::program const& p, S const& contexts, std::string above, ir::function_id f,
      std::vector<cell<S>> const& arguments) requires is_symbolic<S>;
  static std::vector<ir::function_id> staged(
      ir::program const& p, S const& contexts, std::string above,
      std::span<ir::function_id const> functions) requires is_symbolic<S>;
};

// Converts arguments to cells for the function's parameters. Throws argument_error if they do not match.
template <class S, class... A>
std::vector<cell<skip_transparent_t<S>>>
arguments_of(ir::program const& p, ir::function_id id, S const& stack, A const&... a) {
  static_assert(
      (static_cast<bool>(ir_type_of<plain_t<A>>) && ...),
      "overdub: programs are evaluated on bool, i64, float, double and arrays of them");
  check_arguments(p, id, std::array<ir::type, sizeof...(A)>{ir_type_of<plain_t<A>>...});
  using T = skip_transparent_t<S>;
  return {cell<T>(wrap(tail_of<T>(stack), down_to<T>(a)))...};
}

// Runs a function of a verified program in these contexts.
template <class S, class... A>
std::vector<cell<skip_transparent_t<S>>>
results_in(S const& stack, ir::program const& p, ir::function_id f, A const&... a) {
  numbered_evaluation const numbered;
  using T = skip_transparent_t<S>;
  [[maybe_unused]] unwatched_t<S> const unwatched;
  // The recorder identifies the staged functions of a program by its address. Therefore it keeps a copy of the program.
  ir::program const* program = &p;
  if constexpr (is_symbolic<S>) program = &recorder_of(stack).copy_of(p);
  return evaluation<T>::run(*program, tail_of<T>(stack), f, arguments_of(p, f, stack, a...));
}

template <class S, class R>
wrap_t<S, R>
result_as(S const& stack, ir::program const& p, ir::function_id id, cell<skip_transparent_t<S>> const& c) {
  if (auto const* x = c.template get<wrap_t<skip_transparent_t<S>, R>>()) return wrap(stack, *x);
  throw type_error(message(
      "overdub: @%s does not return the requested type, %s", std::string(p.name_of(id)).c_str(),
      ir::text_of(p, ir_type_of<R>).c_str()));
}

} // namespace detail

/// Runs a function of a program, by default its entry, on numbers and arrays. If arguments are values of contexts, it runs in these
/// contexts; if they are symbols, it is staged again. Returns the result as R, or several as a tuple: evaluate<double>(p, 1.0, x).
/// It is the reference for the semantics of programs, and simple; an executable (execute/interpreter.hpp) is fast. Throws
/// verify_error, argument_error, type_error, evaluation_error, and the exceptions of the program's operations. Verifies the
/// program first, O(operations). Thread-safe.
template <class R, class... More, class... A>
auto evaluate(ir::program const& p, ir::function_id f, A const&... a) {
  ir::verify(p);
  using S = detail::outermost_t<A...>;
  S const stack = detail::stack_of_run(detail::stack_from<S>(a...), "evaluate");
  auto const results = detail::results_in(stack, p, f, a...);
  if (results.size() != 1 + sizeof...(More))
    throw argument_error(message(
        "overdub: @%s returns %zu values, and %zu are requested", std::string(p.name_of(f)).c_str(),
        results.size(), 1 + sizeof...(More)));
  if constexpr (sizeof...(More) == 0)
    return detail::result_as<S, R>(stack, p, f, results[0]);
  else {
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      return std::tuple<detail::wrap_t<S, R>, detail::wrap_t<S, More>...>{
          detail::result_as<S, R>(stack, p, f, results[0]),
          detail::result_as<S, More>(stack, p, f, results[I + 1])...};
    }
    (std::index_sequence_for<More...>{});
  }
}
template <class R, class... More, class... A>
auto evaluate(ir::program const& p, A const&... a) {
  return evaluate<R, More...>(p, detail::entry_of(p), a...);
}

namespace detail {

// Stages the program in the contexts.
template <class S>
void rewrite(recorder& r, S const& contexts, ir::program const& given) {
  ir::program data;
  bool const has_data = has_functions_in_data(given);
  if (has_data) data = with_functions_as_data(given, given.entry);
  ir::program const& p = has_data ? data : given;
  r.program.math = p.math;
  std::vector<ir::function_id> roots;
  if (p.entry != ir::nothing)
    roots.push_back(p.entry);
  else
    for (std::uint32_t i = 0; i < p.functions.size(); ++i)
      if (!p.is_erased(ir::function_id{i})) roots.push_back(ir::function_id{i});
  using T = skip_transparent_t<S>;
  auto const made = evaluation<T>::staged(p, tail_of<T>(contexts), names_above<S, T>(), roots);
  if (p.entry != ir::nothing) r.program.entry = made.front();
}

template <class S>
ir::program rewritten(recorder& r, S const& contexts, ir::program const& p) {
  ir::verify(p);
  rewrite(r, contexts, p);
  return r.finish();
}

// Stages the program in these contexts, the first of which is the outermost.
template <class... C>
void rewrite_in(recorder& r, ir::program const& p, C&... contexts) {
  staging innermost(r);
  run_lifetime<C...> const run;
  rewrite(
      r, make_run_stack<types<>>(run.get(), stack<level<staging, void>>(innermost, stack<>{}), contexts...),
      p);
}

// Whether rules of a context name functions.
template <class C>
inline constexpr bool rules_name_functions =
    !std::is_same_v<decltype(functions_among(typename level_names<stack<level<C, void>>>::rules{})), types<>>;
// The number of contexts that precede the first one with metadata, from the outermost on; 0 if no context has metadata, or if that one has
// rules that name functions: outer contexts pass calls of these functions to it, and do not intercept their bodies.
template <class... C>
consteval std::size_t first_stage() {
  constexpr bool keeps[] = {carries_metadata<C>...};
  constexpr std::size_t first = [&] {
    std::size_t i = 0;
    while (i < sizeof...(C) && !keeps[i]) ++i;
    return i;
  }();
  if constexpr (first == 0 || first == sizeof...(C))
    return 0;
  else
    return rules_name_functions<std::tuple_element_t<first, std::tuple<C...>>> ? 0 : first;
}
// Stages the program in two steps: first in the outer contexts, which have no metadata and so do not change types, then in the inner ones.
// Two evaluations in few contexts take less time to compile than one in all contexts, in which each operation has metadata.
template <std::size_t First, class... C>
void rewrite_in_stages(recorder& r, ir::program const& p, std::tuple<C&...> const& contexts) {
  [&]<std::size_t... Outer, std::size_t... Inner>(
      std::index_sequence<Outer...>, std::index_sequence<Inner...>) {
    recorder outer;
    rewrite_in(outer, p, std::get<Outer>(contexts)...);
    // Not canonical, so that the inner contexts intercept each operation.
    ir::program const between = outer.take();
    rewrite_in(r, between, std::get<First + Inner>(contexts)...);
  }
  (std::make_index_sequence<First>{}, std::make_index_sequence<sizeof...(C) - First>{});
}

} // namespace detail

/// Returns the program in a context or a composition, as stage(context, f, signature) does for a C++ function. Rewrites the entry and all
/// functions that it calls; all functions, if the program has no entry. If function values are loop-carried or in arrays, the program is
/// first defunctionalised (pass/defunctionalise.hpp). Throws verify_error and evaluation_error. O(operations).
template <class Context>
requires is_context<Context> ir::program overdub(Context&& context, ir::program const& p) {
  detail::refuse_temporary_hooks<Context>();
  ir::verify(p);
  detail::recorder r;
  detail::rewrite_in(r, p, context);
  return r.finish();
}
template <class Composition>
requires detail::is_composition<std::remove_cvref_t<Composition>> ir::program
overdub(Composition&& composed, ir::program const& p) {
  detail::refuse_temporary_composition<Composition>();
  ir::verify(p);
  auto&& contexts = detail::changeable(std::forward<Composition>(composed));
  detail::recorder r;
  detail::hana::unpack(contexts.contexts, [&]<class... Held>(Held&... held) {
    constexpr std::size_t first = detail::first_stage<detail::held_context_t<Held>...>();
    if constexpr (first == 0)
      detail::rewrite_in(r, p, detail::get_held(held)...);
    else
      detail::rewrite_in_stages<first>(r, p, std::tie(detail::get_held(held)...));
  });
  return r.finish();
}

/// The same as `overdub`, with a name that is not ambiguous after `using namespace overdub`.
template <class Context, class Program>
requires std::is_same_v<std::remove_cvref_t<Program>, ir::program> ir::program
run(Context&& context, Program&& p) {
  return overdub::overdub(std::forward<Context>(context), p);
}

} // namespace overdub
