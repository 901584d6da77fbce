"""Sources for tests of mechanisms: one that must not be asked, and the enumeration of a kernel over all its tapes."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Hashable
from fractions import Fraction

import pytest

from tests.support.sources import NeedBits, TapeSource


class UnaskedSource:
    """Fails the test when bits are drawn from it: input is to be checked first."""

    secure = True

    def uniform(self, bits, size):
        raise AssertionError("bits were drawn before the input was checked")

    def bits(self, count):
        raise AssertionError("bits were drawn before the input was checked")


@pytest.fixture(scope="session")
def unasked():
    """A source that must not be asked."""
    return UnaskedSource()


def all_outcomes(kernel: Callable[[TapeSource], Hashable], *, unassigned: Fraction = Fraction(1, 2**12)):
    """Probability of each outcome of a kernel over all tapes, shortest first, until at most `unassigned` is left; and what is left.

    The true probability of an outcome lies between what was found and that plus what is left.
    """
    found: dict[Hashable, Fraction] = {}
    waiting, left = [(0, 0)], Fraction(1)
    while left > unassigned:
        length, value = heapq.heappop(waiting)
        tape = TapeSource(value, length)
        try:
            outcome = kernel(tape)
        except NeedBits as needed:
            more = min(needed.count, 6)
            for extension in range(1 << more):
                heapq.heappush(waiting, (length + more, value << more | extension))
            continue
        assert 0 == tape.remaining, "the tape was extended by bits that nobody asked for"
        found[outcome] = found.get(outcome, Fraction(0)) + Fraction(1, 1 << length)
        left -= Fraction(1, 1 << length)
    return found, left


@pytest.fixture(scope="session")
def outcomes():
    """The enumeration of a kernel over all its tapes."""
    return all_outcomes
