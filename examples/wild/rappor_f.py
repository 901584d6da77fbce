"""pure-ldp 1.2.0, `convert_eps_to_f`: the noise of RAPPOR is rounded to two decimals, for large epsilon to none."""

# requires: pure-ldp==1.2.0 scikit-learn statsmodels

import math
import random

import numpy as np
from pure_ldp.frequency_oracles.rappor import RAPPORClient

from dpaudit import Claim, PureDP, Target, audit

SIZE, EPSILON = 4, 12


def client(f: float) -> RAPPORClient:
    """Return a client with one cohort and one hash function, so that a value sets the bit of its number."""
    return RAPPORClient(f=f, m=SIZE, hash_funcs=[[lambda text: int(text) % SIZE]], num_of_cohorts=1, index_mapper=int)


ROUNDED = client(1.0).convert_eps_to_f(EPSILON)


def report(values: list[int], rng: np.random.Generator) -> tuple[int, ...]:
    """Report the value of one person as the library does, with the noise that it gives for epsilon 12."""
    random.seed(int(rng.integers(2**63)))
    bits, _ = client(ROUNDED).privatise(values[0])
    return tuple(bits)


target = Target(
    name="convert_eps_to_f",
    run=report,
    claim=Claim(PureDP(epsilon=EPSILON), adjacency="replace_one"),
    neighbours=[([0], [1])],
    public_data=True,
)


def cost(f: float) -> float:
    """Return what RAPPOR with one hash function and this f costs: each of two bits differs with odds (1 - f/2) : (f/2)."""
    return math.inf if f == 0 else 2 * math.log((1 - f / 2) / (f / 2))


def expect(holds: bool, what: str) -> None:  # noqa: FBT001 - a statement and its words
    """End with an error where the library does not do what this entry says of it."""
    if not holds:
        raise SystemExit(f"not as described: {what}")


def confirm() -> None:
    """Compare the cost of the rounded f with epsilon, by the closed form that the library states itself, without the auditor."""
    for epsilon in range(1, EPSILON + 1):
        f = client(1.0).convert_eps_to_f(epsilon)
        print(f"epsilon {epsilon:2}: f = {f:.2f} costs {cost(f):.4f}{'  MORE' if cost(f) > epsilon else ''}")
    expect(ROUNDED == 0, "no noise is left")
    expect(all(client(ROUNDED).privatise(1)[0] == [0, 1, 0, 0] for _ in range(20_000)), "the report is the value itself")


if __name__ == "__main__":
    confirm()
    result = audit(target, runs=200_000, seed=1).results[0]
    print(result.verdict, result.summary)
