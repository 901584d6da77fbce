"""Targets that are broken on purpose, each by a mistake that was published or is made often; an audit must refute every one."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from dpaudit.claims import ApproxDP, Claim, PureDP
from dpaudit.releases import Release, note
from dpaudit.targets import Target
from mechanisms.laplace import LaplaceMechanism
from mechanisms.lattice import clamp_to_lattice
from mechanisms.laws import DiscreteLaplace
from mechanisms.noisy_max import NoisyMax, greatest
from mechanisms.prefix_sums import PrefixSums
from mechanisms.sampling.random import source_from
from mechanisms.stability_histogram import StabilityHistogram
from mechanisms.targets.people import RECORDS, find_first, replace_record
from mechanisms.targets.queries import CLINICS, Visits, as_rows, columns
from mechanisms.targets.questions import DIAGNOSIS, RADIUS, STEP, Record, column
from mechanisms.targets.sound import SCORES


def mean_with_data_bounds(records: Sequence[Record], count: int, rng: np.random.Generator) -> NDArray[Any]:
    """Mean radius whose clamping bounds, and with them the noise, are taken from the records themselves.

    The mistake: bounds must be public. One record with a misplaced decimal point widens the range, and the noise with it, so that
    the spread of the outputs tells whether that record is there. The log shows a sensitivity that fits the noise, hence epsilon 1.

    Source: a frequent mistake.
    """
    radii = [value for value in column(records, RADIUS) if isinstance(value, (int, float))]
    lower, upper = (round(bound(radii, default=0) / STEP) * STEP for bound in (min, max))
    steps = clamp_to_lattice(radii, lower=lower, upper=upper, lattice=STEP)
    mechanism = LaplaceMechanism(sensitivity=max(int((upper - lower) / STEP), 1), epsilon=1, adjacency="replace_one")
    return mechanism.releases(int(steps.sum()), count, source_from(rng)) * float(STEP) / max(len(records), 1)


def malignant_surplus(records: Sequence[Record]) -> int:
    """Malignant tumours minus the others: moves by 2 when a malignant record is replaced by another."""
    return sum(1 if value == 1 else -1 for value in column(records, DIAGNOSIS))


def surplus_with_half_noise(records: Sequence[Record], count: int, rng: np.random.Generator) -> NDArray[Any]:
    """Malignant tumours minus the others, with half the noise that replacing a record needs.

    The mistake: 1 is the sensitivity for adding or removing a record, but the claim is about replacing one, which moves a tumour
    from one side of the difference to the other. The true epsilon is 2.

    Source: a frequent mistake.
    """
    mechanism = LaplaceMechanism(sensitivity=1, epsilon=1, adjacency="replace_one")
    return mechanism.releases(malignant_surplus(records), count, source_from(rng))


def sparse_vector_with_one_noise(answers: Sequence[int], count: int, rng: np.random.Generator) -> NDArray[np.int8]:
    """Which answers are at least a threshold with noise, the answers themselves having none.

    The mistake: noise in the threshold hides an answer that moves, but not two that move in opposite directions, whose order shows.
    The log shows the noise of the threshold, hence epsilon 1; no epsilon holds.

    Source: Lyu, Su, Li 2017, Algorithm 5, which shows a mistake of Stoddard, Chen, Machanavajjhala 2014.
    """
    thresholds = LaplaceMechanism(sensitivity=1, epsilon=1, adjacency=SCORES).releases(0, count, source_from(rng))
    return (np.array(answers) >= thresholds[:, None]).astype(np.int8)


def noisy_max_with_value(scores: Sequence[int], count: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """The place of the greatest noisy score, and that noisy score.

    The mistake: only the place is private at this price. The greatest of five noisy scores is low if all five are, which is as
    telling as five noisy scores. The log shows a noisy max, hence epsilon 1; the truth is 5/2 for five scores.

    Source: Ding, Wang, Wang, Zhang, Kifer 2018, Algorithm 7.
    """
    place = NoisyMax(sensitivity=1, epsilon=1, noise="laplace", adjacency=SCORES)
    source = source_from(rng)
    flags = {"geometric": Fraction(0), "monotonic": Fraction(0)}
    parameters = sorted({**flags, "lattice": place.lattice, "temperature": place.scale}.items())
    note(Release("noisy_max", tuple(parameters), place.sensitivity, place.adjacency, count=count, secure=source.secure))
    noisy = DiscreteLaplace(place.scale).sample(count * len(scores), source=source).reshape(count, len(scores)) + np.array(scores)
    return np.column_stack([greatest(noisy, source), noisy.max(axis=1)])


def keys_of_unbounded_people(people: Sequence[Visits], count: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Clinics from the data with noisy numbers of visits, noise and threshold those for people with one visit each.

    The mistake: nobody says whose the records are, so a person counts at every clinic instead of one. The log shows one
    contribution, hence epsilon 1 and delta 1/50.

    Source: Wilson, Zhang, Lam, Desfontaines, Simmons-Marengo, Gipson 2020, on systems that allow each person one record.
    """
    clinics, _ = columns(people)
    return as_rows(StabilityHistogram(epsilon=1, delta="1/50").releases(clinics, count, source_from(rng)))


