#!/usr/bin/env python3
"""Checks one page of documentation. Run it in the root of the repository.

usage: docs.py <page.md> <compiler and flags>

- A ```cpp block with a main function is compiled and run. When the next block of the page is ```text, the program's
  output must equal it.
- A ```cpp block without one is compiled after a prelude that includes overdub.hpp, and the contexts that it names.
- A ```cpp continued block is compiled with the ```cpp block before it, and those that continue it, in front.
  Several programs of a page are compiled as one, each in its own namespace, which takes half of the time; if that
  fails, or the output of one is wrong, they are compiled separately.
- An ```od FILE block is a program in the folder in which the page's ```console blocks are run. A line `$ overdub-opt ...`
  of those is run by the shell, and must print the lines after it, errors included. Commands that need a context are skipped if
  overdub-opt was built without it, and all commands without overdub-opt (OVERDUB_OPT in the environment).
- A ```cpp FILE block must equal the file, which is compiled and run as an example.
- The scripts that ```sh blocks name, and the files that links name, must exist.
- A message quoted as `overdub: ...` must be in a header.
"""
import difflib
import glob
import os
import re
import shlex
import subprocess
import sys
import tempfile

HEADERS = {  # by the name that a block uses
    os.path.splitext(os.path.basename(path))[0]: os.path.relpath(path, "include/overdub")
    for path in sorted(glob.glob("include/overdub/*.hpp") + glob.glob("include/overdub/contexts/*.hpp"))
    if os.path.basename(path) not in ("overdub.hpp", "version.hpp")
}
MOST_PROGRAMS = 8  # that are compiled as one
WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wshadow", "-Werror", "-Wno-unused"]

page, compiler = sys.argv[1], sys.argv[2:]
library = os.environ["OVERDUB_LIBRARY"]
linker = os.environ.get("OVERDUB_LINKER", "").split()  # the option that names the linker, if any
name = os.path.relpath(page)
failed = False


def fail(line, *messages):
    global failed
    failed = True
    print(f"{name}:{line}: " + "\n".join(messages))


def blocks(text):
    """The fenced blocks of a page as (line number of the first line inside, info string, contents)."""
    found = []
    for match in re.finditer(r"^( *)```([^`\n]*)\n(.*?)^ *```", text, re.MULTILINE | re.DOTALL):
        line = text.count("\n", 0, match.start()) + 2
        found.append((line, match[2].strip(), re.sub(f"^{match[1]}", "", match[3], flags=re.MULTILINE)))
    return found


def compile_block(source, *flags):
    return subprocess.run([*compiler, *WARNINGS, *flags, "-x", "c++", "-"], input=source, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)


def libraries_of(source):
    """What a program is linked with; nothing, where that is not built."""
    # Programs with machine code are linked with overdub::jit (OVERDUB_JIT in the environment), if it is built.
    libraries = [library]
    if "#include <overdub/jit/" in source:
        if not os.environ.get("OVERDUB_JIT"):
            return None
        libraries = os.environ["OVERDUB_JIT"].split() + libraries
    # So are programs that lift bitcode with overdub::lift (OVERDUB_LIFT).
    if "#include <overdub/lift.hpp>" in source:
        if not os.environ.get("OVERDUB_LIFT"):
            return None
        libraries = os.environ["OVERDUB_LIFT"].split() + libraries
    # So are consistent programs with overdub::sleef (OVERDUB_SLEEF).
    if "math_mode::consistent" in source:
        if not os.environ.get("OVERDUB_SLEEF"):
            return None
        libraries = ["-Wl,-u,overdub_sleef", *os.environ["OVERDUB_SLEEF"].split(), *libraries]
    return libraries


def compile_program(source, libraries, program):
    compiled = compile_block(source, "-O0", "-c", "-o", program + ".o")
    if compiled.returncode:
        return compiled
    return subprocess.run([*compiler, program + ".o", *libraries, "-pthread", *linker, "-o", program],
                          text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)


def run_program(*command):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def check_program(line, source, expected):
    libraries = libraries_of(source)
    if libraries is None:
        return check_declarations(line, source)
    with tempfile.TemporaryDirectory() as folder:
        program = os.path.join(folder, "program")
        compiled = compile_program(source, libraries, program)
        if compiled.returncode:
            return fail(line, "the program does not compile", compiled.stdout)
        run = run_program(program)
    if run.returncode:
        fail(line, f"the program returned {run.returncode}", run.stdout, run.stderr)
    if expected is not None and run.stdout != expected:
        fail(line, "the program's output is not what the page says",
             *difflib.unified_diff(expected.splitlines(), run.stdout.splitlines(), "the page", "the program", lineterm=""))


def as_one(sources):
    """One program of several, which runs that whose number it is given; nothing, where one is not made for that."""
    includes, bodies, cases = {}, "", ""
    for number, source in enumerate(sources):
        body, mains = re.subn(r"^int main\(\) \{\n(.*?)^\}$", r"int run() {\n\1return 0; }", source, flags=re.MULTILINE | re.DOTALL)
        if mains != 1 or re.search(r"^(#(define|if|undef)|BOOST_HANA_|namespace (overdub|std)\b)", source, re.MULTILINE):
            return None
        includes.update(dict.fromkeys(re.findall(r"^#include .*$", body, re.MULTILINE)))
        body = re.sub(r"^#include .*$", "", body, flags=re.MULTILINE)
        bodies += f"namespace block_{number} {{\n{body}\n}}\n"
        cases += f"  case {number}: return block_{number}::run();\n"
    return "\n".join([*includes, "#include <cstdlib>", bodies, "int main(int, char** number) {",
                      "  switch (std::atoi(number[1])) {", cases, "  default: return 1;", "  }", "}", ""])


