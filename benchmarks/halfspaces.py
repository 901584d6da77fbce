"""How often learned halfspaces err, how long a fit takes with exact noise, and what no pure learner can do.

    python benchmarks/halfspaces.py [--seeds 5] [--output benchmarks/results]

Records: y gamma w + a vector at a right angle to w of uniform direction, so that every margin is gamma exactly; 5000 others are the
test. `HalfspaceClassifier` has exact noise from the operating system and a map of its own for every seed. The packing: 1024 random
sign vectors in 200 dimensions and the exponential mechanism over those, the best pure learner that knows them.

Needs: nothing. Size: 10 problems, 5 seeds of each, and 2,400 choices from a packing.
"""

from __future__ import annotations

import argparse
import sys
import time
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "benchmarks")]

from measuring import Bar, bars_table, table, versions, write  # noqa: E402

from dpaudit.auditor.statistics.bounds import clopper_pearson_lower  # noqa: E402
from learners import HalfspaceClassifier, PureHalfspaceClassifier  # noqa: E402
from learners.choices.counts import Listed, choose, errors  # noqa: E402
from learners.choices.levels import counts_mechanism  # noqa: E402
from learners.halfspaces.packing import implied_epsilon, random_packing, records_needed  # noqa: E402
from learners.rows.unit import unit_rows  # noqa: E402

DELTA = "1e-6"
TEST = 5000

Cell = tuple[int, int, str, int | None]
"""Records, features, margin, columns."""

CELLS: tuple[Cell, ...] = (
    (20000, 4000, "1/5", 50),
    (20000, 4000, "1/5", 200),
    (20000, 4000, "1/5", None),
    (20000, 4000, "1/5", 800),
    (5000, 4000, "1/5", 200),
    (5000, 4000, "1/5", None),
    (1000, 4000, "1/5", None),
)
PURE: tuple[tuple[int, str], ...] = ((200, "3/10"), (1134, "3/10"), (1134, "1/10"))
PACKED = (("1", 5), ("1", 10), ("1", 20), ("1", 40), ("1", 80), ("8", 5), ("8", 10), ("8", 20))
DIMENSION, SIZE, RUNS, MARGIN = 200, 1024, 300, Fraction(1, 447)


def generated(records: int, features: int, margin: float, seed: int) -> tuple[Any, Any]:
    """Unit records with exactly the margin, and their labels."""
    rng = np.random.default_rng(seed)
    normal = rng.normal(size=features).astype(np.float32)
    normal /= np.linalg.norm(normal)
    rows = rng.standard_normal(size=(records, features), dtype=np.float32)
    rows -= np.outer(rows @ normal, normal)
    rows *= ((1 - margin**2) ** 0.5 / np.linalg.norm(rows, axis=1))[:, np.newaxis]
    labels = rng.integers(0, 2, size=records)
    rows += np.outer(2 * labels - 1, margin * normal)
    return rows, labels


def fitted(model: Any, records: int, features: int, seed: int) -> dict[str, float]:
    """Error and seconds of processor time of one fit, and what the record says."""
    rows, labels = generated(records + TEST, features, float(Fraction(model.margin)), seed)
    start = time.process_time()
    model.fit(rows[:records], labels[:records])
    seconds = time.process_time() - start
    error = float(np.mean(model.predict(rows[records:]) != labels[records:]))
    return {"error": error, "seconds": seconds, "columns": len(model.embedded_weights_)}


def cell(made: Any, records: int, features: int, margin: str, seeds: int) -> dict[str, Any]:
    """One line: several fits."""
    runs = [fitted(made(seed), records, features, seed) for seed in range(seeds)]
    found = [run["error"] for run in runs]
    return {
        "records": records,
        "features": features,
        "margin": margin,
        "columns": runs[0]["columns"],
        "error": float(np.mean(found)),
        "worst": max(found),
        "seconds": min(run["seconds"] for run in runs),
    }


