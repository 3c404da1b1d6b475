#!/usr/bin/env python3
"""Fails if a header or a source includes one of a layer above its own, or opens a namespace of such a layer. The layers are the table of
docs/architecture.md.

usage: layers.py <docs/architecture.md> <include folder>
"""
import os
import re
import sys

page, include = sys.argv[1:]
with open(page, encoding="utf-8") as file:
    rows = re.findall(r"^\| (\d+) \| ([^|]+) \|([^|]*)\|", file.read(), re.MULTILINE)
layer = {name: int(number) for number, names, _ in rows for name in re.findall(r"`(\w+)`", names)}
spaces = {int(number): set(re.findall(r"`(\w+)`", names)) for number, _, names in rows}
wrong = [] if [int(number) for number, _, _ in rows] == list(range(1, len(rows) + 1)) and rows else ["the table has no layers, or not in order"]


def subject(path):
    """The folder of a file, or the name of a file that has none."""
    parts = path.split("/")
    return os.path.splitext(parts[2 if parts[1] == "implementation" and len(parts) > 2 else 1])[0]


def has_layer(path):
    """Whether it is a header or a source of a layer: not of another target, nor a list of sources."""
    parts = path.split("/")
    return path.endswith((".hpp", ".cpp", ".def")) and not (
        parts[1] == "implementation" and (parts[2] in ("jit", "lift", "overtrace", "sleef", "tools") or (len(parts) == 3 and path.endswith(".hpp"))))


found, opened = set(), {number: set() for number in spaces}
for folder, _, names in os.walk(os.path.join(include, "overdub"), followlinks=True):
    for name in sorted(names):
        path = os.path.relpath(os.path.join(folder, name), include)
        if not has_layer(path):
            continue
        with open(os.path.join(include, path), encoding="utf-8") as file:
            text = file.read()
        found.add(subject(path))
        if subject(path) not in layer:
            wrong.append(f"{path}: `{subject(path)}` is in no layer")
        if text.startswith("// Deprecated:"):  # the old name of another header
            continue
        here = layer.get(subject(path), 0)
        for space in set(re.findall(r"^namespace overdub::(\w+)", text, re.MULTILINE)) - {"detail"}:
            if here and not any(space in spaces[below] for below in range(1, here + 1)):
                wrong.append(f"{path}: the namespace overdub::{space} is not one of layer {here}, or of a lower one")
            opened.get(here, set()).add(space)
        for included in re.findall(r"^#include <(overdub/[^>]+)>", text, re.MULTILINE):
            above, below = layer.get(subject(included)), layer.get(subject(path))
            if above is not None and below is not None and above > below:
                wrong.append(f"{path}: includes {included}, of layer {above}, and is in layer {below}")
wrong += [f"`{name}` is in the table, and there is no such folder or header" for name in sorted(set(layer) - found)]
wrong += [f"layer {number} has the namespace `{name}`, and no file opens it"
          for number, names in spaces.items() for name in sorted(names - opened[number])]
print(*wrong, f"{len(found)} folders and headers in {len(rows)} layers", sep="\n")
sys.exit(bool(wrong))