def check_programs(programs):
    """Programs, each a line, a source and what it prints, that are linked with the same libraries."""
    if not programs:
        return
    libraries = libraries_of(programs[0][1])
    with tempfile.TemporaryDirectory() as folder:
        program = os.path.join(folder, "program")
        source = as_one([source for _, source, _ in programs]) if len(programs) > 1 and libraries is not None else None
        if source is None or compile_program(source, libraries, program).returncode:
            alone = programs
        else:
            runs = [run_program(program, str(number)) for number in range(len(programs))]
            alone = [each for each, run in zip(programs, runs)
                     if run.returncode or (each[2] is not None and run.stdout != each[2])]
    for each in alone:
        check_program(*each)


def check_declarations(line, source):
    headers = [header for name, header in HEADERS.items() if re.search(rf"\b{name}\b", source)]
    prelude = "".join(f"#include <overdub/{header}>\n" for header in ["overdub.hpp", *headers])
    compiled = compile_block(prelude + source, "-fsyntax-only")
    if compiled.returncode:
        fail(line, "the block does not compile", compiled.stdout)


tool = os.environ.get("OVERDUB_OPT")
folder = tempfile.TemporaryDirectory()


def run_tool(command):
    shell = f"overdub-opt() {{ {shlex.quote(tool)} \"$@\"; }}\n{command}"
    return subprocess.run(["bash", "-c", shell], cwd=folder.name, stdin=subprocess.DEVNULL, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT).stdout


def check_commands(line, contents):
    """Runs the commands of a console block; how many there were."""
    count = 0
    for match in re.finditer(r"^\$ (.*(?:\\\n.*)*)\n((?:(?!\$ ).*\n)*)", contents, re.MULTILINE):
        command, expected = match[1], match[2]
        if "overdub-opt" not in command or not tool:
            continue
        if "--context" in command and "forward" not in run_tool("overdub-opt --list"):
            continue
        count += 1
        printed = run_tool(command)
        if printed != expected:
            fail(line + contents.count("\n", 0, match.start()), f"$ {command} does not print what the page says",
                 *difflib.unified_diff(expected.splitlines(), printed.splitlines(), "the page", "overdub-opt", lineterm=""))
    return count


with open(page, encoding="utf-8") as file:
    text = file.read()
all_blocks = blocks(text)
source, programs, declarations, commands = "", 0, 0, 0
waiting = {}  # programs, by what they are linked with
for number, (line, info, contents) in enumerate(all_blocks):
    if info in ("cpp", "cpp continued"):
        if info == "cpp continued" and not source:
            fail(line, "there is no block to continue")
        source = (source if info == "cpp continued" else "") + f'#line {line} "{name}"\n{contents}'
        if re.search(r"\bint main\(", source):
            following = all_blocks[number + 1] if number + 1 < len(all_blocks) else (0, "", "")
            batch = waiting.setdefault(str(libraries_of(source)), [])
            batch.append((line, source, following[2] if following[1] == "text" else None))
            programs += 1
            if len(batch) == MOST_PROGRAMS:
                check_programs(batch)
                batch.clear()
        else:
            check_declarations(line, source)
            declarations += 1
    elif info.startswith("cpp examples/"):
        path = info.removeprefix("cpp ")
        if not os.path.exists(path) or open(path, encoding="utf-8").read() != contents:
            fail(line, f"the block is not {path}")
    elif info.startswith(("cpp", "c++")):
        fail(line, f"unknown block ```{info}: write ```cpp or ```cpp continued")
    elif info.startswith("od "):
        with open(os.path.join(folder.name, info[3:]), "w", encoding="utf-8") as file:
            file.write(contents)
    elif info in ("sh", "bash", "console"):
        if info == "console":
            commands += check_commands(line, contents)
        for script in re.findall(r"(?:^|[\s/])((?:scripts|\.ci)/[\w.-]+)", contents):
            if not os.access(script, os.X_OK):
                fail(line, f"{script} is not an executable file")

for batch in waiting.values():
    check_programs(batch)

prose = re.sub(r"^( *)```.*?^ *```", lambda match: "\n" * match[0].count("\n"), text, flags=re.MULTILINE | re.DOTALL)
for match in re.finditer(r"\]\(([^)#\s]+)[^)]*\)", re.sub(r"`[^`\n]+`", "", prose)):
    target = os.path.join(os.path.dirname(page), match[1])
    if "://" not in match[1] and not match[1].startswith("mailto:") and not os.path.exists(target):
        fail(prose.count("\n", 0, match.start()) + 1, f"the link leads nowhere: {match[1]}")

strings = ""  # all string literals of the headers, adjacent ones joined
for path in sorted(glob.glob("include/overdub/**/*.[hc]pp", recursive=True) + glob.glob("contexts/**/*.[hc]pp", recursive=True)):
    with open(path, encoding="utf-8") as file:
        literals = re.findall(r'"((?:[^"\\\n]|\\.)*)"', re.sub(r'"\s*\n\s*"', "", file.read()))
    strings += "\n".join(literals).replace('\\"', '"') + "\n"
for match in re.finditer(r"`(overdub: (?!\.\.\.)[^`]+)`", prose):
    if match[1] not in strings:
        fail(prose.count("\n", 0, match.start()) + 1, f"no header has the sentence: {match[1]}")

print(f"{name}: {programs} programs, {declarations} other blocks of C++ and {commands} commands")
sys.exit(failed)
