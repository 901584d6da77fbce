"""Checks of noisy comparisons: scripted noise is used where it belongs, each piece once, and a run stops when it must."""

from __future__ import annotations

import contextlib
import copy
import pickle
from fractions import Fraction

import numpy as np

import mechanisms.comparisons as comparisons_module
from dpaudit.claims import Adjacency
from dpaudit.errors import BudgetExceeded
from dpaudit.releases import Release
from mechanisms.comparisons import NOT_ASKED, Comparisons
from mechanisms.sampling.random import OsBitSource


class Script:
    """A law whose draws are written down beforehand."""

    scale = Fraction(1)

    def __init__(self, *draws):
        self.draws = list(draws)

    def sample(self, n=None, *, source=None, wide=False):
        if n is None:
            return self.draws.pop(0)
        return np.array([self.draws.pop(0) for _ in range(n)], dtype=np.int64)


def scripted(threshold, query, number, cutoff):
    """Comparisons with scripted noise."""
    record = Release("sparse_vector", (("epsilon", Fraction(1)),), Fraction(1), Adjacency.of("add_remove"))
    return Comparisons(Script(*threshold), Script(*query), Script(*number) if number else None, cutoff, Fraction(1), record)


def an_open_run_follows_its_script():
    run = scripted([3], [-2, 5, 2, 9], [100, -7], 2).begin(10, OsBitSource())
    assert [False, True] == [run.ask(14), run.ask(8)]  # 12 and 13 against 13
    assert 1 == run.left
    assert run.ask_number(10) is None  # 12 against 13
    assert 104 == run.ask_number(4)  # 13 against 13, and noise of its own
    assert 0 == run.left
    with contextlib.suppress(BudgetExceeded):
        run.ask(10**9)
        raise AssertionError("a run went on after its last positive answer")
    for duplicate in (copy.copy, copy.deepcopy, pickle.dumps):
        with contextlib.suppress(TypeError):
            duplicate(run)
            raise AssertionError("an open run was copied")


def another_process_may_not_ask():
    run = scripted([0], [0, 0], None, 2).begin(0, OsBitSource())
    kept = comparisons_module.os.getpid
    comparisons_module.os.getpid = lambda: -1
    try:
        with contextlib.suppress(BudgetExceeded):
            run.ask(1)
            raise AssertionError("a run answered in another process")
    finally:
        comparisons_module.os.getpid = kept


def many_runs_follow_their_script():
    # Two runs of four questions: borders 10 + 1 and 10 - 1, the second run stops after one positive answer.
    made = scripted([1, -1], [0, 0, 0, 2, 5], [50, 60], 1)
    answers, numbers = made.many(10, [8, 9, 9, 30], 2, OsBitSource())
    assert [[0, 0, 1, NOT_ASKED], [0, 1, NOT_ASKED, NOT_ASKED]] == answers.tolist()
    assert [[0, 0, 60 + 9, 0], [0, 50 + 9, 0, 0]] == numbers.tolist()
    assert [] == made.threshold.draws == made.query.draws == made.number.draws


CHECKS = [an_open_run_follows_its_script, another_process_may_not_ask, many_runs_follow_their_script]
