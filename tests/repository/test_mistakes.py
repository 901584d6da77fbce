"""The commonest mistakes of those who begin, each with the whole text of its error: what they read has to say what to write."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

import dpaudit
import learners
import mechanisms
from dpaudit import ApproxDP, Claim, PureDP, Target
from dpaudit.accounting import compose, discrete_gaussian, gaussian
from dpaudit.errors import CODES, DpauditError

MISTAKES = tomllib.loads(Path(__file__).with_name("mistakes.toml").read_text(encoding="utf-8"))["mistake"]
CLAIM = Claim(PureDP(epsilon=1))


def sumq(data, rng):
    """A function to audit."""
    return len(data)


def classifier(**given):
    """A learner with what it asks for."""
    return learners.PrivateClassifier(**{"epsilon": 1, "delta": "1e-6", "feature_norm": 1, "classes": [0, 1], **given})


NAMES = {
    "np": np,
    "audit": dpaudit.audit,
    "mechanisms": mechanisms,
    "classifier": classifier,
    "X": np.ones((4, 2)),
    "y": np.array([0, 1, 0, 1]),
    "C": CLAIM,
    "sumq": sumq,
    "TARGET": Target(run=sumq, claim=CLAIM, neighbours=[([1], [1, 2])]),
    "ApproxDP": ApproxDP,
    "Budget": learners.Budget,
    "Claim": Claim,
    "Target": Target,
    "compose": compose,
    "discrete_gaussian": discrete_gaussian,
    "gaussian": gaussian,
}


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda mistake: mistake["call"][:60])
def test_a_common_mistake_is_answered_by_this_text(mistake):
    with pytest.raises((DpauditError, NotFittedError)) as caught:
        eval(mistake["call"], dict(NAMES))  # noqa: S307 - the calls stand in this repository
    assert mistake["says"] == f"{type(caught.value).__name__}: {caught.value}"


def test_there_are_more_than_forty_of_them_and_each_has_a_code_and_ends_as_a_sentence():
    texts = [mistake["says"] for mistake in MISTAKES]
    assert 40 < len(texts) == len({mistake["call"] for mistake in MISTAKES})
    for text in texts:
        code = re.search(r"DPA\d{3}", text)
        assert text.startswith("NotFittedError") or (code is not None and code[0] in CODES), text
        assert text.endswith("."), text
        assert " a int" not in text, text
        assert "NoneType" not in text, text
