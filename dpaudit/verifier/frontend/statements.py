"""Statements of the subset, one by one: every field is read, every name has a value on every path, outputs only grow."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from typing import Any, Final

from dpaudit.binding import STANDARD
from dpaudit.spec import LAWS
from dpaudit.verifier.frontend.calls import declare_name, emit_draw, sampled_law
from dpaudit.verifier.frontend.expressions import arithmetic, number, term, truth, whole
from dpaudit.verifier.frontend.readers import Loop, Reader
from dpaudit.verifier.frontend.refusals import place_of, refusal, refusal_of_kind, take
from dpaudit.verifier.frontend.scopes import Standard
from dpaudit.verifier.ir import Append, Assign, Block, Break, Continue, For, If, Raise, Return, While
from dpaudit.verifier.terms import TRUE, ZERO, Sort, Term, variables


def block(reader: Reader, nodes: list[ast.stmt], level: int = 1) -> Block:
    """The statements of a block; what cannot be reached is refused."""
    outer, reader.emitted = reader.emitted, []
    reader.level += level
    for node in nodes:
        if reader.defined is None:
            raise refusal(node, "a statement that is never reached", "delete it", "DPA704")
        read = _READERS.get(type(node))
        if read is None:
            raise refusal_of_kind(node)
        read(reader, node)
    reader.level -= level
    found, reader.emitted = tuple(reader.emitted), outer
    return found


def stored_names(nodes: list[ast.stmt]) -> frozenset[str]:
    """Every name that the statements assign to."""
    found = (part for node in nodes for part in ast.walk(node))
    return frozenset(part.id for part in found if isinstance(part, ast.Name) and not isinstance(part.ctx, ast.Load))


def without_docstring(nodes: list[ast.stmt]) -> list[ast.stmt]:
    """The body of a function after its docstring."""
    first = nodes[0]
    text = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str)
    return nodes[1:] if text else nodes


def assign(reader: Reader, node: ast.AST, name: str, value: Term) -> None:
    """Give a scalar its value."""
    target = reader.prefix + name
    reader.symbols[name] = declare_name(reader, node, target, value.sort)
    reader.emitted.append(Assign(place_of(node), target, value))
    _define(reader, name)


def _define(reader: Reader, name: str) -> None:
    """From here on the name has a value."""
    reader.defined = {*(reader.defined or ()), name}


def _target(reader: Reader, node: ast.expr) -> str:
    """The name of a scalar that may be assigned to."""
    if not isinstance(node, ast.Name):
        raise refusal(node, "an assignment to something other than a name", "assign to one name a line", "DPA705")
    take(node, "id")
    name = node.id
    if name in reader.lists or name in reader.outputs:
        raise refusal(node, f"an assignment to the list {name}", "lists are never replaced; use another name", "DPA705")
    if name in STANDARD or name in LAWS or name in reader.samplers:
        raise refusal(node, f"an assignment to {name}, which names a function", "use another name", "DPA702")
    if name in reader.counters:
        raise refusal(node, f"an assignment to the loop variable {name}", "use another name", "DPA704")
    return name


def _assignment(reader: Reader, node: ast.Assign) -> None:
    """`name = value`."""
    take(node, "targets", "value")
    if len(node.targets) != 1:
        raise refusal(node, "an assignment to several names", "assign to one name a line")
    _assigned(reader, node, node.targets[0], node.value)


def _annotated(reader: Reader, node: ast.AnnAssign) -> None:
    """`name: type = value`, where the type says what the value is."""
    take(node, "target", "annotation", "value", "simple")
    if node.value is None or not node.simple:
        raise refusal(node, "an annotation without a value", "write `name: type = value`")
    _assigned(reader, node, node.target, node.value)
    text, name = ast.unparse(node.annotation), getattr(node.target, "id", "")
    sort = ANNOTATIONS.get(text)
    fits = text.startswith("list[") if name in reader.outputs else sort is not None and sort is reader.symbols[name].sort
    if not fits:
        raise refusal(node.annotation, f"the annotation {text}", "write the type that the value has, or leave it out", "DPA703")


ANNOTATIONS: Final = {"int": Sort.INT, "Fraction": Sort.REAL, "bool": Sort.BOOL}


def _assigned(reader: Reader, node: ast.stmt, target: ast.expr, value: ast.expr) -> None:
    """An assignment: an output list, a draw, or a scalar."""
    name = _target(reader, target)
    if isinstance(value, ast.List) and not value.elts:
        _output(reader, node, name)
        return
    law = sampled_law(reader, value)
    if law is None or not isinstance(value, ast.Call):
        assign(reader, node, name, term(reader, value))
        return
    reader.symbols[name] = emit_draw(reader, value, law, name)
    _define(reader, name)


def _output(reader: Reader, node: ast.stmt, name: str) -> None:
    """`name = []`, once and for all, at the top of the function."""
    if reader.level or reader.prefix or name in reader.symbols:
        raise refusal(node, "an output list that starts in a block, a helper or under a used name", "start it at the top", "DPA705")
    reader.outputs.append(name)
    _define(reader, name)


def _augmented(reader: Reader, node: ast.AugAssign) -> None:
    """`name op= value` of a scalar."""
    take(node, "target", "op", "value")
    name = _target(reader, node.target)
    left = number(reader, ast.copy_location(ast.Name(name, ast.Load()), node.target), "in arithmetic")
    assign(reader, node, name, arithmetic(reader, node, node.op, left, node.value))


def _branch(reader: Reader, node: ast.If) -> None:
    """`if`: afterwards those names have a value that have one at the end of both branches, or of the one that goes on."""
    take(node, "test", "body", "orelse")
    test = truth(reader, node.test, "as a condition")
    before = reader.defined
    then = block(reader, node.body)
    after, reader.defined = reader.defined, before
    otherwise = block(reader, node.orelse)
    if after is not None:
        reader.defined = after if reader.defined is None else after & reader.defined
    reader.emitted.append(If(place_of(node), test, then, otherwise))


def _counted(reader: Reader, node: ast.For) -> None:
    """`for name in range(...)`: bounds are evaluated once, the name is read inside only."""
    take(node, "target", "iter", "body")
    start, stop = _range(reader, node.iter, stored_names(node.body))
    if not isinstance(node.target, ast.Name):
        raise refusal(node.target, "a loop target that is not a name", "write `for i in range(...)`")
    take(node.target, "id")
    name = node.target.id
    taken = name in reader.lists or name in reader.outputs or name in STANDARD or name in LAWS or name in reader.samplers
    if taken or name in reader.parameters or any(loop.name == name for loop in reader.loops):
        raise refusal(node.target, f"the loop variable {name}, which has another meaning", "use a name of its own", "DPA704")
    target = reader.prefix + name
    before = reader.defined or set()
    reader.symbols[name] = declare_name(reader, node, target, Sort.INT)
    reader.defined = {*before, name}
    reader.loops.append(Loop(name))
    body = block(reader, node.body)
    reader.loops.pop()
    reader.defined = before
    reader.emitted.append(For(place_of(node), target, start, stop, body))


def _range(reader: Reader, node: ast.expr, changed: frozenset[str]) -> tuple[Term, Term]:
    """The bounds of a `range`, under names of their own where the loop changes what they are made of."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name) or reader.meaning(node.func.id) != Standard("range"):
        raise refusal(node, "a loop over something other than range", "write `for i in range(len(q))` and read q[i]", "DPA706")
    take(node, "func", "args", "keywords")
    if node.keywords or not 1 <= len(node.args) <= 2:
        raise refusal(node, "range with a step or keywords", "write range(stop) or range(start, stop)", "DPA706")
    bounds = [whole(reader, argument, "in range") for argument in node.args]
    for index, limit in enumerate(bounds):
        if any(found.value == reader.prefix + name for found in variables(limit) for name in changed):
            name = f"range.{next(reader.shared.hidden)}"
            bounds[index] = declare_name(reader, node, name, Sort.INT)
            reader.emitted.append(Assign(place_of(node), name, limit))
    return (ZERO, bounds[0]) if len(bounds) == 1 else (bounds[0], bounds[1])


