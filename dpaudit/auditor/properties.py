"""The first few runs of a target, before any statistics, and the checks without chance that go with them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from dpaudit.auditor.checks.exact_law import check_exact_law
from dpaudit.auditor.checks.query_laws import check_laws, check_sensitivity
from dpaudit.auditor.checks.replay import check_replay
from dpaudit.auditor.disclosure import common_releases, shows_values, text_of
from dpaudit.auditor.features import FeatureMap, fit_features
from dpaudit.auditor.outputs import Failure
from dpaudit.auditor.pairs import Neighbours
from dpaudit.auditor.records import copied, fingerprint
from dpaudit.auditor.runs import CHECKS, Broken, Chunk, Manner, sample_many, sample_one
from dpaudit.auditor.workload import Subject
from dpaudit.errors import DpauditError, origin_of
from dpaudit.releases import Release, recording
from dpaudit.results import Property
from dpaudit.targets import Target

MOST_CHECK_RUNS: Final = 40
"""Runs set aside for these checks and for the price; they take no part in the statistical test."""

_CHANGED: Final = "the function changes the dataset it is given; every later run got a copy of its own"
_FIRST_RUNS: Final = 24
_MOST_EACH: Final = 8
_TOGETHER: Final = 4
_DRAWN: Final = 200


@dataclass(frozen=True)
class Checks:
    """What the first runs showed: how to run the target, properties, and `failure`, empty unless nothing can be tested.

    `releases` are those that every run on every dataset tried wrote to the release log, as text.
    """

    manner: Manner
    properties: tuple[Property, ...]
    runs: int
    failure: str = ""
    releases: frozenset[str] = frozenset()


def check_target(subject: Subject, root: int, position: int) -> Checks:
    """Run a target a few times on each dataset of its candidate pairs and see what it does.

    Args:
      subject: target and pairs.
      root: root of the seed tree.
      position: the target's place in the audit.
    Returns:
      The feature map and manner of the later runs, properties, and the failure if every run raised.
    Source: docs/auditing.md, "Checks before the statistics".
    """
    target, pairs = subject.target, subject.pairs
    each = max(1, min(_MOST_EACH, _FIRST_RUNS // (2 * len(pairs))))
    tried = pairs[: max(1, _FIRST_RUNS // (2 * each))]
    with recording() as log:
        trials = [_on_a_copy(target, tried[0].side(label), _rng(root, position, 0, label * _MOST_EACH)) for label in (0, 1)]
    copies = any(changed for _, changed in trials)
    logs: list[Sequence[Release]] = []
    outputs = [
        [
            [
                _logged(logs, target, pair.side(label), _rng(root, position, place, label * _MOST_EACH + run), copies=copies)
                for run in range(each)
            ]
            for label in (0, 1)
        ]
        for place, pair in enumerate(tried)
    ]
    flat = [output for sides in outputs for side in sides for output in side]
    single = any(isinstance(output, Failure) for output in flat)
    features = fit_features(flat, score=target.score is not None, show_keys=shows_values(target), bits=target.float_bits)
    failure = _why_failed(target, tried, flat)
    runs = len(trials) + len(flat)
    if target.sample is not None and not single:
        failure = failure or _fails_together(target, tried[0], root, position, copies=copies)
        runs += 2 * _TOGETHER
    properties = (
        _same_form(features, outputs),
        _random_or_constant(features, outputs, target),
        _repeatable(features, outputs[0][0][0], trials[0][0], target),
        Property("input is left unchanged", "violated" if copies else "holds", len(trials), _CHANGED if copies else ""),
        *_of_the_query(target, pairs),
        *(found.property for found in (check_replay(target, pairs) if log else ())),
        *check_exact_law(target, pairs),
    )
    return Checks(Manner(features, single=single, copies=copies), properties, runs, failure, common_releases(logs))


def _of_the_query(target: Target, pairs: tuple[Neighbours, ...]) -> list[Property]:
    """The declared sensitivity, and those other laws of its query that are broken."""
    sensitivity = check_sensitivity(target, pairs, examples=_DRAWN)
    if sensitivity is None:
        return []
    laws = check_laws(target, pairs)
    return [sensitivity.property, *(law.property for law in laws if law.pair is not None)]


def _rng(root: int, position: int, pair: int, index: int) -> np.random.Generator:
    """The generator of one check run."""
    return Chunk(position, pair, CHECKS, index, 1).generator(root, 1)


def _logged(logs: list[Sequence[Release]], target: Target, data: Any, rng: np.random.Generator, *, copies: bool) -> Any:
    """One run, on a copy of the dataset where the function is known to change it; what it released is added to the logs."""
    with recording() as log:
        output = sample_one(target, copied(data) if copies else data, rng)
    logs.append(log)
    return output


def _on_a_copy(target: Target, data: Any, rng: np.random.Generator) -> tuple[Any, bool]:
    """The output of a run on a copy of the dataset, and whether the run changed the copy."""
    copy = copied(data)
    before = fingerprint(copy)
    output = sample_one(target, copy, rng)
    return output, before != fingerprint(copy)


def _why_failed(target: Target, pairs: Sequence[Neighbours], outputs: Sequence[Any]) -> str:
    """Why there is nothing to test when no run gave an output; empty otherwise."""
    if not all(isinstance(output, Failure) for output in outputs):
        return ""
    try:
        target.function(copied(pairs[0].first), *([] if target.run is not None else [1]), np.random.default_rng(0))
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001 - the place is what we are after
        said = f" ({text_of(error, target)})" if isinstance(error, DpauditError) else ""
        return f"DPA405 every run raised, the last one {origin_of(error)}{said}"
    return f"DPA405 no run gave an output: the function {outputs[-1].shown}"


def _fails_together(target: Target, pair: Neighbours, root: int, position: int, *, copies: bool) -> str:
    """Why `sample` cannot be asked for several outputs at once, although it gives single ones; empty if it can."""
    for label in (0, 1):
        data = copied(pair.side(label)) if copies else pair.side(label)
        drawn = sample_many(target, data, _TOGETHER, _rng(root, position, 0, 2 * _MOST_EACH + label))
        if isinstance(drawn, Broken):
            return f"DPA405 sample(data, {_TOGETHER}, rng) {drawn.reason}, although sample(data, 1, rng) gave an output"
    return ""


def _same_form(features: FeatureMap, outputs: list[list[list[Any]]]) -> Property:
    """Whether outputs have one form on both datasets; forms that vary from run to run are left to the statistics."""
    name, column = "outputs have the same form on both datasets", features.names.index("kind")
    for place, sides in enumerate(outputs):
        kinds = [set(features.matrix(side)[:, column].tolist()) for side in sides]
        if len(kinds[0]) == len(kinds[1]) == 1 and kinds[0] != kinds[1] and len(sides[0]) > 1:
            return Property(name, "violated", place + 1, f"pair {place}: another type, length or exception on each side")
    return Property(name, "holds", len(outputs))


def _random_or_constant(features: FeatureMap, outputs: list[list[list[Any]]], target: Target) -> Property:
    """Whether the output varies with the seed, or else is the same on both datasets."""
    name = "output is random or does not depend on the data"
    rows = [[features.matrix(side, target.score) for side in sides] for sides in outputs]
    if len(rows[0][0]) < 2:
        return Property(name, "not applicable", len(rows), "too few runs on each dataset")
    if any((side != side[0]).any() for sides in rows for side in sides):
        return Property(name, "holds", len(rows))
    for place, (first, second) in enumerate(rows):
        if (first[0] != second[0]).any():
            return Property(
                name, "violated", place + 1, f"pair {place}: the output ignores the seed and differs between the datasets"
            )
    return Property(name, "holds", len(rows), "the output was the same constant in every run")


def _repeatable(features: FeatureMap, first: Any, again: Any, target: Target) -> Property:
    """Whether a run repeats when its seed does."""
    rows = features.matrix([first, again], target.score)
    if (rows[0] == rows[1]).all():
        return Property("a run repeats from its seed", "holds", 1)
    return Property(
        "a run repeats from its seed", "note", 1, "randomness other than the rng given; the report cannot be replayed exactly"
    )
