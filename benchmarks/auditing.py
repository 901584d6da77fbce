"""How close the auditor's lower bound comes to the truth on published mechanisms, beside the published figures of other tools.

python benchmarks/auditing.py --seeds 20 --runs 10000000 --output benchmarks/results

Each row is a whole audit of one specimen of the zoo at epsilon 1/10, the pair given. The claim under test is one that nothing
refutes, so that the bets do not end the audit and all runs go to the bound, which has a confidence of 90 %.
"""

from __future__ import annotations

import argparse
import math
import statistics
import sys
import time
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from measuring import table, versions, write
from rich.progress import track

from dpaudit import Claim, PureDP, audit
from dpaudit.auditor.zoo import specimens

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dpaudit.targets import Target

GENEROUS: Final = 30
"""An epsilon that no number of runs refutes."""

ALPHA: Final = "0.2"
"""Half of it is for the bound."""

SECONDS: Final = 20.0


@dataclass(frozen=True)
class Row:
    """A specimen with published figures: DP-Sniper's bound (Bichsel and others 2021, at least 4e8 runs) and StatDP's estimate.

    `oracle` is the bound to be expected from 9e6 runs on the best event, `bar` what a median over 20 seeds has to reach.
    """

    specimen: str
    sniper: float
    statdp: float
    oracle: float
    bar: float


ROWS: Final = (
    Row("laplace", 0.0976, 0.1001, 0.0988, 0.0980),
    Row("noisy_histogram", 0.0978, 0.0999, 0.0988, 0.0980),
    Row("truncated_geometric_rounded", 0.1156, 0.1179, 0.1166, 0.1158),
    Row("noisy_histogram_inverted", 4.602, 10.03, 9.874, 9.6),
    Row("noisy_max1", 0.0925, 0.0926, 0.0927, 0.0910),
    Row("noisy_max2", 0.0979, 0.1001, 0.0981, 0.0970),
    Row("noisy_max3", 0.2488, 0.2001, 0.2448, 0.236),
    Row("noisy_max4", 0.3534, 0.1998, 2.08, 1.2),
    Row("svt1", 0.0858, 0.0328, 0.0827, 0.0805),
    Row("svt2", 0.0859, 0.0433, 0.0825, 0.0800),
    Row("svt3", 0.1822, 0.1986, 0.241, 0.155),
    Row("svt4", 0.1696, 0.1738, 0.1656, 0.160),
    Row("svt5", 1.761, math.inf, 11.47, 11.4),
    Row("svt6", 0.2720, 0.3256, 0.3695, 0.322),
    Row("rappor_one_hash", 0.3008, 0.2495, 0.2932, 0.283),
    Row("one_time_rappor_one_hash", 0.5999, 0.4763, 0.5935, 0.585),
    Row("laplace_parallel", 0.0350, 0.0143, 0.0514, 0.039),
    Row("prefix_sum_all", 0.5774, 0.3522, 0.964, 0.88),
    Row("numerical_svt", 0.0345, math.nan, 0.0632, 0.027),
    Row("svt34_parallel", 0.2616, 0.2214, math.nan, 0.255),
)


@dataclass(frozen=True)
class Measured:
    """The bounds of one row by seed, and the processor time of one audit."""

    row: Row
    truth: float
    bounds: tuple[float, ...]
    seconds: float

    @property
    def median(self) -> float:
        """Median of the bounds over the seeds."""
        return statistics.median(self.bounds)

    def cells(self) -> list[str]:
        """The columns of the table."""
        figures = (self.truth, self.row.sniper, self.row.statdp, self.row.oracle, self.row.bar, self.median)
        shown = ["-" if math.isnan(figure) else f"{figure:.4g}" for figure in figures]
        above = sum(bound > self.truth for bound in self.bounds)
        met = "" if self.median >= self.row.bar and self.seconds <= SECONDS else "**not met**"
        return [self.row.specimen, *shown, met, f"{above} of {len(self.bounds)}", f"{self.seconds:.1f}"]


def target_of(name: str) -> tuple[Target, float]:
    """The target under a claim that is not refuted, and the least epsilon of its pair."""
    specimen = next(one for one in specimens("1/10") if one.name == name)
    claim = Claim(PureDP(GENEROUS), adjacency=specimen.adjacency)
    return replace(specimen.target, claim=claim), specimen.truth.epsilon


def measured(row: Row, seeds: Sequence[int], runs: int) -> Measured:
    """One audit for each seed; a bound below 0 counts as 0, which is known without any run."""
    target, truth = target_of(row.specimen)
    bounds, began = [], time.process_time()
    for seed in track(seeds, row.specimen, disable=not sys.stderr.isatty()):
        attack = audit(target, alpha=ALPHA, runs=runs, seed=seed).results[0].attack
        bound = None if attack is None or attack.bound is None else attack.bound.epsilon
        bounds.append(0.0 if bound is None else max(0.0, float(bound)))
    return Measured(row, truth, tuple(bounds), (time.process_time() - began) / len(bounds))


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, print and, if asked, save."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--rows", nargs="*", default=[row.specimen for row in ROWS], help="specimens, all unless given")
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--runs", type=int, default=10_000_000)
    parser.add_argument("--output", type=Path)
    options = parser.parse_args(arguments)
    seeds = range(options.first_seed, options.first_seed + options.seeds)
    found = []
    for row in (row for row in ROWS if row.specimen in options.rows):
        found.append(measured(row, seeds, options.runs))
        sys.stderr.write(f"{' '.join(found[-1].cells())}\n")
    head = ["mechanism", "truth", "DP-Sniper", "StatDP", "oracle", "bar", "ours, median", "", "above the truth", "seconds"]
    text = (
        f"Bounds of 90 % confidence at claim 0.1, {options.runs:,} runs in all, {options.seeds} seeds from {options.first_seed}, "
        "the pair given; processor seconds of one audit. DP-Sniper and StatDP: published figures (Bichsel, Steffen, Bogunovic, "
        "Vechev 2021), at 4e8 runs and more with pairs searched; StatDP's are estimates without confidence. An error rate of "
        f"10 % allows bounds above the truth in {_allowed(options.seeds)} of {options.seeds} audits of a row (99 % point).\n\n"
        + table(head, [one.cells() for one in found])
    )
    record: dict[str, Any] = {
        "runs": options.runs,
        "seeds": list(seeds),
        "versions": versions(("dpaudit", "numpy", "scipy")),
        "rows": [{**asdict(one.row), "truth": one.truth, "bounds": one.bounds, "seconds": one.seconds} for one in found],
    }
    write(options.output, "auditing", "Bounds on published mechanisms", text, record)


def _allowed(seeds: int) -> int:
    """The 99 % point of the number of errors among so many audits."""
    from scipy.stats import binom

    return int(binom.ppf(0.99, seeds, 0.1))


if __name__ == "__main__":
    main()
