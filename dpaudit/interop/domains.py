"""Inputs made from what an OpenDP operation says of its domain."""

from __future__ import annotations

import re
from typing import Any, Final

from dpaudit.errors import Unsupported

_VALUES: Final = {"bool": (True, False), "String": ("a", "b", "c")}
_RANGE: Final = (0, 100)
"""Where a domain has no bounds: numbers that every type holds, and that most clamps cut."""


def input_of(operation: Any) -> Any:
    """An input made from the domain: values across its range, one record more than the output has where that is fixed."""
    domain = operation.input_domain
    atom = getattr(domain, "element_domain", domain)
    kind = str(getattr(atom, "carrier_type", ""))
    values: list[Any] = list(_VALUES.get(kind, ()))
    size = getattr(domain, "size", None) or (getattr(getattr(operation, "output_domain", None), "size", None) or 3) + 1
    if re.fullmatch(r"[fiu]\d+|usize", kind):
        lower, upper = atom.bounds or _RANGE
        number = float if kind.startswith("f") else round
        values = [number(lower + (upper - lower) * place / (size - 1 or 1)) for place in range(size)]
    if not values:
        raise Unsupported("DPA202", f"no input can be made from {domain}. Give data= or neighbours=.")
    return values[0] if atom is domain else [values[place % len(values)] for place in range(size)]
