#!/usr/bin/env python3
"""Fails if a number is written or read by a function that depends on the program's locale; overdub/io/number_text.hpp does not.

usage: numbers.py <folder>...
"""
import pathlib
import re
import sys

# Formats of printf are allowed in `message` alone, which formats in the C locale.
FOLLOWS_LOCALE = re.compile(r"\b(v?s?n?printf|setprecision|setfill|sto(d|f|ld)|strto(d|f|ld)|atof|lexical_cast|istringstream)\b"
                            r"|\bstd::v?format(_to)?\b")
ALLOWED = {"include/overdub/core/error.hpp"}

wrong = []
for folder in sys.argv[1:]:
    for path in sorted(pathlib.Path(folder).rglob("*")):
        if path.suffix not in (".hpp", ".cpp") or str(path) in ALLOWED or path.is_symlink():
            continue
        for number, line in enumerate(path.read_text().splitlines(), 1):
            code = line.split("//")[0]
            if FOLLOWS_LOCALE.search(code):
                wrong.append(f"{path}:{number}: {line.strip()}")
if wrong:
    print("numbers follow the program's locale here; write and read them by overdub/io/number_text.hpp:", *wrong, sep="\n  ")
sys.exit(1 if wrong else 0)
