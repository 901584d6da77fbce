"""Costs of the draws so far: a counter for each site whose rate never changes, one sum for others, odds for truth values."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from dpaudit.verifier.ir import Assign, Block, Draw, Invoke, Law, ListOf, Program
from dpaudit.verifier.product.laws import DrawConditions, odds_ratio
from dpaudit.verifier.product.ledger import FAILED, cuts, tail
from dpaudit.verifier.product.normal import half_square
from dpaudit.verifier.product.rational import at_most, proportion
from dpaudit.verifier.product.walk import assigned_names, draws, statements
from dpaudit.verifier.terms import (
    ONE,
    ZERO,
    Op,
    Sort,
    Term,
    add,
    choose,
    conjunction,
    constant,
    less_equal,
    multiply,
    substitute,
    subterms,
    variable,
    variables,
)

if TYPE_CHECKING:
    from dpaudit.verifier.product.adjacency import Neighbours

SPENT: Final = "$spent"
"""The counter of all costs whose rate may change from request to request; with a site's number behind it, that site's units."""

ODDS: Final = "$odds"
"""The counter of factors by which the probabilities of truth values may fall."""


FLIPPED: Final = "$flipped"
"""The number of truth values whose probabilities may fall, where each falls by one factor and the claim is a power of it."""
_MOST_POWERS: Final = 16


@dataclass
class Meter:
    """The counters of one program, and what they say about its cost."""

    program: Program
    pairs: Neighbours  # the neighbours; their contract holds the claim
    rates: dict[str, Term] = field(default_factory=dict)  # the cost of a unit, of each site that has a counter, as far as seen

    def __post_init__(self) -> None:
        """The entry values that never change."""
        changed = assigned_names(self.program.body)
        scalars = (one.name for one in self.program.parameters if not isinstance(one.sort, ListOf))
        lengths = (f"len({one.name})" for one in self.program.parameters if isinstance(one.sort, ListOf))
        self.cuts = cuts(self.program)
        # With a number here the counters hold squares of shifts, as for zCDP.
        self.squares = half_square(self.program, self.pairs.contract, cut=bool(self.cuts))
        self.fixed = frozenset((*(name for name in scalars if name not in changed), *lengths))
        self.power = self._power()

    def _power(self) -> tuple[Term, int] | None:
        """The factor r of all randomized responses and the number m, at least 2, for which the claim is ln(r^m)."""
        found = [one for one in draws(self.program.body) if isinstance(one, Draw) and one.law is Law.RANDOMIZED_RESPONSE]
        # A name that is assigned once stands for its value; that the odds are these is owed at each draw whose argument is a name.
        values = [one for one in statements(self.program.body) if isinstance(one, Assign)]
        often = Counter(one.name for one in values)
        named = {variable(one.name, one.value.sort): one.value for one in values if often[one.name] == 1}
        ratios = {odds_ratio(substitute(one.args[1], named)) for one in found}
        if len(ratios) != 1:
            return None
        (ratio,) = ratios
        if not all(part.op is not Op.APPLY and (part.op is not Op.VARIABLE or self.is_entry(part)) for part in subterms(ratio)):
            return None
        powers = range(2, _MOST_POWERS + 1)
        return next(
            ((ratio, count) for count in powers if proportion(self.pairs.contract.odds, multiply(*[ratio] * count)) == 1), None
        )

    def name(self, draw: Draw | Invoke) -> str:
        """The counter that a draw is charged to."""
        if isinstance(draw, Invoke):
            return SPENT
        if draw.law is Law.RANDOMIZED_RESPONSE:
            return ODDS if self.power is None else FLIPPED
        rate = draw.args[-2:] if draw.law is Law.EXPONENTIAL_CHOICE else draw.args
        names = {str(one.value) for one in variables(*rate)}
        lists = any(part.op is Op.APPLY for part in subterms(*rate))
        return SPENT if lists or not names <= self.fixed else f"{SPENT}.{draw.site}"

    def names(self, block: Block) -> tuple[str, ...]:
        """The counters that a block may raise, each once."""
        found = dict.fromkeys(self.name(draw) for draw in draws(block))
        if any(draw.site in self.cuts for draw in draws(block)):
            found[FAILED] = None
        return tuple(found)

    def start(self, name: str) -> Term:
        """The first value of a counter."""
        return constant(1 if name == ODDS else 0, Sort.REAL)

    def charge(self, counters: Mapping[str, Term], draw: Draw, here: Term, needs: DrawConditions) -> dict[str, Term]:
        """The counters of a draw after it."""
        name, changed = self.name(draw), dict[str, Term]()
        if draw.site in self.cuts:
            failing = constant(tail(draw.law, self.cuts[draw.site]))
            changed[FAILED] = add(counters[FAILED], choose(here, failing, ZERO))
        if name == ODDS:
            changed[name] = multiply(counters[name], choose(here, needs.odds, ONE))
            return changed
        if name == FLIPPED:
            changed[name] = add(counters[name], choose(conjunction(here, needs.differs), ONE, ZERO))
            return changed
        if name != SPENT:
            self.rates[name] = needs.rate
        units = multiply(needs.units, needs.rate) if name == SPENT else needs.units
        changed[name] = add(counters[name], choose(here, units, ZERO))
        return changed

    def within(self, counters: Mapping[str, Term]) -> Term:
        """That the cost so far is within the claim; without divisions, so that solvers can say so."""
        contract = self.pairs.contract
        parts = [multiply(counters[name], rate) for name, rate in self.rates.items()]
        total = add(*parts, counters.get(SPENT, ZERO)) if parts or SPENT in counters else ZERO
        claim = contract.claim if self.squares is None else constant(self.squares)
        cost = at_most(total, claim, self.is_entry)
        if FLIPPED in counters and self.power is not None:
            return conjunction(cost, less_equal(counters[FLIPPED], constant(self.power[1])))
        if ODDS not in counters:
            return cost
        return conjunction(cost, at_most(counters[ODDS], contract.odds, self.is_entry))

    def is_entry(self, symbol: Term) -> bool:
        """True if a symbol is a scalar parameter, by which both sides may be divided once it is proven to be positive."""
        return symbol.op is Op.VARIABLE and str(symbol.value) in self.fixed
