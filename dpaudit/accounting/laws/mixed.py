"""Mixtures: the loss of a mechanism that draws one of several components with public probabilities and runs it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from flint import arb, fmpq

from dpaudit.accounting.bounds import laws_above, laws_below
from dpaudit.accounting.coordinates import Coordinates, Place
from dpaudit.accounting.law import Atom, Atoms, Finite, Law, Mass
from dpaudit.accounting.laws.between import Between
from dpaudit.accounting.laws.profiles import delta_of, profile_of
from dpaudit.accounting.laws.response import Response
from dpaudit.accounting.loss import PrivacyLoss, single
from dpaudit.accounting.values import LossValue
from dpaudit.errors import InvalidArgument, Unsupported
from dpaudit.exact import Exact, ball, fmpq_of, in_range, instance_of, shown

if TYPE_CHECKING:
    from dpaudit.accounting.numeric.distributions import Distribution

REVEALED = "a component that is shown: delta is the mean of the components' deltas (docs/accounting.md, mixtures)"
HIDDEN = "forgetting the component is post-processing, which may hide everything (docs/accounting.md, mixtures)"
NOTHING = Response(Fraction(0), "nothing")
"""The law of a component that releases nothing."""


@dataclass(frozen=True)
class Mixed:
    """One of several laws, drawn with the stated probabilities and shown beside its output; each law has a profile."""

    parts: tuple[tuple[Fraction, Law], ...]

    def describe(self) -> str:
        """The laws with their probabilities."""
        return f"mixture({', '.join(f'{shown(weight)}: {law.describe()}' for weight, law in self.parts)})"

    def reversed(self) -> Mixed:
        """Every law reversed: the draw is the same on both sides."""
        return Mixed(tuple((weight, law.reversed()) for weight, law in self.parts))

    def greatest_loss(self) -> LossValue | None:
        """The greatest of all laws, None where one of them is unbounded."""
        found = [law.greatest_loss() for _, law in self.parts]
        bounded = [loss for loss in found if loss is not None]
        return max(bounded, key=lambda loss: loss.ends()[1]) if len(bounded) == len(found) else None

    def infinity_mass(self) -> Fraction:
        """The mean."""
        return sum((weight * law.infinity_mass() for weight, law in self.parts), Fraction(0))

    def log_moment(self, order: Fraction) -> arb | None:
        """Logarithm of the mean of the moments."""
        whole = arb(0)
        for weight, law in self.parts:
            moment = law.log_moment(order)
            if moment is None:
                return None
            whole += ball(weight) * moment.expm1()
        return whole.log1p()

    def profile(self, epsilon: arb) -> arb:
        """The mean of the profiles."""
        return sum((ball(weight) * delta_of(law, epsilon) for weight, law in self.parts), arb(0))

    def profile_source(self) -> str:
        """Why the mean counts."""
        return REVEALED

    def atoms(self, tail: int) -> Atoms | None:
        """The values of all laws, equal ones put together; None where a law has too many or does not list them."""
        listed = [(fmpq_of(weight), law.atoms(tail)) for weight, law in self.parts if isinstance(law, Finite)]
        found = [(weight, atoms) for weight, atoms in listed if atoms is not None]
        places = Coordinates.of(atom.loss for _, atoms in found for atom in atoms.atoms)
        if len(found) < len(self.parts) or places is None:
            return None
        joined: dict[Place, Atom] = {}
        for weight, atoms in found:
            for atom in atoms.atoms:
                known = joined.get(places.place(atom.loss), Atom(atom.loss, fmpq(0), fmpq(0)))
                masses = (known.p_mass + weight * atom.p_mass, known.q_mass + weight * atom.q_mass)
                joined[places.place(atom.loss)] = Atom(atom.loss, *masses)
        infinity: Mass = sum((weight * atoms.infinity for weight, atoms in found), fmpq(0))
        return Atoms(tuple(joined.values()), infinity)

    def distribution(self) -> Distribution | None:
        """That of the values where they are listed, else the mean of the laws'; None where one is not known."""
        from dpaudit.accounting.numeric.distributions import Listed, distribution_of
        from dpaudit.accounting.numeric.mixtures import Blend

        if self.atoms(128) is not None:
            return Listed(self)
        found = [(distribution_of(law), weight) for weight, law in self.parts]
        known = tuple((distribution, weight) for distribution, weight in found if distribution is not None)
        return Blend(known, Fraction(0)) if len(known) == len(found) else None


