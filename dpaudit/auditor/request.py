"""What an audit was asked for, checked before any randomness is drawn: targets, settings, budget."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from itertools import count
from typing import Final, TypeAlias

from dpaudit.auditor.attack.plans import Plan, pairs_within, plan_of
from dpaudit.auditor.checks.properties import runs_of_checks
from dpaudit.auditor.data.disclosure import apply_permission
from dpaudit.auditor.events.points import lines_of
from dpaudit.auditor.pairs.candidates import Neighbours, candidate_pairs
from dpaudit.auditor.runs.workload import Subject, Workload, workload
from dpaudit.auditor.statistics.bounds import ClaimPoint
from dpaudit.auditor.statistics.family import FAMILIES
from dpaudit.errors import InvalidArgument, TargetFailure
from dpaudit.exact import Exact, in_range, instance_of, integer, kind_of, word
from dpaudit.results import Settings
from dpaudit.targets import FEWEST_RUNS, MOST_RUNS, MOST_SECONDS, Reference, Target, load_targets

Given: TypeAlias = Target | Reference | str

DEFAULT_RUNS = 1_000_000

LEAST_ALPHA: Final = "1e-100"
"""Smaller error probabilities are refused: nothing is refuted at them, and floats would not hold their shares."""


@dataclass(frozen=True)
class Entry:
    """One target of an audit, ready to run; `reference` is None when it was given as an object."""

    target: Target
    reference: Reference | None
    subject: Subject
    work: Workload
    lines: tuple[ClaimPoint, ...]
    plan: Plan | None

    @property
    def name(self) -> str | None:
        """Text from which `reference_of` finds the target again."""
        if self.reference is None:
            return None
        return f"{self.reference.text}#{self.reference.position}" if self.reference.position else self.reference.text


def reference_of(name: str, data: str | None) -> Reference:
    """The reference that `Entry.name` wrote."""
    text, mark, position = name.rpartition("#")
    return Reference(text, int(position), data) if mark and position.isdecimal() else Reference(name, 0, data)


def settings_of(
    *,
    alpha: Exact,
    runs: int | None,
    seconds: Exact | None,
    seed: int,
    power_target: Exact,
    family: str,
    data: str | None,
    show_values: bool = False,
) -> Settings:
    """The settings, exact and checked."""
    if runs is not None and seconds is not None:
        raise InvalidArgument("DPA106", "runs and seconds both bound the audit. Give one of them.")
    word(family, "family", FAMILIES)
    return Settings(
        alpha=in_range(alpha, "alpha", lower=LEAST_ALPHA, upper=1, upper_open=True),
        runs=0
        if seconds is not None
        else integer(DEFAULT_RUNS if runs is None else runs, "runs", lower=FEWEST_RUNS, upper=MOST_RUNS),
        seed=integer(seed, "seed", lower=0),
        family=family,
        power_target=in_range(power_target, "power_target", lower=1, upper=1000, lower_open=True),
        data=None if data is None else instance_of(data, str, "data"),
        seconds=None if seconds is None else in_range(seconds, "seconds", lower=0, upper=MOST_SECONDS, lower_open=True),
        show_values=instance_of(show_values, bool, "show_values"),
    )


def entries_of(targets: Given | Sequence[Given], settings: Settings, executor: Executor | None) -> list[Entry]:
    """Every target with its pairs, tested points, plan and workload."""
    require_executor(executor)
    listed: Sequence[Given] = [targets] if isinstance(targets, (Target, Reference, str)) else targets
    if not isinstance(listed, Sequence):
        raise InvalidArgument(
            "DPA105",
            f"targets must be a Target, a name, or a sequence of them, got {kind_of(targets)}. "
            "Wrap a function: Target(run=..., claim=...).",
        )
    loaded = [pair for given in listed for pair in _loaded(given, settings.data)]
    if not loaded:
        raise InvalidArgument("DPA109", "there is no target to audit. Give at least one.")
    return [entry_of(target, reference, settings, executor) for target, reference in _with_distinct_names(loaded)]


def require_executor(executor: object) -> None:
    """DPA105 for what is neither an executor nor None."""
    if executor is not None and not callable(getattr(executor, "submit", None)):
        raise InvalidArgument(
            "DPA105", f"executor must have submit(), as concurrent.futures has it, got a {type(executor).__name__}."
        )


def _with_distinct_names(loaded: Sequence[tuple[Target, Reference | None]]) -> list[tuple[Target, Reference | None]]:
    """The targets with names that differ: a second one of the same name becomes "name (2)"."""
    names = make_names_distinct([target.name for target, _ in loaded])
    return [
        (target if name == target.name else replace(target, name=name), reference)
        for name, (target, reference) in zip(names, loaded, strict=True)
    ]


def make_names_distinct(given: Sequence[str]) -> list[str]:
    """The names, made different: a second "name" becomes "name (2)"."""
    taken: dict[str, None] = {}
    for one in given:
        names = (one if number == 1 else f"{one} ({number})" for number in count(1))
        taken[next(name for name in names if name not in taken)] = None
    return list(taken)


def entry_of(target: Target, reference: Reference | None, settings: Settings, executor: Executor | None) -> Entry:
    """One target with its pairs, tested points, plan and workload."""
    target = apply_permission(target, settings)
    pairs = candidate_pairs(target)
    kept, plan = (pairs, None) if settings.seconds is not None else _planned(target, pairs, settings.runs)
    work = workload(target, kept, reference, executor)
    return Entry(target, reference, Subject(target, kept, len(pairs) - len(kept)), work, lines_of(target.claim), plan)


def _planned(target: Target, pairs: tuple[Neighbours, ...], runs: int) -> tuple[tuple[Neighbours, ...], Plan]:
    """The pairs that a number of runs suffices for, and how these are divided.

    Whoever gives pairs can give fewer; of those made from the data the last ones are left out, and the report says so.
    """
    runs, wide = min(runs, target.most_runs or runs), any(pair.is_part for pair in pairs)
    if wide:
        pairs = pairs[: pairs_within(runs, len(pairs), lambda count: runs_of_checks(pairs[:count]))]
    return pairs, plan_of(runs, len(pairs), runs_of_checks(pairs), wide=wide)


def _loaded(given: Given, data: str | None) -> list[tuple[Target, Reference | None]]:
    """The targets that one argument stands for, each with where it can be loaded again."""
    if isinstance(given, Target):
        if data is not None:
            raise InvalidArgument(
                "DPA105", f"data= replaces the data of targets given by name; {given.name} was given as an object."
            )
        return [(given, None)]
    if isinstance(given, Reference):
        return [(given.load(), given)]
    if isinstance(given, str):
        targets = load_targets(given, data=data)
        if not targets:
            raise TargetFailure("DPA403", f"{given} holds no target.")
        return [(target, Reference(given, position, data)) for position, target in enumerate(targets)]
    raise InvalidArgument("DPA105", f"a target must be a Target, a Reference or a name, got a {type(given).__name__}.")
