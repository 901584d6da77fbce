"""Inequalities between rational functions, turned into ones between polynomials that imply them.

Solvers do badly on division. A quotient of polynomials is compared by its numerator once every factor of its denominator is known
to be positive; that they are is part of what is handed back, so that nothing is cleared whose sign is not proven.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from fractions import Fraction

from flint import Ordering, fmpq, fmpq_mpoly, fmpq_mpoly_ctx

from dpaudit.verifier.terms import (
    FALSE,
    ZERO,
    Op,
    Term,
    add,
    conjunction,
    constant,
    divide,
    equal,
    less,
    less_equal,
    multiply,
    negation,
    number_of,
    subterms,
    subtract,
)

Ratio = tuple[fmpq_mpoly, fmpq_mpoly]


def at_most(left: Term, right: Term, known: Callable[[Term], bool] = lambda _: False, *, strict: bool = False) -> Term:
    """A formula without division that implies left <= right, or < where strict."""
    difference = subtract(left, right)
    compare = less if strict else less_equal
    if not any(part.op is Op.DIVIDE for part in subterms(difference)):
        return compare(left, right)
    atoms = tuple(dict.fromkeys(_atoms(difference)))
    divisors: list[fmpq_mpoly] = []
    try:
        numerator, denominator = _quotient(difference, atoms, divisors)
    except ZeroDivisionError:
        # What has no meaning anywhere is below nothing.
        return FALSE
    numerator = numerator / denominator.factor()[0]
    # Where a divisor is 0 there is nothing to compare, also where it has cancelled; even powers need no sign.
    positive = [_term(factor, atoms) for factor, power in denominator.factor()[1] if power % 2]
    other = [_term(factor, atoms) for divisor in divisors for factor, _ in divisor.factor()[1]]
    if not numerator.is_zero():
        for atom, generator in zip(atoms, numerator.context().gens(), strict=True):
            while known(atom) and numerator.gcd(generator) == generator:
                numerator = numerator / generator
                positive.append(atom)
    signs = [less(ZERO, factor) for factor in dict.fromkeys(positive)]
    signs += [negation(equal(factor, ZERO)) for factor in dict.fromkeys(other) if factor not in positive]
    return conjunction(*signs, compare(_term(numerator, atoms), ZERO))


def reduce_ratio(term: Term) -> Term:
    """A rational function in lowest terms, equal to the given one wherever that divides by nothing that is 0."""
    atoms = tuple(dict.fromkeys(_atoms(term)))
    try:
        numerator, denominator = _quotient(term, atoms, [])
    except ZeroDivisionError:
        return term
    return divide(_term(numerator, atoms), _term(denominator, atoms))


def proportion(one: Term, other: Term) -> Fraction | None:
    """The number that `one` is of `other`, where it is the same wherever both have a meaning; a guess's help, no proof."""
    atoms = tuple(dict.fromkeys((*_atoms(one), *_atoms(other))))
    try:
        numerator, denominator = _quotient(divide(one, other), atoms, [])
    except ZeroDivisionError:
        return None
    number = numerator.to_dict().get((0,) * len(atoms)) if numerator.is_constant() and denominator.is_constant() else None
    return None if number is None else _exact(number) / _exact(denominator.leading_coefficient())


def _quotient(term: Term, atoms: tuple[Term, ...], divisors: list[fmpq_mpoly]) -> Ratio:
    """Numerator and denominator over the atoms."""
    context = fmpq_mpoly_ctx.get(tuple(f"x{index}" for index in range(len(atoms))), Ordering.lex)
    return _ratio(term, dict(zip(atoms, context.gens(), strict=True)), context, divisors)


def _exact(number: fmpq) -> Fraction:
    """A coefficient."""
    return Fraction(int(number.p), int(number.q))


def _atoms(term: Term) -> Iterable[Term]:
    """The atoms of a rational function: variables, and terms that are not arithmetic."""
    if term.op in (Op.ADD, Op.MULTIPLY, Op.DIVIDE):
        for part in term.args:
            yield from _atoms(part)
    elif number_of(term) is None:
        yield term


def _ratio(term: Term, values: dict[Term, fmpq_mpoly], context: fmpq_mpoly_ctx, divisors: list[fmpq_mpoly]) -> Ratio:
    """Numerator and denominator in lowest terms; the numerators of all divisors are noted."""
    number = number_of(term)
    if number is not None:
        exact = Fraction(number)
        return context.constant(fmpq(exact.numerator, exact.denominator)), context.constant(1)
    if term in values:
        return values[term], context.constant(1)
    parts = [_ratio(part, values, context, divisors) for part in term.args]
    above, under = parts[0]
    for one, other in parts[1:]:
        if term.op is Op.ADD:
            above, under = above * other + one * under, under * other
        elif term.op is Op.MULTIPLY:
            above, under = above * one, under * other
        else:
            divisors.append(one)
            above, under = above * other, under * one
        if under.is_zero():
            raise ZeroDivisionError("a claim or a scale divides by zero")
        shared = above.gcd(under)
        above, under = above / shared, under / shared
    return above, under


def _term(polynomial: fmpq_mpoly, atoms: tuple[Term, ...]) -> Term:
    """A polynomial as a term."""
    parts = []
    for powers, coefficient in polynomial.to_dict().items():
        factors = [atom for atom, power in zip(atoms, powers, strict=True) for _ in range(int(power))]
        number = _exact(coefficient)
        parts.append(multiply(constant(int(number) if number.denominator == 1 else number), *factors))
    return add(*parts) if parts else ZERO
