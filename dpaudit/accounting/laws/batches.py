"""Batches of bounded size and draws with replacement: the laws of a Gaussian release on them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Final

from flint import arb

from dpaudit.accounting.laws.between import Between, end_of, law_below
from dpaudit.accounting.laws.gaussian import NormalPair
from dpaudit.accounting.laws.groups import law_at_distance
from dpaudit.accounting.laws.mixed import Mixed
from dpaudit.accounting.laws.mixed_normals import mixed_normals
from dpaudit.accounting.laws.mixed_pair import ALONE
from dpaudit.accounting.laws.normal_sums import Weights
from dpaudit.accounting.laws.response import Response
from dpaudit.accounting.laws.sampled import Sampled, profile_of
from dpaudit.accounting.laws.without_replacement import Swapped
from dpaudit.accounting.model.law import Law, LossValue
from dpaudit.errors import Unsupported
from dpaudit.exact import ball, ball_endpoints, shown, working_precision

CHANCE_BITS: Final = 1100  # Probabilities are rounded down to multiples of 2 to minus this; what is left over reveals everything
BITS: Final = 1400  # Working precision for them
LONGEST: Final = 1 << 15  # Bits of powers of rationals that are kept exact
MOST_COPIES: Final = 256  # Records that are drawn more often than this count as revealed
REVEALED: Final = Response(Fraction(0), "everything", infinity=Fraction(1))

CUT: Final = (
    "whether the batch was cut is revealed; in a cut batch the record takes the place of another one "
    "(docs/sampling_schemes.md, truncated batches)"
)
REDRAWN: Final = (
    "a record that is drawn j times is j records that are replaced (Balle, Barthe, Gaboardi 2018, Theorem 10; "
    "docs/sampling_schemes.md, with replacement)"
)


@dataclass(frozen=True)
class CutBatch(Mixed):
    """A whole or a cut batch: above a record that is the only one to change as the relation of a `Cut` says, and no other."""

    def reversed(self) -> CutBatch:
        return CutBatch(tuple((weight, law.reversed()) for weight, law in self.parts))

    def under(self, *, replaced: bool) -> Law:  # noqa: ARG002 - neither is known
        """Refused: the batch no longer says what it was made of (DPA202)."""
        raise Unsupported("DPA202", f"{self.describe()} is known for its own adjacency only. Read the releases there.")


@dataclass(frozen=True)
class Cut:
    """A Gaussian release on a Poisson sample of which a uniform subset of `cap` is kept where it is larger."""

    # `records` with the one in question; `relation` says what happens to it.
    law: NormalPair
    rate: Fraction
    cap: int
    records: int
    relation: str = "add_remove"
    turned: bool = False

    def describe(self) -> str:
        scheme = f"TruncatedPoisson(rate={shown(self.rate)}, cap={self.cap}, records={self.records})"
        return f"{self.law.describe()}.sampled({scheme})"

    def reversed(self) -> Cut:
        return Cut(self.law, self.rate, self.cap, self.records, self.relation, not self.turned)

    def greatest_loss(self) -> LossValue | None:
        return self.bracket()[0].greatest_loss()

    def infinity_mass(self) -> Fraction:
        return self.bracket()[0].infinity_mass()

    def log_moment(self, order: Fraction) -> arb | None:
        return self.bracket()[0].log_moment(order)

    def bracket(self) -> tuple[Law, Law | None]:
        """The two kinds of batches with their chances; and a sample from a dataset of which the others contribute nothing."""
        whole, part, kept, kept_least = cut_chances(self.rate, self.cap, self.records)
        drawn, taken = (((Fraction(0), 1 - rate), (Fraction(1), rate)) for rate in (self.rate, kept))
        far = ((Fraction(0), 1 - kept), (Fraction(2), kept))
        sides: dict[str, tuple[Weights, Weights]] = {
            "add_remove": (ALONE, ALONE),
            "zero_out": (ALONE, taken),
            "replace_one": (drawn, far),
        }
        first = self._pair(drawn, sides[self.relation][0])
        second = self._pair(far, sides[self.relation][1])
        parts = [(whole, first), (part, second), (1 - whole - part, REVEALED)]
        mean = whole * self.rate + part * kept_least
        alone = ((Fraction(0), 1 - mean), (Fraction(1), mean))
        lower = self._pair(alone, alone if self.relation == "replace_one" else ALONE)
        upper: Law = CutBatch(tuple((weight, law) for weight, law in parts if weight))
        return (upper.reversed(), lower.reversed()) if self.turned else (upper, lower)

    def bracket_source(self) -> str:
        return CUT

    def under(self, *, replaced: bool) -> Cut:
        """The same for a record that is replaced, or one that contributes nothing."""
        return Cut(self.law, self.rate, self.cap, self.records, "replace_one" if replaced else "zero_out", self.turned)

    def _pair(self, up: Weights, down: Weights) -> Law:
        """Normal laws at random distances."""
        return mixed_normals(up, down, self.law.mu_squared, f"a batch of {self.describe()}")


@lru_cache(maxsize=256)
def cut_chances(rate: Fraction, cap: int, records: int) -> tuple[Fraction, Fraction, Fraction, Fraction]:
    """Below the chances of a whole and of a cut batch, and above and below the chance of the record in a cut one."""
    # A batch is cut when at least `cap` of the others are drawn. The record is then kept with probability cap E[1/(m + 1)].
    (fewer, slack), (at_most, more_slack) = binomial_masses(records - 1, rate, cap - 1), binomial_masses(records, rate, cap)
    whole, kept = sum(fewer, Fraction(0)), sum(at_most, Fraction(0))
    part = max(1 - whole - slack, Fraction(0))
    if not part:
        return whole, Fraction(0), Fraction(0), Fraction(0)
    share = Fraction(cap, records)
    return whole, part, min(share * (1 - kept) / part, rate), max(share * (1 - kept - more_slack) / (1 - whole), Fraction(0))


def binomial_masses(size: int, rate: Fraction, most: int) -> tuple[list[Fraction], Fraction]:
    """Probabilities of 0, ..., `most` of Bin(size, rate), rounded down where they are long, and how much they lose together."""
    exact = size * rate.denominator.bit_length() <= LONGEST
    most = min(most, size)
    with working_precision(BITS):
        odds = rate / (1 - rate)
        mass: Fraction | arb = (1 - rate) ** size if exact else ball(1 - rate) ** size
        found = []
        for drawn in range(most + 1):
            found.append(mass if isinstance(mass, Fraction) else _down(mass))
            step = odds * Fraction(size - drawn, drawn + 1)
            mass = mass * step if isinstance(mass, Fraction) else mass * ball(step)
    return found, Fraction(0) if exact else Fraction(4 * (most + 1), 2**CHANCE_BITS)


def _down(mass: arb) -> Fraction:
    """A probability rounded down by at most four units of the last bit that is kept."""
    low, high = (Fraction(end) for end in ball_endpoints(mass))
    if (high - low) * 2**CHANCE_BITS > 1:
        raise Unsupported("DPA202", "the sampling probabilities are beyond what can be computed. Sample fewer records.")
    return Fraction(max(int(low * 2**CHANCE_BITS), 0), 2**CHANCE_BITS)


def cut_law(law: Law, rate: Fraction, cap: int, records: int) -> Law:
    """A Gaussian release on truncated Poisson batches; DPA202 for other noise."""
    if not isinstance(law, NormalPair):
        raise Unsupported("DPA202", f"truncated batches are priced for Gaussian noise, got {law.describe()}.")
    if cap >= records:
        return Sampled(law, rate, removing=True)
    return Cut(law, rate, cap, records)


def redrawn_law(law: Law, size: int, records: int) -> Law:
    """A release on draws with replacement; DPA202 for laws that say nothing about several replaced records."""
    above, below = end_of(law, 0) or law, law_below(law)
    chances, rest = copy_chances(size, records)
    drawn = 1 - chances[0]
    several = [(chance / drawn, law_at_distance(above, copies)) for copies, chance in enumerate(chances) if copies and chance]
    parts = [(chance, end_of(part, 0) or part) for chance, part in several]
    mean = Mixed((*parts, *([(rest / drawn, REVEALED)] if rest else [])))
    if any(profile_of(part) is None for _, part in parts):
        raise Unsupported("DPA202", f"{law.describe()} has no certified profile for records that are drawn several times.")
    lower: Law | None = None
    if isinstance(below, NormalPair):
        seen: Sequence[tuple[Fraction, Fraction]] = [(Fraction(copies), chance) for copies, chance in enumerate(chances)]
        lower = mixed_normals(
            [*seen, (Fraction(0), rest)], ALONE, below.mu_squared, f"{law.describe()} for a record beside nothing"
        )
    name = f"{law.describe()}.sampled(SampledWithReplacement(size={size}, of={records}))"
    return Between(name, Swapped(mean, drawn), lower, REDRAWN)


@lru_cache(maxsize=64)
def copy_chances(size: int, records: int) -> tuple[tuple[Fraction, ...], Fraction]:
    """Chances of 0, 1, ... copies of a record among the draws, rounded down where they are long; and what is left over."""
    found, _ = binomial_masses(size, Fraction(1, records), MOST_COPIES)
    return tuple(found), 1 - sum(found, Fraction(0))
