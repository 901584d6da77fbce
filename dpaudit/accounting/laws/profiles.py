"""The privacy profile of one release: a closed one, one read off listed values, or that of a Poisson sample of either."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeAlias

from flint import arb

from dpaudit.accounting.laws.sampled import Sampled
from dpaudit.accounting.model.law import Finite, Law, Profiled
from dpaudit.exact import ball

ProfileBall: TypeAlias = Callable[[arb], arb]
"""A ball around delta at an epsilon of any sign, at the current precision."""

TAIL: Final = 1200
"""Bits of the tail at which a law with endlessly many values is cut."""

SAMPLED: Final = "mixture of a law with one that tells nothing (Balle, Barthe, Gaboardi 2018, Theorem 8)"


def delta_of(law: Law, epsilon: arb) -> arb:
    """Delta of a law, a ball that says nothing where its profile is not known."""
    profile = profile_of(law)
    return arb(0).union(arb(1)) if profile is None else profile(epsilon)


def profile_of(law: Law) -> ProfileBall | None:
    """The profile of a law in its direction, None where it is not known."""
    match law:
        case Sampled():
            base = profile_of(law.law)
            return None if base is None else lambda epsilon: _thinned(law, base, epsilon)
        case Profiled():
            return law.profile
        case Finite() if law.atoms(TAIL) is not None:
            return lambda epsilon: _listed(law, epsilon)
    return None


def source_of(law: Law) -> str:
    """The theorem behind a profile that is not read off listed values."""
    return law.profile_source() if isinstance(law, Profiled) else SAMPLED


def _thinned(law: Sampled, delta: ProfileBall, epsilon: arb) -> arb:
    """Removing: rate d(log(1 + (e^e - 1)/rate)). Adding, with c = 1 - (1 - rate) e^e: c d(log(rate e^e/c)), or 0 for c <= 0."""
    rate = ball(law.rate)
    odds = 1 + epsilon.expm1() / rate if law.removing else 1 - (1 - rate) * epsilon.exp()
    if law.removing:
        edge = -epsilon.expm1()
        return rate * delta(odds.log()) if odds > 0 else edge if odds <= 0 else edge.union(rate)
    return odds * delta((rate * epsilon.exp() / odds).log()) if odds > 0 else arb(0) if odds <= 0 else odds.union(arb(0))


def _listed(law: Finite, epsilon: arb) -> arb:
    """The infinite loss and the positive parts of P - e^epsilon Q."""
    found, growth = law.atoms(TAIL), epsilon.exp()
    if found is None:
        return arb(0).union(arb(1))
    gains = (arb(atom.p_mass) - growth * atom.q_mass for atom in found.atoms)
    return sum((gain.nonnegative_part() for gain in gains), arb(found.infinity))
