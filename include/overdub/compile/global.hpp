// The contexts that a thread made the outermost of all that it calls compiled.
#pragma once

#include <overdub/compile/artifact.hpp>
#include <overdub/ir/program.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace overdub {
inline namespace OVERDUB_EXECUTE_ABI {

/// One of them, whatever its type: scoped_global makes it.
struct global_context {
  global_context const* before = nullptr; // that was entered earlier: it stands inside of this one
  void* object = nullptr;
  void const* type = nullptr;
  void (*append_fingerprint)(std::string& to, void const* object) = nullptr;
  void (*add_passes)(std::vector<context_pass>& to, void const* object) = nullptr;
  void (*adjust)(compile_options& o) = nullptr;
  // The program that it makes of one in which contexts of lower numbers are.
  ir::program (*rewrite)(ir::program const& p, void* object, std::size_t number) = nullptr;
};

/// The one that this thread entered last.
OVERDUB_HIDDEN inline global_context const*& global_contexts() {
  thread_local global_context const* last = nullptr;
  return last;
}

} // namespace OVERDUB_EXECUTE_ABI
} // namespace overdub
