"""How fast private choices are: the selection mechanisms beside OpenDP's and diffprivlib's, in one run.

    PYTHONPATH=. python benchmarks/selection.py [--candidates 1000000] [--output benchmarks/results]

Peers are optional; without them their rows are missing. OpenDP is given arrays; diffprivlib's mechanisms are built beforehand.

Needs: OpenDP and diffprivlib, both optional. Size: 10^6 candidates, the best of 25 repeats.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from measuring import Bar, bars_table, best_of, each, have, table, versions, write

from mechanisms import ExponentialMechanism, NoisyMax, PermuteAndFlip, TopK

FEW = 10
REPEATED = 100_000
CALLS = 300


def score_vectors(size: int) -> dict[str, np.ndarray]:
    """Scores of different shapes: evenly spread, one far ahead, all equal.

    They are rows of one array that is written all over: zeros that were never written share one page of memory, which would be
    read from the cache and look like a time that depends on the scores.
    """
    shapes = np.empty((3, size))
    shapes[0] = np.random.default_rng(1).uniform(0, 100, size)
    shapes[1:] = 0.0
    shapes[1, size // 2] = 1000.0
    return dict(zip(("spread", "peaked", "flat"), shapes, strict=True))


def opendp_choices() -> dict[str, Callable[[Any], object]]:
    """OpenDP's noisy max: permute-and-flip's law under pure privacy, the exponential mechanism's under zCDP."""
    if not have("opendp"):
        return {}
    import opendp.prelude as dp

    dp.enable_features("contrib")
    space = dp.vector_domain(dp.atom_domain(T=float, nan=False)), dp.linf_distance(T=float)
    return {
        "exponential": dp.m.make_noisy_max(*space, dp.zero_concentrated_divergence(), scale=2.0),
        "permute and flip": dp.m.make_noisy_max(*space, dp.max_divergence(), scale=2.0),
    }


def diffprivlib_choices(scores: np.ndarray) -> dict[str, Callable[[], object]]:
    """The mechanisms of diffprivlib, built for these scores beforehand; they draw only."""
    if not have("diffprivlib"):
        return {}
    try:
        from diffprivlib.mechanisms import Exponential
        from diffprivlib.mechanisms import PermuteAndFlip as Flip
    except ImportError:
        return {}
    utility = scores.tolist()
    return {
        "exponential": Exponential(epsilon=1, sensitivity=1, utility=utility).randomise,
        "permute and flip": Flip(epsilon=1, sensitivity=1, utility=utility).randomise,
    }


def works_of(size: int, calls: int) -> dict[str, Callable[[], object]]:
    """Everything that is timed on vectors of one size."""
    ours = {
        "exponential": ExponentialMechanism(sensitivity=1, epsilon=1).release,
        "permute and flip": PermuteAndFlip(sensitivity=1, epsilon=1).release,
        "top 100": TopK(k=min(100, size // 2), sensitivity=1, epsilon=min(100, size // 2)).release,
    }
    peers, works = opendp_choices(), {}
    for shape, scores in score_vectors(size).items():
        for name, choose in ours.items():
            works[f"{name}, {shape}"] = each(lambda choose=choose, scores=scores: choose(scores), calls)
        if shape != "flat":
            for name, choose in peers.items():
                works[f"opendp {name}, {shape}"] = each(lambda choose=choose, scores=scores: choose(scores), calls)
            for name, draw in diffprivlib_choices(scores).items() if shape == "spread" else ():
                works[f"diffprivlib {name}, {shape}"] = each(draw, calls)
    whole = score_vectors(size)["spread"].astype(np.int64)
    works["noisy max, spread"] = each(lambda: NoisyMax(sensitivity=1, epsilon=1).release(whole), calls)
    return works


def timed(size: int, calls: int, repeats: int) -> dict[str, float]:
    """Seconds of one call by name; slow works are repeated twice, quick ones often."""
    works = works_of(size, calls)
    slow = {name: work for name, work in works.items() if name.startswith(("opendp", "diffprivlib"))}
    quick = {name: work for name, work in works.items() if name not in slow}
    best = dict.fromkeys(works, float("inf"))
    for _ in range(2):
        for part, times in ((quick, repeats), (slow, 1)):
            for name, spent in best_of(part, times).items():
                best[name] = min(best[name], spent / calls)
    return best


def many_draws(size: int) -> Callable[[], object]:
    """Many draws from one score vector, the table that they need included."""
    mechanism, scores = ExponentialMechanism(sensitivity=1, epsilon=1), score_vectors(size)["spread"]
    return lambda: mechanism.releases(scores, REPEATED)


def bars(many: dict[str, float], few: dict[str, float], rates: dict[str, float]) -> list[Bar]:
    """The limits, as far as the peers are installed."""
    found = []
    for name in ("exponential", "permute and flip"):
        for shape, least in (("spread", 30), ("peaked", 100)):
            peer = many.get(f"opendp {name}, {shape}")
            if peer:
                found.append(Bar(f"{name}, {shape}: OpenDP's time over ours", peer / many[f"{name}, {shape}"], least))
        peer = many.get(f"diffprivlib {name}, spread")
        if peer:
            found.append(Bar(f"{name}, spread: diffprivlib's time over ours", peer / many[f"{name}, spread"], 40))
        peer = few.get(f"opendp {name}, spread")
        if peer:
            found.append(Bar(f"{name}, {FEW} candidates: OpenDP's time over ours", peer / few[f"{name}, spread"], 3))
    for name in ("exponential", "permute and flip", "top 100"):
        times = [many[f"{name}, {shape}"] for shape in ("spread", "peaked")]
        found.append(Bar(f"{name}: slower over quicker of spread and peaked", max(times) / min(times), 1.15, most=True))
    found.append(Bar("top 100 over one choice", many["top 100, spread"] / many["exponential, spread"], 2.5, most=True))
    found += [Bar(f"{REPEATED:,} draws, {name}, per second", rate, 2e7) for name, rate in rates.items()]
    return found


def main() -> int:
    """Measure, print, and write the results if asked to."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--candidates", type=int, default=1_000_000, help="length of the long score vectors")
    parser.add_argument("--repeats", type=int, default=25, help="interleaved repeats of our own, of which the best counts")
    parser.add_argument("--output", type=Path, help="folder for selection.md and selection.json")
    options = parser.parse_args()
    many, few = timed(options.candidates, 1, options.repeats), timed(FEW, CALLS, 5)
    repeated = {f"{size:,} candidates": many_draws(size) for size in (FEW, 1000, 100_000)}
    rates = {name: REPEATED / spent for name, spent in best_of(repeated, 7).items()}
    limits = bars(many, few, rates)
    rows = [[name, f"{spent * 1e3:.2f} ms"] for name, spent in many.items()] + [
        [f"{name}, {FEW} candidates", f"{spent * 1e6:.1f} us"] for name, spent in few.items()
    ]
    stack = versions(("numpy", "python-flint", "cryptography", "opendp", "diffprivlib"))
    text = f"{bars_table(limits)}\n{options.candidates:,} candidates unless stated; entropy of the operating system.\n\n"
    text += table(["choice", "time"], rows) + "\n" + ", ".join(f"{name} {number}" for name, number in stack.items()) + ".\n"
    record = {"candidates": options.candidates, "versions": stack, "bars": [bar.record() for bar in limits], "seconds": {**many}}
    record |= {"few_seconds": few, "draws_per_second": rates}
    write(options.output, "selection", "Private choices: speed", text, record)
    return 0


if __name__ == "__main__":
    sys.exit(main())
