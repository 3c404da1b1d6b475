#!/usr/bin/env python3
"""Passes when a source does not compile for the reason that it states.

usage: misuse.py <source> <compiler and flags>

The source begins with one or more lines `// expect: <regular expression>`. The compiler's output must match each of
them, in at most 6 lines of errors. With -DOVERDUB_MENDED the source must compile, which mended.py looks at.
"""
import os
import re
import subprocess
import sys

MOST_ERRORS = 6

source, *compiler = sys.argv[1:]
failures = []

with open(source, encoding="utf-8") as file:
    expected = re.findall(r"^// expect: *(.+?) *$", file.read(), re.MULTILINE)
if not expected:
    failures.append("has no line `// expect: <regular expression>`")

run = subprocess.run([*compiler, "-fsyntax-only", source], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                     env={**os.environ, "LC_ALL": "C"})
output = run.stdout
errors = len(re.findall(r"error:", output))
print(f"{errors} lines of errors")
if run.returncode == 0:
    failures.append("compiles, and must not")
for pattern in expected:
    if not re.search(pattern, output):
        failures.append(f"no message matches: {pattern}")
if errors > MOST_ERRORS:
    failures.append(f"more than {MOST_ERRORS} lines of errors")
if failures:
    print(output)

sys.exit("\n".join(f"{os.path.basename(source)}: {failure}" for failure in failures) or 0)
