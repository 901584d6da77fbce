"""Events at the ends of what outputs hold: all runs beyond some value are of one dataset, as where noise has an end."""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from dpaudit.auditor.events.candidates import rare_families
from dpaudit.auditor.events.predicates import Event, Threshold
from dpaudit.auditor.events.ranking import RankedEvent
from dpaudit.auditor.reading.outputs import Matrix
from dpaudit.auditor.runs.chunks import Labels
from dpaudit.auditor.statistics.bounds import ClaimPoint

UNLIKELY: Final = 0.05
"""Probability of such an end in some column where the claim holds with nothing to spare, of an end that is taken for a finding."""

_CHANCE: Final = 1.0
"""The same of an end that is worth a small share of the error probability."""

_KEPT: Final = 0.75
"""Share of the runs of one dataset at an end that make the event: the last ones before the first of the other came by chance."""

_MOST_COLUMNS: Final = 64


def edge_events(features: Matrix, labels: Labels, point: ClaimPoint) -> list[tuple[float, RankedEvent]]:
    """Return ends whose runs of one dataset are unlikely under the claim, each with how unlikely, the least likely first.

    A smooth model of the outputs takes the few runs at an end for noise around its ratio, so that no other event is such an end.
    """
    varied = np.flatnonzero((features != features[:1]).any(axis=0))[:_MOST_COLUMNS]
    sigma, delta = 1 / (1 + math.exp(-float(point.epsilon))), float(point.delta)
    found: list[tuple[float, RankedEvent]] = []
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
            chance = 2 * varied.size * min(1.0, sigma + (1 - sigma) * delta / (2 * mass)) ** clean
            if chance > _CHANCE:
                continue
            limit = values[order[math.ceil(_KEPT * clean) - 1]]
            hits = int(np.searchsorted(values[order], limit, side="right"))
            event = Threshold(column, float(limit if at_most else -limit), at_most=at_most)
            found.append((chance, _ranked(event, label == 0, hits, len(labels))))
    return sorted([*found, *_one_sided(features, labels, point)], key=lambda entry: entry[0])


def _one_sided(features: Matrix, labels: Labels, point: ClaimPoint) -> list[tuple[float, RankedEvent]]:
    """Return rare values within rare forms of output that runs of one dataset alone have, each with how unlikely that is."""
    sigma, delta = 1 / (1 + math.exp(-float(point.epsilon))), float(point.delta)
    found: list[tuple[float, RankedEvent]] = []
    for family in rare_families(features, labels):
        for place, (ones, zeros) in enumerate(zip(family.ones.tolist(), family.zeros.tolist(), strict=True)):
            hits = int(ones + zeros)
            if not hits or (ones and zeros):
                continue
            spared = delta * len(labels) / (2 * hits)
            chance = 2 * family.ones.size * min(1.0, sigma + (1 - sigma) * spared) ** hits
            if chance <= _CHANCE:
                found.append((chance, _ranked(family.make(place), ones == 0, hits, len(labels))))
    return found


def _ranked(event: Event, reverse: bool, hits: int, runs: int) -> RankedEvent:  # noqa: FBT001 - as in the event
    """An event that all hits of one dataset alone make."""
    return RankedEvent(event, reverse, math.log(2 * hits + 1), (hits + 0.5) / (runs + 1), (hits + 0.5) / (hits + 1), hits)
