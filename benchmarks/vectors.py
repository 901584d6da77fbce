"""How fast exact noisy sums are: clipping, Gaussian and pure noise in steps beside the same in floats, in one run.

    python benchmarks/vectors.py [--repeats 9] [--output benchmarks/results]

Clipping is compared with numpy doing the same in floats (norm, product, sum: no exact sensitivity), noise with numpy's float
normal numbers and with OpenDP's exact vectors where it is installed.

Needs: OpenDP, optional. Size: the best of 9 repeats.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "benchmarks")]

from measuring import Bar, bars_table, best_of, each, have, table, versions, write  # noqa: E402

from mechanisms import EuclideanLaplace, EuclideanMechanism, RoundedGaussian, VectorMechanism, clip_and_sum  # noqa: E402

SHAPES = ((64, 100_000, np.float32), (64, 100_000, np.float64), (10_000, 784, np.float64), (100_000, 20, np.float64))
DIMENSIONS = (1, 100, 10_000, 100_000, 1_000_000)
STEPS = 2**21
OPENDP_DIMENSION = 20_000


def float_sum(rows: np.ndarray) -> np.ndarray:
    """Rows scaled to norm 1 and summed, in floats of their own precision."""
    factor = np.minimum(1.0, 1.0 / np.linalg.norm(rows, axis=1)).astype(rows.dtype)
    return (rows * factor[:, np.newaxis]).sum(axis=0)


def product_sum(rows: np.ndarray) -> np.ndarray:
    """The same as one vector-matrix product, the fastest way there is in floats."""
    factor = np.minimum(1.0, 1.0 / np.sqrt(np.einsum("ij,ij->i", rows, rows))).astype(rows.dtype)
    return factor @ rows


def clipping(repeats: int) -> list[dict[str, object]]:
    """Milliseconds of clipped sums of each shape."""
    rows = []
    for height, width, dtype in SHAPES:
        data = np.random.default_rng(1).standard_normal((height, width)).astype(dtype)
        works: dict[str, Callable[[], object]] = {
            "exact": lambda data=data: clip_and_sum(data, norm_bound=1),
            "floats": lambda data=data: float_sum(data),
            "product": lambda data=data: product_sum(data),
        }
        best = best_of(works, repeats)
        rows.append({"rows": height, "columns": width, "dtype": np.dtype(dtype).name, **{k: v * 1e3 for k, v in best.items()}})
    return rows


def shape(row: dict[str, object]) -> list[str]:
    """The columns that say what was clipped."""
    return [str(row[name]) for name in ("rows", "columns", "dtype")]


def opendp_vector() -> dict[str, Callable[[], object]]:
    """OpenDP's Gaussian vector; empty without OpenDP."""
    if not have("opendp"):
        return {}
    import opendp.prelude as dp

    dp.enable_features("contrib")
    zeros = np.zeros(OPENDP_DIMENSION, dtype=np.int64)
    gaussian = dp.m.make_gaussian(dp.vector_domain(dp.atom_domain(T="i64")), dp.l2_distance(T=float), scale=float(STEPS))
    return {"opendp": lambda: gaussian(zeros)}


