"""Random compositions of random laws against references that share nothing with the accountant: enumeration, roots, inversion.

    python benchmarks/compositions.py --count 400                                    cases 0 to 399
    python benchmarks/compositions.py --count 10000 --rows FILE --seconds 300        as many as that takes, later on from there
    python benchmarks/compositions.py --count 0 --rows FILE --output benchmarks/results

A case is a function of its number alone. Finite laws are enumerated by counts of outcomes with 40 digits, single releases of mixed
normal laws are integrated by the root of their ratio, composed ones by inverting their moments along a line in long doubles (twice,
with different steps; a case on which the two disagree has no reference and is counted as such), matrices by all patterns of
participation in fractions. A case is wrong if the reference lies outside the interval by more than a relative 1e-9, vacuous if the
lower end is 0 or the upper end 1 although the reference is neither, and wide if the interval is wider than 1e-3 of the reference.

Needs: mpmath. Size: --count compositions, a fifth of a second each.
"""

from __future__ import annotations

import argparse
import itertools
import json
import math
import random
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any, Final, NamedTuple

import mpmath as mp
import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "benchmarks")]

from measuring import code_of, table, versions, write  # noqa: E402

from dpaudit.accounting import (  # noqa: E402
    FixedOrder,
    MinSeparation,
    Poisson,
    PrivacyLoss,
    RandomAllocation,
    Single,
    approx_dp,
    compose,
    explicit_pair,
    gaussian,
    gaussian_mixture,
    matrix_mechanism,
    pure_dp,
    randomized_response,
)

mp.mp.dps = 40
TOLERANCE: Final = mp.mpf(10) ** -9
WIDTH: Final = 1e-3
Real = np.longdouble
Masses = list[tuple[Any, Any]]
"""P and Q masses of the outcomes of a finite law."""


class Case(NamedTuple):
    """A loss, the direction and the epsilon of the question, and how its answer is found otherwise (None where it is not)."""

    loss: PrivacyLoss
    direction: str | None
    epsilon: Fraction
    reference: Callable[[], mp.mpf | None]


def choose_fraction(rng: random.Random, low: float, high: float) -> Fraction:
    """A short fraction, logarithmically between two numbers."""
    return Fraction(math.exp(rng.uniform(math.log(low), math.log(high)))).limit_denominator(1000) or Fraction(1, 1000)


def listed_delta(laws: Sequence[tuple[Masses, int]], epsilon: Fraction) -> mp.mpf:
    """Delta by all vectors of counts of outcomes."""
    grown, tables = mp.exp(mp.mpf(epsilon.numerator) / epsilon.denominator), []
    for masses, count in laws:
        if count == 1:
            tables.append(masses)
            continue
        vectors = [v for v in itertools.product(range(count + 1), repeat=len(masses) - 1) if sum(v) <= count]
        rows = []
        for vector in vectors:
            whole = (*vector, count - sum(vector))
            ways = math.factorial(count) // math.prod(math.factorial(one) for one in whole)
            rows.append(tuple(ways * mp.fprod(mass[side] ** n for mass, n in zip(masses, whole, strict=True)) for side in (0, 1)))
        tables.append(rows)
    gains = (mp.fprod(row[0] for row in rows) - grown * mp.fprod(row[1] for row in rows) for rows in itertools.product(*tables))
    return mp.fsum(gain for gain in gains if gain > 0)


def sampled_masses(masses: Masses, rate: Fraction) -> Masses:
    """The masses of a Poisson sample when a record is removed."""
    share = mp.mpf(rate.numerator) / rate.denominator
    return [(share * p + (1 - share) * q, q) for p, q in masses]


def listed(rng: random.Random) -> Case:
    """One or two explicit pairs, perhaps sampled, composed."""
    losses, forward = [], []
    for _ in range(rng.choice((1, 1, 2))):
        size, count = rng.choice((2, 3, 4)), rng.choice((1, 2, 3, 5, 8))
        weights = [[rng.randint(1, 60) for _ in range(size)] for _ in range(2)]
        pairs = [[Fraction(one, sum(row)) for one in row] for row in weights]
        loss: PrivacyLoss = explicit_pair(*pairs)
        masses: Masses = [tuple(mp.mpf(one.numerator) / one.denominator for one in both) for both in zip(*pairs, strict=True)]  # type: ignore[misc]
        if rng.random() < 0.5:
            rate = choose_fraction(rng, 0.01, 1)
            loss, masses = loss.sampled(Poisson(rate)), sampled_masses(masses, rate)
        losses.append(count * loss)
        forward.append((masses, count))
    epsilon = choose_fraction(rng, 0.01, 2)
    return Case(compose(*losses), "remove", epsilon, lambda: listed_delta(forward, epsilon))


