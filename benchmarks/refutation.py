"""How fast the auditor refutes false claims: whole audits over many seeds, beside the number of runs that is allowed.

    python benchmarks/refutation.py --seeds 100 --workers 2 --state FILE --output benchmarks/results

Every run counts, the pilot's too. The bets hold half of an audit's alpha, so at alpha .1 they alone hold .05.
After Ctrl-C the same command with the same `--state` goes on.

Needs: nothing. Size: 100 seeds a row, each an audit of at most 10^5 runs.
"""

from __future__ import annotations

import argparse
import math
import statistics
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from measuring import code_of, table, versions, write
from resuming import Found, Job, results

from dpaudit import GDP, Claim, PureDP, Target, audit
from dpaudit.catalogue import specimens

if TYPE_CHECKING:
    from numpy.random import Generator
    from numpy.typing import NDArray

BETS: Final = "0.1"
WHOLE: Final = "0.05"
CODE: Final = ("dpaudit/auditor",)
"""Where the code stands on which the bets depend."""

SIGMA: Final = 3.73063163481594
"""The least Gaussian noise that is (1, 1e-5)-DP on a number that moves by 1 (Balle and Wang 2018)."""

MU: Final = "0.2680512"
"""The claim of that noise as a curve: 1 / SIGMA, rounded up."""


@dataclass(frozen=True)
class Laplace:
    """Float Laplace noise of true epsilon `truth` on a number that moves by 1; a picklable sample function."""

    truth: float

    def __call__(self, value: float, count: int, rng: Generator) -> NDArray[Any]:
        """Independent noisy copies."""
        return value + rng.laplace(scale=1 / self.truth, size=count)


def narrow_gaussian(value: float, count: int, rng: Generator) -> NDArray[Any]:
    """Gaussian noise whose standard deviation is too small by the square root of 2."""
    return value + rng.normal(scale=SIGMA / math.sqrt(2), size=count)


@dataclass(frozen=True)
class Row:
    """A false claim, the allowed median of runs with the bets alone holding .05, and, if there is one, in an audit at alpha .05."""

    name: str
    target: Target
    bar: int
    whole_bar: int | None = None


def laplace(name: str, truth: float, epsilon: str, bar: int, whole_bar: int | None = None) -> Row:
    """Laplace noise of true epsilon `truth` under the claim `epsilon`."""
    claim = Claim(PureDP(epsilon))
    return Row(name, Target(sample=Laplace(truth), claim=claim, neighbours=[(0.0, 1.0)], public_data=True), bar, whole_bar)


def of_zoo(name: str, title: str, bar: int) -> Row:
    """A specimen of the zoo at epsilon 1."""
    return Row(title, next(one.target for one in specimens(1) if one.name == name), bar)


ROWS: Final = (
    laplace("Laplace 2x", 2, "1", 200, 250),
    laplace("Laplace 1.5x", 1.5, "1", 600, 750),
    laplace("Laplace 1.25x", 1.25, "1", 2000, 2500),
    laplace("Laplace 1.1x", 1.1, "1", 15_000),
    laplace("Laplace .2 for .1", 0.2, "0.1", 11_000),
    of_zoo("rare_leak", "leak of .001 for (1, 1e-5)", 24_000),
    Row(
        "Gaussian, sigma / sqrt 2",
        Target(sample=narrow_gaussian, claim=Claim(GDP(MU)), neighbours=[(0.0, 1.0)], public_data=True),
        4000,
    ),
    of_zoo("svt3", "SVT3", 20_000),
    of_zoo("svt4", "SVT4", 10_000),
    of_zoo("svt5", "SVT5", 300),
    of_zoo("svt6", "SVT6", 2000),
)


