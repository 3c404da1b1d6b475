#!/usr/bin/env python3
"""Fails when a file has more lines than the limit.

usage: length.py <limit> <file>...
"""
import sys

limit, failed = int(sys.argv[1]), False
for path in sys.argv[2:]:
    with open(path, encoding="utf-8") as file:
        lines = sum(1 for _ in file)
    if lines > limit:
        failed = True
        print(f"{path}: {lines} lines, more than {limit}")
sys.exit(failed)