def packed(epsilon: str, records: int) -> dict[str, Any]:
    """How often the exponential mechanism over a packing finds a halfspace that fits, and what that says of its epsilon."""
    packing = random_packing(dimension=DIMENSION, size=SIZE, margin=MARGIN)
    if not packing.disjoint:
        raise AssertionError("two halfspaces of the packing may be fitted by one classifier")
    rng = np.random.default_rng(records)
    mechanism = counts_mechanism(epsilon=epsilon, adjacency="replace_one")
    candidates = Listed(packing.code.T.astype(np.int64))
    fits = 0
    for _ in range(RUNS):
        place = int(rng.integers(SIZE))
        rows = unit_rows(*packing.sample(place, records, rng))
        fits += packing.fits(choose(rows, candidates, errors(), mechanism).astype(np.float64), place)
    lower = clopper_pearson_lower(fits, RUNS, "1/1000")
    implied = implied_epsilon(size=SIZE, success=lower, records=records) if lower else Fraction(0)
    return {"epsilon": epsilon, "records": records, "fits": fits / RUNS, "implied": float(implied)}


def page(cells: list[dict[str, Any]], pure: list[dict[str, Any]], packs: list[dict[str, Any]], bars: list[Bar]) -> str:
    """The page."""
    head = ["n x d", "gamma", "columns", "error", "worst", "seconds"]
    lines = [
        [
            f"{line['records']} x {line['features']}",
            line["margin"],
            str(line["columns"]),
            *(f"{line[name]:.4f}" for name in ("error", "worst")),
            f"{line['seconds']:.2f}",
        ]
        for line in (*cells, *pure)
    ]
    found = [[line["epsilon"], str(line["records"]), f"{line['fits']:.3f}", f"{line['implied']:.3f}"] for line in packs]
    needed = float(records_needed(dimension=DIMENSION, margin=MARGIN, epsilon=1))
    known = float(implied_epsilon(size=SIZE, success="9/10", records=1))
    return "\n".join(
        [
            f"Error on {TEST} other records, mean and worst over the seeds; least seconds of processor time of a fit. The first",
            f"lines are `HalfspaceClassifier` at (1, {DELTA}), those with 3 features `PureHalfspaceClassifier` at 1.\n",
            table(head, lines),
            f"The packing, {SIZE} halfspaces in {DIMENSION} dimensions: how often the exponential mechanism over them fits,",
            f"in {RUNS} runs, and the epsilon that this implies with confidence 0.999. No pure learner with epsilon 1 fits every",
            f"halfspace of this margin 9 times in 10 with less than {needed:.1f} records, or each of these with less",
            f"than {known:.1f}.\n",
            table(["epsilon", "n", "fits", "epsilon implied"], found),
            bars_table(bars),
        ]
    )


def main() -> int:
    """Measure, print, and write the results if asked to."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=5, help="data, maps and draws of noise")
    parser.add_argument("--output", type=Path, help="folder for halfspaces.md and halfspaces.json")
    options = parser.parse_args()
    cells = []
    for records, features, margin, columns in CELLS:
        given = {"epsilon": 1, "delta": DELTA, "margin": margin, "classes": [0, 1], "dimension": columns}
        made = lambda seed, given=given: HalfspaceClassifier(**given, seed=seed)  # noqa: E731
        cells.append(cell(made, records, features, margin, options.seeds))
    pure = [
        cell(
            lambda _, margin=margin: PureHalfspaceClassifier(epsilon=1, margin=margin, classes=[0, 1]),
            records,
            3,
            margin,
            options.seeds,
        )
        for records, margin in PURE
    ]
    packs = [packed(epsilon, records) for epsilon, records in PACKED]
    asked = next(line for line in cells if (line["records"], line["columns"]) == (20000, 200))
    bars = [
        Bar("20000 x 4000 in 200 columns, error", asked["error"], 0.01, most=True),
        Bar("20000 x 4000 in 200 columns, s", asked["seconds"], 10, most=True),
        Bar(
            "packing, largest epsilon implied of one with 1", max(p["implied"] for p in packs if p["epsilon"] == "1"), 1, most=True
        ),
        Bar("packing, epsilon implied of one with 8 that claims 1/2", max(p["implied"] for p in packs if p["epsilon"] == "8"), 0.5),
    ]
    found = versions(("numpy", "scipy", "scikit-learn"))
    record = {"versions": found, "descent": cells, "pure": pure, "packing": packs, "bars": [bar.record() for bar in bars]}
    write(options.output, "halfspaces", "Halfspaces: errors, time, and a lower bound", page(cells, pure, packs, bars), record)
    return 0


if __name__ == "__main__":
    sys.exit(main())
