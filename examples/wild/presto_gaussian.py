"""ornl-presto 0.1.29, `applyDPGaussian`: the sensitivity stands under the root, and a factor of 2 is missing."""

# requires: ornl-presto==0.1.29

import math

import numpy as np
from _entry import expect, gaussian_delta, show
from ornl_presto.privacy_mechanisms import applyDPGaussian

from dpaudit import ApproxDP, Claim
from dpaudit.interop import from_function

SENSITIVITY, EPSILON, DELTA = 10.0, 1.0, 1e-5


def release(values: list[float]) -> float:
    """Release a number of sensitivity 10 as the library does."""
    return float(applyDPGaussian(values, sensitivity=SENSITIVITY, delta=DELTA, epsilon=EPSILON)[0])


target = from_function(
    release,
    claim=Claim(ApproxDP(1, DELTA), adjacency="replace_one"),
    neighbours=[([0.0], [10.0])],
    name="applyDPGaussian",
    public_data=True,
)


def confirm() -> None:
    """Bound the delta of the library's scale from below, certified, without the auditor."""
    for sensitivity in (1.0, SENSITIVITY, 100.0):
        sigma = math.sqrt(sensitivity * math.log(1.25 / DELTA)) / EPSILON
        needed = sensitivity * math.sqrt(2 * math.log(1.25 / DELTA)) / EPSILON
        true = gaussian_delta(sigma, sensitivity, EPSILON)
        print(
            f"sensitivity {sensitivity:5}: scale {sigma:.3f}, of {needed:.3f} needed; "
            f"delta at epsilon {EPSILON} is at least {true:.2e} of {DELTA}"
        )
        expect(true > 2 * DELTA, "more than twice the delta")
    np.random.seed(1)  # noqa: NPY002 - the generator that the library uses
    spread = np.std([release([0.0]) for _ in range(5_000)])
    expect(abs(spread / math.sqrt(SENSITIVITY * math.log(1.25 / DELTA)) - 1) < 0.06, "the noise has this scale")


if __name__ == "__main__":
    confirm()
    show(target, runs=20_000)
