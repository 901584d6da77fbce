"""How fast the auditor refutes a false claim, and how often it refutes a true one: whole audits of Laplace noise over many seeds.

python benchmarks/refutation.py --seeds 100 --null-seeds 400 --output benchmarks/results/refutation.md
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from rich.progress import track

from dpaudit import Claim, PureDP, Target, audit
from dpaudit.results import Verdict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.random import Generator
    from numpy.typing import NDArray

BARS: Final = {"2": (250, 200), "1.5": (750, 600), "1.25": (2500, 2000)}
"""Allowed median runs to refutation by truth over claim: in a whole audit at alpha .05, and with the bets alone holding .05."""

NULL_RUNS: Final = 20_000


class Laplace:
    """Float Laplace noise of true epsilon `truth` on a number that moves by 1; a picklable sample function."""

    def __init__(self, truth: float) -> None:
        self.truth = truth

    def __call__(self, value: float, count: int, rng: Generator) -> NDArray[Any]:
        """Independent noisy copies."""
        return value + rng.laplace(scale=1 / self.truth, size=count)


def target_of(truth: float) -> Target:
    """Laplace noise of true epsilon `truth` under the claim epsilon = 1."""
    claim = Claim(PureDP(epsilon=1))
    return Target(sample=Laplace(truth), claim=claim, neighbours=[(0.0, 1.0)], name=f"laplace_{truth:g}", public_data=True)


def runs_to_refutation(truth: float, seeds: int, alpha: str, runs: int) -> list[float]:
    """Runs at which the bets passed their level, one for each seed; infinite where they never did."""
    found = []
    for seed in track(range(seeds), f"truth {truth:g}, alpha {alpha}", disable=not sys.stderr.isatty()):
        attack = audit(target_of(truth), alpha=alpha, runs=runs, seed=seed).results[0].attack
        stopped = None if attack is None else attack.sequential.stopped_at
        found.append(float("inf") if stopped is None else float(stopped))
    return found


def false_alarms(seeds: int, alpha: str) -> int:
    """How many of `seeds` audits refute a claim that is exactly true."""
    results = (audit(target_of(1.0), alpha=alpha, runs=NULL_RUNS, seed=seed).results[0] for seed in range(seeds))
    return sum(
        result.verdict is Verdict.REFUTED for result in track(results, "truth = claim", seeds, disable=not sys.stderr.isatty())
    )


def table(seeds: int, null_seeds: int) -> str:
    """The measurements as a Markdown table with the bars beside them."""
    from scipy.stats import binom

    lines = [
        f"Laplace noise, claim epsilon = 1, {seeds} seeds, 100,000 runs allowed; every run counts, the pilot's too.",
        "",
        "| truth / claim | whole audit, alpha .05: median (p90) | bar | bets alone at .05: median (p90) | bar |",
        "|---|---|---|---|---|",
    ]
    for truth, (whole_bar, alone_bar) in BARS.items():
        whole, alone = (sorted(runs_to_refutation(float(truth), seeds, alpha, 100_000)) for alpha in ("0.05", "0.1"))
        shown = [f"{statistics.median(found):,.0f} ({found[int(0.9 * len(found))]:,.0f})" for found in (whole, alone)]
        lines.append(f"| {truth} | {shown[0]} | {whole_bar:,} | {shown[1]} | {alone_bar:,} |")
    alarms = false_alarms(null_seeds, "0.05")
    limit = int(binom.ppf(0.99, null_seeds, 0.05))
    lines += [
        "",
        f"Truth = claim, alpha .05, {NULL_RUNS:,} runs: {alarms} of {null_seeds} audits refuted.",
        f"An error rate of .05 allows {limit} (99 % point of the binomial law).",
        "The bets hold half of an audit's alpha, so those at alpha .1 are the bets alone at .05.",
    ]
    return "\n".join(lines) + "\n"


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, print and, if asked, save."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--seeds", type=int, default=100)
    parser.add_argument("--null-seeds", type=int, default=400)
    parser.add_argument("--output", type=Path)
    options = parser.parse_args(arguments)
    began = time.perf_counter()
    text = table(options.seeds, options.null_seeds)
    sys.stdout.write(text)
    sys.stderr.write(f"{time.perf_counter() - began:.0f} s\n")
    if options.output:
        options.output.parent.mkdir(parents=True, exist_ok=True)
        options.output.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
