"""Each side condition of the kernel, by a certificate that only a kernel without that condition accepts."""

from __future__ import annotations

import importlib
import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import pytest

from dpaudit.verifier.kernel import KernelRejects, check
from dpaudit.verifier.solving import Answer, satisfiable
from dpaudit.verifier.terms import (
    ONE,
    ZERO,
    Sort,
    Term,
    add,
    apply,
    choose,
    conjunction,
    constant,
    divide,
    equal,
    implies,
    less,
    less_equal,
    multiply,
    negation,
    remainder,
    variable,
)

A = variable("a", Sort.BOOL)
X, Y, Z = (variable(name, Sort.REAL) for name in "xyz")
N, J, M = (variable(name, Sort.INT) for name in "njm")
MODULES = ("polynomials", "reading", "clauses", "checker")


def kernel_with(old: str, new: str) -> Callable[[Term, Mapping[str, Any]], None]:
    """The `check` of a kernel in which one place of the source reads otherwise."""
    names: dict[str, Any] = {}
    found = 0
    for module in MODULES:
        text = inspect.getsource(importlib.import_module(f"dpaudit.verifier.kernel.{module}"))
        found += text.count(old)
        text = re.sub(r"^from dpaudit\.verifier\.kernel.*$", "", text.replace(old, new), flags=re.MULTILINE)
        exec(compile(text, module, "exec", dont_inherit=True), names)  # noqa: S102 - our own source.
    assert found == 1
    check: Callable[[Term, Mapping[str, Any]], None] = names["check"]
    return check


@dataclass(frozen=True)
class Forgery:
    """Formulas that can hold together, a certificate that they cannot, and the slip in the kernel that would accept it."""

    formulas: tuple[Term, ...]
    lemmas: list[Any]
    old: str
    new: str
    tree: tuple[int, ...] = (0,)


def q(argument: Term) -> Term:
    """An element of a list."""
    return apply("q", (argument,), Sort.REAL)


