"""Group privacy: the loss of datasets that differ in several records, with and without sampling.

The order matters: a group of a sampled release holds records that are drawn one by one, while a sample of the release of a group
(`.group(2).sampled(...)`) draws all of the group or none of it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass, replace
from fractions import Fraction
from functools import reduce
from itertools import product
from typing import Final, Protocol, runtime_checkable

from flint import arb

from dpaudit.accounting.laws.between import Between
from dpaudit.accounting.laws.concentrated import Concentrated
from dpaudit.accounting.laws.cyclic import CyclicSample
from dpaudit.accounting.laws.discrete_gaussian import DiscreteGaussian, RoundedGaussian
from dpaudit.accounting.laws.discrete_laplace import DiscreteLaplace
from dpaudit.accounting.laws.gaussian import Gaussian, NormalPair, SquaredGaussian
from dpaudit.accounting.laws.laplace import Laplace
from dpaudit.accounting.laws.mixed_laplace import MixedLaplace
from dpaudit.accounting.laws.mixed_normals import MixedNormals, mixed_normals
from dpaudit.accounting.laws.mixed_pair import ALONE, binomial_weights
from dpaudit.accounting.laws.mixed_responses import MixedResponses
from dpaudit.accounting.laws.normal_sums import Weights
from dpaudit.accounting.laws.response import BoundedRange, Response, pure_response
from dpaudit.accounting.laws.sampled import Sampled
from dpaudit.accounting.model.composition import Composition, merge_parts
from dpaudit.accounting.model.law import Law, LossValue
from dpaudit.claims import Adjacency
from dpaudit.errors import Unsupported
from dpaudit.exact import shown

READABLE: Final = (Adjacency("replace_one"), Adjacency("zero_out"))
MOST_SAMPLED: Final = 256  # Largest group in a sample; the weights of larger ones have too many digits


def of_group(loss: Composition, size: int) -> Composition:
    """The composition of the parts' laws at `size` steps, in a sample for any split of it; DPA202 for a part that has none."""
    return loss if size == 1 else _each(loss, lambda law: law_at_distance(law, size))


def of_parts(loss: Composition, removed: int, added: int) -> Composition:
    """The composition when so many records are removed and added; DPA202 elsewhere and for a part that has no law there."""
    if loss.adjacency.kind != "add_remove":
        remedy = "Ask .group(size) for so many steps of this relation."
        raise Unsupported("DPA202", f"numbers of removed and added records are about add_remove, got {loss.adjacency}. {remedy}")
    return _each(loss, lambda law: _law_of_parts(law, removed, added))


def under(loss: Composition, adjacency: Adjacency) -> Composition:
    """The composition under another adjacency than add_remove, for which it is stated; DPA202 where nothing is known there."""
    if adjacency == loss.adjacency:
        return loss
    if loss.adjacency != Adjacency("add_remove") or adjacency not in READABLE:
        raise Unsupported(
            "DPA202",
            f"a loss under add_remove can be read under replace_one and zero_out, not one under {loss.adjacency} under "
            f"{adjacency}. State the loss of one release there.",
        )
    swapped = adjacency == Adjacency("replace_one")

    def change(law: Law) -> Law:
        if isinstance(law, Reread):
            return law.under(replaced=swapped)
        if not swapped and _holds_reread(law):
            raise Unsupported(
                "DPA202", f"{law.describe()} is known under add_remove only. Read its releases under {adjacency} first."
            )
        return _law_of_parts(law, 1, 1, replaced=True) if swapped else law

    return merge_parts([(change(law), count) for law, count in loss.parts], adjacency)


@runtime_checkable
class Reread(Law, Protocol):
    """A law under add_remove that says itself what it is where a record is replaced or contributes nothing."""

    def under(self, *, replaced: bool) -> Law:
        """The law for a record that is replaced, else for one that contributes nothing."""


def _holds_reread(value: object) -> bool:
    """True if anywhere in a law there is one that depends on what happens to the record."""
    if isinstance(value, tuple):
        return any(_holds_reread(part) for part in value)
    if not is_dataclass(value):
        return False
    return isinstance(value, Reread) or any(_holds_reread(getattr(value, field.name)) for field in fields(value))


@dataclass(frozen=True)
class SplitGroup:
    """A sampled release on datasets that differ in `size` records, of which any number are removed and the others added."""

    # The number removed is the same in a whole composition: `alternatives` lists the pairs, which engines answer one by one. What
    # this class says of itself is the worst of all, and holds in either direction.
    law: Sampled
    size: int

    def describe(self) -> str:
        return f"group({self.size}) of {self.law.describe()}"

    def reversed(self) -> SplitGroup:
        return self

    def greatest_loss(self) -> LossValue | None:
        found = [law.greatest_loss() for law in self.members()]
        bounded = [loss for loss in found if loss is not None]
        return max(bounded, key=lambda loss: loss.ends()[1]) if len(bounded) == len(found) else None

    def infinity_mass(self) -> Fraction:
        return max(law.infinity_mass() for law in self.members())

    def log_moment(self, order: Fraction) -> arb | None:
        """At or above that of every split; from below, only `alternatives` say which one several laws have in common."""
        found = [law.log_moment(order) for law in self.members()]
        known = [moment for moment in found if moment is not None]
        if len(known) < len(found):
            return None
        most = reduce(arb.max, known)
        return arb(0).union(most) if isinstance(self.law.law, Response) else most  # of promises the members are laws above

    def members(self) -> list[Law]:
        """The laws for every number of records that are removed, from all of them down."""
        return [_law_of_parts(self.law, removed, self.size - removed) for removed in range(self.size, -1, -1)]


