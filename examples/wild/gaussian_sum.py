"""diffpriv-pure 0.1.0, `private_sum`: the Gaussian noise of a formula that holds up to epsilon 1, for every epsilon."""

# requires: diffpriv-pure==0.1.0

from _entry import expect, gaussian_delta, show
from diffpriv_pure import gaussian_sigma, private_sum

from dpaudit import ApproxDP, Claim
from dpaudit.interop import from_function

EPSILON, DELTA = 20, 1e-5


def release(values: list[float]) -> float:
    """Release the sum of values from 0 to 1 as the library does."""
    return private_sum(values, (0, 1), epsilon=EPSILON, delta=DELTA)


target = from_function(
    release,
    claim=Claim(ApproxDP(EPSILON, DELTA), adjacency="replace_one"),
    neighbours=[([0.0, 0.0], [0.0, 1.0])],
    name="private_sum",
    public_data=True,
)


def confirm() -> None:
    """Bound the delta of the library's sigma from below, certified, without the auditor."""
    for epsilon in (1, 5, 10, 15, 20, 50):
        sigma = gaussian_sigma(1, epsilon, DELTA)
        true = gaussian_delta(sigma, 1, epsilon)
        print(f"epsilon {epsilon:2}: sigma {sigma:.4f}, delta at least {true:.3e} of {DELTA}{'  MORE' if true > DELTA else ''}")
    expect(gaussian_delta(gaussian_sigma(1, 10, DELTA), 1, 10) > 2 * DELTA, "twice the delta at epsilon 10")
    expect(gaussian_delta(gaussian_sigma(1, EPSILON, DELTA), 1, EPSILON) > 100 * DELTA, "a hundred times the delta at epsilon 20")


if __name__ == "__main__":
    confirm()
    show(target, runs=100_000)
