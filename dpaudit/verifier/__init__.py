"""From the source of a Python function to a proof of its privacy claim, or to a certified counterexample."""

from __future__ import annotations

from dpaudit.verifier.verifying import Verification, verify

__all__ = ["Verification", "verify"]
