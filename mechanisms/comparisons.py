"""Noisy comparisons with one noisy threshold: asked one at a time in an open run, or in many runs at once."""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final, NoReturn, Protocol

import numpy as np
from numpy.typing import NDArray

from dpaudit.errors import BudgetExceeded, InvalidArgument
from dpaudit.exact import Exact, in_range, positive, rational
from dpaudit.releases import Hold, Release
from mechanisms.laws import DiscreteLaplace
from mechanisms.noise import open_release, read_count, require_multiple
from mechanisms.sampling.random import BitSource
from mechanisms.steps import INTEGER_LIMIT, array_steps, format_of, number_steps

NOT_ASKED: Final = -1
"""Stands for the questions that a run no longer answers because it gave its last positive answer before them."""

ROWS: Final = 2**16
"""Runs that are made at once: few enough for the processor's cache."""

_RATIO_STEPS: Final = 64  # the best ratio is irrational in general; any rational one is as private, and this near one as accurate


@dataclass(frozen=True)
class Comparisons:
    """The noise of a run in steps of the lattice, its largest number of positive answers, and its entry in the release log.

    `number` is the noise of numeric answers, None where there are none.
    """

    threshold: DiscreteLaplace
    query: DiscreteLaplace
    number: DiscreteLaplace | None
    cutoff: int
    lattice: Fraction
    record: Release

    def begin(self, threshold: Exact, source: BitSource | None) -> Run:
        """An open run: noted in the log, its threshold's noise drawn."""
        steps = self.threshold_steps(threshold)
        bits, hold = open_release(self.record, source)
        border = steps + int(self.threshold.sample(source=bits, wide=True))
        return Run(self, border, bits, None if hold is None else self._against(hold, steps))

    def many(
        self, threshold: Exact, values: Sequence[Exact] | NDArray[Any], count: int, source: BitSource | None
    ) -> tuple[NDArray[np.int8], NDArray[np.int64]]:
        """Answers (1, 0, `NOT_ASKED`) of independent runs, one in each row, and the noisy steps of positive ones, else 0."""
        steps, row = self.threshold_steps(threshold), self.value_steps(values)
        if abs(steps) > INTEGER_LIMIT:
            raise InvalidArgument("DPA108", "the threshold must be at most 2**60 steps of the lattice. Use a coarser lattice.")
        runs = read_count(count)
        for law in self._laws():
            format_of(Fraction(1)).require_room(law.scale)
        bits, hold = open_release(self.record, source, count=runs)
        answers = np.full((runs, row.size), NOT_ASKED, dtype=np.int8)
        numbers = np.zeros((runs if self.number is not None else 0, row.size), dtype=np.int64)
        for start in range(0, runs, ROWS):
            self._fill(answers[start : start + ROWS], numbers[start : start + ROWS], steps, row, bits)
        found = answers, numbers
        return found if hold is None else self._against(hold, steps)(row, found)

    def _fill(
        self, answers: NDArray[np.int8], numbers: NDArray[np.int64], threshold: int, row: NDArray[np.int64], bits: BitSource
    ) -> None:
        """Write the answers of some runs, question by question; noise is drawn for the runs that are still open."""
        borders = self.threshold.sample(len(answers), source=bits) + np.int64(threshold)
        left = np.full(len(answers), self.cutoff)
        for place, value in enumerate(row):
            open_ = np.flatnonzero(left)
            if not open_.size:
                return
            above = self.query.sample(open_.size, source=bits) + value >= borders[open_]
            answers[open_, place] = above
            positive_ = open_[above]
            left[positive_] -= 1
            if self.number is not None:
                numbers[positive_, place] = self.number.sample(positive_.size, source=bits) + value

    def threshold_steps(self, threshold: Exact) -> int:
        """The public threshold in steps of the lattice."""
        exact = rational(threshold, "threshold")
        require_multiple(exact, self.lattice, "threshold")
        return int(exact / self.lattice)

    def value_steps(self, values: Sequence[Exact] | NDArray[Any]) -> NDArray[np.int64]:
        """The answers of all questions in steps of the lattice; refused unless they are a row of numbers that an array holds."""
        if isinstance(values, np.ndarray):
            if values.ndim != 1:
                raise InvalidArgument("DPA105", f"values must be one row, got an array of {values.ndim} dimensions. Pass one row.")
            return array_steps(values, self.lattice)[0]
        if isinstance(values, (str, bytes)) or not isinstance(values, Sequence):
            given = f"values must be a sequence of numbers or an array, got a {type(values).__name__}"
            raise InvalidArgument("DPA105", f"{given}. Write one number for each question, such as [3, 5].")
        if not values:
            raise InvalidArgument("DPA109", "there are no values to compare. Give at least one.")
        steps = [number_steps(value, self.lattice) for value in values]
        if max(map(abs, steps)) > INTEGER_LIMIT:
            raise InvalidArgument("DPA108", "values must be at most 2**60 steps of the lattice. Use a coarser lattice, or start().")
        return np.array(steps, dtype=np.int64)

    def _against(self, hold: Hold, threshold: int) -> Hold:
        """A hold that takes values in steps, and keeps by how much they exceed the threshold."""

        def hold_excess(value: Any, output: Any) -> Any:
            return hold([self.lattice * (int(steps) - threshold) for steps in np.atleast_1d(np.array(value, dtype=object))], output)

        return hold_excess

    def _laws(self) -> list[DiscreteLaplace]:
        """The laws of all noise."""
        return [law for law in (self.threshold, self.query, self.number) if law is not None]


