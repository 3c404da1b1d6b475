#!/usr/bin/env python3
"""Fails when a heavy header is reachable from overdub.hpp, and prints the chain of includes that leads to it.

usage: light.py <compiler and flags>
"""
import re
import subprocess
import sys

HEAVY = re.compile(r"/boost/(hana\.hpp|graph/.*)$"
                   r"|/range/v3/"
                   r"|/fmt/"
                   r"|/(iostream|regex|thread|functional|map|unordered_map)$")

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
sys.exit(found)
