"""Verdicts on functions as people write them: true ones proven, false ones never, floats never simply "proven"."""

from __future__ import annotations

import pytest

from dpaudit.errors import Unsupported
from dpaudit.verifier import verify
from dpaudit.verifier.ordinary import answering
from dpaudit.verifier.ordinary.kinds import fitted
from dpaudit.verifier.ordinary.replaying import Differs
from tests.verifier.ordinary.conftest import claimed, rows

COUNT = "def f(data: list[int], eps: Fraction):\n    return len(data) + laplace(1 / eps)\n"


def _verdict(row, seconds=3):
    spec = claimed(row)
    return verify(
        row["text"],
        claim=spec.claim,
        adjacency=row.get("adjacency", "add_remove"),
        requires=spec.requires,
        domain=spec.domain,
        public=spec.public,
        cost=row.get("cost"),
        function=row.get("function"),
        seconds=seconds,
    )


def _is_never_proven(row):
    try:
        found = _verdict(row)
    except Unsupported:
        return
    assert not found.status.startswith("proven"), found.alignment
    assert "Python does not agree" not in found.reason


FAST = (
    "aliases",
    "tuple assignment",
    "one draw",
    "shadowed builtin",
    "patched",
    "generator is empty",
    "module patched",
    "seed in",
    "mask",
)


@pytest.mark.parametrize(
    "untrue_row", [row for row in rows("false") if any(word in row["name"] for word in FAST)], ids=lambda row: row["name"]
)
def test_false_claims_are_never_proven(untrue_row):
    _is_never_proven(untrue_row)


@pytest.mark.campaign
def test_no_false_claim_is_proven(untrue):
    _is_never_proven(untrue)


@pytest.mark.campaign
def test_verdicts_are_right(row):
    try:
        found = _verdict(row, 20)
    except Unsupported:
        assert row.get("refused")
        return
    assert found.status == "unknown" or found.status.startswith("proven") is row["truth"]


def test_a_count_of_records_is_proven_for_the_law_that_is_drawn():
    found = verify(COUNT, claim="eps", adjacency="add_remove")
    assert found.status == "proven"
    assert found.claim == "eps-DP when one record is added to or removed from data (list[int]), if eps > 0"
    assert found.certificate is not None


def test_a_proof_about_floats_says_so():
    text = "import numpy as np\n" + COUNT.replace("laplace(", "np.random.laplace(0, ").replace("Fraction", "float")
    found = verify(text, claim="eps", adjacency="add_remove")
    assert found.status == "proven (real numbers)"
    assert any("Floats round" in one for one in found.assumptions)


def test_a_counterexample_speaks_of_records():
    found = verify(COUNT.replace("len(data)", "2 * len(data)"), claim="eps", adjacency="add_remove")
    assert found.status == "refuted"
    assert "here" not in " ".join(found.words)
    assert "data = []" in " ".join(found.words)


def test_a_while_loop_that_counts_ends_like_its_for_twin():
    body = ["t = 0", "i = 0", "while i < len(q):", "    t += q[i]", "    i += 1", "return t + laplace(1 / eps)"]
    text = "\n    ".join(["def f(q: list[int], eps: Fraction):", *body])
    assert verify(text, claim="eps", adjacency="one", requires=["eps > 0"]).status == "proven"


def test_a_reading_that_python_contradicts_gives_no_verdict(monkeypatch):
    def differs(*_):
        raise Differs("another value")

    monkeypatch.setattr(answering, "compare", differs)
    found = verify(COUNT, claim="eps", adjacency="add_remove")
    assert (found.status, found.certificate) == ("unknown", None)
    assert "Python does not agree" in found.reason


INSIDE = """
def f(data: list[list[int]], eps: Fraction):
    total = 0
    for values in data:
        for value in values:
            total += 0
    return total + len(data) + laplace(1 / eps)
"""


def test_nothing_is_proven_of_lists_that_are_read_to_their_end():
    found = verify(INSIDE, claim="eps", adjacency="add_remove")
    assert found.status == "unknown"
    assert "take the first ones" in found.reason
    assert verify(INSIDE.replace("in values", "in values[:2]"), claim="eps", adjacency="add_remove").status == "proven"


@pytest.mark.parametrize(("scale", "status"), [("1 / eps", "proven"), ("1 / (2 * eps)", "refuted")])
def test_how_many_different_values_there_are_moves_by_one(scale, status):
    text = COUNT.replace("len(data)", "len(set(data))").replace("1 / eps", scale)
    found = verify(text, claim="eps", adjacency="replace_one")
    assert found.status == status
    assert found.claim == "eps-DP when one record of data (list[int]) is exchanged for any other, if eps > 0"


def test_ends_of_values_are_fitted_to_both_data_sets():
    first, second = {"q": (3, -2)}, {"q": (9,)}
    fitted({"q": ("low", "high")}, first, second)
    assert [{"q": (3, -2), "low": -2, "high": 10}, {"q": (9,), "low": -2, "high": 10}] == [first, second]


def test_what_is_rounded_away_is_no_counterexample():
    text = COUNT.replace("return len(data) + laplace(1 / eps)", "return round(2 * len(data) + laplace(1 / eps), 1)")
    assert verify(text, claim="eps", adjacency="add_remove").status == "refuted"
    hidden = text.replace("2 * len(data) + laplace(1 / eps), 1", "min(len(data), 1) / 4")
    assert verify(hidden, claim="eps", adjacency="add_remove").status == "unknown"
