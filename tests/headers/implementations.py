#!/usr/bin/env python3
"""Fails where an .ipp is in none of the headers of implementation/, or in two.

usage: implementations.py <include/overdub>
"""
import collections
import os
import pathlib
import re
import sys

root = pathlib.Path(sys.argv[1])
sources = {str((pathlib.Path(folder) / name).relative_to(root.parent))
           for folder, _, names in os.walk(root, followlinks=True) for name in names if name.endswith(".ipp")}
included = collections.Counter(
    name for header in (root / "implementation").glob("*.hpp")
    for name in re.findall(r"^#include <(overdub/.*\.ipp)>$", header.read_text(encoding="utf-8"), re.MULTILINE))

wrong = [f"{name}: in none of include/overdub/implementation/*.hpp" for name in sorted(sources - set(included))]
wrong += [f"{name}: there is no such file" for name in sorted(set(included) - sources)]
wrong += [f"{name}: included {count} times" for name, count in sorted(included.items()) if count > 1]
if not sources:
    wrong.append("there are no sources")
print(*wrong, sep="\n")
sys.exit(bool(wrong))
