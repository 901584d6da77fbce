"""multi-freq-ldpy 0.2.5, `SS_Client`: the order of the reported subset names the true value."""

# requires: multi-freq-ldpy==0.2.5

import math
from fractions import Fraction

from _entry import expect, show
from multi_freq_ldpy.pure_frequency_oracles.SS import SS_Client

from dpaudit.interop import from_client

K, EPSILON = 10, 1.0


def report(value: int) -> tuple[int, ...]:
    """Report the value of one person as the library does; each value is protected by epsilon."""
    return tuple(int(one) for one in SS_Client(value, K, EPSILON))


target = from_client(report, epsilon=1, values=[0, 1], name="SS_Client", public_data=True)


def confirm() -> None:
    """Bound the privacy loss by exact probabilities of the first place, from the two branches of the client, without the auditor.

    With probability p the true value is put first, otherwise it is not in the report at all. So another value x comes first with
    probability (1 - p) / (k - 1), and the pair (x, true value) at the first two places has probability 0.
    """
    size = max(1, round(K / (math.e**EPSILON + 1)))
    kept = Fraction(size * math.exp(EPSILON)) / (Fraction(size * math.exp(EPSILON)) + K - size)
    elsewhere = (1 - kept) / (K - 1)
    both = kept / (K - 1)  # the other value at the second place, after the true one
    print(f"P(first place is 0 | value 0) = {float(kept):.4f}, P(first place is 0 | value 1) = {float(elsewhere):.4f}")
    print(f"epsilon >= {math.log(kept / elsewhere):.4f} from the first place; claimed is {EPSILON}")
    print(f"P(report begins with 0, 1 | value 0) = {float(both):.4f}, given value 1 it is 0: no finite epsilon holds")
    expect(all(1 not in SS_Client(1, K, EPSILON)[1:] for _ in range(20_000)), "the true value stands first or nowhere")
    expect(any(tuple(SS_Client(0, K, EPSILON)[:2]) == (0, 1) for _ in range(20_000)), "the report that the other value never gives")


if __name__ == "__main__":
    confirm()
    show(target, runs=40_000)
