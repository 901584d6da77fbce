"""The front end: Python source in, a typed program out, or a refusal that names line, column, construct and remedy."""

from __future__ import annotations

from dpaudit.verifier.frontend.clauses import Expression as Expression
from dpaudit.verifier.frontend.clauses import expression as expression
from dpaudit.verifier.frontend.parsing import parse as parse
from dpaudit.verifier.frontend.refusals import OutsideSubset as OutsideSubset

__all__ = ["Expression", "OutsideSubset", "expression", "parse"]
