#!/usr/bin/env python3
"""Writes a C program of random functions of the subset that overdub::lift lifts. Their behaviour is defined, and they end.

usage: random_programs.py <seed> <functions> <output> <table>

The table lists the functions, `double <table>_0(double a, double b, int k, long n, double *x, int *y)` and so on; x and y have 8 elements.
"""
import random
import sys

HEAD = """#include <math.h>
#include <stdlib.h>
#include <string.h>
static int to_int(double x) { return x > -1e6 && x < 1e6 ? (int)x : 7; }
static int add_int(int a, int b) { return (int)((unsigned)a + (unsigned)b); }
static int multiply_int(int a, int b) { return (int)((unsigned)a * (unsigned)b); }
static int divide_int(int a, int b) { return b == 0 || (a == -2147483647 - 1 && b == -1) ? 3 : a / b; }
static int remainder_int(int a, int b) { return b == 0 || b == -1 ? 1 : a % b; }
static const double constants[8] = {1.5, -2.0, 0.25, 1e10, -0.0, 3.0, 1e-3, 7.5};
struct inner { short h; unsigned char c; };
struct object { double r; int i; struct inner in; float q; double t[2]; struct object *next; };
struct pair { double r; int i; };
static void set(struct object *o, double r, int i) {
  o->r = r; o->i = i; o->in.h = (short)i; o->in.c = (unsigned char)(i >> 3); o->q = (float)(i & 255); o->t[i & 1] = r;
}
static double total(const struct object *o, int n) {
  double s = 0;
  for (int i = 0; i < n; ++i) s += o[i].r + o[i].i * 0.5 + o[i].in.h - o[i].in.c + o[i].q + o[i].t[0] * o[i].t[1];
  return s;
}
static struct object made(double r, int i) { struct object o = {0}; o.next = 0; set(&o, r, i); return o; }
static struct pair both(double r, int i) { struct pair p = {i & 1 ? r : -r, i ^ 5}; return p; }
static double of_value(struct object o, struct pair p) { o.r += p.r; o.i ^= p.i; return total(&o, 1); }
static double along(const struct object *o, int most) {
  double s = 0;
  for (; o && most > 0; o = o->next, --most) s = s * 0.5 + o->r;
  return s;
}
static void swap(struct object *a, struct object *b) { struct object const c = *a; *a = *b; *b = c; }
struct reals { double u, v; };
struct ints { int u, v, w; };
static void clear_reals(double *a) { memset(a, 0, 3 * sizeof(double)); }
static void clear_ints(int *a) { memset(a, 0, 2 * sizeof(int)); }
static void copy_reals(double *a, const double *b) { memcpy(a, b, 4 * sizeof(double)); }
static void copy_ints(int *a, const int *b) { clear_ints(a + 2); memcpy(a, b, 2 * sizeof(int)); }
static void copy_some(double *a, const double *b, int n) { memmove(a, b, n * sizeof(double)); }
static void assign_reals(void *a, const void *b) { *(struct reals *)a = *(const struct reals *)b; }
static void assign_ints(struct ints *a, const struct ints *b) { *a = *b; }
static double no_use(const double *a, const int *b, double c) { return c; }
typedef double (*binary)(double, double);
static double sum_of(double a, double b) { return a + b; }
static double difference(double a, double b) { return a - b * 0.5; }
static double larger(double a, double b) { return a < b ? b : a; }
static const binary operations[4] = {sum_of, difference, larger, atan2};
struct operation { binary f; double r; };
static double applied(binary f, double a, double b) { return f(a, f(b, 1)); }
typedef void change(struct object *, int);
static void grow(struct object *o, int k) { o->r *= 2; o->i = add_int(o->i, k); }
static void cut(struct object *o, int k) { o->t[k & 1] /= 2; o->next = 0; }
static change *const changes[2] = {grow, cut};
"""


