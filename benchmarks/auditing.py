"""How close the auditor's lower bound comes to the truth on published mechanisms, beside the published figures of other tools.

    python benchmarks/auditing.py --workers 2 --state state.jsonl --output benchmarks/results
    python benchmarks/auditing.py --coverage ...     200 seeds of few runs: how often a bound lies above the truth
    python benchmarks/auditing.py --campaign ...     one seed of 4e8 runs, beside DP-Sniper at as many
    python benchmarks/auditing.py --tightness ...    Laplace noise of epsilon 1 at 1e5, 1e6 and 1e7 runs

Each row is a whole audit of one specimen of the zoo at epsilon 1/10, the pair given. The claim under test is one that nothing
refutes, so that the bets do not end the audit and all runs go to the bound, which has a confidence of 90 % (of 95 % with
`--tightness`).

Needs: nothing. Size: 20 seeds a row, each an audit of 10^7 runs; a long campaign.
"""

from __future__ import annotations

import argparse
import math
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from measuring import Bar, bars_table, code_of, incomplete, table, versions, write
from resuming import Found, Job, results

from dpaudit import Claim, PureDP, audit
from dpaudit.catalogue import specimens

if TYPE_CHECKING:
    from dpaudit.targets import Target

GENEROUS: Final = 30
"""An epsilon that no number of runs refutes."""

ALPHA: Final = "0.2"
"""Half of it is for the bound."""

SECONDS: Final = 20.0
UNKNOWN: Final = math.nan
CODE: Final = ("dpaudit/auditor",)
"""Where the code stands on which bounds depend."""


@dataclass(frozen=True)
class Row:
    """A specimen with published figures: DP-Sniper's bound (Bichsel and others 2021, at least 4e8 runs) and StatDP's estimate.

    `oracle` is the bound to be expected from 9e6 runs on the best event, `bar` what a median over 20 seeds has to reach at 1e7 runs
    and `cost` about the processor seconds of that many: cheap rows are done first.
    """

    specimen: str
    sniper: float
    statdp: float
    oracle: float
    bar: float
    cost: float


ROWS: Final = (
    Row("laplace", 0.0976, 0.1001, 0.0988, 0.0980, 3),
    Row("noisy_histogram", 0.0978, 0.0999, 0.0988, 0.0980, 6),
    Row("truncated_geometric_rounded", 0.1156, 0.1179, 0.1166, 0.1158, 3),
    Row("noisy_histogram_inverted", 4.602, 10.03, 9.874, 9.6, 6),
    Row("noisy_max1", 0.0925, 0.0926, 0.0927, 0.0910, 4),
    Row("noisy_max2", 0.0979, 0.1001, 0.0981, 0.0970, 4),
    Row("noisy_max3", 0.2488, 0.2001, 0.2448, 0.236, 5),
    Row("noisy_max4", 0.3534, 0.1998, 2.08, 1.2, 5),
    Row("svt1", 0.0858, 0.0328, 0.0827, 0.0805, 10),
    Row("svt2", 0.0859, 0.0433, 0.0825, 0.0800, 10),
    Row("svt3", 0.1822, 0.1986, 0.241, 0.155, 12),
    Row("svt4", 0.1696, 0.1738, 0.1656, 0.160, 10),
    Row("svt5", 1.761, math.inf, 11.47, 11.4, 10),
    Row("svt6", 0.2720, 0.3256, 0.3695, 0.322, 12),
    Row("rappor_one_hash", 0.3008, 0.2495, 0.2932, 0.283, 21),
    Row("one_time_rappor_one_hash", 0.5999, 0.4763, 0.5935, 0.585, 16),
    Row("laplace_parallel", 0.0350, 0.0143, 0.0514, 0.039, 24),
    Row("prefix_sum_all", 0.5774, 0.3522, 0.964, 0.88, 12),
    Row("numerical_svt", 0.0345, UNKNOWN, 0.0632, 0.027, 18),
    Row("svt34_parallel", 0.2616, 0.2214, UNKNOWN, 0.255, 27),
)

TIGHT: Final = {100_000: (0.970, 0.980), 1_000_000: (0.990, 0.994), 10_000_000: (0.996, 0.998)}
"""Bounds of Laplace noise of epsilon 1 by runs: what a median over 20 seeds has to reach, and what the best event gives."""


@dataclass(frozen=True)
class Measured:
    """The bounds of one row by seed, and the median processor time of one audit."""

    row: Row
    runs: int
    truth: float
    bounds: tuple[float, ...]
    seconds: float

    @property
    def median(self) -> float:
        """Median of the bounds over the seeds."""
        return statistics.median(self.bounds)

    @property
    def above(self) -> int:
        """How many bounds lie above the truth."""
        return sum(bound > self.truth for bound in self.bounds)


