"""Loops: over lists written out, round by round; over others, as loops of the core program; some where their results are used."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import replace
from typing import TypeAlias

from dpaudit.verifier.frontend import OutsideSubset
from dpaudit.verifier.ordinary import numbers, sequences
from dpaudit.verifier.ordinary.refusing import refuse, teach
from dpaudit.verifier.ordinary.state import State, core_name
from dpaudit.verifier.ordinary.values import UNKNOWN, Counts, Fixed, Output, Scalar, Scope, Sequence, Table, Value

Block: TypeAlias = Callable[[State, list[ast.stmt]], None]
Target: TypeAlias = Callable[[State, ast.expr, Value], None]


def read_for(state: State, node: ast.For, block: Block, target: Target) -> None:
    """`for`."""
    if node.orelse:
        raise refuse(node.orelse[0], "`else` of a loop", "write the loop without it")
    node = _by_element(state, node)
    if _collected(state, node):
        return
    found = state.value(node.iter)
    if isinstance(found, Table):
        state.going.append(found)
        found = Fixed(tuple(numbers.constant(state, key) for key in found.cells))
        _written_out(state, node, found, block, target)
        state.going.pop()
        return
    if isinstance(found, Fixed):
        _written_out(state, node, found, block, target)
        return
    if isinstance(found, Sequence) and found.shape == "pending":
        found = sequences.settle(state, node, found)
    nested = isinstance(found, Sequence) and found.base.nested
    before = _poisoned(state, node.body)
    sequences.go(state, node.iter, found, lambda one: _round(state, node, one, block, target, nested=nested))
    _after(state, [node], before)


def _round(state: State, node: ast.For, one: Value, block: Block, target: Target, *, nested: bool) -> None:
    """The body of a loop for one element."""
    outer, state.unrolled = state.unrolled, state.unrolled or nested
    _bind(state, node.target, one, target, _stored(node.body))
    block(state, node.body)
    state.unrolled = outer


def _bind(state: State, node: ast.expr, found: Value, target: Target, stored: set[str]) -> None:
    """The names of a loop's target: a name that the body assigns to is a variable, others stand for the element itself."""
    if isinstance(node, ast.Name):
        # A name that is assigned to elsewhere keeps the last element after the loop, and in the next round of a loop around it.
        if node.id in stored or state.scope.stores.get(node.id, 0) > 1:
            target(state, node, found)
        else:
            state.scope.names[node.id] = found
    elif isinstance(node, (ast.Tuple, ast.List)):
        for part, one in zip(node.elts, sequences.unpacked(state, node, found, len(node.elts)), strict=True):
            _bind(state, part, one, target, stored)
    else:
        raise refuse(node, "this loop target", "use names", "DPA704")


def _stored(nodes: list[ast.stmt]) -> set[str]:
    """Every name that statements assign to, or define."""
    parts = [part for node in nodes for part in ast.walk(node)]
    found = {part.id for part in parts if isinstance(part, ast.Name) and not isinstance(part.ctx, ast.Load)}
    return found | {part.name for part in parts if isinstance(part, ast.FunctionDef)}


def _poisoned(state: State, body: list[ast.stmt]) -> dict[str, Value]:
    """Names that a body assigns to: those that stand for collections have no value at the loop's head."""
    stored = _stored(body)
    for name in list(state.scope.names):
        found = state.scope.names[name]
        if name in stored and not (isinstance(found, Scalar) and found.code == core_name(state, name, state.scope)):
            del state.scope.names[name]
        elif name in stored and isinstance(found, Scalar):
            state.scope.names[name] = state.variable(found.code)
    return dict(state.scope.names)


def _after(state: State, body: list[ast.stmt], before: dict[str, Value]) -> None:
    """After a loop, which may have had no round, names are what they were at its head; new ones have no value that is read."""
    names, stored = state.scope.names, _stored(body)
    for name in list(names):
        if name not in before:
            del names[name]
        elif name in stored and isinstance(names[name], Scalar):
            names[name] = state.variable(before[name].code)  # type: ignore[union-attr]
        elif before[name] is not names[name] and not _is_grown(before[name], names[name]):
            del names[name]


