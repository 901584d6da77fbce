"""Choice of events on the pilot: candidates of every kind, ranked by the lower bound expected of the final runs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np

from dpaudit.auditor.events.candidates import Family, column_families, rare_families, score_families
from dpaudit.auditor.events.predicates import Atoms, Event, ScoreThreshold, Threshold
from dpaudit.auditor.statistics.binning import Floats, Labels
from dpaudit.auditor.statistics.bounds import MASS_SHARE, ClaimPoint
from dpaudit.errors import InvalidArgument

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Atoms", "Event", "RankedEvent", "ScoreThreshold", "Shortlist", "Threshold", "rank_events"]

_NODES: Final = np.array([-2.5, -1.5, -0.5, 0.5])
_OTHER_MASS: Final = 0.25
_COMPUTED: Final = 48
_COMPUTED_APART: Final = 16
"""Candidates whose bound is computed: the best, and the best whose log-mass differs by `_OTHER_MASS`; the rest are forecast."""

_TINY: Final = 1e-12
_SCREENED: Final = 3
"""Columns that are ranked by all rows, after a part of them has chosen these."""

_Judged: TypeAlias = tuple[float, Family, int, bool, float, float, int]


@dataclass(frozen=True)
class RankedEvent:
    """An event worth testing, with what the pilot found.

    `reverse` is True for an event of label 0 (the bound is then on Q over P); `predicted` is the lower bound in nats expected of
    the final runs; `mass` is the probability of the event over both labels; `theta` the estimated probability of its label given
    the event, shrunk towards a model of the whole pilot; `hits` the pilot hits behind it.
    """

    event: Event
    reverse: bool
    predicted: float
    mass: float
    theta: float
    hits: int = 0


@dataclass(frozen=True)
class Shortlist:
    """Number of events to choose: at most `keep`, `each` of a kind and column, with log-probabilities that are `apart`."""

    keep: int = 8
    each: int = 2
    apart: float = 0.25


SHORT: Final = Shortlist()


def rank_events(
    features: Floats,
    labels: Labels,
    *,
    point: ClaimPoint,
    final_runs: int,
    alpha: float,
    shortlist: Shortlist = SHORT,
    groups: Sequence[int] | None = None,
    screen: int = 2**15,
) -> tuple[RankedEvent, ...]:
    """Rank the most promising events, best first.

    An event is judged by the bound expected of `final_runs` fresh runs at a log-ratio between that of its own counts and that of a
    smooth model of the whole pilot, less part of the remaining uncertainty, since the best of many noisy counts is flattered.
    """
    if features.ndim != 2 or labels.shape != features.shape[:1]:
        shapes = f"{features.shape} and {labels.shape}"
        raise InvalidArgument("DPA105", f"features must be of shape (runs, columns) and labels of shape (runs,), got {shapes}.")

    def judged(families: list[Family], runs: int) -> list[_Judged]:
        found = []
        for family in families:
            for reverse in (False, True):
                size = runs * family.share
                predicted, theta, mass = _predict(family, size, reverse=reverse, point=point, final_runs=final_runs, alpha=alpha)
                for place in _spread(predicted, mass, shortlist):
                    hits = int(family.ones[place] + family.zeros[place])
                    found.append((float(predicted[place]), family, place, reverse, float(mass[place]), float(theta[place]), hits))
        return found

    def of_column(column: int, rows: int) -> list[_Judged]:
        return judged(column_families(features[:rows], labels[:rows], column), rows)

    columns = list(range(features.shape[1]))
    if len(labels) > screen and len(columns) > _SCREENED:
        promise = {column: max((entry[0] for entry in of_column(column, screen)), default=-1.0) for column in columns}
        columns = sorted(columns, key=lambda column: -promise[column])[:_SCREENED]
    found = [entry for column in columns for entry in of_column(column, len(labels))]
    found += judged([*score_families(features, labels, groups), *rare_families(features, labels)], len(labels))
    found.sort(key=lambda entry: -entry[0])
    return tuple(
        RankedEvent(family.make(place), reverse, predicted, mass, theta, hits)
        for predicted, family, place, reverse, mass, theta, hits in found[: shortlist.keep]
    )


def _spread(predicted: Floats, mass: Floats, shortlist: Shortlist) -> list[int]:
    """Choose the best of a family, each of clearly different mass than those before."""
    left, chosen = predicted, list[int]()
    for _ in range(shortlist.each):
        best = int(np.argmax(left))
        if left[best] == -math.inf:
            break
        chosen.append(best)
        left = np.where(np.abs(np.log(mass / mass[best])) > shortlist.apart, left, -math.inf)
    return chosen


def _predict(
    family: Family, runs: float, *, reverse: bool, point: ClaimPoint, final_runs: int, alpha: float
) -> tuple[Floats, Floats, Floats]:
    """Predict the final bound, shrunk theta and mass of each candidate, for label 1 or (`reverse`) for label 0."""
    hits, misses = (family.zeros, family.ones) if reverse else (family.ones, family.zeros)
    model = -family.model if reverse else family.model
    seen, noise = np.log((hits + 0.5) / (misses + 0.5)), 1 / (hits + 0.5) + 1 / (misses + 0.5)
    own = family.doubt**2 / (family.doubt**2 + noise)
    ratio = model + own * (seen - model)
    held = ratio - family.handicap * np.sqrt(noise)
    spread = np.sqrt(family.spread**2 + own * noise)
    mass = (hits + misses + 0.5) / (runs + 1)
    # Mostly pessimistic: chance flatters the best of many counts. One hopeful node, since a bound below 0 costs nothing.
    ratios = held + _NODES[:, None] * spread
    predicted = np.full(len(mass), -1.0)
    some = _promising_places(ratios, mass, point, final_runs, alpha)
    bounds = expected_bound(ratios[:, some], mass[some], point=point, final_runs=final_runs, alpha=alpha)
    predicted[some] = family.merit * np.mean(bounds, axis=0)
    return predicted, _share(ratio), mass


def _promising_places(ratios: Floats, mass: Floats, point: ClaimPoint, final_runs: int, alpha: float) -> NDArray[np.intp]:
    """Places whose bound is worth computing, by a normal approximation: the best, and the best of clearly different mass."""
    if len(mass) <= _COMPUTED + _COMPUTED_APART:
        return np.arange(len(mass))
    theta = _share(ratios)
    errors = NormalDist().inv_cdf(1 - alpha) / np.sqrt(np.maximum(mass * final_runs * theta * (1 - theta), _TINY))
    low = np.minimum(_share(ratios - errors), 1 - _TINY)
    order = np.argsort(-_log_ratio(low, float(point.delta) / (2 * mass)).mean(axis=0), kind="stable")
    apart = order[np.abs(np.log(mass[order] / mass[order[0]])) > _OTHER_MASS]
    return np.unique(np.concatenate([order[:_COMPUTED], apart[:_COMPUTED_APART]]))


def _share(ratio: Floats) -> Floats:
    """Share of the label among the hits by its log-odds; 0 where the odds are too long for a float."""
    with np.errstate(over="ignore"):
        return np.asarray(1 / (1 + np.exp(-ratio)))


def expected_bound(ratio: Floats, mass: Floats, *, point: ClaimPoint, final_runs: int, alpha: float) -> Floats:
    """Lower bound that is expected of fresh runs on events of known log-ratio and mass; at least 0."""
    from scipy.special import betaincinv

    total, theta = mass * final_runs, _share(ratio)
    spared: Floats = np.zeros(1)
    level = alpha
    if point.delta > 0:
        least = betaincinv(total, final_runs - total + 1, float(MASS_SHARE) * alpha)
        spared = np.asarray(float(point.delta) / (2 * least), dtype=np.float64)
        level = (1 - float(MASS_SHARE)) * alpha
    # A Clopper-Pearson lower end is below 1.
    return _log_ratio(np.asarray(betaincinv(theta * total + 1e-9, (1 - theta) * total + 1, level)), spared)


def _log_ratio(low: Floats, spared: Floats) -> Floats:
    """Bound by the least share of the label among the hits, less what delta takes from it; at least 0."""
    return np.asarray(np.log(np.maximum(low - spared, 1 - low) / (1 - low)))
