// What a user may choose when a function is compiled: by what it is run, when that is made, and where it is kept.
#pragma once

#include <overdub/execute/code.hpp>
#include <overdub/header_only.hpp>
#include <overdub/ir/math_mode.hpp>
#include <overdub/ir/program.hpp>
#include <overdub/pass/pipeline_step.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace overdub {

/// When machine code is made, where an executor is given.
enum class tiers {
  interpret_first, // calls are interpreted until it is worth it; then it is made by another thread, and swapped in
  compile_now,   // before the first call
  interpret_only // never
};

inline namespace OVERDUB_EXECUTE_ABI {

/// What makes something of programs that runs faster than the interpreter: jit::compiled() is one. Thread-safe.
class executor {
public:
  virtual ~executor() = default;
  /// Executors of one name make the same of the same program: it says all choices that make a difference.
  virtual std::string const& name() const = 0;
  /// Throws not_executable where it cannot.
  virtual std::shared_ptr<execute::code const> prepare(ir::program const& p) const = 0;
};

class compilation_cache;

/// How a function is compiled. A context may change them:   static void options(compile_options& o);
struct compile_options {
  std::shared_ptr<overdub::executor const> executor = {}; // the interpreter, where there is none
  overdub::tiers tiers = tiers::interpret_first;
  ir::math_mode math = ir::math_mode::exact;   // what equal results are: docs/equality.md
  std::uint32_t hot_calls = 1000;              // from so many interpreted calls on, or
  std::int64_t hot_nanoseconds = 2'000'000;    // so much time in them, machine code is worth it
  overdub::compilation_cache* cache = nullptr; // the shared one, where there is none; must outlive its use
  // To find what a fingerprint leaves out: each call makes the program anew, and compares it with the one that is kept. Throws
  // fingerprint_error.
  bool check_fingerprints = false;
  // What a staged program runs through before it is executed, in this order; nothing else, where it is not in the list. What a step
  // leaves is verified.
  std::vector<pass::pipeline_step> passes = pass::default_steps();

  bool has_default_passes() const {
    return passes.size() == 1 && !passes.front().is_own() && passes.front().name() == "default_pipeline";
  }
  /// What of it decides what is made: a part of the key.
  OVERDUB_DECL std::string key() const;
};

} // namespace OVERDUB_EXECUTE_ABI
} // namespace overdub

#if OVERDUB_HEADER_ONLY
#include <overdub/compile/options.ipp>
#endif
