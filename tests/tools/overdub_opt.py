#!/usr/bin/env python3
"""Command lines of overdub-opt: their output and their exit codes.

usage: overdub_opt.py <overdub-opt>
"""
import os
import re
import resource
import subprocess
import sys
import tempfile
import unittest

TOOL = os.path.abspath(sys.argv.pop(1))
DONE, INVALID, USAGE, RUN, FILE, TEST, DEFECT, LIMIT = range(8)

PROGRAM = """\
func @quotient(%a: i64, %b: i64) -> i64 {
  %q = div %a, %b : i64
  return %q
}

func @sum(%a: f64[]) -> f64 {
  %s = reduce add %a from 0.0 : f64
  return %s
}
"""


with open(TOOL, "rb") as tool:
    SANITIZED = b"__asan_init" in tool.read()


def run(*words, text=PROGRAM, env=None, memory=None):
    # A sanitizer takes more addresses than there is memory.
    limit = None if memory is None or SANITIZED else lambda: resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    options = {"ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":allocator_may_return_null=1"}
    return subprocess.run([TOOL, *words], input=text, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          env={**os.environ, **options, **(env or {})}, preexec_fn=limit)


class CommandLines(unittest.TestCase):
    def check(self, result, code, out=None, err=None):
        self.assertEqual(result.returncode, code, result.stdout + result.stderr)
        if out is not None:
            self.assertEqual(result.stdout, out)
        if err is not None:
            self.assertEqual(result.stderr, err)

    # ---- lifting

    def test_textual_ir_of_llvm_is_lifted_and_run(self):
        text = "declare void @g(ptr)\ndefine i64 @f(i64 %x) {\n  %y = add nsw i64 %x, 1\n  ret i64 %y\n}\n" \
               "define void @h(ptr %x) {\n  call void @g(ptr %x)\n  ret void\n}\n"
        result = run("--lift", "--run", "@f(41)", text=text)
        if "needs LLVM" in result.stderr:
            self.skipTest("built without LLVM")
        self.check(result, DONE, "42\n", "")
        self.check(run("--lift", "--explain", text=text), DONE,
                   "func @f(%x: i64) -> i64 {\n  %0 = add %x, 1 : i64\n  return %0\n}\n"
                   "; refused: h: a call of g: the module has no definition of it; compile its source into the same module; "
                   "functions of numbers alone may be native\n", "")
        self.check(run("--lift", text="func"), INVALID, "")
        self.check(run("--explain"), USAGE, "")
        self.check(run("--embed", "programs.cpp"), USAGE, "")

    def test_a_missing_native_function_is_an_error_where_it_is_called(self):
        text = "declare double @absent(double)\ndefine double @f(i1 %is, double %x) {\n  br i1 %is, label %a, label %b\n" \
               "a:\n  %y = call double @absent(double %x)\n  ret double %y\nb:\n  ret double %x\n}\n"
        result = run("--lift", "--run", "@f(false, 2.5)", text=text)
        if "needs LLVM" in result.stderr:
            self.skipTest("built without LLVM")
        self.check(result, DONE, "2.5\n", "")
        missing = run("--lift", "--run", "@f(true, 2.5)", text=text)
        self.check(missing, RUN)
        self.assertIn("the native function absent is called", missing.stderr)

    def test_files_are_lifted_together_and_embedded(self):
        with tempfile.TemporaryDirectory() as folder:
            a, b, embedded = (os.path.join(folder, name) for name in ("a.ll", "b.ll", "programs.cpp"))
            with open(a, "w", encoding="utf-8") as file:
                file.write("declare i64 @one(i64)\ndefine i64 @two(i64 %x) {\n  %y = call i64 @one(i64 %x)\n  ret i64 %y\n}\n")
            with open(b, "w", encoding="utf-8") as file:
                file.write("define i64 @one(i64 %x) {\n  %y = add i64 %x, 1\n  ret i64 %y\n}\n"
                           "define void @strange() {\n  call void asm sideeffect \"\", \"\"()\n  ret void\n}\n")
            result = run("--lift", a, b, "--run", "@two(41)", text="")
            if "needs LLVM" in result.stderr:
                self.skipTest("built without LLVM")
            self.check(result, DONE, "42\n", "")
            self.check(run("--lift", a, a, text=""), INVALID, "")
            self.check(run("--lift", a, b, "--embed", embedded, text=""), DONE, "", "")
            with open(embedded, encoding="utf-8") as file:
                text = file.read()
            self.assertIn('__asm__("two") __attribute__((weak))', text)
            self.assertIn("func @two(", text)
            self.assertIn("strange: inline assembly", text)

    # ---- reading

    def test_the_standard_input_is_read_and_printed(self):
        self.check(run(), DONE, PROGRAM, "")
        self.check(run("-"), DONE, PROGRAM, "")

    def test_nothing_is_a_program_of_no_functions(self):
        self.check(run(text=""), DONE, "", "")

    def test_errors_have_a_line_a_column_and_a_caret(self):
        text = "func @f(%x: f64) -> f64 {\n  %y = sinn %x : f64\n  return %y\n}\n"
        self.check(run("--verify", text=text), INVALID, "",
                   '<stdin>:2:8: there is no operation "sinn"; did you mean sin?\n'
                   "  2 |   %y = sinn %x : f64\n    |        ^\n")

    def test_all_errors_are_reported(self):
        text = "func @f(%x: f64) {\n  %y = add %x, 1 : f64\n  %z = sin 1 : i64\n  return\n}\n"
        result = run(text=text)
        self.check(result, INVALID, "")
        self.assertEqual(re.findall(r"^<stdin>:(\d+):", result.stderr, re.MULTILINE), ["2", "3"])

    def test_a_text_that_is_too_long_is_refused(self):
        text = "func @f() -> i64 {\n  return " + "9" * (257 << 20)
        self.check(run(text=text), FILE, "", "overdub-opt: the standard input is longer than 256 MiB, the longest text "
                                             "that is read; split the program\n")

    def test_a_long_number_is_refused_and_not_repeated(self):
        result = run(text="func @f() -> i64 {\n  return " + "9" * (1 << 20) + "\n}\n")
        self.check(result, INVALID, "")
        self.assertIn("out of the range of i64", result.stderr)
        self.assertLess(len(result.stderr), 200)

    def test_blocks_nested_deeply_are_refused(self):
        result = run(text="func @f() {\n" + "if true {\n" * 100000)
        self.check(result, INVALID, "")
        self.assertIn("<stdin>:401:9: blocks are nested more than 400 deep", result.stderr)

    def test_bytes_that_are_no_text_are_refused(self):
        result = subprocess.run([TOOL], input=bytes(range(256)) * 100, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.assertEqual(result.returncode, INVALID)
        self.assertTrue(result.stderr.startswith(b"<stdin>:1:1: "), result.stderr)

    def test_files_that_cannot_be_read_or_written(self):
        self.check(run("missing.od"), FILE, "", "overdub-opt: missing.od cannot be read: No such file or directory; "
                                                "name a file, or - for the standard input\n")
        self.check(run(""), FILE, "", 'overdub-opt: "" cannot be read: No such file or directory; '
                                      "name a file, or - for the standard input\n")
        self.check(run("tests"), FILE, "", "overdub-opt: tests cannot be read: Is a directory; "
                                           "name a file, or - for the standard input\n")
        self.check(run("-o", "missing/out.od"), FILE, "",
                   "overdub-opt: missing/out.od cannot be written: No such file or directory\n")

    def in_bytes(self, *words, text):
        result = subprocess.run([TOOL, *words], input=text, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        return result.returncode, result.stdout, result.stderr

    def test_errors_show_bytes_that_are_no_text_as_question_marks(self):
        text = b'func @f(%x: f64) -> f64 {\n  %y = host pure "\xc3\xa9"(%x) \x00\x1b[31m\xff : f64\n  retrn %x\n}\n'
        code, out, err = self.in_bytes(text=text)
        self.assertEqual((code, out), (INVALID, b""))
        self.assertIn(b'\n  2 |   %y = host pure "\xc3\xa9"(%x) ??[31m? : f64\n    |                          ^\n', err)
        self.assertIn(b"<stdin>:3:3: there is no operation", err) # nothing is cut off at the byte 0
        assertion = b'func @f() {\n  assert false, "a\x00b\x1bc\xff"\n  return\n}\n'
        code, out, err = self.in_bytes("--run", "@f()", text=assertion)
        self.assertEqual((code, out), (RUN, b""))
        self.assertTrue(err.startswith(b"overdub-opt: @f(): assertion_failed: "), err)
        self.assertFalse({0, 0x1b, 0xff} & set(err), err)
        graph = self.in_bytes("--dot", text=b'func @"a\x00\x07\xff"() {\n  return\n}\n')[1]
        self.assertIn(b'digraph "a  \xef\xbf\xbd" {', graph) # spaces, and U+FFFD

    def test_marks_and_line_ends_of_other_systems_are_read(self):
        mark, windows = b"\xef\xbb\xbf", PROGRAM.replace("\n", "\r\n").encode()
        self.assertEqual(self.in_bytes(text=mark + windows), (DONE, PROGRAM.encode(), b""))
        for utf16 in ("utf-16-le", "utf-16-be"):
            code, out, err = self.in_bytes(text=("\ufeff" + PROGRAM).encode(utf16))
            self.assertEqual((code, out), (FILE, b""))
            self.assertEqual(err, b"overdub-opt: the standard input is no text of UTF-8, but of UTF-16; save it as UTF-8\n")
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "test.od")
            test = "; test: print\n; test: run\n" + PROGRAM + "; run: @quotient(6, 2) == 3\n\n; ---- print\n" + PROGRAM
            with open(path, "wb") as file:
                file.write(mark + test.replace("\n", "\r\n").encode())
            self.check(run("--test", path), DONE, "", "")

    def test_a_fifo_is_read_and_not_rewritten(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "fifo")
            os.mkfifo(path)
            for words, env, code in ((("--verify", path), {}, DONE), (("--test", path), {"OVERDUB_BLESS": "1"}, FILE)):
                text = PROGRAM if code == DONE else "; test: print\n" + PROGRAM
                with subprocess.Popen(["sh", "-c", 'cat > "$0"', path], stdin=subprocess.PIPE) as writer:
                    process = subprocess.Popen([TOOL, *words], env={**os.environ, **env}, stderr=subprocess.PIPE)
                    writer.communicate(text.encode())
                    err = process.communicate(timeout=60)[1]
                self.assertEqual(process.returncode, code)
            self.assertEqual(err.decode(), f"overdub-opt: {path} cannot be rewritten: it is no regular file\n")
        self.check(run("/dev/stdin"), DONE, PROGRAM, "")

    # ---- the command line

    def test_a_file_is_replaced_when_all_is_written_and_nothing_waits(self):
        with tempfile.TemporaryDirectory() as folder:
            path = folder + "/out.od"
            with open(path, "w") as file:
                file.write("old")
            os.chmod(path, 0o640)
            os.symlink("out.od", folder + "/link")
            os.mkfifo(folder + "/pipe")
            self.check(run("-o", folder + "/link"), DONE, "", "")
            with open(path) as file:
                self.assertEqual(file.read(), PROGRAM)
            self.assertEqual(os.stat(path).st_mode & 0o777, 0o640)
            self.check(run("-o", folder + "/pipe"), FILE, "",
                       f"overdub-opt: {folder}/pipe cannot be written: it is a pipe without a reader\n")
            self.check(run("-o", folder), FILE, "", f"overdub-opt: {folder} cannot be written: Is a directory\n")
            self.check(run("-o", "/dev/full"), FILE, "", "overdub-opt: /dev/full cannot be written: No space left on device\n")
            self.check(run("-o", "/dev/stdout"), DONE, PROGRAM, "")
            self.assertEqual(sorted(os.listdir(folder)), ["link", "out.od", "pipe"])

    def test_the_help_names_every_option(self):
        result = run("--help")
        self.check(result, DONE, err="")
        for option in ("--pass", "--pipeline", "--context", "--list", "--print", "--places", "--verify", "--dot", "--svg",
                       "--graph", "--time", "--output", "--run", "--executor", "--test", "Exit codes"):
            self.assertIn(option, result.stdout)

    def test_the_version(self):
        result = run("--version")
        self.check(result, DONE, err="")
        self.assertRegex(result.stdout, r"^overdub-opt \d+\.\d+\.\d+\n$")

    def test_the_list_names_passes_and_executors(self):
        result = run("--list")
        self.check(result, DONE, err="")
        for word in ("canonicalise", "--pipeline is inline_calls fold", "interpreter", "evaluate", "identity"):
            self.assertIn(word, result.stdout)

    def test_invalid_command_lines_are_rejected(self):
        for words, why in ((("--nonsense",), "not expected: --nonsense"), (("--pass",), "--pass"),
                           (("--pass", "csee"), 'there is no pass "csee"; did you mean cse?'),
                           (("--context", "forwrad"), "context"), (("--executor", "abacus"), 'no executor "abacus"'),
                           (("a.od", "b.od"), "several files"), (("--test",), "--test tests files, and none is named"),
                           (("--test", "--print", "a.od"), "leave the other options out"),
                           (("--dot", "--svg"), "write one of them"), (("--graph", "@sum"), "--dot or --svg"),
                           (("--dot", "--graph", "@missing"), "there is no graph @missing")):
            result = run(*words)
            self.check(result, USAGE, "")
            self.assertTrue(result.stderr.startswith("overdub-opt: "), result.stderr)
            self.assertIn(why, result.stderr)

    # ---- passes

    def test_passes_run_in_the_order_of_the_command_line(self):
        text = "func @f(%x: f64) -> f64 {\n  %a = add 1.0, 2.0 : f64\n  %b = mul %x, 3.0 : f64\n" \
               "  %c = mul %x, %a : f64\n  %d = add %b, %c : f64\n  return %d\n}\n"
        late = run("--pass", "cse,fold,dce", text=text).stdout
        early = run("--pass", "fold", "--pass", "cse,dce", text=text).stdout
        self.assertEqual((late.count("mul"), early.count("mul")), (2, 1))

    def test_times_are_a_table(self):
        result = run("--pass", "cse,dce", "--time")
        self.check(result, DONE, err="")
        lines = [line.split() for line in result.stdout.splitlines()]
        self.assertEqual(lines[0], ["step", "ms", "ops", "before", "ops", "after"])
        self.assertEqual([line[0] for line in lines[1:]], ["cse", "dce", "total"])
        self.assertEqual(lines[1][2:], ["4", "4"])

    # ---- runs

    def test_calls_are_run_one_after_another(self):
        for executor in ("evaluate", "interpreter", "all"):
            self.check(run("--executor", executor, "--run", "@quotient(7, -2)", "--run", "@sum([1.0, 2.5])"), DONE,
                       "-3\n3.5\n", "")

    def test_a_run_that_throws_shows_the_line_and_the_others_go_on(self):
        self.check(run("--run", "@quotient(1, 0)", "--run", "@quotient(1, 1)"), RUN, "1\n",
                   "overdub-opt: @quotient(1, 0): division_by_zero: overdub: an integer was divided by zero; test the "
                   "divisor first, or divide in floating point\n<stdin>:2:8: in an operation of this line\n"
                   "  2 |   %q = div %a, %b : i64\n    |        ^\n")

    def test_an_executor_that_comes_to_a_limit_does_not_disagree(self):
        deep = "func @f(%n: i64) -> i64 {\n  %z = eq %n, 0 : bool\n  %r = if %z -> i64 {\n    yield 0\n  } else {\n" \
               "    %m = sub %n, 1 : i64\n    %s = call @f(%m) : i64\n    %t = add %s, 1 : i64\n    yield %t\n  }\n  return %r\n}\n"
        result = run("--executor", "all", "--run", "@f(20000)", "--run", "@f(3)", text=deep)
        self.check(result, LIMIT, "20000\n3\n")
        lines = result.stderr.splitlines()
        self.assertEqual(lines[0], "overdub-opt: @f(20000): some executors reached a limit, which is no disagreement:")
        self.assertTrue(lines[1].startswith("  evaluate: throws stack_overflow: overdub: evaluate: calls"), lines[1])
        self.assertEqual(len(lines), 2)
        # An error of all executors is no difference.
        result = run("--executor", "all", "--run", "@f(-1)", text=deep)
        self.check(result, RUN, "")
        self.assertTrue(result.stderr.startswith("overdub-opt: @f(-1): stack_overflow: "), result.stderr)

    def test_a_call_that_throws_elsewhere_is_no_limit(self):
        text = "func @f(%n: i64) -> i64 {\n  %a = fill %n, 1 : i64[]\n  %b = fill 2, %a : i64[][]\n" \
               "  %c = fill 2, %b : i64[][][]\n  %x = at %c, 0, 0, 2 : i64\n  return %x\n}\n"
        result = run("--executor", "all", "--run", "@f(2)", "--run", "@f(3)", text=text)
        self.check(result, RUN, "1\n")
        self.assertIn("@f(2): index_error: ", result.stderr)
        self.assertEqual(result.stderr.count("some executors reached a limit"), 2)
        self.assertIn("\n  evaluate: throws error: overdub: evaluate: ", result.stderr)

    def test_arrays_that_are_too_large_for_memory(self):
        text = "func @f(%n: i64) -> i64 {\n  %a = fill %n, 1 : i64[]\n  %l = length %a : i64\n  return %l\n}\n" \
               "func @rows(%n: i64) -> i64 {\n  %a = fill %n, 1 : i64[]\n  %b = fill %n, %a : i64[][]\n" \
               "  %l = length %b : i64\n  return %l\n}\n"
        for executor in ("evaluate", "interpreter", "all"):
            result = run("--executor", executor, "--run", "@f(4000000000000)", text=text, memory=8 << 30)
            self.check(result, RUN, "")
            self.assertIn("@f(4000000000000): out_of_memory: overdub: ", result.stderr)
            self.assertIn("there is no memory for an array of 4000000000000 elements of 8 bytes (32000000000000 bytes)",
                          result.stderr)
            self.assertIn("<stdin>:2:8: in an operation of this line", result.stderr)
        # In evaluation the rows share their elements.
        result = run("--executor", "all", "--run", "@rows(1000000)", text=text, memory=8 << 30)
        self.check(result, LIMIT, "1000000\n")
        self.assertIn("some executors reached a limit, which is no disagreement:\n  interpreter: throws out_of_memory: overdub: "
                      "fill: there is no memory for an array of 1000000 x 1000000 elements of 8 bytes", result.stderr)

    def test_a_text_test_says_that_an_executor_has_a_limit(self):
        text = "; test: run\nfunc @f() -> i64 {\n  %a = fill 2, 1 : i64[]\n  %b = fill 2, %a : i64[][]\n" \
               "  %c = fill 2, %b : i64[][][]\n  %x = at %c, 0, 0, 1 : i64\n  return %x\n}\n; run: @f() == 1\n"
        result, _, path = self.in_file(text)
        self.check(result, TEST)
        self.assertIn(f"{path}:9: @f() throws error: overdub: evaluate: ", result.stdout)
        self.assertIn('\n  an executor reached a limit; where others go further, name one of them', result.stdout)
        self.check(self.in_file(text.replace("run: @f", "run on interpreter: @f"))[0], DONE, "", "")

    def test_calls_with_other_arguments_are_refused(self):
        for call, why in (("@quotient(1)", "takes 2 arguments, and was given 1"),
                          ("@quotient(1, 2, 3)", "takes 2 arguments, and was given 3"),
                          ("@quotient(1, 2.0)", "is i64, and was given f64"),
                          ("@sum([[1.0]])", r"is f64[], and was given f64[][]")):
            result = run("--executor", "all", "--run", call)
            self.check(result, RUN, "")
            self.assertIn(f"{call}: argument_error: ", result.stderr)
            self.assertIn(why, result.stderr)

    def test_calls_that_are_no_calls_are_refused(self):
        for call, why, column in (("sum(1)", "expected a call", 0), ("@sum([1.0, 2])", "different types", 11),
                                  ("@sum([1.0, 2.0)", "',' or ']' was expected", 14), ("@sum([])", "needs its type", 7),
                                  ("@sum(1e999)", "out of its type's range", 5), ("@sum(1.0) x", "the end of the call", 10),
                                  ("@quotient(99999999999999999999, 1)", "out of its type's range", 10)):
            result = run("--run", call)
            self.check(result, USAGE, "")
            self.assertIn(why, result.stderr)
            self.assertEqual(result.stderr.splitlines()[1:], ["  " + call, "  " + " " * column + "^"])

    def test_a_function_that_is_missing(self):
        self.check(run("--run", "@f()"), USAGE, "",
                   "overdub-opt: --run: the program has no function @f\n  there are: @quotient, @sum\n")

    # ---- deep or long programs: each has a result or a diagnostic, and none ends by a signal

    @staticmethod
    def deep_programs(n):
        operations = "func @f(%x: f64) -> f64 {\n  %v0 = sin %x : f64\n" + \
            "".join(f"  %v{i} = sin %v{i - 1} : f64\n" for i in range(1, n)) + f"  return %v{n - 1}\n}}\n"
        calls = "".join(f"func @f{i}(%x: f64) -> f64 {{\n  %y = call @f{i + 1}(%x) : f64\n  return %y\n}}\n"
                        for i in range(n)) + f"func @f{n}(%x: f64) -> f64 {{\n  return %x\n}}\n" + \
            "func @f(%x: f64) -> f64 {\n  %y = call @f0(%x) : f64\n  return %y\n}\n"
        functions = "func @f(%x: f64) -> f64 {\n  %c0 = closure @g() : fn(f64) -> f64\n" + \
            "".join(f"  %c{i} = closure @h(%c{i - 1}) : fn(f64) -> f64\n" for i in range(1, n)) + \
            f"  %y = apply %c{n - 1}(%x) : f64\n  return %y\n}}\nfunc @g(%x: f64) -> f64 {{\n  return %x\n}}\n" \
            "func @h(%c: fn(f64) -> f64, %x: f64) -> f64 {\n  %y = apply %c(%x) : f64\n  return %y\n}\n"
        regions = "func @f(%x: f64) -> f64 {\n" + "".join(f"%v{i} = if true -> f64 {{\n" for i in range(398)) + \
            "yield %x\n} else {\nyield 2.0\n}\n" + \
            "".join(f"yield %v{i}\n}} else {{\nyield 3.0\n}}\n" for i in reversed(range(1, 398))) + "return %v0\n}\n"
        return {"operations": operations, "calls": calls, "functions": functions, "regions": regions}

    def test_deep_programs_are_printed_transformed_and_run(self):
        contexts = re.findall(r"^  (\w+)", run("--list").stdout.partition("contexts, ")[2].partition("executors, ")[0], re.MULTILINE)
        for name, text in self.deep_programs(20000).items():
            wishes = [("--print",), ("--pipeline",), ("--dot", "--graph", "@f")]
            wishes += [("--context", context) for context in contexts if context != "reverse" or name in ("calls", "regions")]
            wishes += [("--executor", executor, "--run", "@f(0.5)") for executor in ("evaluate", "interpreter")]
            for words in wishes:
                with self.subTest(program=name, words=words):
                    result = run(*words, text=text)
                    self.assertIn(result.returncode, (DONE, INVALID, RUN), result.stderr[:200])
                    if result.returncode != DONE:
                        self.assertRegex(result.stderr, "nested too deep")

    def test_function_values_that_capture_one_another_are_destroyed(self):
        text = "func @f(%n: i64) -> i64 {\n  %c = closure @g() : fn(f64) -> f64\n" \
               "  %r = loop %n (%i: i64, %s: fn(f64) -> f64 = %c) -> fn(f64) -> f64 {\n" \
               "    %d = closure @h(%s, %s) : fn(f64) -> f64\n    yield %d\n  }\n  return %n\n}\n" \
               "func @g(%x: f64) -> f64 {\n  return %x\n}\n" \
               "func @h(%c: fn(f64) -> f64, %d: fn(f64) -> f64, %x: f64) -> f64 {\n  return %x\n}\n"
        self.check(run("--executor", "evaluate", "--run", "@f(300000)", text=text), DONE, "300000\n", "")
        self.check(run("--run", "@f(300000)", text=text), DONE, "300000\n", "")

    # ---- pictures

    def test_a_graph_in_the_language_of_graphviz(self):
        result = run("--dot", "--graph", "@sum")
        self.check(result, DONE, err="")
        for line in ('digraph "sum" {', '  n0 [label="%s = reduce add %a, 0.0"]', "  v0 -> n0", "  n0 -> n1"):
            self.assertIn(line, result.stdout.splitlines())

    def test_texts_in_graphs_are_quoted(self):
        result = run("--dot", text='func @"a \\"b\\\\"() {\n  host ordered "c\\nd"()\n  return\n}\n')
        self.check(result, DONE, err="")
        self.assertIn(r'digraph "a \"b\\" {', result.stdout)
        self.assertIn(r'label="host \"c\\nd\""', result.stdout)

    def test_a_picture(self):
        result = run("--svg", "--graph", "calls")
        self.check(result, DONE, err="")
        self.assertTrue(result.stdout.startswith("<?xml"))
        self.assertIn(">@quotient</text>", result.stdout)

    def test_the_picture_in_the_documentation_is_that_of_its_program(self):
        with open("docs/tools.md", encoding="utf-8") as page, open("docs/loss.svg", encoding="utf-8") as picture:
            program = re.search(r"```od loss.od\n(.*?)```", page.read(), re.DOTALL)[1]
            drawn = picture.read()
        texts = lambda svg: sorted(re.findall(r"<text[^>]*>(.*?)</text>", svg))
        self.assertEqual(texts(run("--svg", "--graph", "@loss", text=program).stdout), texts(drawn))
        self.assertLess(len(drawn), 30000)

    def test_a_picture_without_graphviz_is_refused(self):
        with tempfile.TemporaryDirectory() as empty:
            result = run("--svg", env={"PATH": empty})
        self.check(result, FILE, "", "overdub-opt: the picture is drawn by the program dot, which is not there; install "
                                     "Graphviz, or write the graph's text with --dot\n")

    # ---- text tests

    def in_file(self, text, **env):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "test.od")
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
            result = run("--test", path, env=env)
            with open(path, encoding="utf-8") as file:
                return result, file.read(), path

    def test_a_text_test_that_holds_says_nothing(self):
        result, _, _ = self.in_file("; test: run\n" + PROGRAM + "; run: @quotient(6, 2) == 3\n")
        self.check(result, DONE, "", "")

    def test_a_text_test_that_fails_says_what_and_where(self):
        result, _, path = self.in_file("; test: run\n" + PROGRAM + "; run: @quotient(6, 2) == 2\n")
        self.check(result, TEST, f"{path}:11: @quotient(6, 2) gives 3, and 2 is expected (evaluate, as written)\n")
        result, _, path = self.in_file("; test: run\n" + PROGRAM + "; run: @quotient(6, 2) throws division_by_zero\n")
        self.check(result, TEST, f"{path}:11: @quotient(6, 2) gives 3, and must throw division_by_zero (evaluate, as written)\n")
        result, _, path = self.in_file("; test: run\n" + PROGRAM + "; run: @quotient(6, 0) == 2\n")
        self.check(result, TEST)
        self.assertIn(f"{path}:11: @quotient(6, 0) throws division_by_zero", result.stdout)

    def test_an_output_that_differs_is_shown_line_by_line(self):
        wrong = PROGRAM.replace("div %a, %b", "div %b, %a")
        result, _, path = self.in_file("; test: print\n" + PROGRAM + "\n; ---- print\n" + wrong)
        self.check(result, TEST)
        self.assertIn("-   %q = div %b, %a : i64\n+   %q = div %a, %b : i64\n", result.stdout)
        self.assertIn(f"OVERDUB_BLESS=1 overdub-opt --test {path}", result.stdout)

    def test_blessing_writes_outputs_and_values(self):
        text = "; test: print\n; test: run\n" + PROGRAM + "; run: @quotient(7, 2) == ?\n; run: @quotient(7, 0) == ?\n"
        result, blessed, _ = self.in_file(text, OVERDUB_BLESS="1")
        self.check(result, DONE)
        expected = text.replace("(7, 2) == ?", "(7, 2) == 3").replace("(7, 0) == ?", "(7, 0) throws division_by_zero")
        self.assertEqual(blessed, expected + "\n; ---- print\n" + PROGRAM)
        self.check(self.in_file(blessed)[0], DONE, "", "")

    def test_errors_are_expected_on_their_lines(self):
        text = "; test: verify\nfunc @f(%x: f64) {\n  %y = sin 1 : i64 ; error: operand 1 is i64\n  return\n}\n"
        self.check(self.in_file(text)[0], DONE, "", "")
        result, _, path = self.in_file(text.replace("operand 1", "operand 2"))
        self.check(result, TEST)
        self.assertIn("this error is not expected", result.stdout)
        self.assertIn(f"{path}:3: there is no error: operand 2 is i64", result.stdout)

    def test_no_more_than_twenty_directives_that_make_no_sense_are_reported(self):
        result, _, path = self.in_file("; test: run\n" + PROGRAM + "; tset: run\n" * 100000)
        self.check(result, TEST)
        lines = [line for line in result.stdout.splitlines() if line.startswith(path)]
        self.assertEqual(len(lines), 21)
        self.assertEqual(lines[-1], f"{path}:30:3: there may be more errors: the first 20 are reported; mend them first")

    def test_patterns_are_found_in_the_texts_of_errors(self):
        for pattern, holds in (("an integer was divided", True), ("was .* by zero; .*floating point", True),
                               ("integer .*an", False), (r"zero\; test", True), (r"zero\.", False), ("z.ro", False),
                               (".*", True), ("[a-z]+", False), ("\\", False), ("integer.*.*zero", True)):
            text = "; test: run\n" + PROGRAM + "; run: @quotient(6, 0) throws division_by_zero: " + pattern + "\n"
            self.check(self.in_file(text)[0], DONE if holds else TEST)

    def test_patterns_of_any_length_are_read(self):
        n = 100000
        for pattern in ("a" * n, "(" * n, "[" * n, "(a|b)*" * n, ".*" * n + "x", "a{" * n, "\\" * n, "(?=" * n):
            text = "; test: run\n" + PROGRAM + "; run: @quotient(6, 0) throws exception: " + pattern + "\n"
            result, _, path = self.in_file(text)
            self.check(result, TEST)
            self.assertTrue(result.stdout.startswith(f"{path}:11: @quotient(6, 0) throws division_by_zero: "))
            text = "; test: verify\nfunc @f() {\n  %x = sinn 1.0 : f64 ; error: " + pattern + "\n  return\n}\n"
            result, _, path = self.in_file(text)
            self.check(result, TEST)
            self.assertIn("this error is not expected", result.stdout)
            self.assertIn(f"{path}:3: there is no error: {pattern[:20]}", result.stdout)

    def test_directives_that_make_no_sense_are_refused(self):
        for line, why in (("; run: @sum(", "expected"), ("; run: @sum() throws nonsense", 'there is no error "nonsense"'),
                          ("; run: @sum() == 1 x", "the end of the line"), ("; run on abacus: @sum()", 'no executor "abacus"'),
                          ("; tset: run", 'there is no directive "tset:"; did you mean test'),
                          ("; test: pass csee", 'there is no pass "csee"'), ("; test: dance", "expected print"),
                          ("; run: @sum() throws error (", "a part of the error's text"),
                          ("; run in pass cse: @sum() == 1", 'no test of the file is "pass cse"')):
            result, _, path = self.in_file("; test: run\n" + PROGRAM + line + "\n")
            self.check(result, TEST)
            self.assertIn(f"{path}:11:", result.stdout)
            self.assertIn(why, result.stdout)


if __name__ == "__main__":
    unittest.main()
