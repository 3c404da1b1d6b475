#include "lift.hpp"

#include "failure.hpp"
#include "source.hpp"

#if OVERDUB_TOOLS_LIFT
#include <overdub/lift.hpp>
#endif

#include <utility>

namespace overdub::tools {

#if OVERDUB_TOOLS_LIFT
lifted_file lift_program(std::string const& path) {
  try {
    lift_result lifted = lift_file(path == "-" ? "/dev/stdin" : path);
    lifted_file result{std::move(lifted.program), {}};
    for (refused_function const& f : lifted.refused)
      result.refusals += "; refused: " + printable(text_of(f)) + '\n';
    return result;
  } catch (lift_error const& e) {
    throw failure(exit_code::invalid, e.what());
  }
}
#else
lifted_file lift_program(std::string const&) {
  throw failure(
      exit_code::usage, "overdub-opt: --lift needs LLVM, and this overdub-opt was built without it");
}
#endif

} // namespace overdub::tools
