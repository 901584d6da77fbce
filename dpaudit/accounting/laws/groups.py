"""Group privacy: the loss of datasets that are several steps of the neighbouring relation apart."""

from __future__ import annotations

from dataclasses import replace

from dpaudit.accounting.laws.between import Between
from dpaudit.accounting.laws.concentrated import Concentrated
from dpaudit.accounting.laws.discrete_gaussian import DiscreteGaussian, RoundedGaussian
from dpaudit.accounting.laws.discrete_laplace import DiscreteLaplace
from dpaudit.accounting.laws.gaussian import Gaussian
from dpaudit.accounting.laws.laplace import Laplace
from dpaudit.accounting.laws.response import BoundedRange, Response, pure_response
from dpaudit.accounting.model.composition import Composition, merge_parts
from dpaudit.accounting.model.law import Law
from dpaudit.errors import Unsupported
from dpaudit.exact import shown


def of_group(loss: Composition, size: int) -> Composition:
    """The composition of the parts' laws at `size` steps; DPA202 for a part that has none."""
    if size == 1:
        return loss
    return merge_parts([(_law_of_group(law, size), count) for law, count in loss.parts], loss.adjacency)


def _law_of_group(law: Law, size: int) -> Law:
    """One law at `size` times the distance."""
    match law:
        case Laplace():
            return replace(law, sensitivity=size * law.sensitivity)
        case DiscreteLaplace() | DiscreteGaussian() | RoundedGaussian():
            return replace(law, sensitivity=size * law.sensitivity)
        case Gaussian():
            mu = size * law.mu
            return Gaussian(mu, f"gdp(mu={shown(mu)})" if law.name.startswith("gdp") else f"group({size}) of {law.name}")
        case Concentrated():
            return Concentrated(size**2 * law.rho)
        case BoundedRange():
            return _bracket_of_group(BoundedRange(size * law.epsilon), law, size)
        case Response() if not law.infinity:
            return _bracket_of_group(pure_response(size * law.epsilon), law, size)
        case Between():
            below = None if law.lower is None else _law_of_group(law.lower, size)
            return Between(f"group({size}) of {law.name}", _law_of_group(law.upper, size), below, law.ground)
    raise Unsupported("DPA202", f"{law.describe()} says nothing about datasets further apart. State the loss at that distance.")


def _bracket_of_group(above: Law, below: Law, size: int) -> Between:
    """A promise whose losses add up along the path; one step of it may lose all that a single step allows."""
    ground = f"losses add up over {size} steps; a group contains single steps"
    return Between(f"group({size}) of {below.describe()}", above, below, ground)
