"""The table behind the alignment theorems: the conditions of each law on a draw and the shift of its noise, and their cost.

Every entry is a bound on `ln f(x) - ln f'(x + s)`, where f and f' are the densities in the two runs, or for zCDP one on the
Rényi divergence. A cost is `units * rate`: units add up over the requests of a site, the rate belongs to the site where its
parameters never change.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from dpaudit.verifier.ir import ON_LATTICE, TWO_VALUED, Draw, Law, Relation
from dpaudit.verifier.product.adjacency import Neighbours
from dpaudit.verifier.product.rational import at_most, reduce_ratio
from dpaudit.verifier.terms import (
    FALSE,
    ONE,
    TRUE,
    ZERO,
    Op,
    Sort,
    Term,
    absolute,
    add,
    choose,
    conjunction,
    constant,
    divide,
    equal,
    largest,
    least,
    length,
    less,
    less_equal,
    multiply,
    negation,
    number_of,
    subtract,
    variables,
)

Pair = tuple[Term, Term]


@dataclass(frozen=True)
class DrawConditions:
    """The conditions and the cost of one draw with one shift."""

    valid: Term  # that the law has a meaning, over the parameters of run 1
    same: Term  # that its parameters are equal in both runs, save those whose difference is in the cost
    support: Term  # that moved noise is noise that the law can give
    lattice: Term  # that the shift keeps noise on its lattice
    piecewise: Term  # that noise is moved by a constant on each of countably many pieces, where it has a density
    fact: Term  # what is known of every value of this law
    units: Term  # the part of the cost that adds up over requests
    rate: Term  # the cost of one unit
    odds: Term  # the factor by which the density may fall, for laws on two values
    differs: Term  # whether it may fall at all, for those


NORMAL: Final = (Law.GAUSSIAN, Law.DISCRETE_GAUSSIAN)
FINITE: Final = (Law.EXPONENTIAL_CHOICE, Law.UNIFORM_INT, *TWO_VALUED)


def draw_conditions(
    draw: Draw,
    args: Sequence[Pair],
    noise: Term,
    shift: Term,
    pairs: Neighbours,
    cut: Fraction | None = None,
    *,
    squares: bool = False,
) -> DrawConditions:
    """The conditions and the cost of a draw, from its parameters in both runs, its noise and the shift of the noise in run 2.

    With a `cut`, noise further than so many scales from 0 fails, and the cost of a normal law is bounded on the rest. With
    `squares` an (epsilon, delta) claim is one about the sum of squared shifts, for Gaussian noise on the real line alone.
    """
    priced = (Law.GAUSSIAN,) if squares else NORMAL if pairs.contract.cost == "zcdp" else ()
    first = [one for one, _ in args]
    same = conjunction(*(equal(one, other) for one, other in args))
    still = equal(shift, ZERO) if noise.sort is not Sort.BOOL else TRUE
    valid = support = fact = TRUE
    units, rate, odds, differs = ZERO, ONE, ONE, FALSE
    match draw.law:
        case Law.LAPLACE | Law.DISCRETE_LAPLACE:
            valid, units, rate = _positive(first[0]), absolute(shift), divide(ONE, first[0])
        case Law.EXPONENTIAL | Law.GEOMETRIC:
            valid, units, rate = _positive(first[0]), shift, divide(ONE, first[0])
            fact, support = less_equal(ZERO, noise), less_equal(ZERO, add(noise, shift))
        case Law.GAUSSIAN | Law.DISCRETE_GAUSSIAN:
            valid, units = _positive(first[0]), multiply(shift, shift)
            rate = divide(ONE, multiply(constant(2), first[0], first[0]))
            if cut is not None:
                units = multiply(absolute(shift), add(multiply(constant(2 * cut), first[0]), absolute(shift)))
        case Law.EXPONENTIAL_CHOICE:
            epsilon, sensitivity = first[-2:]
            valid = conjunction(at_most(ZERO, epsilon), _positive(sensitivity))
            units, rate = _spread(draw, args[:-2], pairs), divide(epsilon, multiply(constant(2), sensitivity))
            same = conjunction(*(equal(one, other) for one, other in args[-2:]))
            fact = conjunction(less_equal(ZERO, noise), less(noise, _candidates(draw, args)))
            valid = conjunction(valid, less(ZERO, _candidates(draw, args)))
            support = still
        case Law.BERNOULLI:
            valid = _inside(first[0])
        case Law.RANDOMIZED_RESPONSE:
            probability = first[1]
            valid = _inside(probability)
            same = equal(*args[1])
            differs = negation(equal(*args[0]))
            odds = choose(equal(*args[0]), ONE, _odds(probability))
        case Law.UNIFORM_INT:
            valid = less_equal(ONE, first[0])
            fact = conjunction(less_equal(ZERO, noise), less(noise, first[0]))
            support = conjunction(less_equal(ZERO, add(noise, shift)), less(add(noise, shift), first[0]))
    if bool(priced) is not (draw.law in (priced or NORMAL)) and not (draw.law is Law.GAUSSIAN and cut is not None):
        # The theorem at hand prices only one kind of noise; the other kind may occur, unmoved and with equal parameters.
        support = conjunction(support, still, equal(units, ZERO), equal(odds, ONE))
        units, rate, odds, differs = ZERO, ONE, ONE, FALSE
        same = conjunction(*(equal(one, other) for one, other in args))
    piecewise = constant(value=_piecewise(draw.law, noise, shift))
    return DrawConditions(valid, same, support, _on_lattice(draw, shift), piecewise, fact, units, rate, odds, differs)


def _positive(term: Term) -> Term:
    """That a number is above 0, and that what it divides by is."""
    return at_most(ZERO, term, strict=True)


def _inside(probability: Term) -> Term:
    """That a probability is neither 0 nor 1."""
    return conjunction(_positive(probability), at_most(probability, ONE, strict=True))


def _piecewise(law: Law, noise: Term, shift: Term) -> bool:
    """True if a shift may be what it is by its form: a normal law's must not look at its own noise at all."""
    if law in NORMAL:
        return noise not in variables(shift)
    return law in ON_LATTICE or law in FINITE or not is_stretched(shift, noise)


