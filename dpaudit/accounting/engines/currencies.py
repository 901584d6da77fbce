"""Costs of a privacy loss in each currency that adds up over adaptively chosen releases: epsilon, rho, Renyi, mu squared."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Final

from flint import arb

from dpaudit.accounting.engines.evaluate import evaluate
from dpaudit.accounting.laws.allocation import Allocated
from dpaudit.accounting.laws.between import Between
from dpaudit.accounting.laws.concentrated import Concentrated, promised_composition
from dpaudit.accounting.laws.discrete_gaussian import DiscreteGaussian, RoundedGaussian
from dpaudit.accounting.laws.gaussian import NormalPair
from dpaudit.accounting.laws.mixed_moments import between_whole, sampled_moments
from dpaudit.accounting.laws.random_order import Ordered
from dpaudit.accounting.laws.response import BoundedRange
from dpaudit.accounting.laws.sampled import Sampled
from dpaudit.accounting.laws.without_replacement import Swapped
from dpaudit.accounting.model.composition import Composition, DeltaAt
from dpaudit.accounting.model.law import Law
from dpaudit.claims import GDP, RDP, ZCDP, Adjacency, ApproxDP, Claim, Guarantee, PureDP
from dpaudit.errors import InvalidArgument, Unsupported
from dpaudit.exact import ball_endpoints, rational, working_precision

_LONGEST_DENOMINATOR: Final = 4096
_COARSE: Final = 2**256


@dataclass(frozen=True)
class Currency:
    """Amounts that add up: their names, and how much of each a privacy loss takes at most."""

    names: tuple[str, ...]
    of_law: Callable[[Law], tuple[Fraction, ...] | None]
    remedy: str

    def cost(self, spending: Composition | Guarantee, adjacency: Adjacency) -> tuple[Fraction, ...]:
        """Upper ends of what is spent, the worse of its two directions."""
        # DPA202 where nothing finite is known, DPA201 under another neighbouring relation, DPA105 for what is neither.
        if isinstance(spending, (PureDP, ZCDP, GDP)) and self.names == currency_of(spending).names:
            return stated_amount(spending)
        return self._of_composition(_as_composition(spending, adjacency))

    def _of_composition(self, loss: Composition) -> tuple[Fraction, ...]:
        """The laws' costs added up."""
        total = (Fraction(0),) * len(self.names)
        for law, count in loss.parts:
            amounts = _worse_amounts(self.of_law, law)
            if amounts is None:
                raise Unsupported("DPA202", f"{law.describe()} has no finite cost in {' and '.join(self.names)}. {self.remedy}")
            alone = count == 1 and len(loss.parts) == 1
            total = amounts if alone else tuple(known + count * one for known, one in zip(total, amounts, strict=True))
        return total


@lru_cache(maxsize=4096)
def _worse_amounts(of_law: Callable[[Law], tuple[Fraction, ...] | None], law: Law) -> tuple[Fraction, ...] | None:
    """Return the cost of one law in the worse of its directions, cached because filters meet the same laws again and again."""
    forward, backward = of_law(law), law.reversed()
    if backward is law or forward is None:
        return forward
    other = of_law(backward)
    return None if other is None else tuple(map(max, forward, other))


def stated_amount(guarantee: PureDP | ZCDP | GDP) -> tuple[Fraction]:
    """The amount that a guarantee states in its own currency."""
    match guarantee:
        case PureDP():
            return (rational(guarantee.epsilon),)
        case ZCDP():
            return (rational(guarantee.rho),)
        case GDP():
            return (rational(guarantee.mu) ** 2,)


def _as_composition(spending: Composition | Guarantee, adjacency: Adjacency) -> Composition:
    """The laws of what is spent, under the given adjacency; DPA201 for another one, DPA105 for anything else."""
    if isinstance(spending, Composition):
        adjacency.require(spending.adjacency, "the budget and what is spent of it")
        return spending
    if isinstance(spending, Guarantee):
        return promised_composition(Claim(spending, adjacency=adjacency))
    kind = type(spending).__name__
    raise InvalidArgument("DPA105", f"a budget is spent by a privacy loss or a guarantee such as PureDP(1), got a {kind}.")


def add_amounts(total: Sequence[Fraction], cost: Sequence[Fraction], times: int) -> tuple[Fraction, ...]:
    """Sums of what was spent and what is to be spent: exact, and rounded up once their denominators become very long."""
    spent = cost if times == 1 else tuple(times * amount for amount in cost)
    return tuple(_short(before + amount) if amount else before for before, amount in zip(total, spent, strict=True))


