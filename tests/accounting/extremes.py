"""Every law, sampling scheme and count at the ends of their ranges, and what an answer to a question about them must look like.

`python tests/accounting/extremes.py` goes through all of them with a limit on memory and time and prints what is amiss; the suite
takes a spread sample. With arguments N and M it takes every N-th case, beginning at M.
"""

from __future__ import annotations

import math
import resource
import signal
import sys
import time
from collections.abc import Callable, Container, Iterator
from fractions import Fraction
from itertools import product
from typing import NamedTuple

from dpaudit.accounting import (
    Poisson,
    RandomAllocation,
    RandomOrder,
    Shuffle,
    WithoutReplacement,
    approx_dp,
    bounded_range,
    compose,
    discrete_gaussian,
    discrete_laplace,
    explicit_pair,
    gaussian,
    gdp,
    laplace,
    noisy_max,
    permute_and_flip,
    pure_dp,
    randomized_response,
    rdp,
    sparse_vector,
    staircase,
    zcdp,
)
from dpaudit.accounting.model.composition import infinite_loss
from dpaudit.accounting.privacy_loss import PrivacyLoss
from dpaudit.errors import DpauditError
from dpaudit.exact import Enclosure

SIZES = ["1e-3", "1", "1e6"]
RARE = Fraction(1, 10**300)
COUNTS = [0, 1, 3, 10**9]
SECONDS = 20
MEMORY = 6 << 30

LAWS: dict[str, Callable[[str, str], PrivacyLoss]] = {
    "gaussian": lambda size, where: gaussian(size, adjacency=where),
    "gaussian at a large distance": lambda size, where: gaussian(size, sensitivity="1e6", adjacency=where),
    "gaussian at a small distance": lambda size, where: gaussian(size, sensitivity="1e-6", adjacency=where),
    "gdp": lambda size, where: gdp(size, adjacency=where),
    "laplace": lambda size, where: laplace(size, adjacency=where),
    "laplace at a large distance": lambda size, where: laplace(size, sensitivity="1e6", adjacency=where),
    "discrete laplace": lambda size, where: discrete_laplace(size, adjacency=where),
    "discrete laplace at a large distance": lambda size, where: discrete_laplace(size, sensitivity=10**6, adjacency=where),
    "discrete gaussian": lambda size, where: discrete_gaussian(size, adjacency=where),
    "discrete gaussian at a large distance": lambda size, where: discrete_gaussian(size, sensitivity=10**6, adjacency=where),
    "randomized response": lambda size, where: randomized_response(size, adjacency=where),
    "response of a million": lambda size, where: randomized_response(size, categories=10**6, adjacency=where),
    "pure": lambda size, where: pure_dp(size, adjacency=where),
    "approximate": lambda size, where: approx_dp(size, delta=RARE, adjacency=where),
    "approximate at one half": lambda size, where: approx_dp(size, delta="1/2", adjacency=where),
    "bounded range": lambda size, where: bounded_range(size, adjacency=where),
    "staircase": lambda size, where: staircase(size, step=10**6, width=3, adjacency=where),
    "permute and flip": lambda size, where: permute_and_flip(size, adjacency=where),
    "noisy max": lambda size, where: noisy_max(size, adjacency=where),
    "sparse vector": lambda size, where: sparse_vector(size, adjacency=where),
    "zcdp": lambda size, where: zcdp(size, adjacency=where),
    "rdp": lambda size, where: rdp({"1.000001": size, 2: size, 10**6: size}, adjacency=where),
    "response and noise": lambda size, where: compose(
        randomized_response(1, adjacency=where), gaussian(size, adjacency=where), laplace(size, adjacency=where)
    ),
}
PAIRS: dict[str, Callable[[str, str], PrivacyLoss]] = {
    "disjoint pair": lambda _, where: explicit_pair([1, 0], [0, 1], adjacency=where),
    "one-sided pair": lambda _, where: explicit_pair(["1/2", "1/2", 0], ["1/3", 0, "2/3"], adjacency=where),
    "rare pair": lambda _, where: explicit_pair([RARE, 1 - RARE], [RARE / 10**9, 1 - RARE / 10**9], adjacency=where),
}

SAMPLES: dict[str, tuple[str, Callable[[PrivacyLoss], PrivacyLoss]]] = {
    "all": ("add_remove", lambda loss: loss),
    "Poisson 0": ("add_remove", lambda loss: loss.sampled(Poisson(0))),
    "Poisson 1e-12": ("add_remove", lambda loss: loss.sampled(Poisson("1e-12"))),
    "Poisson 1/100": ("add_remove", lambda loss: loss.sampled(Poisson("1/100"))),
    "Poisson 1 - 1e-12": ("add_remove", lambda loss: loss.sampled(Poisson(1 - Fraction(1, 10**12)))),
    "Poisson 1": ("add_remove", lambda loss: loss.sampled(Poisson(1))),
    "none of 7": ("replace_one", lambda loss: loss.sampled(WithoutReplacement(size=0, of=7))),
    "1 of 10^9": ("replace_one", lambda loss: loss.sampled(WithoutReplacement(size=1, of=10**9))),
    "all but 1 of 10^9": ("replace_one", lambda loss: loss.sampled(WithoutReplacement(size=10**9 - 1, of=10**9))),
    "2 steps": ("add_remove", lambda loss: loss.sampled(RandomAllocation(steps=2))),
    "10^6 steps": ("zero_out", lambda loss: loss.sampled(RandomAllocation(steps=10**6))),
    "shuffle of 1": ("replace_one", lambda loss: loss.sampled(Shuffle(reports=1))),
    "shuffle of 10^9": ("replace_one", lambda loss: loss.sampled(Shuffle(reports=10**9))),
    "2 in random order": ("replace_one", lambda loss: loss.sampled(RandomOrder(records=2, batches=(1, 1), averaged=True))),
    "bootstrap of 10^6": (
        "label",
        lambda loss: loss.sampled(RandomOrder(records=10**6, batches=(1000,) * 10, replacement=True, rounds=100)),
    ),
    "group of 10^6": ("add_remove", lambda loss: loss.group(10**6)),
}


