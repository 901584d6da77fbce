"""flwr 1.42.0, `LocalDpMod`: the Gaussian noise of a formula that holds up to epsilon 1, for every epsilon."""

# requires: flwr==1.42.0

import logging
from types import SimpleNamespace

import numpy as np
from _entry import expect, gaussian_delta, show
from flwr.app import ArrayRecord, RecordDict
from flwr.clientapp.mod import LocalDpMod

from dpaudit import ApproxDP, Claim
from dpaudit.interop import from_function

EPSILON, DELTA, CLIP = 20, 1e-5, 1.0
SENSITIVITY = 2 * CLIP  # updates are clipped to norm CLIP, so two of them are at most this far apart
logging.disable()


def release(update: list[float]) -> float:
    """Send a client's update of one weight as the library does, clipped and noised for epsilon 20."""
    mod = LocalDpMod(clipping_norm=CLIP, sensitivity=SENSITIVITY, epsilon=EPSILON, delta=DELTA)
    sent = SimpleNamespace(content=RecordDict({"arrays": ArrayRecord([np.zeros(1)])}))
    trained = SimpleNamespace(content=RecordDict({"arrays": ArrayRecord([np.array(update)])}), has_error=lambda: False)
    told = mod(sent, None, lambda *_: trained)
    return float(next(iter(told.content.array_records.values())).to_numpy_ndarrays()[0][0])


target = from_function(
    release,
    claim=Claim(ApproxDP(EPSILON, DELTA), adjacency="replace_one"),
    neighbours=[([-1.0], [1.0])],
    name="LocalDpMod",
    public_data=True,
    most_runs=5_000,
)


def confirm() -> None:
    """Bound the delta of the library's sigma from below, certified, without the auditor."""
    for epsilon in (1, 5, 10, 20, 50):
        sigma = float(SENSITIVITY * np.sqrt(2 * np.log(1.25 / DELTA)) / epsilon)
        true = gaussian_delta(sigma, SENSITIVITY, epsilon)
        print(f"epsilon {epsilon:2}: sigma {sigma:.4f}, delta at least {true:.3e} of {DELTA}{'  MORE' if true > DELTA else ''}")
    sigma = float(SENSITIVITY * np.sqrt(2 * np.log(1.25 / DELTA)) / EPSILON)
    expect(gaussian_delta(sigma, SENSITIVITY, EPSILON) > 100 * DELTA, "a hundred times the delta at epsilon 20")
    np.random.seed(1)  # noqa: NPY002 - the generator that the library uses
    spread = np.std([release([1.0]) for _ in range(2_000)])
    expect(abs(spread / sigma - 1) < 0.1, "the noise has this scale")


if __name__ == "__main__":
    confirm()
    show(target, runs=5_000)
