// The executors of compiled programs: the interpreter, and machine code if the tests have a compiler.
#pragma once

#include <overdub/compile/options.hpp>
#if OVERDUB_TESTS_JIT
#include <overdub/jit/executor.hpp>
#endif

#include <vector>

inline std::vector<overdub::compile_options> executors() {
  std::vector<overdub::compile_options> all(1);
#if OVERDUB_TESTS_JIT
  all.emplace_back();
  all.back().executor = overdub::jit::compiled();
  all.back().tiers = overdub::tiers::compile_now;
#endif
  return all;
}
