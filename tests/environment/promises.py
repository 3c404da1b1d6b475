#!/usr/bin/env python3
"""The requirements in README are tested: each row of their table names cells of scripts/matrix or another script, each cell
is named there, each compiler that the text names has a cell, and none is older than core/requirements.hpp accepts.

usage: promises.py <repository>
"""
import os
import re
import sys

os.chdir(sys.argv[1])
section = re.search(r"^### Requirements\n(.*?)^```", open("README.md").read(), re.MULTILINE | re.DOTALL)[1]
rows = [[column.strip() for column in line.strip("|").split("|")]
        for line in section.splitlines() if line.startswith("|") and not line.startswith("|---")][1:]
cells = set(re.findall(r"^  cell\w* (\S+) ", open("scripts/matrix").read(), re.MULTILINE))
guard = open("include/overdub/core/requirements.hpp").read()
faults = []

named = {cell for row in rows for cell in re.findall(r"`([^`]+)`", row[-1]) if not cell.startswith("scripts/")}
faults += [f"README names the cell {cell}, which scripts/matrix does not have" for cell in sorted(named - cells)]
faults += [f"scripts/matrix has the cell {cell}, which README does not name" for cell in sorted(cells - named)]
for row in rows:
    if not re.search("`", row[-1]):
        faults.append(f"the row of README {row[0]} names no cell")

promised = section.split("rejected")[0]
for name, older in (("g++", r"__GNUC__ < (\d+)"), ("clang", r"__clang_major__ < (\d+)")):
    least = int(re.search(older, guard)[1])
    text = re.search(re.escape(name) + r" (\d+)((?:,| and) \d+)*", promised)
    versions = [int(number) for number in re.findall(r"\d+", text[0])] if text else []
    faults += [f"README promises {name} {v}, which has no cell" for v in versions if f"{name}-{v}" not in cells]
    if not versions or min(versions) != least:
        faults.append(f"README promises {name} {versions}, and core/requirements.hpp accepts it from {least} on")

print(*faults, f"{len(rows)} rows, {len(cells)} cells, {len(faults)} faults", sep="\n")
sys.exit(bool(faults) or len(rows) < 3)
