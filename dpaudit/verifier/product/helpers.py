"""Calls of helpers that have a contract of their own: what the two calls must have in common, and the price."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dpaudit.verifier.ir import Contract, ListOf, Program, Relation, While
from dpaudit.verifier.product.adjacency import Neighbours
from dpaudit.verifier.product.walk import statements
from dpaudit.verifier.terms import FALSE, ONE, Sort, Term, conjunction, constant, equal, less_equal, substitute, variable

Argument = str | tuple[Term, Term]


@dataclass(frozen=True)
class CallConditions:
    """What a call needs and costs.

    Args:
      allowed: that the arguments of the two runs are neighbours as the helper's contract has it, and meet what it requires.
      price: the helper's epsilon at these arguments.
    """

    allowed: Term
    price: Term


def call_conditions(helper: Program, args: Sequence[Argument], pairs: Neighbours) -> CallConditions:
    """What a call of a helper needs and costs; a contract that is not purely epsilon is no site of a larger proof."""
    contract = helper.contract
    endless = any(isinstance(one, While) for one in statements(helper.body))
    if contract is None or contract.cost != "pure" or contract.odds is not ONE or contract.domain or endless:
        return CallConditions(FALSE, ONE)
    names: dict[Term, Term] = {}
    goals: list[Term] = []
    for parameter, argument in zip(helper.parameters, args, strict=True):
        if isinstance(argument, str):
            names[variable(f"len({parameter.name})", Sort.INT)] = variable(f"len({argument})", Sort.INT)
        else:
            names[variable(parameter.name, argument[0].sort)] = argument[0]
            goals.append(equal(*argument))
    for parameter, argument in zip(helper.parameters, args, strict=True):
        if isinstance(argument, str):
            goals.append(_neighbours(contract, parameter.name, argument, names, pairs))
            goals.append(
                constant(value=isinstance(parameter.sort, ListOf) and parameter.sort.element is dict(pairs.elements)[argument])
            )
    goals += [substitute(clause, names) for clause in contract.requires]
    return CallConditions(conjunction(*goals), substitute(contract.claim, names))


def _neighbours(contract: Contract, inner: str, outer: str, names: dict[Term, Term], pairs: Neighbours) -> Term:
    """That two lists which differ as the caller's do differ as the helper's contract has it."""
    given = pairs.relation(outer)
    if given is None:
        return constant(value=True)
    wanted = dict(contract.changes).get(inner)
    if wanted is None:
        return FALSE
    # The helper is proven in both directions, so that growing and falling are one to the caller.
    directed = {Relation.INC, Relation.DEC}
    fits = (
        wanted.relation is given
        or (wanted.relation is Relation.ALL and given in {Relation.ONE, *directed})
        or {wanted.relation, given} == directed
    )
    return less_equal(pairs.bound(outer), substitute(wanted.bound, names)) if fits else FALSE
