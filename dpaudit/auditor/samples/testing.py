"""The test of two samples: some runs choose the point of the claim and the event, the others decide."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

import numpy as np

from dpaudit.auditor.events.points import easiest_line
from dpaudit.auditor.events.ranking import RankedEvent, rank_events
from dpaudit.auditor.events.words import describe_event
from dpaudit.auditor.reading.features import FeatureMap
from dpaudit.auditor.reading.unread import Tally, account_of, unread_in
from dpaudit.auditor.samples.choosing import read_choosing, read_parts
from dpaudit.auditor.samples.drawing import KEPT, Pair, Runs
from dpaudit.auditor.samples.order import check_order
from dpaudit.auditor.statistics.bounds import ClaimPoint, epsilon_lower_bound, p_value
from dpaudit.auditor.statistics.power import detectable_epsilon
from dpaudit.exact import float_outward
from dpaudit.results import Attack, Bound, Counts, Power, Property, Sequential
from dpaudit.results import Pair as TestedPair

_ROWS_FOR_LINES: Final = 2**14
_POWER: Final = 0.9


@dataclass(frozen=True)
class Tested:
    """The attack on two samples, the point that it tested, and what the order of rows shows."""

    attack: Attack
    point: ClaimPoint
    order: Property


def try_samples(samples: Pair, runs: Runs, lines: tuple[ClaimPoint, ...], *, alpha: Fraction, shown: bool) -> Tested:
    """Test a claim on two samples; a true one is refuted with probability at most `alpha`."""
    level, total = alpha * KEPT, len(runs.labels)
    deciding = total - runs.choosing
    chosen = read_choosing(samples, runs, shown=shown)
    features, matrix, labels = chosen.features, chosen.matrix, chosen.labels

    def rank(point: ClaimPoint, most: int) -> tuple[RankedEvent, ...]:
        return rank_events(
            matrix[:most], labels[:most], point=point, final_runs=deciding, alpha=float(level), groups=features.groups
        )

    point = easiest_line(lines, lambda line: rank(line, _ROWS_FOR_LINES), deciding) if len(lines) > 1 else lines[0]
    ranked = next(iter(rank(point, len(matrix))), None)
    counts, later = _count_hits(samples, runs, features, ranked)
    unread = unread_in([chosen.tally], [later])
    bound = None if ranked is None else _bound(counts, point, ranked, alpha)
    power = Power(None, None, _POWER) if ranked is None or unread else _power(ranked, deciding, point, level)
    attack = Attack(
        pair=TestedPair(0, f"the rows of {samples[0].name} against those of {samples[1].name}"),
        pairs_tried=1,
        event="" if ranked is None else describe_event(features, ranked, shown=shown),
        sequential=Sequential(0.0, 0.0, -math.log10(alpha), 0, None, 1.0),
        bound=bound,
        power=power,
        p_value=1.0 if bound is None else bound.p_value,
        alpha=alpha,
        runs=total,
        seed_path=(),
        plan=(runs.choosing, 0, deciding),
        unread=unread,
        screening=chosen.screening,
    )
    return Tested(attack, point, check_order(samples, features))


def _count_hits(samples: Pair, runs: Runs, features: FeatureMap, ranked: RankedEvent | None) -> tuple[Counts, Tally]:
    """Count the hits of the event among the runs that decide, and what was read of these."""
    hits, tally = np.zeros(2, dtype=np.int64), Tally()
    for part in read_parts(samples, runs, features, runs.choosing, len(runs.labels)):
        tally.add(account_of(features, part.grouped, len(part.labels)))
        if ranked is not None:
            inside = ranked.event.hits(features.matrix_of(part.grouped, part.outputs, None, ranked.event.columns))
            hits += np.bincount(part.labels[inside], minlength=2)
    zeros, ones = hits.tolist()
    deciding = len(runs.labels) - runs.choosing
    if ranked is not None and ranked.reverse:
        return Counts(ones=zeros, zeros=ones, runs=deciding), tally
    return Counts(ones=ones, zeros=zeros, runs=deciding), tally


def _bound(counts: Counts, point: ClaimPoint, ranked: RankedEvent, alpha: Fraction) -> Bound:
    """Compute the bound of the deciding runs; what throwing coins again may cost is taken off its level."""
    tested = Fraction(p_value(counts, point=point)) / KEPT
    return Bound(
        epsilon=epsilon_lower_bound(counts, delta=point.delta, alpha=alpha * KEPT),
        delta=point.delta,
        confidence=1 - alpha,
        counts=counts,
        direction="reverse" if ranked.reverse else "forward",
        p_value=min(1.0, float_outward(tested, up=True)),
    )


def _power(ranked: RankedEvent, deciding: int, point: ClaimPoint, level: Fraction) -> Power:
    """Return the least violation that the deciding runs would have found on the chosen event."""
    least = detectable_epsilon(mass=ranked.mass, runs=deciding, point=point, alpha=float(level), probability=_POWER)
    return Power(least, least / float(point.epsilon) if least is not None and point.epsilon > 0 else None, _POWER)
