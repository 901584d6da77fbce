"""Exactly rounded real noise beside Tumult Core, diffprivlib and numpy: speed in one run, and attacks on all of them.

    PYTHONPATH=. python benchmarks/float_noise.py [--draws 1000000] [--output benchmarks/results]
    PYTHONPATH=. python benchmarks/float_noise.py --attacks

Peers are optional; a column of one that is not installed stays empty. Only Tumult Core gives the same guarantee; numpy's and
diffprivlib's floats are not exact and stand here for their speed (diffprivlib sets its own Gaussian scale, for delta 1e-5).

Needs: Tumult Core and diffprivlib, both optional. Size: 10^6 draws, the best of 7 repeats.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from measuring import Bar, bars_table, best_of, each, have, module_at, table, versions, write

from mechanisms.real_gaussian import RealGaussianMechanism
from mechanisms.real_laplace import RealLaplaceMechanism

ROOT = Path(__file__).resolve().parent.parent
SCALES = (Fraction(1), Fraction(10), Fraction(1, 3), Fraction(10) ** 6)
VALUE = 0.1
SINGLE = 500
LEVEL = 1e-9
RUNS = 50_000


def ours(name: str, scale: Fraction) -> Any:
    """Our mechanism."""
    if name == "Laplace":
        return RealLaplaceMechanism(sensitivity=1, scale=scale)
    return RealGaussianMechanism(sensitivity=1, sigma=scale)


def tumult(name: str, scale: float) -> Callable[[], object] | None:
    """One draw of Tumult Core's exact sampler around the value, or None."""
    if not have("tmlt.core"):
        return None
    from tmlt.core.random.continuous_gaussian import gaussian
    from tmlt.core.random.laplace import laplace

    return (lambda: laplace(VALUE, scale)) if name == "Laplace" else (lambda: gaussian(scale**2, VALUE))


def diffprivlib(name: str, scale: float) -> Callable[[], object] | None:
    """One release of diffprivlib's float mechanism, or None."""
    if not have("diffprivlib"):
        return None
    from diffprivlib.mechanisms import GaussianAnalytic, Laplace

    if name == "Laplace":
        mechanism = Laplace(epsilon=1 / scale, sensitivity=1)
        return lambda: mechanism.randomise(VALUE)
    other = GaussianAnalytic(epsilon=1 / scale, delta=1e-5, sensitivity=1)
    return lambda: other.randomise(VALUE)


def measured(name: str, scale: Fraction, draws: int, repeats: int) -> dict[str, Any]:
    """One row: seconds per draw of each, taken in turn."""
    mechanism, generator = ours(name, scale), np.random.default_rng()
    array = np.full(draws, VALUE)
    peers = {"tumult": tumult(name, float(scale)), "diffprivlib": diffprivlib(name, float(scale))}
    works: dict[str, Callable[[], object]] = {
        "array": lambda: mechanism.release(array),
        "numpy": lambda: array + (generator.laplace if name == "Laplace" else generator.normal)(0.0, float(scale), draws),
        "single": each(lambda: mechanism.release(VALUE), SINGLE),
        **{peer: each(work, SINGLE) for peer, work in peers.items() if work is not None},
    }
    best = best_of(works, repeats)
    each_takes = {work: time / (draws if work in {"array", "numpy"} else SINGLE) for work, time in best.items()}
    return {"law": name, "scale": str(scale), "seconds": each_takes}


def rates(rows: list[dict[str, Any]]) -> str:
    """The rows as a table of rates and ratios."""

    def ratio(seconds: dict[str, float], peer: str) -> str:
        return f"{seconds[peer] / seconds['array']:.3g}" if peer in seconds else "-"

    head = ["law", "scale", "sums/s", "single, us", "x Tumult Core", "x diffprivlib", "x numpy (not exact)"]
    lines = []
    for row in rows:
        seconds = row["seconds"]
        own = [f"{1 / seconds['array']:.3g}", f"{seconds['single'] * 1e6:.1f}"]
        lines.append([row["law"], row["scale"], *own, *(ratio(seconds, peer) for peer in ("tumult", "diffprivlib", "numpy"))])
    return table(head, lines)


