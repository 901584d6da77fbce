"""`audit_samples`: a claim against two samples of outputs, with the report of any audit."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any, Final

from dpaudit.auditor.auditing import environment
from dpaudit.auditor.events.points import lines_of
from dpaudit.auditor.request import settings_of
from dpaudit.auditor.samples.drawing import KEPT, Pair, Runs, draw_runs, rows_needed, suffice
from dpaudit.auditor.samples.files import sample_of
from dpaudit.auditor.samples.sample import require_alike, without_counters
from dpaudit.auditor.samples.testing import Tested, try_samples
from dpaudit.auditor.statistics.bounds import ClaimPoint
from dpaudit.auditor.verdict.profiles import profile_epsilons, profile_of
from dpaudit.auditor.verdict.verdicts import summary_of, verdict_of
from dpaudit.claims import Claim
from dpaudit.errors import InvalidArgument
from dpaudit.exact import Exact, instance_of, kind_of
from dpaudit.results import Property, Report, Samples, Settings, TargetResult, Values

_ASSUMED: Final = (
    "each row is an independent release of its own, those of one sample on one dataset, those of the other on a neighbouring one, "
    "and no rows were left out or chosen for what they show"
)
_NOT_GIVEN: Final = (
    "two samples show one pair of datasets; they give no search of datasets, no early end, no replay of the function, no checks of "
    "its inputs, no certified price and no proof; `dpaudit audit` gives these"
)


def audit_samples(
    first: Any,
    second: Any,
    *,
    claim: Claim,
    alpha: Exact = "0.001",
    seed: int = 0,
    power_target: Exact = "1.25",
    show_values: bool = False,
    name: str = "samples",
) -> Report:
    """Audit a claim by two samples of outputs, collected elsewhere on two neighbouring datasets: a bound and a verdict.

    Rows are put in random order by the seed. A quarter of them, at least 2000 or half, choose an event; the others decide.

    Args:
      first: outputs on one dataset, each an independent run: an array with an entry for each, a list, a table of pandas, polars or
        Arrow, or the path of a file (npy, npz, csv, tsv, parquet, json, jsonl, ndjson; others as lines of text).
      second: outputs on a neighbouring dataset, written in the same way; their number may differ.
      claim: the claim under test.
      alpha: probability of refuting a true claim, exact, from 1e-100 to below 1.
      seed: root of the random order, an integer from 0 on.
      power_target: a surviving claim is consistent if a violation by this factor would have been found, else inconclusive.
      show_values: whether the report may show values of the outputs, which are taken for private.
      name: the name of the result in reports.
    Returns:
      A report with one result, of the same forms as that of `audit`.
    Raises:
      InvalidArgument: a sample is empty (DPA109), too small for any verdict (DPA103), or its columns differ (DPA105).
      TargetFailure: a file cannot be read (DPA406).
    Source: docs/audit_your_own.md, "Outputs collected elsewhere"; docs/auditing_statistics.md.
    Example:
      >>> import numpy as np
      >>> from dpaudit import Claim, PureDP
      >>> rng = np.random.default_rng(1)
      >>> first, second = rng.laplace(0, 0.5, 20_000), rng.laplace(1, 0.5, 20_000)
      >>> audit_samples(first, second, claim=Claim(PureDP(epsilon=1))).results[0].verdict
      <Verdict.REFUTED: 'refuted'>
    """
    began = time.monotonic()
    if not isinstance(claim, Claim):
        raise InvalidArgument("DPA105", f"claim must be a Claim, got {kind_of(claim)}. For instance Claim(PureDP(epsilon=1)).")
    settings = settings_of(
        alpha=alpha,
        runs=None,
        seconds=None,
        seed=seed,
        power_target=power_target,
        family="holm",
        data=None,
        show_values=show_values,
    )
    given = sample_of(first, "the first sample"), sample_of(second, "the second sample")
    require_alike(*given)
    samples, counters = without_counters(given)
    lines = lines_of(claim)
    _require_enough(samples, lines, settings.alpha)
    runs = draw_runs(samples, settings.seed)
    tested = try_samples(samples, runs, lines, alpha=settings.alpha, shown=settings.show_values)
    settings = replace(settings, runs=len(runs.labels))
    told = _described(samples, runs)
    result = _judge(claim, tested, (tested.order, *_notes(told, runs, counters)), settings)
    versions = environment()
    return Report(
        settings=settings,
        results=(replace(result, name=instance_of(name, str, "name"), samples=told),),
        env=tuple(sorted(versions)),
        seconds=(("total", time.monotonic() - began),),
        version=dict(versions)["dpaudit"],
    )


def _require_enough(samples: Pair, lines: tuple[ClaimPoint, ...], alpha: Fraction) -> None:
    """Refuse samples from which nothing could follow, whatever they hold."""
    if suffice(min(map(len, samples)), lines, alpha):
        return
    needed = rows_needed(lines, alpha)
    if needed is None:
        raise InvalidArgument("DPA103", "no number of rows refutes this claim at this alpha. Claim less, or allow a larger alpha.")
    sizes = " and ".join(f"{len(sample):,}" for sample in samples)
    raise InvalidArgument(
        "DPA103",
        f"the samples are too small: at this claim and alpha each needs at least {needed:,} rows for any verdict, got {sizes}. "
        "Collect more, or allow a larger alpha.",
    )


def _described(samples: Pair, runs: Runs) -> Samples:
    """Describe the samples for the report."""
    ones = int(runs.labels.sum())
    first, second = samples
    return Samples((first.name, second.name), (len(first), len(second)), (len(runs.labels) - ones, ones))


def _notes(told: Samples, runs: Runs, counters: tuple[int, ...]) -> Iterator[Property]:
    """Say what was done with the rows, what is assumed of them, and what they cannot give."""
    parts = zip(told.names, told.rows, told.used, strict=True)
    sizes = " and ".join(f"{used:,} of the {rows:,} rows of {name}" for name, rows, used in parts)
    total = len(runs.labels)
    split = f"{runs.choosing:,} of them chose the event, {total - runs.choosing:,} decided"
    yield Property("rows used", "note", total, f"{sizes}, in random order; {split}")
    if counters:
        places = ", ".join(str(place + 1) for place in counters)
        yield Property("columns left out", "note", total, f"column {places} only numbers the rows")
    yield Property("assumed of the samples", "note", total, _ASSUMED)
    yield Property("not in two samples", "note", total, _NOT_GIVEN)


def _judge(claim: Claim, tested: Tested, properties: tuple[Property, ...], settings: Settings) -> TargetResult:
    """Return the result, with its verdict."""
    attack, point = tested.attack, tested.point
    rejected = Fraction(attack.p_value) <= settings.alpha
    verdict, summary = verdict_of(attack, properties, None, rejected=rejected, power_target=settings.power_target)
    # As for the bound, the level is lowered by what throwing the coins again may cost.
    bound = attack.bound and replace(attack.bound, confidence=1 - attack.alpha * KEPT)
    epsilons = profile_epsilons(claim, point, bound)
    return TargetResult(
        name="",
        description="two samples of outputs",
        claim=summary_of(claim, point),
        verdict=verdict,
        summary=summary,
        attack=attack,
        properties=properties,
        profile=profile_of(claim, None, bound, epsilons),
        rejected_in_family=rejected,
        values=Values.ASKED if settings.show_values else Values.HIDDEN,
    )
