"""From the source of a Python function to a proof of its privacy claim, or to a certified counterexample."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from dpaudit.lazy import lazily

if TYPE_CHECKING:
    from dpaudit.verifier.outcomes import ProofResult as ProofResult
    from dpaudit.verifier.verifying import verify as verify

_HOMES: Final = {"ProofResult": "outcomes", "verify": "verifying"}

__all__ = sorted(_HOMES)

__getattr__, __dir__ = lazily(__name__, _HOMES)
