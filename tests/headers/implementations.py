#!/usr/bin/env python3
"""Fails if a source of the library is in none of the headers src/*.hpp, or in two.

usage: implementations.py <src>
"""
import collections
import pathlib
import re
import sys

root = pathlib.Path(sys.argv[1])
others = {"jit", "lift", "overtrace", "sleef", "tools"}
sources = {str(path.relative_to(root)) for path in root.rglob("*.cpp") if path.relative_to(root).parts[0] not in others}
included = collections.Counter(
    name for header in root.glob("*.hpp")
    for name in re.findall(r"^#include <overdub/implementation/(.*\.cpp)>$", header.read_text(encoding="utf-8"), re.MULTILINE))

wrong = [f"{name}: in none of src/*.hpp" for name in sorted(sources - set(included))]
wrong += [f"{name}: there is no such file" for name in sorted(set(included) - sources)]
wrong += [f"{name}: included {count} times" for name, count in sorted(included.items()) if count > 1]
if not sources:
    wrong.append("there are no sources")
print(*wrong, sep="\n")
sys.exit(bool(wrong))
