#!/usr/bin/env python3
"""Passes when each source of a folder compiles once mended, which is with -DOVERDUB_MENDED.

usage: mended.py <folder> <compiler and flags>

Most are compiled as one, which takes a fifth of the time. If that fails, all are compiled separately, and the messages are those of the
sources that do not compile.
"""
import glob
import os
import subprocess
import sys

import sources

folder, *compiler = sys.argv[1:]


def compile_source(*source, **options):
    run = subprocess.run([*compiler, "-fsyntax-only", "-DOVERDUB_MENDED", "-x", "c++", *source], stdout=subprocess.PIPE,
                         stderr=subprocess.STDOUT, text=True, **options)
    return run.returncode == 0, run.stdout


paths = sorted(glob.glob(os.path.join(folder, "*.cpp")))
alone = [path for path in paths if sources.stands_alone(path)]
together = [path for path in paths if path not in alone]
if not compile_source("-", input=sources.as_one(together))[0]:
    alone += together

failed = []
for path in alone:
    compiles, output = compile_source(path)
    if not compiles:
        failed.append(f"{os.path.basename(path)}: does not compile with -DOVERDUB_MENDED")
        print(output)
print(f"{len(together)} sources compiled as one, {len(alone)} alone")
sys.exit("\n".join(failed) or 0)