def noise(repeats: int) -> list[dict[str, object]]:
    """Milliseconds of noise vectors of each length at 2**21 steps."""
    normal, rows = np.random.default_rng(), []
    for dimension in DIMENSIONS:
        calls = max(1, 10_000 // dimension)
        gaussian, euclidean = RoundedGaussian(STEPS), EuclideanLaplace(STEPS, dimension=dimension)
        works: dict[str, Callable[[], object]] = {
            "gaussian": each(lambda law=gaussian, n=dimension: law.sample(n), calls),
            "euclidean": each(euclidean.sample, calls),
            "numpy": each(lambda n=dimension: normal.standard_normal(n), calls),
        }
        best = best_of(works, repeats)
        rows.append({"dimension": dimension, **{name: taken / calls * 1e3 for name, taken in best.items()}})
    return rows


def releases(repeats: int) -> list[dict[str, object]]:
    """Milliseconds of whole releases: clipping 64 rows of 10^5 columns, and noise alone on 10^6 coordinates."""
    data, zeros = np.random.default_rng(1).standard_normal((64, 100_000)), np.zeros(1_000_000, dtype=np.int64)
    gaussian, pure = VectorMechanism(norm_bound=1, noise_multiplier=1), VectorMechanism(norm_bound=1, epsilon=1)
    euclidean = EuclideanMechanism(sensitivity=STEPS, epsilon=1)
    works: dict[str, Callable[[], object]] = {
        "64 rows of 10^5 columns, rounded Gaussian": lambda: gaussian.release(data),
        "64 rows of 10^5 columns, Euclidean Laplace": lambda: pure.release(data),
        "vector of 10^6 integers, Euclidean Laplace": lambda: euclidean.release(zeros),
    }
    return [{"release": name, "milliseconds": taken * 1e3} for name, taken in best_of(works, repeats).items()]


def main() -> int:
    """Measure, print, and write the results if asked to."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=9, help="interleaved repeats, of which the best counts")
    parser.add_argument("--output", type=Path, help="folder for vectors.md and vectors.json")
    options = parser.parse_args()
    clipped, drawn, released = (measure(options.repeats) for measure in (clipping, noise, releases))
    by_dimension = {row["dimension"]: row for row in drawn}
    longest = by_dimension[1_000_000]
    bars = [
        Bar("rounded Gaussian, d = 10^6, times numpy normal", longest["gaussian"] / longest["numpy"], 1.6, most=True),
        Bar("Euclidean Laplace, d = 10^4, ms", by_dimension[10_000]["euclidean"], 20, most=True),
        Bar("Euclidean Laplace, d = 10^6, ms", longest["euclidean"], 1000, most=True),
        Bar("clipped sum, 64 x 10^5 float64, times floats", clipped[1]["exact"] / clipped[1]["floats"], 1.5, most=True),
    ]
    law = RoundedGaussian(STEPS)
    peers = {**opendp_vector(), "ours": lambda: law.sample(1_000_000)}
    if "opendp" in peers:
        best = best_of(peers, options.repeats)
        faster = best["opendp"] / OPENDP_DIMENSION / (best["ours"] / 1_000_000)
        bars.append(Bar("rounded Gaussian, d = 10^6, times OpenDP's rate", faster, 800))
    kinds = ("exact", "floats", "product")
    parts = [
        "## Clipped sums\n\nMilliseconds; `floats` is numpy's norm, product and sum, `product` a vector-matrix product.\n",
        table(["rows", "columns", "dtype", *kinds], [[*shape(row), *(f"{row[kind]:.1f}" for kind in kinds)] for row in clipped]),
        f"## Noise vectors\n\nMilliseconds a vector at {STEPS} steps; numpy draws float64 normal numbers.\n",
        table(
            ["d", "rounded Gaussian", "Euclidean Laplace", "numpy normal", "Gaussian / numpy", "Euclidean / numpy"],
            [
                [
                    f"{row['dimension']:,}",
                    *(f"{row[name]:.4f}" for name in ("gaussian", "euclidean", "numpy")),
                    *(f"{row[name] / row['numpy']:.2f}" for name in ("gaussian", "euclidean")),
                ]
                for row in drawn
            ],
        ),
        "## Releases\n\nMilliseconds.\n",
        table(["release", "ms"], [[row["release"], f"{row['milliseconds']:.1f}"] for row in released]),
        "## Bars\n",
        bars_table(bars),
    ]
    record = {"clipping": clipped, "noise": drawn, "releases": released, "bars": [bar.record() for bar in bars]}
    found = versions(("numpy", "python-flint", "cryptography", "opendp"))
    parts.append(", ".join(f"{name} {number}" for name, number in found.items()) + "\n")
    write(options.output, "vectors", "Noisy sums of vectors: speed", "\n".join(parts), {"versions": found, **record})
    return 0


if __name__ == "__main__":
    sys.exit(main())
