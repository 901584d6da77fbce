"""How much of the claimed epsilon audits of learners certify, from inside and from outside, and that it is never more than claimed.

    python benchmarks/learner_audits.py --workers 2 --state FILE --output benchmarks/results

An audit from inside sees everything that a fit releases, for weights that it chooses; one from outside sees a fitted model. After
Ctrl-C the same command with the same `--state` goes on.

Needs: nothing. Size: every target of the learners once at each of 3 epsilons.
"""

from __future__ import annotations

import argparse
import math
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from statistics import NormalDist
from typing import Any, Final

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "benchmarks")]  # the folder has a file of the name of the package

from measuring import Bar, bars_table, code_of, incomplete, table, versions, write  # noqa: E402
from resuming import Found, Job, results  # noqa: E402

from dpaudit import GDP, ApproxDP, PureDP, Target, audit  # noqa: E402
from dpaudit.accounting import loss_of_claim  # noqa: E402
from learners.targets import outside, phased, sums  # noqa: E402

CODE: Final = ("dpaudit/auditor", "learners")
"""Where the code stands on which the figures depend."""

EPSILONS: Final = ("0.1", "1", "3")
DELTA: Final = Fraction(1, 10**5)
RUNS: Final = {"0.1": 20_000_000, "1": 1_000_000, "3": 1_000_000}
"""Runs from inside: what Gaussian noise of so little epsilon tells takes more of them."""

INSIDE: Final = tuple(sums.PAIRS)
KNOWN: Final = ("phased_first_mean", "phased_fixed_order")
OUTSIDE: Final = tuple(outside.models(1))
POINT: Final = Fraction(4, 5)
"""Where a Gaussian curve is tested from inside: at this part of its delta at epsilon 0, at which few runs tell most."""

LEAST: Final = 0.8
LEAST_KNOWN: Final = 0.9


def target_of(name: str, epsilon: str) -> Target:
    """The target of that name whose learner promises epsilon."""
    if name in KNOWN:
        made: Sequence[Target] = phased.known_order_targets(epsilon)
    else:
        made = sums.inside_targets(epsilon) if name in INSIDE else outside.outside_targets(epsilon)
    return next(target for target in made if target.name == name)


def at_one_point(target: Target) -> Target:
    """The target with a claim at one point of its curve, chosen beforehand: an audit that has to find one loses by noise."""
    loss = loss_of_claim(target.claim)
    delta = Fraction(round(POINT * Fraction(loss.delta(epsilon=0).upper) * 10**6), 10**6)
    return replace(target, claim=replace(target.claim, guarantee=ApproxDP(Fraction(loss.epsilon(delta=delta).upper), delta)))


def audited(job: Job) -> Found:
    """One audit: what is claimed, what is certified, and the time of the process that it took."""
    target, began = target_of(job["target"], job["epsilon"]), time.process_time()
    asked = at_one_point(target) if job["target"] in (*INSIDE, *KNOWN) else target
    (result,) = audit(asked, alpha="0.05", runs=job["runs"], seed=job["seed"]).results
    bound = None if result.attack is None else result.attack.bound
    below, tested = (-math.inf, 0.0) if bound is None else (float(bound.epsilon or -math.inf), float(bound.delta))
    claimed, certified = _epsilons(target, below, tested)
    return {
        "verdict": result.verdict.value,
        "price": None if result.price is None else result.price.status,
        "violated": [check.name for check in result.properties if check.status == "violated"],
        "runs": 0 if result.attack is None else result.attack.runs,
        "claimed": claimed,
        "certified": certified,
        "tested_delta": tested,
        "seconds": round(time.process_time() - began, 2),
    }


def _epsilons(target: Target, below: float, tested: float) -> tuple[float, float]:
    """The claimed epsilon and the certified one, at `DELTA` for Gaussian claims, else at the delta that was tested."""
    guarantee, loss = target.claim.guarantee, loss_of_claim(target.claim)
    if isinstance(guarantee, GDP):
        mu = _least_mu(below, tested)
        return float(loss.epsilon(delta=DELTA).upper), 0.0 if mu == 0 else _gaussian_epsilon(mu, float(DELTA))
    at = Fraction(0) if isinstance(guarantee, PureDP) else Fraction(tested)
    return float(loss.epsilon(delta=at).upper), max(0.0, below)


def _least_mu(epsilon: float, delta: float) -> float:
    """The mu whose curve passes through a point: releases of less noise than that one's are ruled out with the bound."""
    low, high = 0.0, 64.0
    if delta <= -math.expm1(epsilon):
        return low
    while high - low > high * 1e-9:
        middle = (low + high) / 2
        low, high = (middle, high) if _gaussian_delta(middle, epsilon) < delta else (low, middle)
    return low


def _gaussian_delta(mu: float, epsilon: float) -> float:
    """Delta of Gaussian differential privacy at an epsilon (Balle and Wang 2018)."""
    cdf = NormalDist().cdf
    return cdf(mu / 2 - epsilon / mu) - math.exp(epsilon) * cdf(-mu / 2 - epsilon / mu)


