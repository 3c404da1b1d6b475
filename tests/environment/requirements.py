#!/usr/bin/env python3
"""In a unit with unsupported flags, one message of overdub is the first error and ends the compilation:
each header reads core/requirements.hpp before all else, and the headers that users include are compiled in such units.

usage: requirements.py <include folder> <the compiler> [compilers that are too old...]
"""
import os
import re
import subprocess
import sys

GUARD = "overdub/core/requirements.hpp"
include, compiler, *too_old = sys.argv[1:]
headers = sorted(os.path.relpath(os.path.join(folder, name), include)
                 for folder, _, names in os.walk(include, followlinks=True)
                 for name in names if name.endswith(".hpp"))
# These belong to libraries of their own, and no user includes them.
headers = [header for header in headers if not re.match("overdub/implementation/(jit|lift|overtrace|sleef|tools)/", header)]
failures = []


def begins_with(header):
    """The first header that this one includes, or None."""
    with open(os.path.join(include, header)) as text:
        found = re.search(r"^\s*#\s*include\s*[<\"]([^>\"]+)", text.read(), re.MULTILINE)
    return found and found[1]


for header in headers:
    first = header
    while first and first != GUARD and first.startswith("overdub/"):
        first = begins_with(first)
    if first != GUARD:
        failures.append(f"{header} includes {first} before {GUARD}")

refusals = [([compiler, "-std=c++17"], r"older than C\+\+20; add -std=c\+\+20"),
            ([compiler, "-std=c++20", "-fno-exceptions"], r"-fno-exceptions; .* compile it with -fexceptions")]
refusals += [([old, "-std=c++20"], r"this clang is too old; use clang 16") for old in too_old]
users = [header for header in headers if re.fullmatch(r"overdub/\w+\.hpp|overdub/contexts/[a-m]\w*\.hpp", header)]
for command, sentence in refusals:
    for header in users:
        run = subprocess.run([*command, f"-I{include}", "-fsyntax-only", "-x", "c++", "-"],
                             input=f"#include <{header}>\n", capture_output=True, text=True)
        errors = [line for line in run.stderr.splitlines() if re.search(r"error: ", line)]
        if (run.returncode == 0 or len(errors) != 2 or not re.search("overdub: .*" + sentence, errors[0])
                or "the error above ends this compilation" not in errors[1]):
            failures.append("\n  ".join([f"{' '.join(command)}: {header}:", *run.stderr.splitlines()[:8]]))
print(*failures[:10], sep="\n")
print(f"{len(headers)} headers, {len(refusals)} ways to compile {len(users)} of them, {len(failures)} failures")
sys.exit(len(failures) > 0 or len(users) < 5)
