"""jax-privacy 2.0.0, `epsilon_from_gdp`: a bound with confidence that is over 0 for scores of one law in and out."""

# requires: jax-privacy==2.0.0

import numpy as np
from _entry import expect
from jax_privacy.auditing import CanaryScoreAuditor

SIGNIFICANCE, DELTA = 0.05, 1e-5


def confirm() -> None:
    """Bound epsilon from scores that tell nothing: those in training and those out of it have one law, so epsilon may be 0."""
    rng = np.random.default_rng(1)
    for count in (50, 200, 1_000):
        stated = [
            CanaryScoreAuditor(rng.normal(size=count), rng.normal(size=count)).epsilon_from_gdp(SIGNIFICANCE, DELTA)
            for _ in range(100)
        ]
        over = sum(one > 0 for one in stated)
        print(
            f"100 times {count} scores of one law in and out: {over} bounds over 0, up to "
            f"{max(stated):.2f}; at most {SIGNIFICANCE:.0%} may be"
        )
        expect(over > 50, "far more than the significance allows")


if __name__ == "__main__":
    confirm()
    print("refuted by construction: this is an auditor, so no release is sampled")
