"""The request: targets, settings and budget of an audit, checked before any randomness is drawn."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from itertools import count
from typing import Final, TypeAlias, cast

from dpaudit.auditor.attack.plans import (
    FINALISTS,
    SEARCHED_BY_A_CLOCK,
    Plan,
    pairs_to_search,
    pairs_within,
    plan_of,
    runs_to_search,
)
from dpaudit.auditor.checks.properties import runs_of_checks
from dpaudit.auditor.data.disclosure import apply_permission
from dpaudit.auditor.events.points import lines_of
from dpaudit.auditor.pairs.candidates import Neighbours, candidate_pairs
from dpaudit.auditor.runs.workload import Subject, Workload, with_searched, workload
from dpaudit.auditor.statistics.bounds import ClaimPoint
from dpaudit.auditor.statistics.family import FAMILIES
from dpaudit.errors import InvalidArgument
from dpaudit.exact import Exact, in_range, instance_of, integer, kind_of, word
from dpaudit.loading import Reference, load_targets
from dpaudit.plain.asked import Asked
from dpaudit.plain.making import target_of
from dpaudit.results import Settings
from dpaudit.targets import FEWEST_RUNS, MOST_RUNS, MOST_SECONDS, Target

Given: TypeAlias = Target | Reference | str

DEFAULT_RUNS = 1_000_000

LEAST_ALPHA: Final = "1e-100"
"""Smaller error probabilities are refused: nothing is refuted at them, and floats would not hold their shares."""


@dataclass(frozen=True)
class Entry:
    """One target of an audit, ready to run; `reference` is None where it was given as an object."""

    target: Target
    reference: Reference | None
    subject: Subject
    work: Workload
    lines: tuple[ClaimPoint, ...]
    plan: Plan | None


def settings_of(  # noqa: PLR0913 - one argument for each field
    *,
    alpha: Exact,
    runs: int | None,
    seconds: Exact | None,
    seed: int,
    power_target: Exact,
    family: str,
    data: str | None,
    show_values: bool = False,
    stop_early: bool | None = None,
    asked: Asked | None = None,
) -> Settings:
    """Return the settings, exact and checked."""
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
        stop_early=None if stop_early is None else instance_of(stop_early, bool, "stop_early"),
        asked=None if asked is None else instance_of(asked, Asked, "asked"),
    )


def check_given(targets: Given | Sequence[Given], settings: Settings) -> list[Given]:
    """Return what is to be audited as a list, after its kinds are checked (DPA105, DPA109)."""
    claimed = target_of(targets) if callable(targets) else None
    listed = [claimed or targets] if claimed or isinstance(targets, (Target, Reference, str)) else targets
    if not isinstance(listed, Sequence):
        raise InvalidArgument(
            "DPA105",
            f"targets must be a Target, a name, or a sequence of them, got {kind_of(targets)}. "
            "Wrap a function: Target(run=..., claim=...).",
        )
    given = [(target_of(one) if callable(one) else None) or one for one in listed]
    for one in given:
        if not isinstance(one, (Target, Reference, str)):
            raise InvalidArgument("DPA105", f"a target must be a Target, a Reference or a name, got {kind_of(one)}.")
        if isinstance(one, Target) and settings.data is not None:
            raise InvalidArgument("DPA105", f"data= replaces the data of targets given by name; {one.name} was given as an object.")
    if not given:
        raise InvalidArgument("DPA109", "there is no target to audit. Give at least one.")
    return given


def require_executor(executor: object) -> Executor | None:
    """Return an executor or None, and refuse anything else (DPA105)."""
    if executor is not None and not callable(getattr(executor, "submit", None)):
        kind = type(executor).__name__
        raise InvalidArgument("DPA105", f"executor must have submit(), as concurrent.futures has it, got a {kind}.")
    return cast("Executor | None", executor)


def entries_of(given: Sequence[Given], settings: Settings, executor: Executor | None) -> list[Entry]:
    """Load every target, and prepare its pairs, tested points, plan and workload."""
    loaded = [pair for one in given for pair in _load(one, settings)]
    names = make_names_distinct([target.name for target, _ in loaded])
    return [
        entry_of(target if name == target.name else replace(target, name=name), reference, settings, executor)
        for name, (target, reference) in zip(names, loaded, strict=True)
    ]


def _load(given: Given, settings: Settings) -> list[tuple[Target, Reference | None]]:
    """Load the targets that one argument stands for, each with where it can be loaded again."""
    if isinstance(given, Target):
        return [(given, None)]
    if isinstance(given, Reference):
        return [(given.load(), given)]
    data, asked = settings.data, settings.asked
    return [
        (target, Reference(given, place, data, asked)) for place, target in enumerate(load_targets(given, data=data, asked=asked))
    ]


def make_names_distinct(given: Sequence[str]) -> list[str]:
    """Return the names, the second one of two equal ones as "name (2)"."""
    taken: dict[str, None] = {}
    for one in given:
        names = (one if number == 1 else f"{one} ({number})" for number in count(1))
        taken[next(name for name in names if name not in taken)] = None
    return list(taken)


def entry_of(target: Target, reference: Reference | None, settings: Settings, executor: Executor | None) -> Entry:
    """Prepare one target: its pairs, tested points, plan and workload."""
    target = apply_permission(target, settings)
    pairs = candidate_pairs(target)
    kept, plan = (pairs, None) if settings.seconds is not None else _choose_plan(target, pairs, settings.runs)
    search = plan.search if plan is not None else SEARCHED_BY_A_CLOCK if target.data is not None else 0
    subject = with_searched(Subject(target, kept, len(pairs) - len(kept)), pairs_to_search(search))
    return Entry(target, reference, subject, workload(subject, reference, executor), lines_of(target.claim), plan)


def _choose_plan(target: Target, pairs: tuple[Neighbours, ...], runs: int) -> tuple[tuple[Neighbours, ...], Plan]:
    """Return the pairs that a number of runs suffices for, and how the runs are divided."""
    runs, wide = min(runs, target.most_runs or runs), any(pair.is_part for pair in pairs)
    if wide:
        # Who gives pairs can give fewer of them; of those made from the data the last are left out, and the report says so.
        pairs = pairs[: pairs_within(runs, len(pairs), lambda count: runs_of_checks(pairs[:count]))]
    search = runs_to_search(runs) if target.data is not None else 0
    finalists = FINALISTS if search else 0
    return pairs, replace(plan_of(runs - search, len(pairs) + finalists, runs_of_checks(pairs), wide=wide), search=search)
