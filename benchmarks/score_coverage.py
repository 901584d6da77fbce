"""How often bounds from canary scores exceed the truth, over simulated trainings whose truth is known.

`python benchmarks/score_coverage.py --trainings 2000 --state FILE` simulates and writes the table; the same command goes on where
it was cut off. A training is a coin for each canary and the scores of a mechanism whose epsilon, mu and noise multiplier are known
from its law; each bound is computed as a user would, to its end, and fails where it is above the truth.

Needs: nothing. Size: 39 laws, 2,000 trainings of each.
"""

from __future__ import annotations

import argparse
import json
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any, Final

import numpy as np
from scipy.special import bdtrc, ndtr, ndtri

from dpaudit import GDP, ApproxDP, Claim
from dpaudit.accounting import gdp, laplace, randomized_response
from dpaudit.auditor.membership import DPSGD, audit_scores, canary_epsilon_bound, operating_point
from dpaudit.auditor.membership.nested_guesses import join_blocks, nested_p_value, next_tested
from dpaudit.auditor.membership.scores import ScoreAudit
from dpaudit.auditor.training import audit_steps

ALPHA: Final = "0.05"
DELTA: Final = Fraction(1, 10**5)
RESULTS: Final = Path(__file__).parent / "results"
TOLERANCE: Final = 1e-3
"""Probability that any cell of the whole table is marked though every bound keeps its level."""

Array = np.ndarray[Any, np.dtype[np.float64]]
Rng = np.random.Generator


@dataclass(frozen=True)
class Law:
    """A mechanism that shows each canary through noise of its own, and what is true of it; None where a bound says nothing of it.

    Args:
      name: what is simulated.
      canaries: how many.
      draw: scores from generator and coins, shape (canaries,) or (steps, canaries).
      epsilon: at `DELTA`, rounded up.
      mu: least mu for which it is mu-GDP, rounded up.
      family: the DP-SGD family it is in, with the true noise multiplier; 0 steps of information where scores show nothing.
      noise: true noise multiplier in that family; infinite where scores show nothing.
      law: by which steps are weighted.
    """

    name: str
    canaries: int
    draw: Callable[[Rng, Array], Array]
    epsilon: float
    mu: float | None = None
    family: DPSGD | None = None
    noise: float = np.inf
    law: DPSGD | None = None


def gaussian_law(name: str, canaries: int, mu: float, shape: Callable[[Array], Array] = np.asarray) -> Law:
    """Noise of deviation 1 / mu on one canary, seen through any function of the noisy number, which is known to no bound."""
    return Law(
        name,
        canaries,
        lambda rng, coins: shape(mu * coins + rng.normal(size=len(coins))),
        gdp(mu=Fraction(mu)).epsilon(delta=DELTA).floats()[1] if mu else 0.0,
        mu,
        DPSGD(rate=1, steps=1),
        1 / mu if mu else np.inf,
    )


def sampled_law(name: str, canaries: int, noise: float, *, steps: int, told: float | None = None) -> Law:
    """DP-SGD at rate 1/10; its scores are sums over steps, or each step's where a noise multiplier is told."""
    family = DPSGD(rate="1/10", steps=steps)

    def draw(rng: Rng, coins: Array) -> Array:
        drawn = rng.random((steps, len(coins))) < 0.1
        scores = coins * drawn + noise * rng.normal(size=drawn.shape)
        return scores.sum(axis=0) if told is None else scores

    law = None if told is None else replace(family, noise_multiplier=Fraction(told))
    epsilon = float(family.epsilon(noise_multiplier=noise, delta=DELTA)) * (1 + 1e-9)
    return Law(name, canaries, draw, epsilon, None, family, noise, law)


def blank_law(name: str, canaries: int, draw: Callable[[Rng, Array], Array]) -> Law:
    """Scores that show nothing of the coins."""
    return Law(name, canaries, draw, 0.0, 0.0, DPSGD(rate="1/10", steps=50))


def response_law(name: str, canaries: int, epsilon: float) -> Law:
    """Randomized response: the one trade-off that (epsilon, 0)-DP allows, with two scores only."""
    wrong = 1 / (1 + np.exp(epsilon))
    price = randomized_response(epsilon=Fraction(epsilon)).epsilon(delta=DELTA).floats()[1]
    return Law(
        name, canaries, lambda rng, coins: (coins != (rng.random(len(coins)) < wrong)) * 1.0, price, -2 * float(ndtri(wrong))
    )


