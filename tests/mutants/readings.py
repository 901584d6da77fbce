"""Checks of the reader: rewritten draws keep their law, rounded events have true ends, and texts are what Python makes of them."""

from __future__ import annotations

from fractions import Fraction
from types import SimpleNamespace

from dpaudit.errors import Unsupported
from dpaudit.spec import Spec
from dpaudit.verifier.ordinary import coins, grains
from dpaudit.verifier.ordinary.reading import read
from dpaudit.verifier.ordinary.values import Opaque, Scalar
from dpaudit.verifier.ordinary.wording import Words


def coins_that_answer_together_keep_their_law():
    toss, fair = (1, "noise__1 = bernoulli(Fraction(1, 3))", 1), (2, "noise__2 = bernoulli(Fraction(1, 2))", 1)
    keep, other = [(2, "x = t", 1)], [fair, (2, "x = noise__2", 1)]
    for first, second, chance in ((keep, other, "kept = randomized_response(t, Fraction(2, 3))"), (other, keep, "Fraction(5, 6))")):
        made = coins.answered([toss, (1, "if noise__1:", 1), *first, (1, "else:", 1), *second])
        assert len(made) == 2
        assert made[0][1].endswith(chance)
    biased = [(2, "noise__2 = bernoulli(Fraction(1, 4))", 1), other[1]]
    lines = [toss, (1, "if noise__1:", 1), *keep, (1, "else:", 1), *biased]
    assert lines == coins.answered(lines)
    changed = [
        (1, "noise__1 = bernoulli(p)", 1),
        (1, "p = Fraction(1, 9)", 1),
        (1, "if noise__1:", 1),
        *keep,
        (1, "else:", 1),
        *other,
    ]
    assert changed == coins.answered(changed)
    (_, coin, _), (_, use, _) = coins.coined([(1, "noise__1 = uniform_int(6)", 1), (1, "x = (noise__1 < 2)", 1)])
    assert (coin, use) == ("noise__1 = bernoulli(Fraction(1, 3))", "x = noise__1")


def uniform_numbers_become_noise_of_their_law_alone():
    body = (
        "import math, random\ndef f(q: list[int], eps: float):\n    u = random.random() - 0.5\n    return len(q) - {} / eps * {}\n"
    )
    sign, log = "math.copysign(1, u)", "math.log(1 - 2 * abs(u))"
    spec = Spec("eps", "add_remove", requires=["eps > 0"])
    assert (
        "__down = laplace(" in read(body.format(sign, log), spec).text
        or "__up = laplace(" in read(body.format(sign, log), spec).text
    )
    for wrong in ((1, log), (sign, "math.log(1 - abs(u))")):
        try:
            read(body.format(*wrong), spec)
        except Unsupported:
            continue
        raise AssertionError(wrong)


def rounded_events_end_where_the_rounded_value_changes():
    number = Scalar("x__1", "real", frozenset({"float"}))
    digits = Scalar("1", "int", frozenset({"int"}), 1, public=True)
    rounded = Opaque("1:1:1:1:round", (number, digits))
    grain = grains._grain(SimpleNamespace(formats={}), rounded)
    assert grain == grains.Grain(Fraction(1, 10), Fraction(1, 20))
    ends = list(grain.ends_near(Fraction(1, 4)))
    assert all(round(float(end) - 1e-6, 1) != round(float(end) + 1e-6, 1) for end in ends)
    cut = grains._cut(grain, Fraction(0), above=True)
    assert all(end > 0 for end in cut.ends_near(Fraction(0)))


def texts_are_what_python_makes_of_them():
    lower, starts = (("lower", ()),), (("startswith", ("ab",)),)
    words = Words({0: "abc", 1: "x"})
    assert words.text_for(1, {starts: 1}) is None
    assert words.text_for(None, {lower: 1, starts: 1}) is None
    assert words.text_for(None, {lower: 0, starts: 1}).lower() == "abc"


CHECKS = (
    coins_that_answer_together_keep_their_law,
    uniform_numbers_become_noise_of_their_law_alone,
    rounded_events_end_where_the_rounded_value_changes,
    texts_are_what_python_makes_of_them,
)
