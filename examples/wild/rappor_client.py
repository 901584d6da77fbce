"""pure-ldp 1.2.0, `RAPPORClient`: bits of the filter are set and never cleared, so the true bits always show."""

# requires: pure-ldp==1.2.0 scikit-learn statsmodels xxhash<3.6

import itertools
import math
from fractions import Fraction

from _entry import expect, show
from pure_ldp.frequency_oracles.rappor import RAPPORClient

from dpaudit.interop import from_client

SIZE, F = 4, 0.5


def client() -> RAPPORClient:
    """Return a client with one cohort and one hash function, so that a value sets the bit of its number."""
    return RAPPORClient(f=F, m=SIZE, hash_funcs=[[lambda text: int(text) % SIZE]], num_of_cohorts=1, index_mapper=int)


CLAIMED = client().convert_f_to_eps(F, k=1)
"""What the library says that this f costs: 2 log 3."""


def report(value: int) -> tuple[int, ...]:
    """Report the value of one person as the library does."""
    bits, _ = client().privatise(value)
    return tuple(bits)


target = from_client(report, epsilon=CLAIMED, values=[0, 1], name="RAPPORClient", public_data=True)


def law(value: int) -> dict[tuple[int, ...], Fraction]:
    """Return the exact probability of every report, as the code draws bits: 1 stays 1, 0 becomes 1 with probability f/2."""
    set_bit = Fraction(F) / 2
    chances = [{1: Fraction(1)} if place == value else {1: set_bit, 0: 1 - set_bit} for place in range(SIZE)]
    return {
        bits: math.prod((chance.get(bit, Fraction(0)) for bit, chance in zip(bits, chances, strict=True)), start=Fraction(1))
        for bits in itertools.product((0, 1), repeat=SIZE)
    }


def confirm() -> None:
    """Enumerate all reports on two values, without the auditor."""
    first, second = law(0), law(1)
    expect(sum(first.values()) == sum(second.values()) == 1, "both are laws")
    only = sum(chance for bits, chance in first.items() if second[bits] == 0)
    print(f"claimed epsilon {CLAIMED:.4f}; P(bit 1 is 0 | value 0) = {only}, given value 1 it is 0: no finite epsilon holds")
    expect(only == 1 - Fraction(F) / 2, "the bit of value 1 is clear as often as it should be for value 0")
    expect(all(client().privatise(1)[0][1] == 1 for _ in range(20_000)), "the true bit is never cleared")


if __name__ == "__main__":
    confirm()
    show(target, runs=40_000)