def laplace_law(name: str, canaries: int, epsilon: float) -> Law:
    """Laplace noise of scale 1 / epsilon."""
    scale = 1 / epsilon
    miss = np.linspace(1e-9, 1 - 1e-9, 20001)
    # Trade-off of Laplace noise: three pieces.
    kept = np.where(miss < np.exp(-epsilon) / 2, 1 - np.exp(epsilon) * miss,
                    np.where(miss <= 0.5, np.exp(-epsilon) / (4 * miss), np.exp(-epsilon) * (1 - miss)))  # fmt: skip
    mu = float((ndtri(1 - miss) - ndtri(kept)).max()) + 1e-3
    price = laplace(scale=Fraction(scale)).epsilon(delta=DELTA).floats()[1]
    return Law(name, canaries, lambda rng, coins: coins + scale * rng.laplace(size=len(coins)), price, mu)


def cauchy(values: Array) -> Array:
    """Turn normal numbers into numbers of a law without mean, in the same order."""
    return np.asarray(np.tan(np.pi * (np.clip(ndtr(values), 1e-12, 1 - 1e-12) - 0.5)))


def laws() -> Iterator[Law]:
    """Every law of the table."""
    for canaries in (16, 50, 200, 1000):
        for mu in (0.0, 0.05, 0.5, 2.0)[: 3 if canaries == 1000 else 4]:
            yield gaussian_law(f"Gaussian, mu {mu:g}, {canaries}", canaries, mu)
    yield blank_law("identical laws on three values, 60", 60, lambda rng, coins: rng.integers(3, size=len(coins)) * 1.0)
    yield response_law("randomized response, epsilon 1, 16", 16, 1.0)
    yield gaussian_law("Gaussian, mu 0.5, heavy tails, 200", 200, 0.5, cauchy)
    yield sampled_law("rate .1, 50 steps, noise 1, weighted, 200", 200, 1.0, steps=50, told=1.0)
    yield blank_law("constant scores, 16", 16, lambda _, coins: np.zeros(len(coins)))
    yield blank_law("identical exponential laws, 100", 100, lambda rng, coins: rng.exponential(size=len(coins)))
    yield response_law("randomized response, epsilon 1, 200", 200, 1.0)
    yield gaussian_law("Gaussian, mu 0.5, integers, 200", 200, 0.5, np.round)
    yield blank_law("one value with probability .9, 60", 60, lambda rng, coins: (rng.random(len(coins)) < 0.1) * 1.0)
    yield sampled_law("rate .1, 50 steps, noise 1, sums, 200", 200, 1.0, steps=50)
    yield gaussian_law("Gaussian, mu 0.5, skewed, 200", 200, 0.5, np.exp)
    yield laplace_law("Laplace, epsilon 1, 200", 200, 1.0)
    yield response_law("randomized response, epsilon 0.1, 200", 200, 0.1)
    yield sampled_law("rate .1, 10 steps, noise 0.6, wrongly weighted, 200", 200, 0.6, steps=10, told=3.0)
    yield blank_law("identical Cauchy laws, 100", 100, lambda rng, coins: rng.standard_cauchy(len(coins)))
    yield gaussian_law("Gaussian, mu 0.05, heavy tails, 200", 200, 0.05, cauchy)
    yield gaussian_law("Gaussian, mu 0.5, signs, 50", 50, 0.5, np.sign)
    yield sampled_law("rate .1, 50 steps, noise 20, sums, 200", 200, 20.0, steps=50)
    yield gaussian_law("Gaussian, mu 4, 200", 200, 4.0)
    for mu in (0.0, 0.05):
        yield gaussian_law(f"Gaussian, mu {mu:g}, 20000", 20000, mu)


class Memory:
    """Which counts of right guesses make a bound fail; every bound grows with its count, so few of them have to be computed."""

    def __init__(self) -> None:
        """Know nothing."""
        self._ends = dict[str, list[float]]()

    def fails(self, bound: str, count: int, compute: Callable[[], bool]) -> bool:
        """Whether a bound is above the truth, computed unless a smaller count failed or a larger one did not."""
        ends = self._ends.setdefault(bound, [-np.inf, np.inf])
        if ends[0] < count < ends[1]:
            ends[bool(compute())] = count
        return count >= ends[1]


