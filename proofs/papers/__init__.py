"""The privacy claims of the source papers, each decided by witnesses: what `dpaudit audit papers` runs."""

from __future__ import annotations

from typing import Final

from dpaudit.extras import require
from proofs.papers import costs, halfspaces, kernels, maps, passes, public_data, scores

require("proofs")  # a witness without its solver would leave its item undecided without a word

_ORDER: Final = [f"{letter}{place}" for letter, last in (("A", 29), ("N", 6), ("P", 5), ("K", 9)) for place in range(1, last + 1)]
_MODULES: Final = (scores, costs, passes, maps, halfspaces, public_data, kernels)
ITEMS: Final = tuple(sorted((item for module in _MODULES for item in module.ITEMS), key=lambda item: _ORDER.index(item.key)))
"""All items, in the order of their keys."""
