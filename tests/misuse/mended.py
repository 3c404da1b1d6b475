#!/usr/bin/env python3
"""Passes when each source of a folder compiles once mended, which is with -DOVERDUB_MENDED.

usage: mended.py <folder> <compiler and flags>

Most are compiled as one, each in a namespace of its own, which takes a fifth of the time. Where that fails, all are compiled
one by one, and the messages are those of the sources that do not compile.
"""
import glob
import os
import re
import subprocess
import sys

folder, *compiler = sys.argv[1:]
ALONE = re.compile(r"^(#(define|undef|error)|#if(def|ndef)? (?!OVERDUB_MENDED)|BOOST_HANA_|template <>|namespace (overdub|std)\b)", re.MULTILINE)


def compile_source(*source, **options):
    run = subprocess.run([*compiler, "-fsyntax-only", "-DOVERDUB_MENDED", "-x", "c++", *source], stdout=subprocess.PIPE,
                         stderr=subprocess.STDOUT, text=True, **options)
    return run.returncode == 0, run.stdout


includes, bodies, alone, together = {}, "", [], []
for path in sorted(glob.glob(os.path.join(folder, "*.cpp"))):
    with open(path, encoding="utf-8") as file:
        text = file.read()
    if ALONE.search(text):
        alone.append(path)
        continue
    together.append(path)
    includes.update(dict.fromkeys(re.findall(r"^#include .*$", text, re.MULTILINE)))
    bodies += f'namespace {os.path.splitext(os.path.basename(path))[0]} {{\n#include "{path}"\n}}\n'
if not compile_source("-", input="\n".join([*includes, bodies]))[0]:
    alone += together

failed = []
for path in alone:
    compiles, output = compile_source(path)
    if not compiles:
        failed.append(f"{os.path.basename(path)}: does not compile with -DOVERDUB_MENDED")
        print(output)
print(f"{len(together)} sources compiled as one, {len(alone)} alone")
sys.exit("\n".join(failed) or 0)
