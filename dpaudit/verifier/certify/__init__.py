"""Certificates for the kernel: found with solvers, which are then needed no more."""

from __future__ import annotations

from dpaudit.verifier.certify.search import certificate

__all__ = ["certificate"]
