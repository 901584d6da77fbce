"""Random programs of the subset mean what Python does, and what is refused is refused with an error of its own."""

from __future__ import annotations

import os
from fractions import Fraction

import numpy as np

from dpaudit.errors import Unsupported
from dpaudit.spec import Spec
from dpaudit.verifier.frontend import parse
from dpaudit.verifier.interpreter import Undefined, run

PROGRAMS = int(os.environ.get("DPAUDIT_PROGRAMS", "250"))
TRACES = 8
TAPE = 40
PROMISE = Spec(claim="1", adjacency={"q": "one", "c": "one"})
HEAD = "def f(q: list[Fraction], c: list[int], n: int, m: int, x: Fraction, b: bool) -> Fraction:\n"


class TapeIsUsedUp(Exception):
    """More draws than the tape has steps."""


class Author:
    """Writes one program; sorts fit mostly, values may be missing, divisors may be zero, indices out of range."""

    def __init__(self, rng):
        self.rng = rng
        self.loops = 0

    def pick(self, *options):
        """One of the options."""
        return options[self.rng.integers(len(options))]

    def whole(self, depth):
        """An int."""
        if depth == 0:
            return self.pick("n", "m", "k", "0", "1", "2", "-1", "len(q)", "len(c)", *[f"i{j}" for j in range(self.loops)])
        a, b = self.whole(depth - 1), self.whole(depth - 1)
        test = self.truth(depth - 1)
        return self.pick(
            a, f"({a} + {b})", f"({a} - {b})", f"({a} * 2)", f"({a} // {b})", f"({a} % {b})", f"-{a}", f"abs({a})", f"c[{a}]",
            f"max({a}, {b})", f"({a} if {test} else {b})",
        )  # fmt: skip

    def real(self, depth):
        """A Fraction."""
        if depth == 0:
            return self.pick("x", "y", "z", "Fraction(1, 2)", "Fraction(n)")
        a, b, k = self.real(depth - 1), self.real(depth - 1), self.whole(depth - 1)
        test = self.truth(depth - 1)
        return self.pick(
            a, f"({a} + {b})", f"({a} - {k})", f"({a} / {k})", f"({k} / {a})", f"({a} * 3)", f"-{a}", f"min({a}, {b})",
            f"({a} if {test} else {b})", f"q[{k}]", f"Fraction({k}, {self.whole(depth - 1)})", f"{a} ** 2 * 0",
            f"(laplace({a}) - {b})", f"(laplace(1) - laplace({a}))",
        )  # fmt: skip

    def truth(self, depth):
        """A bool."""
        if depth == 0:
            return self.pick("b", "p", "True", "x > 0", "n == m")
        a, b, k = self.truth(depth - 1), self.truth(depth - 1), self.whole(depth - 1)
        r, s = self.real(depth - 1), self.real(depth - 1)
        return self.pick(
            f"not ({a})", f"({a} and {b})", f"({a} or {b})", f"({r} <= {s})", f"({k} != {r})", f"({r} < {k} <= {s})",
            f"(({a}) == ({b}))", f"({k} > 0 and c[{k}] > 1)", f"(0 <= {k} < len(q) and q[{k}] > 0)",
        )  # fmt: skip

    def block(self, depth, size):
        """A few statements, as lines."""
        lines = [line for _ in range(size) for line in self.statement(depth)]
        return ["    " + line for line in lines or ["pass"]]

    def statement(self, depth):
        """One statement, as lines."""
        simple = [
            lambda: [f"k = {self.whole(2)}"],
            lambda: [f"k += {self.whole(1)}"],
            lambda: [f"y = {self.real(2)}"],
            lambda: [f"z -= {self.real(1)}"],
            lambda: [f"p = {self.truth(2)}"],
            lambda: [f"out.append({self.pick(self.whole, self.real, self.truth)(1)})"],
            lambda: [f"z = laplace({self.real(1)})"],
            lambda: [f"k = uniform_int({self.whole(1)})"],
            lambda: [f"n = {self.whole(1)}"],
        ]
        if depth == 0:
            return self.pick(*simple, *[lambda: [self.pick("break", "continue", "pass")]] * (self.loops > 0))()
        return self.pick(*simple, lambda: self.branch(depth), lambda: self.loop(depth), self.ending)()

    def branch(self, depth):
        """An if, perhaps with an else."""
        lines = [f"if {self.truth(2)}:", *self.block(depth - 1, 2)]
        return lines + self.pick([], ["else:", *self.block(depth - 1, 1)])

    def loop(self, depth):
        """A loop; a while loop draws in each round, so that it ends."""
        bound = self.pick("3", "len(q)", "n % 3", "k, k + 2", "uniform_int(3)")
        head = self.pick([f"for i{self.loops} in range({bound}):"], [f"while {self.truth(2)}:", "    z = laplace(1)"])
        self.loops += 1
        lines = [*head, *self.block(depth - 1, 2)]
        self.loops -= 1
        return lines

    def ending(self):
        """A conditional end."""
        return [f"if {self.truth(1)}:", "    " + self.pick("return out, k", "raise ValueError")]

    def program(self):
        """A whole function."""
        start = ["out = []", "k = 0", "y = Fraction(0)", *self.pick(["z = x", "p = b"], ["z = x"], [])]
        body = ["    " + line for line in start] + self.block(2, 4)
        return HEAD + "\n".join([*body, "    return out, k"]) + "\n"