def promised(rng: random.Random) -> Case:
    """Pure and approximate promises and randomized responses, many of them."""
    kind, count = rng.choice(("pure", "approx", "response", "sampled")), rng.randint(1, 60)
    budget, epsilon = choose_fraction(rng, 0.01, 2), choose_fraction(rng, 0.01, 3)
    high = mp.exp(mp.mpf(budget.numerator) / budget.denominator)
    if kind == "response":
        size, count = rng.randint(2, 9), min(count, 20)
        true, other = high / (high + size - 1), 1 / (high + size - 1)
        masses: Masses = [(true, other), (other, true), *([((size - 2) * other,) * 2] if size > 2 else [])]
        return Case(
            count * randomized_response(budget, categories=size), None, epsilon, lambda: listed_delta([(masses, count)], epsilon)
        )
    masses = [(high / (1 + high), 1 / (1 + high)), (1 / (1 + high), high / (1 + high))]
    if kind == "sampled":
        rate = choose_fraction(rng, 0.001, 1)
        masses = sampled_masses(masses, rate)
        loss = count * pure_dp(budget).sampled(Poisson(rate))
        return Case(loss, "remove", epsilon, lambda: listed_delta([(masses, count)], epsilon))
    lost = Fraction(1, rng.choice((10**3, 10**6, 10**12))) if kind == "approx" else Fraction(0)
    safe = mp.mpf(1 - lost) if not lost else (1 - mp.mpf(lost.numerator) / lost.denominator) ** count
    loss = count * (approx_dp(budget, delta=lost) if lost else pure_dp(budget))
    return Case(loss, None, epsilon, lambda: 1 - safe + safe * listed_delta([(masses, count)], epsilon))


class Mixture(NamedTuple):
    """P = sum of weights N(place, 1), Q = sum of other weights N(-place, 1); all places at least 0."""

    places: list[Any]
    weights: list[Any]
    others: list[Any]
    other_weights: list[Any]


def exact(value: Fraction) -> mp.mpf:
    """A fraction in 40 digits."""
    return mp.mpf(value.numerator) / value.denominator


def binomial(size: int, rate: Fraction) -> list[Fraction]:
    """Probabilities of all numbers of successes."""
    return [math.comb(size, one) * rate**one * (1 - rate) ** (size - one) for one in range(size + 1)]


def mixed(rng: random.Random, *, tame: bool) -> tuple[PrivacyLoss, Mixture]:
    """A Gaussian that is sampled, of a group, replaced, or mixed; and its pair in noise units."""
    sigma, rate = choose_fraction(rng, 0.4 if tame else 0.1, 8 if tame else 100), choose_fraction(rng, 0.005 if tame else 1e-3, 1)
    kind = rng.choice(("sampled", "group", "replaced", "mixture"))
    if kind == "mixture":
        sizes = sorted({choose_fraction(rng, 0.1, 3) for _ in range(rng.randint(1, 3))})
        drawn = [rng.randint(1, 30) for _ in range(len(sizes) + 1)]
        weights = [Fraction(one, sum(drawn)) for one in drawn]
        loss = gaussian_mixture(sigma=sigma, sensitivities=(0, *sizes), weights=weights)
        return loss, Mixture(
            [exact(size / sigma) for size in (Fraction(0), *sizes)], list(map(exact, weights)), [mp.mpf(0)], [mp.mpf(1)]
        )
    removed, added = {"sampled": (1, 0), "replaced": (1, 1)}.get(kind) or rng.choice(((2, 0), (3, 0), (2, 1), (5, 0)))
    base = gaussian(sigma=sigma).sampled(Poisson(rate))
    loss = (
        base if kind == "sampled" else base.under("replace_one") if kind == "replaced" else base.group(removed=removed, added=added)
    )
    sides = [[exact(one / sigma) for one in map(Fraction, range(size + 1))] for size in (removed, added)]
    return loss, Mixture(sides[0], list(map(exact, binomial(removed, rate))), sides[1], list(map(exact, binomial(added, rate))))


def density(places: Sequence[Any], weights: Sequence[Any], x: mp.mpf) -> mp.mpf:
    """A mixture of normal densities relative to that at 0."""
    return mp.fsum(weight * mp.exp(x * place - place**2 / 2) for place, weight in zip(places, weights, strict=True))


