"""dp-accounting 0.6.0, Gaussian privacy-loss distributions: an "upper estimate" below the truth after many compositions."""

# requires: dp-accounting==0.6.0

from _entry import expect
from dp_accounting.pld.privacy_loss_distribution import from_gaussian_mechanism

from dpaudit.accounting import gaussian

SIGMA, STEPS, DELTA = 100, 100_000, "1e-12"


def confirm() -> None:
    """Compare pessimistic estimates with a certified interval of the exact Gaussian loss, whose composition has a closed form."""
    true = (gaussian(sigma=SIGMA) * STEPS).epsilon(delta=DELTA)
    print(
        f"{STEPS} Gaussian releases of noise multiplier {SIGMA} at delta {DELTA}: epsilon from "
        f"{float(true.lower):.6f} to {float(true.upper):.6f}"
    )
    least = float("inf")
    for interval in (1e-3, 1e-4, 1e-5):
        loss = from_gaussian_mechanism(SIGMA, value_discretization_interval=interval)
        stated = loss.self_compose(STEPS).get_epsilon_for_delta(float(DELTA))
        least = min(least, stated)
        print(f"pessimistic estimate with interval {interval}: {stated:.6f}{'  LESS' if stated < float(true.lower) else ''}")
    expect(least < float(true.lower) - 0.1, "an upper estimate is below the truth")


if __name__ == "__main__":
    confirm()
    print("refuted by a certified interval: this is a statement about a price, so no release is sampled")
