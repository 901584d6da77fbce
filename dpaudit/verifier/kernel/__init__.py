"""The certificate kernel: a small checker that trusts no solver, only exact arithmetic over clauses that it makes itself."""

from __future__ import annotations

from dpaudit.verifier.kernel.checker import check
from dpaudit.verifier.kernel.reading import KernelRejects, read

__all__ = ["KernelRejects", "check", "read"]
