"""The zoo: every mechanism of the catalogue that an audit runs, with its claim at one epsilon."""

from __future__ import annotations

from typing import Final

from dpaudit.catalogue import additive, float_noise, gaussians, maximum, responses, sparse_vector, sums
from dpaudit.catalogue.specimen import Specimen
from dpaudit.exact import Exact, in_range
from dpaudit.targets import Target

_FAMILIES: Final = (additive, sums, maximum, sparse_vector, responses, gaussians, float_noise)


def specimens(epsilon: Exact) -> tuple[Specimen, ...]:
    """Return every mechanism of the zoo, with its claim at one epsilon.

    Args:
      epsilon: the claimed epsilon in nats, exact, in (0, 1]; for Gaussian noise the claimed mu. Claims of a few specimens are
        multiples of it, or the gain that sampling has at it; the Bloom filters and one Gaussian have published parameters.
    Returns:
      Specimens in a fixed order, each with a target. Truths are stored for epsilon 1/10, 1/2 and 1.
    Raises:
      InvalidArgument: `epsilon` is not a finite number (DPA101, DPA102) or outside of (0, 1] (DPA103).
    Source: docs/catalogue.md, "The zoo".
    Example:
      >>> [one.name for one in specimens("1/2") if "svt5" in one.name]
      ['svt5']
    """
    claimed = in_range(epsilon, "epsilon", lower=0, upper=1, lower_open=True)
    families = (one for family in _FAMILIES for one in family.family(claimed))
    return (*families, *responses.published(), *gaussians.published())


def _targets(found: tuple[Specimen, ...]) -> tuple[Target, ...]:
    """Return the targets of specimens."""
    return tuple(one.target for one in found if one.target is not None)


SPECIMENS: Final = specimens("1/2")
TARGETS: Final = _targets(SPECIMENS)
"""What `dpaudit audit zoo` audits."""

PUBLISHED: Final = _targets(specimens("1/10"))
"""The same at epsilon 1/10, where published tools were compared."""