def failures(law: Law, found: ScoreAudit, many: ScoreAudit, kept: Memory) -> dict[str, bool]:
    """Which bounds of one training are above the truth."""
    total, fixed = sum(found.weighted.correct), found.surest
    right = fixed.correct
    wrong = {
        "epsilon": _exceeds_nested(found, law.epsilon),
        "claim": replace(found, claim=Claim(ApproxDP(epsilon=Fraction(law.epsilon), delta=DELTA))).refuted,
        "epsilon, quarter": kept.fails(
            "quarter", right, lambda: canary_epsilon_bound(fixed, delta=DELTA, alpha=ALPHA) > law.epsilon
        ),
    }
    mu = law.mu
    if mu is not None:
        wrong["mu"] = kept.fails("mu", right, lambda: found.mu > mu)
        wrong["mu, many runs"] = kept.fails("many", total, lambda: many.mu > mu)
        if mu:
            wrong["claim of mu"] = kept.fails("curve", right, lambda: replace(found, claim=Claim(GDP(mu=Fraction(mu)))).refuted)
    family = law.family
    if family is not None:
        wrong["DP-SGD"] = kept.fails("within", total, lambda: _exceeds_noise(found, family, law.noise))
    return wrong


def _exceeds_noise(found: ScoreAudit, family: DPSGD, truth: float) -> bool:
    """Whether the upper bound on noise is at or below the true noise; any bound fails for scores that show nothing."""
    noise = found.within(family).noise_multiplier
    return noise is not None and noise <= truth


def _exceeds_nested(found: ScoreAudit, truth: float) -> bool:
    """Whether `epsilon` is above the truth: only where what it tests next above the truth is refuted, which is cheaper to ask."""
    place, least = Fraction(0), float(found.alpha)
    while place <= truth:
        place = next_tested(place)
    joined = join_blocks(found.nested, float(found.delta), least)
    if nested_p_value(joined, float(place), float(found.delta), level=least) > least:
        return False
    return found.epsilon > truth


def simulate(law: Law, trainings: int) -> dict[str, Any]:
    """Failures of every bound over trainings of a law, and the processor time."""
    rng = np.random.default_rng([27, len(law.name), law.canaries])
    begun, kept, wrong, made = time.process_time(), Memory(), Counter[str](), Counter[str]()
    pilot = law.draw(rng, np.zeros(law.canaries, dtype=bool))
    for _ in range(trainings):
        coins = rng.random(law.canaries) < 0.5
        scores = law.draw(rng, coins)
        found = audit_scores(scores, coins, delta=DELTA, alpha=ALPHA, law=law.law)
        many = replace(found, design="many_runs")
        failed = failures(law, found, many, kept)
        if scores.ndim == 1:
            point = operating_point(scores[coins], scores[~coins], threshold=float(np.quantile(pilot, 0.9)), alpha=ALPHA)
            failed["one threshold"] = float(point.epsilon(delta=DELTA) or 0) > law.epsilon
        made.update(list(failed))
        wrong.update(bound for bound, above in failed.items() if above)
    return {
        "law": law.name,
        "made": dict(made),
        "wrong": {bound: wrong[bound] for bound in made},
        "seconds": time.process_time() - begun,
    }


def simulate_steps(name: str, noise: float, rate: str, sizes: tuple[int, int], trainings: int, *, follows: bool) -> dict[str, Any]:
    """The same for bets step by step; where the scores of a step follow those before, as in a training, by their size."""
    canaries, steps = sizes
    rng, begun, wrong = np.random.default_rng([28, canaries, steps]), time.process_time(), Counter[str]()
    law = DPSGD(rate=rate, steps=steps, noise_multiplier=Fraction(noise))
    for _ in range(trainings):
        coins = rng.random((steps, canaries)) < 0.5
        scores = np.empty(coins.shape)
        push = 0.0
        for step in range(steps):
            scores[step] = coins[step] * (rng.random(canaries) < float(Fraction(rate))) + noise * rng.normal(size=canaries) + push
            push = 0.5 * scores[step].max() if follows else 0.0
        found = audit_steps(scores, coins, law=law, delta=DELTA, alpha=ALPHA)
        wrong["noise and epsilon"] += found.noise_multiplier is not None and found.noise_multiplier <= noise
        wrong["some step refuted"] += found.refuted
        wrong["steps refuted"] += bool(found.refuted_steps)
        wrong["wealth reaches 20"] += max(found.wealth) >= 1 / float(ALPHA)
    made = dict.fromkeys(wrong, trainings)
    return {"law": name, "made": made, "wrong": dict(wrong), "seconds": time.process_time() - begun}


