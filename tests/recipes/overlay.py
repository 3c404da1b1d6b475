"""Performs the recipes of CONTRIBUTING.md for an operation and for a pass on a copy of the headers that they edit.

    overlay.py INCLUDE FOLDER   writes the edited headers below FOLDER, which is then searched before INCLUDE
"""
import pathlib
import sys

include, folder = map(pathlib.Path, sys.argv[1:])

ELEMENTWISE = "OVERDUB_UNARY(halved, math, floating, pure, 1, x * 0.5f, dx * 0.5f)\n"
STRUCTURAL = ("OVERDUB_STRUCTURAL(unknown_to_all, 1, 1, 0, unknown_to_all, pure, 1, none)\n"
              "OVERDUB_STRUCTURAL(unknown_copy, 1, 1, 0, copy, pure, 1, none)\n")
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
edited("overdub/pass/pipeline.hpp",
       ("#include <overdub/pass/cse.hpp>\n", "#include <overdub/pass/count_operations.hpp>\n"),
       ('    named_pass{\n        "forget_derivatives"', PASS))
write("overdub/pass/count_operations.hpp", HEADER)
