"""Refusals of the front end: the place, the construct, and what to write instead."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import Final

from dpaudit.errors import Unsupported
from dpaudit.verifier.ir import Place


class OutsideSubset(Unsupported):
    """Source that the verifier does not read; `line` and `column` from 1 on, `construct` as found, `hint` what to write instead."""

    def __init__(self, code: str, place: Place, construct: str, hint: str) -> None:
        super().__init__(code, f"line {place.line}, column {place.column}: {construct}; {hint}.")
        self.line, self.column = place.line, place.column
        self.construct, self.hint = construct, hint

    def __reduce__(self) -> tuple[type[OutsideSubset], tuple[str, Place, str, str]]:  # type: ignore[override]
        """Pickle by parts."""
        return type(self), (self.code, Place(self.line, self.column), self.construct, self.hint)


def place_of(node: ast.AST) -> Place:
    """Where a node stands; line 1, column 1 for nodes without a place."""
    return Place(getattr(node, "lineno", 1), getattr(node, "col_offset", 0) + 1)


def refusal(node: ast.AST, construct: str, hint: str, code: str = "DPA701") -> OutsideSubset:
    """The error for a node, to be raised."""
    return OutsideSubset(code, place_of(node), construct, hint)


_NAMES: Final = {
    "AsyncFor": "an async for loop", "AsyncFunctionDef": "an async function", "Assert": "assert",
    "AugAssign": "an operation with assignment", "Await": "await", "ClassDef": "a class", "Delete": "del",
    "Dict": "a dictionary", "DictComp": "a dictionary comprehension", "FunctionDef": "a function inside a function",
    "GeneratorExp": "a generator expression", "Global": "global", "Import": "import", "ImportFrom": "import",
    "JoinedStr": "an f-string", "Lambda": "lambda", "List": "a list", "ListComp": "a list comprehension", "Match": "match",
    "NamedExpr": "an assignment inside an expression", "Nonlocal": "nonlocal", "Set": "a set", "SetComp": "a set comprehension",
    "Slice": "a slice", "Starred": "a starred expression", "TemplateStr": "a template string", "Try": "try", "TryStar": "try",
    "Tuple": "a tuple", "With": "with", "Yield": "yield", "YieldFrom": "yield from",
}  # fmt: skip

_HINTS: Final = {
    "Assert": "`-O` removes it, so say it in requires=[...]",
    "AsyncFor": "write a plain for loop",
    "Attribute": "only `out.append(...)` is read of attributes",
    "Dict": "use parameters and scalar names",
    "Global": "pass the value as a parameter",
    "JoinedStr": "programs compute with numbers only",
    "Lambda": "write the expression where it is needed",
    "List": "an output list starts as `out = []` at the top of the function and is only appended to",
    "ListComp": "write an explicit for loop with `out.append(...)`",
    "GeneratorExp": "write an explicit for loop",
    "NamedExpr": "assign on a line of its own",
    "Nonlocal": "pass the value as a parameter",
    "Slice": "read one element, q[i], inside a loop",
    "Try": "state in requires=[...] what keeps the error away",
    "TryStar": "state in requires=[...] what keeps the error away",
    "Tuple": "assign to one name a line; only `return` takes a flat tuple",
    "Match": "write if and elif",
    "While": "write the loop without it",
    "For": "write the loop without it",
}


def refusal_of_kind(node: ast.AST) -> OutsideSubset:
    """The error for a kind of node that the subset does not have."""
    kind = type(node).__name__
    return refusal(node, _NAMES.get(kind, f"the construct {kind}"), _HINTS.get(kind, "write it with the constructs of the subset"))


def take(node: ast.AST, *fields: str) -> None:
    """Refuse a node that says anything in a field other than those named: what is not read must not be there."""
    for field in node._fields:
        if field in fields or field == "ctx":
            continue
        if getattr(node, field, None) not in (None, [], 0):
            kind = type(node).__name__
            what = f"`{_FIELDS.get(field, field)}` of {kind}"
            raise refusal(_first(getattr(node, field), node), what, _HINTS.get(kind, "leave it out"))


_FIELDS: Final = {"orelse": "else", "type_params": "type parameters", "kwarg": "**", "vararg": "*", "kind": "the prefix"}


def _first(value: object, otherwise: ast.AST) -> ast.AST:
    """A node with a place: the value, its first item, or what holds it."""
    items: Iterable[object] = value if isinstance(value, list) else [value]
    return next((item for item in items if isinstance(item, ast.AST) and hasattr(item, "lineno")), otherwise)
