// A staged program: printed, parsed, optimised and interpreted.
#include "layers.hpp"

#include <overdub/execute/interpreter.hpp>
#include <overdub/ir/parse.hpp>
#include <overdub/ir/print.hpp>
#include <overdub/overdub.hpp>
#include <overdub/pass/pipeline.hpp>
#include <overdub/stage/stage.hpp>

#include <vector>

namespace od = overdub;

namespace {
inline constexpr auto norm = od::fn<"norm">(
    [](auto xs) { return sqrt(od::sum(od::map([](auto x) { return x * x; }, xs))); });
} // namespace

bool staged_is_right() {
  od::ir::program const staged = od::stage(norm, od::signature<od::array<double>>);
  od::ir::program read = od::ir::parse(print(staged));
  bool const same = read == staged;
  od::pass::default_pipeline(read);
  od::executable const run(read);
  return same && run.call<double>(std::vector{3.0, 4.0}) == 5.0;
}
