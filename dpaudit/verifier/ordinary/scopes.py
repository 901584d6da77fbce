"""The names that each function of a file binds, as Python's own compiler says."""

from __future__ import annotations

import ast
import symtable
from collections.abc import Iterator

from dpaudit.verifier.ordinary.refusing import refuse


class Scopes:
    """The tables of symbols of a file, by the line and name of the function."""

    def __init__(self, text: str) -> None:
        self.tables: dict[tuple[str, int], list[symtable.SymbolTable]] = {}
        for table in _below(symtable.symtable(text, "<source>", "exec")):
            self.tables.setdefault((table.get_name(), table.get_lineno()), []).append(table)

    def names_of(self, node: ast.FunctionDef | ast.Lambda) -> frozenset[str]:
        """The names that are local to a function."""
        name = node.name if isinstance(node, ast.FunctionDef) else "lambda"
        found = self.tables.get((name, node.lineno), [])
        kinds = {frozenset(one.get_name() for one in table.get_symbols() if one.is_local()) for table in found}
        if len(kinds) != 1:
            raise refuse(node, "two functions on one line", "write each on a line of its own")
        return kinds.pop()


def _below(table: symtable.SymbolTable) -> Iterator[symtable.SymbolTable]:
    """All tables inside of one."""
    for one in table.get_children():
        yield one
        yield from _below(one)
