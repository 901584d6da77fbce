"""Statements of ordinary Python, one by one, into those of the core program."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Final

from dpaudit.verifier.ordinary import loops, numbers, sequences, shapes
from dpaudit.verifier.ordinary.refusing import refuse, teach
from dpaudit.verifier.ordinary.state import Again, State, core_name
from dpaudit.verifier.ordinary.values import (
    UNKNOWN,
    Counts,
    Fixed,
    Function,
    Module,
    Noises,
    Nothing,
    Output,
    Record,
    Scalar,
    Sequence,
    Table,
    Value,
)

ERRORS: Final = (
    "ArithmeticError", "IndexError", "LookupError", "OverflowError", "RuntimeError", "TypeError", "ValueError", "ZeroDivisionError",
)  # fmt: skip
"""The exceptions of the core program."""


def block(state: State, nodes: list[ast.stmt]) -> None:
    """Statements in turn; what cannot be reached is left out."""
    for node in nodes:
        if state.dead:
            return
        state.at(node)
        read = _READERS.get(type(node))
        if read is None:
            key = "try" if isinstance(node, (ast.Try, ast.TryStar)) else None
            if key:
                raise teach(node, key, "try")
            raise refuse(node, f"`{ast.unparse(node).splitlines()[0]}`", "write it with assignments, if, for, while and return")
        read(state, node)


def assign(state: State, node: ast.AST, name: str, found: Value) -> None:
    """Let a name stand for a value."""
    scope = state.scope
    found = sequences.settle(state, node, found)
    if not isinstance(found, Scalar):
        scope.names[name] = state.held(node, found)
        return
    once = scope.stores.get(name, 0) == 1
    if once and found.code in state.made - state.varying:
        scope.names[name] = found
        return
    core = core_name(state, name, scope)
    if core in state.assigned and core not in state.learned.varies:
        state.learned.varies.add(core)
        raise Again
    stored = state.store(node, core, found)
    state.assigned.add(core)
    if core not in state.learned.varies:
        state.made.add(core)
    scope.names[name] = replace(stored, known=stored.known if once else UNKNOWN, now=found.known)


def target(state: State, node: ast.expr, found: Value) -> None:
    """One target of an assignment."""
    match node:
        case ast.Name(id=name):
            assign(state, node, name, found)
        case ast.Tuple(elts=parts) | ast.List(elts=parts):
            if any(isinstance(part, ast.Starred) for part in parts):
                raise refuse(node, "* in a target", "name each part", "DPA705")
            values = sequences.unpacked(state, node, found, len(parts))
            # Values are computed before any name changes.
            held = [state.held(node, one) for one in values]
            for part, one in zip(parts, held, strict=True):
                target(state, part, one)
        case ast.Subscript():
            _into(state, node, found)
        case ast.Attribute():
            raise teach(node, "mutation", f"an assignment to `{ast.unparse(node)}`")
        case _:
            raise refuse(node, f"the target `{ast.unparse(node)}`", "assign to names", "DPA705")


def _into(state: State, node: ast.Subscript, found: Value) -> None:
    """An entry of a dictionary gets a value."""
    owner = state.value(node.value)
    if not isinstance(owner, Table):
        if isinstance(owner, Counts):
            raise teach(node, "private keys", f"`{ast.unparse(node)} = ...`")
        raise refuse(node, f"an assignment to `{ast.unparse(node)}`", "build a new list with a comprehension", "DPA705")
    state.may_change(node, owner.home)
    if isinstance(node.slice, ast.Slice):
        raise refuse(node, "an assignment to a slice", "build a new list", "DPA705")
    key = numbers.as_scalar(state, node.slice, state.value(node.slice))
    if not key.is_known:
        _each_cell(state, node, owner, key, lambda _: numbers.as_scalar(state, node, sequences.settle(state, node, found)))
        return
    here = (state.depth, state.loops)
    old = owner.cells.get(key.known)
    if isinstance(old, Scalar) and isinstance(found, Scalar):
        # A cell is a variable of the core program: nothing is remembered of what it holds.
        state.store(node, old.code, found)
        owner.cells[key.known] = state.variable(old.code)
    elif here == owner.block:
        if any(one is owner for one in state.going):
            raise refuse(node, "a dictionary that changes while it is gone through", "fill another dictionary", "DPA705")
        owner.cells[key.known] = sequences.cell(state, node, found)
    else:
        raise refuse(node, "a dictionary that gets a key in a block", "give every key a value before", "DPA705")


def _each_cell(state: State, node: ast.AST, table: Table, key: Scalar, new: Callable[[Scalar], Scalar]) -> None:
    """The entry of a key that is known when the program runs gets a value; that the dictionary has the key is owed."""
    if not table.cells:
        raise teach(node, "private keys", "a key that is found in the data")
    tests = {one: numbers.link(state, node, ast.Eq(), key, numbers.constant(state, one)).code for one in table.cells}
    state.owe(f"({' or '.join(tests.values())})")
    for place, (one, test) in enumerate(tests.items()):
        old = table.cells[one]
        if not isinstance(old, Scalar):
            raise refuse(node, "a key of a dictionary of lists", "use one list a name", "DPA705")
        with sequences.branch(state, f"{'if' if place == 0 else 'elif'} {test}:"):
            state.store(node, old.code, new(old))
        table.cells[one] = state.variable(old.code)


def _assignment(state: State, node: ast.Assign) -> None:
    """`name = value`."""
    found = state.value(node.value)
    if isinstance(found, Sequence) and found.shape == "iterator" and _is_used_once(state, node):
        found = replace(found, shape="list")
    found = sequences.settle(state, node, found)
    if len(node.targets) > 1:
        found = state.held(node, found)
    for one in node.targets:
        target(state, one, found)


def _is_used_once(state: State, node: ast.Assign) -> bool:
    """True if a generator gets a name that is read at one place, which runs once: it is then not empty there."""
    match node.targets:
        case [ast.Name(id=name)] if state.scope.stores.get(name) == 1 and not state.loops and not state.unrolled:
            parts = [part for one in state.scope.body for part in ast.walk(one)]
            again = (ast.For, ast.While, ast.ListComp, ast.GeneratorExp, ast.DictComp, ast.SetComp, ast.Lambda, ast.FunctionDef)
            repeated = {id(part) for whole in parts if isinstance(whole, again) for part in ast.walk(whole)}
            uses = [part for part in parts if isinstance(part, ast.Name) and part.id == name and isinstance(part.ctx, ast.Load)]
            return len(uses) == 1 and id(uses[0]) not in repeated
    return False


def _annotated(state: State, node: ast.AnnAssign) -> None:
    """`name: type = value`; the annotation of a local name says nothing."""
    if node.value is None:
        return
    target(state, node.target, state.value(node.value))


def _augmented(state: State, node: ast.AugAssign) -> None:
    """`name op= value`."""
    match node.target:
        case ast.Name():
            left = state.value(ast.copy_location(ast.Name(node.target.id, ast.Load()), node))
            if isinstance(left, (Fixed, Output, Sequence)):
                _extended(state, node, left)
                return
            right = state.value(node.value)
            if isinstance(right, Noises):
                raise refuse(node, "an array of noise added in place", "write `x = x + noise`", "DPA706")
            assign(state, node, node.target.id, BINARY[0](state, node, node.op, left, right))
        case ast.Subscript():
            owner = state.value(node.target.value)
            if not isinstance(owner, Table):
                raise refuse(node, f"`{ast.unparse(node)}`", "change entries of dictionaries whose keys are written out", "DPA705")
            state.may_change(node, owner.home)
            key = numbers.as_scalar(state, node, state.value(node.target.slice))
            if key.is_known:
                if key.known not in owner.cells:
                    raise refuse(node, "a key that the dictionary does not have", "add it first", "DPA706")
                new = BINARY[0](state, node, node.op, owner.cells[key.known], state.value(node.value))
                _into(state, node.target, new)
                return
            amount = state.held(node, state.value(node.value))
            key = numbers.as_scalar(state, node, state.held(node, key))

            def changed(old: Scalar) -> Scalar:
                return numbers.as_scalar(state, node, BINARY[0](state, node, node.op, old, amount))

            _each_cell(state, node, owner, key, changed)
        case _:
            raise teach(node, "mutation", f"`{ast.unparse(node)}`")


BINARY: Final[list[Callable[..., Value]]] = []
"""What `x op y` is, of `expressions`."""


def _extended(state: State, node: ast.AugAssign, left: Value) -> None:
    """`list += items`."""
    right = state.value(node.value)
    if isinstance(left, (Fixed, Output)) and getattr(left, "shape", "") == "list" and isinstance(node.op, ast.Add):
        if not isinstance(right, Fixed):
            raise refuse(node, "a list that grows by one whose length is not written out", "append in a loop", "DPA705")
        for one in right.items:
            append(state, node, node.target, one)
        return
    raise refuse(node, f"`{ast.unparse(node)}`", "write `x = x + ...`; arrays are not changed in place", "DPA705")


def append(state: State, node: ast.AST, owner_node: ast.expr, found: Value) -> None:
    """A list grows by one value."""
    owner = state.value(owner_node)
    if isinstance(owner, Output) and owner.shape == "list":
        if state.record_loops:
            raise teach(node, "draw per record", "a list with an entry for each record")
        state.may_change(node, state.homes[owner.name])
        sequences.extended(state, node, owner.name, found)
        return
    if not isinstance(owner, Fixed) or owner.shape != "list" or owner.place == (0, 0):
        raise refuse(node, "an append to something other than a list of this function", "start with `out = []`", "DPA705")
    state.may_change(node, owner.home)
    if owner.block != (state.depth, state.loops):
        state.learned.grown.add(owner.place)
        raise Again
    if any(one is owner for one in state.going):
        raise refuse(node, "a list that grows while it is gone through", "append to another list", "DPA705")
    item = state.held(node, sequences.settle(state, node, found))
    replaced(state, node, owner, replace(owner, items=(*owner.items, item)))


def replaced(state: State, node: ast.AST, old: Value, new: Value) -> None:
    """A list changed: every name of it stands for what it is now."""
    for scope in state.frames:
        for name, found in scope.names.items():
            if found is old:
                scope.names[name] = new
            elif _holds(found, old):
                raise refuse(node, "a change of a list that another collection holds", "finish the list first", "DPA705")


def _holds(found: Value, wanted: Value) -> bool:
    """True if a collection has a value among its parts."""
    parts: list[Value] = []
    if isinstance(found, Fixed):
        parts = list(found.items)
    elif isinstance(found, Record):
        parts = list(found.parts.values())
    elif isinstance(found, Table):
        parts = list(found.cells.values())
    return any(part is wanted or _holds(part, wanted) for part in parts)


def _branch(state: State, node: ast.If) -> None:
    """`if`."""
    found = state.value(node.test)
    test = sequences.truth(state, node.test, found)
    if test.is_known:
        block(state, node.body if test.known else node.orelse)
        return
    divided(state, node, test, lambda: block(state, node.body), lambda: block(state, node.orelse) if node.orelse else None)


def divided(state: State, node: ast.AST, test: Scalar, then: Callable[[], None], otherwise: Callable[[], None] | None) -> None:
    """Two branches, and the names after them."""
    before = [dict(scope.names) for scope in state.frames]
    ends: list[tuple[bool, list[dict[str, Value]]]] = []
    for head, write in ((f"if {test.code}:", then), ("else:", otherwise)):
        for scope, names in zip(state.frames, before, strict=True):
            scope.names = dict(names)
        with state.block(head):
            if write is not None:
                write()
            else:
                state.emit("pass")
            ends.append((state.dead, [scope.names for scope in state.frames]))
            state.dead = False
    (dead, first), (gone, second) = ends
    state.dead = dead and gone
    for place, scope in enumerate(state.frames):
        if dead or gone:
            scope.names = second[place] if dead else first[place]
        else:
            scope.names = joined(first[place], second[place])


def joined(first: dict[str, Value], second: dict[str, Value]) -> dict[str, Value]:
    """The names after two branches: those that stand for one thing in both; others have no value that is read."""
    found: dict[str, Value] = {}
    for name in first.keys() | second.keys():
        one, other = first.get(name), second.get(name)
        if one is other and one is not None:
            found[name] = one
        elif isinstance(one, Scalar) and isinstance(other, Scalar) and one.code == other.code and one.kind == other.kind:
            counts = one.counts_records or other.counts_records
            loose = one.loose if one.loose == other.loose else ("?",)
            noisy = one.noisy and other.noisy
            found[name] = replace(one, known=UNKNOWN, now=UNKNOWN, counts_records=counts, noisy=noisy, loose=loose)
    return found


def _returned(state: State, node: ast.Return) -> None:
    """`return`."""
    found: Value = Nothing() if node.value is None else state.value(node.value)
    shapes.put_out(state, node, found)
    state.dead = True


def _raised(state: State, node: ast.Raise) -> None:
    """`raise` of one of Python's exceptions with a constant message."""
    raised = node.exc
    args: list[ast.expr] = []
    if isinstance(raised, ast.Call):
        args, keywords, raised = raised.args, raised.keywords, raised.func
        if keywords:
            raise refuse(node, "an exception with named parts", "raise ValueError(...)", "DPA706")
    known = isinstance(raised, ast.Name) and raised.id in ERRORS and state.scope.find(raised.id) is None
    if not known or node.cause is not None:
        raise refuse(node, "this raise", f"raise one of {', '.join(ERRORS)}", "DPA706")
    _ends(state, node, raised.id, args)  # type: ignore[union-attr]


