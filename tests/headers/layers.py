#!/usr/bin/env python3
"""Fails if a header or a source includes one of a layer above its own, or opens a namespace of such a layer; and if a target of its own,
such as src/jit, includes files of a folder that its row does not list. The layers and the targets are the tables of docs/architecture.md.

usage: layers.py <docs/architecture.md> <include folder>
"""
import os
import re
import sys

page, include = sys.argv[1:]
names_in = lambda cell: re.findall(r"`(\w+)`", cell)
with open(page, encoding="utf-8") as file:
    text = file.read()
rows = re.findall(r"^\| (\d+) \| ([^|]+) \|([^|]*)\|", text, re.MULTILINE)
layer = {name: int(number) for number, names, _ in rows for name in names_in(names)}
spaces = {int(number): set(names_in(names)) for number, _, names in rows}
targets = {name: (set(names_in(names)), set(names_in(folders)))  # their namespaces, and the folders that they include
           for name, names, folders in re.findall(r"^\| `src/(\w+)` \|([^|]*)\|([^|]*)\|", text, re.MULTILINE)}
wrong = [] if [int(number) for number, _, _ in rows] == list(range(1, len(rows) + 1)) and rows else ["the table has no layers, or not in order"]
wrong += [] if targets else ["the page has no table of targets"]


def target(path):
    """The target of its own that a file belongs to; none for a file of a layer."""
    parts = path.split("/")
    return parts[2] if parts[1] == "implementation" and parts[2] in targets else None


def subject(path):
    """The folder of a file, or the name of a file that has none."""
    parts = path.split("/")
    return os.path.splitext(parts[2 if parts[1] == "implementation" and len(parts) > 2 else 1])[0]


def is_code(path):
    """Whether it is a header or a source, and no list of sources."""
    parts = path.split("/")
    return path.endswith((".hpp", ".cpp", ".def")) and not (parts[1] == "implementation" and len(parts) == 3 and path.endswith(".hpp"))


def includes_of(path, text):
    """The files of overdub that a file includes, by their paths below the include folder."""
    for bracket, name in re.findall(r"^ *#include ([<\"])([^>\"]+)[>\"]", text, re.MULTILINE):
        if bracket == '"':
            yield os.path.normpath(os.path.join(os.path.dirname(path), name))
        elif name.startswith("overdub/"):
            yield name


found, opened, used = set(), {number: set() for number in spaces}, {name: (set(), set()) for name in targets}
for folder, _, names in os.walk(os.path.join(include, "overdub"), followlinks=True):
    for name in sorted(names):
        path = os.path.relpath(os.path.join(folder, name), include)
        if not is_code(path):
            continue
        with open(os.path.join(include, path), encoding="utf-8") as file:
            text = file.read()
        own = target(path)
        if own is None:
            found.add(subject(path))
            if subject(path) not in layer:
                wrong.append(f"{path}: `{subject(path)}` is in no layer")
        if text.startswith("// Deprecated:"):  # the old name of another header
            continue
        here = layer.get(subject(path), 0)
        for space in set(re.findall(r"^namespace overdub::(\w+)", text, re.MULTILINE)) - {"detail"}:
            if own is not None:
                used[own][0].add(space)
            else:
                if here and not any(space in spaces[below] for below in range(1, here + 1)):
                    wrong.append(f"{path}: the namespace overdub::{space} is not one of layer {here}, or of a lower one")
                opened.get(here, set()).add(space)
        for included in includes_of(path, text):
            if target(included) != own and target(included) is not None:
                wrong.append(f"{path}: includes {included}, of the target src/{target(included)}")
            elif target(included) is None and own is not None:
                used[own][1].add(subject(included))
                if subject(included) not in targets[own][1]:
                    wrong.append(f"{path}: includes {included}, and the row of src/{own} has no `{subject(included)}`")
            elif own is None and layer.get(subject(included), 0) > here > 0:
                wrong.append(f"{path}: includes {included}, of layer {layer[subject(included)]}, and is in layer {here}")
wrong += [f"`{name}` is in the table, and there is no such folder or header" for name in sorted(set(layer) - found)]
wrong += [f"layer {number} has the namespace `{name}`, and no file opens it"
          for number, names in spaces.items() for name in sorted(names - opened[number])]
for name, (allowed, folders) in targets.items():
    wrong += [f"src/{name}: the namespace overdub::{space} is not in its row" for space in sorted(used[name][0] - allowed)]
    wrong += [f"src/{name}: its row has the namespace `{space}`, and no file opens it" for space in sorted(allowed - used[name][0])]
    wrong += [f"src/{name}: its row has `{folder}`, of which no file is included" for folder in sorted(folders - used[name][1])]
    wrong += [f"src/{name}: its row has `{folder}`, which is in no layer" for folder in sorted(folders - set(layer))]
print(*wrong, f"{len(found)} folders and headers in {len(rows)} layers, {len(targets)} targets", sep="\n")
sys.exit(bool(wrong))
