"""multi-freq-ldpy 0.2.5, `RSpFD_GRR_Client`: one attribute is reported with more than epsilon, and any one may be it."""

# requires: multi-freq-ldpy==0.2.5

import itertools
import math

from _entry import expect, show
from multi_freq_ldpy.mdim_freq_est.RSpFD_solution import RSpFD_GRR_Client

from dpaudit.interop import from_client

D, K, EPSILON = 3, 4, 1.0
FIRST, SECOND = (0,) * D, (1,) * D


def report(values: tuple[int, ...]) -> tuple[int, ...]:
    """Report the values of one person as the library does."""
    return tuple(int(one) for one in RSpFD_GRR_Client(values, [K] * D, D, EPSILON))


target = from_client(report, epsilon=1, values=[FIRST, SECOND], name="RSpFD_GRR_Client", public_data=True)


def law(values: tuple[int, ...]) -> dict[tuple[int, ...], float]:
    """Return the probability of every report: one attribute by randomised response with the raised epsilon, the others uniform."""
    odds = D * (math.exp(EPSILON) - 1) + 1
    told, other = odds / (odds + K - 1), 1 / (odds + K - 1)
    return {
        seen: sum(told if seen[place] == values[place] else other for place in range(D)) / D / K ** (D - 1)
        for seen in itertools.product(range(K), repeat=D)
    }


def confirm() -> None:
    """Enumerate all reports on two persons who differ in every attribute, and on two who differ in one, without the auditor."""
    first, second, near = law(FIRST), law(SECOND), law((1, *FIRST[1:]))
    expect(abs(sum(first.values()) - 1) < 1e-12, "it is a law")
    worst = max(first, key=lambda seen: first[seen] / second[seen])
    cost = math.log(first[worst] / second[worst])
    print(
        f"P({worst} | {FIRST}) = {first[worst]:.5f}, P({worst} | {SECOND}) = {second[worst]:.5f}: epsilon "
        f"is {cost:.4f}, claimed {EPSILON}"
    )
    print(f"for persons who differ in one attribute it is {math.log(max(first[seen] / near[seen] for seen in first)):.4f}")
    expect(abs(cost - math.log(D * (math.exp(EPSILON) - 1) + 1)) < 1e-9, "the cost is that of the sampled attribute")
    seen = sum(report(FIRST) == FIRST for _ in range(40_000))
    expect(abs(seen - 40_000 * first[FIRST]) < 5 * math.sqrt(40_000 * first[FIRST]), "the client follows this law")


if __name__ == "__main__":
    confirm()
    show(target, runs=100_000)
