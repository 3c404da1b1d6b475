// The options of a compilation: the executor, the tiers, the cache, and the pipeline.
#pragma once

#include <overdub/core/library.hpp>
#include <overdub/execute/code.hpp>
#include <overdub/ir/math_mode.hpp>
#include <overdub/ir/program.hpp>
#include <overdub/pass/pipeline_step.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace overdub {

/// The time of compilation to machine code, if there is an executor.
enum class tiers {
  interpret_first, // interpreted at first; hot programs are compiled by another thread, and replaced
  compile_now,     // before the first call
  interpret_only   // never
};

/// Compiles programs to code that is faster than the interpreter, such as jit::compiled(). Thread-safe.
class executor {
public:
  virtual ~executor() = default;
  /// Identifies the executor and its options: executors with equal names compile a program to the same code.
  virtual std::string const& name() const = 0;
  /// Compiles a program. Throws not_executable if it is not supported.
  virtual std::shared_ptr<execute::code const> prepare(ir::program const& p) const = 0;
};

class compilation_cache;

/// How a function is compiled. A context may change them:   static void options(compile_options& o);
struct compile_options {
  std::shared_ptr<overdub::executor const> executor = {}; // the interpreter, if null
  overdub::tiers tiers = tiers::interpret_first;
  ir::math_mode math = ir::math_mode::exact;   // the math mode: docs/equality.md
  std::uint32_t hot_calls = 1000;              // a program is hot after this number of interpreted calls, or
  std::int64_t hot_nanoseconds = 2'000'000;    // this time in interpreted calls
  overdub::compilation_cache* cache = nullptr; // the shared one, if null; must outlive its users
  // Debugging of fingerprints: each call builds the program again, and compares it with the cached one. Throws fingerprint_error.
  bool check_fingerprints = false;
  // The pipeline: the passes of a staged program, in this order, and no others. The program is verified after each user-defined step.
  std::vector<pass::pipeline_step> passes = pass::default_steps();

  bool has_default_passes() const {
    return passes.size() == 1 && !passes.front().is_own() && passes.front().name() == "default_pipeline";
  }
  /// The options on which the compiled code depends, as a part of the cache's key.
  std::string key() const;
};

} // namespace overdub
