"""An event of dp-accounting as a claim, and a function that does what the event says, or less.

Needs dp-accounting (`pip install dp-accounting`). Try `dpaudit audit examples/dp_accounting_events.py:target` (refuted: the noise
is that of the event, the sample is not) and `dpaudit audit examples/dp_accounting_events.py:corrected` (consistent).
"""

from functools import partial

import numpy as np
from dp_accounting import dp_event

from dpaudit import Claim, Target
from dpaudit.claims import Curve
from dpaudit.interop import from_dp_accounting

# Ten releases of a count, each of a fresh Poisson sample of a tenth of the records, with Laplace noise of scale 1.
RATE, NOISE, RELEASES = 0.125, 1.0, 10
EVENT = dp_event.SelfComposedDpEvent(dp_event.PoissonSampledDpEvent(RATE, dp_event.LaplaceDpEvent(NOISE)), RELEASES)
claim = Claim(Curve(from_dp_accounting(EVENT)))


def counts(people: list[str], rng: np.random.Generator, *, rate: float) -> np.ndarray:
    """The noisy counts."""
    return rng.binomial(len(people), rate, size=RELEASES) + rng.laplace(scale=NOISE, size=RELEASES)


given = {"claim": claim, "data": ["Ada", "Ben", "Cem"]}
target = Target(run=partial(counts, rate=1.0), **given, name="counts_of_all")
corrected = Target(run=partial(counts, rate=RATE), **given, name="counts_of_samples")