class function:
    def __init__(self, rng, table, number):
        self.rng, self.table, self.number = rng, table, number
        self.lines, self.names = [], 0
        self.reals = ["a", "b", "d0", "d1"]
        self.ints = ["k", "i0", "i1"]
        self.unsigned = ["u0"]
        self.labels = 0
        self.has_objects = rng.random() < 0.5
        self.has_pointers = rng.random() < 0.25  # to functions
        self.budget = rng.randint(6, 26)
        self.work = 1  # bounds how often the innermost statement runs

    def text(self):
        rng = self.rng
        self.lines = [
            f"double {self.table}_{self.number}(double a, double b, int k, long n, double *x, int *y) {{",
            f"  double d0 = {self.literal()}, d1 = a; int i0 = {rng.randint(-9, 9)}, i1 = k; unsigned u0 = (unsigned)k;",
        ]
        if rng.random() < 0.5:
            self.lines.append(f"  double t[8] = {{{self.literal()}, {self.literal()}}};")
            self.array = ["x", "t"]
        else:
            self.array = ["x"]
        if self.has_objects:
            self.lines += [
                "  struct object o[4], *p = &o[1], *m = (struct object *)malloc(4 * sizeof(struct object));",
                "  struct object **rows = (struct object **)calloc(4, sizeof(struct object *));",
                "  for (int j = 0; j < 4; ++j) { o[j] = made(j - a, add_int(k, j)); m[j] = made(b, j); o[j].next = &m[3 - j]; m[j].next = j > 1 ? &o[j] : 0; rows[j] = j & 1 ? &o[j] : &m[j]; }",
            ]
        if self.has_pointers:
            self.lines.append(f"  binary f = operations[{self.index()} & 3]; struct operation w[2] = {{{{larger, a}}, {{f, b}}}};")
        while self.budget > 0:
            self.statement("  ", 0, None)
        if self.has_objects:
            self.lines.append("  d0 += total(o, 4) + total(m, 4) + along(p, 9) + rows[k & 3]->r; free(rows); free(m);")
        self.lines += [f"  return {self.real(2)} + i0 * 0.5 + i1 + u0 % 100u;", "}"]
        return "\n".join(self.lines)

    def literal(self):
        return self.rng.choice(["0.5", "2.0", "-1.25", "3.0", "1e3", "0.1", "-0.0"])

    def real(self, depth):
        rng = self.rng
        kind = rng.randint(0, 13 if depth > 0 else 4)
        if kind < 3:
            return rng.choice(self.reals)
        if kind == 3:
            return self.literal()
        if kind == 4:
            return f"{rng.choice(self.array)}[{self.index()}]"
        if kind < 9:
            return f"({self.real(depth - 1)} {rng.choice('+-*/')} {self.real(depth - 1)})"
        if kind == 9:
            return f"{rng.choice(['sin', 'cos', 'fabs', 'floor', 'sqrt', 'exp', 'atan', 'ceil', 'trunc'])}({self.real(depth - 1)})"
        if kind == 10:
            return f"(double){self.integer(depth - 1)}"
        if kind == 11:
            return f"({self.condition(depth - 1)} ? {self.real(depth - 1)} : {self.real(depth - 1)})"
        if kind == 12:
            return f"constants[{self.index()}]"
        return rng.choice([f"(float){self.real(depth - 1)}", f"(double)({self.natural(depth - 1)})", f"(double)(n + {self.integer(0)})"])

    def index(self):
        return f"{self.rng.choice(self.ints)} & 7" if self.rng.random() < 0.7 else str(self.rng.randint(0, 7))

    def integer(self, depth):
        rng = self.rng
        kind = rng.randint(0, 12 if depth > 0 else 3)
        if kind < 2:
            return rng.choice(self.ints)
        if kind == 2:
            return str(rng.choice([0, 1, 2, 7, -3, 100, 65537]))
        if kind == 3:
            return f"y[{self.index()}]"
        name = {4: "add_int", 5: "multiply_int", 6: "divide_int", 7: "remainder_int"}.get(kind)
        if name:
            return f"{name}({self.integer(depth - 1)}, {self.integer(depth - 1)})"
        if kind == 8:
            return f"to_int({self.real(depth - 1)})"
        if kind == 9:
            return f"({self.integer(depth - 1)} {rng.choice('&|^')} {self.integer(depth - 1)})"
        if kind == 10:
            return f"({self.integer(depth - 1)} >> {rng.randint(0, 31)})"
        if kind == 11:
            return f"(int)({rng.choice(['unsigned char', 'short', 'signed char', 'unsigned short'])}){self.integer(depth - 1)}"
        return f"({self.condition(depth - 1)} ? {self.integer(depth - 1)} : {self.integer(depth - 1)})"

    def natural(self, depth):
        rng = self.rng
        kind = rng.randint(0, 6 if depth > 0 else 1)
        if kind == 0:
            return rng.choice(self.unsigned)
        if kind == 1:
            return f"{rng.choice([1, 5, 4294967295])}u"
        if kind == 2:
            return f"(unsigned){self.integer(depth - 1)}"
        if kind == 3:
            return f"({self.natural(depth - 1)} {rng.choice('/%')} ({self.natural(depth - 1)} | 1u))"
        if kind == 4:
            return f"({self.natural(depth - 1)} {rng.choice(['<<', '>>'])} {rng.randint(0, 31)})"
        return f"({self.natural(depth - 1)} {rng.choice('+-*^')} {self.natural(depth - 1)})"

    def condition(self, depth):
        rng = self.rng
        compare = rng.choice(["<", "<=", ">", ">=", "==", "!="])
        kind = rng.randint(0, 5 if depth > 0 else 2)
        if kind == 0:
            return f"({self.real(0)} {compare} {self.real(0)})"
        if kind == 1:
            return f"({self.integer(depth - 1 if depth > 0 else 0)} {compare} {self.integer(0)})"
        if kind == 2:
            return f"({self.natural(0)} {compare} {self.natural(0)})"
        if kind == 3:
            return f"(!{self.condition(depth - 1)})"
        return f"({self.condition(depth - 1)} {rng.choice(['&&', '||'])} {self.condition(depth - 1)})"

    def body(self, margin, depth, loop, count=None):
        for _ in range(count or self.rng.randint(1, 3)):
            self.statement(margin + "  ", depth + 1, loop)

    def statement(self, margin, depth, loop):
        rng = self.rng
        self.budget -= 1
        kind = rng.randint(0, 23)
        if self.has_objects and self.work < 100 and rng.random() < 0.3:
            return self.object_statement(lambda line: self.lines.append(margin + line))
        if self.has_pointers and rng.random() < 0.2:
            return self.pointer_statement(lambda line: self.lines.append(margin + line))
        if depth > 4 or (kind > 8 and self.budget <= 0):
            kind = rng.randint(0, 8)
        add = lambda line: self.lines.append(margin + line)
        if kind < 3:
            add(f"{rng.choice(['d0', 'd1', 'a'])} = {self.real(3)};")
        elif kind < 5:
            add(f"{rng.choice(['i0', 'i1'])} = {self.integer(3)};")
        elif kind == 5:
            add(f"u0 = {self.natural(3)};")
        elif kind == 6:
            add(f"{rng.choice(self.array)}[{self.index()}] = {self.real(2)};")
        elif kind == 7:
            add(f"y[{self.index()}] = {self.integer(2)};")
        elif kind == 8:
            add(f"{rng.choice(['d0', 'd1'])} {rng.choice(['+', '-', '*'])}= {self.real(2)};")
        elif kind < 13:
            add(f"if {self.condition(2)} {{")
            self.body(margin, depth, loop)
            if rng.random() < 0.5:
                add("} else {")
                self.body(margin, depth, loop)
            add("}")
        elif kind < 17 and self.work < 400:
            self.loop(margin, depth)
        elif kind == 17:
            add(f"switch ({self.integer(1)} & {rng.choice([3, 7])}) {{")
            for case in rng.sample(range(8), rng.randint(1, 4)):
                add(f"case {case}:")
                self.body(margin, depth, loop, 1)
                if rng.random() < 0.7:
                    add("  break;")
            add("default:")
            self.body(margin, depth, loop, 1)
            add("}")
        elif kind == 18 and loop:
            add(f"if {self.condition(1)} {rng.choice(['break', 'continue'])};")
        elif kind == 19:
            add(f"if {self.condition(2)} return {self.real(2)};")
        elif kind == 20:
            label = f"l{self.labels}"
            self.labels += 1
            add(f"if {self.condition(2)} goto {label};")
            self.body(margin, depth, loop)
            add(f"{label}:;")
        elif kind >= 22:
            self.copy(add)
        elif kind == 21 and self.number > 0 and self.work < 20:
            callee = rng.randint(max(0, self.number - 6), self.number - 1)
            add(f"d0 = {self.table}_{callee}({self.real(1)}, {self.real(1)}, {self.integer(1)}, n, {rng.choice(['x', *self.array])}, y);")
        else:
            add(f"d1 = {self.real(3)};")

    def copy(self, add):
        """Copies whole elements, directly and by functions that do not access them in another way."""
        rng = self.rng
        a, i, k = rng.choice(self.array), rng.randint(0, 3), rng.randint(0, 4)
        b = rng.choice(self.array)
        if b == a:
            b, i = a + " + 4", 0  # they do not overlap
        add(
            rng.choice(
                [
                    f"memset({a} + {i}, 0, {k} * sizeof(double));",
                    f"memset(y + {i}, 0, {k} * sizeof(int));",
                    f"memmove({a} + {i}, {a}, {k} * sizeof(double));",
                    "memmove(y, y + 3, 4 * sizeof(int));",
                    f"clear_reals({a} + {i});",
                    f"clear_ints(y + {i});",
                    f"copy_reals({a} + {i}, {b});",
                    "copy_ints(y, y + 4);",
                    f"assign_reals({a} + {i}, {b});",
                    "assign_ints((struct ints *)(y + 4), (const struct ints *)y);",
                    f"d1 = no_use({a} + {i}, y + 1, d0);",
                ]
                + ([f"copy_some({a} + {i}, {a} + 1, {self.index()} & 3);"] if rng.random() < 0.2 else [])
            )
        )

    def pointer_statement(self, add):
        rng = self.rng
        kind = rng.randint(0, 5)
        if kind == 0:
            add(f"f = {self.condition(1)} ? operations[{self.index()} & 3] : {rng.choice(['sum_of', 'larger', 'f', 'w[k & 1].f'])};")
        elif kind == 1:
            add(f"d0 = f({self.real(1)}, {self.real(1)});")
        elif kind == 2:
            add(f"w[{self.index()} & 1].f = f; w[1].r = applied(w[i0 & 1].f, {self.real(1)}, w[0].r);")
        elif kind == 3:
            add(f"i1 = (f == difference) + 2 * (w[0].f != f); d1 = w[{self.index()} & 1].f({self.real(0)}, w[1].r);")
        elif kind == 4:
            add("{ struct operation const c = w[0]; w[0] = w[1]; w[1] = c; }")
        elif self.has_objects:
            add(f"changes[{self.index()} & 1]({self.object()}, {self.integer(1)});")
        else:
            add(f"d0 = applied(f, {self.real(1)}, {self.real(1)});")

    def object(self):
        """A pointer to an object."""
        i = f"({self.rng.choice(self.ints)} & 3)"
        return self.rng.choice(["p", f"&o[{i}]", f"(m + {i})", f"rows[{i}]", f"(o + {self.rng.randint(0, 3)})"])

    def object_statement(self, add):
        rng = self.rng
        a, b = self.object(), self.object()
        kind = rng.randint(0, 15)
        if kind < 2:
            add(f"p = {self.condition(1)} ? {a} : {b};")
        elif kind == 2:
            add(f"*({a}) = made({self.real(1)}, {self.integer(1)});")
        elif kind == 3:
            add(f"set({a}, {self.real(1)}, {self.integer(1)});")
        elif kind == 4:
            add(f"if ({a} != {b}) swap({a}, {b});")
        elif kind == 5:
            add(f"{{ struct pair const w = both({self.real(1)}, {self.integer(1)}); d0 = w.r; i0 = w.i; }}")
        elif kind == 6:
            add(f"d1 = of_value(*({a}), both({self.real(0)}, i1));")
        elif kind == 7:
            add(f"rows[{self.index()} & 3] = {a};")
        elif kind == 8:
            add(f"({a})->next = {rng.choice([b, '0'])};")
        elif kind == 9:
            add(f"d0 = along({a}, {rng.randint(0, 9)});")
        elif kind == 10:
            add(f"({a})->t[{self.integer(0)} & 1] {rng.choice(['=', '+=', '*='])} {self.real(1)};")
        elif kind == 11:
            add(f"({a})->in.{rng.choice(['h', 'c'])} += {self.integer(1)};")
        elif kind == 12:
            add(f"i0 = ({a})->i + ({b})->in.h; d1 = ({a})->q + ({b})->r;")
        elif kind == 13:
            add("memmove(m + 1, m, 3 * sizeof(struct object));" if rng.random() < 0.5 else "memcpy(m, o, 4 * sizeof(struct object));")
        elif kind == 14:
            add(f"i1 = (int)({rng.choice(['p', '&o[k & 3]'])} == {a}); ({a})->i = i1 - 3;")
        else:
            add(f"if (({a})->next) ({a})->next->r = {self.real(1)};")

    def loop(self, margin, depth):
        rng = self.rng
        self.names += 1
        c = f"c{self.names}"
        times = rng.randint(1, 9)
        before, self.work = self.work, self.work * times
        form = rng.randint(0, 6)
        declared = "int"
        if form == 0:
            head = f"for (int {c} = 0; {c} < {times}; ++{c})"
        elif form == 1:
            head = f"for (int {c} = {times}; {c} > 0; {c} -= {rng.randint(1, 3)})"
        elif form == 2:
            head = f"for (unsigned {c} = {rng.randint(0, 3)}; {c} < {times}u; {c} += {rng.randint(1, 2)})"
            declared = "unsigned"
        elif form == 3:
            head = f"for (long {c} = 0; {c} < n; ++{c})"
            declared = "long"
        elif form == 4:
            head = f"for (int {c} = {times}; {c} >= 0; --{c})"
        elif form == 5:
            self.lines.append(f"{margin}{{ int {c} = 0; while ({c}++ < {times} && {self.condition(1)}) {{")
        else:
            self.lines.append(f"{margin}{{ int {c} = 0; do {{")
        if form < 5:
            self.lines.append(f"{margin}{head} {{")
        names = self.unsigned if declared == "unsigned" else self.ints
        if declared != "long":
            names.append(c)
        self.body(margin, depth, form != 6)
        if declared != "long":
            names.remove(c)
        self.lines.append(margin + ("}" if form < 5 else "} }" if form == 5 else f"}} while (++{c} < {times}); }}"))
        self.work = before


def main():
    seed, count, path = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
    table = sys.argv[4]
    rng = random.Random(seed)
    with open(path, "w", encoding="utf-8") as out:
        out.write(HEAD)
        for number in range(count):
            out.write("\n" + function(rng, table, number).text() + "\n")
        out.write("\ntypedef double function(double, double, int, long, double *, int *);\n")
        out.write(f"function *const {table}[] = {{")
        out.write(", ".join(f"{table}_{i}" for i in range(count)))
        out.write("};\n")


main()
