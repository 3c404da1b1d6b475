// expect: a pass that captures something is known by its fingerprint
#include <overdub/compile/options.hpp>

#include <string>

overdub::compile_options with(int degree) {
  auto const pass = [degree](overdub::ir::program&) { static_cast<void>(degree); };
#ifdef OVERDUB_MENDED
  return {.passes = {{"pass", pass, "degree " + std::to_string(degree)}}};
#else
  return {.passes = {{"pass", pass}}};
#endif
}
