"""The front end: Python source in, a typed program out, or a refusal that names line, column, construct and remedy.

A construct is one entry of one table: a kind of expression in `expressions._READERS`, an operator in `expressions._OPERATORS`, a
kind of statement in `statements._READERS`. What is in no table is refused. Only a new kind of statement of `ir` needs more: its
meaning in `interpreter` and in `product.statements`.
"""

from __future__ import annotations

from dpaudit.verifier.frontend.clauses import Expression as Expression
from dpaudit.verifier.frontend.clauses import expression as expression
from dpaudit.verifier.frontend.parsing import parse as parse
from dpaudit.verifier.frontend.refusals import OutsideSubset as OutsideSubset

__all__ = ["Expression", "OutsideSubset", "expression", "parse"]
