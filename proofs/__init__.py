"""Proofs about what ships: programs with certificates, lemmas, bounds of float paths, and the graph that joins them to claims."""

from __future__ import annotations

from dpaudit.own_packages import require_own

require_own("mechanisms")
require_own("learners")
