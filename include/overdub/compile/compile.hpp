// compile(contexts, f, signature): overdub(contexts, f, x...) as a function that is staged, rewritten by the passes of the
// contexts, optimised and made executable once for each fingerprint of the contexts.
#pragma once

#include <overdub/compile/artifact.hpp>
#include <overdub/compile/cache.hpp>
#include <overdub/compile/fingerprint.hpp>
#include <overdub/compile/staged_call.hpp>

#include <array>
#include <chrono>
#include <concepts>
#include <cstddef>
#include <memory>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace overdub {
namespace detail {

// The contexts of a composition as a tuple of references, outermost first.
template <class Composition>
auto context_tuple(Composition& all) {
  return hana::unpack(all.contexts, [](auto&... held) {
    return std::tuple<std::remove_reference_t<decltype(get_held(held))>&...>(get_held(held)...);
  });
}

template <class F>
std::string name_of_callee() {
  if constexpr (callee<F>)
    return std::string(F::name());
  else
    return "main";
}

// Appends the fingerprints of contexts that have one.
template <class... C>
void write_fingerprints(std::string& to, C const&... c) {
  [[maybe_unused]] auto const write = [&]<class X>(X const& context) {
    if constexpr (has_fingerprint<X>) {
      fingerprint_writer const append(to);
      append(context.fingerprint());
    }
  };
  (write(c), ...);
}

// The artifact that some contexts ran last.
template <class... C>
class last_answer {
public:
  std::shared_ptr<artifact const> made;

  bool is_for(C const&... c) {
    if (made == nullptr) return false;
    if constexpr ((is_plain<C> && ...))
      return plain == std::tuple<plain_t<C>...>(plain_of(c)...);
    else {
      scratch.clear();
      write_fingerprints(scratch, c...);
      return scratch == bytes;
    }
  }
  void remember(std::shared_ptr<artifact const> answer, cache_key const& key, C const&... c) {
    made = nullptr; // until all of it is there
    if constexpr ((is_plain<C> && ...))
      plain = std::tuple<plain_t<C>...>(plain_of(c)...);
    else
      bytes = key.fingerprints;
    made = std::move(answer);
  }

private:
  // Fingerprints that are equal when their bytes are.
  template <class X>
  static constexpr bool is_plain =
      !has_fingerprint<X> || std::is_integral_v<fingerprint_t<X>> || std::is_enum_v<fingerprint_t<X>>;
  template <class X>
  using plain_t = std::conditional_t<has_fingerprint<X>, fingerprint_t<X>, char>;
  template <class X>
  static plain_t<X> plain_of(X const& x) {
    if constexpr (has_fingerprint<X>)
      return x.fingerprint();
    else
      return {};
  }
  struct nothing {};
  std::conditional_t<(is_plain<C> && ...), std::tuple<plain_t<C>...>, nothing> plain{};
  std::string bytes, scratch;
};

// What depends on the types of a compiled call alone.
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
        "overdub: a function that is compiled captures nothing, since what it captured would stay as it "
        "was; give it as an argument");
    static_assert(
        (staging_context<C>::can_be_rebuilt && ...),
        "overdub: a context has data and rules, enter or metadata, which may read them while a program is "
        "made: another "
        "instance would get the same program; give it fingerprint(), and a constructor from what that "
        "returns");
    return std::is_empty_v<F> && (staging_context<C>::can_be_rebuilt && ...);
  }

  static cache_key key(C const&... c) {
    cache_key k{&type_key<compilation>, {}};
    write_fingerprints(k.fingerprints, c...);
    return k;
  }

  static std::shared_ptr<artifact const> make(F const& f, C&... c) {
    auto const start = std::chrono::steady_clock::now();
    ir::program p = [&] {
      std::tuple<decltype(staging_context<C>::of(c))...> held{staging_context<C>::of(c)...};
      return std::apply(
          [&](auto&... rebuilt) {
            return call::make(
                f, contexts(rebuilt...), std::vector<void const*>{static_cast<void const*>(&rebuilt)...});
          },
          held);
    }();
    auto const taken = std::chrono::steady_clock::now() - start;
    std::vector<context_pass> passes;
    (add_pass(passes, c), ...);
    return made_artifact(
        name_of_callee<F>(), std::move(p),
        std::chrono::duration_cast<std::chrono::nanoseconds>(taken).count(), std::move(passes));
  }

  template <class Context>
  static void add_pass(std::vector<context_pass>& passes, Context const& c) {
    if constexpr (has_pass<Context>) {
      std::string name(context_name_v<Context>);
      if constexpr (requires(ir::program & p) { Context::pass(p); })
        passes.push_back({std::move(name), [](ir::program& p) { Context::pass(p); }});
      else
        passes.push_back({std::move(name), [data = fingerprint_t<Context>(c.fingerprint())](ir::program& p) {
                            Context::pass(p, data);
                          }});
    }
  }

  static result run(artifact const& a, void* const* contexts, A const&... x) {
    execute::machine_pool::borrowed m;
    execute::program_run run(*a.run.code(), *m);
    run.with(contexts, [&](auto const& pass) { (for_each_leaf(x, pass), ...); });
    execute::releasing const at_end(run);
    execute::offset at = 0;
    auto const next = [&]<class T>(std::type_identity<T>) { return run.template next_result<T>(at); };
    return leaf_reader<decltype(next)>{next}(std::type_identity<result>{});
  }
};

} // namespace detail

