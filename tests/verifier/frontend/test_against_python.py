"""Programs mean what Python does: on random data and noise both give the same outputs, draws, exceptions and types."""

from __future__ import annotations

import os
from fractions import Fraction
from itertools import count

import numpy as np
import pytest

from dpaudit.catalogue import PROGRAMS
from dpaudit.spec import spec
from dpaudit.verifier.frontend import parse
from dpaudit.verifier.interpreter import Undefined, run
from dpaudit.verifier.ir import ARGUMENTS, Law, ListOf
from dpaudit.verifier.terms import Sort

TRACES = int(os.environ.get("DPAUDIT_TRACES", "150"))
TAPE = 80
HALF = Fraction(1, 2)
STEPS = 3


@spec(claim="1", adjacency={})
def arithmetic(a: int, b: int, x: Fraction, y: Fraction, flag: bool) -> Fraction:  # noqa: FBT001
    """Every operator, with divisors that may be zero or negative, and short circuits that keep some of them away."""
    power = (a**0 + a**1 + b**2 + a**3 - b**4) * x**2 - y**0
    whole = a // b + a % b if b >= 1 and a // b >= -2 else min(a, b) - max(a, 3)
    safe = (b != 0 and x / b > y) or not flag
    chained = -1 <= a <= x < 2 * y + 1
    share = Fraction(a, b) if safe != chained else Fraction(a)
    unequal = flag == (a == b) and (flag or 1 / y > 0)
    result = abs(power) + whole + min(x, y) - max(share, x * y)
    return -result if unequal else result / (x - 1)


@spec(claim="1", adjacency="one", public=["r"])
def control(q: list[int], r: list[Fraction], n: int, step: int) -> tuple[list[Fraction], int]:  # noqa: C901
    """Nested loops, bounds that change, jumps of all kinds, an exception, parameters and names that are assigned again."""
    out: list[Fraction] = []
    total: Fraction = Fraction(0)
    steps = 0
    n = n + 1
    for i in range(n):
        n -= 1
        for j in range(i, n + 2):
            if i == 2 and j == 2:
                break
            if (i + j) % 3 == 1:
                continue
            total += r[i] - q[j]
            steps += 1
            if steps > 9:
                raise ValueError
        out.append(total)
    while n < 3:
        n += step
        steps = steps + 1
        if steps > 12:
            return out, -steps
        if n == 1:
            continue
        while True:
            limit = steps * n
            if limit > 3 or n < 2:
                break
            steps += 1
        total = total + limit
    if len(q) > len(r):
        return out, steps
    if total > 1:
        raise OverflowError
    out.append(total)
    return out, n


def clipped(x: Fraction, bound: Fraction) -> Fraction:
    """A helper of one line."""
    return min(max(x, -bound), bound)


def average(q: list[Fraction], start: int, bound: Fraction) -> Fraction:
    """A helper with a loop, which calls another and assigns to a parameter."""
    total = Fraction(0)
    bound = bound * HALF
    for i in range(start, len(q)):
        if q[i] > 3:
            continue
        total += clipped(q[i], bound)
    return total / (len(q) - start)


@spec(claim="1", adjacency="one")
def helpers(q: list[Fraction], k: int, i: int) -> Fraction:
    """Pure helpers, one of them where Python may leave it out, and global numbers."""
    i = i * STEPS
    small = 0 <= k < len(q) and clipped(q[k], HALF) > 0
    mean = average(q, k, Fraction(3)) - average(q, 0, clipped(HALF * k, HALF))
    return mean if small else mean + i


@spec(claim="1", adjacency="one", laws={"one_sided": "exponential"})
def draws(  # noqa: PLR0913
    q: list[Fraction],
    s: Fraction,
    m: int,
    *,
    laplace,
    discrete_laplace,
    one_sided,
    geometric,
    gaussian,
    discrete_gaussian,
    exponential_choice,
    bernoulli,
    randomized_response,
    uniform_int,
) -> tuple[list[Fraction], int, bool]:
    """Every law, several draws in one expression, draws in tests and in arguments of draws, keywords out of order."""
    out = []
    x = laplace(s) - laplace(scale=abs(laplace(1))) * gaussian(sigma=2)
    coin = bernoulli(HALF)
    if discrete_laplace(s) > geometric(lattice=1, scale=s) and coin == (s > 1):
        x = x + discrete_laplace(s, HALF) * discrete_gaussian(1, lattice=Fraction(2))
    while one_sided(1) > 1:
        out.append(x / s)
        jump = geometric(1, 3)
        x -= jump if m > 1 else 2 * s if m == 0 else x
    truth = randomized_response(bit=x > 0, probability=s / (1 + s))
    for i in range(uniform_int(m)):
        out.append(q[exponential_choice(sensitivity=1, scores=[x, s, 2], epsilon=laplace(1))])
        if i + exponential_choice(q, s, 1) == 2:
            out.append(discrete_gaussian(s) + x)
    return out, discrete_gaussian(s, 1), truth


