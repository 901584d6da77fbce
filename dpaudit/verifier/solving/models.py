"""Values that make formulas true, exact and complete: what a solver leaves open is 0 or false."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from dpaudit.verifier.solving.totals import PARTIAL, application
from dpaudit.verifier.terms import Number, Op, Sort, Term, constant, rebuild, subterms


class Model:
    """Exact values of variables, and of functions at the arguments that occurred; all else is 0 or false.

    Args:
      symbols: values of variables; those that are missing are 0 or false.
      names: variables that name applications of functions, whose arguments are terms over variables.
    Source: models of many-sorted first-order logic, SMT-LIB Standard, version 2.6, https://smt-lib.org.
    Example:
      >>> from dpaudit.verifier.terms import Sort, constant, divide, variable
      >>> x = variable("x", Sort.REAL)
      >>> print(Model({x: 3}, {}).value(divide(constant(1), x)))
      1/3
    """

    def __init__(self, symbols: Mapping[Term, Number], names: Mapping[Term, Term]) -> None:
        """Everything is made a constant term, so that evaluation is the folding of constants."""
        self._symbols = {symbol: constant(value, symbol.sort) for symbol, value in symbols.items()}
        self._places: dict[Term, Term] = {}
        for place, name in names.items():
            self._places[rebuild(place, tuple(map(self._constant, place.args)))] = self._constant(name)

    def value(self, term: Term) -> Number:
        """The exact value of a term; where a quotient is undefined, the value that the solver gave it."""
        value = self._constant(term).value
        if not isinstance(value, (int, Fraction)):
            raise TypeError(f"{value!r} is not a value")
        return value

    def satisfies(self, *formulas: Term) -> bool:
        """True if all of the formulas hold."""
        return all(self.value(formula) is True for formula in formulas)

    def _constant(self, term: Term) -> Term:
        """The constant that a term is: constants are put in from the leaves on, and folded."""
        done: dict[Term, Term] = {}
        for part in subterms(term):
            args = tuple(done[argument] for argument in part.args)
            found = self._symbols.get(part, _nothing(part.sort)) if part.op is Op.VARIABLE else rebuild(part, args)
            if found.op in PARTIAL or found.op is Op.APPLY:
                place = application(part.op, str(part.value), part.args, part.sort)
                found = self._places.get(rebuild(place, args), _nothing(part.sort))
            # Folding may give the constant of a smaller sort.
            done[part] = found if found.sort is part.sort else constant(Fraction(found.value or 0), part.sort)
        return done[term]


def _nothing(sort: Sort) -> Term:
    """The value of a symbol that the solver left open."""
    return constant(value=False) if sort is Sort.BOOL else constant(0, sort)
