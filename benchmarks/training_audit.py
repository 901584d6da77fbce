"""Epsilon of a network from 1,000 canaries in one training, by the bounds of dpaudit and of jax_privacy on the same scores.

`python benchmarks/training_audit.py scores.npz --seeds 5` trains and bounds; then, where jax_privacy 2.0.0 is installed too,
`python benchmarks/training_audit.py scores.npz --theirs`. The second writes the table.
"""

import argparse
import json
from fractions import Fraction
from pathlib import Path

import numpy as np

from dpaudit.accounting import Poisson, gaussian
from dpaudit.auditor.membership import DPSGD
from dpaudit.auditor.training import DiracCanaries, audit_steps

EPSILONS, DELTA, CANARIES = (1, 2, 4, 8), "1e-5", 1000
SETTINGS = {"no sampling, 10 steps": ("1", 10), "rate .1, 50 steps": ("1/10", 50)}
INPUTS, HIDDEN, CLASSES, LEARNING = 64, 128, 10, 2.0
SIZES = [INPUTS * HIDDEN, HIDDEN, HIDDEN * CLASSES, CLASSES]
SIZE = sum(SIZES)
RESULTS = Path(__file__).parent / "results"


def noise_for(epsilon: int, rate: str, steps: int) -> float:
    """Least noise multiplier, up to a ten-thousandth, with which steps have that epsilon."""
    low, high = 0.2, 50.0
    while high / low > 1.0001:
        middle = (low * high) ** 0.5
        step = gaussian(sigma=Fraction(middle))
        whole = steps * (step if rate == "1" else step.sampled(Poisson(rate)))
        low, high = (middle, high) if whole.epsilon(delta=DELTA).upper > epsilon else (low, middle)
    return high