class Run:
    """An open run of `AboveThreshold` or `SparseVector`: asks one question after the other, until its last positive answer.

    Its noisy threshold is secret and the same for all questions, so a run can be neither copied nor pickled, and answers only in
    the process that started it. Threads may share it.
    """

    __slots__ = ("_bits", "_border", "_comparisons", "_hold", "_left", "_lock", "_process")

    def __init__(self, comparisons: Comparisons, border: int, bits: BitSource, hold: Hold | None = None) -> None:
        self._comparisons, self._border, self._bits, self._hold = comparisons, border, bits, hold
        self._left, self._lock, self._process = comparisons.cutoff, threading.Lock(), os.getpid()

    @property
    def left(self) -> int:
        """The number of positive answers that the run may still give."""
        return self._left

    def ask(self, value: Exact) -> bool:
        """True if a value is above the threshold, noisily: value + noise >= threshold + the run's noise.

        The question may depend on everything answered before.

        Source: Dwork and Roth 2014, Algorithm 1.
        """
        return self.compare(number_steps(value, self._comparisons.lattice))

    def ask_number(self, value: Exact) -> int | Fraction | None:
        """A noisy copy of a value that is above the threshold, with noise of its own; else None.

        Source: Dwork and Roth 2014, Algorithm 3.
        """
        noise, lattice = self._comparisons.number, self._comparisons.lattice
        if noise is None:
            raise InvalidArgument("DPA106", "numbers need a budget. Build a SparseVector with number_share=, or use ask().")
        steps = number_steps(value, lattice)
        if not self.compare(steps):
            return None
        total = steps + int(noise.sample(source=self._bits, wide=True))
        result = total if lattice == 1 else lattice * total
        return result if self._hold is None else self._hold(steps, result)

    def compare(self, steps: int) -> bool:
        """True if a value in steps of the lattice is above the threshold, noisily."""
        if os.getpid() != self._process:
            raise BudgetExceeded(
                "DPA204", "this run belongs to another process, where the same noise may answer. Start a new run in this process."
            )
        with self._lock:
            if not self._left:
                given = f"the run has given its {self._comparisons.cutoff} positive answers and has ended"
                raise BudgetExceeded("DPA204", f"{given}. Start a new run, which costs its own epsilon.")
            above = steps + int(self._comparisons.query.sample(source=self._bits, wide=True)) >= self._border
            if self._hold is not None:
                above = self._hold(steps, above)
            self._left -= above
        return above

    def __reduce__(self) -> NoReturn:
        """Refuse to be copied: two copies would compare with the same noisy threshold and spend the budget twice."""
        raise TypeError("an open run cannot be copied or pickled; start a new run, which is paid for")


class Compares(Protocol):
    """A mechanism that compares answers with a threshold; `start` becomes its method in the class body."""

    @property
    def _comparisons(self) -> Comparisons:
        """The noise in steps of the lattice, and its entry in the release log."""


def start(self: Compares, threshold: Exact, source: BitSource | None = None) -> Run:
    """Open a run for questions that depend on earlier answers; its whole epsilon is spent from here on, whatever is asked.

    `threshold` is public and exact, a multiple of the lattice (else DPA101, DPA102, DPA107). `source` gives the bits of the whole
    run; None takes the operating system's.

    Source: Dwork and Roth 2014, Algorithms 1 and 2.
    """
    return self._comparisons.begin(threshold, source)


def comparisons_of(
    mechanism: Any, kind: str, *, cutoff: int = 1, numbers: Fraction | None = None, logged: Mapping[str, Fraction]
) -> Comparisons:
    """The comparisons of a mechanism by its scales; `numbers` is the scale for numeric answers, `logged` what else is logged."""
    scales = {"threshold_scale": mechanism.threshold_scale, "query_scale": mechanism.query_scale}
    parameters = {"lattice": mechanism.lattice, "monotonic": Fraction(int(mechanism.monotonic)), **scales, **logged}
    threshold, query = (DiscreteLaplace(scale / mechanism.lattice) for scale in scales.values())
    number = None if numbers is None else DiscreteLaplace(numbers / mechanism.lattice)
    record = Release(kind, tuple(sorted(parameters.items())), mechanism.sensitivity, mechanism.adjacency)
    return Comparisons(threshold, query, number, cutoff, mechanism.lattice, record)


def best_ratio(steps: int) -> Fraction:
    """The best ratio of the answers' budget to the threshold's: steps^(2/3), rounded down to 1/64.

    With budgets x and y the noise of a comparison has variance near 2 (sensitivity / x)^2 + 2 (steps sensitivity / y)^2, which is
    least, for a given sum, at (y / x)^3 = steps^2.
    """
    cube = steps**2 * _RATIO_STEPS**3
    root = 1 << (cube.bit_length() + 2) // 3
    while (better := (2 * root + cube // root**2) // 3) < root:
        root = better
    return Fraction(root, _RATIO_STEPS)


def read_share(share: Exact | None, *, steps: int, rest: Fraction) -> Fraction:
    """The threshold's share of the whole budget, of which `rest` is for comparisons; the best one where None is given."""
    if share is None:
        return rest / (1 + best_ratio(steps))
    exact = positive(share, "threshold_share")
    if exact >= rest:
        raise InvalidArgument("DPA103", "threshold_share and number_share must sum to less than 1. Something must pay the answers.")
    return exact


def read_number_share(share: Exact) -> Fraction:
    """The share of the whole budget that pays numeric answers, 0 for none."""
    return in_range(share, "number_share", lower=0, upper=1, upper_open=True)
