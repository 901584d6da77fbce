"""Phased descent that is broken on purpose: a sharp corner, a known order, records used again, loose means, a free choice."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Final

import numpy as np

from dpaudit.claims import GDP, Claim, Curve
from dpaudit.targets import Target
from learners.choices.levels import counts_mechanism
from learners.solvers.hinge import HingeStep
from learners.solvers.phased import batches, mean_of_iterates, rounded_mean
from learners.targets.inside import mu_of
from learners.targets.phased import LEADING, SECRET, Dataset, KnownOrder, kink, rows_of, unlogged
from mechanisms.gaussian import GaussianMechanism
from mechanisms.sampling.random import source_from
from proofs.papers.specimens.noisy import Noisy

if TYPE_CHECKING:
    from numpy.random import Generator
    from numpy.typing import NDArray

    Sampled = Callable[[Dataset, int, Generator], NDArray[np.float64]]

_RECORDS: Final = 121
_MARGIN: Final = 0.01
_FIRST, _SECOND, _START, _CORNER = kink(_RECORDS, _MARGIN)
_LIMIT: Final = 2.0**-17
_LATTICE: Final = 2.0**-32
_SHARP: Final = 2.0**60
_SMOOTH: Final = 2.0
_BOTH: Final = (True, False)
"""Whether the first record of the kink has its one label or the other."""

_MEANS: Final = GaussianMechanism(
    sensitivity=math.ceil(2 * _LIMIT / _LATTICE) + _RECORDS, noise_multiplier=1, adjacency="replace_one"
)

_PHASES: Final = SECRET.schedule.phases[:4]
_KNOWN: Final = KnownOrder(SECRET.schedule)
_CHOICE: Final = counts_mechanism(epsilon=1, adjacency="replace_one")
_PASSES: Final = 2
_AS_GAUSSIAN: Final = Fraction(5, 4)
"""Pure epsilon 1 is at least as private as a Gaussian mu of -2 times the normal quantile of 1 / (1 + e), which is 1.2318."""


def mean_at_the_kink(first: bool, pull: float) -> NDArray[np.int64]:  # noqa: FBT001 - the dataset
    """The mean of the iterates on the pair that finds the corner, in steps of a lattice."""
    mean = mean_of_iterates(_FIRST if first else _SECOND, _START, HingeStep(_CORNER, pull, _LIMIT))
    return np.rint(mean / _LATTICE).astype(np.int64)


def sample_again(data: Dataset, count: int, rng: Generator, *, again: bool) -> NDArray[np.float64]:
    """Sum of the noisy means of four phases in units of their noise; if `again`, each phase begins with the same records."""
    rows, source, total, taken = rows_of(data), source_from(rng), np.zeros(count), 0
    for phase in _PHASES:
        places = np.arange(phase.records) + (0 if again else taken)
        taken += phase.records
        mean = rounded_mean(rows, SECRET.schedule, phase, places, np.zeros(1))
        total += phase.mechanism.releases(mean, count, source)[:, 0] / float(phase.release.parameter("sigma"))
    return total


@dataclass(frozen=True)
class Loose:
    """A value of which noise on a lattice shows the place between two points of the lattice, unless it is rounded first."""

    rounds: bool

    def sample(self, value: float, count: int, rng: Generator) -> NDArray[np.float64]:
        """Noisy copies of a value, whose noise is 4 steps of the lattice."""
        mechanism, source = GaussianMechanism(sensitivity=2, sigma=4, adjacency="replace_one"), source_from(rng)
        if self.rounds:
            return np.asarray(mechanism.releases(round(value), count, source), dtype=np.float64)
        return np.asarray(value + mechanism.releases(0, count, source))


def sample_chosen(data: Dataset, count: int, rng: Generator, *, charged: bool) -> NDArray[np.float64]:
    """Of two noisy weights the one that errs less on the records: by the exponential mechanism if it is `charged`, else exactly."""
    source = source_from(rng)
    found = np.stack([_KNOWN.sample_first_mean(data, count, rng) for _ in range(_PASSES)], axis=1)
    feature, label = data[0]
    wrong = (found * feature * (2 * label - 1) <= 0).astype(np.int64)  # the other records are zero: wrong for every weight
    chosen = wrong.argmin(axis=1)
    if charged:
        for case in {tuple(row) for row in wrong.tolist()}:
            rows = np.flatnonzero((wrong == case).all(axis=1))
            chosen[rows] = _CHOICE.releases([-each for each in case], len(rows), source)
    return np.asarray(found[np.arange(count), chosen])


def sample_dropped(norms: tuple[int, ...], count: int, rng: Generator, *, drops: bool) -> NDArray[np.float64]:
    """One noisy number a phase; records of a norm above 1 are dropped before phases are counted, if so."""
    kept = sum(norm <= 1 for norm in norms) if drops else len(norms)
    noise = GaussianMechanism(sensitivity=2, sigma=8, adjacency="replace_one")
    return np.asarray(noise.releases(np.zeros(len(batches(kept)), dtype=np.int64), count, source_from(rng)), dtype=np.float64)


def _price(*, choice: bool) -> Claim:
    """What the first means of several passes cost, and the choice among them, which is pure at epsilon 1 and so Gaussian at 5/4."""
    means = mu_of([SECRET.schedule.releases[0]] * _PASSES)
    total = math.isqrt(math.ceil((means**2 + (_AS_GAUSSIAN**2 if choice else 0)) * 4**30)) + 1
    return Claim(GDP(mu=Fraction(total, 2**30)), adjacency="replace_one")


def _known(name: str, description: str, sample: Sampled, claim: Claim) -> Target:
    """A target on the record that leads a pass."""
    return Target(name=name, description=description, sample=sample, claim=claim, neighbours=[LEADING], public_data=True)


@dataclass(frozen=True)
class _Unpriced:
    """A function whose releases have no common price: of some every record takes part in one."""

    sample: Sampled

    def several(self, data: Dataset, count: int, rng: Generator) -> NDArray[np.float64]:
        """The same, unlogged."""
        return unlogged(lambda: self.sample(data, count, rng), 1)[0]


_SECRET_PRICE: Final = Claim(Curve(SECRET.charges[0].loss), adjacency="replace_one", note="wrong: true of an order nobody knows")
_LOOSE_PAIR: Final = (10.25, 11.75)
_LONG: Final = ((1,) * 16, (*(1,) * 15, 2))

SPECIMENS: Final = (
    Noisy(partial(mean_at_the_kink, pull=_SHARP), _BOTH, _MEANS).target(
        "broken_corner", "broken on purpose: descent on the hinge loss with its corner left in"
    ),
    _known(
        "broken_known_order",
        "broken on purpose: an order that the caller chose, at the price of one that nobody knows",
        _KNOWN.sample_first_mean,
        _SECRET_PRICE,
    ),
    _known(
        "broken_used_again",
        "broken on purpose: phases that begin with the same records, each record charged for one",
        _Unpriced(partial(sample_again, again=True)).several,
        _KNOWN.claim,
    ),
    _known(
        "broken_free_choice",
        "broken on purpose: the better of two noisy weights by its errors on the records, at no charge",
        _Unpriced(partial(sample_chosen, charged=False)).several,
        _price(choice=False),
    ),
    Target(
        name="broken_loose_mean",
        description="broken on purpose: noise on a lattice, added to a mean that is not on it",
        sample=Loose(rounds=False).sample,
        claim=Claim(GDP(mu="1/2"), adjacency="replace_one", note="wrong: the supports differ"),
        neighbours=[_LOOSE_PAIR],
        public_data=True,
    ),
    Target(
        name="broken_dropped_record",
        description="broken on purpose: records that are too long are left out, and phases counted afterwards",
        sample=partial(sample_dropped, drops=True),
        claim=Claim(GDP(mu="1/2"), adjacency="replace_one", note="wrong: the number of phases shows"),
        neighbours=[_LONG],
        public_data=True,
    ),
)

TWINS: Final = {
    "broken_corner": Noisy(partial(mean_at_the_kink, pull=_SMOOTH), _BOTH, _MEANS).target(
        "smooth_corner", "descent on the smoothed hinge loss, on the same pair"
    ),
    "broken_known_order": _known("known_order", "the same at the price of a known order", _KNOWN.sample_first_mean, _KNOWN.claim),
    "broken_used_again": _known(
        "disjoint_phases", "phases of records of their own", _Unpriced(partial(sample_again, again=False)).several, _KNOWN.claim
    ),
    "broken_free_choice": _known(
        "charged_choice",
        "the better of the two by the exponential mechanism, at its price",
        _Unpriced(partial(sample_chosen, charged=True)).several,
        _price(choice=True),
    ),
    "broken_loose_mean": Target(
        name="rounded_mean",
        description="the same of a mean that was rounded to the lattice",
        sample=Loose(rounds=True).sample,
        claim=Claim(GDP(mu="1/2"), adjacency="replace_one"),
        neighbours=[_LOOSE_PAIR],
        public_data=True,
    ),
    "broken_dropped_record": Target(
        name="kept_record",
        description="the same where long records are kept",
        sample=partial(sample_dropped, drops=False),
        claim=Claim(GDP(mu="1/2"), adjacency="replace_one"),
        neighbours=[_LONG],
        public_data=True,
    ),
}