inline namespace OVERDUB_EXECUTE_ABI {

/// overdub(contexts, f, x...), compiled: see `compile`. Calls look nothing up. A plain value: copies share the program and the
/// contexts. Threads may call it at once where they may use its contexts at once, and it may be called while it runs.
template <class F, class Arguments, class Composition>
class compiled;
template <class F, class... A, class... Held>
class compiled<F, types<A...>, composition<Held...>> {
  using compilation = detail::compilation<F, types<A...>, detail::held_context_t<Held>...>;

public:
  using result_type = typename compilation::result;

  /// Throws what the program throws. What context hooks throw, too.
  result_type operator()(A const&... x) const { return compilation::run(*artifact_, contexts_.data(), x...); }

  /// What it was made of: for explain, and for tests.
  artifact const& made() const { return *artifact_; }

  // For compile.
  compiled(std::shared_ptr<artifact const> made, std::shared_ptr<composition<Held...>> owner)
      : artifact_(std::move(made)), owner_(std::move(owner)) {
    std::apply(
        [&](auto&... c) {
          std::size_t i = 0;
          ((contexts_[i++] = &c), ...);
        },
        detail::context_tuple(*owner_));
  }

private:
  std::shared_ptr<artifact const> artifact_;
  std::shared_ptr<composition<Held...>> owner_;
  std::array<void*, sizeof...(Held)> contexts_{};
};

/// How a compiled function was made: see explain(artifact).
template <class F, class A, class C>
std::string explain(compiled<F, A, C> const& c) {
  return explain(c.made());
}

/// Compiles overdub(contexts, f, x...) for arguments of these types, which are those of that call: T, or tagged<T, M> where
/// metadata are given. The program is made where the cache has none for these types and the contexts' fingerprints: f is
/// staged in contexts rebuilt from their fingerprints, their passes run, outermost first, and the default pipeline. A context
/// that is an lvalue is referred to, must live as long, and is the one whose hooks are called. Throws staging_error,
/// pass_error, what passes throw, not_executable. Thread-safe.
template <class Context, class F, class... A>
auto compile(
    Context&& context, F const& f, types<A...>, compilation_cache& cache = compilation_cache::shared()) {
  auto all = compose(std::forward<Context>(context));
  using Composition = decltype(all);
  using Compiled = compiled<F, types<A...>, Composition>;
  auto owner = std::make_shared<Composition>(std::move(all));
  return std::apply(
      [&]<class... C>(C&... c) {
        using compilation = detail::compilation<F, types<A...>, C...>;
        if constexpr (compilation::allowed())
          return Compiled(
              cache.get(
                  compilation::key(c...), detail::name_of_callee<F>(),
                  [&] { return compilation::make(f, c...); }),
              owner);
      },
      detail::context_tuple(*owner));
}

} // namespace OVERDUB_EXECUTE_ABI

namespace detail {

// An argument's type in a program: integers of all sizes are i64.
template <class A>
struct parameter_type {
  using type = A;
};
template <std::integral A>
requires(!std::is_same_v<A, bool>) struct parameter_type<A> {
  using type = i64;
};

// overdub(contexts, f, x...), compiled. Each thread remembers what each call of some types ran last: while the fingerprints
// stay the same nothing is looked up, counted or allocated.
template <class Context, class F, class... A>
requires true struct compiled_run<Context, F, A...> {
  static constexpr bool is_included = true;

  static auto call(auto& context, F const& f, A const&... x) {
    if constexpr (is_composition<std::remove_cvref_t<Context>>) {
      auto&& all = changeable(context);
      return call_in(context_tuple(all), f, x...);
    } else
      return call_in(std::tie(context), f, x...);
  }

private:
  template <class... C>
  static auto call_in(std::tuple<C&...> all, F const& f, A const&... x) {
    using compilation =
        detail::compilation<F, types<typename parameter_type<std::remove_cvref_t<A>>::type...>, C...>;
    if constexpr (compilation::allowed())
      return std::apply(
          [&](C&... c) {
            thread_local last_answer<C...> last;
            if (!last.is_for(c...)) {
              cache_key const key = compilation::key(c...);
              auto made = compilation_cache::shared().get(
                  key, name_of_callee<F>(), [&] { return compilation::make(f, c...); });
              last.remember(std::move(made), key, c...);
            }
            std::array<void*, sizeof...(C)> const contexts{&c...};
            auto const used = last.made; // a hook may come here again, with another fingerprint
            return compilation::run(*used, contexts.data(), x...);
          },
          all);
    else
      return refused{};
  }
};

} // namespace detail
} // namespace overdub
