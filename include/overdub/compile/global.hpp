// The active scoped_globals of a thread, which apply to all compiled functions that it calls.
#pragma once

#include <overdub/compile/artifact.hpp>
#include <overdub/compile/compilation.hpp>
#include <overdub/core/library.hpp>
#include <overdub/ir/program.hpp>

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace overdub {

/// A type-erased scoped_global.
struct global_context {
  // The scoped_global that the thread entered before this one, and that this one encloses.
  global_context const* before = nullptr;
  void* object = nullptr;
  void const* type = nullptr;
  void (*append_fingerprint)(std::string& to, void const* object) = nullptr;
  void (*add_passes)(std::vector<context_pass>& to, void const* object) = nullptr;
  void (*adjust)(compile_options& o) = nullptr;
  // Returns the program in this context. `number` is the index of `object` among the contexts of a call.
  ir::program (*rewrite)(ir::program const& p, void* object, std::size_t number) = nullptr;
};

/// The scoped_global that this thread entered last.
OVERDUB_HIDDEN inline global_context const*& global_contexts() {
  thread_local global_context const* last = nullptr;
  return last;
}

namespace detail {

// A compiled function in the thread's scoped_globals, the last of which encloses the others; and the context objects that a call passes:
// those of the function's own contexts, then those of the scoped_globals.
struct artifact_in_globals {
  std::shared_ptr<artifact const> made;
  std::vector<void*> objects;
};
artifact_in_globals
in_globals(artifact const& own, std::span<void* const> contexts, global_context const* last);

// Calls a compiled function in its own contexts and in the thread's scoped_globals.
template <class Result, class... A>
struct global_call {
  static Result run(artifact const& own, std::span<void* const> contexts, A const&... x) {
    if (global_contexts() != nullptr) [[unlikely]]
      return run_in_globals(own, contexts, x...);
    return compiled_call<Result, A...>::run(own, contexts.data(), x...);
  }

private:
  [[gnu::noinline]] static Result
  run_in_globals(artifact const& own, std::span<void* const> contexts, A const&... x) {
    artifact_in_globals const all = in_globals(own, contexts, global_contexts());
    return compiled_call<Result, A...>::run(*all.made, all.objects.data(), x...);
  }
};

// The same of arguments and results as data.
std::vector<datum> global_call_on_data(
    artifact const& own, std::span<void* const> contexts, std::span<datum const> arguments,
    global_context const* last = global_contexts());

} // namespace detail
} // namespace overdub
