"""Whole fits seen from outside: every learner with its defaults, of which an audit sees what a fitted model keeps."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from dpaudit.accounting import compose
from dpaudit.claims import GDP, Claim, Curve, PureDP
from dpaudit.targets import Target
from learners.estimator import PrivateEstimator
from learners.margins.kernel import KernelMarginClassifier
from learners.margins.label_private import LabelPrivateClassifier
from learners.margins.margin import MarginClassifier
from learners.margins.margin_search import MarginSearch
from learners.margins.neural import NeuralMarginClassifier
from learners.margins.polynomial_margin import PolynomialMarginClassifier
from learners.margins.pure_margin import PureMarginClassifier
from learners.public_data.private_classifier import PrivateClassifier
from learners.targets.inside import Records, mu_of, planned, read
from learners.targets.phased import unlogged
from mechanisms.sampling.random import source_from

if TYPE_CHECKING:
    from numpy.random import Generator
    from numpy.typing import NDArray

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
    """Fits of a learner as others see them: the released attributes, all numbers of which stand in one row.

    What `fit` does before and after is the same in every fit, and is done once: the plan, its price, and reading the records.

    Args:
      model: the learner, its public classes named.
      pair: neighbouring records.
    """

    model: PrivateEstimator
    pair: tuple[Records, Records]

    def run(self, records: Records, rng: Generator) -> NDArray[np.float64]:
        """Return what one fit released."""
        return self._fitted(read(self.model, records, self._plan), source_from(rng))

    def sample(self, records: Records, count: int, rng: Generator) -> NDArray[np.float64]:
        """Return what `count` fits released, one in each row; unlogged where releases are priced by the order of the records."""
        rows, source = read(self.model, records, self._plan), source_from(rng)
        if self._ordered:
            return np.array(unlogged(lambda: self._fitted(rows, source), count))
        return np.array([self._fitted(rows, source) for _ in range(count)])

    @property
    def claim(self) -> Claim:
        """The claim of a fit's record: pure epsilon, a Gaussian mu, or the curve of what was priced together."""
        charges = self._plan.charges
        adjacency = charges[0].releases[0].adjacency
        releases = [release for charge in charges for release in charge.releases]
        if self._ordered:
            return Claim(Curve(compose(*(charge.loss for charge in charges))), adjacency=adjacency)
        if all(release.kind == "rounded_gaussian" for release in releases):
            return Claim(GDP(mu=mu_of(releases)), adjacency=adjacency)
        loss = compose(*(charge.loss for charge in charges))
        return Claim(PureDP(epsilon=Fraction(loss.epsilon(delta=0).upper)), adjacency=adjacency)

    def target(self, name: str, change: str) -> Target:
        """Return the target on these fits; it names no proof where nothing is logged, since a proof is checked against the log."""
        learner = type(self.model).__name__
        return Target(
            name=name,
            description=f"whole fits of {learner}{change}",
            sample=self.sample,
            claim=self.claim,
            neighbours=[self.pair],
            public_data=True,
            proof="" if self._ordered else f"proofs.chain#{learner}.claim",
            most_runs=_MOST_RUNS,
        )

    def _fitted(self, rows: Rows, source: BitSource) -> NDArray[np.float64]:
        """One fit, without what is the same in all."""
        with np.errstate(all="ignore"):
            return _numbers(self.model._learn(rows, self._plan, source))  # noqa: SLF001 - what `fit` does, step by step

    @cached_property
    def _plan(self) -> Plan:
        """Plan every fit."""
        return planned(self.model, self.pair[0])

    @property
    def _ordered(self) -> bool:
        """True if releases are priced by the order of the records."""
        return any(charge.scheme is not None for charge in self._plan.charges)


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
        "margin_search": (
            MarginSearch(PureMarginClassifier(**pure, candidates=16), margins=2),
            TURNED,
        ),
    }


def outside_targets(epsilon: int | str | Fraction) -> tuple[Target, ...]:
    """Targets on whole fits of every learner of margins."""
    return tuple(Outside(*seen).target(name, "; one of four records changes") for name, seen in models(epsilon).items())


TARGETS: Final = outside_targets(1)
