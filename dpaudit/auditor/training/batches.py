"""The law of the batches: exact tests of sizes, overlaps and participation against the sampling that was told."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from dpaudit.auditor.training.findings import FALSE_ALARM, LoopCheck, holds, not_judged
from dpaudit.auditor.training.promises import TrainingClaim, as_float

Batches: TypeAlias = Sequence[NDArray[np.int64]]

SAMPLING: Final = "sampling"
REPEATED: Final = "repeated examples"

_LEVEL: Final = FALSE_ALARM / 10
_FEWEST_STEPS: Final = 10
_FEWEST_DRAWN: Final = 200
_POISSON: Final = (
    "Put each record into each batch by a coin of its own with the stated rate, empty batches included, and drop none."
)
_FIXED: Final = "Draw exactly rate * records different records for each batch, anew in every step."


def check_repeated(batches: Batches) -> LoopCheck:
    """Check that no record is in one batch twice, which doubles what it can change."""
    for number, batch in enumerate(batches):
        if len(np.unique(batch)) < len(batch):
            detail = f"a batch of {len(batch)} holds {len(np.unique(batch))} different records"
            return LoopCheck(REPEATED, "violated", len(batches), detail, "Sample without replacement within a batch.", number)
    return holds(REPEATED, len(batches))


def check_sampling(batches: Batches, claim: TrainingClaim) -> LoopCheck:
    """Check the batches against Poisson sampling or batches of a fixed size; the first law that fails is named."""
    if claim.rate == 1:
        short = next((number for number, batch in enumerate(batches) if len(np.unique(batch)) < claim.records), None)
        if short is None:
            return holds(SAMPLING, len(batches))
        return LoopCheck(SAMPLING, "violated", len(batches), "a batch lacks records at rate 1", "Claim the rate in use.", short)
    laws, remedy = (_poisson_laws, _POISSON) if claim.sampling == "poisson" else (_fixed_laws, _FIXED)
    for tail, detail, step in laws(batches, claim.records, as_float(claim.rate)):
        if tail <= _LEVEL:
            return LoopCheck(SAMPLING, "violated", len(batches), detail, remedy, step)
    drawn = len(batches) * claim.records * as_float(claim.rate)
    if len(batches) < _FEWEST_STEPS or drawn < _FEWEST_DRAWN:
        return not_judged(SAMPLING, f"{len(batches)} batches with {drawn:.0f} records show little of a law. Watch more steps.")
    return holds(SAMPLING, len(batches))


_Law: TypeAlias = tuple[float, str, int | None]


def _poisson_laws(batches: Batches, records: int, rate: float) -> Iterator[_Law]:
    """Tail probability of each statistic under Poisson sampling, with what it shows."""
    sizes = np.array([len(batch) for batch in batches])
    steps, total = len(sizes), int(sizes.sum())
    yield (
        _sizes_tail(sizes, records, rate),
        f"{int((sizes == sizes.max()).sum())} of {steps} batches have the largest size seen",
        None,
    )
    yield (
        _two_sided(total, steps * records, rate),
        f"records took part {total} times, {steps * records * rate:.0f} were expected",
        None,
    )
    for first in (0, 1):
        pairs = [(batches[place], batches[place + 1]) for place in range(first, steps - 1, 2)]
        shared = sum(len(np.intersect1d(one, other)) for one, other in pairs)
        expected = len(pairs) * records * rate**2
        detail = f"batches that follow each other share {shared} records, {expected:.0f} were expected"
        yield _two_sided(shared, len(pairs) * records, rate**2), detail, None
    yield from _participation(batches, records, rate)
    yield from _dispersion(batches, records, rate)


def _fixed_laws(batches: Batches, records: int, rate: float) -> Iterator[_Law]:
    """Tail probability of each statistic for batches of one size, drawn anew in each step."""
    from scipy.stats import hypergeom

    size = round(rate * records)
    for number, batch in enumerate(batches):
        yield float(len(batch) == size), f"a batch has {len(batch)} records, {size} were told", number
    law = hypergeom(records, size, size)
    shared = [len(np.intersect1d(one, other)) for one, other in pairwise(batches)]
    # Given one batch the next is uniform, so that the overlaps of successive pairs are independent.
    yield float(law.pmf(0)) ** len(shared) if not any(shared) else 1.0, "no two batches that follow each other share a record", None
    for number, count in enumerate(shared, start=1):
        yield float(law.sf(count - 1)) * len(shared), f"two batches that follow each other share {count} records", number
    yield from _participation(batches, records, size / records)


def _participation(batches: Batches, records: int, rate: float) -> Iterator[_Law]:
    """How often each record took part: never for too many, or too often for one."""
    from scipy.special import bdtrc

    counts = np.bincount(np.concatenate([np.unique(batch) for batch in batches]), minlength=records)
    unseen = int((counts == 0).sum())
    # Chernoff's bound, since in batches of a fixed size records are not independent but negatively associated.
    tail = _chernoff(unseen, records, (1 - rate) ** len(batches))
    yield tail, f"{unseen} of {records} records were in no batch", None
    seen = _chernoff(records - unseen, records, 1 - (1 - rate) ** len(batches))
    yield seen, f"{records - unseen} of {records} records were in a batch, as if in turn", None
    most = int(counts.max())
    yield (
        records * float(bdtrc(most - 1, len(batches), rate)) if most else 1.0,
        f"a record was in {most} of {len(batches)} batches",
        None,
    )


def _dispersion(batches: Batches, records: int, rate: float) -> Iterator[_Law]:
    """How unequally records took part: too unequally where some are preferred, too equally where each has its turn."""
    from scipy.special import logsumexp
    from scipy.stats import binom

    steps = len(batches)
    counts = np.bincount(np.concatenate([np.unique(batch) for batch in batches]), minlength=records)
    squares = (np.arange(steps + 1) - round(steps * rate)) ** 2
    logs, usual = binom.logpmf(np.arange(steps + 1), steps, rate), max(1.0, steps * rate * (1 - rate))
    seen = int(squares[counts].sum())
    expected = records * float(np.exp(logs) @ squares)
    # Chernoff's bound at any exponent is valid, since Poisson sampling takes records independently.
    for sign, said in ((1, "more unequally"), (-1, "more equally")):
        tilts = sign * np.geomspace(1e-3, 10, 40) / usual
        tail = min(0.0, *(records * float(logsumexp(logs + tilt * squares)) - tilt * seen for tilt in tilts))
        detail = f"records took part {said} than by coins: squared deviations add up to {seen}, {expected:.0f} were expected"
        yield float(np.exp(tail)), detail, None


def _sizes_tail(sizes: NDArray[np.int64], records: int, rate: float) -> float:
    """Bound the probability that so many batches share the largest size, whatever that is: a cap, or batches of one size."""
    from scipy.special import gammaln
    from scipy.stats import binom

    steps, ties = len(sizes), int((sizes == sizes.max()).sum())
    if ties < 2:
        return 1.0
    counts = np.arange(records + 1)
    ways = gammaln(steps + 1) - gammaln(ties + 1) - gammaln(steps - ties + 1)
    logs = ways + ties * binom.logpmf(counts, records, rate) + (steps - ties) * binom.logcdf(counts, records, rate)
    return min(1.0, float(np.exp(np.minimum(logs, 0.0)).sum()))


def _chernoff(count: int, trials: int, rate: float) -> float:
    """Bound the upper tail of a sum of negatively associated coins."""
    from scipy.special import rel_entr

    share = count / trials
    return float(np.exp(-trials * (rel_entr(share, rate) + rel_entr(1 - share, 1 - rate)))) if share > rate else 1.0


def _two_sided(count: int, trials: int, rate: float) -> float:
    """Two-sided tail of a binomial count."""
    from scipy.special import bdtr, bdtrc

    below, above = float(bdtr(count, trials, rate)), float(bdtrc(count - 1, trials, rate)) if count else 1.0
    return min(1.0, 2 * min(below, above)) if trials else 1.0