STEPS: Final = {
    "steps: noise 1, rate 1, 5 steps of 16": (1.0, "1", 16, 5, False),
    "steps: noise 1, rate .1, 10 steps of 100, each moved by the last": (1.0, "1/10", 100, 10, True),
    "steps: noise 20, rate 1, 5 steps of 50": (20.0, "1", 50, 5, False),
}


def jobs(trainings: int) -> dict[str, Callable[[], dict[str, Any]]]:
    """Every row of the table by its name."""
    found: dict[str, Callable[[], dict[str, Any]]] = {law.name: partial(simulate, law, trainings) for law in laws()}
    for name, (noise, rate, canaries, steps, follows) in STEPS.items():
        found[name] = partial(simulate_steps, name, noise, rate, (canaries, steps), trainings, follows=follows)
    return found


def exceeds(wrong: int, made: int, cells: int) -> bool:
    """True if so many failures have probability at most `TOLERANCE` over all cells, were each as likely as its level."""
    return bool(wrong and bdtrc(wrong - 1, made, float(ALPHA)) <= TOLERANCE / cells)


def write(rows: list[dict[str, Any]], trainings: int) -> None:
    """Write the table and what it is made of."""
    cells = sum(len(row["made"]) for row in rows)
    limit = next(count for count in range(trainings + 1) if exceeds(count, trainings, cells))
    marked = [
        f"{row['law']}: {bound}" for row in rows for bound, made in row["made"].items() if exceeds(row["wrong"][bound], made, cells)
    ]
    named = ", ".join(marked) or "none"
    RESULTS.joinpath("score_coverage.json").write_text(json.dumps(rows, indent=1) + "\n")
    steps = [row for row in rows if row["law"].startswith("steps")]
    lines = [
        "# Error rates of bounds from canary scores",
        "",
        f"`python benchmarks/score_coverage.py --trainings {trainings} --state FILE`: share of {trainings:,} simulated trainings",
        f"in which a bound at alpha {ALPHA} and delta 1e-5 is above the truth. {cells} cells; a cell is marked from",
        f"{limit / trainings:.2%} on, which any would reach with probability at most {TOLERANCE:g} if each failed as often as it",
        f"may. Marked: {named}. {len(rows)} of {len(jobs(trainings))} laws were simulated.",
    ]
    for some, head in (([row for row in rows if row not in steps], "scores, canaries"), (steps, "bets in steps")):
        bounds = list(dict.fromkeys(bound for row in some for bound in row["made"]))
        lines += ["", f"| {head} | {' | '.join(bounds)} |", "|---|" + "---|" * len(bounds)]
        for row in some:
            shares = (f"{row['wrong'][bound] / row['made'][bound]:.2%}" if bound in row["made"] else "" for bound in bounds)
            lines.append(f"| {row['law'].removeprefix('steps: ')} | {' | '.join(shares)} |")
    RESULTS.joinpath("score_coverage.md").write_text("\n".join([*lines, ""]))


def main() -> None:
    """Simulate what the state lacks, and write the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--trainings", type=int, default=2000)
    parser.add_argument("--state", type=Path, required=True)
    parser.add_argument("--table", action="store_true", help="simulate nothing, write what the state has")
    asked = parser.parse_args()
    rows = [json.loads(line) for line in asked.state.read_text().splitlines()] if asked.state.exists() else []
    todo = jobs(asked.trainings)
    for name in [] if asked.table else [one for one in todo if one not in {row["law"] for row in rows}]:
        rows.append(todo[name]())
        with asked.state.open("a") as file:
            file.write(json.dumps(rows[-1]) + "\n")
        print(name, rows[-1]["wrong"], f"{rows[-1]['seconds']:.0f} s", flush=True)
    rows = [row for row in rows if row["law"] in todo]
    write(sorted(rows, key=lambda row: list(todo).index(row["law"])), asked.trainings)


if __name__ == "__main__":
    main()
