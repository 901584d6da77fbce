"""Alignments that look at later noise: a winner moves by what keeps its lead over the others, for a noisy maximum with its gap."""

from __future__ import annotations

from collections.abc import Iterator

from dpaudit.verifier.ir import Block, Draw, For, Law, Program
from dpaudit.verifier.product.adjacency import Neighbours
from dpaudit.verifier.product.execution import Execution
from dpaudit.verifier.product.rivals import SENSES, fixed_requests, noisy_value
from dpaudit.verifier.product.runs import OTHER, Alignment, Misused
from dpaudit.verifier.terms import (
    Sort,
    Term,
    choose,
    constant,
    equal,
    linear_in,
    multiply,
    number_of,
    rename_symbols,
    subtract,
    variable,
)


def leads(program: Program, pairs: Neighbours) -> Iterator[Alignment]:
    """Alignments by which the chosen value keeps its distance from the largest of the others, or from the smallest."""
    execution = Execution(program, pairs, {}, {}, pointwise=True)
    outputs = [ghost for ghost in execution.output() if ghost is not None and ghost.sort is Sort.INT]
    try:
        requests = fixed_requests(program, execution.ghosts())
    except Misused:
        return
    inner = dict(_indices(program.body))
    for output in outputs[:1]:
        for sense in SENSES:
            found: dict[int, Term] = {}
            outside = 0
            for draw, following, early in requests:
                value = noisy_value(program, draw, following, early) if draw.law is Law.LAPLACE else None
                if value is None:
                    continue
                index = inner.get(draw.site)
                place = constant(outside) if index is None else variable(index, Sort.INT)
                outside += index is None
                noise = variable(draw.name, Sort.REAL)
                rest, factor = linear_in(value, noise) or (value, constant(1))
                distance = subtract(_in_other(rest, pairs), rest)
                own = multiply(constant(number_of(factor) or 1), subtract(sense.apart, distance))
                found[draw.site] = choose(equal(place, output), own, constant(0, Sort.REAL))
            if found:
                yield found


def is_lead(program: Program, pairs: Neighbours) -> bool:
    """True if a number is put out beside what is discrete, and one of these alignments fits the form of the program."""
    ghosts = Execution(program, pairs, {}, {}, pointwise=True).output()
    return len(ghosts) > 1 and any(one is None for one in ghosts) and next(leads(program, pairs), None) is not None


def _in_other(term: Term, pairs: Neighbours) -> Term:
    """A term of the input in the second run."""
    private = {name for name, _ in pairs.contract.changes}
    return rename_symbols(term, lambda name: OTHER + name if name in private else name)


def _indices(block: Block, index: str | None = None) -> Iterator[tuple[int, str | None]]:
    """The index of the innermost loop around each draw."""
    for statement in block:
        if isinstance(statement, For):
            yield from _indices(statement.body, statement.name)
        elif isinstance(statement, Draw):
            yield statement.site, index
