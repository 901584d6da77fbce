"""Programs outside the public suite: what is true is proven, and what is false is not, in every law and every kind of loop."""

from __future__ import annotations

import pytest

from dpaudit.spec import L1, L2, One, Spec
from dpaudit.verifier.frontend import parse
from dpaudit.verifier.proving import Failed, Proof, prove

ONE_VALUE = ["e > 0", "len(q) >= 1"]


def verdict(source, **promise):
    """What the prover says of a text with a promise."""
    return prove(parse(source, Spec(**promise)), seconds=30)


def each(noise, element="Fraction"):
    """A program that releases every element with noise."""
    return f"""
def each(q: list[{element}], e: Fraction) -> list[{element}]:
    out = []
    for i in range(len(q)):
        out.append(q[i] + {noise})
    return out
"""


def first(value, element="Fraction"):
    """A program that releases one value."""
    return f"def first(q: list[{element}], e: Fraction) -> {element}:\n    return {value}\n"


def largest(noise, element, zero):
    """The index of the largest noisy value."""
    return f"""
def largest(q: list[{element}], e: Fraction) -> int:
    best = 0
    top = {zero}
    for i in range(len(q)):
        noisy = q[i] + {noise}
        if noisy > top or i == 0:
            best = i
            top = noisy
    return best
"""


