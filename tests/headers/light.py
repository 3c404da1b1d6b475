#!/usr/bin/env python3
"""Fails when a heavy header is reachable from overdub.hpp, and prints the chain of includes that leads to it; and when a public header
includes what sources alone include.

usage: light.py <compiler and flags>
"""
import pathlib
import re
import subprocess
import sys

HEAVY = re.compile(r"/boost/(hana\.hpp|graph/.*)$"
                   r"|/range/v3/"
                   r"|/fmt/"
                   r"|/(iostream|regex|thread|functional|map|unordered_map)$")

# What no public header includes: its containers, locks, clocks and generators are in sources. core/mutex.hpp has a lock. Contexts of direct
# runs, which need headers alone, are free to.
OF_SOURCES = re.compile(r"#include <((?:tsl|boost/math|Random123|range/v3|llvm|Eigen)/[^>]*"
                        r"|mutex|shared_mutex|condition_variable|future|chrono|ranges|iostream|regex|thread)>")
# The header of dense metrics is for programs that have Eigen, and the others begin threads.
EXCEPTIONS = {"inference/dense_metric.hpp": "Eigen/", "control/parallel.hpp": "thread", "call/thread_without_signals.hpp": "thread"}

# -H prints a line for each file that is read: a dot for each level of nesting, and the path.
run = subprocess.run([*sys.argv[1:], "-H", "-fsyntax-only", "-x", "c++", "-"],
                     input="#include <overdub/overdub.hpp>\n", capture_output=True, text=True)
includes = re.findall(r"^(\.+) (.+)$", run.stderr, re.MULTILINE)
if run.returncode or not includes:
    sys.exit(re.sub(r"^\.+ .*\n", "", run.stderr, flags=re.MULTILINE) or "the compiler listed no includes")

chain, found = [], False
for dots, path in includes:
    chain[len(dots) - 1:] = [path]
    if HEAVY.search(path):
        found = True
        print("\n  includes ".join(["overdub.hpp reaches a heavy header:"] + chain))
print(f"{len(includes)} headers")

public = pathlib.Path(__file__).resolve().parent.parent.parent / "include" / "overdub"
headers = [path for path in public.rglob("*.hpp") if path.relative_to(public).parts[0] not in ("contexts", "implementation")]
for path in headers:
    name = str(path.relative_to(public))
    for included in OF_SOURCES.findall(path.read_text(encoding="utf-8")):
        if not included.startswith(EXCEPTIONS.get(name, ">")):
            found = True
            print(f"overdub/{name} includes <{included}>, which is for sources: declare in the header, and define in src/")
print(f"{len(headers)} public headers")
sys.exit(found)
