"""How nodes about learners are written: by lemmas, or by tests of the code that they bind."""

from __future__ import annotations

from typing import Final

from dpaudit.verifier.chain import Kind, Node

_TESTS: Final = "test:tests/learners/"


def by_lemmas(name: str, stage: str, statement: str, lemmas: tuple[str, ...], *needs: str) -> Node:
    """What lemmas show.

    Args:
      name: the id of the node.
      stage: of a chain.
      statement: what holds, in words.
      lemmas: their names.
      needs: ids of nodes that it rests on.
    Returns:
      A node that is called proven.
    Raises:
      Nothing.
    Source: docs/learner_proofs.md.
    Example:
      >>> by_lemmas("cut", "sensitivity", "a slope is cut", ("sums.cut",)).evidence
      ('lemma:sums.cut',)
    """
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
    """What tests show of code.

    Args:
      name: the id of the node.
      stage: of a chain.
      statement: what holds, in words.
      tests: names in tests/learners, "file::test".
      needs: ids of nodes that it rests on.
      binds: definitions that it is about, "file:name" below learners/, or from "mechanisms/" on.
      kind: the word for such tests.
    Returns:
      A node.
    Raises:
      Nothing.
    Source: docs/learner_proofs.md.
    Example:
      >>> by_tests("sums", "sensitivity", "sums are exact", ("rows/test_rows.py::test",), binds=("rows/rows.py:Rows",)).binds
      ('learners/rows/rows.py:Rows',)
    """
    places = tuple(place if place.startswith("mechanisms/") else f"learners/{place}" for place in binds)
    return Node(name, stage, statement, kind, tuple(f"{_TESTS}{test}" for test in tests), needs, places)


def claimed(learner: str, statement: str, tests: tuple[str, ...], *needs: str) -> Node:
    """What a learner promises, which follows from its chain; a test holds its record against what was asked for.

    Args:
      learner: its public name.
      statement: the promise.
      tests: names in tests/learners, "file::test".
      needs: ids of nodes that it rests on.
    Returns:
      A node of the last stage.
    Raises:
      Nothing.
    Source: docs/learner_proofs.md.
    Example:
      >>> claimed("Learner", "pure", ("test_learner.py::test",), "sums").id
      'Learner.claim'
    """
    return by_tests(f"{learner}.claim", "claim", statement, tests, *needs, "neighbours", "fits", "composition")
