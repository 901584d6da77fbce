"""What tests of choices share: rows from signed vectors, laws in balls, sources that must not be asked, tapes of all bits."""

from __future__ import annotations

import heapq
import math
from fractions import Fraction

import numpy as np
import pytest

from dpaudit.exact import ball, working_precision
from learners.rows.rows import Rows
from tests.support.sources import NeedBits, TapeSource


class Unasked:
    """Fails the test when bits are drawn from it."""

    secure = True

    def uniform(self, bits, size):
        raise AssertionError("bits were drawn before the input was checked")

    def bits(self, count):
        raise AssertionError("bits were drawn before the input was checked")


@pytest.fixture(scope="session")
def unasked():
    """A source that must not be asked."""
    return Unasked()


@pytest.fixture(scope="session")
def rows_from():
    """Rows of whole steps with labels."""

    def made(steps, labels=None, bound=2**20):
        steps = np.asarray(steps, dtype=np.int32)
        given = np.ones(len(steps), dtype=np.int64) if labels is None else np.asarray(labels, dtype=np.int64)
        return Rows(steps, bound, Fraction(1, bound), given)

    return made


@pytest.fixture(scope="session")
def law():
    """Probability of each of some losses under an exponential mechanism, as balls, straight from the definition."""

    def computed(losses, temperature):
        with working_precision(200):
            weights = [(-ball(Fraction(loss) / temperature)).exp() for loss in losses]
            total = sum(weights[1:], start=weights[0])
            return [weight / total for weight in weights]

    return computed


@pytest.fixture(scope="session")
def largest_loss():
    """The largest privacy loss between two lists of balls, in nats."""

    def computed(first, second):
        return max(abs(float((p / q).log().mid())) for p, q in zip(first, second, strict=True))

    return computed


@pytest.fixture(scope="session")
def every_tape():
    """Probability of each outcome of a kernel over all tapes, shortest first, until at most 2**-12 is left; and what is left."""

    def tried(kernel):
        found, waiting, left = {}, [(0, 0)], Fraction(1)
        while left > Fraction(1, 2**12):
            length, value = heapq.heappop(waiting)
            try:
                outcome = kernel(TapeSource(value, length))
            except NeedBits as needed:
                more = min(needed.count, 6)
                for extension in range(1 << more):
                    heapq.heappush(waiting, (length + more, value << more | extension))
                continue
            found[outcome] = found.get(outcome, Fraction(0)) + Fraction(1, 1 << length)
            left -= Fraction(1, 1 << length)
        return found, left

    return tried


@pytest.fixture(scope="session")
def largest_ratio():
    """The largest privacy loss on a pair of data sets by a declared law, in nats; infinite where a support differs."""

    def computed(pmf, pair):
        first, second = map(pmf, pair)
        if {key for key, share in first.items() if share} != {key for key, share in second.items() if share}:
            return math.inf
        return max(abs(math.log(share / second[key])) for key, share in first.items() if share)

    return computed
