"""Private boosting and linear models on generated tables with rare classes, odd scales, missing cells, categories and text.

    python benchmarks/tabular.py [--half tuning|acceptance] [--epsilon 1] [--seeds 2] [--only WORD] [--output benchmarks/results]

Beside them stand the same linear model and gradient-boosted trees without noise. Constants were chosen on the tuning half alone.

Needs: nothing else. Size: 16 tables a half, a few minutes.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "benchmarks")]

from measuring import table, versions, write  # noqa: E402
from varied_tables import ACCEPTANCE, TABLES, TUNING, Table  # noqa: E402

from learners import (  # noqa: E402
    PrivateBoostingClassifier,
    PrivateBoostingRegressor,
    PrivateClassifier,
    PrivateLinearRegression,
    TableEncoder,
    Text,
    make_private_pipeline,
)

DELTA = "1e-5"


def described(given: Table, *, text: bool) -> dict[str, Any]:
    """The public columns, those of text with a hashing rule or left out."""
    columns = {name: Text(64) if spec == "text" else spec for name, spec in given.columns.items()}
    return {name: spec for name, spec in columns.items() if text or given.columns[name] != "text"}


def of_classes(truth: Any, likely: Any) -> list[float]:
    """AUC, average precision, log loss, recall at the public threshold, mean probability over the share of the second class."""
    from sklearn.metrics import average_precision_score, log_loss, roc_auc_score

    inside = np.clip(likely, 1e-9, 1 - 1e-9)
    recall = float((likely[truth == 1] >= THRESHOLD).mean()) if (truth == 1).any() else 0.0
    return [
        100 * roc_auc_score(truth, likely), 100 * average_precision_score(truth, likely), log_loss(truth, inside, labels=[0, 1]),
        100 * recall, float(likely.mean() / max(truth.mean(), 1e-9)),
    ]  # fmt: skip


THRESHOLD = 0.1
"""The public threshold of recall: a missed record of the second class is nine times as bad as a false one."""


def models(given: Table, epsilon: str, *, regression: bool) -> dict[str, Any]:
    """What is compared, by name: estimators and the columns that they read."""
    from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
    from sklearn.linear_model import LogisticRegression, Ridge
    from sklearn.pipeline import make_pipeline

    both = {"epsilon": epsilon, "delta": DELTA}
    plain, full = described(given, text=False), described(given, text=True)
    trees = make_pipeline(TableEncoder(full), (HistGradientBoostingRegressor if regression else HistGradientBoostingClassifier)())
    if regression:
        return {
            "linear, no noise": make_pipeline(TableEncoder(full), Ridge(1e-3)),
            "trees, no noise": trees,
            "PrivateLinearRegression": make_private_pipeline(
                TableEncoder(full), PrivateLinearRegression(**both, feature_norm=1, label_bound=10)
            ),
            "PrivateBoostingRegressor": PrivateBoostingRegressor(**both, columns=plain, label_bound=10),
        }
    return {
        "linear, no noise": make_pipeline(TableEncoder(full), LogisticRegression(C=100, max_iter=500)),
        "trees, no noise": trees,
        "PrivateClassifier": make_private_pipeline(TableEncoder(full), PrivateClassifier(**both, feature_norm=1, classes=[0, 1])),
        "PrivateBoostingClassifier": PrivateBoostingClassifier(**both, columns=plain, classes=[0, 1]),
    }


def measured(name: str, epsilon: str, seeds: int) -> dict[str, list[float]]:
    """Mean scores of all models on one table."""
    given = TABLES[name]()
    regression = given.labels.dtype.kind == "f"
    found: dict[str, list[list[float]]] = {}
    for seed in range(seeds):
        train, labels, test, truth = given.split(seed)
        for kind, model in models(given, epsilon, regression=regression).items():
            read = [table[list(described(given, text="Boosting" not in kind))] for table in (train, test)]
            model.fit(read[0], labels)
            scores = [model.score(read[1], truth)] if regression else of_classes(truth, model.predict_proba(read[1])[:, 1])
            found.setdefault(kind, []).append(scores)
    return {kind: np.mean(runs, axis=0).tolist() for kind, runs in found.items()}


def main() -> int:
    """Measure, print, and write the results if asked to."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--half", choices=("tuning", "acceptance"), default="tuning")
    parser.add_argument("--epsilon", default="1")
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--only", default="", help="part of the names of tables")
    parser.add_argument("--output", type=Path, help="folder for tabular_HALF.md and tabular_HALF.json")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    names = [name for name in (TUNING if options.half == "tuning" else ACCEPTANCE) if options.only in name]
    results, lines = {}, []
    for name in names:
        results[name] = measured(name, options.epsilon, options.seeds)
        for kind, scores in results[name].items():
            lines.append([name, kind, *(f"{score:.3f}" if abs(score) < 3 else f"{score:.1f}" for score in scores)])
            print(" | ".join(lines[-1]), flush=True)
    head = ["table", "model", "AUC or R2", "average precision", "log loss", f"recall at {THRESHOLD:g}", "mean probability / share"]
    text = table(head, [line + ["-"] * (len(head) - len(line)) for line in lines])
    record = {"versions": versions(("numpy", "scikit-learn")), "epsilon": options.epsilon, "delta": DELTA, "tables": results}
    write(options.output, f"tabular_{options.half}", f"Private tables, {options.half} half", text, record)
    return 0


if __name__ == "__main__":
    sys.exit(main())
