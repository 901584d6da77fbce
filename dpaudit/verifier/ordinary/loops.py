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
from dpaudit.verifier.ordinary.values import UNKNOWN, Base, Counts, Fixed, Scalar, Scope, Sequence, Table, Value

Block: TypeAlias = Callable[[State, list[ast.stmt]], None]
Target: TypeAlias = Callable[[State, ast.expr, Value], None]


def read_for(state: State, node: ast.For, block: Block, target: Target) -> None:
    """`for`."""
    if node.orelse:
        raise refuse(node.orelse[0], "`else` of a loop", "write the loop without it")
    node = _by_element(state, node)
    found = state.value(node.iter)
    if isinstance(found, Table):
        found = Fixed(tuple(numbers.constant(state, key) for key in found.cells))
    if isinstance(found, Fixed):
        _written_out(state, node, found, block, target)
        return
    if isinstance(found, Sequence) and found.shape == "pending":
        found = sequences.settle(state, node, found)
    if _collected(state, node, found, block, target):
        return
    before = _poisoned(state, node.body)
    sequences.go(state, node.iter, found, lambda one: _round(state, node, one, block, target))
    _after(state, node, before)


def _round(state: State, node: ast.For, one: Value, block: Block, target: Target) -> None:
    """The body of a loop for one element."""
    _bind(state, node.target, one, target, _stored(node.body))
    block(state, node.body)
    # What follows inside filters is reached again by other elements.


def _bind(state: State, node: ast.expr, found: Value, target: Target, stored: set[str]) -> None:
    """The names of a loop's target: a name that the body assigns to is a variable, others stand for the element itself."""
    if isinstance(node, ast.Name):
        if node.id in stored:
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
            state.scope.names[name] = replace(found, now=UNKNOWN)
    return dict(state.scope.names)


def _after(state: State, node: ast.For | ast.While, before: dict[str, Value]) -> None:
    """After a loop, names are what they were at its head; new ones are numbers that the core program says have a value."""
    gone = _stored([ast.copy_location(ast.Assign([node.target], ast.Constant(0)), node)]) if isinstance(node, ast.For) else set()
    names = state.scope.names
    for name in list(names):
        found = names[name]
        variable = isinstance(found, Scalar) and found.code == core_name(state, name, state.scope)
        if (name not in before and (name in gone or not variable)) or (
            name in before and before[name] is not found and not variable
        ):
            del names[name]
        elif isinstance(found, Scalar) and variable and before.get(name) is not found:
            names[name] = replace(found, known=UNKNOWN, now=UNKNOWN, released=False)
    for name in gone - set(before):
        names.pop(name, None)


def _written_out(state: State, node: ast.For, found: Fixed, block: Block, target: Target) -> None:
    """A loop whose rounds the source says: one after the other."""
    if len(found.items) > sequences.MOST_UNROLLED:
        raise refuse(node.iter, "a long list that is written out", "loop over range or a parameter", "DPA706")
    outer, state.unrolled = state.unrolled, True
    held = [state.temporary(node, "each", one) if isinstance(one, Scalar) and not one.is_known else one for one in found.items]
    for one in held:
        if state.dead:
            break
        _bind(state, node.target, one, target, _stored(node.body))
        block(state, node.body)
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
            if not isinstance(found, Sequence) or not found.base.private or index in _stored(node.body):
                return node
            return _over_records(node, node.body, index, name)
    return node


def _over_records(node: ast.stmt, body: list[ast.stmt], index: str, name: str) -> ast.For:
    """A loop with an index over records as one over the records themselves."""
    element = f"{name}_{index}"

    class Elements(ast.NodeTransformer):
        def visit_Subscript(self, part: ast.Subscript) -> ast.AST:
            match part:
                case ast.Subscript(value=ast.Name(id=owner), slice=ast.Name(id=place)) if (owner, place) == (name, index):
                    return ast.copy_location(ast.Name(element, part.ctx), part)
            return self.generic_visit(part)

    import copy

    changed = [Elements().visit(copy.deepcopy(one)) for one in body]
    uses = any(isinstance(part, ast.Name) and part.id == index for one in changed for part in ast.walk(one))
    target: ast.expr = ast.Name(element, ast.Store())
    source: ast.expr = ast.Name(name, ast.Load())
    if uses:
        target = ast.Tuple([ast.Name(index, ast.Store()), target], ast.Store())
        source = ast.Call(ast.Name("enumerate", ast.Load()), [source], [])
    made = ast.copy_location(ast.For(target, source, changed, []), node)
    return ast.fix_missing_locations(made)