def _repeated(reader: Reader, node: ast.While) -> None:
    """`while`: after `while True` those names have a value that have one at every break."""
    take(node, "test", "body")
    outer, reader.emitted = reader.emitted, []
    test = truth(reader, node.test, "as a condition")
    ahead, reader.emitted = tuple(reader.emitted), outer
    before = reader.defined or set()
    loop = Loop(None)
    reader.loops.append(loop)
    body = block(reader, node.body)
    reader.loops.pop()
    reader.defined = before
    if test is TRUE:
        reader.defined = set.intersection(*loop.breaks) if loop.breaks else None
    reader.emitted.append(While(place_of(node), ahead, test, body))


def _jump(reader: Reader, node: ast.Break | ast.Continue) -> None:
    """`break` and `continue`."""
    take(node)
    if not reader.loops:
        raise refusal(node, "a jump outside a loop", "delete it", "DPA704")
    if isinstance(node, ast.Break):
        reader.loops[-1].breaks.append(reader.defined or set())
    reader.emitted.append((Break if isinstance(node, ast.Break) else Continue)(place_of(node)))
    reader.defined = None


def _returned(reader: Reader, node: ast.Return) -> None:
    """`return` with a value: a scalar, an output list, or a flat tuple of these; the same shape everywhere."""
    take(node, "value")
    if reader.prefix:
        raise refusal(node, "a return in the middle of a helper", "return once, on the helper's last line", "DPA705")
    if node.value is None:
        raise refusal(node, "a return without a value", "return a number, a truth value or an output list", "DPA705")
    flat = isinstance(node.value, ast.Tuple)
    if isinstance(node.value, ast.Tuple):
        take(node.value, "elts")
    parts = node.value.elts if isinstance(node.value, ast.Tuple) else [node.value]
    values = tuple(_component(reader, part) for part in parts)
    lists = [value for value in values if isinstance(value, str)]
    if not parts or len(set(lists)) < len(lists):
        raise refusal(node, "an empty tuple, or a list that is returned twice", "return each value once", "DPA705")
    shape = (flat, tuple(value if isinstance(value, str) else value.sort for value in values))
    if reader.shape not in (None, shape):
        raise refusal(node, "a return of another shape than before", "return the same types and lists everywhere", "DPA705")
    reader.shape = shape
    reader.emitted.append(Return(place_of(node), values, flat))
    reader.defined = None