FORGERIES = {
    "a strict row with multiplier 0": Forgery(
        (less(X, ZERO), less_equal(Y, ZERO), less_equal(ZERO, Y)),
        [[[1, 2, -3], [["0", [0]], ["1", [1]], ["1", [2]]]]],
        "strict and multiplier[()] > 0",
        "strict",
    ),
    "a product of a strict and another row taken as strict": Forgery(
        (less(X, ZERO), less_equal(Y, ZERO), less_equal(multiply(X, Y), ZERO)),
        [[[1, 2, 3], [["1", [0, 1]], ["1", [2]]]]],
        'all(relation == "<" for',
        'any(relation == "<" for',
    ),
    "a strict row times a square taken as strict": Forgery(
        (less(X, ZERO), less_equal(ZERO, multiply(X, Y, Y))),
        [[[1, -2], [["1", [0], [["1", [1]]]], ["1", [1]]]]],
        " and not squares and",
        " and",
    ),
    "one added to a strict comparison whose coefficients are not whole": Forgery(
        (
            less(add(multiply(constant(2), N), multiply(constant(3), J)), ZERO),
            less_equal(ZERO, add(multiply(constant(2), N), multiply(constant(3), J), ONE)),
        ),
        [],
        "Fraction(scale, gcd(*(int(coefficient * scale) for coefficient in rest)))",
        "1 / abs(polynomial[max(polynomial)])",
    ),
    "a constant below 0 rounded too far": Forgery(
        (less_equal(multiply(constant(2), N), ONE), less(constant(-1), N)),
        [],
        'ceil(constant) if relation == "<=" else',
        'ceil(constant) + 1 if relation == "<=" else',
    ),
    "a constant above 0 rounded too far": Forgery(
        (less_equal(add(multiply(constant(2), N), ONE), ZERO), less(constant(-2), N)),
        [],
        'ceil(constant) if relation == "<=" else',
        'ceil(constant) + 1 if relation == "<=" else',
    ),
    "an equality of whole numbers with a divisor that fits taken as one that does not": Forgery(
        (equal(multiply(constant(2), N), multiply(constant(4), J)), less_equal(ONE, J)),
        [],
        "if constant.denominator == 1 else False",
        "if constant else False",
    ),
    "a real number taken as whole": Forgery(
        (less(ZERO, X), less(X, ONE)),
        [],
        "self.integer.append(sort is Sort.INT)",
        "self.integer.append(True)",
    ),
    "a choice taken as whole that may be real": Forgery(
        (less(ZERO, choose(less(Y, ZERO), X, N)), less(choose(less(Y, ZERO), X, N), ONE)),
        [],
        "self.integer.append(sort is Sort.INT)",
        "self.integer.append(sort is Sort.INT or key[0] is Op.CHOOSE)",
    ),
    "a comparison normalised by a negative number": Forgery(
        (less_equal(ZERO, X), equal(X, ONE)),
        [[[1, 2], [["1", [0]], ["-1", [1]]]]],
        "return -self.compared(",
        "return self.compared(",
    ),
    "a negated equality used as a row": Forgery(
        (negation(equal(X, ZERO)), less_equal(ONE, X)),
        [[[-1, -4], [["-1", [0]], ["1", [1]]]]],
        'row = None if relation == "=" else tighten("<" if relation == "<=" else "<=",',
        'row = tighten({"<": "<=", "<=": "<", "=": "="}[relation],',
    ),
    "a negative multiplier": Forgery(
        (less_equal(X, ZERO), less_equal(add(X, ONE), ZERO)),
        [[[1, 2], [["-1", [0]], ["1", [1]]]]],
        "if not free and multiplier[()] < 0:",
        "if False:",
    ),
    "an even product with the wrong sign": Forgery(
        (less_equal(X, ZERO), less_equal(Y, ZERO), less_equal(ONE, multiply(X, Y))),
        [[[1, 2, -3], [["1", [0, 1]], ["1", [2]]]]],
        "product = plus({}, times(product, factor), -1)",
        "product = times(product, factor) if product != {(): -1} else factor",
    ),
    "a square with the wrong sign": Forgery(
        (less_equal(ONE, multiply(X, X)),),
        [[[-1], [["1", [0]], ["1", [], [["1", [0]]]]]]],
        "product: Polynomial = {(): Fraction(-1)}",
        "product: Polynomial = {(): Fraction(-1 if factors else 1)}",
    ),
    "an inequality multiplied by a polynomial": Forgery(
        (less_equal(X, ZERO), less_equal(ONE, multiply(X, X))),
        [[[1, -2], [[[["1", [0]]], [0]], ["1", [1]]]]],
        'free = any(relation == "=" for relation, _ in factors)',
        "free = True",
    ),
    "a term left over": Forgery(
        (less_equal(add(X, ONE), ZERO),),
        [[[1], [["1", [0]]]]],
        "if any(total) or",
        "if",
    ),
    "a sum of 0 without a strict row": Forgery(
        (less_equal(X, ZERO), less_equal(ZERO, X)),
        [[[1, -2], [["1", [0]], ["1", [1]]]]],
        "(not total and strict)",
        "not total",
    ),
    "a remainder known below a divisor that may be 0": Forgery(
        (equal(remainder(N, M), J), less_equal(M, ZERO)),
        [[[-4, 5, 2], [["1", [0]], ["1", [1]], ["1", [2]]]]],
        'undefined = self.compared("<=", second)',
        'undefined = (-self._constant(), self.compared("<=", second))[0]',
    ),
    "a quotient known whose divisor may be 0": Forgery(
        (equal(divide(X, Y), Z), equal(Y, ZERO), equal(X, ONE)),
        [[[1, 5, 8], [["-1", [0]], [[["1", [2]]], [1]], ["-1", [2]]]]],
        'self.clauses.append((self.compared("=", args[1]), self.compared("=", product)))',
        'self.clauses.append((self.compared("=", product),))',
    ),
    "elements of a list at different places taken as one": Forgery(
        (less_equal(q(N), ZERO), less(ZERO, q(J))),
        [],
        "return tuple((argument.sort,",
        "return () and tuple((argument.sort,",
    ),
    "functions of different sorts taken as one": Forgery(
        (less_equal(q(ONE), ZERO), less(ZERO, q(constant(Fraction(1))))),
        [],
        "(argument.sort, value if",
        "(value if",
    ),
    "numbers of different sorts taken as one": Forgery(
        (less_equal(variable("v", Sort.REAL), ZERO), less(ZERO, variable("v", Sort.INT))),
        [],
        "name = (key, sort)",
        "name = key",
    ),
    "a branch of a choice taken where the test fails": Forgery(
        (equal(choose(less(Y, ZERO), X, Z), ONE), equal(X, ZERO), less_equal(ZERO, Y)),
        [[[2, 4, 7], [["1", [0]], ["-1", [1]], ["1", [2]]]]],
        "self.clauses.append((-test, self",
        "self.clauses.append((test, self",
    ),
    "a literal of one case kept in the other": Forgery(
        (implies(A, less(X, ZERO)), implies(A, less_equal(ZERO, X))),
        [],
        "self._true.difference_update(self.trail[length:])",
        "self._true.difference_update(self.trail[length + 1 :])",
        (1, 0, 0),
    ),
    "a new case without what follows from the old ones": Forgery(
        (implies(A, less(X, ZERO)), implies(A, less_equal(ZERO, X))),
        [],
        "closed = not cases.assume([other])",
        "pass",
        (1, 0, 0),
    ),
    "a case left open": Forgery(
        (less_equal(X, ZERO),),
        [],
        "elif not closed:",
        "elif False:",
    ),
}


