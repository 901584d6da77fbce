"""Formulas as SMT-LIB 2 text that z3 and cvc5 read alike: explicit sorts and conversions, shared subterms by `let`."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Final

from dpaudit.verifier.solving.totals import total
from dpaudit.verifier.terms import Number, Op, Sort, Term, number_of, subterms

_OPERATORS: Final[Mapping[Op, str]] = {
    Op.ADD: "+",
    Op.MULTIPLY: "*",
    Op.LESS_EQUAL: "<=",
    Op.LESS: "<",
    Op.EQUAL: "=",
    Op.AND: "and",
    Op.OR: "or",
    Op.NOT: "not",
    Op.CHOOSE: "ite",
}
_LEAVES: Final = (Op.VARIABLE, Op.CONSTANT)
_FOREIGN: Final = re.compile(r"[^\w .'#()\[\]:,!@$&*+<>=?^/%-]", re.ASCII)


def script(formulas: Sequence[Term]) -> str:
    """The text that asks whether the formulas can hold together.

    Args:
      formulas: truth-valued terms, any number.
    Returns:
      SMT-LIB 2 text with logic, declarations, one assertion for each formula and each fact about its named values, `(check-sat)`.
      The same formulas give the same text in every process.
    Raises:
      ValueError: a variable has a name that begins with #, which values of functions have.
    Source: the SMT-LIB Standard, version 2.6, https://smt-lib.org.
    Example:
      >>> from dpaudit.verifier.terms import Sort, constant, less, variable
      >>> print(script([less(variable("x", Sort.REAL), constant(-1))]))
      (set-logic QF_LRA)
      (declare-fun |Real x| () Real)
      (assert (< |Real x| (- 1.0)))
      (check-sat)
      <BLANKLINE>
    """
    names: dict[Term, Term] = {}
    asserted: list[Term] = []
    for formula in formulas:
        plain, facts = total(formula, names)
        asserted += [*facts, plain]
    lines = [f"(set-logic {_logic(asserted)})", *declarations(asserted), *map(assertion, asserted), "(check-sat)"]
    return "\n".join(lines) + "\n"


def declarations(formulas: Iterable[Term]) -> Iterator[str]:
    """One line for each symbol, in the order of first use."""
    seen: set[str] = set()
    for term in subterms(*formulas):
        if term.op in (Op.VARIABLE, Op.APPLY) and (name := symbol(term)) not in seen:
            seen.add(name)
            yield f"(declare-fun {name} ({' '.join(argument.sort.value for argument in term.args)}) {term.sort.value})"


def symbol(term: Term) -> str:
    """The quoted name of a variable with its sort, or of a function whose name tells its sorts."""
    name = f"{term.sort.value} {term.value}" if term.op is Op.VARIABLE else str(term.value)
    # Characters that a quoted symbol may not hold are written by number, between signs that nothing else writes.
    return "|" + _FOREIGN.sub(lambda found: f"~{ord(found[0]):x}~", name) + "|"


def assertion(formula: Term) -> str:
    """`(assert ...)`, where what occurs more than once is written once."""
    order = list(subterms(formula))
    uses = Counter(argument for term in order for argument in term.args)
    texts: dict[Term, str] = {}
    shared: list[str] = []
    for term in order:
        text = _text(term, texts)
        if uses[term] > 1 and term.op not in _LEAVES:
            shared.append(f"(let ((t{len(shared)} {text})) ")
            text = f"t{len(shared) - 1}"
        texts[term] = text
    return f"(assert {''.join(shared)}{texts[formula]}{')' * len(shared)})"


def _text(term: Term, texts: Mapping[Term, str]) -> str:
    """One term, given the texts of its arguments."""
    if term.op is Op.CONSTANT:
        return _number(term.value, term.sort)  # type: ignore[arg-type]
    if term.op is Op.VARIABLE:
        return symbol(term)
    if term.op is Op.APPLY:
        return f"({' '.join([symbol(term), *(texts[argument] for argument in term.args)])})"
    first, *others = term.args
    real = term.sort is Sort.REAL or (first.sort is not Sort.BOOL and any(one.sort is Sort.REAL for one in term.args))
    parts = [_widened(argument, texts[argument]) if real else texts[argument] for argument in (first, *others)]
    # A sum or product of one argument only widens it.
    if term.op in (Op.ADD, Op.MULTIPLY) and not others:
        return parts[0]
    return f"({_OPERATORS[term.op]} {' '.join(parts)})"


def _widened(term: Term, text: str) -> str:
    """A number of sort REAL; a test stays what it is."""
    if term.sort is not Sort.INT:
        return text
    number = number_of(term)
    return f"(to_real {text})" if number is None else _number(number, Sort.REAL)


def _number(value: Number, sort: Sort) -> str:
    """A constant, without a sign of its own."""
    if sort is Sort.BOOL:
        return "true" if value else "false"
    exact = Fraction(value)
    point = ".0" if sort is Sort.REAL else ""
    size = f"{abs(exact.numerator)}{point}"
    if exact.denominator != 1:
        size = f"(/ {size} {exact.denominator}{point})"
    return f"(- {size})" if exact < 0 else size


def _logic(formulas: Sequence[Term]) -> str:
    """The smallest logic that holds the formulas, by its standard name."""
    parts = list(subterms(*formulas))
    # An integer constant fits numbers of both sorts; one that is real makes real numbers of the integers beside it.
    named = [term for term in parts if term.op is not Op.CONSTANT or term.sort is Sort.REAL]
    sorts = {one.sort for term in named for one in ((term, *term.args) if term.op is Op.APPLY else (term,))}
    functions = "UF" if any(term.op is Op.APPLY for term in parts) else ""
    products = any(sum(number_of(argument) is None for argument in term.args) > 1 for term in parts if term.op is Op.MULTIPLY)
    numbers = ("I" if Sort.INT in sorts else "") + ("R" if Sort.REAL in sorts else "")
    return f"QF_{functions}{'N' if products else 'L'}{numbers}A" if numbers else "QF_UF"