RARE = """
def rare(q: list[Fraction], n: int) -> Fraction:
    for i in range(n):
        x = laplace(1)
        if x > 5:
            return q[0]
    return Fraction(0)
"""
ENDLESS = """
def rare(q: list[Fraction]) -> Fraction:
    while True:
        x = laplace(1)
        if x > 5:
            return q[0]
"""
FAR = {"x": "0", "x.within": "5"}
PROVEN = {
    "discrete Laplace noise": (each("discrete_laplace(1 / e)", "int"), {"claim": "e", "adjacency": "one", "requires": ["e > 0"]}),
    "a bound on the sum of changes": (each("laplace(2 / e)"), {"claim": "e", "adjacency": L1(2), "requires": ["e > 0"]}),
    "a symbolic bound": (first("q[0] + laplace(e)"), {"claim": "1", "adjacency": One("e"), "requires": ONE_VALUE}),
    "a scale that varies": (each("laplace((i + 1) / e)"), {"claim": "e", "adjacency": "one", "requires": ["e > 0"]}),
    "noise times a factor": (
        first("q[0] + 2 * laplace(1 / (2 * e))"),
        {"claim": "e", "adjacency": "one", "requires": ONE_VALUE},
    ),
    "Gaussian noise": (
        each("gaussian(e)"),
        {"claim": "1 / (2 * e * e)", "adjacency": "one", "requires": ["e > 0"], "cost": "zcdp"},
    ),
    "discrete Gaussian noise": (
        each("discrete_gaussian(e)", "int"),
        {"claim": "1 / (2 * e * e)", "adjacency": "one", "requires": ["e > 0"], "cost": "zcdp"},
    ),
    "a bound on the squares of changes": (
        each("gaussian(e)"),
        {"claim": "9 / (2 * e * e)", "adjacency": L2(3), "requires": ["e > 0"], "cost": "zcdp"},
    ),
    "Gaussian noise but for its tails": (
        first("q[0] + gaussian(e)"),
        {
            "claim": ("(6 * e + 1) / (2 * e * e)", "0.0027"),
            "adjacency": "one",
            "requires": ONE_VALUE,
            "align": {"gaussian.1.within": "3"},
        },
    ),
    "rare events, each charged": (
        RARE,
        {"claim": ("0", "0.0068 * n"), "adjacency": "one", "requires": ["len(q) >= 1", "n >= 0"], "align": FAR},
    ),
    "a choice among scores": (
        "def chosen(q: list[Fraction], e: Fraction) -> int:\n    return exponential_choice([q[0], q[1], q[2]], e, 1)\n",
        {"claim": "e", "adjacency": "all", "requires": ["e > 0", "len(q) >= 3"]},
    ),
    "the largest with one-sided noise": (
        largest("exponential(2 / e)", "Fraction", "Fraction(0)"),
        {"claim": "e", "adjacency": "all", "requires": ["e > 0"]},
    ),
    "the largest with noise on a lattice": (
        largest("discrete_laplace(2 / e)", "int", "0"),
        {"claim": "e", "adjacency": "all", "requires": ["e > 0"]},
    ),
    "a while loop": (
        """
def each(q: list[Fraction], e: Fraction) -> list[Fraction]:
    out = []
    i = 0
    while i < len(q):
        out.append(q[i] + laplace(1 / e))
        i = i + 1
    return out
""",
        {"claim": "e", "adjacency": "one", "requires": ["e > 0"]},
    ),
    "a loop that may never end, alike in both runs": (
        """
def patient(q: list[Fraction], e: Fraction) -> Fraction:
    x = laplace(1)
    while x < 0:
        x = laplace(1)
    return q[0] + laplace(1 / e)
""",
        {"claim": "e", "adjacency": "one", "requires": ONE_VALUE},
    ),
    "nested loops": (
        """
def sums(q: list[Fraction], e: Fraction, m: int) -> list[Fraction]:
    out = []
    for j in range(m):
        total = Fraction(0)
        for i in range(len(q)):
            total = total + q[i]
        out.append(total + laplace(m / e))
    return out
""",
        {"claim": "e", "adjacency": "one", "requires": ["e > 0", "m >= 1"]},
    ),
    "an index and a number": (
        """
def both(q: list[Fraction], e: Fraction) -> tuple[int, Fraction]:
    best = 0
    top = Fraction(0)
    for i in range(len(q)):
        noisy = q[i] + laplace(2 / e)
        if noisy > top or i == 0:
            best = i
            top = noisy
    return best, q[0] + laplace(1 / e)
""",
        {"claim": "2 * e", "adjacency": "all", "requires": ONE_VALUE},
    ),
    "an early return": (
        """
def above(q: list[Fraction], e: Fraction, t: Fraction) -> int:
    noisy = t + laplace(2 / e)
    for i in range(len(q)):
        if q[i] + laplace(4 / e) >= noisy:
            return i
    return -1
""",
        {"claim": "e", "adjacency": "all", "requires": ["e > 0"]},
    ),
    "a shift that depends on hidden noise drawn before": (
        """
def hidden(q: list[Fraction], e: Fraction) -> Fraction:
    h = gaussian(e)
    x = gaussian(e)
    return q[0] + x if h >= 0 else x
""",
        {
            "claim": "1 / (2 * e * e)",
            "adjacency": "one",
            "requires": ONE_VALUE,
            "cost": "zcdp",
            "align": {"x": "q[0] - other.q[0] if h >= 0 else 0"},
        },
    ),
    "a shift by the sign of the noise, away from 0": (
        "def still(q: list[Fraction], e: Fraction) -> int:\n    x = laplace(1 / e)\n    return 0\n",
        {"claim": "e", "adjacency": "one", "requires": ["e > 0"], "align": {"x": "1 if x >= 0 else -1"}},
    ),
}
UNPROVEN = {
    "rare events, one charged": (
        RARE,
        {"claim": ("0", "0.0068"), "adjacency": "one", "requires": ["len(q) >= 1", "n >= 0"], "align": FAR},
    ),
    "rare events until one happens": (
        ENDLESS,
        {"claim": ("0", "0.0068"), "adjacency": "one", "requires": ["len(q) >= 1"], "align": FAR},
    ),
    "a tail that is larger": (
        first("q[0] + gaussian(e)"),
        {
            "claim": ("(6 * e + 1) / (2 * e * e)", "0.0026"),
            "adjacency": "one",
            "requires": ONE_VALUE,
            "align": {"gaussian.1.within": "3"},
        },
    ),
    "a tail for a pure claim": (
        first("q[0] + laplace(1 / e)"),
        {"claim": "e", "adjacency": "one", "requires": ONE_VALUE, "align": {"laplace.1.within": "3"}},
    ),
    "one-sided noise": (
        first("q[0] + geometric(1 / e)", "int"),
        {"claim": "e", "adjacency": "dec", "requires": ONE_VALUE},
    ),
    "a shift by the sign of the noise, towards 0": (
        "def still(q: list[Fraction], e: Fraction) -> int:\n    x = laplace(1 / e)\n    return 0\n",
        {"claim": "e", "adjacency": "one", "requires": ["e > 0"], "align": {"x": "-1 if x >= 0 else 1"}},
    ),
    "more than one list changes": (
        "def two(q: list[Fraction], r: list[Fraction], e: Fraction) -> Fraction:\n    return q[0] + r[0] + laplace(1 / e)\n",
        {"claim": "e", "adjacency": {"q": "one", "r": "one"}, "requires": ["e > 0", "len(q) >= 1", "len(r) >= 1"]},
    ),
    "Gaussian noise for a pure claim": (first("q[0] + gaussian(e)"), {"claim": "e", "adjacency": "one", "requires": ONE_VALUE}),
    "Laplace noise for zCDP": (
        first("q[0] + laplace(1 / e)"),
        {"claim": "e * e / 2", "adjacency": "one", "requires": ONE_VALUE, "cost": "zcdp"},
    ),
    "a value that a loop's last round leaves behind": (
        """
def last(q: list[Fraction], e: Fraction) -> Fraction:
    while True:
        x = q[0]
        if laplace(1) > 0:
            break
    return x
""",
        {"claim": "e", "adjacency": "one", "requires": ONE_VALUE},
    ),
    "half of what a claim needs": (each("laplace(1 / e)"), {"claim": "e / 2", "adjacency": "one", "requires": ["e > 0"]}),
    "every value changes": (each("laplace(1 / e)"), {"claim": "e", "adjacency": "all", "requires": ["e > 0"]}),
}


@pytest.mark.parametrize("name", PROVEN)
def test_what_is_true_is_proven(name):
    source, promise = PROVEN[name]
    found = verdict(source, **promise)
    assert isinstance(found, Proof), found


@pytest.mark.parametrize("name", UNPROVEN)
def test_what_is_false_is_not_proven(name):
    source, promise = UNPROVEN[name]
    assert isinstance(verdict(source, **promise), Failed)