def _ends(state: State, node: ast.AST, error: str, args: list[ast.expr]) -> None:
    """An exception ends the run. Its message can be seen, so each kind of exception has one message."""
    if state.lazy:
        raise refuse(node, "an error that a comprehension may raise, or not", "write a loop", "DPA706")
    texts = [state.value(one) for one in args]
    if not all(isinstance(one, Scalar) and one.is_known for one in texts):
        raise refuse(node, "a message that is computed", "use a constant message", "DPA706")
    message = f"{type(node).__name__} {[one.known for one in texts if isinstance(one, Scalar)]}"
    if state.errors.setdefault(error, message) != message:
        raise refuse(node, f"a second message of {error}", "raise the same message, or another kind of exception", "DPA706")
    state.emit(f"raise {error}")
    state.dead = True


def _asserted(state: State, node: ast.Assert) -> None:
    """`assert`: an exception where it is false; Python must not run with -O."""
    test = sequences.truth(state, node.test, state.value(node.test))
    state.learned.notes.append("asserts are checked: Python does not run with -O")
    if test.is_known and test.known:
        return
    with sequences.branch(state, f"if not {test.code}:"):
        _ends(state, node, "RuntimeError", [] if node.msg is None else [node.msg])


def _expression(state: State, node: ast.Expr) -> None:
    """A call whose value is not used."""
    if isinstance(node.value, ast.Constant):
        return
    call = node.value
    if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr in ("append", "extend"):
        owner = state.value(call.func.value)
        if isinstance(owner, (Fixed, Output)) and len(call.args) == 1 and not call.keywords:
            found = sequences.settle(state, node, state.value(call.args[0]))
            if call.func.attr == "append":
                append(state, node, call.func.value, found)
            else:
                if not isinstance(found, Fixed):
                    raise refuse(node, "extend by a list whose length is not written out", "append in a loop", "DPA705")
                for one in found.items:
                    append(state, node, call.func.value, one)
            return
        raise teach(node, "mutation", f"`{ast.unparse(call.func)}`")
    found = state.value(node.value)
    sequences.settle(state, node, found)