def mixed_delta(pair: Mixture, epsilon: Fraction, *, forward: bool) -> mp.mpf:
    """Delta of one release: the ratio P/Q grows with x, so the best event is a half-line from the root of its logarithm on."""
    others, level = [-place for place in pair.others], exact(epsilon) if forward else -exact(epsilon)

    def ratio(x: mp.mpf) -> mp.mpf:
        return mp.log(density(pair.places, pair.weights, x)) - mp.log(density(others, pair.other_weights, x))

    low, high = mp.mpf(-1), mp.mpf(1)
    while ratio(low) > level and low > -(10**7):
        low *= 2
    while ratio(high) < level and high < 10**7:
        high *= 2
    if ratio(low) > level or ratio(high) < level:
        return mp.mpf(0)
    for _ in range(130):
        middle = (low + high) / 2
        low, high = (middle, high) if ratio(middle) < level else (low, middle)
    side = 1 if forward else -1
    p = mp.fsum(w * mp.ncdf(side * (place - low)) for place, w in zip(pair.places, pair.weights, strict=True))
    q = mp.fsum(w * mp.ncdf(side * (place - low)) for place, w in zip(others, pair.other_weights, strict=True))
    return p - mp.exp(exact(epsilon)) * q if forward else q - mp.exp(exact(epsilon)) * p


def single(rng: random.Random) -> Case:
    """One release of a mixed normal law."""
    loss, pair = mixed(rng, tame=False)
    epsilon, forward = choose_fraction(rng, 1e-3, 6), rng.random() < 0.5
    return Case(loss, loss.directions[0 if forward else 1], epsilon, lambda: mixed_delta(pair, epsilon, forward=forward))


class Line(NamedTuple):
    """Log densities of P and Q on a grid of outputs, and its step."""

    p: Any
    q: Any
    step: Any


def line_of(pair: Mixture, size: int, *, forward: bool) -> Line:
    """A pair on a grid, reversed for the other direction."""

    def logs(places: Sequence[Any], weights: Sequence[Any]) -> Any:
        rows = [math.log(w) - (x - Real(float(p))) ** 2 / 2 for p, w in zip(places, weights, strict=True) if w]
        top = np.max(rows, axis=0)
        return top + np.log(sum(np.exp(row - top) for row in rows)) - Real(0.5) * np.log(2 * Real(np.pi))

    x = np.linspace(Real(-float(max(pair.others)) - 13), Real(float(max(pair.places)) + 13), size)
    p, q = logs(pair.places, pair.weights), logs([-place for place in pair.others], pair.other_weights)
    return Line(p, q, x[1] - x[0]) if forward else Line(q, p, x[1] - x[0])


def cumulants(lines: Sequence[tuple[Line, int]], orders: Any) -> Any:
    """Logarithm of E_P e^(order loss), composed, at complex orders."""
    whole: Any = np.zeros(len(orders), dtype=np.clongdouble)
    for line, count in lines:
        loss = line.p - line.q
        front = line.p + orders[0].real * loss
        top = front.max()
        turned = np.exp(1j * np.outer(orders.imag, loss)) @ np.exp(front - top)
        whole = whole + count * (top + np.log(turned * line.step))
    return whole


def inverted(lines: Sequence[tuple[Line, int]], epsilon: float, nodes: int) -> float | None:
    """Delta as an integral of moments along the line of steepest descent, None where it fades too slowly."""

    def exponent(log_order: float) -> float:
        order = math.exp(log_order)
        found = float(cumulants(lines, np.array([order], dtype=np.clongdouble))[0].real)
        return found - epsilon * order - math.log(order * (1 + order))

    low, high = math.log(1e-3), math.log(3e3)
    for _ in range(40):
        first, second = high - 0.618 * (high - low), low + 0.618 * (high - low)
        low, high = (low, second) if exponent(first) < exponent(second) else (first, high)
    place = (low + high) / 2
    order, top = math.exp(place), exponent(place)

    def values(heights: Any) -> Any:
        s = order + 1j * np.asarray(heights, dtype=Real)
        return np.exp(cumulants(lines, s) - s * Real(epsilon) - np.log(s) - np.log(1 + s) - Real(top))

    reach = 0.3 * order
    while abs(values([reach])[0]) > 1e-15:
        reach *= 1.25
        if reach > 3e4:
            return None
    heights = np.linspace(Real(0), Real(reach), nodes)
    found = values(heights).real
    total = (found.sum() - found[0] / 2) * (heights[1] - heights[0]) / Real(np.pi)
    return float(total) * math.exp(top) if top > -700 else None


