"""Events at the ends of what outputs hold: all runs beyond some value are of one dataset, as where noise has an end."""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from dpaudit.auditor.events.predicates import Threshold
from dpaudit.auditor.events.ranking import RankedEvent
from dpaudit.auditor.reading.outputs import Matrix
from dpaudit.auditor.runs.chunks import Labels
from dpaudit.auditor.statistics.bounds import ClaimPoint

_CHANCE: Final = 0.05
"""Probability of such an end in some column where the claim holds with nothing to spare, at most."""

_KEPT: Final = 0.75
"""Share of the runs of one dataset at an end that make the event: the last ones before the first of the other came by chance."""

_MOST_COLUMNS: Final = 64


def edge_event(features: Matrix, labels: Labels, point: ClaimPoint) -> RankedEvent | None:
    """Return the end whose runs of one dataset are the least likely under the claim, None where chance explains them all.

    A smooth model of the outputs takes the few runs at an end for noise around its ratio, so that no other event is such an end.
    """
    varied = np.flatnonzero((features != features[:1]).any(axis=0))[:_MOST_COLUMNS]
    sigma, delta = 1 / (1 + math.exp(-float(point.epsilon))), float(point.delta)
    found: tuple[float, RankedEvent] | None = None
    for column in varied.tolist():
        for at_most in (True, False):
            values = features[:, column] if at_most else -features[:, column]
            order = np.argsort(values, kind="stable")
            label, others = int(labels[order[0]]), np.flatnonzero(labels[order] != labels[order[0]])
            if not others.size:
                continue
            # Equal values are all inside or all outside.
            clean = int(np.searchsorted(values[order], values[order[others[0]]], side="left"))
            if clean == 0:
                continue
            mass = clean / len(labels)
            chance = min(1.0, sigma + (1 - sigma) * delta / (2 * mass)) ** clean
            if chance * 2 * varied.size > _CHANCE or (found is not None and chance >= found[0]):
                continue
            limit = values[order[math.ceil(_KEPT * clean) - 1]]
            hits = int(np.searchsorted(values[order], limit, side="right"))
            event = Threshold(column, float(limit if at_most else -limit), at_most=at_most)
            share = (hits + 0.5) / (hits + 1)
            found = chance, RankedEvent(event, label == 0, math.log(2 * hits + 1), (hits + 0.5) / (len(labels) + 1), share, hits)
    return None if found is None else found[1]