def _collected(state: State, node: ast.For, found: Value, block: Block, target: Target) -> bool:
    """A loop that only appends to one list, or adds to entries of one dictionary: it is written where these are used."""
    effects = _effects(node.body)
    if effects is None:
        return False
    name, kind, needs_total = effects
    owner = state.scope.find(name)
    if kind == "list":
        if not isinstance(owner, Fixed) or owner.items or owner.shape != "list" or owner.block != (state.depth, state.loops):
            return False
        if owner.place == (0, 0) or owner.place in state.learned.grown:
            return False
    elif isinstance(owner, Counts):
        if not owner.fresh or owner.block != (state.depth, state.loops):
            raise refuse(node, "a dictionary that grows in a block, or after it was read", "fill it first", "DPA705")
    elif not isinstance(owner, Table) or owner.cells or owner.block != (state.depth, state.loops) or needs_total:
        return False
    if _read_outside(state, node):
        return False
    try:
        new = _as_comprehension(state, node) or _evaluated_later(state, node, found, name, owner, block, target)
    except OutsideSubset:
        # Read as a loop that is run here, which says what is wrong with it where that does not help.
        return False
    if new is None:
        return False
    if new is not owner:
        for frame in state.frames:
            for key, value in frame.names.items():
                if value is owner:
                    frame.names[key] = new
    return True


def _read_outside(state: State, node: ast.For) -> bool:
    """True if a name that a loop assigns to is read outside it, or if that is not known."""
    stored = _stored([node])
    inside = {id(part) for part in ast.walk(node)}
    outside = [part for one in state.scope.body for part in ast.walk(one)]
    if not any(id(part) in inside for part in outside):
        return True
    return any(
        isinstance(part, ast.Name) and part.id in stored and id(part) not in inside and isinstance(part.ctx, ast.Load)
        for part in outside
    )


def _as_comprehension(state: State, node: ast.For) -> Value | None:
    """The comprehension that a loop with a single append is."""
    tests: list[ast.expr] = []
    body = node.body
    while len(body) == 1 and isinstance(body[0], ast.If) and not body[0].orelse:
        tests.append(body[0].test)
        body = body[0].body
    match body:
        case [ast.Expr(value=ast.Call(func=ast.Attribute(attr="append"), args=[one]))]:
            part = ast.comprehension(node.target, node.iter, tests, 0)
            made = ast.fix_missing_locations(ast.copy_location(ast.ListComp(one, [part]), node))
            found = state.value(made)
            return found if isinstance(found, (Fixed, Sequence)) else None
    return None


def _evaluated_later(
    state: State, node: ast.For, found: Value, name: str, owner: Value, block: Block, target: Target
) -> Value | None:
    """What a loop collects, as something whose uses write the loop; None where it draws."""
    stored = _stored([node])
    scope = sequences.frozen(state.scope)

    def each(use: Callable[[Value, Value], None]) -> None:
        saved = state.scope, state.hook, state.frames
        new = sequences.frozen(scope)
        new.prefix, new.cores = f"{scope.prefix}{state.fresh('part')}_", {}
        for one in stored:
            new.names.pop(one, None)
        state.scope, state.frames = new, [new]

        def effect(one: ast.stmt) -> bool:
            if _is_guard(one, name):
                return True
            key, amount = _effect(one, name)
            if amount is None:
                return False
            use(state.value(key) if key is not None else numbers.constant(state, known=True), state.value(amount))
            return True

        state.hook = effect
        try:
            sequences.go(state, node.iter, found, lambda one: _round(state, node, one, block, target))
        finally:
            state.scope, state.hook, state.frames = saved

    def both_parts(use: Callable[[Value], None]) -> None:
        def parts(key: Value, one: Value) -> None:
            use(key)
            use(one)

        each(parts)

    both = Sequence(Base(both_parts, None, private=True))
    if state.tried(lambda: sequences.go(state, node, both, lambda one: sequences.mention(state, one)))[1]:
        return None
    sequences.deferred(state, node, both)
    if isinstance(owner, Fixed):
        return Sequence(Base(lambda use: each(lambda _, one: use(one)), None, private=True))

    def part(use: Callable[[Value, Scalar], None]) -> None:
        each(lambda key, one: use(key, numbers.as_scalar(state, node, one)))

    if isinstance(owner, Counts):
        owner.parts.append(part)
        return owner
    return Counts([part], total=False, block=(state.depth, state.loops))