def composed(rng: random.Random) -> Case:
    """One or two mixed normal laws, up to a few thousand times, at an epsilon within a few deviations of the loss."""
    chosen = [
        (mixed(rng, tame=True), round(math.exp(rng.uniform(math.log(2), math.log(2000))))) for _ in range(rng.choice((1, 1, 1, 2)))
    ]
    kinds = {str(loss.adjacency) for (loss, _), _ in chosen}
    chosen = chosen if len(kinds) == 1 else chosen[:1]
    forward = rng.random() < 0.5
    loss = compose(*(count * one for (one, _), count in chosen))
    lines = [(line_of(pair, 900, forward=forward), count) for (_, pair), count in chosen]
    moments = [(float((np.exp(line.p) * (line.p - line.q) ** k).sum() * line.step), count) for line, count in lines for k in (1, 2)]
    mean = sum(first * count for first, count in moments[::2])
    spread = math.sqrt(
        max(sum((second - first**2) * count for (first, count), (second, _) in zip(moments[::2], moments[1::2], strict=True)), 1e-9)
    )
    epsilon = Fraction(max(mean + spread * rng.uniform(-1, 5), 0.001)).limit_denominator(1000) or Fraction(1, 1000)

    def reference() -> mp.mpf | None:
        finer = [(line_of(pair, 1300, forward=forward), count) for (_, pair), count in chosen]
        found = inverted(lines, float(epsilon), 300), inverted(finer, float(epsilon), 470)
        if None in found or found[1] < 1e-250 or abs(found[0] - found[1]) > 1e-11 * found[1]:
            return None
        # The epsilon of the line is a double; what that moves is below the tolerance.
        return mp.mpf(found[1])

    return Case(loss, loss.directions[0 if forward else 1], epsilon, reference)


