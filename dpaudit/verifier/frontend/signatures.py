"""The head of a function: parameters with their sorts, samplers with their laws."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Final

from dpaudit.binding import STANDARD
from dpaudit.spec import LAWS
from dpaudit.verifier.frontend.refusals import refusal, take
from dpaudit.verifier.frontend.scopes import Source
from dpaudit.verifier.ir import Law, ListOf, Parameter
from dpaudit.verifier.terms import Sort

_SORTS: Final[Mapping[str, Sort | ListOf]] = {
    "int": Sort.INT,
    "Fraction": Sort.REAL,
    "bool": Sort.BOOL,
    "list[int]": ListOf(Sort.INT),
    "list[Fraction]": ListOf(Sort.REAL),
}
_HARMLESS: Final = (ast.Name, ast.Attribute, ast.Subscript, ast.Tuple, ast.List, ast.Constant, ast.Load)
"""The nodes that annotations which are not read may consist of."""


def signature(source: Source) -> tuple[tuple[Parameter, ...], dict[str, Law]]:
    """The parameters of a function in their order, and the law of each sampler, which is a keyword-only parameter."""
    tree = source.tree
    take(tree, "name", "args", "body", "decorator_list", "returns")
    _harmless(tree.returns)
    take(tree.args, "args", "defaults", "kwonlyargs", "kw_defaults")
    names: set[str] = set()
    parameters = []
    for argument in tree.args.args:
        take(argument, "arg", "annotation")
        if argument.annotation is None:
            raise refusal(argument, f"the parameter {argument.arg} without a type", f"write one of {', '.join(_SORTS)}", "DPA702")
        text = ast.unparse(argument.annotation)
        if text not in _SORTS:
            raise refusal(argument.annotation, f"the type {text}", f"write one of {', '.join(_SORTS)}", "DPA702")
        parameters.append(Parameter(_fresh(argument, names), _SORTS[text]))
    for parameter, default in zip(reversed(parameters), reversed(tree.args.defaults), strict=False):
        value = default.value if isinstance(default, ast.Constant) else None
        if {int: Sort.INT, bool: Sort.BOOL}.get(type(value)) is not parameter.sort:
            raise refusal(default, f"this default of {parameter.name}", "leave it out, or write a literal int or bool", "DPA702")
    return tuple(parameters), _samplers(source, names)


def _fresh(argument: ast.arg, names: set[str]) -> str:
    """The name of a parameter, which no other and no function of the subset has."""
    if argument.arg in names or argument.arg in STANDARD:
        raise refusal(argument, f"the parameter name {argument.arg}", "use a name of its own", "DPA702")
    names.add(argument.arg)
    return argument.arg


def _samplers(source: Source, names: set[str]) -> dict[str, Law]:
    """The law of each keyword-only parameter: its name's, or the one that the specification gives."""
    laws = {**{law: law for law in LAWS}, **dict(source.promise.laws if source.promise else ())}
    samplers = {}
    for argument, default in zip(source.tree.args.kwonlyargs, source.tree.args.kw_defaults, strict=True):
        take(argument, "arg", "annotation")
        _harmless(argument.annotation)
        if default is not None:
            raise refusal(default, f"a default of the sampler {argument.arg}", "leave it out: the caller must choose", "DPA702")
        if argument.arg not in laws:
            hint = f"name it like a law, or say laws={{{argument.arg!r}: ...}}; other parameters are not keyword-only"
            raise refusal(argument, f"the keyword-only parameter {argument.arg} without a law", hint, "DPA702")
        samplers[_fresh(argument, names)] = Law(laws[argument.arg])
    for name in dict(source.promise.laws) if source.promise else ():
        if name not in samplers:
            raise refusal(source.tree, f"laws names {name}, which is not a keyword-only parameter", "name its samplers", "DPA702")
    return samplers


def _harmless(annotation: ast.expr | None) -> None:
    """An annotation that is not read may not do anything either."""
    for part in ast.walk(annotation) if annotation else ():
        if not isinstance(part, _HARMLESS):
            raise refusal(part, "this annotation", "write a plain type", "DPA702")