def clipped_sum(parts: list[np.ndarray], inputs: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Sum of the gradients of a network with one hidden layer, each clipped to length 1."""
    first, bias, second, offset = parts
    hidden = np.tanh(inputs @ first + bias)
    logits = hidden @ second + offset
    back = np.exp(logits - logits.max(axis=1, keepdims=True))
    back /= back.sum(axis=1, keepdims=True)
    back[np.arange(len(labels)), labels] -= 1
    below = back @ second.T * (1 - hidden**2)
    # The gradient of a layer is an outer product, so its length is the product of two lengths.
    squares = (below**2).sum(axis=1) * ((inputs**2).sum(axis=1) + 1) + (back**2).sum(axis=1) * ((hidden**2).sum(axis=1) + 1)
    shrink = np.minimum(1, 1 / np.maximum(np.sqrt(squares), 1e-12))[:, None]
    below, back = below * shrink, back * shrink
    return np.concatenate([(inputs.T @ below).ravel(), below.sum(axis=0), (hidden.T @ back).ravel(), back.sum(axis=0)])


def train(rate: float, steps: int, noise: float, canaries: DiracCanaries, seed: int) -> float:
    """Train on digits with canaries in the sums, and return the accuracy on the records."""
    from sklearn.datasets import load_digits

    inputs, labels = load_digits(return_X_y=True)
    inputs, rng = inputs / 16, np.random.default_rng([seed, 9])
    w = np.concatenate([rng.normal(size=size) / (8 if size == SIZES[0] else 12) * (size > HIDDEN) for size in SIZES])
    shapes = [(INPUTS, HIDDEN), (HIDDEN,), (HIDDEN, CLASSES), (CLASSES,)]

    def split() -> list[np.ndarray]:
        return [part.reshape(shape) for part, shape in zip(np.split(w, np.cumsum(SIZES)[:-1]), shapes, strict=True)]

    noisy_sum = canaries.wrap(lambda total: total + noise * rng.normal(size=SIZE))
    for _ in range(steps):
        batch = rng.random(len(inputs)) < rate
        w = w - LEARNING * noisy_sum(clipped_sum(split(), inputs[batch], labels[batch])) / (rate * len(inputs))
    first, bias, second, offset = split()
    return float(np.mean(np.argmax(np.tanh(inputs @ first + bias) @ second + offset, axis=1) == labels))


def ours(seeds: int, path: Path) -> None:
    """Train, bound, and keep the scores for others."""
    kept, rows, accuracies = {}, {}, {}
    for setting, (rate, steps) in SETTINGS.items():
        for epsilon in EPSILONS:
            noise = noise_for(epsilon, rate, steps)
            law = DPSGD(rate=rate, steps=steps, noise_multiplier=Fraction(noise))
            for seed in range(seeds):
                share = float(Fraction(rate))
                one, fresh = (
                    DiracCanaries(SIZE, clip=1, rate=rate, canaries=CANARIES, fresh=fresh, seed=seed) for fresh in (False, True)
                )
                accuracies.setdefault(f"{setting}|{epsilon}", []).append(train(share, steps, noise, one, seed))
                train(share, steps, noise, fresh, seed)
                kept[f"{setting}|{epsilon}|{seed}|scores"] = one.scores.sum(axis=0)
                kept[f"{setting}|{epsilon}|{seed}|included"] = one.included
                plain, weighted = one.audit(delta=DELTA), one.audit(delta=DELTA, law=law)
                for name, bound in {
                    "dpaudit, any mechanism": plain.epsilon,
                    "dpaudit, any mechanism, steps weighted": weighted.epsilon,
                    "dpaudit, DP-SGD": plain.within(law).epsilon,
                    "dpaudit, DP-SGD, steps weighted": weighted.within(law).epsilon,
                    "dpaudit, step by step, all alike": audit_steps(fresh.scores, fresh.included, law=law, delta=DELTA).epsilon,
                }.items():
                    rows.setdefault(name, {}).setdefault(f"{setting}|{epsilon}", []).append(float(bound))
            # Kept after each cell, so that a run that is cut off has those before it.
            np.savez(path, **kept)
            path.with_suffix(".json").write_text(json.dumps({"seeds": seeds, "bounds": rows, "accuracy": accuracies}))
            print(setting, epsilon, f"noise {noise:.3f}", flush=True)


def theirs(path: Path) -> None:
    """Bound the kept scores by jax_privacy, and write the table."""
    from jax_privacy.auditing import CanaryScoreAuditor

    found, kept = json.loads(path.with_suffix(".json").read_text()), np.load(path)
    rows = found["bounds"]
    for setting in SETTINGS:
        for epsilon in EPSILONS:
            for seed in range(found["seeds"]):
                key = f"{setting}|{epsilon}|{seed}"
                if f"{key}|scores" not in kept:
                    continue
                scores, included = kept[f"{key}|scores"], kept[f"{key}|included"]
                auditor = CanaryScoreAuditor(scores[included], scores[~included])
                for name, bound in {
                    "jax_privacy, Clopper-Pearson (Bonferroni)": auditor.epsilon_clopper_pearson,
                    "jax_privacy, one run": auditor.epsilon_one_run,
                    "jax_privacy, one run f-DP, Gaussian": auditor.epsilon_one_run_fdp,
                }.items():
                    rows.setdefault(name, {}).setdefault(f"{setting}|{epsilon}", []).append(float(bound(0.05, float(DELTA))))
    write(found)


def write(found: dict) -> None:
    """Write the medians as a table, and every bound."""
    RESULTS.joinpath("training_audit.json").write_text(json.dumps(found, indent=1) + "\n")
    lines = [
        "# Epsilon of a network from one training",
        "",
        f"{SIZE:,} parameters on digits, {CANARIES:,} Dirac gradient canaries, DP-SGD in numpy, 95 %, delta {DELTA}, medians of",
        f"{found['seeds']} seeds. True epsilon 1, 2, 4, 8. Both libraries see the same scores. Rows for DP-SGD and for a Gaussian",
        "assume a family and independent canaries, *step by step* also that all steps are alike, from a second training.",
        "",
        f"| bound | {' | '.join(SETTINGS)} |",
        "|---|---|---|",
    ]
    for name in sorted(found["bounds"], reverse=True):
        cells = [" / ".join(_median(found["bounds"][name], f"{setting}|{epsilon}") for epsilon in EPSILONS) for setting in SETTINGS]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    accuracy = [" / ".join(_median(found["accuracy"], f"{setting}|{epsilon}") for epsilon in EPSILONS) for setting in SETTINGS]
    RESULTS.joinpath("training_audit.md").write_text(
        "\n".join([*lines, f"| accuracy on the records | {' | '.join(accuracy)} |", ""])
    )


def _median(found: dict, cell: str) -> str:
    """The median of a cell, or a dash where it was not run."""
    return f"{np.median(found[cell]):.2f}" if cell in found else "-"


def main() -> None:
    """Run the half that is asked for."""
    parser = argparse.ArgumentParser()
    parser.add_argument("scores", type=Path)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--theirs", action="store_true")
    asked = parser.parse_args()
    theirs(asked.scores) if asked.theirs else ours(asked.seeds, asked.scores)


if __name__ == "__main__":
    main()
