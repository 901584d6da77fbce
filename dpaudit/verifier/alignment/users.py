"""Alignments that a specification gives, read by the front end's own expression reader; they are checked like any other."""

from __future__ import annotations

from dpaudit.verifier.frontend import expression
from dpaudit.verifier.ir import Draw, For, ListOf, Program
from dpaudit.verifier.product.adjacency import Neighbours
from dpaudit.verifier.product.execution import Execution
from dpaudit.verifier.product.ledger import WITHIN
from dpaudit.verifier.product.runs import OTHER, Alignment, Misused
from dpaudit.verifier.product.walk import draws, statements
from dpaudit.verifier.terms import Sort, Term


def user_alignment(program: Program, pairs: Neighbours, *, pointwise: bool) -> Alignment:
    """The shifts that a contract gives, by site."""
    symbols = dict(program.sorts)
    symbols |= {one.name: one.sort for one in program.parameters if not isinstance(one.sort, ListOf)}
    symbols |= {one.name: Sort.INT for one in statements(program.body) if isinstance(one, For)}
    lists = {one.name: one.sort.element for one in program.parameters if isinstance(one.sort, ListOf)}
    symbols |= {OTHER + name: sort for name, sort in symbols.items()}
    lists |= {OTHER + name: sort for name, sort in lists.items()}
    ghosts = Execution(program, pairs, {}, {}, pointwise).ghosts()
    symbols |= {str(ghost.value): ghost.sort for ghost in ghosts}
    sites = {draw.name: draw.site for draw in draws(program.body) if isinstance(draw, Draw)}
    sites |= {f"{draw.law.value}.{draw.site}": draw.site for draw in draws(program.body) if isinstance(draw, Draw)}
    found: dict[int, Term] = {}
    for name, text in pairs.contract.align:
        if name.endswith(WITHIN):
            continue
        if name not in sites:
            raise Misused(f"an alignment is given for {name}, which is the name of no draw; draws are {', '.join(sorted(sites))}")
        found[sites[name]] = expression(text, symbols, lists).term
    return found
