"""Facts about one definition from the text of its module alone, cached for as long as that text is unchanged."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from dpaudit.verifier.stamps.canonical import canonical
from dpaudit.verifier.stamps.modules import Module
from dpaudit.verifier.stamps.names import Use, uses

EVERYTHING: Final = "*"
"""Stands for all definitions of a module, where the module itself is handed on."""
IMPORT: Final = "(import)"
"""Stands for what a module does when it is imported."""

_READING: Final = frozenset(("read_text", "read_bytes"))
_FILE: Final = re.compile(r"[\w./-]+\.\w+")


@dataclass(frozen=True)
class Facts:
    """One definition."""

    source: str  # its canonical text
    uses: tuple[Use, ...]  # the names that it uses, each once
    files: tuple[str, ...]  # strings in it that may name a file
    reads: bool  # whether it reads a file
    is_assigned: bool  # whether it is a value and neither function nor class


@lru_cache(maxsize=16384)
def facts_of(module: Module, name: str) -> Facts | None:
    """Read one definition of a module."""
    nodes = module.effects if name == IMPORT else module.definitions.get(name, ())
    if not nodes and name not in (IMPORT, EVERYTHING):
        return None
    parts = [part for node in nodes for part in ast.walk(node)]
    local = {one.id for one in parts if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)}
    return Facts(
        canonical(nodes),
        tuple(dict.fromkeys(use for use in uses(nodes, module.package) if not _is_inner(use, local, module))),
        tuple(dict.fromkeys(_names_of_files(parts))),
        any(isinstance(part, ast.Attribute) and part.attr in _READING for part in parts),
        not any(isinstance(one, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)) for one in nodes),
    )


def _is_inner(use: Use, local: set[str], module: Module) -> bool:
    """True if a name is one that a class body binds for itself."""
    return use.imported is None and use.name in local and use.name not in module.definitions and use.name not in module.imports


def _names_of_files(parts: Iterable[ast.AST]) -> Iterable[str]:
    """The strings that look like the name of a file."""
    for part in parts:
        if isinstance(part, ast.Constant) and isinstance(part.value, str) and _FILE.fullmatch(part.value):
            yield part.value
