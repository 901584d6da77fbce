"""How followed code names claims, log entries and laws, and what a log entry may cost by the code that prices it."""

from __future__ import annotations

from typing import Any, Final

from dpaudit.accounting import pricing
from dpaudit.releases import Release
from proofs.flow.following import Followed, Subject, follow
from proofs.flow.releasing import require, require_same
from proofs.flow.terms import Term, walk_through

NAMES: Final = {
    "isinstance": lambda value, kind: Term("isinstance", value, repr(kind)),
    "Claim": lambda notion, *, adjacency: (notion, adjacency),
    "PureDP": lambda *, epsilon: ("pure", epsilon),
    "GDP": lambda *, mu: ("gaussian", mu),
    "ZCDP": lambda *, rho: ("concentrated", rho),
    "Release": lambda kind, parameters, sensitivity, adjacency, *, count=1: (kind, dict(parameters), sensitivity, adjacency, count),
}
"""Constructors of claims and log entries, as what they hold."""

PRICES: Final = {
    **{name: Followed(getattr(pricing, name)) for name in ("_alone", "_choice_epsilon", "_or_nothing", "_steps")},
    "Between": lambda _, upper, *__: ("at most", *upper),
    "pure_response": lambda epsilon: ("pure", epsilon),
    "Concentrated": lambda rho: ("concentrated", rho),
    "Gaussian": lambda ratio, _: ("gaussian", ratio),
    "Laplace": lambda scale, distance: ("laplace", scale, distance),
    "DiscreteLaplace": lambda scale, steps: ("DiscreteLaplace", scale, steps),
    "DiscreteGaussian": lambda variance, steps: ("DiscreteGaussian", variance, steps),
    "RoundedGaussian": lambda sigma, steps: ("RoundedGaussian", sigma, steps),
    "Response": lambda *values, **_: ("response", *values[:1]),
    "BoundedRange": lambda epsilon: ("bounded range", epsilon),
    "permute_and_flip_law": lambda epsilon: ("permute and flip", epsilon),
    "noisy_max_law": lambda epsilon: ("noisy max", epsilon),
    "top_k_choice_law": lambda epsilon, _: ("choice", epsilon),
    "comparison_law": lambda _, epsilon: ("comparisons", epsilon),
    "randomized_response_law": lambda epsilon, categories: ("response", epsilon, categories),
}
"""Constructors of laws in the pricing, as what they hold; every one with an epsilon has at most that pure loss."""


def own(*names: str) -> dict[str, Term]:
    """A stand-in for each positive field of a mechanism."""
    return {name: Term("positive", Term(name)) for name in names}


def prices(record: tuple[Any, ...], dimension: int = 1) -> list[tuple[Any, ...]]:
    """The laws that may price one of the releases of a log entry, one for each path of the pricing."""
    kind, parameters, sensitivity, adjacency, _ = record
    release = Subject(
        Release, {}, kind=kind, parameters=(*parameters.items(),), sensitivity=sensitivity, adjacency=adjacency, dimension=dimension
    )
    program = follow(pricing._LAWS[kind], PRICES)  # noqa: SLF001 - a proof looks inside
    return [law for _, law in walk_through(lambda: program(release))]


def require_claim(mechanism: Subject, notion: str, parameter: Any) -> None:
    """Prove what a mechanism claims."""
    (kind, claimed), relation = mechanism.claim
    require(kind == notion and relation is mechanism.adjacency, "the claim is of another notion or relation")
    require_same(claimed, parameter, "the parameter of the claim")


def require_record(record: tuple[Any, ...], kind: str, mechanism: Subject, **parameters: Any) -> None:
    """Prove what one release of a mechanism writes to the log."""
    named, logged, sensitivity, adjacency, _ = record
    require(named == kind and list(logged) == sorted(parameters), "the log entry is of another kind")
    for name, value in parameters.items():
        require_same(logged[name], value, f"the logged {name}")
    require(sensitivity is mechanism.sensitivity, "another sensitivity is logged")
    require(adjacency is mechanism.adjacency, "another relation is logged")


def require_logged(record: Any, expected: tuple[Any, ...]) -> None:
    """Prove that the entry that a release logs is the mechanism's."""
    require(record[0] == expected[0] and list(record[1]) == list(expected[1]), "another kind of entry is logged")
    require_same(tuple(record[1].values()), tuple(expected[1].values()), "the logged parameters")
    require_same(record[2:], expected[2:], "what is logged")


def require_price(record: tuple[Any, ...], *law: Any, dimension: int = 1) -> None:
    """Prove that a release costs at most a law, on every path of the pricing."""
    for priced in prices(record, dimension):
        named = priced[1:] if priced[0] == "at most" else priced
        require(named[0] == law[0], f"a release costs {priced!r}")
        require_same(named[1:], law[1:], "what a release costs")
