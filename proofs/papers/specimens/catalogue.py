"""All learners that are broken on purpose, and for each the correct twin that differs in the one step."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from learners.targets import choices as sound
from proofs.papers.specimens import choices, halfspaces, kernels, linear, maps, passes, perturbation, public_data

if TYPE_CHECKING:
    from collections.abc import Mapping

    from dpaudit.targets import Target

SPECIMENS: Final = (
    *choices.SPECIMENS,
    *halfspaces.SPECIMENS,
    *kernels.SPECIMENS,
    *linear.SPECIMENS,
    *maps.SPECIMENS,
    *passes.SPECIMENS,
    *perturbation.SPECIMENS,
    *public_data.SPECIMENS,
)
"""An audit must refute every one of them."""

_SOUND: Final = {target.name: target for target in (*sound.TARGETS, *choices.TWINS)}

TWINS: Final[Mapping[str, Target]] = {
    "broken_pure_margin": _SOUND["pure_margin_choice"],
    "broken_hinge_choice": _SOUND["hinge_choice"],
    "broken_arrangement": _SOUND["arrangement_choice"],
    "broken_gridded_choice": _SOUND["gridded_choice"],
    "broken_label_cover": _SOUND["label_private_choice"],
    **halfspaces.TWINS,
    **kernels.TWINS,
    **linear.TWINS,
    **maps.TWINS,
    **passes.TWINS,
    **perturbation.TWINS,
    **public_data.TWINS,
}
"""The correct twin of each by its name: an audit must refute none of them."""
