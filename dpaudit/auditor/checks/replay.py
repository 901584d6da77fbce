"""Record and replay: are the sensitivities of logged releases true, and does everything else follow from their outputs?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import takewhile
from typing import Any, Final, TypeVar

import numpy as np

from dpaudit.auditor.checks.asked import Reading, check_asked
from dpaudit.auditor.checks.counterexamples import Broken, PropertyResult, find_counterexample
from dpaudit.auditor.checks.prices import price_of
from dpaudit.auditor.checks.values import ADDITIVE, METRICS, can_be_read, least_distance, read_further
from dpaudit.auditor.data.disclosure import as_text, common_releases, shows_values
from dpaudit.auditor.data.records import copy_of, same
from dpaudit.auditor.pairs.candidates import Neighbours
from dpaudit.auditor.reading.outputs import Failure
from dpaudit.auditor.runs.chunks import sample_one
from dpaudit.exact import outward, shown
from dpaudit.releases import Hold, Release, taping
from dpaudit.results import Property
from dpaudit.targets import Target

LOGGED_SENSITIVITY: Final = "sensitivities of logged releases"
MEASURED_PRICE: Final = "claim covers the distances that releases read"
SAME_PATH: Final = "releases follow from earlier outputs"
SAME_OUTPUT: Final = "output follows from the releases"

_Output = TypeVar("_Output")

_PARTS: Final = ("kind", "parameters", "sensitivity", "adjacency", "dimension", "count")


@dataclass
class Held:
    """One release: what was logged of it, and the values that it read and gave, of which an open run of comparisons has several."""

    release: Release
    values: list[Any] = field(default_factory=list)
    outputs: list[Any] = field(default_factory=list)


class Recorder:
    """A tape: it keeps the releases of one run, and gives `recorded` outputs of a run on another dataset back, place by place."""

    def __init__(self, recorded: Sequence[Held] = ()) -> None:
        """Start an empty tape."""
        self.entries: list[Held] = []
        self._recorded = recorded

    def hold(self, release: Release) -> Hold:
        """Take a place on the tape for one release."""
        place = len(self.entries)
        entry = Held(release)
        self.entries.append(entry)
        given = self._recorded[place].outputs if place < len(self._recorded) else []

        def held(value: Any, output: _Output) -> _Output:
            number = len(entry.outputs)
            result = copy_of(given[number]) if number < len(given) else output
            entry.values.append(copy_of(value))
            entry.outputs.append(copy_of(result))
            return result

        return held


@dataclass(frozen=True)
class Play:
    """One run on one dataset: its tape and its output."""

    entries: tuple[Held, ...]
    output: Any


def check_replay(target: Target, pairs: tuple[Neighbours, ...], *, examples: int = 0) -> tuple[PropertyResult, ...]:
    """Run a target on one dataset of a pair, then on the other with the outputs of all releases given back, and compare the runs.

    Source: Cebere et al. 2026 (freezing outputs to compare inputs).
    """
    if target.primitives is None:
        return ()
    plays = [_play(target, pairs[0].side(label)) for label in (0, 1)]
    entries = [entry for play in plays for entry in play.entries]
    if not entries:
        return ()
    # The candidates live as long as this call, so that nothing drawn meanwhile can have the identity of one of them.
    known = {(id(pair.first), id(pair.second)): _play_both(target, pair.first, pair.second) for pair in pairs}

    def both(first: Any, second: Any) -> tuple[Play, Play]:
        return known.get((id(first), id(second))) or _play_both(target, first, second)

    public = common_releases([entry.release for entry in play.entries] for plays in known.values() for play in plays)
    laws: dict[str, Broken] = {
        LOGGED_SENSITIVITY: lambda first, second: _exceeds_sensitivity(target, public, *both(first, second)),
        SAME_PATH: lambda first, second: _other_path(*both(first, second)),
        SAME_OUTPUT: lambda first, second: _other_output(*both(first, second)),
    }
    idle = {}
    if not any(entry.values and _is_judged(target, entry.release) for entry in entries):
        idle[LOGGED_SENSITIVITY] = "no release speaks of the claim's neighbours and shows what it read"
    if not all(_can_be_compared(play.output) for play in plays):
        idle[SAME_OUTPUT] = "outputs of this type have no equality by which they could be compared"
    elif _has_randomness_of_its_own(target, pairs[0].first):
        idle[SAME_OUTPUT] = "the output also depends on randomness that no release logged"
    found = {
        name: PropertyResult(Property(name, "not applicable", 2, idle[name]))
        if name in idle
        else find_counterexample(target, pairs, name, law, examples)
        for name, law in laws.items()
    }
    if found[LOGGED_SENSITIVITY].pair is not None:
        found[MEASURED_PRICE] = find_counterexample(
            target, pairs, MEASURED_PRICE, lambda first, second: _exceeds_claim(target, first, second), examples
        )
    asked = check_asked(target, (_readings(target, *plays) for plays in known.values()))
    return (*found.values(), *([] if asked is None else [PropertyResult(asked)]))


def _readings(target: Target, recorded: Play, replayed: Play) -> list[Reading]:
    """Return what the releases of two runs read, up to the first at which the runs part."""
    both = zip(recorded.entries, replayed.entries, strict=False)
    alike = takewhile(lambda pair: _public(pair[0].release) == _public(pair[1].release), both)
    return [(before.release, before.values, after.values) for before, after in alike if _is_judged(target, before.release)]


def _is_judged(target: Target, release: Release) -> bool:
    """True if the values of a release can be compared on neighbours of the claim."""
    return release.kind in METRICS and release.adjacency == target.claim.relation


def _play(target: Target, data: Any, recorded: tuple[Held, ...] = (), seed: int = 0) -> Play:
    """Run a target once with a tape."""
    tape = Recorder(recorded)
    with taping(tape):
        output = sample_one(target, copy_of(data), np.random.default_rng(seed))
    return Play(tuple(tape.entries), output)


def _has_randomness_of_its_own(target: Target, data: Any) -> bool:
    """True if the output varies with the seed although every release gives what was recorded."""
    first = _play(target, data)
    again = _play(target, data, first.entries, seed=1)
    return not _same_outputs(first.output, again.output)


def _play_both(target: Target, first: Any, second: Any) -> tuple[Play, Play]:
    """Run a target on one dataset, and on the other with the outputs of the first run."""
    recorded = _play(target, first)
    return recorded, _play(target, second, recorded.entries)


def _other_output(recorded: Play, replayed: Play) -> str | None:
    """Say that the outputs differ although the releases did not; None where the releases already do."""
    if _other_path(recorded, replayed):
        return None
    if _same_outputs(recorded.output, replayed.output):
        return ""
    return "the output differs although every release gave the same"


def _other_path(recorded: Play, replayed: Play) -> str | None:
    """Describe the first release at which two runs part; "" if they stay together, None where neither made one."""
    if not recorded.entries and not replayed.entries:
        return None
    for place, (before, after) in enumerate(zip(recorded.entries, replayed.entries, strict=False)):
        if _public(before.release) != _public(after.release):
            return f"release {place} differs in {_what_differs(before.release, after.release)}"
        if len(before.values) != len(after.values):
            return f"release {place} reads {len(before.values)} values on the first dataset and {len(after.values)} on the second"
    counts = len(recorded.entries), len(replayed.entries)
    return "" if counts[0] == counts[1] else f"{counts[0]} releases on the first dataset, {counts[1]} on the second"


def _public(release: Release) -> Release:
    """Return a release without what depends on the source of bits."""
    return replace(release, secure=True)


def _what_differs(before: Release, after: Release) -> str:
    """Name the first part in which two releases differ."""
    return next(part for part in _PARTS if getattr(before, part) != getattr(after, part))


def _exceeds_sensitivity(target: Target, public: frozenset[str], recorded: Play, replayed: Play) -> str | None:
    """Describe the first release that reads values further apart than its logged sensitivity; None if none can be compared."""
    compared = False
    for place, (before, after) in enumerate(zip(recorded.entries, replayed.entries, strict=False)):
        release = before.release
        if _public(release) != _public(after.release):
            break  # after this release the runs are no longer comparable
        if not _is_judged(target, release):
            continue
        metric, bound = METRICS[release.kind], release.sensitivity
        values = [pair for pair in zip(before.values, after.values, strict=False) if can_be_read(*pair, metric)]
        compared = compared or bool(values)
        if any(read_further(one, other, metric, bound) for one, other in values):
            # A sensitivity that is logged may have been computed from the data.
            least = f" {shown(bound)}" if shows_values(target) or as_text(release) in public else ""
            return f"release {place} ({release.kind}) reads values further apart than its sensitivity{least} in {metric}"
    return "" if compared else None


def _exceeds_claim(target: Target, first: Any, second: Any) -> str | None:
    """Say that the releases cost more than claimed on this very pair, each at the distance it read; None without a price."""
    recorded, replayed = _play_both(target, first, second)
    again = _play(target, first, seed=1)
    if _other_path(recorded, replayed) or _other_path(recorded, again):
        return None
    measured = []
    for before, after, once_more in zip(recorded.entries, replayed.entries, again.entries, strict=True):
        if not _same_outputs(before.values, once_more.values):
            return None  # releases that vary from run to run have no common price
        release = _public(before.release)
        if release.kind in ADDITIVE and _is_judged(target, release) and before.values:
            # Added noise alone has a price at a distance, which is that of the pair; whatever else is released only adds to it.
            read = least_distance(before.values[0], after.values[0], METRICS[release.kind])
            measured += [replace(release, sensitivity=read)] if read else []
    log = tuple(measured)
    price = price_of(target.claim, ((log, log), (log, log)), ())
    if price.status != "above" or price.value is None:
        return "" if price.status == "within" else None
    if not shows_values(target):
        # Distances of unclipped values are these values, and so is what noise of a known scale costs at them.
        return f"at the distances that were read {price.quantity} is more than claimed"
    return f"at the distances that were read {price.quantity} is at least {outward(price.value.lower, digits=4, up=False)}"


def _can_be_compared(output: Any) -> bool:
    """True if an output is equal to itself, as those with a meaningful equality are."""
    try:
        return bool(isinstance(output, Failure) or same(output, copy_of(output)))
    except Exception:  # noqa: BLE001 - whatever equality or copying raises, there is nothing to compare by
        return False


def _same_outputs(first: Any, second: Any) -> bool:
    """True if two outputs are equal; failures are if they are of one kind."""
    if isinstance(first, Failure) or isinstance(second, Failure):
        return bool(first == second)
    try:
        return same(first, second)
    except Exception:  # noqa: BLE001 - outputs without a meaningful equality are not compared
        return True
