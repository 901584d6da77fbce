"""Causes that show in the form of outputs: exceptions, numbers that are not finite, keys, lengths; and outputs that never vary."""

from __future__ import annotations

import re
from typing import Final

import numpy as np

from dpaudit.auditor.diagnosis.twins import Twins, has_failed
from dpaudit.auditor.reading.outputs import Path
from dpaudit.results import Diagnosis

FEWEST: Final = 20
"""An output that comes this often on one dataset and never on the other comes by chance in one of a million cases."""

_MOSTLY: Final = 0.5

_EXTREME: Final = re.compile(r"\b(nan|inf)\b|(?<= )-inf\b")


def name_form(twins: Twins) -> Diagnosis | None:
    """Name the cause where a form of output comes on one dataset only."""
    kinds = [set(side.tolist()) for side in twins.kinds]
    only = [{kind for kind in kinds[side] - kinds[1 - side] if np.sum(twins.kinds[side] == kind) >= FEWEST} for side in (0, 1)]
    if not any(only):
        return None
    alone = only[0] | only[1]
    if any(map(has_failed, alone)):
        return Diagnosis(
            "exception",
            "The function raises an exception on one of the two datasets only, which shows which of them it was given.",
            "Handle the values that raise it inside the function, so that every dataset gives an output of the same form.",
        )
    if all(_EXTREME.search(kind) for kind in alone) or _differ_in_extremes(twins):
        return Diagnosis(
            "not finite",
            "The output is infinite or not a number on one of the two datasets only: noise cannot hide that.",
            "Replace or clip values that are not finite before they are used, and sum in numbers that do not overflow.",
        )
    return _of_places(twins)


def _differ_in_extremes(twins: Twins) -> bool:
    """True if forms are the same but for what is not finite."""
    plain = [{_without_extremes(kind) for kind in side.tolist()} for side in twins.kinds]
    return plain[0] == plain[1] and any(_EXTREME.search(kind) for side in twins.kinds for kind in side.tolist())


def _without_extremes(kind: str) -> str:
    """A form without what it says of numbers that are not finite: "number nan", or "... with nan@0" of an array."""
    return re.sub(r" with [^ ]*|\s", "", _EXTREME.sub("", kind))


def _of_places(twins: Twins) -> Diagnosis | None:
    """Name the cause where the numbers of an output have other places on one dataset."""
    found = [{path for paths in side.values() for path in paths} for side in twins.places]
    differing = found[0] ^ found[1]
    if not differing:
        return None
    if all(_last_key(path) for path in differing):
        return Diagnosis(
            "keys",
            "The keys of the output depend on the data: a key shows that there is a record for it.",
            "Release a public list of keys, each with noise, or drop keys below a threshold paid for by delta.",
        )
    if not any(_last_key(path) for path in differing) and all(path for path in differing):
        return Diagnosis(
            "length",
            "The length of the output depends on the data, and no noise hides it.",
            "Fix the length by a public bound, and fill what is missing with noisy values.",
        )
    return None


def _last_key(path: Path) -> bool:
    """True if a number's own place is a key."""
    return bool(path) and isinstance(path[-1], str)


def name_constant(twins: Twins, delta: float) -> Diagnosis | None:
    """Name the cause where the output of one dataset, or of both, never varies although the random numbers do.

    A claim with a delta allows one dataset a single output that the other mostly gives too, and a choice among a few outputs may
    always be the same because the noise is narrow.
    """
    if not twins.one_form or len(twins) < FEWEST:
        return None
    still = [bool((side == side[0]).all()) for side in (twins.first, twins.second)]
    bare = (np.ptp(twins.first, axis=0) == 0) & (np.ptp(twins.second, axis=0) == 0) & (twins.first[0] != twins.second[0])
    if bare.any() and not any(still):
        return Diagnosis(
            "bare",
            "Part of the output has no noise: some of its numbers are the same in every run, and others on the other dataset.",
            "Add noise to every number of the output that depends on the data.",
        )
    if all(still) and (twins.first[0] != twins.second[0]).any():
        return Diagnosis(
            "fixed",
            "Each dataset gives one and the same output in every run: the noise is missing, has scale 0, was drawn once and kept, "
            "or comes from a fixed seed.",
            "Draw fresh noise from the generator in every run, of a scale above 0.",
        )
    constant, other = (twins.first[0], twins.second) if still[0] else (twins.second[0], twins.first)
    varied = len(np.unique(other, axis=0)) >= max(FEWEST, len(other) // 8)
    if any(still) and not all(still) and varied and (not delta or np.mean((other != constant).any(axis=1)) > _MOSTLY):
        return Diagnosis(
            "still",
            "On some data the noise has no effect: one dataset gives the same output in every run.",
            "Add noise on every branch, for empty, small and unanimous data too; choose among public candidates.",
        )
    return None