def bars(rows: list[dict[str, Any]]) -> list[Bar]:
    """What the figures must keep: ratios only, since rates depend on the machine."""
    ratios = [row["seconds"]["tumult"] / row["seconds"]["array"] for row in rows if "tumult" in row["seconds"]]
    return [Bar("ratio to Tumult Core, least", min(ratios), 100)] if ratios else []


def speed(draws: int, repeats: int, folder: Path | None) -> None:
    """Measure, print, save."""
    rows = [measured(name, scale, draws, repeats) for name in ("Laplace", "Gaussian") for scale in SCALES]
    stack = versions(("numpy", "python-flint", "tmlt.core", "diffprivlib"))
    note = f"{draws:,} sums an array, {SINGLE} single calls; best of {repeats} interleaved repeats."
    text = f"{rates(rows)}\n{bars_table(bars(rows))}\n{note} {', '.join(f'{name} {number}' for name, number in stack.items())}.\n"
    record = {"draws": draws, "versions": stack, "rows": rows, "bars": [bar.record() for bar in bars(rows)]}
    write(folder, "float_noise", "Exactly rounded real noise: speed", text, record)


def attacks_module() -> Any:
    """The attacks that the tests run."""
    return module_at(ROOT / "tests" / "statistical" / "attacks.py")


def samplers(attacks: Any) -> dict[str, Any]:
    """Laplace noise of scale 1 by each library, as the attacks take it."""

    def repeated(release: Callable[[float], float]) -> Any:
        return lambda value, count: np.array([release(value) for _ in range(count)], dtype=np.float64)

    mechanism = RealLaplaceMechanism(sensitivity=1, scale=1)
    found = {"dpaudit, real Laplace": mechanism.releases, "textbook formula": attacks.naive_laplace(np.random.default_rng(), 1.0)}
    generator = np.random.default_rng()
    found["numpy"] = lambda value, count: value + generator.laplace(0.0, 1.0, count)
    if have("diffprivlib"):
        from diffprivlib.mechanisms import Laplace

        found["diffprivlib"] = repeated(Laplace(epsilon=1, sensitivity=1).randomise)
    if have("opendp"):
        import opendp.prelude as dp

        dp.enable_features("contrib")
        found["OpenDP"] = repeated(dp.m.make_laplace(dp.atom_domain(T=float, nan=False), dp.absolute_distance(T=float), scale=1.0))
    if have("tmlt.core"):
        from tmlt.core.random.laplace import laplace

        found["Tumult Core"] = repeated(lambda value: laplace(value, 1.0))
    return found


def verdict(epsilon: float) -> str:
    """What an attack showed, beside the claim of 1."""
    if epsilon <= 0:
        return "nothing"
    return f"epsilon > {epsilon:.2f}{' (refuted)' if epsilon > 1 else ''}"


def attack() -> None:
    """Print what the attacks on outputs show of each library; every sampler claims epsilon 1."""
    attacks = attacks_module()
    rows = []
    for name, sampler in samplers(attacks).items():
        shown = attacks.low_bits(sampler, 1.0, RUNS, LEVEL), attacks.precision(sampler, RUNS, LEVEL)
        rows.append([name, *(verdict(epsilon) for epsilon in shown)])
    print(table(["Laplace noise, claim epsilon 1", "low bits show", "precision shows"], rows))
    print(f"{RUNS:,} runs a side, each figure wrong with probability at most {LEVEL:g}.")


def main() -> int:
    """Measure or attack."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--draws", type=int, default=1_000_000, help="sums of one array")
    parser.add_argument("--repeats", type=int, default=7, help="interleaved repeats, of which the best counts")
    parser.add_argument("--output", type=Path, help="folder for float_noise.md and float_noise.json")
    parser.add_argument("--attacks", action="store_true", help="attack every sampler instead of timing it")
    options = parser.parse_args()
    if options.attacks:
        attack()
    else:
        speed(options.draws, options.repeats, options.output)
    return 0


if __name__ == "__main__":
    sys.exit(main())
