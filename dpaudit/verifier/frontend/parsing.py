"""From a function or its text to a program: head, body, helpers and contract."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from typing import Any

from dpaudit.errors import Unsupported
from dpaudit.spec import Spec
from dpaudit.verifier.frontend.calls import emit_call, emit_draw, read_argument
from dpaudit.verifier.frontend.clauses import contract
from dpaudit.verifier.frontend.expressions import term
from dpaudit.verifier.frontend.readers import Reader
from dpaudit.verifier.frontend.refusals import refusal, take
from dpaudit.verifier.frontend.scopes import Source, of_function, of_text
from dpaudit.verifier.frontend.signatures import signature
from dpaudit.verifier.frontend.statements import assign, block, stored_names, without_docstring
from dpaudit.verifier.ir import Law, ListOf, Program
from dpaudit.verifier.terms import Term, variable


def parse(
    source: str | Callable[..., Any], promise: Spec | None = None, *, helpers: Mapping[str, tuple[str, Spec | None]] | None = None
) -> Program:
    """Read a function of the subset.

    Args:
      source: a plain function, whose source is looked up, or the text of one.
      promise: what it promises; a function decorated by `@spec` brings its own.
      helpers: for a text, the texts of the functions that it calls, by name, with what they promise; None for pure ones.
    Returns:
      The program with its contract.
    Raises:
      OutsideSubset: a construct outside the subset, with line, column, construct and hint (DPA701 to DPA706).
      Unsupported: no readable source (DPA702), no specification or one that cannot be read (DPA722, DPA723).
    Source: docs/verification.md, "What the verifier reads".
    Example:
      >>> text = "def noisy(q: list[Fraction], eps: Fraction) -> Fraction: return q[0] + laplace(1 / eps)"
      >>> parse(text, Spec(claim="eps", adjacency="one", requires=["eps > 0", "len(q) >= 1"])).name
      'noisy'
    """
    read = of_text(source, promise, helpers or {}) if isinstance(source, str) else of_function(source, promise)
    if read.promise is None:
        raise Unsupported("DPA722", f"{read.tree.name} has no specification; decorate it with @spec(claim=..., adjacency=...).")
    try:
        return _program(read, ())
    except RecursionError as error:
        raise Unsupported("DPA702", f"{read.tree.name} is nested too deeply to be read; split its expressions.") from error


def _program(source: Source, path: tuple[str, ...]) -> Program:
    """The program of a function with a contract of its own."""
    tree = source.tree
    parameters, samplers = signature(source)
    lists = {one.name: (one.name, one.sort.element) for one in parameters if isinstance(one.sort, ListOf)}
    symbols = {one.name: variable(one.name, one.sort) for one in parameters if not isinstance(one.sort, ListOf)}
    reader = Reader(
        source.find,
        stored_names(tree.body) | {one.name for one in parameters},
        symbols,
        lists,
        set(symbols),
        call=_call,
        path=(*path, tree.name),
        samplers=samplers,
        counters=_counters(tree),
        parameters=frozenset(one.name for one in parameters),
    )
    reader.shared.sorts.update({name: found.sort for name, found in symbols.items()})
    body = block(reader, without_docstring(tree.body), level=0)
    if reader.defined is not None:
        raise refusal(tree.body[-1], "a path that ends without `return`", "return a value on every path", "DPA705")
    return Program(
        name=tree.name,
        parameters=parameters,
        body=body,
        sorts=tuple(
            sorted(
                (name, sort) for name, sort in reader.shared.sorts.items() if name not in symbols or name in stored_names(tree.body)
            )
        ),
        outputs=tuple(reader.outputs),
        source=source.text,
        returned=reader.shape[1] if reader.shape else (),
        contract=contract(source.promise, parameters) if source.promise else None,
        constants=tuple(reader.shared.constants.items()),
        inlined=tuple(reader.shared.inlined.items()),
        helpers=tuple(reader.shared.helpers.items()),
    )


def _counters(tree: ast.FunctionDef) -> frozenset[str]:
    """Every name that a for loop counts with."""
    return frozenset(node.target.id for node in ast.walk(tree) if isinstance(node, ast.For) and isinstance(node.target, ast.Name))


def _call(reader: Reader, node: ast.Call, meaning: Law | Source) -> Term:
    """A call of a sampler, of a helper with a contract, or of a pure helper."""
    if isinstance(meaning, Law):
        return emit_draw(reader, node, meaning, None)
    if meaning.tree.name in reader.path:
        raise refusal(node, f"the recursive call of {meaning.tree.name}", "write a loop", "DPA706")
    if meaning.promise is not None:
        return emit_call(reader, node, _program(meaning, reader.path), meaning)
    return _inlined(reader, node, meaning)


def _inlined(reader: Reader, node: ast.Call, source: Source) -> Term:
    """A pure helper in place of its call: its names get a prefix, its last line is the value."""
    tree = source.tree
    parameters, samplers = signature(source)
    if samplers or node.keywords or len(node.args) != len(parameters):
        hint = f"pass {len(parameters)} arguments by position; give helpers that draw their own @spec"
        raise refusal(node, f"this call of {tree.name}", hint, "DPA706")
    given = [read_argument(reader, value, one.sort, tree.name) for value, one in zip(node.args, parameters, strict=True)]
    pairs = tuple(zip(parameters, given, strict=True))
    lists = {one.name: (value, one.sort.element) for one, value in pairs if isinstance(one.sort, ListOf) and isinstance(value, str)}
    body = without_docstring(tree.body)
    last = body[-1] if body else tree
    if not isinstance(last, ast.Return) or last.value is None:
        raise refusal(last, f"the end of the helper {tree.name}", "end it with `return` and a value", "DPA705")
    take(last, "value")
    if reader.guards and len(body) > 1:
        inside = "inside a conditional part of an expression"
        raise refusal(node, f"a call of {tree.name}, which has several lines, {inside}", "call it on a line before", "DPA706")
    if reader.shared.inlined.setdefault(tree.name, source.text) != source.text:
        raise refusal(node, f"two helpers named {tree.name}", "give them different names", "DPA706")
    inner = Reader(
        source.find,
        stored_names(tree.body) | {one.name for one in parameters},
        {},
        lists,
        set(),
        call=_call,
        prefix=f"{tree.name}.{next(reader.shared.hidden)}.",
        path=(*reader.path, tree.name),
        counters=_counters(tree),
        parameters=frozenset(one.name for one in parameters),
        guards=reader.guards,
        emitted=reader.emitted,
        shared=reader.shared,
    )
    for parameter, value in pairs:
        if not isinstance(value, str):
            # What the helper does not change is the caller's value as it stands, so that nothing is evaluated too early.
            if parameter.name in stored_names(body):
                assign(inner, node, parameter.name, value)
            else:
                inner.symbols[parameter.name] = value
                inner.defined = {*(inner.defined or ()), parameter.name}
    reader.emitted += block(inner, body[:-1])
    if inner.defined is None:
        raise refusal(last, "a statement that is never reached", "delete it", "DPA704")
    return term(inner, last.value)
