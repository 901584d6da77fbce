"""pure-ldp 1.2.0, `convert_eps_to_f`: the noise of RAPPOR is rounded to two decimals, for large epsilon to none."""

# requires: pure-ldp==1.2.0 scikit-learn statsmodels xxhash<3.6

import math

from _entry import expect, show
from pure_ldp.frequency_oracles.rappor import RAPPORClient

from dpaudit.interop import from_client

SIZE, EPSILON = 4, 12


def client(f: float) -> RAPPORClient:
    """Return a client with one cohort and one hash function, so that a value sets the bit of its number."""
    return RAPPORClient(f=f, m=SIZE, hash_funcs=[[lambda text: int(text) % SIZE]], num_of_cohorts=1, index_mapper=int)


ROUNDED = client(1.0).convert_eps_to_f(EPSILON)


def report(value: int) -> tuple[int, ...]:
    """Report the value of one person as the library does, with the noise that it gives for epsilon 12."""
    bits, _ = client(ROUNDED).privatise(value)
    return tuple(bits)


target = from_client(report, epsilon=EPSILON, values=[0, 1], name="convert_eps_to_f", public_data=True)


def cost(f: float) -> float:
    """Return what RAPPOR with one hash function and this f costs: each of two bits differs with odds (1 - f/2) : (f/2)."""
    return math.inf if f == 0 else 2 * math.log((1 - f / 2) / (f / 2))


def confirm() -> None:
    """Compare the cost of the rounded f with epsilon, by the closed form that the library states itself, without the auditor."""
    for epsilon in range(1, EPSILON + 1):
        f = client(1.0).convert_eps_to_f(epsilon)
        print(f"epsilon {epsilon:2}: f = {f:.2f} costs {cost(f):.4f}{'  MORE' if cost(f) > epsilon else ''}")
    expect(ROUNDED == 0, "no noise is left")
    expect(all(client(ROUNDED).privatise(1)[0] == [0, 1, 0, 0] for _ in range(20_000)), "the report is the value itself")


if __name__ == "__main__":
    confirm()
    show(target, runs=40_000)
