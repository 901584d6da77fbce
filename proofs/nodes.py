"""Constructors of proof-graph nodes: one function per stage, evidence by its scheme, shipped code by its file."""

from __future__ import annotations

from functools import partial
from typing import Final

from dpaudit.verifier.chain import Kind, Node

TESTS: Final = "test:tests/learners/"
"""The prefix of evidence by a test of a learner."""
_KINDS: Final[dict[str, Kind]] = {"citation": "axiom", "test": "tested"}
"""The kind of a node by the scheme of its evidence, unless given; certificates, lemmas and running proofs make it proven."""


def runs(module: str, *names: str) -> tuple[str, ...]:
    """Return evidence by running proofs of one module."""
    return tuple(f"run:proofs.{module}:{name}" for name in names)


def lemmas(*names: str) -> tuple[str, ...]:
    """Return evidence by lemmas."""
    return tuple(f"lemma:{name}" for name in names)


def code(path: str, *names: str) -> tuple[str, ...]:
    """Return the places of definitions in one file."""
    return tuple(f"{path}:{name}" for name in names)


def node(
    stage: str,
    name: str,
    statement: str,
    *evidence: str,
    needs: tuple[str, ...] = (),
    binds: tuple[str, ...] = (),
    kind: Kind | None = None,
) -> Node:
    """Return a node whose kind is that of its first evidence unless given: tests may also enumerate or certify."""
    return Node(name, stage, statement, kind or _KINDS.get(evidence[0].partition(":")[0], "proven"), evidence, needs, binds)


sampler: Final = partial(node, "sampler")
sensitivity: Final = partial(node, "sensitivity")
argument: Final = partial(node, "argument")
source: Final = partial(node, "source")
mechanism: Final = partial(node, "mechanism")
composition: Final = partial(node, "composition")


def claim(name: str, statement: str, *evidence: str, needs: tuple[str, ...]) -> Node:
    """Return what a mechanism promises, which follows from its source and more: claim and log are compared with the price.

    Where a proof compares them, the claim is of one release, priced by its law. Tests compare numbers, which rest on how losses are
    composed.
    """
    composed = "composition" if any(one.startswith("test:") for one in evidence) else "composition.log"
    return node("claim", f"{name}.claim", statement, *evidence, needs=(f"{name}.source", *needs, composed))


def learner_claim(name: str, statement: str, *tests: str, needs: tuple[str, ...]) -> Node:
    """Return what a learner promises; tests compare its privacy record with the budget that it was given."""
    return claim(name, statement, *tests, needs=(*needs, "neighbours", "fits"))


def fitted_claim(name: str, statement: str, *, needs: tuple[str, ...]) -> Node:
    """Return what a learner with the common fit promises; the price of its plan rests on how losses are composed.

    A fit whose plan costs more than epsilon raises, and so does one that releases something else than it planned.
    """
    shown = runs("flow.fits", "inherited", "priced", "planned", "carried_out")
    return node("claim", f"{name}.claim", statement, *shown, needs=(f"{name}.source", *needs, "neighbours", "fits", "composition"))
