#!/usr/bin/env python3
"""Runs the demo with short chains, and checks its output and its page.

usage: demo.py <demo>
"""
import os
import re
import subprocess
import sys
import tempfile

with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "page.html")
    done = subprocess.run([sys.argv[1], "--length", "0.02", path], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    page = open(path, encoding="utf-8").read() if os.path.exists(path) else ""

print(done.stdout)
failures = [f"it returned {done.returncode}"] if done.returncode else []
if done.stderr:
    failures.append(f"where there is no terminal, it is quiet: {done.stderr[:500]}")
lines = [r"^Eight schools, by NUTS: \d+ draws in", r"^Old Faithful, by moves of one choice at a time: \d+ draws of 277 choices$",
         r"^Sleep, by NUTS: \d+ draws in", r"^/.*/page\.html has all of it"]
failures += [f"it does not say {line}" for line in lines if not re.search(line, done.stdout, re.MULTILINE)]
if len(re.findall(r"^  the draws are the same, to the last bit$", done.stdout, re.MULTILINE)) != 2:
    failures.append("moves in both ways have other draws")
for heading in ("Eight schools", "Old Faithful", "Sleep", "What was made"):
    if f"<h2>{heading}</h2>" not in page:
        failures.append(f"the page has no section {heading}")
# An assignment of 272 moves: one iteration of the map runs, and the sum changes by a difference.
if "map: one iteration\n" not in page or "reduce: updated by the difference\n" not in page:
    failures.append("the page does not say that one iteration of a map ran")
print("\n".join(failures) or "the demo is as it should be")
sys.exit(bool(failures))
