// Calls and compilation of a library's functions, which are recompiled when definitions change.
#pragma once

#include <overdub/compile/compile.hpp>
#include <overdub/compile/epochs.hpp>
#include <overdub/compile/library.hpp>
#include <overdub/core/mutex.hpp>
#include <overdub/stage/evaluate.hpp>

#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <tuple>
#include <utility>

namespace overdub {
namespace detail {

// The program that this thread is compiling.
OVERDUB_HIDDEN inline ir::program const*& linked_program() {
  thread_local ir::program const* p = nullptr;
  return p;
}
struct linking {
  ir::program const* before;
  OVERDUB_HIDDEN explicit linking(ir::program const& p) : before(std::exchange(linked_program(), &p)) {}
  linking(linking const&) = delete;
  linking& operator=(linking const&) = delete;
  OVERDUB_HIDDEN ~linking() { linked_program() = before; }
};

// Calls the entry of that program in the contexts of the arguments, and returns its results as R.
template <class R>
struct linked_body {
  template <class... X>
  auto operator()(X const&... x) const {
    using S = outermost_t<X...>;
    static_assert(
        is_symbolic<S>, "overdub: a function of a library is compiled, and takes at least one argument");
    ir::program const& p = *linked_program();
    S const stack = stack_of_run(stack_from<S>(x...), "a function of a library");
    using T = skip_transparent_t<S>;
    auto const results = evaluation<T>::call_staged(
        p, tail_of<T>(stack), names_above<S, T>(), p.entry, arguments_of(p, p.entry, stack, x...));
    return results_as(stack, static_cast<R*>(nullptr), p, results);
  }

private:
  template <class S, class One>
  static auto results_as(S const& stack, One*, ir::program const& p, auto const& results) {
    check_count(p, results.size(), 1);
    return result_as<S, One>(stack, p, p.entry, results[0]);
  }
  template <class S, class... Each>
  static auto results_as(S const& stack, std::tuple<Each...>*, ir::program const& p, auto const& results) {
    check_count(p, results.size(), sizeof...(Each));
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      return std::tuple<wrap_t<S, Each>...>{result_as<S, Each>(stack, p, p.entry, results[I])...};
    }
    (std::index_sequence_for<Each...>{});
  }
  static void check_count(ir::program const& p, std::size_t given, std::size_t asked) {
    if (given == asked) return;
    throw argument_error(message(
        "overdub: @%s returns %zu values, and %zu are requested", std::string(p.name_of(p.entry)).c_str(),
        given, asked));
  }
};

} // namespace detail

/// overdub(contexts, f, x...), compiled, for a function f of a library. A call runs the definitions of the world in which it began;
/// compiled code is reused until one of its definitions is replaced. Copies share the code.
template <class R, class Arguments, class Composition>
class compiled_in_library;
template <class R, class... A, class... Held>
class compiled_in_library<R, types<A...>, composition<Held...>> {
  using compilation =
      detail::compilation<detail::linked_body<R>, types<A...>, detail::held_context_t<Held>...>;

public:
  using result_type = typename compilation::result;

  compiled_in_library(
      library of, std::string name, compile_options const& options, composition<Held...> contexts)
      : shared_(std::make_shared<shared>(std::move(of), std::move(name), options, std::move(contexts))) {
    static_assert(compilation::allowed());
  }

  /// Throws the exceptions of the program, library_error if the function is not defined, and the exceptions of `compile` if it is
  /// recompiled.
  result_type operator()(A const&... x) const {
    std::shared_ptr<artifact const> const made = shared_->current();
    return detail::global_call<result_type, A...>::run(*made, shared_->addresses, x...);
  }

  /// The current artifact, which is compiled if necessary.
  std::shared_ptr<artifact const> made() const { return shared_->current(); }

private:
  // The artifact that is valid for a world.
  struct answer {
    std::uint64_t world;
    std::string key; // the numbers of the function's definitions
    std::shared_ptr<artifact const> made;
  };
  struct shared {
    library of;
    std::string name;
    compile_options options;
    composition<Held...> contexts;
    std::array<void*, sizeof...(Held)> addresses{};
    detail::mutex mutex; // protects changes of the answer
    std::shared_ptr<answer const> last;
    std::atomic<answer const*> seen{nullptr};