@pytest.mark.parametrize("name", FORGERIES)
def test_a_forged_certificate_is_rejected_by_the_one_condition_that_it_breaks(name):
    forgery = FORGERIES[name]
    obligation = negation(conjunction(*forgery.formulas))
    forged = {"keep": [*range(len(forgery.formulas))], "atoms": [], "lemmas": forgery.lemmas, "tree": [*forgery.tree]}
    assert Answer.SAT is satisfiable(forgery.formulas).answer
    with pytest.raises(KernelRejects):
        check(obligation, forged)
    kernel_with(forgery.old, forgery.new)(obligation, forged)


# Numbers and indices that could be read in two ways: the certificate is refused for how it is written, and only for that.

VALID = implies(less(Y, X), less_equal(Y, X))
NUMBER = "if type(value) is not str or not _NUMBER.fullmatch(value):"
INDEX = "if type(value) is not int or not start <= value < stop:"


def written(multiplier: Any = "1", row: Any = 1, kept: Any = 1) -> dict[str, Any]:
    """A good certificate, but for how a number or an index is written."""
    return {"keep": [0, kept], "atoms": [], "lemmas": [[[-1, 2], [["1", [0]], [multiplier, [row]]]]], "tree": [0]}


@pytest.mark.parametrize(
    ("certificate", "old", "new"),
    [
        (written(multiplier=True), NUMBER, "if type(value) is str and not _NUMBER.fullmatch(value):"),
        (written(multiplier=1.0), NUMBER, "if type(value) is str and not _NUMBER.fullmatch(value):"),
        (written(multiplier="1e0"), NUMBER, "if type(value) is not str:"),
        (written(multiplier="1.0"), NUMBER, "if type(value) is not str:"),
        (written(multiplier="\u0661"), NUMBER, "if type(value) is not str:"),
        (written(row=-1), INDEX, "if type(value) is not int or not value < stop:"),
        (written(row=True), INDEX, "if not start <= value < stop:"),
        (written(kept=-1), INDEX, "if type(value) is not int or not value < stop:"),
    ],
)
def test_a_number_is_refused_for_how_it_is_written_alone(certificate, old, new):
    check(VALID, written())
    with pytest.raises(KernelRejects):
        check(VALID, certificate)
    kernel_with(old, new)(VALID, certificate)


def test_a_division_by_0_is_no_number_and_no_error_of_the_kernel():
    with pytest.raises(KernelRejects):
        check(VALID, written(multiplier="1/0"))
    with pytest.raises(ZeroDivisionError):
        kernel_with("[1-9][0-9]*", "[0-9]+")(VALID, written(multiplier="1/0"))


def test_a_kernel_that_took_floats_would_accept_what_is_false():
    formulas = (less_equal(X, Y), less_equal(add(X, ONE), ZERO), less_equal(Y, X))
    # 1e16 + 1 - 1e16 is 0 in floats, and the constant 1 is left.
    lemma = [[-1, 2, 3], [[1e16, [0]], ["1", [1]], [1e16, [2]]]]
    forged = {"keep": [0, 1, 2], "atoms": [], "lemmas": [lemma], "tree": [0]}
    assert Answer.SAT is satisfiable(formulas).answer
    with pytest.raises(KernelRejects):
        check(negation(conjunction(*formulas)), forged)
    kernel_with(f"    {NUMBER}", f"    if type(value) is float:\n        return value\n    {NUMBER}")(
        negation(conjunction(*formulas)), forged
    )