def running_counts_of_returning_people(people: Sequence[Sequence[int]], count: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Counts of visits up to each of eight days, with the noise for people who come once, though they may come every day.

    The mistake: the sensitivity of the correlated rows is that of one participation. Who comes on all days moves all of them in one
    direction. The log shows one participation, hence mu 2/3; the truth is more than five times that.

    Source: Choquette-Choo, McMahan, Rush, Thakurta 2023, on multiple participation.
    """
    mechanism = PrefixSums(steps=8, sensitivity=1, sigma=2)
    visits = np.bincount([day for days in people for day in days], minlength=8) if people else np.zeros(8, np.int64)
    return mechanism.releases(visits, count, source_from(rng))


_MALIGNANT: Final = find_first(RECORDS, 1)
_SLIPPED: Final = replace_record(RECORDS, _MALIGNANT, **{RADIUS: 10 * RECORDS[_MALIGNANT][RADIUS]})

TARGETS: Final = (
    Target(
        name="broken_mean",
        description="broken on purpose: a mean whose bounds are taken from the data",
        sample=mean_with_data_bounds,
        claim=Claim(PureDP(epsilon=1), adjacency="replace_one", note="wrong: the bounds and the noise depend on the records"),
        neighbours=[(RECORDS, _SLIPPED)],
    ),
    Target(
        name="broken_noise",
        description="broken on purpose: a difference of counts with half the noise it needs",
        sample=surplus_with_half_noise,
        claim=Claim(PureDP(epsilon=1), adjacency="replace_one", note="wrong: replacing a record moves the difference by 2"),
        proof="mechanisms.targets.programs:surplus_with_half_noise(epsilon=1)",
        neighbours=[(RECORDS, replace_record(RECORDS, _MALIGNANT, **{DIAGNOSIS: 0}))],
    ),
    Target(
        name="broken_sparse_vector",
        description="broken on purpose: answers without noise, compared with a noisy threshold (Lyu, Su, Li 2017, Algorithm 5)",
        sample=sparse_vector_with_one_noise,
        claim=Claim(PureDP(epsilon=1), adjacency=SCORES, note="wrong: the comparisons have no noise of their own"),
        proof="mechanisms.targets.programs:sparse_vector_with_one_noise(epsilon=1)",
        neighbours=[((0, 1), (1, 0))],
        public_data=True,
    ),
    Target(
        name="broken_noisy_max",
        description="broken on purpose: a noisy maximum that is shown, not only its place (Ding and others 2018, Algorithm 7)",
        sample=noisy_max_with_value,
        claim=Claim(PureDP(epsilon=1), adjacency=SCORES, note="wrong: the maximum is low only if the noise of all scores is"),
        proof="mechanisms.targets.programs:noisy_max_with_value(epsilon=1)",
        neighbours=[((0,) * 5, (1,) * 5)],
        public_data=True,
    ),
    Target(
        name="broken_keys",
        description="broken on purpose: keys of people counted as if everybody had one record (Wilson and others 2020)",
        sample=keys_of_unbounded_people,
        claim=Claim(ApproxDP(epsilon=1, delta="1/50"), note="wrong: a person counts for every clinic, not for one"),
        neighbours=[((), (CLINICS,))],
        public_data=True,
    ),
    Target(
        name="broken_running_counts",
        description="broken on purpose: running counts with noise for one visit, of people who come every day",
        sample=running_counts_of_returning_people,
        claim=Claim(ApproxDP(epsilon=2, delta="1/1000"), note="wrong: a person who returns moves every row of the noise's matrix"),
        neighbours=[(((0, 1, 2, 3, 4, 5, 6, 7),), ())],
        public_data=True,
    ),
)
