"""Checks of shifts that look at later noise, and of draws that sums and chains tie together: nothing but what theorems allow."""

from __future__ import annotations

import math

from flint import arb, fmpq

from dpaudit.exact import ball_endpoints
from dpaudit.spec import Spec
from dpaudit.verifier.alignment.ahead import leads
from dpaudit.verifier.confirming import Confirmations
from dpaudit.verifier.frontend import parse
from dpaudit.verifier.product.adjacency import directions
from dpaudit.verifier.product.execution import Execution
from dpaudit.verifier.product.rivals import SENSES
from dpaudit.verifier.product.runs import Misused
from dpaudit.verifier.product.statements import execute
from dpaudit.verifier.refuter.forms import Condition, Form
from dpaudit.verifier.refuter.paths import Noise, Undecided
from dpaudit.verifier.refuter.pieces import Function, decay
from dpaudit.verifier.refuter.regions import mass_of
from dpaudit.verifier.terms import Sort, add, apply, choose, constant, equal, variable

GAP = """
def gap(q: list[Fraction], eps: Fraction) -> tuple[int, Fraction]:
    best = q[0] + laplace(2 / eps)
    runner = Fraction(0)
    winner = 0
    for i in range(1, len(q)):
        x = q[i] + laplace(2 / eps)
        if x > best:
            runner = best
            best = x
            winner = i
        elif i == 1 or x > runner:
            runner = x
    return winner, best - runner
"""
MOST, INDEX, OUTPUT, ZERO = SENSES[0], variable("i", Sort.INT), variable("ghost.o", Sort.INT), constant(0, Sort.REAL)
PLAIN = Noise(decay(fmpq(1), arb(fmpq(1, 2)), whole=False, one_sided=False), fmpq(1))


def refused(source, alignment):
    """True if an alignment is one that no theorem allows."""
    program = parse(source, Spec("eps", "all", ["eps > 0", "len(q) >= 2"]))
    try:
        execute(Execution(program, directions(program)[0], alignment, {}, pointwise=True))
    except Misused:
        return True
    return False


def lead():
    """The alignment by which the winner keeps its lead."""
    program = parse(GAP, Spec("eps", "all", ["eps > 0", "len(q) >= 2"]))
    return next(leads(program, directions(program)[0]))


def only_a_chosen_draw_looks_ahead_and_at_rivals_alone():
    chosen, best = equal(INDEX, OUTPUT), variable("best", Sort.REAL)
    assert not refused(GAP, lead())
    for shift in (
        choose(chosen, MOST.apart, MOST.apart),
        choose(chosen, MOST.apart, constant(1, Sort.REAL)),
        choose(equal(apply("q", (INDEX,), Sort.REAL), ZERO), MOST.apart, ZERO),
        choose(chosen, add(MOST.apart, best), ZERO),
        choose(equal(best, ZERO), MOST.apart, ZERO),
        MOST.apart,
    ):
        assert refused(GAP, {**lead(), 2: shift})
    beside = GAP.replace("    winner = 0\n", "    winner = 0\n    z = laplace(1)\n", 1)
    assert refused(beside, {1: lead()[1], 2: best, 3: lead()[2]})


def the_form_fixes_how_many_draws_there_are_and_their_laws():
    rounds = "    n = 1\n    if best > 0:\n        n = 2\n    for i in range(n, len(q)):\n"
    scale = "b = Fraction(2)\n        if best > 0:\n            b = Fraction(3)\n        x = q[i] + laplace(b / eps)"
    for old, new in (
        ("    for i in range(1, len(q)):\n", rounds),
        ("x = q[i] + laplace(2 / eps)", scale),
        ("            winner = i\n", "            winner = i\n            break\n"),
        ("        if x > best:\n", "        if x > best:\n            y = laplace(1)\n"),
    ):
        assert refused(GAP.replace(old, new), {1: choose(equal(constant(0), OUTPUT), MOST.apart, ZERO)})


def one_draw_alone_is_chosen():
    program = parse(GAP, Spec("eps", "all", ["eps > 0", "len(q) >= 2"]))
    both = {1: choose(equal(constant(1), OUTPUT), MOST.apart, ZERO), 2: lead()[2]}
    book = execute(Execution(program, directions(program)[0], both, {}, pointwise=True, rounds=2))
    assert Confirmations().first_unproven([one for one in book.obligations if one.kind == "ahead"]) is not None


def below(factors, start=0):
    """A sum of draws is below minus a number."""
    return Condition(Form({place: fmpq(factor) for place, factor in factors.items()}, fmpq(start)), "<")


def chance(*conditions):
    """The probability of conditions on three like draws; None where it is not known."""
    try:
        low, high = ball_endpoints(mass_of(dict.fromkeys((1, 2, 3), PLAIN), conditions))
    except Undecided:
        return None
    assert high - low < 1e-9
    return float(low)


def sums_and_chains_of_draws_have_their_probabilities():
    first, second, third = below({1: 1, 2: -1}), below({2: 1, 3: -1}), below({1: 1, 3: -1})
    assert math.isclose(1 / 6, chance(first, second), abs_tol=1e-9)
    assert math.isclose(1 / 6, chance(first, second, third), abs_tol=1e-9)
    assert 0 == chance(first, second, below({3: 1, 1: -1}))
    assert chance(below({1: 1, 2: -1}, -5), below({2: 1, 3: -1}, -5), below({1: 1, 3: -1}, -1)) is None
    assert math.isclose(5 / 16, chance(below({1: 1}), below({1: 1, 2: 1}), below({1: 1, 2: 1, 3: 1})), abs_tol=1e-9)
    assert chance(below({1: 1, 2: 1, 3: 1}), below({1: 1, 2: -1, 3: 2})) is None


def densities_are_folded_in_any_order():
    one: Function = decay(fmpq(1), arb(1), whole=False, one_sided=False)
    two: Function = decay(fmpq(2), arb(1), whole=False, one_sided=True)
    folded = one.convolved(one).convolved(two)
    low, high = (ball_endpoints(found.within(fmpq(0), fmpq(1)).total()) for found in (folded.convolved(one), one.convolved(folded)))
    assert math.isclose(float(low[0]), float(high[0]), abs_tol=1e-9)


CHECKS = (
    only_a_chosen_draw_looks_ahead_and_at_rivals_alone,
    the_form_fixes_how_many_draws_there_are_and_their_laws,
    one_draw_alone_is_chosen,
    sums_and_chains_of_draws_have_their_probabilities,
    densities_are_folded_in_any_order,
)
