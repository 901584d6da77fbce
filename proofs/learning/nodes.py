"""How nodes about learners are written: by lemmas, or by tests of the code that they bind."""

from __future__ import annotations

from typing import Final

from dpaudit.verifier.chain import Kind, Node

_TESTS: Final = "test:tests/learners/"


def by_lemmas(name: str, stage: str, statement: str, lemmas: tuple[str, ...], *needs: str) -> Node:
    """What lemmas show."""
    return Node(name, stage, statement, "proven", tuple(f"lemma:{lemma}" for lemma in lemmas), needs)


def by_tests(
    name: str,
    stage: str,
    statement: str,
    tests: tuple[str, ...],
    *needs: str,
    binds: tuple[str, ...] = (),
    kind: Kind = "tested",
) -> Node:
    """What tests show of code."""
    places = tuple(place if place.startswith("mechanisms/") else f"learners/{place}" for place in binds)
    return Node(name, stage, statement, kind, tuple(f"{_TESTS}{test}" for test in tests), needs, places)


def claimed(learner: str, statement: str, tests: tuple[str, ...], *needs: str) -> Node:
    """What a learner promises, which follows from its chain; a test holds its record against what was asked for."""
    return by_tests(f"{learner}.claim", "claim", statement, tests, *needs, "neighbours", "fits", "composition")
