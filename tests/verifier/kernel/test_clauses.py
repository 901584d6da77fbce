"""Clauses mean what formulas mean: truth tables, and comparisons at random points."""

from __future__ import annotations

import itertools
from fractions import Fraction
from math import prod

from hypothesis import given, settings
from hypothesis import strategies as st

from dpaudit.verifier.evaluation import value_of
from dpaudit.verifier.kernel.checker import Cases
from dpaudit.verifier.kernel.clauses import Clauses, conjuncts
from dpaudit.verifier.terms import (
    ZERO,
    Sort,
    add,
    conjunction,
    constant,
    disjunction,
    equal,
    less,
    less_equal,
    multiply,
    negation,
    variable,
)

TRUTHS = [variable(name, Sort.BOOL) for name in "abc"]
NUMBERS = [variable("n", Sort.INT), variable("m", Sort.INT), variable("x", Sort.REAL)]
FORMULAS = st.recursive(
    st.sampled_from(TRUTHS),
    lambda inner: st.one_of(
        st.builds(negation, inner),
        st.builds(conjunction, inner, inner),
        st.builds(disjunction, inner, inner),
        st.builds(equal, inner, inner),
    ),
    max_leaves=8,
)
COEFFICIENTS = st.fractions(min_value=-4, max_value=4, max_denominator=4)
COMPARISONS = st.sampled_from([less, less_equal, equal])


@given(formula=FORMULAS)
def test_clauses_fail_where_the_formula_does_and_nowhere_else(formula):
    for values in itertools.product([False, True], repeat=len(TRUTHS)):
        pins = [symbol if value else negation(symbol) for symbol, value in zip(TRUTHS, values, strict=True)]
        expected = value_of(formula, dict(zip("abc", values, strict=True)))
        assert expected == Cases(Clauses([*pins, formula]).clauses).assume([])
        assert (not expected) == Cases(Clauses([*pins, *conjuncts(formula)]).clauses).assume([])


@settings(max_examples=200)
@given(
    compare=COMPARISONS,
    coefficients=st.tuples(COEFFICIENTS, COEFFICIENTS, st.one_of(st.just(Fraction(0)), COEFFICIENTS), COEFFICIENTS),
    values=st.tuples(st.integers(-5, 5), st.integers(-5, 5), COEFFICIENTS),
)
def test_a_literal_or_its_negation_says_what_the_comparison_says(compare, coefficients, values):
    products = [multiply(constant(coefficient), symbol) for coefficient, symbol in zip(coefficients, NUMBERS, strict=False)]
    formula = compare(add(*products, multiply(NUMBERS[0], NUMBERS[1])), constant(coefficients[-1]))
    problem = Clauses([less_equal(add(*NUMBERS), ZERO), formula])
    (literal,) = problem.clauses[-1]
    expected = value_of(formula, dict(zip("nmx", values, strict=True)))
    row = problem.row(literal if expected else -literal)
    if row is None:
        assert not expected
        return
    relation, polynomial = row
    total = Fraction(0)
    for monomial, coefficient in polynomial.items():
        total += coefficient * prod(values[index] for index in monomial)
    assert {"<": total < 0, "<=": total <= 0, "=": total == 0}[relation]


def test_equal_comparisons_are_one_literal_however_they_are_written():
    whole, other, real = NUMBERS
    for first, second in [
        (less(whole, other), less_equal(add(whole, constant(1)), other)),
        (less(multiply(constant(2), whole), constant(3)), less_equal(whole, constant(1))),
        (less_equal(real, constant(1)), less_equal(multiply(constant(3), real), constant(3))),
        (less(real, constant(1)), negation(less_equal(constant(1), real))),
        (equal(real, constant(1)), equal(constant(-1), multiply(constant(-1), real))),
    ]:
        one, same = Clauses([first, second]).clauses[-2:]
        assert one == same