@dataclass(frozen=True)
class Kind:
    """A kind of measurement: how many seeds and runs unless asked for others, and how its findings are reported."""

    stem: str
    title: str
    seeds: int
    runs: tuple[int, ...]
    report: Callable[[Sequence[Measured]], tuple[str, list[Bar]]]
    rows: tuple[Row, ...] = ROWS
    epsilon: str = "1/10"
    alpha: str = ALPHA


def target_of(name: str, epsilon: str) -> tuple[Target, float]:
    """The target under a claim that is not refuted, and the least epsilon of its pair."""
    specimen = next(one for one in specimens(epsilon) if one.name == name)
    claim = Claim(PureDP(GENEROUS), adjacency=specimen.target.adjacency)
    return replace(specimen.target, claim=claim), specimen.truth.epsilon


def audited(job: Job) -> Found:
    """One audit; a bound below 0 counts as 0, which is known without any run. Half of alpha is for the bound."""
    target, _ = target_of(job["specimen"], job["epsilon"])
    began = time.process_time()
    attack = audit(target, alpha=job["alpha"], runs=job["runs"], seed=job["seed"]).results[0].attack
    bound = None if attack is None or attack.bound is None else attack.bound.epsilon
    return {"bound": 0.0 if bound is None else max(0.0, float(bound)), "seconds": round(time.process_time() - began, 2)}


def measured(
    kind: Kind,
    rows: Sequence[Row],
    runs: Sequence[int],
    seeds: Sequence[int],
    *,
    code: str = "",
    workers: int = 1,
    state: Path | None = None,
) -> list[Measured]:
    """Every row at every number of runs, as far as it was done; the cheapest audits are made first."""
    fixed = {"epsilon": kind.epsilon, "alpha": kind.alpha, "code": code}
    parts = [(row, number) for row in rows for number in runs]
    jobs = [
        (row, number, {**fixed, "specimen": row.specimen, "runs": number, "seed": seed})
        for row, number in sorted(parts, key=lambda part: part[0].cost * part[1])
        for seed in seeds
    ]
    made = results([job for *_, job in jobs], audited, state=state, workers=workers, title=kind.stem)
    found: dict[tuple[Row, int], list[Found]] = {}
    for (row, number, _), one in zip(jobs, made, strict=True):
        found.setdefault((row, number), []).extend([] if one is None else [one])
    return [
        Measured(
            row,
            number,
            target_of(row.specimen, kind.epsilon)[1],
            tuple(one["bound"] for one in found[row, number]),
            statistics.median(one["seconds"] for one in found[row, number]),
        )
        for row, number in parts
        if found[row, number]
    ]


def bounds_report(found: Sequence[Measured]) -> tuple[str, list[Bar]]:
    """Bounds beside the bars and the published figures."""
    bars = [Bar(f"{one.row.specimen}, median", one.median, one.row.bar) for one in found]
    bars += [Bar(f"{one.row.specimen}, seconds", one.seconds, SECONDS, most=True) for one in found]
    head = ["mechanism", "truth", "DP-Sniper", "StatDP", "oracle", "bar", "ours, median", "", "above the truth", "seconds"]
    cells = []
    for one in found:
        row = one.row
        figures = [_shown(figure) for figure in (one.truth, row.sniper, row.statdp, row.oracle, row.bar, one.median)]
        met = "" if one.median >= row.bar and one.seconds <= SECONDS else "**not met**"
        cells.append([row.specimen, *figures, met, _of(one), f"{one.seconds:.1f}"])
    return f"{PUBLISHED} {_allowance(found)}\n\n{table(head, cells)}", bars


def coverage_report(found: Sequence[Measured]) -> tuple[str, list[Bar]]:
    """How often bounds lie above the truth."""
    limit = _allowed(len(found[0].bounds))
    bars = [Bar(f"{one.row.specimen}, bounds above the truth", one.above, limit, most=True) for one in found]
    head = ["mechanism", "truth", "ours, median", "above the truth", ""]
    cells = [
        [one.row.specimen, _shown(one.truth), _shown(one.median), _of(one), "" if one.above <= limit else "**not met**"]
        for one in found
    ]
    return f"{_allowance(found)}\n\n{table(head, cells)}", bars


def campaign_report(found: Sequence[Measured]) -> tuple[str, list[Bar]]:
    """Bounds beside DP-Sniper's; a published bound that lies above the exact truth is no bar."""
    bars = [Bar(one.row.specimen, one.median, one.row.sniper) for one in found if one.row.sniper <= one.truth]
    wrong = [one.row.specimen for one in found if one.row.sniper > one.truth]
    note = f" DP-Sniper's figure of {', '.join(wrong)} lies above the exact truth and is no bar." if wrong else ""
    head = ["mechanism", "truth", "DP-Sniper", "ours", "", "above the truth", "seconds"]
    cells = []
    for one in found:
        met = "" if one.row.sniper > one.truth or one.median >= one.row.sniper else "**not met**"
        figures = [_shown(figure) for figure in (one.truth, one.row.sniper, one.median)]
        cells.append([one.row.specimen, *figures, met, _of(one), f"{one.seconds:.0f}"])
    return f"{PUBLISHED}{note}\n\n{table(head, cells)}", bars