def mixture(parts: Sequence[tuple[Exact, PrivacyLoss]], *, revealed: bool = True) -> PrivacyLoss:
    """Privacy loss of one of several mechanisms, drawn with public probabilities that do not depend on the data.

    Args:
      parts: (probability, loss) of each component, probabilities exact and adding up to 1; a loss is that of one release, or of
        none (`0 * loss`).
      revealed: whether the component is known to those who see the output. If not, the revealed mixture is a bound from above
        and nothing is known from below; of components with listed outputs, average the probabilities and give `explicit_pair`.
    Returns:
      A loss under the components' adjacency, exact where those of the components are, also after composition.
    Raises:
      AdjacencyMismatch: the components speak of different neighbouring relations (DPA201).
      InvalidArgument: no component (DPA109), one that is no pair of a number and a loss (DPA101, DPA102, DPA105), or
        probabilities outside [0, 1] or of another sum than 1 (DPA103).
      Unsupported: a component makes several releases, or is known by its moments only (DPA202).
    Source: docs/accounting.md, mixtures.
    Example:
      >>> from dpaudit.accounting import laplace, pure_dp
      >>> half = mixture([("1/2", laplace(scale=1)), ("1/2", pure_dp("1/4"))])
      >>> print(half.epsilon(delta=0), half.delta(epsilon="1/4"))
      1 [0.156355, 0.156356]
    """
    instance_of(revealed, bool, "revealed")
    if not isinstance(parts, Sequence) or not all(_is_component(part) for part in parts):
        raise InvalidArgument("DPA105", "parts must be (probability, loss) pairs in a sequence, such as [(1, gaussian(sigma=1))].")
    if not parts:
        raise InvalidArgument("DPA109", "parts must list at least one component.")
    adjacency = parts[0][1].adjacency
    for _, loss in parts:
        adjacency.require(loss.adjacency, "two components of a mixture")
    found = [(in_range(weight, "a component's probability", lower=0, upper=1), loss) for weight, loss in parts]
    whole = sum((weight for weight, _ in found), Fraction(0))
    if whole != 1:
        remedy = 'Write fractions such as "1/3", not rounded decimals.'
        raise InvalidArgument("DPA103", f"probabilities must add up to exactly 1, got {shown(whole)}. {remedy}")
    drawn = tuple((weight, loss) for weight, loss in found if weight)
    above, below = (Mixed(tuple((weight, _law(loss, side)) for weight, loss in drawn)) for side in (laws_above, laws_below))
    if len(drawn) == 1:
        return drawn[0][1]
    if revealed and above == below:
        return single(above, adjacency)
    name = f"mixture({', '.join(f'{shown(weight)}: {loss.describe()}' for weight, loss in drawn)}, revealed={revealed})"
    return single(Between(name, above, below, REVEALED) if revealed else Between(name, above, None, HIDDEN), adjacency)


def _is_component(part: object) -> bool:
    """Whether something is a pair of anything and a loss."""
    return isinstance(part, tuple) and len(part) == 2 and isinstance(part[1], PrivacyLoss)


def _law(loss: PrivacyLoss, side: Callable[[PrivacyLoss], PrivacyLoss]) -> Law:
    """The law with a profile that stands above or below a component; DPA202 where there is none or the component has several."""
    if sum(count for _, count in loss.parts) > 1:
        remedy = "Where every release draws its component, compose mixtures."
        raise Unsupported("DPA202", f"a component of a mixture is one release, got {loss.describe()}. {remedy}")
    law = next((law for law, _ in side(loss).parts), NOTHING)
    if profile_of(law) is not None:
        return law
    if side is laws_below:
        return NOTHING
    raise Unsupported("DPA202", f"{law.describe()} has no certified profile to be mixed. State the law of its noise instead.")
