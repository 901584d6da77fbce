"""Mixtures: the loss of a mechanism that draws one of several components with public probabilities and runs it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from flint import arb, fmpq

from dpaudit.accounting.laws.between import dominated_laws
from dpaudit.accounting.laws.response import Response
from dpaudit.accounting.laws.sampled import delta_of, profile_of
from dpaudit.accounting.model.composition import Composition
from dpaudit.accounting.model.coordinates import Coordinates, Place
from dpaudit.accounting.model.distribution import Distribution
from dpaudit.accounting.model.law import Atom, Atoms, Finite, Law, LossValue, Mass
from dpaudit.errors import Unsupported
from dpaudit.exact import ball, fmpq_of, shown

REVEALED = "a component that is shown: delta is the mean of the components' deltas (docs/prices.md, mixtures)"
HIDDEN = "forgetting the component is post-processing, which may hide everything (docs/prices.md, mixtures)"
NOTHING = Response(Fraction(0), "nothing")  # The law of a component that releases nothing


@dataclass(frozen=True)
class Mixed:
    """One of several laws, drawn with the stated probabilities and shown beside its output; each law has a profile."""

    parts: tuple[tuple[Fraction, Law], ...]

    def describe(self) -> str:
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
        return sum((weight * law.infinity_mass() for weight, law in self.parts), Fraction(0))

    def log_moment(self, order: Fraction) -> arb | None:
        whole = arb(0)
        for weight, law in self.parts:
            moment = law.log_moment(order)
            if moment is None:
                return None
            whole += ball(weight) * moment.expm1()
        return whole.log1p()

    def profile(self, epsilon: arb) -> arb:
        return sum((ball(weight) * delta_of(law, epsilon) for weight, law in self.parts), arb(0))

    def profile_source(self) -> str:
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
        from dpaudit.accounting.laws.distributions import Blend, Listed, distribution_of

        if self.atoms(128) is not None:
            return Listed(self)
        found = [(distribution_of(law), weight) for weight, law in self.parts]
        known = tuple((distribution, weight) for distribution, weight in found if distribution is not None)
        return Blend(known, Fraction(0)) if len(known) == len(found) else None


def law_of_component(composition: Composition, side: Callable[[Composition], Composition]) -> Law:
    """Return the law with a profile above or below a component; DPA202 where there is none or the component has several."""
    if sum(count for _, count in composition.parts) > 1:
        remedy = "Where every release draws its component, compose mixtures."
        raise Unsupported("DPA202", f"a component of a mixture is one release, got {composition.describe()}. {remedy}")
    law = next((law for law, _ in side(composition).parts), NOTHING)
    if profile_of(law) is not None:
        return law
    if side is dominated_laws:
        return NOTHING
    raise Unsupported("DPA202", f"{law.describe()} has no certified profile to be mixed. State the law of its noise instead.")