def _effects(body: list[ast.stmt]) -> tuple[str, str, bool] | None:
    """The one list or dictionary that a body changes, if that is all it does but for names of its own.

    The last part says whether a key is added to without being there, which only some dictionaries allow.
    """
    found: set[tuple[str, str]] = set()
    total: list[bool] = []

    def look(nodes: list[ast.stmt]) -> bool:
        guarded = ""
        for one in nodes:
            name = _changed(one)
            if name and _is_guard(one, name):
                guarded = ast.dump(one.body[0].targets[0].slice)  # type: ignore[attr-defined]
                found.add((name, "dict"))
                continue
            key, amount = _effect(one, name) if name else (None, None)
            if amount is not None:
                found.add((name, "list" if key is None else "dict"))
                if isinstance(one, ast.AugAssign) and key is not None and ast.dump(key) != guarded:
                    total.append(True)
            elif isinstance(one, ast.If):
                if not (look(one.body) and look(one.orelse)):
                    return False
            elif isinstance(one, ast.For) and not one.orelse:
                if not look(one.body):
                    return False
            elif not (
                isinstance(one, ast.Assign) and isinstance(one.targets[0], ast.Name) and len(one.targets) == 1
            ) and not isinstance(one, (ast.Pass, ast.Continue)):
                return False
            guarded = ""
        return True

    return (*next(iter(found)), bool(total)) if look(body) and len(found) == 1 else None


def _changed(node: ast.stmt) -> str:
    """The list or dictionary that a statement may change."""
    match node:
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name(id=name)))):
            return name
        case ast.AugAssign(target=ast.Subscript(value=ast.Name(id=name))):
            return name
        case ast.Assign(targets=[ast.Subscript(value=ast.Name(id=name))]):
            return name
        case ast.If(test=ast.Compare(ops=[ast.In() | ast.NotIn()], comparators=[ast.Name(id=name)])):
            return name
    return ""


def _is_guard(node: ast.stmt, name: str) -> bool:
    """`if key not in d: d[key] = 0`."""
    match node:
        case ast.If(
            test=ast.Compare(left=key, ops=[ast.NotIn()], comparators=[ast.Name(id=owner)]),
            body=[ast.Assign(targets=[ast.Subscript(value=ast.Name(id=again), slice=same)], value=ast.Constant(value=0))],
            orelse=[],
        ):
            return owner == again == name and ast.dump(key) == ast.dump(same)
    return False


def _effect(node: ast.stmt, name: str) -> tuple[ast.expr | None, ast.expr | None]:
    """The key and the amount of a statement that appends to a list, or adds to an entry of a dictionary."""
    match node:
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name(id=owner), attr="append"), args=[one], keywords=[])):
            return (None, one) if owner == name else (None, None)
        case ast.AugAssign(target=ast.Subscript(value=ast.Name(id=owner), slice=key), op=ast.Add(), value=one):
            return (key, one) if owner == name else (None, None)
        case ast.Assign(
            targets=[ast.Subscript(value=ast.Name(id=owner), slice=key)],
            value=ast.BinOp(
                left=ast.Call(
                    func=ast.Attribute(value=ast.Name(id=again), attr="get"), args=[same, ast.Constant(value=0)], keywords=[]
                ),
                op=ast.Add(),
                right=one,
            ),
        ):
            return (key, one) if owner == again == name and ast.dump(key) == ast.dump(same) else (None, None)
        case ast.If(
            test=ast.Compare(left=key, ops=[ast.In()], comparators=[ast.Name(id=owner)]),
            body=[ast.AugAssign(target=ast.Subscript(value=ast.Name(id=again), slice=same), op=ast.Add(), value=one)],
            orelse=[ast.Assign(targets=[ast.Subscript(value=ast.Name(id=third), slice=other)], value=start)],
        ):
            alike = ast.dump(key) == ast.dump(same) == ast.dump(other) and ast.dump(one) == ast.dump(start)
            return (key, one) if owner == again == third == name and alike else (None, None)
    return None, None


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
    _after(state, node, before)


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
                made = _over_records(node, body, index, name)
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
    _after(state, node, before)
    state.scope.names[index] = replace(
        state.store(node, core_name(state, index, state.scope), Scalar(f"max({start.code}, {end.code})", "int")), known=UNKNOWN
    )
    return True


__all__ = ["Scope", "read_for", "read_while"]