def _is_grown(before: Value, now: Value) -> bool:
    """True for an output list, which is the same list after a loop."""
    return isinstance(before, Output) and isinstance(now, Output) and before.name == now.name


def _written_out(state: State, node: ast.For, found: Fixed, block: Block, target: Target) -> None:
    """A loop whose rounds the source says: one after the other."""
    if len(found.items) > sequences.MOST_UNROLLED:
        raise refuse(node.iter, "a long list that is written out", "loop over range or a parameter", "DPA706")
    outer, state.unrolled = state.unrolled, True
    state.going.append(found)
    # A view of a dictionary shows what its entries are when a round begins; what a list holds does not change.
    for one in found.items:
        if state.dead:
            break
        _bind(state, node.target, state.held(node, one), target, _stored(node.body))
        block(state, node.body)
    state.going.pop()
    state.unrolled = outer


def _by_element(state: State, node: ast.For) -> ast.For:
    """`for i in range(len(q))` over private records, which have no places: a loop over the records, `q[i]` being the element."""
    match node:
        case ast.For(
            target=ast.Name(id=index),
            iter=ast.Call(
                func=ast.Name(id="range"), args=[ast.Call(func=ast.Name(id="len"), args=[ast.Name(id=name)])], keywords=[]
            ),
        ):
            found = state.scope.find(name)
            if not isinstance(found, Sequence) or not found.base.private or {index, name} & _stored(node.body):
                return node
            return _over_records(node, node.body, index, name, keep=state.scope.stores.get(index, 0) > 1)
    return node


def _over_records(node: ast.stmt, body: list[ast.stmt], index: str, name: str, *, keep: bool) -> ast.For:
    """A loop with an index over records as one over the records themselves."""
    element = f"{name}[{index}]"  # a name that no source has

    class Elements(ast.NodeTransformer):
        def visit_Subscript(self, part: ast.Subscript) -> ast.AST:
            match part:
                case ast.Subscript(value=ast.Name(id=owner), slice=ast.Name(id=place)) if (owner, place) == (name, index):
                    return ast.copy_location(ast.Name(element, part.ctx), part)
            return self.generic_visit(part)

    import copy

    changed = [Elements().visit(copy.deepcopy(one)) for one in body]
    uses = keep or any(isinstance(part, ast.Name) and part.id == index for one in changed for part in ast.walk(one))
    target: ast.expr = ast.Name(element, ast.Store())
    source: ast.expr = ast.Name(name, ast.Load())
    if uses:
        target = ast.Tuple([ast.Name(index, ast.Store()), target], ast.Store())
        source = ast.Call(ast.Name("enumerate", ast.Load()), [source], [])
    made = ast.copy_location(ast.For(target, source, changed, []), node)
    return ast.fix_missing_locations(made)


