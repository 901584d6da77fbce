"""Certificates for the kernel, found with solvers and checked without them."""

from __future__ import annotations

from dpaudit.verifier.certify.search import certificate

__all__ = ["certificate"]