def _jump(state: State, node: ast.Break | ast.Continue) -> None:
    """`break` and `continue`."""
    if not state.loops or state.unrolled:
        raise refuse(node, "a jump out of a loop over what is written out", "put the rest under `if`", "DPA704")
    state.emit("break" if isinstance(node, ast.Break) else "continue")
    state.dead = True


def _defined(state: State, node: ast.FunctionDef) -> None:
    """A function inside a function."""
    if node.decorator_list:
        raise refuse(node, "a decorated function", "leave the decorator out")
    state.scope.names[node.name] = Function(node, state.scope)


def _imported(state: State, node: ast.Import | ast.ImportFrom) -> None:
    """An import inside a function."""
    state.scope.names.update(imports(node))


def imports(node: ast.Import | ast.ImportFrom) -> dict[str, Value]:
    """The names that an import brings."""
    found: dict[str, Value] = {}
    if isinstance(node, ast.Import):
        for one in node.names:
            found[one.asname or one.name.partition(".")[0]] = Module(one.name if one.asname else one.name.partition(".")[0])
    else:
        for one in node.names:
            if one.name == "*" or node.level:
                raise refuse(node, "an import whose names are not seen", "import names one by one", "DPA702")
            found[one.asname or one.name] = Module(f"{node.module}.{one.name}")
    return found


def _pass(_: State, __: ast.stmt) -> None:
    """`pass`."""


def _for(state: State, node: ast.For) -> None:
    """`for`."""
    loops.read_for(state, node, block, target)


def _while(state: State, node: ast.While) -> None:
    """`while`."""
    loops.read_while(state, node, block, target)


_READERS: Final[Mapping[type[ast.stmt], Callable[[State, Any], None]]] = {
    ast.AnnAssign: _annotated,
    ast.Assert: _asserted,
    ast.Assign: _assignment,
    ast.AugAssign: _augmented,
    ast.Break: _jump,
    ast.Continue: _jump,
    ast.Expr: _expression,
    ast.For: _for,
    ast.FunctionDef: _defined,
    ast.If: _branch,
    ast.Import: _imported,
    ast.ImportFrom: _imported,
    ast.Pass: _pass,
    ast.Raise: _raised,
    ast.Return: _returned,
    ast.While: _while,
}