def tightness_report(found: Sequence[Measured]) -> tuple[str, list[Bar]]:
    """Bounds beside what the best event gives."""
    bars = [Bar(f"{one.runs:,} runs, median", one.median, TIGHT[one.runs][0]) for one in found if one.runs in TIGHT]
    cells = [
        [f"{one.runs:,}", _shown(one.median), *map(_shown, TIGHT.get(one.runs, (UNKNOWN, UNKNOWN))), _of(one), f"{one.seconds:.1f}"]
        for one in found
    ]
    return table(["runs", "ours, median", "bar", "oracle", "above the truth", "seconds"], cells), bars


PUBLISHED: Final = (
    "DP-Sniper and StatDP: published figures (Bichsel, Steffen, Bogunovic, Vechev 2021), at 4e8 runs and more with pairs searched; "
    "StatDP's are estimates without confidence."
)

KINDS: Final = {
    "bounds": Kind("auditing", "Bounds on published mechanisms", 20, (10_000_000,), bounds_report),
    "coverage": Kind("auditing_coverage", "How often bounds lie above the truth", 200, (200_000,), coverage_report),
    "campaign": Kind("auditing_campaign", "Bounds at the runs of DP-Sniper", 1, (400_000_000,), campaign_report),
    "tightness": Kind(
        "auditing_tightness", "Bounds of Laplace noise of epsilon 1", 20, tuple(TIGHT), tightness_report, ROWS[:1], "1", "0.1"
    ),
}


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, print and, if asked, save."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    choice = parser.add_mutually_exclusive_group()
    for name in ("coverage", "campaign", "tightness"):
        choice.add_argument(f"--{name}", dest="kind", action="store_const", const=name, default="bounds")
    parser.add_argument("--rows", nargs="*", help="specimens, all unless given")
    parser.add_argument("--seeds", type=int, help="how many; each kind has a number of its own")
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--runs", type=int, nargs="*", help="numbers of runs; each kind has its own")
    parser.add_argument("--output", type=Path)
    parser.add_argument("--workers", type=int, default=1, help="processes; the bounds do not depend on it")
    parser.add_argument("--state", type=Path, help="file to which every bound is added, and from which a later start goes on")
    options = parser.parse_args(arguments)
    kind = KINDS[options.kind]
    seeds = range(options.first_seed, options.first_seed + (options.seeds or kind.seeds))
    rows = [row for row in kind.rows if options.rows is None or row.specimen in options.rows]
    runs, code = options.runs or kind.runs, code_of(CODE)
    found = measured(kind, rows, runs, seeds, code=code, workers=options.workers, state=options.state)
    if not found:
        return
    body, bars = kind.report(found)
    amounts = " and ".join(f"{number:,}" for number in runs)
    text = (
        f"{incomplete(sum(len(one.bounds) for one in found), len(rows) * len(runs) * len(seeds))}"
        f"Bounds of {100 - 50 * float(kind.alpha):g} % confidence, mechanisms of epsilon {kind.epsilon}, {amounts} runs in all, "
        f"{len(seeds)} seeds from {seeds[0]}, the pair given; median processor seconds of one audit. {body}\n{bars_table(bars)}"
    )
    record = {
        "kind": options.kind,
        "seeds": list(seeds),
        "versions": {**versions(("dpaudit", "numpy", "scipy")), "code": code},
        "bars": [bar.record() for bar in bars],
        "rows": [
            {"specimen": one.row.specimen, "runs": one.runs, "truth": str(one.truth), "bounds": one.bounds, "seconds": one.seconds}
            for one in found
        ],
    }
    write(options.output, kind.stem, kind.title, text, record)


def _shown(figure: float) -> str:
    """A figure to four digits, or that there is none."""
    return "-" if math.isnan(figure) else f"{figure:.4g}"


def _of(one: Measured) -> str:
    """How many of its bounds lie above the truth."""
    return f"{one.above} of {len(one.bounds)}"


def _allowance(found: Sequence[Measured]) -> str:
    """How many bounds may lie above the truth."""
    seeds = len(found[0].bounds)
    return f"An error rate of 10 % allows bounds above the truth in {_allowed(seeds)} of {seeds} audits of a row (99 % point)."


def _allowed(seeds: int) -> int:
    """The 99 % point of the number of errors among so many audits."""
    from scipy.stats import binom

    return int(binom.ppf(0.99, seeds, 0.1))


if __name__ == "__main__":
    main()
