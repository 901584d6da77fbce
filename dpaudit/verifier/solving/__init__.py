"""Satisfiability of formulas: our own SMT-LIB text, given to z3 and cvc5, and models that our own evaluator confirms."""

from __future__ import annotations

from dpaudit.verifier.solving.back_ends import Answer, Outcome, satisfiable
from dpaudit.verifier.solving.models import Model
from dpaudit.verifier.solving.printer import script
from dpaudit.verifier.solving.session import Session

__all__ = ["Answer", "Model", "Outcome", "Session", "satisfiable", "script"]
