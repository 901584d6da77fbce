"""dpaudit: differential privacy claims, checked by certified price, statistical attack, property tests and proof."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from dpaudit.lazy import lazily

if TYPE_CHECKING:
    from dpaudit.auditor import audit as audit
    from dpaudit.auditor import audit_samples as audit_samples
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
    from dpaudit.plain.claiming import claim as claim
    from dpaudit.results import Verdict as Verdict
    from dpaudit.targets import Sensitivity as Sensitivity
    from dpaudit.targets import Target as Target
    from dpaudit.verifier import verify as verify

__version__ = "0.1.0"

_HOMES: Final = {
    **dict.fromkeys(("audit", "audit_samples"), "auditor"),
    "claim": "plain.claiming",
    **dict.fromkeys(("Adjacency", "ApproxDP", "Claim", "Curve", "GDP", "PureDP", "RDP", "ZCDP"), "claims"),
    "DpauditError": "errors",
    "Enclosure": "exact",
    "Verdict": "results",
    **dict.fromkeys(("Sensitivity", "Target"), "targets"),
    "verify": "verifier",
}

__all__ = [*sorted(_HOMES), "__version__"]

__getattr__, __dir__ = lazily(__name__, _HOMES)