def matrix(rng: random.Random) -> Case:
    """A matrix mechanism whose worst pattern is found by trying all of them; entries are not negative, so signs do not matter."""
    steps, noise, epsilon = rng.randint(2, 8), choose_fraction(rng, 0.3, 10), choose_fraction(rng, 0.01, 6)
    rows = [
        [
            Fraction(rng.randint(0, 8), 8) if c < r else Fraction(rng.randint(1, 8), 8) if c == r else Fraction(0)
            for c in range(steps)
        ]
        for r in range(steps)
    ]
    kind = rng.choice(("single", "epochs", "apart"))
    epochs = rng.choice([one for one in range(1, steps + 1) if steps % one == 0])
    separation, most = rng.randint(1, steps), rng.randint(1, 4)
    participation = {"single": Single(), "epochs": FixedOrder(epochs, steps // epochs), "apart": MinSeparation(separation, most)}[
        kind
    ]
    sets = {
        "single": [[one] for one in range(steps)],
        "epochs": [list(range(one, steps, steps // epochs)) for one in range(steps // epochs)],
        "apart": [
            list(one) for size in range(1, most + 1) for one in itertools.combinations(range(steps), size)
            if all(b - a >= separation for a, b in itertools.pairwise(one))
        ],
    }[kind]  # fmt: skip
    squares = [sum((sum((row[c] for c in one), Fraction(0)) ** 2 for row in rows), Fraction(0)) for one in sets]
    longest = max(sum((row[c] ** 2 for row in rows), Fraction(0)) for c in range(steps))
    mu = mp.sqrt(exact(max(squares) / longest)) / exact(noise)
    loss = matrix_mechanism(rows, noise_multiplier=noise, participation=participation)
    return Case(loss, None, epsilon, lambda: normal_delta(mu, exact(epsilon)))


def normal_delta(mu: mp.mpf, epsilon: mp.mpf) -> mp.mpf:
    """The Gaussian profile."""
    return mp.ncdf(mu / 2 - epsilon / mu) - mp.exp(epsilon) * mp.ncdf(-mu / 2 - epsilon / mu)


def together(rng: random.Random) -> Case:
    """Several Gaussians on one sample."""
    sigmas, rate = [choose_fraction(rng, 0.3, 20) for _ in range(rng.randint(1, 4))], choose_fraction(rng, 1e-3, 1)
    mu, epsilon = mp.sqrt(mp.fsum(1 / exact(sigma) ** 2 for sigma in sigmas)), choose_fraction(rng, 0.01, 4)
    pair = Mixture([mp.mpf(0), mu], [1 - exact(rate), exact(rate)], [mp.mpf(0)], [mp.mpf(1)])
    forward = rng.random() < 0.5
    loss = compose(*(gaussian(sigma=sigma) for sigma in sigmas)).sampled(Poisson(rate), together=True)
    return Case(loss, loss.directions[0 if forward else 1], epsilon, lambda: mixed_delta(pair, epsilon, forward=forward))


def allocated(rng: random.Random) -> Case:
    """A finite law in one of a few steps, by all outcomes of all steps."""
    size, steps = rng.choice((2, 3)), rng.randint(2, 4)
    weights = [[rng.randint(1, 20) for _ in range(size)] for _ in range(2)]
    p, q = ([Fraction(one, sum(row)) for one in row] for row in weights)
    epsilon = choose_fraction(rng, 0.01, 1)
    joint = []
    for outcome in itertools.product(range(size), repeat=steps):
        null = math.prod((q[one] for one in outcome), start=Fraction(1))
        joint.append((exact(null * sum(p[one] / q[one] for one in outcome) / steps), exact(null)))
    loss = explicit_pair(p, q).sampled(RandomAllocation(steps))
    return Case(loss, "remove", epsilon, lambda: listed_delta([(joint, 1)], epsilon))


FAMILIES: Final = (listed, listed, promised, promised, single, single, composed, matrix, together, allocated)


def judge(number: int) -> dict[str, Any]:
    """Ask one case and compare."""
    rng = random.Random(f"composition {number}")  # noqa: S311 - draws cases, hides nothing
    family = rng.choice(FAMILIES)
    case = family(rng)
    begin = time.process_time()
    found = case.loss.delta(epsilon=case.epsilon, direction=case.direction)
    used = time.process_time() - begin
    truth = case.reference()
    row = {"case": number, "family": family.__name__, "seconds": used, "verdict": "no reference"}
    if truth is None:
        return row
    low, high = (exact(Fraction(end)) for end in (found.lower, found.upper))
    truth = max(truth, mp.mpf(0))
    row["width"] = float((high - low) / truth) if truth > mp.mpf(10) ** -300 else 0.0
    if low > truth * (1 + TOLERANCE) + mp.mpf(10) ** -30 or high < truth * (1 - TOLERANCE) - mp.mpf(10) ** -30:
        return {**row, "verdict": "WRONG", "loss": case.loss.describe(), "at": str(case.epsilon), "truth": mp.nstr(truth, 17)}
    if truth > mp.mpf(10) ** -30 and (low == 0 or (high == 1 and truth < 1 - WIDTH)):
        return {**row, "verdict": "vacuous", "loss": case.loss.describe(), "at": str(case.epsilon), "truth": mp.nstr(truth, 17)}
    return {**row, "verdict": "wide" if row["width"] > WIDTH and truth > mp.mpf(10) ** -30 else "narrow"}


def summarise(rows: Sequence[dict[str, Any]]) -> str:
    """A row for each family."""
    body = []
    for family in sorted({row["family"] for row in rows}):
        mine = [row for row in rows if row["family"] == family]
        verdicts = [sum(row["verdict"] == one for row in mine) for one in ("WRONG", "vacuous", "wide", "narrow", "no reference")]
        times = sorted(row["seconds"] for row in mine)
        body.append([family, str(len(mine)), *map(str, verdicts), f"{times[len(times) // 2]:.3f}", f"{times[-1]:.2f}"])
    return table(["family", "cases", "wrong", "vacuous", "wide", "narrow", "no reference", "median s", "longest s"], body)


def main() -> int:
    """Judge some cases, add them to those that are there, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=math.inf, help="begin no further case after so many")
    parser.add_argument("--rows", type=Path, help="file to which every case is added, and whose cases are not done again")
    parser.add_argument("--output", type=Path, help="folder for compositions.md and compositions.json")
    options = parser.parse_args()
    end, rows = time.monotonic() + options.seconds, []
    if options.rows is not None and options.rows.exists():
        rows = [json.loads(line) for line in options.rows.read_text(encoding="utf-8").splitlines()]
    known, code = {row["case"] for row in rows}, code_of(["dpaudit/accounting"])
    for number in range(options.first, options.first + options.count):
        if time.monotonic() > end:
            break
        if number in known:
            continue
        rows.append({**judge(number), "code": code})
        if options.rows is not None:
            with options.rows.open("a", encoding="utf-8") as file:
                file.write(json.dumps(rows[-1]) + "\n")
    numbers = sorted(row["case"] for row in rows)
    record = {
        "versions": versions(("mpmath", "numpy", "python-flint")), "code": code, "codes": Counter(row["code"] for row in rows),
        "first": numbers[0], "last": numbers[-1], "count": len(numbers),
        "telling": [row for row in rows if row["verdict"] not in {"narrow", "no reference"}],
    }  # fmt: skip
    now = record["codes"][code]
    scope = f"Cases {numbers[0]} to {numbers[-1]}, {len(numbers)} in all, {now} of them with the code as it stands."
    text = f"{scope}\n\n{summarise(rows)}"
    write(options.output, "compositions", "Random compositions against independent references", text, record)
    return 1 if any(row["verdict"] == "WRONG" for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