def _component(reader: Reader, node: ast.expr) -> Term | str:
    """A returned value: the name of an output list, or a scalar."""
    if isinstance(node, ast.Name) and node.id in reader.outputs:
        take(node, "id")
        if node.id not in (reader.defined or ()):
            raise refusal(node, f"{node.id} may have no value here", "start it at the top of the function", "DPA704")
        return node.id
    return term(reader, node)


def _raised(reader: Reader, node: ast.Raise) -> None:
    """`raise` of one of Python's exceptions, without arguments."""
    take(node, "exc")
    raised = node.exc
    if isinstance(raised, ast.Call):
        take(raised, "func")
        raised = raised.func
    meaning = reader.meaning(raised.id) if isinstance(raised, ast.Name) else None
    if reader.prefix or not isinstance(meaning, type):
        hint = "raise ValueError without arguments, in the function itself, under a public condition"
        raise refusal(node, "this raise", hint, "DPA706")
    reader.emitted.append(Raise(place_of(node), meaning.__name__))
    reader.defined = None


def _appended(reader: Reader, node: ast.Expr) -> None:
    """`out.append(value)`: the only statement that is a mere expression."""
    take(node, "value")
    call = node.value
    method = call.func if isinstance(call, ast.Call) else None
    if not isinstance(call, ast.Call) or not isinstance(method, ast.Attribute) or method.attr != "append":
        raise refusal(node, "an expression whose value is not used", "assign it, or `out.append(...)` it", "DPA705")
    take(call, "func", "args")
    take(method, "value", "attr")
    name = method.value.id if isinstance(method.value, ast.Name) else ""
    if name not in reader.outputs or name not in (reader.defined or ()) or len(call.args) != 1:
        raise refusal(node, "an append to something other than an output list", "start with `out = []` at the top", "DPA705")
    value = term(reader, call.args[0])
    reader.emitted.append(Append(place_of(node), name, next(reader.shared.appends), value))


def _pass(_: Reader, node: ast.Pass) -> None:
    """`pass`."""
    take(node)


_READERS: Final[Mapping[type[ast.stmt], Callable[[Reader, Any], None]]] = {
    ast.AnnAssign: _annotated,
    ast.Assign: _assignment,
    ast.AugAssign: _augmented,
    ast.Break: _jump,
    ast.Continue: _jump,
    ast.Expr: _appended,
    ast.For: _counted,
    ast.If: _branch,
    ast.Pass: _pass,
    ast.Raise: _raised,
    ast.Return: _returned,
    ast.While: _repeated,
}
"""Every kind of statement that the subset has; any other is refused."""
