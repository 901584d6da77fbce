"""Whole fits seen from outside: every learner with its defaults, of which an audit sees what a fitted model keeps."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from learners.estimator import PrivateEstimator
from learners.margins.kernel import KernelMarginClassifier
from learners.margins.label_private import LabelPrivateClassifier
from learners.margins.margin import MarginClassifier
from learners.margins.margin_search import MarginSearch
from learners.margins.neural import NeuralMarginClassifier
from learners.margins.polynomial_margin import PolynomialMarginClassifier
from learners.margins.pure_margin import PureMarginClassifier
from learners.public_data.private_classifier import PrivateClassifier
from learners.targets.harness import make_target
from learners.targets.inside import Records, claim_of, is_ordered, plan_fit, read_rows
from learners.targets.phased import run_unlogged
from mechanisms.sampling.random import source_from

if TYPE_CHECKING:
    from numpy.random import Generator
    from numpy.typing import NDArray

    from dpaudit.claims import Claim
    from dpaudit.targets import Target
    from learners.estimator import Plan
    from learners.rows.rows import Rows
    from mechanisms.sampling.random import BitSource

_MOST_RUNS: Final = 1000
"""A fit takes a millisecond or a few."""

_REST: Final[Records] = (((0.0, 0.0), 0),) * 3
TURNED: Final[tuple[Records, Records]] = ((((0.8, 0.6), 1), *_REST), (((-0.8, -0.6), 1), *_REST))
"""A record of the largest norm, and its opposite; all other records are zero."""

RELABELLED: Final[tuple[Records, Records]] = ((((0.8, 0.6), 1), *_REST), (((0.8, 0.6), 0), *_REST))
"""The same record with the other label."""


@dataclass(frozen=True)
class Outside:
    """Fits of a learner as others see them: the numbers of all released attributes, in one row.

    What `fit` does before and after is the same in every fit, and is done once: the plan, its price, and reading the records.
    """

    model: PrivateEstimator  # the learner, its public classes named
    pair: tuple[Records, Records]  # neighbouring records

    def run(self, records: Records, rng: Generator) -> NDArray[np.float64]:
        """The numbers that one fit released."""
        return self._fitted(read_rows(self.model, records, self._plan), source_from(rng))

    def sample(self, records: Records, count: int, rng: Generator) -> NDArray[np.float64]:
        """The numbers of `count` fits, one in each row; unlogged where releases are priced by the order of the records."""
        rows, source = read_rows(self.model, records, self._plan), source_from(rng)
        if self._ordered:
            return np.array(run_unlogged(lambda: self._fitted(rows, source), count))
        return np.array([self._fitted(rows, source) for _ in range(count)])

    @property
    def claim(self) -> Claim:
        """The claim of a fit's record."""
        return claim_of(self._plan.charges)

    def target(self, name: str, change: str) -> Target:
        """The target on these fits; it names no proof where nothing is logged, since a proof is checked against the log."""
        learner = type(self.model).__name__
        proven, description = "" if self._ordered else learner, f"whole fits of {learner}{change}"
        return make_target(name, description, self.sample, self.claim, self.pair, learner=proven, most_runs=_MOST_RUNS)

    def _fitted(self, rows: Rows, source: BitSource) -> NDArray[np.float64]:
        """One fit, without what is the same in all."""
        with np.errstate(all="ignore"):
            return _numbers(self.model._learn(rows, self._plan, source))  # noqa: SLF001 - what `fit` does, step by step

    @cached_property
    def _plan(self) -> Plan:
        """The plan of every fit."""
        return plan_fit(self.model, self.pair[0])

    @property
    def _ordered(self) -> bool:
        """True if releases are priced by the order of the records."""
        return is_ordered(self._plan.charges)


def _numbers(learned: Any) -> NDArray[np.float64]:
    """All numbers in what was learned, one after the other."""
    if isinstance(learned, PrivateEstimator):
        return _numbers([vars(learned)[name] for name in sorted(learned.released)])
    if isinstance(learned, dict):
        return _numbers([learned[name] for name in sorted(learned)])
    if isinstance(learned, (list, tuple)):
        return np.concatenate([_numbers(part) for part in learned])
    return np.ravel(np.asarray(learned, dtype=np.float64))


def models(epsilon: int | str | Fraction) -> dict[str, tuple[PrivateEstimator, tuple[Records, Records]]]:
    """Every learner of margins with its defaults but for public sizes, and neighbours, by the name of its target."""
    pure: dict[str, Any] = {"epsilon": epsilon, "feature_norm": 1, "classes": [0, 1]}
    both = {**pure, "delta": "1e-5"}
    return {
        "private_classifier": (PrivateClassifier(**both), RELABELLED),
        "private_classifier_of_three": (PrivateClassifier(**{**both, "classes": [0, 1, 2]}), RELABELLED),
        "margin_classifier": (MarginClassifier(**both, margin="1/4"), RELABELLED),
        "kernel_margin_classifier": (KernelMarginClassifier(**both, frequencies=4), RELABELLED),
        "polynomial_margin_classifier": (PolynomialMarginClassifier(**both), RELABELLED),
        "pure_margin_classifier": (PureMarginClassifier(**pure, candidates=16), TURNED),
        "neural_margin_classifier": (NeuralMarginClassifier(**pure, candidates=16), TURNED),
        "label_private_classifier": (LabelPrivateClassifier(**pure, candidates=16), RELABELLED),
        "margin_search": (MarginSearch(PureMarginClassifier(**pure, candidates=16), margins=2), TURNED),
    }


def outside_targets(epsilon: int | str | Fraction) -> tuple[Target, ...]:
    """Targets on whole fits of every learner of margins."""
    return tuple(Outside(*seen).target(name, "; one of four records changes") for name, seen in models(epsilon).items())


TARGETS: Final = outside_targets(1)