def sampler(steps, asked):
    """The two laws, fed by a tape."""

    def draw(law, argument):
        if len(asked) == len(steps):
            raise TapeIsUsedUp
        asked.append((law, type(argument), argument))
        step = int(steps[len(asked) - 1])
        return Fraction(step, 2) if law == "laplace" else abs(step) % 3

    return draw


def python(text, arguments, steps):
    """How Python ends: values with types, or the name of an exception; and the draws."""
    asked = []
    draw = sampler(steps, asked)
    names = {
        "Fraction": Fraction,
        "laplace": lambda scale: draw("laplace", scale),
        "uniform_int": lambda size: draw("uniform_int", size),
    }
    exec(text, names)  # noqa: S102
    try:
        out, k = names["f"](*arguments.values())
    except (ArithmeticError, LookupError, ValueError, TapeIsUsedUp) as error:
        return type(error).__name__, asked
    return ([(type(value), value) for value in out], k), asked


def verifier(program, arguments, steps):
    """How the program ends, likewise; or the check that failed."""
    asked = []
    draw = sampler(steps, asked)
    try:
        halt = run(program, arguments, draw=lambda statement, args: draw(statement.law.value, *args))
    except TapeIsUsedUp as error:
        return type(error).__name__, asked
    except Undefined as error:
        return error.check.kind, asked
    return halt.exception or ([(type(value), value) for value in halt.values[0]], halt.values[1]), asked


def test_random_programs_mean_what_python_does():
    rng = np.random.default_rng(6)
    read = returned = 0
    for _ in range(PROGRAMS):
        text = Author(rng).program()
        try:
            program = parse(text, PROMISE)
        except Unsupported:
            continue
        read += 1
        for _ in range(TRACES):
            numbers = [int(number) for number in rng.integers(-2, 5, size=9)]
            arguments = {
                "q": [Fraction(number, 2) for number in numbers[: numbers[8] % 4]],
                "c": numbers[: numbers[7] % 4],
                "n": numbers[4],
                "m": numbers[5],
                "x": Fraction(numbers[6], 2),
                "b": numbers[3] > 0,
            }
            steps = rng.integers(-3, 4, size=TAPE)
            expected, expected_draws = python(text, arguments, steps)
            actual, draws = verifier(program, arguments, steps)
            if actual in ("modulus", "index"):
                # The program stops here; Python too, unless it divides by a negative number or reads q[-1].
                assert expected_draws[: len(draws)] == draws, text
                continue
            assert expected_draws == draws, text
            assert ("ZeroDivisionError" if actual == "divisor" else actual) == expected, text
            returned += not isinstance(actual, str)
    assert PROGRAMS / 10 < read, read
    assert PROGRAMS / 10 < returned, returned