    shared(library l, std::string f, compile_options const& o, composition<Held...> c)
        : of(std::move(l)), name(std::move(f)), options(compilation::options(o)), contexts(std::move(c)) {
      std::apply(
          [&](auto&... context) {
            std::size_t i = 0;
            ((addresses[i++] = &context), ...);
          },
          detail::context_tuple(contexts));
    }
    shared(shared const&) = delete;
    shared& operator=(shared const&) = delete;

    std::shared_ptr<artifact const> current() {
      std::uint64_t const world = of.world();
      {
        detail::epochs::reading const here;
        if (answer const* const known = seen.load(); known != nullptr && known->world == world)
          return known->made;
      }
      return looked_up();
    }

  private:
    std::shared_ptr<artifact const> looked_up() {
      std::shared_ptr<detail::world const> const world = of.now();
      auto const linked = library::link(*world, name);
      std::shared_ptr<artifact const> made;
      {
        detail::mutex_lock const lock(mutex);
        if (last != nullptr && last->key == linked->key) made = last->made;
      }
      if (made == nullptr) made = from_cache(*linked);
      remember({library::number_of(*world), linked->key, made});
      return made;
    }
    std::shared_ptr<artifact const> from_cache(detail::linked_function const& linked) {
      compilation_cache& cache = compilation::cache_of(options);
      std::string fingerprints; // the current ones, for which the program is compiled
      std::apply(
          [&](auto&... c) { detail::write_fingerprints(fingerprints, c...); },
          detail::context_tuple(contexts));
      cache_key const key{
          &detail::type_key<compilation>, linked.key + fingerprints + options.key() + own_number()};
      bool is_new = false;
      auto made = cache.get(key, name, [&] {
        is_new = true;
        ir::program p = library::assemble(linked);
        p.math = options.math;
        detail::linking const now(p);
        return std::apply(
            [&](auto&... c) {
              return std::make_shared<artifact const>(
                  compilation::recipe_of(detail::linked_body<R>{}, name, options, c...));
            },
            detail::context_tuple(contexts));
      });
      if (is_new) watch(linked, made, cache, key);
      return made;
    }
    // If the entry cannot be registered with the library, it is not cached.
    void watch(
        detail::linked_function const& linked, std::shared_ptr<artifact const> const& made,
        compilation_cache& cache, cache_key const& key) {
      try {
        of.watch(linked, made, cache.dropper_of(key));
      } catch (...) {
        cache.dropper_of(key)();
        throw;
      }
    }
    // Numbers of definitions are unique only in a library.
    std::string own_number() const { return " of library " + std::to_string(of.number()); }
    void remember(answer a) {
      auto next = std::make_shared<answer const>(std::move(a));
      detail::mutex_lock const lock(mutex);
      if (last != nullptr && last->world >= next->world) return;
      seen.store(next.get());
      detail::epochs::retire(std::exchange(last, std::move(next)));
    }
  };

  std::shared_ptr<shared> shared_;
};

/// A function of a library, which is called like a C++ function: double y = library.function<double(double)>("f")(x).
template <class R, class... A>
class library_function<R(A...)> {
public:
  library_function(library of, std::string name)
      : of_(of), name_(name), call_(std::move(of), std::move(name), {}, compose()) {}

  /// As compiled_in_library.
  R operator()(A const&... x) const { return call_(x...); }

  library const& of() const { return of_; }
  std::string const& name() const { return name_; }

private:
  library of_;
  std::string name_;
  compiled_in_library<R, types<A...>, composition<>> call_;
};

/// Compiles a function of a library in contexts, for arguments of these types: see compile. It is compiled in the first call, and again
/// after one of its definitions has changed.
template <class Context, class R, class... P, class... A>
auto compile(
    Context&& context, library_function<R(P...)> const& f, types<A...>, compile_options const& options = {}) {
  auto all = compose(std::forward<Context>(context));
  return compiled_in_library<R, types<A...>, decltype(all)>(f.of(), f.name(), options, std::move(all));
}

} // namespace overdub