def noise(law: Law, args: tuple, step: int):
    """What a sampler of this law gives for a step of the tape, of the type that the law has."""
    if law in (Law.DISCRETE_LAPLACE, Law.GEOMETRIC, Law.DISCRETE_GAUSSIAN):
        return step if args[-1] == 1 else step * Fraction(args[-1])
    if law is Law.EXPONENTIAL_CHOICE:
        return step % (len(args) - 2) if len(args) > 2 else 0
    if law is Law.UNIFORM_INT:
        return step % args[0] if args[0] >= 1 else 0
    if law is Law.BERNOULLI:
        return step > 0
    return args[0] != (step > 0) if law is Law.RANDOMIZED_RESPONSE else Fraction(step, 2)


class Tape:
    """One sequence of steps, and what was asked of it."""

    def __init__(self, steps):
        self.steps, self.asked, self.places = steps, [], count()

    def draw(self, law, args):
        """The next noise."""
        self.asked.append((law, tuple((type(value), value) for value in args)))
        return noise(law, args, int(self.steps[next(self.places)]))

    def sampler(self, law):
        """The function that a program calls."""

        def sample(*args, **named):
            given = {"lattice": 1, **dict(zip(ARGUMENTS[law], args, strict=False)), **named}
            values = [given[name] for name in ARGUMENTS[law]]
            return self.draw(law, (*values[0], *values[1:]) if law is Law.EXPONENTIAL_CHOICE else tuple(values))

        return sample


def typed(values):
    """Values with their types, lists as tuples."""
    return tuple(typed(value) if isinstance(value, (list, tuple)) else (type(value), value) for value in values)


def python(function, laws, arguments, steps):
    """What Python does: values or the name of an exception, and the draws."""
    tape = Tape(steps)
    samplers = {name: tape.sampler(law) for name, law in laws.items()}
    try:
        returned = function(**arguments, **samplers)
    except (ArithmeticError, LookupError, ValueError) as error:
        return type(error).__name__, tape.asked
    return typed(returned if isinstance(returned, tuple) else (returned,)), tape.asked


def verifier(program, arguments, steps):
    """What the program does: values, the name of an exception, or the check that failed, and the draws."""
    tape = Tape(steps)
    try:
        halt = run(program, arguments, draw=lambda statement, args: tape.draw(statement.law, args))
    except Undefined as error:
        return error, tape.asked
    return halt.exception or typed(halt.values), tape.asked


def value(rng, sort):
    """A parameter; small, so that ties, zeros and negative values are common."""
    if isinstance(sort, ListOf):
        return [value(rng, sort.element) for _ in range(rng.integers(0, 5))]
    number = int(rng.integers(-3, 5))
    return {Sort.INT: number, Sort.REAL: Fraction(number, int(rng.integers(1, 3))), Sort.BOOL: number > 0}[sort]


def compare(function):
    """Run both on random traces; gives how many ended in each way."""
    program = parse(function)
    code = function.__code__
    names = code.co_varnames[code.co_argcount : code.co_argcount + code.co_kwonlyargcount]
    laws = {name: Law({"one_sided": "exponential"}.get(name, name)) for name in names}
    rng = np.random.default_rng(20)
    ended = {"returned": 0, "raised": 0, "beyond": 0}
    for _ in range(TRACES):
        arguments = {parameter.name: value(rng, parameter.sort) for parameter in program.parameters}
        steps = rng.integers(-4, 5, size=TAPE)
        expected, expected_draws = python(
            function, laws, {name: list(v) if type(v) is list else v for name, v in arguments.items()}, steps
        )
        actual, draws_made = verifier(program, arguments, steps)
        if isinstance(actual, Undefined):
            allowed = {"divisor": ["ZeroDivisionError"], "index": ["IndexError"], "modulus": ["ZeroDivisionError"]}[
                actual.check.kind
            ]
            # Python reads q[-1] and divides by negative numbers, which the subset leaves out; everything else must be the same.
            beyond = actual.check.kind != "divisor" and expected not in allowed
            assert beyond or expected in allowed, (arguments, expected, actual)
            ended["beyond" if beyond else "raised"] += 1
            assert draws_made == expected_draws[: len(draws_made)]
            continue
        assert expected == actual, arguments
        assert expected_draws == draws_made, arguments
        ended["raised" if isinstance(expected, str) else "returned"] += 1
    return ended


@pytest.mark.parametrize("case", PROGRAMS, ids=lambda case: case.program.__name__)
def test_a_program_of_the_suite_means_what_python_does(case):
    ended = compare(case.program)
    assert TRACES // 3 < ended["returned"], ended


@pytest.mark.parametrize("function", [arithmetic, control, helpers, draws], ids=lambda function: function.__name__)
def test_every_construct_means_what_python_does(function):
    ended = compare(function)
    assert 5 < ended["returned"], ended
    assert 5 < ended["raised"], ended