def _collected(state: State, node: ast.For) -> bool:
    """A loop that only appends to one new list, or adds to entries of one new dictionary, is the comprehension that it amounts to.

    Both go through the same elements in the same order, and nothing else is written: the value of the one is that of the other.
    """
    tests: list[ast.expr] = []
    body = node.body
    while len(body) == 1 and isinstance(body[0], ast.If) and not body[0].orelse and not _is_guard(body[0]):
        tests.append(body[0].test)
        body = body[0].body
    match body:
        case [ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="append"), args=[one], keywords=[]))]:
            key, makes = None, False
        case [*guard, last] if len(guard) <= 1 and (effect := _added(last, guard)) is not None:
            name, key, one, makes = effect
        case _:
            return False
    owner = state.scope.find(name)
    parts = [node.target, node.iter, *tests, one, *([] if key is None else [key])]
    if any(isinstance(part, ast.Name) and part.id == name for whole in parts for part in ast.walk(whole)):
        return False
    if key is None:
        fits = isinstance(owner, Fixed) and not owner.items and owner.shape == "list" and owner.place not in state.learned.grown
    else:
        total = isinstance(owner, Counts) and owner.total
        fits = total or (isinstance(owner, Table) and not owner.cells and makes)
        if isinstance(owner, Counts) and (owner.pairs is not None or not owner.fresh):
            raise refuse(node, "a dictionary that grows after it was filled or read", "fill it in one loop", "DPA705")
    if not fits or owner.block != (state.depth, state.loops) or owner.home is not state.frames[-1]:  # type: ignore[union-attr]
        return False
    if _read_outside(state, node):
        return False
    made = one if key is None else ast.Tuple([key, one], ast.Load())
    part = ast.comprehension(node.target, node.iter, tests, 0)
    written = ast.fix_missing_locations(ast.copy_location(ast.ListComp(made, [part]), node))
    try:
        if state.tried(lambda: state.value(written) and None)[1]:
            return False
    except OutsideSubset:
        return False  # read as a loop that runs here, which says what is wrong with it
    found = state.value(written)
    if not isinstance(found, (Fixed, Sequence)):
        return False
    if key is None:
        found = replace(found, place=owner.place, block=owner.block, home=owner.home) if isinstance(found, Fixed) else found  # type: ignore[union-attr]
    else:
        found = Counts(found, total=isinstance(owner, Counts), block=(state.depth, state.loops), home=state.frames[-1])
    for frame in state.frames:
        frame.names |= {known: found for known, value in frame.names.items() if value is owner}
    return True


def _read_outside(state: State, node: ast.For) -> bool:
    """True if a name that a loop assigns to is read outside it, or if that is not known."""
    stored = _stored([node])
    inside = {id(part) for part in ast.walk(node)}
    outside = [part for one in state.scope.body for part in ast.walk(one)]
    for part in outside:
        # A comprehension has its targets for itself.
        if isinstance(part, (ast.ListComp, ast.GeneratorExp, ast.DictComp)) and stored <= _stored([ast.Expr(part)]):
            inside |= {id(one) for one in ast.walk(part)}
    if not any(id(part) in inside for part in outside):
        return True
    return any(
        isinstance(part, ast.Name) and part.id in stored and id(part) not in inside and isinstance(part.ctx, ast.Load)
        for part in outside
    )


def _is_guard(node: ast.stmt) -> bool:
    """True for a test whether a dictionary has a key."""
    return isinstance(node, ast.If) and isinstance(node.test, ast.Compare) and isinstance(node.test.ops[0], (ast.In, ast.NotIn))


def _added(node: ast.stmt, before: list[ast.stmt]) -> tuple[str, ast.expr, ast.expr, bool] | None:
    """The dictionary, key and amount of a statement that adds to an entry, and whether the entry is made where it is missing."""
    match node:
        case ast.AugAssign(target=ast.Subscript(value=ast.Name(id=name), slice=key), op=ast.Add(), value=one):
            guard = f"if {ast.unparse(key)} not in {name}:\n    {name}[{ast.unparse(key)}] = 0"
            if [ast.unparse(part) for part in before] in ([], [guard]):
                return name, key, one, bool(before)
        case ast.Assign(targets=[ast.Subscript(value=ast.Name(id=name), slice=key)], value=ast.BinOp(op=ast.Add(), right=one)):
            if not before and ast.unparse(node.value.left) == f"{name}.get({ast.unparse(key)}, 0)":  # type: ignore[attr-defined]
                return name, key, one, True
        case ast.If(body=[ast.AugAssign(target=ast.Subscript(value=ast.Name(id=name), slice=key), op=ast.Add(), value=one)]):
            text = f"if {ast.unparse(key)} in {name}:\n    {name}[{ast.unparse(key)}] += {ast.unparse(one)}\nelse:\n"
            if not before and ast.unparse(node) == f"{text}    {name}[{ast.unparse(key)}] = {ast.unparse(one)}":
                return name, key, one, True
    return None


