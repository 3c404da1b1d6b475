#!/usr/bin/env python3
"""Passes when each source does not compile, for the reason that it states.

usage: misuse.py <source>... -- <compiler and flags>

A source begins with one or more lines `// expect: <regular expression>`. The compiler's output must match each of them, in at most 6 lines
of errors. The first error must match a line `// expect first: <regular expression>`. With -DOVERDUB_MENDED the source must compile, which mended.py checks.

Several sources are compiled as one, which takes a fourth of the time. A source whose part of the output does not match is compiled
alone: an error of a template is printed once, for the source that comes first.
"""
import os
import re
import subprocess
import sys

import sources

MOST_ERRORS = 6

separator = sys.argv.index("--")
paths, compiler = sys.argv[1:separator], sys.argv[separator + 1:]


def compile_source(*arguments, **options):
    """Whether it compiles, and the output."""
    run = subprocess.run([*compiler, "-fsyntax-only", "-x", "c++", *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                         text=True, env={**os.environ, "LC_ALL": "C"}, **options)
    return run.returncode == 0, run.stdout


def failures_of(path, output):
    failures = []
    expected = re.findall(r"^// expect: *(.+?) *$", sources.read(path), re.MULTILINE)
    first = re.findall(r"^// expect first: *(.+?) *$", sources.read(path), re.MULTILINE)
    if not expected and not first:
        failures.append("has no line `// expect: <regular expression>`")
    errors = len(re.findall(r"error:", output))
    if errors == 0:
        failures.append("compiles, and must not")
    for pattern in expected:
        if not re.search(pattern, output):
            failures.append(f"no message matches: {pattern}")
    for pattern in first:
        if errors and not re.search(pattern, re.search(r"error:.*", output)[0]):
            failures.append(f"the first error does not match: {pattern}")
    if errors > MOST_ERRORS:
        failures.append(f"{errors} lines of errors, and at most {MOST_ERRORS} are allowed")
    return failures


def output_of_each(paths, output):
    """The output, divided among the sources: a message belongs to the source that it names, and to none if it names several."""
    # g++ says first what instantiated a template, and clang after the error.
    first = r"^(?=\S+: (?:fatal )?error: )" if is_clang else r"^(?=In file included from |\S+: (?:In|At) )"
    parts = dict.fromkeys(paths, "")
    for message in re.split(first, output, flags=re.MULTILINE):
        named = [path for path in paths if path in message]
        if len(named) == 1:
            parts[named[0]] += message
    return parts


is_clang = "clang" in os.path.basename(compiler[0])
together = [path for path in paths if not sources.stands_alone(path)]
parts = {}
if len(together) > 1:
    limit = ["-ferror-limit=0"] if is_clang else []
    parts = output_of_each(together, compile_source(*limit, "-", input=sources.as_one(together))[1])

failed, alone = [], []
for path in paths:
    if path in parts and not failures_of(path, parts[path]):
        continue
    alone.append(sources.name_of(path))
    compiles, output = compile_source(path)
    failures = failures_of(path, output)
    if compiles and not failures:
        failures = ["compiles, and must not"]
    if failures:
        print(output)
    failed += [f"{os.path.basename(path)}: {failure}" for failure in failures]
print(f"{len(paths)} sources, compiled alone: {' '.join(alone) or 'none'}")
sys.exit("\n".join(failed) or 0)
