"""Matrix mechanisms of 1, 8 and 64 bands at 2,000 steps, beside jax_privacy's sensitivities and dp-accounting's distributions.

    python benchmarks/matrices.py [--packages FOLDER]... [--output benchmarks/results]

Coefficients are those of the square root of the matrix of prefix sums. Participation is single, repeated with as many steps between
as there are bands, and by cyclic Poisson samples of the rates 1/256, 1/32 and 1/4. `--packages` names a site-packages folder in
which peers are installed; a peer that is not found leaves its column empty. Squares are S^2, epsilons are at delta 1e-6. Noise
multipliers are 1 for single participation and samples, and about the root of the number of participations for repeated ones.

Needs: jax_privacy, dp-accounting (both optional). Size: nine settings, seconds.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Final

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "benchmarks")]

from measuring import code_of, have, table, versions, write  # noqa: E402

from dpaudit.accounting import (  # noqa: E402
    CyclicPoisson,
    MinSeparation,
    Single,
    matrix_mechanism,
    prefix_root,
    sensitivity,
    toeplitz,
)

STEPS: Final = 2000
RATES: Final = {1: Fraction(1, 256), 8: Fraction(1, 32), 64: Fraction(1, 4)}
DELTA: Final = "1e-6"
PEERS: Final = ("dp-accounting", "jax-privacy", "jax")


def jax_square(bands: int, participations: int) -> float | None:
    """The squared sensitivity of jax_privacy, in its floats of 64 bits."""
    if not have("jax_privacy"):
        return None
    import jax
    import jax.numpy as jnp

    jax.config.update("jax_enable_x64", True)  # noqa: FBT003 - its own signature
    from jax_privacy.matrix_factorization.toeplitz import minsep_sensitivity_squared

    coefficients = jnp.array([float(value) for value in prefix_root(bands=bands)])
    return float(minsep_sensitivity_squared(coefficients, min_sep=bands, max_participations=participations, n=STEPS))


def peer_epsilon(noise: float, rate: float, times: int) -> float | None:
    """The epsilon of dp-accounting's privacy loss distribution for sampled Gaussians; columns all of the greatest length."""
    if not have("dp_accounting"):
        return None
    import dp_accounting
    from dp_accounting.pld import PLDAccountant

    event = dp_accounting.GaussianDpEvent(noise)
    sampled = event if rate == 1 else dp_accounting.PoissonSampledDpEvent(rate, event)
    return float(PLDAccountant().compose(dp_accounting.SelfComposedDpEvent(sampled, times)).get_epsilon(float(DELTA)))


def rows() -> list[list[str]]:
    """A row for each number of bands and participation."""
    found = []
    for bands, rate in RATES.items():
        matrix, repeated = toeplitz(prefix_root(bands=bands), steps=STEPS), -(-STEPS // bands)
        longest = float(sensitivity(matrix, Single()).upper)
        for name, participation in (("single", Single()), (f"{repeated} times", MinSeparation(bands, participations=repeated))):
            noise = 1 if name == "single" else math.isqrt(repeated)
            reach = sensitivity(matrix, participation)
            square = [float(end) ** 2 for end in (reach.lower, reach.upper)]
            loss = matrix_mechanism(matrix, noise_multiplier=noise, participation=participation)
            peers = jax_square(bands, 1 if name == "single" else repeated), peer_epsilon(noise * longest / float(reach.upper), 1, 1)
            found.append([str(bands), name, str(noise), f"{square[1]:.9f}", shown(peers[0]), ends(loss.epsilon), shown(peers[1])])
        loss = matrix_mechanism(matrix, noise_multiplier=1, participation=CyclicPoisson(rate=rate, bands=bands))
        beside = peer_epsilon(1.0, float(rate), repeated)
        found.append([str(bands), f"sampled at {rate}", "1", "", "", ends(loss.epsilon), shown(beside)])
    return found


def ends(ask: Callable[..., object]) -> str:
    """Both ends of epsilon, ten digits each."""
    found = ask(delta=DELTA)
    return f"{float(found.lower):.9f} to {float(found.upper):.9f}"  # type: ignore[attr-defined]


def shown(value: float | None) -> str:
    """A number of a peer, or nothing."""
    return "" if value is None else f"{value:.9f}"


def main() -> int:
    """Compute, print, and write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--packages", type=Path, action="append", default=[], help="site-packages folder of peers")
    parser.add_argument("--output", type=Path, help="folder for matrices.md and matrices.json")
    options = parser.parse_args()
    sys.path += [str(folder) for folder in options.packages]
    head = [
        "bands",
        "participation",
        "noise multiplier",
        "S^2, upper end",
        "jax_privacy",
        f"epsilon at {DELTA}",
        "dp-accounting, PLD",
    ]
    body = rows()
    used = versions(("numpy", "python-flint", *PEERS))
    record = {"versions": used, "code": code_of(["dpaudit/accounting"]), "steps": STEPS, "rows": body}
    write(options.output, "matrices", "Matrix mechanisms at 2,000 steps", f"Versions: {used}.\n\n{table(head, body)}", record)
    return 0


if __name__ == "__main__":
    sys.exit(main())