def is_stretched(shift: Term, noise: Term) -> bool:
    """True if the noise occurs in its shift outside of tests, so that it is stretched and not only moved."""
    # Parts that occur often are looked at once.
    seen: set[Term] = set()
    waiting = [shift]
    while waiting:
        part = waiting.pop()
        if part in seen:
            continue
        seen.add(part)
        if part.op is Op.CHOOSE:
            waiting += part.args[1:]
        elif part.op in (Op.ADD, Op.MULTIPLY):
            waiting += part.args
        elif noise in variables(part):
            return True
    return False


def _on_lattice(draw: Draw, shift: Term) -> Term:
    """TRUE if the form of a shift shows a whole multiple of the lattice, and where there is no lattice."""
    if draw.law not in ON_LATTICE:
        return constant(value=draw.law not in FINITE or shift.sort is not Sort.REAL)
    step = number_of(draw.args[-1])
    return constant(value=step is not None and step > 0 and _multiple(shift, Fraction(step)))


def _multiple(term: Term, step: Fraction) -> bool:
    """True if the form of a term shows it to be a whole multiple of the step."""
    number = number_of(term)
    if number is not None:
        return (number / step).denominator == 1
    if term.op is Op.CHOOSE:
        return all(_multiple(branch, step) for branch in term.args[1:])
    if term.op is Op.ADD:
        return all(_multiple(part, step) for part in term.args)
    factor = number_of(term.args[0]) if term.op is Op.MULTIPLY else None
    if factor is not None and all(part.sort is Sort.INT for part in term.args[1:]):
        return (factor / step).denominator == 1
    return term.sort is Sort.INT and (1 / step).denominator == 1


def _candidates(draw: Draw, args: Sequence[Pair]) -> Term:
    """The number of candidates of a choice."""
    return constant(len(args) - 2) if draw.scores is None else length(draw.scores)


def _spread(draw: Draw, scores: Sequence[Pair], pairs: Neighbours) -> Term:
    """Largest minus smallest change of a score, or a bound on it: the choice's density moves by that at most."""
    if draw.scores is not None:
        relation = pairs.relation(draw.scores)
        if relation is None:
            return ZERO
        # Changes of both signs lie apart by two bounds at most; where at most their sizes' sum is bounded, by one.
        return multiply(constant(2 if relation in (Relation.ALL, Relation.L2) else 1), pairs.bound(draw.scores))
    if not scores:
        return ZERO
    changes = [subtract(other, one) for one, other in scores]
    high = low = changes[0]
    for change in changes[1:]:
        high, low = largest(high, change), least(low, change)
    return subtract(high, low)


def odds_ratio(probability: Term) -> Term:
    """The ratio p / (1 - p)."""
    return reduce_ratio(divide(probability, subtract(ONE, probability)))


def _odds(probability: Term) -> Term:
    """The larger of p / (1 - p) and its inverse."""
    ratio = odds_ratio(probability)
    return choose(less_equal(ONE, ratio), ratio, reduce_ratio(divide(ONE, ratio)))
