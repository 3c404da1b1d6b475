// compilation<F, types<A...>, C...>: finds or makes the artifact for calls of F with arguments A in contexts C. compiled_call: calls an
// artifact.
#pragma once

#include <overdub/call/name.hpp>
#include <overdub/compile/cache.hpp>
#include <overdub/compile/direct_call.hpp>
#include <overdub/compile/fingerprint.hpp>
#include <overdub/compile/held_contexts.hpp>
#include <overdub/compile/staged_call.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace overdub::detail {

template <class F>
std::string name_of_callee() {
  if constexpr (callee<F>)
    return std::string(F::name());
  else
    return "main";
}

// The C++ names of the argument types, for messages.
template <class... A>
std::string names_of_types() {
  std::string text;
  [[maybe_unused]] auto const add = [&](std::string_view name) {
    (text += text.empty() ? "" : ", ") += name;
  };
  (add(std::is_same_v<A, i64> ? std::string_view("i64") : type_name<A>()), ...);
  return text;
}

// Appends the passes of a context to a list, each with its stage.
template <class C>
struct stages_of {
  C const& context;
  std::vector<context_pass>& passes;

  void add() const {
    if constexpr (has_after_inference<C>)
      add(
          compilation_stage::after_inference, [](ir::program const& p, auto const&... f) requires requires {
            C::after_inference(p, f...);
          } { C::after_inference(p, f...); });
    if constexpr (has_before_optimise<C>)
      add(
          compilation_stage::before_optimise, [](ir::program & p, auto const&... f) requires requires {
            C::before_optimise(p, f...);
          } { C::before_optimise(p, f...); });
    if constexpr (has_after_optimise<C>)
      add(
          compilation_stage::after_optimise, [](ir::program & p, auto const&... f) requires requires {
            C::after_optimise(p, f...);
          } { C::after_optimise(p, f...); });
  }

private:
  template <class Run>
  void add(compilation_stage at, Run const& run) const {
    std::string name(context_name_v<C>);
    if constexpr (std::is_invocable_v<Run const&, ir::program&>)
      passes.push_back({std::move(name), at, run});
    else
      passes.push_back(
          {std::move(name), at,
           [run, data = fingerprint_t<C>(context.fingerprint())](ir::program& p) { run(p, data); }});
  }
};

// Calls a compiled function; reads the artifact's current code in each call. Machine code whose arguments fit into registers is called
// through a function pointer. Interpreted calls are counted until the program is hot; the one that makes it hot starts the compilation to
// machine code.
template <class Result, class... A>
struct compiled_call {
  using direct = direct_signature<leaves_t<Result>, leaves_t<A...>>;

  static Result run(artifact const& a, void* const* contexts, A const&... x) {
    tiered_code const& code = a.code();
    if constexpr (direct::exists)
      if (void* const target = code.target()) [[likely]]
        return direct::template call<Result>(target, x...);
    if (!code.is_waiting()) return on_machine(code, contexts, x...);
    tiered_code::counted_call count(code);
    Result r = on_machine(code, contexts, x...);
    if (count.became_hot()) a.heat();
    return r;
  }

private:
  static Result on_machine(tiered_code const& code, void* const* contexts, A const&... x) {
    execute::borrowed_machine m;
    execute::program_run run(code.code(), *m);
    run.with(contexts, [&](auto const& pass) { (for_each_leaf(x, pass), ...); });
    execute::releasing const at_end(run);
    execute::offset at = 0;
    auto const next = [&]<class T>(std::type_identity<T>) { return run.template next_result<T>(at); };
    return leaf_reader<decltype(next)>{next}(std::type_identity<Result>{});
  }
};

// The parts of a compiled call that depend only on its types.
template <class F, class A, class... C>
struct compilation;
template <class F, class... A, class... C>
struct compilation<F, types<A...>, C...> {
  using contexts = std::tuple<C&...>;
  using call = staged_call<F, contexts, A...>;
  using staged_result = decltype(call::body(
      std::declval<typename call::innermost const&>(), std::declval<F const&>(), std::declval<contexts>(),
      std::declval<leafwise<typename call::innermost> const&>()(std::declval<A const&>())...));
  using result = typename unstaged<staged_result>::type;

  static consteval bool allowed() {
    static_assert(
        std::is_empty_v<F>,
        "overdub: a compiled function has no captures: the program would keep what was captured at the first "
        "call; pass it as an argument");
    return std::is_empty_v<F> && (staging_context<C>::is_allowed() && ...);
  }

  // Calls the function `options` of each context that has one on o, outermost first, and returns the result.
  static compile_options options(compile_options o) {
    [[maybe_unused]] auto const ask = [&]<class X>(std::type_identity<X>) {
      if constexpr (declares_options<X>) X::options(o);
    };
    (ask(std::type_identity<C>{}), ...);
    return o;
  }

  // The artifact for the contexts' fingerprints, which are already serialised.
  static std::shared_ptr<artifact const>
  get(F const& f, compile_options const& o, std::string fingerprints, C&... c) {
    fingerprints += o.key();
    std::string const name = name_of_callee<F>();
    auto made = cache_of(o).get({&type_key<compilation>, std::move(fingerprints)}, name, [&] {
      return std::make_shared<artifact const>(recipe_of(f, name, o, c...));
    });
    if (o.check_fingerprints) check_same(*made, recipe_of(f, name, o, c...));
    return made;
  }

  // Throws staging_error if one object with data is given as two contexts: contexts are identified by their addresses during compilation.
  static void check_distinct(C const&... c) {
    std::vector<void const*> all;
    ((std::is_empty_v<C> ? void() : all.push_back(&c)), ...);
    check_distinct_contexts(std::move(all));
  }

  static compilation_cache& cache_of(compile_options const& o) {
    return o.cache == nullptr ? compilation_cache::shared() : *o.cache;
  }

  static recipe recipe_of(F const& f, std::string name, compile_options const& o, C&... c) {
    check_distinct(c...);
    std::int64_t const start = nanoseconds_now();
    ir::program p = [&] {
      std::tuple<decltype(staging_context<C>::of(c))...> held{staging_context<C>::of(c)...};
      return overdub::detail::apply_to(
          [&](auto&... rebuilt) {
            return call::make(
                f, contexts(rebuilt...),
                std::vector<recorder::context_of_call>{
                    {const_cast<std::byte*>(reinterpret_cast<std::byte const*>(&rebuilt)),
                     sizeof rebuilt}...},
                o.math);
          },
          held);
    }();
    std::int64_t const taken = nanoseconds_now() - start;
    std::vector<context_pass> passes;
    (stages_of<std::remove_const_t<C>>{c, passes}.add(), ...);
    return {std::move(name), std::move(p), taken, std::move(passes), o, names_of_types<A...>()};
  }
};

} // namespace overdub::detail
