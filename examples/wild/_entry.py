"""What the entries share: statements that must hold of the library, bounds on a Gaussian's delta, and the audit at the end."""

import json
from collections.abc import Sequence
from fractions import Fraction

from dpaudit import Target, audit
from dpaudit.accounting import gaussian


def expect(holds: bool, what: str) -> None:  # noqa: FBT001 - a statement and its words
    """End with an error where the library does not do what this entry says of it."""
    if not holds:
        raise SystemExit(f"not as described: {what}")


def gaussian_delta(sigma: float, shift: float, epsilon: float) -> float:
    """Return a certified lower bound on the delta of Gaussian noise that hides a shift, at epsilon; floats are exact."""
    return float(gaussian(sigma=Fraction(sigma), sensitivity=Fraction(shift)).delta(epsilon=Fraction(epsilon)).lower)


def show(target: Target, runs: int) -> None:
    """Audit a target and print the verdict."""
    result = audit(target, runs=runs, seed=1).results[0]
    print(result.verdict, result.summary)


def show_table(targets: Sequence[Target], runs: int = 20_000) -> None:
    """Audit correct parts at alpha 1e-3 each; print claim, verdict and what would have been found, a line of JSON for each."""
    for target in targets:
        result = audit(target, alpha="0.001", runs=runs, seed=1).results[0]
        power = result.power and result.power.epsilon
        print(
            json.dumps({"part": target.name, "claim": str(target.claim), "verdict": str(result.verdict), "found from": power}),
            flush=True,
        )
