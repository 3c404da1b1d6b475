#include "program_key.hpp"

#include "elementary.hpp"
#include "engine.hpp"
#include "runtime.hpp"

#include <overdub/ir/calls.hpp>
#include <overdub/ir/print.hpp>
#include <overdub/ir/walk.hpp>
#include <overdub/version.hpp>

// A hash of the sources of the compiler (CMakeLists.txt): they may change without a new version.
#if !defined(OVERDUB_JIT_SOURCES)
#define OVERDUB_JIT_SOURCES "unknown"
#endif

namespace overdub::jit {
namespace {

// The layout of C++ objects that machine code accesses.
std::string layout() {
  return std::to_string(runtime::stack_end_offset()) + ' ' + std::to_string(sizeof(execute::buffer)) + ' ' +
         std::to_string(offsetof(execute::buffer, bytes)) + ' ' + std::to_string(ir::op_count);
}

} // namespace

program_key key_of(ir::program const& p, ir::function_id entry, options const& o) {
  static auto const& versions = *new std::string( // never destroyed, as in engine.cpp
      "overdub " + std::to_string(OVERDUB_VERSION_MAJOR) + '.' + std::to_string(OVERDUB_VERSION_MINOR) + '.' +
      std::to_string(OVERDUB_VERSION_PATCH) +
      ", sources " OVERDUB_JIT_SOURCES "\nLLVM " LLVM_VERSION_STRING "\nlayout " + layout() + '\n');
  // All options: adding one breaks this line until it becomes part of the text.
  auto const& [optimisation, cpu, features, debug, cache, before, after] = o;
  (void)cpu, (void)features, (void)cache;
  program_key made{versions, ir::reachable_functions(p, entry)};
  made.text += "processor " + target_text(o) + "\noptimisation " + std::to_string(optimisation) +
               (debug ? ", debug" : "") + "\nmathematics " +
               std::string(ir::math_mode_names[static_cast<std::size_t>(p.math)]) + functions_for(p.math) +
               "\n";
  for (module_callback const* const each :
       {&before, &after}) // on a line each, so that the text is unambiguous
    if (each->run)
      made.text += (each == &before ? "before " : "after ") + std::to_string(each->name.size()) + ':' +
                   each->name + '\n';
  for (ir::function_id const f : made.functions) made.text += ir::print(p, f, {.places = debug});
  return made;
}

} // namespace overdub::jit
