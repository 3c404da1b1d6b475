#!/usr/bin/env python3
"""overdub-opt in a process whose locale has a decimal comma prints and reads the same as in the C locale.

usage: CXX=<C++ compiler> decimal_comma.py <overdub-opt>
"""
import os
import subprocess
import sys
import tempfile

tool, compiler = os.path.abspath(sys.argv[1]), os.environ.get("CXX", "c++")

PROGRAM = """\
func @f(%x: f64) -> f64 {
  %a = mul %x, 1234567.25 : f64
  %b = add %a, 1e-05 : f64
  return %b
}

func @many(%n: i64) -> f64[] {
  %r = map %n (%i: i64) -> f64 {
    %x = convert %i : f64
    yield %x
  }
  return %r
}
"""
TEST = """\
; test: run

func @f(%x: f64) -> f64 {
  %a = mul %x, 1234567.25 : f64
  return %a
}
; run: @f(0.5) == 617283.625
"""
# The locale that a program with the tool's functions may have set: on loading, since the tool itself sets none.
PRELOADED = """\
#include <clocale>
#include <iostream>
#include <locale>
struct german : std::numpunct<char> {
  char do_decimal_point() const override { return ','; }
  char do_thousands_sep() const override { return '.'; }
  std::string do_grouping() const override { return "\\3"; }
};
static std::ios_base::Init streams;
static int const set = [] {
  std::locale const all(std::locale(""), new german);
  std::locale::global(all);
  for (std::ios* s : {static_cast<std::ios*>(&std::cout), static_cast<std::ios*>(&std::cerr), static_cast<std::ios*>(&std::cin)})
    s->imbue(all);
  std::setlocale(LC_ALL, "");
  char text[20];
  std::snprintf(text, sizeof text, "%.1f", 1.5);
  if (std::getenv("OVERDUB_TEST_PROOF")) std::cout << text << ' ' << 1234.5 << std::endl;
  return 0;
}();
"""

with tempfile.TemporaryDirectory() as folder:
    def run(*words, text="", env=None):
        done = subprocess.run([tool, *words], input=text, text=True, capture_output=True,
                              # glibc's list of the folders of LOCPATH is no leak of the tool.
                              env={**os.environ, "LC_ALL": "C", "ASAN_OPTIONS": "detect_leaks=0", **(env or {})},
                              cwd=folder)
        return done.returncode, done.stdout, done.stderr

    def must(*command):
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            sys.exit(f"{' '.join(command)}: {done.stdout}{done.stderr}")

    must("localedef", "-i", "de_DE", "-f", "UTF-8", f"{folder}/de_DE.utf8")
    source, library = f"{folder}/german.cpp", f"{folder}/german.so"
    with open(source, "w") as file:
        file.write(PRELOADED)
    must(compiler, "-std=c++20", "-shared", "-fPIC", "-include", "cstdio", "-include", "cstdlib", source, "-o", library)
    with open(f"{folder}/test.od", "w") as file:
        file.write(TEST)
    german = {"LC_ALL": "de_DE.utf8", "LOCPATH": folder, "LD_PRELOAD": library}

    proof = run("--version", env={**german, "OVERDUB_TEST_PROOF": "1"})
    if not proof[1].startswith("1,5 1.234,5\n"):
        sys.exit(f"the locale has no decimal comma: {proof}")
    lines = [["--print"], ["--places"], ["--pipeline"], ["--dot"], ["--dot", "--graph", "@f"],
             ["--run", "@f(1234.5)"], ["--run", "@f(1,5)"], ["--run", "@many(3000)"], ["--list"],
             ["--pass", "fold", "--run", "@f(2.5)", "--executor", "all"], ["--svg", "--graph", "@f"],
             ["--context", "count", "--run", "@many(3000)"], ["--test", "test.od"], ["--pass", "nothing"]]
    for words in lines[:8]:
        if run(*words, text=PROGRAM)[0] != (3 if "@f(1,5)" in words else 0):
            sys.exit(f"{words}: {run(*words, text=PROGRAM)}")
    wrong = [words for words in lines if run(*words, text=PROGRAM) != run(*words, text=PROGRAM, env=german)]
    for words in wrong:
        print(" ".join(words), run(*words, text=PROGRAM), run(*words, text=PROGRAM, env=german), sep="\n")
    times = [[len(line) for line in run("--pipeline", "--time", text=PROGRAM, env=env)[1].splitlines()]
             for env in ({}, german)]
    if times[0] != times[1] or "," in run("--pipeline", "--time", text=PROGRAM, env=german)[1]:
        wrong.append("--time")
        print("the table of times", times)
    sys.exit(1 if wrong else 0)
