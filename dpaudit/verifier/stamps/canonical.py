"""The text of a syntax tree that its stamp is made of: without positions, comments and docstrings, the same in every Python."""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Iterable, Sequence
from typing import Final

_SILENT: Final = frozenset({"ctx", "kind", "type_comment", "type_ignores"})
"""Fields that say nothing of what a program does, or nothing that the place of a node does not say."""


def canonical(node: ast.AST | Sequence[ast.AST]) -> str:
    """Write a syntax tree as text that changes with what the program does and with nothing else."""
    if not isinstance(node, ast.AST):
        return _listed(node)
    if isinstance(node, ast.Constant):
        return f"{type(node.value).__name__}:{node.value!r}"
    if isinstance(node, ast.JoinedStr):
        return f"JoinedStr({_listed(_merged(node.values))})"
    parts = [f"{name}={_part(value)}" for name, value in ast.iter_fields(node) if name not in _SILENT and value not in (None, [])]
    return f"{type(node).__name__}({','.join(parts)})"


def digest(*parts: str) -> str:
    """Hash texts so that no two lists of texts share their input."""
    total = hashlib.sha256()
    for part in parts:
        coded = part.encode("utf-8", "surrogatepass")
        total.update(len(coded).to_bytes(8, "big") + coded)
    return total.hexdigest()


def is_text_alone(node: ast.AST) -> bool:
    """True if a statement is a string that does nothing: a docstring, or the description of the name above it."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def _part(value: object) -> str:
    """The text of one field."""
    if isinstance(value, ast.AST):
        return canonical(value)
    return _listed(value) if isinstance(value, list) else repr(value)


def _listed(values: Iterable[object]) -> str:
    """The text of several nodes, without strings that stand alone."""
    kept = [value for value in values if not (isinstance(value, ast.AST) and is_text_alone(value))]
    return f"[{','.join(_part(value) for value in kept)}]"


def _merged(values: Sequence[ast.expr]) -> list[ast.expr]:
    """The parts of an f-string with neighbouring texts joined, since versions of Python split them differently."""
    merged: list[ast.expr] = []
    for value in values:
        last = merged[-1] if merged else None
        if not isinstance(value, ast.Constant):
            merged.append(value)
        elif isinstance(last, ast.Constant):
            merged[-1] = ast.Constant(str(last.value) + str(value.value))
        elif value.value != "":
            merged.append(value)
    return merged
