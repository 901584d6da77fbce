"""The distributions of the laws of a composition: what numerical engines compose, and look up what they remember by."""

from __future__ import annotations

from fractions import Fraction
from functools import cached_property, lru_cache

from dpaudit.accounting.laws.between import dominated_laws, dominating_laws
from dpaudit.accounting.laws.distributions import Normal, distribution_of
from dpaudit.accounting.model.composition import Composition
from dpaudit.accounting.model.distribution import Distribution
from dpaudit.accounting.model.law import GaussianShaped


class Parts(tuple[tuple[Distribution, int], ...]):  # noqa: SLOT001 - what is remembered needs a place
    """Distributions, each with how often it is used; its hash is computed once."""

    @cached_property
    def _hash(self) -> int:
        """Hash of the contents."""
        return super().__hash__()

    def __hash__(self) -> int:
        return self._hash


@lru_cache(maxsize=64)
def parts_of(composition: Composition, *, lower: bool) -> Parts | None:
    """The laws above or below as distributions, Gaussians merged; None where one of those above is not known."""
    found: dict[Distribution, int] = {}
    normal = Fraction(0)
    for law, count in (dominated_laws if lower else dominating_laws)(composition).parts:
        distribution = distribution_of(law)
        if isinstance(law, GaussianShaped):
            normal += count * law.mu_squared
        elif distribution is not None:
            found[distribution] = found.get(distribution, 0) + count
        elif not lower:
            return None
    return Parts((*found.items(), *(((Normal(normal), 1),) if normal else ())))
