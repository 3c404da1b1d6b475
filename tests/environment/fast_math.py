#!/usr/bin/env python3
"""With a flag for inexact arithmetic, overdub prints one warning, or none if OVERDUB_ALLOW_FAST_MATH is defined, and the program,
which links the library, still detects numbers that are not finite.

usage: fast_math.py <source> <library> <flag> <compiler and its arguments>
"""
import os
import subprocess
import sys
import tempfile

source, library, flag, *compiler = sys.argv[1:]
compiler += ["-Wno-unknown-warning-option", "-Wno-nan-infinity-disabled"]  # clang's own warning of each constant that is infinite
with tempfile.TemporaryDirectory() as folder:
    program = os.path.join(folder, "program")
    warned = subprocess.run([*compiler, flag, "-fsyntax-only", source], capture_output=True, text=True)
    if warned.returncode or warned.stderr.count("warning: overdub: this unit is compiled with -ffast-math") != 1:
        sys.exit(f"one warning was expected:\n{warned.stderr}")
    built = subprocess.run([*compiler, flag, "-O2", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-DOVERDUB_ALLOW_FAST_MATH", source,
                            library, "-pthread", "-o", program], capture_output=True, text=True)
    if built.returncode or built.stderr:
        sys.exit(built.stderr or "the compiler failed")
    sys.exit(subprocess.run([program], timeout=100).returncode)
