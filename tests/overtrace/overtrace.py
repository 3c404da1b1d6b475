#!/usr/bin/env python3
"""Compiles ordinary programs with the flags of overdub-config, by g++ and by clang, runs them, and checks their traces.

usage: overtrace.py <overdub-config> <folder of sources> <folder for programs> <compiler and flags of overdub>
"""
import collections
import json
import os
import shutil
import subprocess
import sys

config, sources, folder, *overdub = sys.argv[1:]
os.makedirs(folder, exist_ok=True)
failures = []


def check(what, condition):
    if not condition:
        failures.append(what)


def run(command, **environment):
    try:
        done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **environment}, timeout=120)
    except subprocess.TimeoutExpired:
        sys.exit(f"{' '.join(command)} does not end")
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)} failed:\n{done.stdout}{done.stderr}")
    return done.stdout, done.stderr


def flags(compiler, *options):
    return run([config, "--trace", f"--compiler={compiler}", *options])[0].split()


def build(name, compiler, source, *options, extra=()):
    program = os.path.join(folder, name)
    run([*(extra or [compiler, "-std=c++20"]), *flags(compiler, *options), os.path.join(sources, source), "-pthread", "-o", program])
    return program


def plain(name):
    """The qualified name without parameters and the type of the result."""
    return name.split("(")[0].split("<")[0].split(" ")[-1]


def spans(path):
    """The number of spans by name, and of spans by the names of caller and callee. Checks that begins and ends are balanced."""
    with open(path, encoding="utf-8") as file:
        events = json.load(file)
    events = events["traceEvents"] if isinstance(events, dict) else events
    open_spans, names, edges = collections.defaultdict(list), collections.Counter(), collections.Counter()
    for e in events:
        if e["ph"] == "B":
            around = open_spans[e["tid"]]
            names[plain(e["name"])] += 1
            edges[plain(around[-1]["name"]) if around else "", plain(e["name"])] += 1
            around.append(e)
        elif e["ph"] == "E":
            check(f"{path}: an end without a begin", open_spans[e["tid"]])
            if open_spans[e["tid"]]:
                open_spans[e["tid"]].pop()
    check(f"{path}: spans without an end", not any(open_spans.values()))
    return names, edges


def record(program, *arguments, variable="OVERTRACE", **environment):
    path = program + ".json"
    if os.path.exists(path):
        os.remove(path)
    out, err = run([program, *arguments], **{variable: path}, **environment)
    check(f"{program} writes to stderr: {err}", not err)
    return out, *spans(path)


compilers = [overdub[0]]
clang = shutil.which("clang++-19") or shutil.which("clang++")
if clang and subprocess.run([config, "--trace", f"--compiler={clang}"], capture_output=True).returncode == 0:
    compilers.append(clang)