def alternatives(loss: Composition) -> list[Composition]:
    """The compositions whose worst answer is meant: one for every split of the groups, up to exchanging the two datasets."""
    sizes = sorted({law.size for law, _ in loss.parts if isinstance(law, SplitGroup)})
    if not sizes:
        return [loss]
    found: list[Composition] = []
    for removed in product(*(range(size, -1, -1) for size in sizes)):
        split = dict(zip(sizes, removed, strict=True))
        each = merge_parts(
            (
                (_law_of_parts(law.law, split[law.size], law.size - split[law.size]) if isinstance(law, SplitGroup) else law, count)
                for law, count in loss.parts
            ),
            loss.adjacency,
        )
        if each.reversed() not in found:
            found.append(each)
    return found


def require_direction(loss: Composition) -> None:
    """Refuse a composition that stands for several, none of which a direction names (DPA202)."""
    if any(isinstance(law, SplitGroup) for law, _ in loss.parts):
        raise Unsupported(
            "DPA202",
            "a group of which some records are removed and others added has no single direction. Ask .group(removed=, added=).",
        )


def _each(loss: Composition, change: Callable[[Law], Law]) -> Composition:
    """Every law changed on its own."""
    return merge_parts([(change(law), count) for law, count in loss.parts], loss.adjacency)


def law_at_distance(law: Law, size: int) -> Law:
    """One law at `size` times the distance."""
    match law:
        case Laplace():
            return replace(law, sensitivity=size * law.sensitivity)
        case DiscreteLaplace() | DiscreteGaussian() | RoundedGaussian():
            return replace(law, sensitivity=size * law.sensitivity)
        case NormalPair():
            return _normal_of_group(law, size)
        case Concentrated():
            return Concentrated(size**2 * law.rho)
        case BoundedRange():
            return _bracket_of_group(BoundedRange(size * law.epsilon), law, size)
        case Response() if not law.infinity:
            return _bracket_of_group(pure_response(size * law.epsilon), law, size)
        case Between():
            below = None if law.lower is None else law_at_distance(law.lower, size)
            return Between(f"group({size}) of {law.name}", law_at_distance(law.upper, size), below, law.ground)
        case Sampled():
            _law_of_parts(law, size, 0)
            return SplitGroup(law, size)
    raise Unsupported("DPA202", f"{law.describe()} says nothing about datasets further apart. State the loss at that distance.")


def _law_of_parts(law: Law, removed: int, added: int, *, replaced: bool = False) -> Law:
    """One law when so many records are removed and added, a removed one `replaced` by the added one where it was."""
    if removed + added == 1:
        return law if removed else law.reversed()
    if replaced and isinstance(law, MixedNormals) and law.name.startswith("gaussian_mixture("):
        moved = law.up if law.down == ALONE else law.down
        return mixed_normals(moved, moved, law.unit_squared, f"group(removed=1, added=1) of {law.name}")
    if not isinstance(law, Sampled):
        return law_at_distance(law, removed + added)
    if isinstance(law, CyclicSample) and not replaced:
        raise Unsupported(
            "DPA202", f"a group may be spread over the classes of {law.describe()}, which take part in different steps."
        )
    if removed + added > MOST_SAMPLED:
        raise Unsupported("DPA202", f"groups in a sample are priced up to {MOST_SAMPLED} records, got {removed + added}.")
    if not law.removing:
        removed, added = added, removed
    up, down = (binomial_weights(size, law.rate) for size in (removed, added))
    name = f"group(removed={removed}, added={added}) of {law.describe()}"
    found = mixed_law(law.law, up, down, name)
    if not isinstance(found, MixedResponses) or max(removed, added) == 1:
        return found
    # Only one step each way is attained: of several, no mechanism need have the law above.
    one, other = min(removed, 1), min(added, 1)
    turned = (one, other) if law.removing else (other, one)
    return Between(name, found, _law_of_parts(law, *turned, replaced=replaced), "a group contains single steps")


def mixed_law(law: Law, up: Weights, down: Weights, name: str) -> Law:
    """The pair where random numbers of steps away from a common dataset have the weights of `up` and of `down`."""
    match law:
        case NormalPair():
            return mixed_normals(up, down, law.mu_squared, name)
        case Laplace():
            return MixedLaplace(law.pure_epsilon, up, down, name)
        case Response() if not (law.infinity or law.others or law.between is not None):
            return MixedResponses(law.epsilon, up, down, name)
    raise Unsupported(
        "DPA202",
        f"{law.describe()} is not priced for several records in a sample: only Gaussian and Laplace noise and pure promises are.",
    )


def _normal_of_group(law: NormalPair, size: int) -> NormalPair:
    """Normal laws further apart."""
    if not isinstance(law, Gaussian):
        return SquaredGaussian(size**2 * law.mu_squared, f"group({size}) of {law.name}")
    mu = size * law.mu
    return Gaussian(mu, f"gdp(mu={shown(mu)})" if law.name.startswith("gdp") else f"group({size}) of {law.name}")


def _bracket_of_group(above: Law, below: Law, size: int) -> Between:
    """A promise whose losses add up along the path; one step of it may lose all that a single step allows."""
    ground = f"losses add up over {size} steps; a group contains single steps"
    return Between(f"group({size}) of {below.describe()}", above, below, ground)
