// The table of passes, and the default pipeline.
#pragma once

#include <overdub/core/config.hpp>
#include <overdub/core/library.hpp>
#include <overdub/pass/cancel_reabstractions.hpp>
#include <overdub/pass/canonicalise.hpp>
#include <overdub/pass/choose_functions.hpp>
#include <overdub/pass/cse.hpp>
#include <overdub/pass/dce.hpp>
#include <overdub/pass/defunctionalise.hpp>
#include <overdub/pass/fold.hpp>
#include <overdub/pass/forget_derivatives.hpp>
#include <overdub/pass/fuse.hpp>
#include <overdub/pass/hoist.hpp>
#include <overdub/pass/inline.hpp>
#include <overdub/pass/interchange.hpp>
#include <overdub/pass/ir_names.hpp>
#include <overdub/pass/raise_loops.hpp>
#include <overdub/pass/raise_reabstractions.hpp>
#include <overdub/pass/reabstract_at_callers.hpp>
#include <overdub/pass/simplify.hpp>
#include <overdub/pass/specialise_conventions.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

namespace overdub::pass {

/// A pass by name, for tools and tests. All preserve results to the bit, and the order of effects.
struct named_pass {
  std::string_view name;
  std::size_t (*run)(program&); // returns the number of changes; canonicalise returns 0
  std::string_view what;
  bool idempotent;        // a second run changes nothing
  bool keeps_error;       // preserves which of several possible errors is thrown
  bool keeps_cost = true; // never raises the cost (cost.hpp)
};

OVERDUB_HIDDEN inline constexpr std::array passes{
    named_pass{
        "forget_derivatives", [](program& p) { return forget_derivatives(p); },
        "derivative declarations of functions are removed", true, true},
    named_pass{
        "inline_calls", [](program& p) { return inline_calls(p); },
        "small functions, and functions called once, are inlined", false, true},
    named_pass{
        "choose_functions", [](program& p) { return choose_functions(p); },
        "an element of an array of functions is selected among the elements that the array was created of",
        true, true, false},
    named_pass{
        "cancel_reabstractions", [](program& p) { return cancel_reabstractions(p); },
        "chains of reabstractions of function values are shortened", true, true},
    named_pass{
        "raise_reabstractions", [](program& p) { return raise_reabstractions(p); },
        "reabstractions are moved after branches and loops", false, true},
    named_pass{
        "reabstract_at_callers", [](program& p) { return reabstract_at_callers(p); },
        "reabstractions of parameters and results are moved to callers", false, true, false},
    named_pass{
        "specialise_conventions", [](program& p) { return specialise_conventions(p); },
        "functions are specialised for the conventions of their function values", false, true},
    named_pass{
        "defunctionalise", [](program& p) { return defunctionalise(p); },
        "function values become data, and their applications calls that branch on it", true, true, false},
    named_pass{"fold", [](program& p) { return fold(p); }, "constant folding", true, true},
    named_pass{
        "simplify", [](program& p) { return simplify(p); },
        "operations are rewritten by the rules of a table", false, true},
    named_pass{
        "cse", [](program& p) { return cse(p); }, "common subexpressions are computed once", true, true},
    named_pass{
        "hoist", [](program& p) { return hoist(p); }, "loop-invariant operations are moved out of loops",
        true, true},
    named_pass{
        "fuse", [](program& p) { return fuse(p); }, "maps are fused with the loops that read their elements",
        true, true},
    named_pass{
        "interchange", [](program& p) { return interchange(p); },
        "maps are interchanged with the loops in them, in blocks of elements", true, false, false},
    named_pass{
        "raise_loops", [](program& p) { return raise_loops(p); },
        "loops with independent iterations become maps and reductions", false, true, false},
    named_pass{"dce", [](program& p) { return dce(p); }, "dead code is removed", true, true},
    named_pass{
        "canonicalise", [](program& p) { return canonicalise(p), std::size_t{0}; },
        "equal programs get one text", true, false},
};

/// The pass of this name. O(passes).
constexpr std::optional<named_pass> find_pass(std::string_view name) {
  for (named_pass const& p : passes)
    if (p.name == name) return p;
  return {};
}

/// What a pass changed, and how long it took.
struct pass_report {
  std::string_view name;
  std::int64_t nanoseconds;
  std::size_t operations_before;
  std::size_t operations_after;
};
using pass_observer = std::function<void(pass_report const&)>;

/// The number of operations of a program. O(operations).
std::size_t operation_count(program const& p);

/// Runs passes one after another. Checked builds verify the program before the first pass and after each; an observer is
/// notified after each.
class pass_runner {
public:
  explicit pass_runner(program& p, pass_observer observer = {});

  /// Returns the number of changes.
  std::size_t operator()(named_pass const& pass) const;
  std::size_t operator()(std::string_view name) const { return (*this)(*find_pass(name)); }

private:
  program& p_;
  pass_observer observer_;
};

/// The passes that run before a program is executed. O(operations).
void default_pipeline(program& p, pass_observer const& observer = {});

} // namespace overdub::pass