def _short(value: Fraction) -> Fraction:
    """The number, or a slightly larger one where it would take too many digits to write down."""
    if value.denominator.bit_length() <= _LONGEST_DENOMINATOR:
        return value
    return Fraction(-(-value.numerator * _COARSE // value.denominator), _COARSE)


def _pure_amount(law: Law) -> tuple[Fraction] | None:
    """Cost of a law in epsilon, rounded up; None where it is not pure."""
    greatest = law.greatest_loss()
    if greatest is None or law.infinity_mass():
        return None
    upper = greatest.ends()[1]
    return (max(upper, Fraction(0)),) if isinstance(upper, Fraction) else None


def _rho(law: Law) -> Fraction | None:
    """A rho for which the finite losses of the law are zero-concentrated, None where none is known."""
    match law:
        case NormalPair():
            return law.mu_squared / 2
        case Between():
            return _rho(law.upper)
        case Sampled() | Allocated():  # mixtures with what tells nothing
            whole = _rho(law.law)
        case Swapped():
            whole = _rho(law.law) if law.law == law.law.reversed() else None
        case _:
            whole = _rho_of_noise(law)
    greatest = [loss.ends()[1] for side in (law, law.reversed()) if (loss := side.greatest_loss()) is not None]
    if len(greatest) < 2:
        return whole
    # Bun and Steinke 2016, Proposition 1.4; an infinite loss is paid for in delta.
    pure = max(Fraction(0), *(Fraction(end) for end in greatest)) ** 2 / 2
    return pure if whole is None else min(whole, pure)


def _rho_of_noise(law: Law) -> Fraction | None:
    """The rho that a law has by its form."""
    match law:
        case Concentrated():
            return law.rho
        case DiscreteGaussian():
            return Fraction(law.sensitivity) ** 2 / (2 * law.sigma_squared)
        case RoundedGaussian():
            return (law.sensitivity / law.sigma) ** 2 / 2
        case BoundedRange():
            return law.epsilon**2 / 8
        case Ordered():
            return law.mu_squared_once * law.squares[-1][0] / 2
    return None


def _rho_amount(law: Law) -> tuple[Fraction] | None:
    """Cost of a law in rho."""
    rho = None if law.infinity_mass() else _rho(law)
    return None if rho is None else (rho,)


def _approximate_amount(law: Law) -> tuple[Fraction, Fraction] | None:
    """Cost of a law in rho and, for its infinite losses, in delta."""
    rho = _rho(law)
    return None if rho is None else (rho, law.infinity_mass())


def _gaussian_amount(law: Law) -> tuple[Fraction] | None:
    """Cost of a law in mu squared."""
    if isinstance(law, Between):
        law = law.upper
    return (law.mu_squared,) if isinstance(law, NormalPair) else None


def sampled_moment(law: Law, order: Fraction) -> tuple[arb, arb] | None:
    """Below and above log E e^(order loss) of a mixture with a release that reveals nothing; None where unknown."""
    # An addition has at most the moment of a removal, if the law is the same in both directions (docs/sampling_schemes.md,
    # moments).
    if not isinstance(law, Sampled):
        return None
    base = law.law if law.removing else law.law.reversed()
    if not law.removing and (base != law.law or base.infinity_mass()):
        return None
    moments = sampled_moments(base, law.rate)
    near = None if moments is None else between_whole(moments, 1 + order)
    return near if near is None or law.removing else (arb(0), near[1])


def moment_above(law: Law, order: Fraction) -> arb | None:
    """A ball at or above log E e^(order loss) over finite losses, None where nothing is known."""
    stated, near = law.log_moment(order), sampled_moment(law, order)
    return stated if near is None else near[1] if stated is None else near[1].min(stated)


@dataclass(frozen=True)
class _Renyi:
    """Cost of a law in Renyi divergence at fixed orders."""

    orders: tuple[Fraction, ...]

    def __call__(self, law: Law) -> tuple[Fraction, ...] | None:
        """Upper ends of the divergences, None where one is infinite or unknown."""
        if law.infinity_mass():
            return None
        found = []
        with working_precision(128):
            for order in self.orders:
                moment = moment_above(law, order - 1)
                upper = None if moment is None else ball_endpoints(moment)[1]
                if not isinstance(upper, Fraction):
                    return None
                found.append(max(upper, Fraction(0)) / (order - 1))
        return tuple(found)


PURE: Final = Currency(("epsilon",), _pure_amount, "A zCDP or Renyi budget can take it.")
CONCENTRATED: Final = Currency(("rho",), _rho_amount, "A budget in approximate or Renyi differential privacy may take it.")
APPROXIMATE: Final = Currency(("rho", "delta"), _approximate_amount, "State a guarantee such as ApproxDP(epsilon, delta) instead.")
GAUSSIAN: Final = Currency(("mu squared",), _gaussian_amount, "Only Gaussian noise and GDP guarantees add up here.")


def currency_of(guarantee: Guarantee) -> Currency:
    """The currency in which spending under a guarantee adds up; DPA202 for a whole curve, which has none."""
    match guarantee:
        case PureDP():
            return PURE
        case ZCDP():
            return CONCENTRATED
        case ApproxDP():
            return APPROXIMATE
        case GDP():
            return GAUSSIAN
        case RDP():
            orders = tuple(order for order, _ in guarantee.orders)
            names = tuple(f"Renyi divergence of order {order}" for order in orders)
            return Currency(names, _Renyi(orders), "Choose other orders.")
    raise Unsupported("DPA202", "a whole privacy profile is no budget. Give PureDP, ApproxDP, ZCDP, RDP or GDP.")


def max_rho(epsilon: Fraction, delta: Fraction) -> Fraction:
    """A rho, as large as a search finds, whose certified delta at `epsilon` is at most `delta`; 0 where none was found."""
    low, high, relation = Fraction(0), epsilon, Adjacency("add_remove")
    for _ in range(60):
        middle = (low + high) / 2
        upper = evaluate(Composition(((Concentrated(middle), 1),), relation), DeltaAt(epsilon)).upper
        low, high = (middle, high) if upper <= delta else (low, middle)
        if high - low <= high / 2**30:
            break
    return low
