#!/usr/bin/env python3
"""Compares the x86-64 machine code of pairs of extern "C" functions in one source.

usage: machine_code.py <source> <objdump> <compiler and flags>

Lines of comment in the source list the comparisons:

    // same: a b              the same instructions, in the functions of this source that they call too
    // same_count: a b 1.1    b, with what it calls here, has at most 1.1 times the instructions of a

A claim for one compiler names it: `// same (clang): a b`, `// same_count (g++): a b 1.1`.

Names and addresses of functions, labels and constants of this source do not count; names of others, as sqrt, do.
"""
import itertools
import os
import re
import subprocess
import sys
import tempfile
from collections import namedtuple

Instruction = namedtuple("Instruction", "text callee")  # callee: the function of this source that it jumps to, or None

PADDING = re.compile(r"(cs |data16 |repz )*(nop[wl]?\b.*|xchg +%ax,%ax)$")


def read(listing):
    """objdump -dr as {function: [Instruction]}."""
    raw, starts = {}, {}  # function: [[address, text, relocation]], section: [(address, function)]
    section = function = None
    for line in listing.splitlines():
        if match := re.match(r"Disassembly of section (.+):$", line):
            section = match[1]
        elif match := re.match(r"([0-9a-f]+) <(.+)>:$", line):
            function = match[2]
            raw[function] = []
            starts.setdefault(section, []).append((int(match[1], 16), function))
        elif match := re.match(r"\s+[0-9a-f]+: R_X86_64_\w+\s+(.+)$", line):
            raw[function][-1][2] = match[1]
        elif match := re.match(r"\s+([0-9a-f]+):\s+(.+?)\s*$", line):
            raw[function].append([int(match[1], 16), match[2], None])

    def owner(relocation):
        """The function of this source that a relocation names, directly or as a place in a section."""
        symbol, sign, offset = re.match(r"(.+?)(?:([+-])0x([0-9a-f]+))?$", relocation).groups()
        if symbol in raw:
            return symbol
        place = int((sign or "+") + (offset or "0"), 16) + 4  # relative to the end of the instruction
        return max((start for start in starts.get(symbol, []) if start[0] <= place), default=(0, None))[1]

    functions = {}
    for name, code in raw.items():
        code = [line for line in code if not PADDING.match(line[1])]
        index = {address: number for number, (address, _, _) in enumerate(code)}
        functions[name] = []
        for _, line, relocation in code:
            text, callee = re.sub(r"\s*#.*| +<.*>$", "", line), None
            branch = re.match(r"((?:bnd |notrack )?(?:call|j\w+)) +([0-9a-f]+)$", text)
            if branch and relocation:
                callee = owner(relocation)
                text = f"{branch[1]} {'<here>' if callee else re.sub(r'[+-]0x.*', '', relocation)}"
            elif branch and int(branch[2], 16) in index and not branch[1].endswith("call"):
                text = f"{branch[1]} #{index[int(branch[2], 16)]}"
            elif branch:
                callee, text = re.search(r"<([^>+]+)", line)[1], f"{branch[1]} <here>"
            elif relocation:
                text = re.sub(r"\$0x[0-9a-f]+|0x[0-9a-f]+(?=\()", "<data>", text, count=1)
            functions[name].append(Instruction(re.sub(r"\s+", " ", text), callee))
    return functions


def differing(functions, a, b, assumed):
    """The first pair of functions, beginning with a and b, that are not the same; None when all are."""
    if (a, b) in assumed:
        return None
    assumed.add((a, b))
    if [line.text for line in functions[a]] != [line.text for line in functions[b]]:
        return a, b
    for left, right in zip(functions[a], functions[b]):
        if left.callee and right.callee and (pair := differing(functions, left.callee, right.callee, assumed)):
            return pair
    return None


def reachable(functions, name, found):
    if name not in found:
        found.add(name)
        for callee in {line.callee for line in functions[name]} - {None}:
            reachable(functions, callee, found)
    return found


def print_beside(functions, a, b):
    rows = itertools.zip_longest((line.text for line in functions[a]), (line.text for line in functions[b]), fillvalue="")
    print(f"  {a[:46]:48} {b}")
    for left, right in rows:
        print(f"{' ' if left == right else '*'} {left:48} {right}")


source, objdump, compiler = sys.argv[1], sys.argv[2], sys.argv[3:]
with open(source, encoding="utf-8") as file:
    text = file.read()
other = "g++" if "clang" in os.path.basename(compiler[0]) else "clang"
claims = [claim for claim in re.findall(r"^// same.*$", text, re.MULTILINE) if f"({other})" not in claim]
claims = [re.sub(r" \((g\+\+|clang)\)", "", claim) for claim in claims]
pairs = [match.groups() for claim in claims if (match := re.fullmatch(r"// same: (\w+) (\w+)", claim))]
counts = [match.groups() for claim in claims if (match := re.fullmatch(r"// same_count: (\w+) (\w+) ([0-9.]+)", claim))]
if not claims or len(claims) != len(pairs) + len(counts):
    sys.exit("expected lines `// same: a b` or `// same_count: a b 1.1`")

with tempfile.TemporaryDirectory() as folder:
    object_file = os.path.join(folder, "code.o")
    subprocess.run([*compiler, "-c", source, "-o", object_file], check=True)
    functions = read(subprocess.run([objdump, "-dr", "--no-show-raw-insn", object_file],
                                    check=True, capture_output=True, text=True).stdout)

missing = {name for pair in [*pairs, *(count[:2] for count in counts)] for name in pair} - functions.keys()
if missing:
    sys.exit("not in the object file: " + ", ".join(sorted(missing)))

failed = False
for a, b in pairs:
    if pair := differing(functions, a, b, set()):
        failed = True
        print(f"{a} and {b} are not the same:")
        print_beside(functions, *pair)
    else:
        print(f"{a} and {b} are the same, {len(functions[a])} instructions")
for a, b, limit in counts:
    lengths = [sum(len(functions[name]) for name in reachable(functions, f, set())) for f in (a, b)]
    print(f"{b} has {lengths[1]} instructions, {a} has {lengths[0]}, the limit is {limit} times as many")
    if lengths[1] > float(limit) * lengths[0]:
        failed = True
        print_beside(functions, a, b)
sys.exit(failed)
