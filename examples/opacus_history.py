"""The history of an Opacus accountant as a claim, and a training loop that keeps it, or does not.

The loop is the worst case for one person: their clipped gradient is 1 wherever it counts, everyone else's is 0. Opacus itself is
not needed; with it, hand over `privacy_engine.accountant`. Try `dpaudit audit examples/opacus_history.py:target` (refuted: the loop
takes everyone in every batch) and `dpaudit audit examples/opacus_history.py:corrected` (consistent).
"""

from functools import partial

import numpy as np

from dpaudit import Claim, Target
from dpaudit.claims import Curve
from dpaudit.interop import from_opacus

# Noise multiplier, sample rate, number of steps: what `accountant.history` lists.
NOISE, RATE, STEPS = 1.0, 0.25, 8
claim = Claim(Curve(from_opacus([(NOISE, RATE, STEPS)], poisson_sampling=True)))


def gradients(people: list[float], rng: np.random.Generator, *, rate: float) -> np.ndarray:
    """The noisy sums of the gradients of all steps."""
    taken = rng.random((STEPS, len(people))) < rate
    return taken @ np.array(people) + NOISE * rng.standard_normal(STEPS)


given = {"claim": claim, "neighbours": [([0.0, 1.0], [0.0])]}
target = Target(run=partial(gradients, rate=1.0), **given, name="every_batch")
corrected = Target(run=partial(gradients, rate=RATE), **given, name="poisson_batches")
