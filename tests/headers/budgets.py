#!/usr/bin/env python3
"""Fails when a unit of a client costs more than it may: lines to parse, functions to emit, time and memory of the compiler.

Time and memory are ratios to those of a unit that includes <iostream> and overdub.hpp, in the same run: the machine does not matter.

usage: budgets.py <compiler and flags>
"""
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
REFERENCE = "#include <iostream>\n#include <overdub/overdub.hpp>\nint main() { std::cout << 1; }\n"
REWRITTEN = """#include <overdub/contexts/forward.hpp>
#include <overdub/stage/evaluate.hpp>
struct counter : overdub::context {
  long calls = 0;
  void before(overdub::callee auto, auto const&...) { ++calls; }
};
overdub::ir::program rewrite(counter& c, overdub::ir::program const& p) {
  return overdub::overdub(overdub::compose(c, overdub::contexts::forward{}), p);
}
"""

# Lines after preprocessing, functions in the object at -O2, and time and memory over those of the reference. The time may be three times
# the measured one, and is measured again if it is exceeded: other processes compete for caches.
REWRITING = "a unit that rewrites programs in two contexts"
BUDGETS = {
    "g++": {
        "staging": (73_000, 300, 12, 4),
        "incremental": (101_000, 400, 18, 5),
        "reverse": (94_000, 400, 16, 4.5),
        "models": (104_000, 600, 32, 7),
        REWRITING: (72_000, 6_000, 36, 7),
    },
    "clang": {
        "staging": (73_000, 250, 10, 3),
        "incremental": (101_000, 320, 18, 4),
        "reverse": (94_000, 300, 14, 3.5),
        "models": (104_000, 500, 28, 5),
        REWRITING: (72_000, 4_000, 36, 5),
    },
}
ATTEMPTS = 4


def compile_unit(compiler, text, folder):
    """The lines, the functions, and the seconds and kilobytes that the compiler took."""
    unit, made = folder / "unit.cpp", folder / "unit.o"
    unit.write_text(text, encoding="utf-8")
    parsed = subprocess.run([*compiler, "-E", unit], check=True, capture_output=True, text=True).stdout
    lines = sum(1 for line in parsed.splitlines() if line.strip() and not line.startswith("#"))
    # A child's peak of memory is that of its largest descendant, and is reported once it has been waited for.
    measured = subprocess.run([sys.executable, "-c", "import resource, subprocess, sys\n"
                               "subprocess.run(sys.argv[1:], check=True)\n"
                               "used = resource.getrusage(resource.RUSAGE_CHILDREN)\n"
                               "print(used.ru_utime + used.ru_stime, used.ru_maxrss)",
                               *compiler, "-O2", "-c", unit, "-o", made], check=True, capture_output=True, text=True)
    seconds, kilobytes = map(float, measured.stdout.split())
    symbols = subprocess.run(["nm", "--defined-only", made], check=True, capture_output=True, text=True).stdout
    return lines, len(re.findall(r"^\S+ [tTwWu] ", symbols, re.MULTILINE)), seconds, kilobytes


def main():
    # Without the flags by which tests compile faster or find more errors.
    compiler = [a for a in sys.argv[1:] if not re.match(r"-O|-g|-f|-W|--param", a)] + [f"-I{ROOT / 'include'}"]
    version = subprocess.run([compiler[0], "--version"], check=True, capture_output=True, text=True).stdout
    units = {name: (REWRITTEN if name == REWRITING else (ROOT / "examples" / f"{name}.cpp").read_text(encoding="utf-8"), budget)
             for name, budget in BUDGETS["clang" if "clang" in version else "g++"].items()}
    failed = False
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for what, (text, budget) in units.items():
            for _ in range(ATTEMPTS):
                _, _, seconds, kilobytes = compile_unit(compiler, REFERENCE, folder)
                of_unit = compile_unit(compiler, text, folder)
                figures = of_unit[0], of_unit[1], of_unit[2] / seconds, of_unit[3] / kilobytes
                if figures[2] <= budget[2]:
                    break
            print(f"{what}: {figures[0]} lines, {figures[1]} functions, {figures[2]:.1f} times the time and "
                  f"{figures[3]:.1f} times the memory of a unit that includes overdub.hpp")
            for figure, most, kind in zip(figures, budget, ("lines", "functions", "time", "memory")):
                if figure > most:
                    failed = True
                    print(f"  {kind}: at most {most} is allowed (tests/headers/budgets.py)")
    return failed


if __name__ == "__main__":
    sys.exit(main())
