// scoped_global applies a context to the compiled functions that one thread calls; shared_global lets several threads share one context.
#pragma once

#include <overdub/compile/compile.hpp>
#include <overdub/compile/global.hpp>
#include <overdub/control/parallel.hpp>
#include <overdub/core/mutex.hpp>
#include <overdub/stage/evaluate.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace overdub {

namespace detail {
template <class C>
inline constexpr bool follows_to_threads = std::is_empty_v<C> || forks<C>;
} // namespace detail

/// A context for several threads. Each scoped_global of it has a fork of the context; the end of its scope joins the fork to the context,
/// one thread at a time. An empty context has nothing to join: each thread makes its own. The context must outlive these scopes, and
/// nothing else may access it while one is open. Thread-safe.
///   shared_global everywhere(counted);   ... and in each thread   scoped_global const here(everywhere);
template <class C>
class shared_global {
  static_assert(
      detail::follows_to_threads<C>,
      "overdub: a context for several threads has no state, or the members C fork() and void join(C&&)");

public:
  explicit shared_global(C& context) : context_(&context) {}
  shared_global(shared_global const&) = delete;
  shared_global& operator=(shared_global const&) = delete;

  /// Returns a fork of the context for this thread.
  C fork() {
    if constexpr (std::is_empty_v<C>)
      return {};
    else {
      detail::mutex_lock const lock(mutex_);
      return context_->fork();
    }
  }
  /// Joins a fork to the context.
  void join([[maybe_unused]] C&& other) {
    if constexpr (!std::is_empty_v<C>) {
      detail::mutex_lock const lock(mutex_);
      context_->join(std::move(other));
    }
  }

private:
  detail::mutex mutex_;
  C* context_;
};

/// Applies a context to every compiled function that this thread calls until the end of a scope, gradients too. It is inside of
/// the function's own contexts, as if it were the last one of their composition: it intercepts the operations that they leave. Of nested
/// scopes, the context of the scope that was entered last is outside of the others. Compiled code is cached by the type
/// and the fingerprint of the context. Direct runs, whose contexts are determined by type, are not affected. The context must outlive the
/// scope; scopes must be left in reverse order. It must have no metadata: the caller gets plain results. For several threads use a
/// shared_global, unless the context is thread-safe.
///   scoped_global const logged(log); f(2.0);
template <class C>
class scoped_global {
  static_assert(
      !detail::carries_metadata<C>, "overdub: a scoped_global keeps no metadata: results keep their types; "
                                    "compile the function for the context instead");
  static_assert(
      detail::staging_context<C>::can_be_rebuilt,
      "overdub: a context has data and rules or enter, which may read them while a program is made: another "
      "instance "
      "would get the same program; give it fingerprint(), and a constructor from what that returns");

public:
  explicit scoped_global(C& context) { enter(context); }
  /// Forks the context for this thread. Throws the exceptions of `fork`.
  explicit scoped_global(shared_global<C>& of) : shared_(&of), own_(of.fork()) { enter(*own_); }
  scoped_global(scoped_global const&) = delete;
  scoped_global& operator=(scoped_global const&) = delete;
  /// `join` must not throw.
  OVERDUB_HIDDEN ~scoped_global() {
    global_contexts() = entry_.before;
    if constexpr (detail::follows_to_threads<C>)
      if (shared_ != nullptr) shared_->join(std::move(*own_));
  }

private:
  OVERDUB_HIDDEN void enter(C& context) {
    entry_.object = &context;
    entry_.type = &detail::type_key<C>;
    entry_.append_fingerprint = [](std::string& to, void const* object) {
      detail::write_fingerprints(to, *static_cast<C const*>(object));
    };
    entry_.add_passes = [](std::vector<context_pass>& to, void const* object) {
      detail::stages_of<C>{*static_cast<C const*>(object), to}.add();
    };
    entry_.adjust = [](compile_options& o) {
      if constexpr (detail::declares_options<C>) C::options(o);
    };
    entry_.rewrite = [](ir::program const& p, void* object, std::size_t number) {
      decltype(auto) rebuilt = detail::staging_context<C>::of(*static_cast<C*>(object));
      detail::recorder r;
      r.contexts.resize(number);
      r.contexts.push_back(
          {const_cast<std::byte*>(reinterpret_cast<std::byte const*>(&rebuilt)), sizeof rebuilt});
      staging innermost(r);
      detail::run_lifetime<std::remove_cvref_t<decltype(rebuilt)>> const run;
      return detail::rewritten(
          r,
          detail::make_run_stack<types<>>(
              run.get(), stack<level<staging, void>>(innermost, stack<>{}), rebuilt),
          p);
    };
    entry_.before = std::exchange(global_contexts(), &entry_);
  }

  // The shared_global from which the context was forked; null, if none.
  shared_global<C>* shared_ = nullptr;
  [[no_unique_address]] std::conditional_t<detail::follows_to_threads<C>, std::optional<C>, none> own_;
  global_context entry_;
};

} // namespace overdub
