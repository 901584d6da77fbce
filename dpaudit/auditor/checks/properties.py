"""The first few runs of a target, before any statistics, and the checks without chance that go with them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np

from dpaudit.auditor.checks.calls import why_no_output
from dpaudit.auditor.checks.exact_law import check_exact_law
from dpaudit.auditor.checks.query_laws import check_laws, check_sensitivity
from dpaudit.auditor.checks.refusals import find_accepted_pairs
from dpaudit.auditor.checks.replay import check_replay
from dpaudit.auditor.checks.seeds import check_seeds
from dpaudit.auditor.data.disclosure import common_releases, shows_values
from dpaudit.auditor.data.records import copy_of, fingerprint
from dpaudit.auditor.pairs.candidates import Neighbours
from dpaudit.auditor.reading.features import FeatureMap, fit_features
from dpaudit.auditor.reading.outputs import Failure, Matrix
from dpaudit.auditor.runs.chunks import CHECKS, Broken, Chunk, Manner, sample_many, sample_one
from dpaudit.auditor.runs.workload import Subject
from dpaudit.releases import Release, recording
from dpaudit.results import Property
from dpaudit.targets import Target

MOST_CHECK_RUNS: Final = 40
"""Runs set aside for these checks and for the price of a few pairs; they take no part in the statistical test."""

PARTS: Final = "pairs of few and of tied records are attacked"

REVEALS: Final = "the error reveals that records are few: give an output for any number of them, or claim replace_one"

_NO_OUTPUT: Final = "no run gave an output"
_CHANGED: Final = "the function changes the dataset it is given; every later run got a copy of its own"
_FORM: Final = "outputs have the same form on both datasets"
_RANDOM: Final = "output is random or does not depend on the data"
_REPEATS: Final = "a run repeats from its seed"
_UNCHANGED: Final = "input is left unchanged"
_FIRST_RUNS: Final = 24
_FEW_PAIRS: Final = 3
_MOST_PAIRS: Final = 40
_MOST_EACH: Final = 8
_TOGETHER: Final = 4
_PRICE_RUNS: Final = 4
_DRAWN: Final = 200


@dataclass(frozen=True)
class Checks:
    """What the first runs showed: how to run the target, what was checked in how many runs, and what stops the audit, if anything.

    `places` are the pairs to attack; `releases` are those that every run on every dataset of these pairs logged, as text.
    """

    manner: Manner
    properties: tuple[Property, ...]
    runs: int
    failure: str = ""
    places: tuple[int, ...] = ()
    releases: frozenset[str] = frozenset()


@dataclass(frozen=True)
class _Sampled:
    """A pair with the outputs of a few runs on each of its datasets, and what they logged."""

    place: int
    pair: Neighbours
    outputs: tuple[list[Any], list[Any]]
    logs: tuple[Sequence[Release], ...]


def runs_of_checks(pairs: Sequence[Neighbours]) -> int:
    """Return the runs to set aside for the checks of these pairs and for the price."""
    if len(pairs) <= _FEW_PAIRS:
        return MOST_CHECK_RUNS
    datasets = {id(side) for pair in pairs[:_MOST_PAIRS] for side in (pair.first, pair.second)}
    return 2 + _MOST_EACH * len(datasets) + 2 * _TOGETHER + _PRICE_RUNS


def check_target(subject: Subject, root: int, position: int) -> Checks:
    """Run a target a few times on each dataset of its candidate pairs but those searched among, and see what it does."""
    subject = replace(subject, pairs=tuple(pair for pair in subject.pairs if not pair.family))
    target, pairs = subject.target, subject.pairs
    with recording() as log:
        trials = [_run_on_copy(target, pairs[0].side(label), _rng(root, position, 0, label * _MOST_EACH)) for label in (0, 1)]
    copies = any(changed for _, changed in trials)
    found, runs = _run_first_pairs(subject, root, position, copies=copies)
    runs += len(trials)
    failing = {
        id(one.pair.side(label)) for one in found for label in (0, 1) if all(isinstance(out, Failure) for out in one.outputs[label])
    }
    places, least = find_accepted_pairs(pairs, target.claim.relation, lambda side: id(side) not in failing, with_step=True)
    looked = [one for one in found if one.place in set(places)]
    flat = [output for one in looked for side in one.outputs for output in side]
    single = any(isinstance(output, Failure) for output in flat)
    features = fit_features(flat, score=target.score is not None, show_keys=shows_values(target), bits=target.float_bits)
    # A function that gives outputs only for few records of the data, or for none, fails on the data: that is no release to audit.
    given = [output for one in looked if not one.pair.is_part for side in one.outputs for output in side]
    where = "every run" if all(isinstance(output, Failure) for output in flat) else "every run on the given data and its neighbours"
    failure = why_no_output(target, pairs, given or flat, where)
    nothing = bool(failure)
    if target.sample is not None and not single:
        failure = failure or _fails_together(target, pairs[0], root, position, copies=copies)
        runs += 2 * _TOGETHER
    kept = tuple(pairs[place] for place in places)
    releases = common_releases([log for one in looked for log in one.logs])
    of_outputs = [
        _same_form(features, looked, len(kept)),
        _random_or_constant(features, looked, target, len(kept)),
        _repeatable(features, [(looked[0].outputs[label][0], trials[label][0]) for label in (0, 1)], target),
    ]
    parts = _parts(subject, [one for one in found if one not in looked], len(kept), least)
    if nothing:  # nothing can be said of outputs then, also not that they are all alike
        of_outputs, parts = ([Property(one.name, "not run", 0, _NO_OUTPUT) for one in said] for said in (of_outputs, parts))
    properties = (
        *of_outputs,
        _left_unchanged([changed for _, changed in trials]),
        *check_seeds(target),
        *_of_the_query(target, kept),
        *(found.property for found in (check_replay(target, kept) if log else ())),
        *check_exact_law(target, kept),
        *parts,
    )
    return Checks(Manner(features, single=single, copies=copies), properties, runs, failure, places, releases)


def _run_first_pairs(subject: Subject, root: int, position: int, *, copies: bool) -> tuple[list[_Sampled], int]:
    """Run both datasets of the first pairs, of many pairs each dataset once for all that share it, and count the runs."""
    target, pairs = subject.target, subject.pairs
    few = len(pairs) <= _FEW_PAIRS
    each = min(_MOST_EACH, _FIRST_RUNS // (2 * len(pairs))) if few else _MOST_EACH
    known: dict[int, tuple[list[Any], list[Sequence[Release]]]] = {}
    found, runs = [], 0
    for place, pair in enumerate(pairs[:_MOST_PAIRS]):
        sides = []
        for label in (0, 1):
            data = pair.side(label)
            if few or id(data) not in known:
                logs: list[Sequence[Release]] = []
                rngs = (_rng(root, position, place, label * _MOST_EACH + run) for run in range(each))
                known[id(data)] = [_run_logged(logs, target, data, rng, copies=copies) for rng in rngs], logs
                runs += each
            sides.append(known[id(data)])
        (first, before), (second, after) = sides
        found.append(_Sampled(place, pair, (first, second), (*before, *after)))
    return found, runs


def _parts(subject: Subject, refused: Sequence[_Sampled], kept: int, least: int) -> list[Property]:
    """Check that all pairs made of parts of the data are attacked, and say why not; [] where none were made."""
    made = [pair for pair in subject.pairs if pair.is_part]
    if not made and not subject.left_out:
        return []
    reasons = []
    if refused:
        (kind, *_) = (output.shown for one in refused for side in one.outputs for output in side if isinstance(output, Failure))
        records = "nodes" if subject.target.claim.relation.kind == "node" else "records"
        adds = subject.target.claim.relation.kind == "add_remove"
        meaning = REVEALS if adds else f"so that the claim was audited for {least} {records} and more"
        reasons.append(
            f"the function {kind} on every dataset of fewer than {least} {records} that was tried{'; ' if adds else ', '}{meaning}"
        )
    if subject.left_out:
        reasons.append(f"the runs suffice for {len(subject.pairs)} of {len(subject.pairs) + subject.left_out} pairs")
    cases = kept - (len(subject.pairs) - len(made))
    return [Property(PARTS, "not run", cases, "; ".join(reasons)) if reasons else Property(PARTS, "holds", cases)]


def _of_the_query(target: Target, pairs: tuple[Neighbours, ...]) -> list[Property]:
    """Check the declared sensitivity, and return those other laws of its query that are broken."""
    sensitivity = check_sensitivity(target, pairs, examples=_DRAWN)
    if sensitivity is None:
        return []
    laws = check_laws(target, pairs)
    return [sensitivity.property, *(law.property for law in laws if law.pair is not None)]


def _rng(root: int, position: int, pair: int, index: int) -> np.random.Generator:
    """Return the generator of one check run."""
    return Chunk(position, pair, CHECKS, index, 1).generator(root, 1)


def _run_logged(logs: list[Sequence[Release]], target: Target, data: Any, rng: np.random.Generator, *, copies: bool) -> Any:
    """Make one run, on a copy of the dataset where the function is known to change it, and add what it released to the logs."""
    with recording() as log:
        output = sample_one(target, copy_of(data) if copies else data, rng)
    logs.append(log)
    return output


def _run_on_copy(target: Target, data: Any, rng: np.random.Generator) -> tuple[Any, bool | None]:
    """Run on a copy of the dataset; return the output, and whether the run changed the copy, None where that cannot be seen."""
    copy = copy_of(data)
    before = fingerprint(copy)
    output = sample_one(target, copy, rng)
    after = fingerprint(copy)
    return output, None if before is None and after is None else before != after


def _fails_together(target: Target, pair: Neighbours, root: int, position: int, *, copies: bool) -> str:
    """Say why `sample` cannot be asked for several outputs at once, although it gives single ones; "" if it can."""
    for label in (0, 1):
        data = copy_of(pair.side(label)) if copies else pair.side(label)
        drawn = sample_many(target, data, _TOGETHER, _rng(root, position, 0, 2 * _MOST_EACH + label))
        if isinstance(drawn, Broken):
            return f"DPA405 sample(data, {_TOGETHER}, rng) {drawn.reason}, although sample(data, 1, rng) gave an output"
    return ""


def _same_form(features: FeatureMap, looked: Sequence[_Sampled], pairs: int) -> Property:
    """Check that outputs have one form on both datasets; forms that vary from run to run are left to the statistics."""
    column, noted = features.names.index("kind"), ""
    for one in looked:
        kinds = [set(features.matrix(side)[:, column].tolist()) for side in one.outputs]
        if len(kinds[0]) == len(kinds[1]) == 1 and kinds[0] != kinds[1]:
            found = f"pair {one.place}: {_what_differs(one.outputs)}"
            if not one.pair.is_part:
                return Property(_FORM, "violated", one.place + 1, found)
            noted = noted or found
    return Property(_FORM, "note" if noted else "holds", len(looked), noted or _of_all(looked, pairs))


def _what_differs(outputs: tuple[list[Any], list[Any]]) -> str:
    """Say how the forms of the outputs on two datasets differ."""
    raised = [side[0].shown for side in outputs if isinstance(side[0], Failure)]
    if len(raised) == 1:
        return f"on one of the two datasets the function {raised[0]} in every run, on the other it gave outputs"
    return "another type, length or exception on each side"


def _of_all(looked: Sequence[_Sampled], pairs: int) -> str:
    """Say on how many of the pairs a check was made, where not on all."""
    return f"looked at {len(looked)} of {pairs} pairs" if len(looked) < pairs else ""


def _random_or_constant(features: FeatureMap, looked: Sequence[_Sampled], target: Target, pairs: int) -> Property:
    """Check that the output varies with the seed, or else is the same on both datasets."""
    rows = [tuple(features.matrix(side, target.score) for side in one.outputs) for one in looked]
    fixed = [tuple(bool((side == side[0]).all()) for side in sides) for sides in rows]
    if all(all(sides) for sides in fixed):
        for one, (first, second) in zip(looked, rows, strict=True):
            if (first[0] != second[0]).any():
                detail = f"pair {one.place}: the output ignores the seed and differs between the datasets"
                return Property(_RANDOM, "violated", one.place + 1, detail)
        return Property(_RANDOM, "holds", len(looked), "the output was the same constant in every run")
    for one, sides, still in zip(looked, rows, fixed, strict=True):
        if any(still) and _is_told_apart(*sides):
            # Only a note: the few runs of a true claim may give one output too.
            which = "both datasets" if all(still) else "the second dataset" if still[1] else "the first dataset"
            runs = len(one.outputs[0])
            detail = f"pair {one.place} ({one.pair.difference}): each of the {runs} runs on {which} gave one and the same output"
            return Property(_RANDOM, "note", len(looked), detail)
    return Property(_RANDOM, "holds", len(looked), _of_all(looked, pairs))


def _is_told_apart(first: Matrix, second: Matrix) -> bool:
    """True if no output came on both sides, and the outputs of a side that varies never came twice."""
    sides = [{row.tobytes() for row in side} for side in (first, second)]
    return not sides[0] & sides[1] and all(len(side) in {1, len(first)} for side in sides)


def _repeatable(features: FeatureMap, twice: Sequence[tuple[Any, Any]], target: Target) -> Property:
    """Check that a run repeats when its seed does, on either dataset of a pair on which it gives an output at all."""
    given = [runs for runs in twice if not any(isinstance(output, Failure) for output in runs)]
    if not given:
        return Property(_REPEATS, "not run", 0, "the first runs gave no output that could come again")
    for first, again in given:
        rows = features.matrix([first, again], target.score)
        if (rows[0] != rows[1]).any():
            return Property(_REPEATS, "note", 1, "randomness that the audit cannot seed; a replay cannot make the same runs again")
    return Property(_REPEATS, "holds", 1)


def _left_unchanged(changed: Sequence[bool | None]) -> Property:
    """Check that runs left their datasets as they were, as far as these can be written down."""
    if any(changed):
        return Property(_UNCHANGED, "violated", len(changed), _CHANGED)
    if None in changed:
        return Property(_UNCHANGED, "not run", 0, "the dataset cannot be written down, so that a change would not show")
    return Property(_UNCHANGED, "holds", len(changed))