def read_while(state: State, node: ast.While, block: Block, target: Target) -> None:
    """`while`: with an index that grows by one each round, a loop over a range; else as it is."""
    if node.orelse:
        raise refuse(node.orelse[0], "`else` of a loop", "write the loop without it")
    if _counted(state, node, block, target):
        return
    texts, drawn, _ = state.tried(lambda: numbers.truth(state, node.test) and None)
    if texts or drawn:
        raise refuse(node.test, "a loop condition that draws or sums", "compute it in the loop, and `break`", "DPA706")
    before = _poisoned(state, node.body)
    test = numbers.truth(state, node.test)
    with sequences.Loop(state, f"while {test.code if not test.is_known else test.known}:", private=False):
        block(state, node.body)
    _after(state, node.body, before)


def _is_counted(node: ast.While) -> bool:
    """True for `while i < limit:` whose last statement is `i += 1`, and which changes neither before."""
    match node:
        case ast.While(
            test=ast.Compare(left=ast.Name(id=index), ops=[ast.Lt()], comparators=[limit]),
            body=[*body, ast.AugAssign(target=ast.Name(id=again), op=ast.Add(), value=ast.Constant(value=1))],
            orelse=[],
        ) if index == again and body:
            stored, parts = _stored(body), [part for one in body for part in ast.walk(one)]
            names = {part.id for part in ast.walk(limit) if isinstance(part, ast.Name)}
            if not isinstance(limit, (ast.Name, ast.Constant)) and not ast.unparse(limit).startswith("len("):
                return False
            jumps = any(isinstance(part, (ast.Break, ast.Continue, ast.Return)) for part in parts)
            return type(node.body[-1].value.value) is int and index not in stored and not names & {*stored, index} and not jumps  # type: ignore[attr-defined]
    return False


def _counted(state: State, node: ast.While, block: Block, target: Target) -> bool:
    """A `while` that counts: read as a loop over a range, with what the index is afterwards."""
    if not _is_counted(node):
        return False
    index, limit, body = node.test.left.id, node.test.comparators[0], node.body[:-1]  # type: ignore[attr-defined]
    first = state.scope.find(index)
    if not isinstance(first, Scalar) or first.kind != "int":
        return False
    match limit:
        case ast.Call(func=ast.Name(id="len"), args=[ast.Name(id=name)]):
            owner = state.scope.find(name)
            if isinstance(owner, Sequence) and owner.base.private:
                if type(first.now) is not int or first.now != 0:
                    raise teach(node, "while data", f"`while {ast.unparse(node.test)}`", name)
                inside = {id(part) for part in ast.walk(node)}
                parts = [part for one in state.scope.body for part in ast.walk(one) if id(part) not in inside]
                if any(isinstance(part, ast.Name) and part.id == index and isinstance(part.ctx, ast.Load) for part in parts):
                    raise teach(node, "while data", f"`{index}`, which is read outside its loop", name)
                made = _over_records(node, body, index, name, keep=False)
                read_for(state, made, block, target)
                state.scope.names.pop(index, None)
                return True
    texts, _, _ = state.tried(lambda: numbers.scalar(state, limit) and None)
    if texts:
        return False
    stop = numbers.scalar(state, limit)
    if stop.kind != "int":
        return False
    start = state.temporary(node, "start", first)
    end = state.temporary(node, "stop", stop)
    before = _poisoned(state, body)
    name = state.fresh("i")
    with sequences.loop_over(state, name, end.code, private=False, start=start.code):
        state.scope.names[index] = Scalar(name, "int")
        block(state, body)
    state.scope.names[index] = first
    _after(state, body, before)
    state.scope.names[index] = replace(
        state.store(node, core_name(state, index, state.scope), Scalar(f"max({start.code}, {end.code})", "int")), known=UNKNOWN
    )
    return True


__all__ = ["Scope", "read_for", "read_while"]
