"""A privacy profile in one direction, and its inversion: epsilon at a delta, certified at both ends."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Final, TypeAlias

from dpaudit.accounting.model.questions import DeltaAt, Question
from dpaudit.accounting.model.search import crossing
from dpaudit.accounting.model.values import LossValue
from dpaudit.exact import SMALLEST_EXPONENT, Enclosure, Endpoint, Reason

SMALLEST_FLOOR: Final = Fraction(2) ** (SMALLEST_EXPONENT - 1)
"""Deltas below this are not resolved at all."""

DeltaFunction: TypeAlias = Callable[[Fraction, Fraction], Enclosure]
"""Certified delta at an epsilon; values below the second argument need not be resolved."""


@dataclass(frozen=True)
class Profile:
    """Certified delta at any epsilon >= 0, with what it tends to.

    `limit` encloses delta as epsilon grows; from `greatest` on (None: never) delta equals it.
    """

    delta: DeltaFunction
    limit: Enclosure
    greatest: LossValue | None

    def answer(self, question: Question) -> Enclosure:
        """Delta or epsilon, as asked."""
        if isinstance(question, DeltaAt):
            return self.at(question.epsilon, SMALLEST_FLOOR)
        return self._epsilon(question.delta)

    def at(self, epsilon: Fraction, floor: Fraction) -> Enclosure:
        """Delta, read off the limit where no finite loss exceeds epsilon."""
        if self.greatest is not None and self.greatest.ends()[1] <= epsilon:
            return self.limit
        return self.delta(epsilon, floor)

    def _epsilon(self, delta: Fraction) -> Enclosure:
        """Epsilon at `delta`: each end is found and checked on the matching end of the profile."""
        if self.limit.lower > delta:
            reason = Reason("an infinite loss has a larger probability than delta", (self.limit.reason,))
            return Enclosure(math.inf, math.inf, reason)
        least, most = (math.inf, math.inf) if self.greatest is None else self.greatest.ends()
        if self.limit.is_point and self.limit.upper == delta:
            reason = Reason("sum of the greatest finite losses", (self.limit.reason,))
            return Enclosure(max(least, Fraction(0)), max(most, Fraction(0)), reason)
        known: dict[Fraction, Enclosure] = {}

        def at(epsilon: Fraction) -> Enclosure:
            """Delta at an epsilon, computed once."""
            if epsilon not in known:
                known[epsilon] = self.at(epsilon, delta / (1 << 16))
            return known[epsilon]

        upper: Endpoint = math.inf
        if self.limit.upper <= delta:
            upper = crossing(lambda epsilon: at(epsilon).upper, delta, most)[1]
        lower = crossing(lambda epsilon: at(epsilon).lower, delta, most)[0]
        checked = at(lower if isinstance(upper, float) else upper) if isinstance(lower, Fraction) else self.limit
        reason = Reason("epsilon inverts the profile (Sommer, Meiser, Mohammadi 2019, Lemma 5)", (checked.reason,))
        return Enclosure(lower, upper, reason)