for compiler in compilers:
    base = os.path.basename(compiler)
    for level in ("-O0", "-O2"):
        program = build(f"{base}{level}", compiler, "application.cpp", extra=[compiler, "-std=c++20", level])
        out, names, edges = record(program)
        plainly = run([program])[0]
        check(f"{program}: the output differs without a recording", out == plainly)
        expected = {"main": 1, "scale": 2, "shapes::square::area": 1, "shapes::sum": 1, "fib": 15, "refuse": 4, "caught": 1, "jump": 1,
                    "jumped": 1, "work": 1}
        for name, count in expected.items():
            check(f"{program}: {names[name]} spans of {name}, and not {count}", names[name] == count)
        for edge in (("shapes::square::area", "scale"), ("caught", "refuse"), ("main", "jumped"), ("work", "fib"), ("", "main")):
            check(f"{program}: no span of {edge[1]} in {edge[0] or 'nothing'}", edges[edge] > 0)
        check(f"{program}: spans of the standard library", not any(n.startswith(("std::", "__gnu")) for n in names))
        # main goes on after the exception and the jump.
        check(f"{program}: calls after the jump are nested in it", edges["jump", "jumped"] == 0 and edges["main", "jumped"] == 1)
    names = record(program, OVERTRACE_ONLY="fib*;work*")[1]
    check(f"{base}: only: {names}", dict(names) == {"fib": 15, "work": 1})
    names = record(program, OVERTRACE_EXCEPT="fib*")[1]
    check(f"{base}: except", names["fib"] == 0 and names["work"] == 1)
    edges = record(program, OVERTRACE_DEPTH="1")[2]
    check(f"{base}: depth 1: {edges}", all(caller == "" for caller, _ in edges) and edges["", "main"] == 1)
    debug = build(f"{base}-g", compiler, "application.cpp", extra=[compiler, "-std=c++20", "-g"])
    names = record(debug, OVERTRACE_FILES="*/application.cpp")[1]
    check(f"{base}: files", names["main"] == 1)
    path = debug + ".other.json"
    err = run([debug], OVERTRACE=path, OVERTRACE_FILES="*/other.cpp")[1]
    check(f"{base}: other files", not spans(path)[0])
    check(f"{base}: an empty trace says: {err}", "overtrace: the trace has no calls, since no function that was called matches" in err)
    for form in ("folded", "svg", "speedscope.json", "json", "pftrace"):
        path = os.path.join(folder, f"{base}.last.{form}")
        err = run([program], OVERTRACE_LAST=path)[1]
        check(f"{program} with {path} writes to stderr: {err}", not err)
        check(f"{path} is empty", os.path.getsize(path) > 100)
    names, edges = record(program, OVERTRACE_DEPTH="1", OVERTRACE_EXCEPT="main")[1:]
    check(f"{base}: depth 1 without main: {edges}", all(caller == "" for caller, _ in edges) and names["caught"] == names["work"] == 1)
    err = run([program], OVERTRACE="/nowhere/trace.json")[1]
    check(f"{base}: a path that cannot be written: {err}", "overdub: " in err and "/nowhere/trace.json" in err)
    err = run([program], OVERTRACE=program + ".json", OVERTRACE_DEPTH="many")[1]
    check(f"{base}: a depth that is no number: {err}", "OVERTRACE_DEPTH is many" in err)
    path = os.path.join(folder, f"{base}.%p.json")
    run([program], OVERTRACE=path)
    check(f"{base}: %p", not os.path.exists(path))
    program = build(f"{base}-except", compiler, "application.cpp", "--except=fib" if compiler == overdub[0] else "--except=fib*")
    names = record(program)[1]
    check(f"{base}: --except", names["fib"] == 0 and names["work"] == 1)
    # Functions of shared objects that are unloaded, and of others that are loaded at their addresses.
    for name in ("alpha", "beta"):
        build(f"{base}-unloading.{name}.so", compiler, "library.cpp", extra=[compiler, "-fPIC", "-shared", f"-DNAME={name}"])
    program = build(f"{base}-unloading", compiler, "unloading.cpp")
    for keep in ([], ["keep"]):
        names = record(program, ".alpha.so", "alpha", ".beta.so", "beta", *keep)[1]
        check(f"{base}: shared objects: {keep} {names}", dict(names) == {"main": 1, "alpha": 1, "beta": 1})
    # First calls in signal handlers, which cannot wait for the allocator's lock.
    program = build(f"{base}-signals", compiler, "signals.cpp")
    for environment in ({}, {"OVERTRACE_EXCEPT": "*<1*"}):
        out, names, edges = record(program, **environment)
        left = sum(str(i).startswith("1") for i in range(250)) if environment else 0
        # Calls of a handler that interrupts a record are dropped.
        check(f"{base}: {environment} {names} spans of handlers", out == "250\n" and 200 - left < names["numbered"] <= 250 - left)
    for level in ("-O0", "-O2"):
        program = build(f"{base}-jumps{level}", compiler, "jumps.cpp", extra=[compiler, "-std=c++20", level])
        out, names, edges = record(program)
        for edge, count in {("main", "after"): 3, ("main", "recursion"): 1, ("main", "after_recursion"): 1, ("main", "last"): 5}.items():
            check(f"{program}: {edges[edge]} spans of {edge}, and not {count}", edges[edge] == count)
        check(f"{program}: {edges}", edges["recursion", "recursion"] == 2 and edges["tick", "tick"] == 0)
    program = build(f"{base}-ending", compiler, "ending.c", extra=[compiler.replace("clang++", "clang").replace("g++", "gcc")])
    edges = record(program)[2]
    check(f"{base}: threads after one that ended within a call: {edges}", edges["", "first"] == 1 and edges["", "second"] == 2)
    program = build(f"{base}-allocation", compiler, "allocation.cpp")
    names = record(program)[1]
    check(f"{base}: the library's allocations: {names}", dict(names) == {"main": 1, "once": 1, "often": 100000})
    names = record(program, variable="OVERTRACE_LAST", OVERTRACE_ONLY="once*")[1]
    check(f"{base}: the last records of a function that is chosen by name: {names}", dict(names) == {"once": 1})
    program = build(f"{base}-forking", compiler, "forking.cpp")
    out, names, edges = record(program)
    check(f"{base}: a handler of fork: {names}", out == "prepare\n" and names["work"] == 1 and "main" not in names)
    # Spans of contexts are in the same file.
    program = build(f"{base}-contexts", compiler, "contexts.cpp",
                    extra=[compiler, "-g", *overdub[1:]] if compiler == overdub[0] else
                    [compiler, "-g", *[f for f in overdub[1:] if not f.startswith("--param")]])
    out, names, edges = record(program)
    check(f"{base}: contexts: {names}", names["named"] == 1 and names["native"] == 1)
    check(f"{base}: spans of overdub: {names}", not any(n.startswith("overdub::") for n in names))
    # Without the environment, the program has a recording of its own: three begins and three ends, of the context, the lambda and the function.
    out = run([program, "record"])[0]
    check(f"{base}: a recording of the program: {out}", out.endswith("6 records\n"))
if len(compilers) == 2:
    program = build("only", clang, "application.cpp", "--only=fib*")
    check("clang: --only", set(record(program)[1]) == {"fib"})
print(*failures, f"{len(failures)} failures, {len(compilers)} compilers", sep="\n")
sys.exit(bool(failures))