def _gaussian_epsilon(mu: float, delta: float) -> float:
    """Epsilon of Gaussian differential privacy at a delta."""
    low, high = 0.0, 64.0
    while high - low > 1e-9:
        middle = (low + high) / 2
        low, high = (low, middle) if _gaussian_delta(mu, middle) < delta else (middle, high)
    return low


@dataclass(frozen=True)
class Row:
    """All seeds of one target at one epsilon."""

    target: str
    epsilon: str
    found: tuple[Found, ...]

    @property
    def shares(self) -> list[float]:
        """Certified over claimed epsilon, seed by seed."""
        return [one["certified"] / one["claimed"] if one["claimed"] > 0 else 0.0 for one in self.found]

    @property
    def place(self) -> str:
        """Where the audit looks from."""
        return "outside" if self.target in OUTSIDE or self.target == "phased_fixed_order" else "inside"

    def cells(self) -> list[str]:
        """The columns of the table."""
        first = self.found[0]
        share = sorted(self.shares)[len(self.shares) // 2]
        seconds = max(one["seconds"] for one in self.found)
        return [
            f"`{self.target}`",
            self.place,
            self.epsilon,
            f"{first['claimed']:.4g}",
            f"{min(one['certified'] for one in self.found):.4g}",
            f"{share:.3f}",
            f"{first['runs']:,}",
            f"{seconds:.1f}",
            ", ".join(sorted({one["verdict"] for one in self.found})),
        ]

    def record(self) -> dict[str, Any]:
        """The row as plain data."""
        return {"target": self.target, "epsilon": self.epsilon, "shares": self.shares, "found": list(self.found)}


def bars(rows: Sequence[Row]) -> list[Bar]:
    """The limits, over the rows that there are."""
    inside = [share for row in rows if row.target in INSIDE for share in row.shares]
    known = [share for row in rows if row.target == "phased_first_mean" for share in row.shares]
    every = [share for row in rows for share in row.shares]
    refuted = sum(one["verdict"] == "refuted" or bool(one["violated"]) for row in rows for one in row.found)
    made = [
        Bar("least share from inside, learners of Gaussian releases", min(inside), LEAST) if inside else None,
        Bar("least share from inside, phased descent in a known order", min(known), LEAST_KNOWN) if known else None,
        Bar("largest share of all", max(every), 1, most=True) if every else None,
        Bar("claims refuted or properties violated", refuted, 0, most=True),
    ]
    return [bar for bar in made if bar is not None]


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, print and, if asked, save."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    names = (*INSIDE, *KNOWN, *OUTSIDE)
    parser.add_argument("--targets", nargs="*", choices=names, default=names)
    parser.add_argument("--epsilons", nargs="*", choices=EPSILONS, default=EPSILONS)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--runs", type=int, help="runs that an audit from inside may make; by epsilon unless given")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--state", type=Path, help="file to which every result is added, and from which a later start goes on")
    parser.add_argument("--output", type=Path)
    options = parser.parse_args(arguments)

    code = code_of(CODE)
    asked: list[Job] = [
        {"target": name, "epsilon": epsilon, "runs": options.runs or RUNS[epsilon], "seed": seed, "code": code}
        for epsilon in reversed(options.epsilons)
        for name in options.targets
        for seed in range(options.seeds)
    ]
    done = results(asked, audited, state=options.state, workers=options.workers, title="audits of learners")
    rows = [
        Row(name, epsilon, tuple(one for one in found if one is not None))
        for name in options.targets
        for epsilon in options.epsilons
        if all(found := [one for job, one in zip(asked, done, strict=True) if (job["target"], job["epsilon"]) == (name, epsilon)])
    ]
    head = ["target", "seen from", "epsilon", "claimed", "certified", "share", "runs", "seconds", "verdict"]
    text = (
        incomplete(sum(one is not None for one in done), len(asked))
        + f"Audits at alpha .05, {options.seeds} seeds each: the certified epsilon is a lower bound with 95 % confidence. "
        "Claims of Gaussian noise are curves, tested at one point, where delta is 4/5 of that at epsilon 0; both epsilons are "
        "those of the curves at delta 1e-5, the certified one of the curve through the point that is found. Other claims are "
        "compared at the delta that was tested. `share` is the median over the seeds, `certified` their least, "
        "`seconds` the processor time of the slowest.\n\n"
        + bars_table(bars(rows))
        + "\n"
        + table(head, (row.cells() for row in rows))
    )
    recorded = {
        "seeds": options.seeds,
        "versions": versions(["dpaudit", "numpy", "scipy", "scikit-learn"]),
        "bars": [bar.record() for bar in bars(rows)],
        "rows": [row.record() for row in rows],
    }
    write(options.output, "learner_audits", "Audits of learners", text, recorded)


if __name__ == "__main__":
    main()