def refutation(job: Job) -> Found:
    """One audit: the run at which the bets passed their level, if they did."""
    began = time.process_time()
    target = next(row.target for row in ROWS if row.name == job["row"])
    attack = audit(target, alpha=job["alpha"], runs=job["runs"], seed=job["seed"]).results[0].attack
    stopped = None if attack is None else attack.sequential.stopped_at
    return {"stopped": stopped, "seconds": round(time.process_time() - began, 2)}


@dataclass(frozen=True)
class Stops:
    """Runs to refutation by seed, infinite where the bets never passed their level."""

    runs: tuple[float, ...]

    @property
    def median(self) -> float:
        """Median over the seeds."""
        return statistics.median(self.runs)

    def shown(self) -> str:
        """Median, and the number of runs that nine in ten seeds keep to."""
        slow = sorted(self.runs)[min(len(self.runs) - 1, math.ceil(0.9 * len(self.runs)))]
        return f"{_count(self.median)} ({_count(slow)})"


def stops_of(found: Sequence[Found | None]) -> Stops:
    """The stops of audits that were made."""
    return Stops(tuple(math.inf if one["stopped"] is None else float(one["stopped"]) for one in found if one is not None))


def cells(row: Row, alone: Stops, whole: Stops | None) -> list[str]:
    """The columns of the table."""
    met = alone.median <= row.bar and (whole is None or row.whole_bar is None or whole.median <= row.whole_bar)
    bars = ["-", "-"] if whole is None or row.whole_bar is None else [whole.shown(), f"{row.whole_bar:,}"]
    return [row.name, alone.shown(), f"{row.bar:,}", *bars, "met" if met else "**not met**"]


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, print and, if asked, save."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rows", nargs="*", choices=[row.name for row in ROWS], default=[row.name for row in ROWS])
    parser.add_argument("--seeds", type=int, default=100)
    parser.add_argument("--runs", type=int, default=100_000, help="runs that an audit may make")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--state", type=Path, help="file to which every result is added, and from which a later start goes on")
    parser.add_argument("--output", type=Path)
    options = parser.parse_args(arguments)

    code = code_of(CODE)

    def measured(row: Row, alpha: str) -> list[Found | None]:
        fixed = {"row": row.name, "alpha": alpha, "runs": options.runs, "code": code}
        jobs: list[Job] = [{**fixed, "seed": seed} for seed in range(options.seeds)]
        title = f"{row.name}, alpha {alpha}"
        return results(jobs, refutation, state=options.state, workers=options.workers, title=title)

    lines, record = [], []
    for row in (row for row in ROWS if row.name in options.rows):
        found = measured(row, BETS)
        alone, whole = stops_of(found), None if row.whole_bar is None else stops_of(measured(row, WHOLE))
        if not alone.runs or (whole is not None and not whole.runs):
            continue  # interrupted
        lines.append(cells(row, alone, whole))
        seconds = round(statistics.mean(one["seconds"] for one in found if one is not None), 2)
        record.append(
            {"row": row.name, "bar": row.bar, "runs": alone.runs, "whole": whole.runs if whole else None, "seconds": seconds}
        )
    text = (
        f"Runs until a false claim is refuted, {options.seeds} seeds, {options.runs:,} runs allowed; every run counts, the pilot's "
        "too. Median, in brackets the 90 % point. The bets hold half of an audit's alpha, so those of an audit at alpha .1 are the "
        "bets alone at .05. The Gaussian noise is claimed as a curve, sparse vector techniques claim epsilon 1 for ten answers.\n\n"
        + table(["claim", "bets alone at .05", "bar", "audit at alpha .05", "bar", ""], lines)
    )
    versioned = {"allowed": options.runs, "seeds": options.seeds, "versions": versions(["dpaudit", "numpy", "scipy"])}
    write(options.output, "refutation", "Runs to refutation", text, {**versioned, "rows": record})


def _count(runs: float) -> str:
    """A number of runs; a bar where it is infinite."""
    return f"{runs:,.0f}" if math.isfinite(runs) else "-"


if __name__ == "__main__":
    main()
