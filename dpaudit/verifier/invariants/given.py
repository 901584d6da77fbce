"""Invariants that users give: candidates like all others, and where one is false the round that shows it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from dpaudit.verifier.frontend import expression
from dpaudit.verifier.invariants.houdini import Houdini
from dpaudit.verifier.ir import ListOf
from dpaudit.verifier.notation import format_term
from dpaudit.verifier.product.execution import Execution
from dpaudit.verifier.product.obligations import Obligation
from dpaudit.verifier.product.runs import OTHER, Invariants, Misused
from dpaudit.verifier.product.walk import draw_names, draws, loops
from dpaudit.verifier.solving import Session
from dpaudit.verifier.terms import Op, Sort, Term, negation, rename_symbols, substitute, subterms, variable

_SPENT: Final = re.compile(r"""\bspent\(\s*["']([^"']+)["']\s*\)""")
_UNITS: Final = "ghost.spent_"
_MOST_VALUES: Final = 8


@dataclass
class Stated:
    """Invariants by the line of their loop, and what was found out about those that do not hold."""

    texts: Mapping[int, tuple[str, ...]] = field(default_factory=dict)
    dropped: dict[str, str] = field(default_factory=dict)

    def candidates(self, execution: Execution) -> Invariants:
        """The invariants as terms, by loop, for an execution that has been run with none."""
        found = {number: tuple(self._read(execution, number, line)) for number, line in _lines(execution).items()}
        unknown = [line for line in self.texts if line not in _lines(execution).values()]
        if unknown:
            lines = ", ".join(map(str, sorted(_lines(execution).values()))) or "none"
            raise Misused(f"an invariant is given for line {unknown[0]}, where no loop begins; loops begin at lines {lines}")
        return found

    def judge(self, execution: Execution, houdini: Houdini) -> None:
        """Note the invariants that were dropped, with values for which they fail."""
        for number, line in _lines(execution).items():
            places = {term: place for place, term in enumerate(houdini.execution.invariants.get(number, ()))}
            for text, term in zip(self.texts.get(line, ()), self._read(execution, number, line), strict=True):
                if term in places and (number, places[term]) not in houdini.kept:
                    self.dropped[text] = _failure(houdini, text, (number, places[term]), line)

    def _read(self, execution: Execution, number: int, line: int) -> Iterator[Term]:
        """The invariants of one loop."""
        names = execution.heads.get(number, {})
        symbols = {before + name: sort for name, sort in names.items() if not name.startswith("$") for before in ("", OTHER)}
        symbols |= {one.name: one.sort for one in execution.program.parameters if isinstance(one.sort, Sort)}
        symbols |= {str(ghost.value): ghost.sort for ghost in execution.ghosts()}
        lists = {one.name: one.sort.element for one in execution.program.parameters if isinstance(one.sort, ListOf)}
        lists |= {OTHER + name: sort for name, sort in lists.items()}
        counters = {name: f"{_UNITS}{draw.site}" for draw in draws(execution.program.body) for name in draw_names(draw)}
        charged = {f"{_UNITS}{draw.site}": execution.meter.name(draw) for draw in draws(execution.program.body)}
        for text in self.texts.get(line, ()):

            def units(found: re.Match[str]) -> str:
                if found[1] not in counters or charged[counters[found[1]]] not in execution.counters:
                    raise Misused(f"spent({found[1]!r}) names no draw; draws are {', '.join(sorted(counters))}")
                return counters[found[1]]

            plain = _SPENT.sub(units, text)
            read = expression(plain, symbols | dict.fromkeys(charged, Sort.REAL), lists)
            if read.term.sort is not Sort.BOOL or read.checks:
                raise Misused(f"an invariant is a truth value without divisions that may fail, got {text!r}")
            yield rename_symbols(read.term, lambda name: charged.get(name, name))


def _lines(execution: Execution) -> dict[int, int]:
    """The line at which each loop begins."""
    return {number: loop.place.line for number, loop in enumerate(loops(execution.program), 1)}


def _failure(houdini: Houdini, text: str, candidate: tuple[int, int], line: int) -> str:
    """Why an invariant was dropped: it does not hold at first, or not after a round, for these values."""
    owed = {(loop, place, one.kind): one for loop, place, one in houdini.execution.held}
    for kind, what in (("init", "does not hold before the first round"), ("step", "does not survive a round")):
        one = owed.get((*candidate, kind))
        values = "" if one is None else _values(houdini, one, candidate[0])
        if values:
            return f"your invariant {text!r} at line {line} {what}: {values}"
    return f"your invariant {text!r} at line {line} could not be shown to survive a round"


def _values(houdini: Houdini, owed: Obligation, number: int) -> str:
    """Values from which an obligation does not follow; empty where none are found."""
    session = Session(seconds=houdini.seconds)
    session.add(*owed.premises, *houdini.kept.values(), negation(owed.goal))
    model = session.check().model
    if model is None:
        return ""
    heads = houdini.execution.heads.get(number, {})
    shown: dict[str, Term] = {}
    for name, sort in heads.items():
        if not name.startswith("$"):
            for before in ("", OTHER):
                symbol = variable(f"{before}{name}@{number}", sort)
                if symbol in subterms(owed.formula):
                    shown[before + name] = symbol
    plain = {symbol: variable(name, symbol.sort) for name, symbol in shown.items()}
    for part in subterms(owed.formula):
        if part.op is Op.APPLY and str(part.value) in dict(houdini.execution.pairs.elements):
            shown.setdefault(format_term(substitute(part, plain)), part)
    return ", ".join(f"{name} = {model.value(term)}" for name, term in list(shown.items())[:_MOST_VALUES])
