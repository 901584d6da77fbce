"""dpaudit: certified accounting, statistical auditing and property tests of differential privacy claims."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from dpaudit.auditor import audit as audit
    from dpaudit.claims import GDP as GDP
    from dpaudit.claims import RDP as RDP
    from dpaudit.claims import ZCDP as ZCDP
    from dpaudit.claims import Adjacency as Adjacency
    from dpaudit.claims import ApproxDP as ApproxDP
    from dpaudit.claims import Claim as Claim
    from dpaudit.claims import Curve as Curve
    from dpaudit.claims import PureDP as PureDP
    from dpaudit.errors import DpauditError as DpauditError
    from dpaudit.exact import Enclosure as Enclosure
    from dpaudit.results import Verdict as Verdict
    from dpaudit.targets import Sensitivity as Sensitivity
    from dpaudit.targets import Target as Target
    from dpaudit.verifier import verify as verify

__version__ = "0.1.0"

_HOMES: Final = {
    "audit": "dpaudit.auditor",
    **dict.fromkeys(("Adjacency", "ApproxDP", "Claim", "Curve", "GDP", "PureDP", "RDP", "ZCDP"), "dpaudit.claims"),
    "DpauditError": "dpaudit.errors",
    "Enclosure": "dpaudit.exact",
    "Verdict": "dpaudit.results",
    **dict.fromkeys(("Sensitivity", "Target"), "dpaudit.targets"),
    "verify": "dpaudit.verifier",
}

__all__ = [*sorted(_HOMES), "__version__"]


def __getattr__(name: str) -> object:
    """Load a public name on first use (PEP 562), so that `import dpaudit` stays cheap."""
    if name not in _HOMES:
        raise AttributeError(f"module 'dpaudit' has no attribute {name!r}")
    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """Every public name, loaded or not."""
    return sorted(__all__)
