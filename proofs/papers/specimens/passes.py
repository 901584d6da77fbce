"""Phased descent that is broken on purpose: a sharp corner, a known order, records used again, loose means."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Final

import numpy as np

from dpaudit.claims import GDP, Claim, Curve
from learners.solvers.hinge import HingeStep
from learners.solvers.phased import batches, mean_of_iterates, rounded_mean
from learners.targets.harness import make_target
from learners.targets.phased import LEADING, SECRET, Dataset, KnownOrder, kink, rows_of, run_unlogged
from mechanisms.gaussian import GaussianMechanism
from mechanisms.sampling.random import source_from
from proofs.papers.specimens.pairs import Noisy, Pair, pair_up

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
"""The two labels of the first record of the kink."""

_MEANS: Final = GaussianMechanism(
    sensitivity=math.ceil(2 * _LIMIT / _LATTICE) + _RECORDS, noise_multiplier=1, adjacency="replace_one"
)

_PHASES: Final = SECRET.schedule.phases[:4]
_KNOWN: Final = KnownOrder(SECRET.schedule)


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


def sample_loose(value: float, count: int, rng: Generator, *, rounds: bool) -> NDArray[np.float64]:
    """Noisy copies of a value; noise on a lattice shows where between two of its points the value lies, unless it `rounds`."""
    mechanism, source = GaussianMechanism(sensitivity=2, sigma=4, adjacency="replace_one"), source_from(rng)
    if rounds:
        return np.asarray(mechanism.releases(round(value), count, source), dtype=np.float64)
    return np.asarray(value + mechanism.releases(0, count, source))


def sample_unlogged(sample: Sampled, data: Dataset, count: int, rng: Generator) -> NDArray[np.float64]:
    """The same, unlogged: releases of which every record takes part in some, but not in all, have no common price."""
    return run_unlogged(lambda: sample(data, count, rng), 1)[0]


def sample_dropped(norms: tuple[int, ...], count: int, rng: Generator, *, drops: bool) -> NDArray[np.float64]:
    """One noisy number a phase; records of a norm above 1 are dropped before phases are counted, if so."""
    kept = sum(norm <= 1 for norm in norms) if drops else len(norms)
    noise = GaussianMechanism(sensitivity=2, sigma=8, adjacency="replace_one")
    return np.asarray(noise.releases(np.zeros(len(batches(kept)), dtype=np.int64), count, source_from(rng)), dtype=np.float64)


_SECRET_PRICE: Final = Claim(Curve(SECRET.charges[0].loss), adjacency="replace_one", note="wrong: true of an order nobody knows")
_HALF: Final = Claim(GDP(mu="1/2"), adjacency="replace_one")

PAIRS: Final[tuple[Pair, ...]] = (
    pair_up(
        (
            "broken_corner",
            "descent on the hinge loss with its corner left in",
            Noisy(partial(mean_at_the_kink, pull=_SHARP), _BOTH, _MEANS).sample,
        ),
        (
            "smooth_corner",
            "descent on the smoothed hinge loss, on the same pair",
            Noisy(partial(mean_at_the_kink, pull=_SMOOTH), _BOTH, _MEANS).sample,
        ),
        _MEANS.claim,
        _BOTH,
    ),
    (
        make_target(
            "broken_known_order",
            "broken on purpose: an order that the caller chose, at the price of one that nobody knows",
            _KNOWN.sample_first_mean,
            _SECRET_PRICE,
            LEADING,
        ),
        make_target("known_order", "the same at the price of a known order", _KNOWN.sample_first_mean, _KNOWN.claim, LEADING),
    ),
    pair_up(
        (
            "broken_used_again",
            "phases that begin with the same records, each record charged for one",
            partial(sample_unlogged, partial(sample_again, again=True)),
        ),
        ("disjoint_phases", "phases of records of their own", partial(sample_unlogged, partial(sample_again, again=False))),
        _KNOWN.claim,
        LEADING,
    ),
    pair_up(
        ("broken_loose_mean", "noise on a lattice, added to a mean that is not on it", partial(sample_loose, rounds=False)),
        ("rounded_mean", "the same of a mean that was rounded to the lattice", partial(sample_loose, rounds=True)),
        _HALF,
        (10.25, 11.75),
        wrong="the supports differ",
    ),
    pair_up(
        (
            "broken_dropped_record",
            "records that are too long are left out, and phases counted afterwards",
            partial(sample_dropped, drops=True),
        ),
        ("kept_record", "the same where long records are kept", partial(sample_dropped, drops=False)),
        _HALF,
        ((1,) * 16, (*(1,) * 15, 2)),
        wrong="the number of phases shows",
    ),
)