class Case(NamedTuple):
    """A loss by the names of its law, size, scheme and count."""

    law: str
    size: str
    sample: str
    count: int

    def loss(self) -> PrivacyLoss:
        """The loss itself."""
        where, sampled = SAMPLES[self.sample]
        return self.count * sampled((LAWS | PAIRS)[self.law](self.size, where))


CASES = [
    *(Case(*names) for names in product(LAWS, SIZES, SAMPLES, COUNTS)),
    *(Case(law, "1", sample, count) for law, sample, count in product(PAIRS, SAMPLES, COUNTS)),
]


def questions(loss: PrivacyLoss) -> Iterator[tuple[str, str, Callable[[], Enclosure]]]:
    """Everything a loss can be asked at the ends of its range: kind, place, and how to ask."""
    for epsilon in ("0", "1e-12", "1", "1e3", "1e400"):
        yield "delta", epsilon, lambda epsilon=epsilon: loss.delta(epsilon=epsilon)
    for delta in ("0", "1e-1200", "1e-300", "1e-6", "0.9"):
        yield "epsilon", delta, lambda delta=delta: loss.epsilon(delta=delta)
    for alpha in ("0", "1e-300", "1/20", "1"):
        yield "tradeoff", alpha, lambda alpha=alpha: loss.tradeoff(alpha=alpha)
    for order in ("1.000000000001", "2", "1e9"):
        yield "renyi", order, lambda order=order: loss.renyi(order=order)
    yield "zcdp", "", loss.zcdp
    yield "gdp", "", loss.gdp


def amiss(loss: PrivacyLoss, kind: str, place: str, found: Enclosure) -> str:
    """What is wrong with an answer, nothing where it is in order."""
    if not 0 <= found.lower <= found.upper:
        return "out of order"
    if kind in {"delta", "tradeoff"} and found.upper > 1:
        return "above 1"
    if kind == "tradeoff" and found.lower > 1 - Fraction(place):
        return "above the test that looks at nothing"
    if kind in {"delta", "epsilon"} and not loss.parts and found.upper > 0:
        return "something for no release"
    if kind == "epsilon" and found.upper == math.inf:
        infinite = max(infinite_loss(direction.composition).upper for direction in (loss, loss.reversed()))
        return "" if Fraction(place) <= infinite or Fraction(place) == 0 else "infinite without a reason"
    return ""


class TooSlow(Exception):
    """A question took longer than it may."""


def asked(case: Case, seconds: float = SECONDS, skip: Container[str] = ()) -> Iterator[tuple[str, str, str, float]]:
    """What is amiss with each answer about a case, and the processor time it took; a coded refusal is in order."""

    def stop(*_: object) -> None:
        raise TooSlow

    before = signal.signal(signal.SIGPROF, stop)
    try:
        try:
            signal.setitimer(signal.ITIMER_PROF, seconds)
            loss = case.loss()
        except DpauditError:
            return
        for kind, place, ask in questions(loss):
            if kind in skip:
                continue
            signal.setitimer(signal.ITIMER_PROF, seconds)
            start = time.process_time()
            try:
                trouble = amiss(loss, kind, place, ask())
            except DpauditError as refusal:
                trouble = "engines disagree" if refusal.code == "DPA203" else ""
            except TooSlow:
                trouble = f"more than {seconds} s"
            except Exception as error:  # noqa: BLE001 - whatever it is, it is to be named
                trouble = f"{type(error).__name__}: {error}"
            yield kind, place, trouble, time.process_time() - start
    except TooSlow:
        yield "", "", f"more than {seconds} s to build", seconds
    except Exception as error:  # noqa: BLE001
        yield "", "", f"building: {type(error).__name__}: {error}", 0.0
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def main() -> None:
    """Go through all cases, or every N-th from the M-th on."""
    stride, first = (int(sys.argv[1]), int(sys.argv[2])) if len(sys.argv) > 2 else (1, 0)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    answers = 0
    for case in CASES[first::stride]:
        for kind, place, trouble, took in asked(case):
            answers += 1
            if trouble or took > SECONDS / 2:
                sys.stdout.write(f"{tuple(case)} {kind} {place}: {trouble or 'slow'} ({took:.1f} s)\n")
                sys.stdout.flush()
    sys.stdout.write(f"{answers} answers about {len(CASES[first::stride])} cases\n")


if __name__ == "__main__":
    main()
