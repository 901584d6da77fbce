"""The six published variants of the sparse vector technique, and two that show numbers."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from dpaudit.catalogue.noise import laplace
from dpaudit.catalogue.released import broken, sound
from dpaudit.catalogue.specimen import Specimen
from dpaudit.claims import PureDP

BELOW: Final = -1000.0
"""Stands for "not above the threshold" where the other outputs are numbers."""

SILENT: Final = -2000.0
"""Stands for a question that was not reached."""

SPREAD: Final = ((1,) * 10, (2,) * 5 + (0,) * 5)
CROSSED: Final = ((0,) * 5 + (1,) * 5, (1,) * 5 + (0,) * 5)


@dataclass(frozen=True, kw_only=True)
class SparseVector:
    """One variant: scales of all noise, and when it stops.

    `shown` is None where only "above" is released, 0 where the noisy answer that was compared is shown, else the scale of
    fresh noise on the answer that is shown.
    """

    threshold: float
    threshold_scale: float
    answer_scale: float
    cutoff: int | None = 1
    shown: float | None = None

    def sample(self, data: Any, count: int, rng: Generator) -> NDArray[Any]:
        """Rows of 1 (above), 0 (below) and -1 (not asked), or of numbers, `BELOW` and `SILENT`."""
        answers = np.asarray(data, dtype=float)[:, None]  # one row for each, since what follows goes from answer to answer
        limits = self.threshold + laplace(rng, self.threshold_scale, count)
        compared = answers + laplace(rng, self.answer_scale, (len(answers), count))
        above = compared >= limits
        asked = np.ones_like(above)
        if self.cutoff is not None:
            crossed = np.zeros(count, dtype=np.int16)
            for now, shown in zip(asked, above, strict=True):
                now[:] = crossed < self.cutoff
                crossed += shown
        if self.shown is None:
            return np.ascontiguousarray(np.where(asked, above.view(np.int8), np.int8(-1)).T)
        values = answers + laplace(rng, self.shown, compared.shape) if self.shown else compared
        return np.ascontiguousarray(np.where(asked, np.where(above, values, BELOW), SILENT).T)


def variants(epsilon: Fraction) -> dict[str, SparseVector]:
    """The noise of every variant at `epsilon`, with one answer above the threshold before it stops, two for the numerical one."""
    unit = float(1 / epsilon)
    return {
        "svt1": SparseVector(threshold=0.5, threshold_scale=2 * unit, answer_scale=4 * unit),
        "svt2": SparseVector(threshold=1, threshold_scale=2 * unit, answer_scale=4 * unit),
        "svt3": SparseVector(threshold=1, threshold_scale=2 * unit, answer_scale=2 * unit, shown=0),
        "svt4": SparseVector(threshold=1, threshold_scale=4 * unit, answer_scale=4 / 3 * unit),
        "svt5": SparseVector(threshold=1, threshold_scale=2 * unit, answer_scale=0, cutoff=None),
        "svt6": SparseVector(threshold=1, threshold_scale=2 * unit, answer_scale=2 * unit, cutoff=None),
        "numerical_svt": SparseVector(threshold=1, threshold_scale=3 * unit, answer_scale=12 * unit, cutoff=2, shown=6 * unit),
    }


def family(epsilon: Fraction) -> tuple[Specimen, ...]:
    """Return the specimens that claim `epsilon`."""
    noise, claim, technique = variants(epsilon), PureDP(epsilon), "sparse vector technique"
    rows = (
        (sound, "noisy threshold, noisy answers, stops at the first above", SPREAD),
        (sound, "as the first, the threshold's noise growing with the number above, here 1", CROSSED),
        (broken, "the noisy answer that was compared is shown too", SPREAD),
        (broken, "noise of the answers does not grow with the number above", SPREAD),
        (broken, "answers without noise, and no stop", SPREAD),
        (broken, "noisy answers, but no stop", CROSSED),
    )
    return (
        *(
            verdict(f"svt{k}", f"{technique}: {text}", f"Lyu, Su, Li 2017, Algorithm {k}", claim, pair, noise[f"svt{k}"].sample)
            for k, (verdict, text, pair) in enumerate(rows, 1)
        ),
        sound(
            "numerical_svt", f"{technique} that shows two answers, each with fresh noise", "Dwork and Roth 2014, Algorithm 3",
            claim, CROSSED, noise["numerical_svt"].sample,
        ),
        broken(
            "svt34_parallel", "the third and the fourth variant on the same answers, for the price of one",
            "Bichsel, Steffen, Bogunovic, Vechev 2021", claim, SPREAD, _Both(noise["svt3"], noise["svt4"]).sample,
        ),
    )  # fmt: skip


@dataclass(frozen=True)
class _Both:
    """Two variants on the same answers."""

    first: SparseVector
    second: SparseVector

    def sample(self, data: Any, count: int, rng: Generator) -> NDArray[Any]:
        """The outputs of both, side by side."""
        return np.hstack([self.first.sample(data, count, rng), self.second.sample(data, count, rng)])
