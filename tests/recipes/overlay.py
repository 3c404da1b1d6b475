"""Performs the recipes of CONTRIBUTING.md for an operation, a pass, a context and a distribution, on a copy of the headers that they edit.

    overlay.py INCLUDE FOLDER   writes the edited headers below FOLDER, which is then searched before INCLUDE
"""
import pathlib
import sys

include, folder = map(pathlib.Path, sys.argv[1:])

ELEMENTWISE = "OVERDUB_UNARY(halved, math, floating, pure, 1, x * 0.5f, dx * 0.5f)\n"
STRUCTURAL = ("OVERDUB_STRUCTURAL(unknown_to_all, 1, 1, 0, unknown_to_all, pure, 1, none)\n"
              "OVERDUB_STRUCTURAL(unknown_copy, 1, 1, 0, unknown_copy, pure, 1, none)\n")
PASS = """\
    named_pass{
        "count_operations", [](program& p) { return count_operations(p); }, "nothing changes", false, true},
"""
HEADER = """// A pass that changes nothing, and returns the number of operations.
#pragma once

#include <overdub/pass/ir_names.hpp>

namespace overdub::pass {

inline std::size_t count_operations(program& p) {
  std::size_t count = 0;
  for (function const& f : p.functions) ir::walk(f, function::body, [&](node_id) { ++count; });
  return count;
}

} // namespace overdub::pass
"""
CONTEXT = """// last_call: counts calls of functions, and keeps the name of the last callee.
#pragma once

#include <overdub/overdub.hpp>

#include <string_view>

namespace overdub::contexts {

struct last_call : context {
  int calls = 0;
  std::string_view callee;

  void before(function auto f, auto const&...) {
    ++calls;
    callee = f.name();
  }
};

} // namespace overdub::contexts
"""
DISTRIBUTION = """// The triangular distribution on [0, width], with its mode at 0.
#pragma once

#include <overdub/distributions/distribution.hpp>
#include <overdub/distributions/support.hpp>
#include <overdub/overdub.hpp>

#include <cmath>
#include <tuple>

namespace overdub::distributions {

struct falling_t : distribution<"falling", falling_t> {
  static constexpr std::tuple parameters{parameter<positive_reals>{"width"}};
  static auto support(auto const& width) { return interval{0.0, width}; }
  static auto log_density_at(auto const& x, auto const& width) {
    return overdub::log(2.0 * (width - x)) - 2.0 * overdub::log(width);
  }
  static double draw(auto& g, double width) { return width * (1 - std::sqrt(g.uniform())); }
};
inline constexpr falling_t falling;

} // namespace overdub::distributions
"""


def edited(name, *insertions):
    """Writes a copy of a header, with each text inserted before a line of it."""
    text = (include / name).read_text()
    for before, inserted in insertions:
        if text.count(before) != 1:
            sys.exit(f"{name}: the recipe does not find its place, {before!r}")
        text = text.replace(before, inserted + before)
    write(name, text)


def write(name, text):
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


edited("overdub/core/ops.def",
       ("\n// comparison\n", ELEMENTWISE),
       ("\n// control flow; the last", STRUCTURAL))
edited("overdub/implementation/ir/infer.cpp",
       ("  case type_rule::copy:\n", "  case type_rule::unknown_copy:\n"))
edited("overdub/pass/pipeline.hpp",
       ("#include <overdub/pass/cse.hpp>\n", "#include <overdub/pass/count_operations.hpp>\n"),
       ('    named_pass{\n        "forget_derivatives"', PASS))
write("overdub/pass/count_operations.hpp", HEADER)
write("overdub/contexts/last_call.hpp", CONTEXT)
edited("overdub/distributions.hpp",
       ("#include <overdub/distributions/location_scale.hpp>\n", "#include <overdub/distributions/falling.hpp>\n"))
write("overdub/distributions/falling.hpp", DISTRIBUTION)
