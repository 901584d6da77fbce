"""Samples from classes that take turns: the loss of one record does not say what a group of them loses."""

from __future__ import annotations

from dataclasses import dataclass

from dpaudit.accounting.laws.sampled import Sampled


@dataclass(frozen=True)
class CyclicSample(Sampled):
    """A Poisson sample of one of several classes of records, to which the record in question belongs."""

    # A group may be spread over classes, which take part in different steps, so `.group` refuses this law.

    def reversed(self) -> CyclicSample:
        return CyclicSample(self.law.reversed(), self.rate, removing=not self.removing)
