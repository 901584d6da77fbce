"""All learners that are broken on purpose, each with a sound twin that differs in one step."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from proofs.papers.specimens import choices, halfspaces, kernels, maps, passes, perturbation, public_data
from proofs.papers.specimens.pairs import Pair

if TYPE_CHECKING:
    from collections.abc import Mapping

    from dpaudit.targets import Target

PAIRS: Final[tuple[Pair, ...]] = (
    *choices.PAIRS,
    *halfspaces.PAIRS,
    *kernels.PAIRS,
    *maps.PAIRS,
    *passes.PAIRS,
    *perturbation.PAIRS,
    *public_data.PAIRS,
)

SPECIMENS: Final = tuple(broken for broken, _ in PAIRS)
"""An audit must refute every one of them."""

TWINS: Final[Mapping[str, Target]] = {broken.name: sound for broken, sound in PAIRS}
"""The sound twin of each by its name: an audit must refute none of them."""
