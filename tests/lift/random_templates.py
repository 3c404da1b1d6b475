#!/usr/bin/env python3
"""Writes random function templates over a number type, whose behaviour is defined, and which end.

usage: random_templates.py <seed> <functions> <header>

The header has `template <class T> T f<i>(T a, T b, int k)` in the namespace `templates`, the functions `double number<i>(double a, double b,
int k)` that call them, if OVERDUB_RANDOM_NUMBERS is defined, and the macro OVERDUB_RANDOM_TEMPLATES(X), which is X(0) X(1) and so on.
"""
import random
import sys

UNARY = ["sin({})", "cos({})", "exp(T(0.01) * {})", "sqrt(abs({}) + 1)", "atan({})", "tanh({})", "abs({})", "-({})", "log(abs({}) + T(0.5))"]


class function:
    def __init__(self, rng):
        self.rng, self.lines = rng, []
        self.ints = ["k", "i"]
        self.budget, self.loops = rng.randint(5, 14), 0

    def text(self, number):
        self.lines = [
            f"template <class T>\nT f{number}(T a, T b, int k) {{",
            "  using std::abs, std::sin, std::cos, std::exp, std::sqrt, std::atan, std::tanh, std::log;",
            "  T x = 0.5, y(k), t[4] = {a, b, T(1.5), 0.0};",
            "  [[maybe_unused]] int i = k * 3;",
        ]
        while self.budget > 0:
            self.statement("  ", 0)
        self.lines += [f"  return x + {self.real(2)} * y + t[{self.index()}];", "}"]
        return "\n".join(self.lines)

    def index(self):
        return f"{self.rng.choice(self.ints)} & 3"

    def real(self, depth):
        rng = self.rng
        kind = rng.randint(0, 9 if depth > 0 else 3)
        if kind < 2:
            return rng.choice("abxy")
        if kind == 2:
            return f"t[{self.index()}]"
        if kind == 3:
            return rng.choice(["T(0.25)", "T(-1.5)", "T(3)", f"T({rng.choice(self.ints)} & 7)"])
        if kind < 7:
            return f"({self.real(depth - 1)} {rng.choice('+-*')} {self.real(depth - 1)})"
        if kind == 7:
            return f"{self.real(depth - 1)} / (abs({self.real(depth - 1)}) + 1)"
        return rng.choice(UNARY).format(self.real(depth - 1))

    def condition(self):
        rng = self.rng
        compared = rng.choice(["<", ">", "<=", ">="])
        if rng.random() < 0.5:
            return f"{self.real(1)} {compared} {self.real(1)}"
        return f"({rng.choice(self.ints)} & 3) {compared} {rng.randint(0, 3)}"

    def body(self, margin, depth):
        for _ in range(self.rng.randint(1, 2)):
            self.statement(margin + "  ", depth + 1)

    def statement(self, margin, depth):
        rng = self.rng
        self.budget -= 1
        add = lambda line: self.lines.append(margin + line)
        kind = rng.randint(0, 5 if depth > 2 or self.budget <= 0 else 11)
        if kind < 3:
            to, x = rng.choice("xy"), self.real(3)
            add(f"{to} = {x if x != to else 'T(2) * ' + x};")  # compilers warn of x = x
        elif kind < 5:
            add(f"{rng.choice(['x', 'y', f't[{self.index()}]'])} {rng.choice('+-')}= {self.real(2)};")
        elif kind == 5:
            add(f"t[{self.index()}] = {self.real(2)} * T(0.5);")
        elif kind < 8:
            add(f"if ({self.condition()}) {{")
            self.body(margin, depth)
            if rng.random() < 0.5:
                add("} else {")
                self.body(margin, depth)
            add("}")
        elif kind < 10:
            self.loops += 1
            c = f"c{self.loops}"
            add(f"for (int {c} = 0; {c} < {rng.choice(['3', '5', '(k & 7)'])}; ++{c}) {{")
            self.ints.append(c)
            self.body(margin, depth)
            self.ints.remove(c)
            if rng.random() < 0.3:
                add(f"  if ({self.condition()}) break;")
            add("}")
        elif kind == 10:
            add(f"if ({self.condition()}) return {self.real(2)};")
        else:
            add(f"i += {rng.randint(1, 5)};")


def main():
    seed, count, path = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
    rng = random.Random(seed)
    with open(path, "w", encoding="utf-8") as out:
        out.write("#pragma once\n#include <cmath>\n\nnamespace templates {\n\n")
        for number in range(count):
            out.write(function(rng).text(number) + "\n")
        out.write("\n} // namespace templates\n\n#ifdef OVERDUB_RANDOM_NUMBERS\n")
        for number in range(count):
            out.write(f"double number{number}(double a, double b, int k) {{ return templates::f{number}(a, b, k); }}\n")
        out.write("#endif\n#define OVERDUB_RANDOM_TEMPLATES(X) ")
        out.write(" ".join(f"X({number})" for number in range(count)) + "\n")


main()
