"""Elements of lists, tuples, dictionaries and rows: read, looked for, and replaced."""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import Any, Final

from dpaudit.verifier.ordinary import nested, numbers, wording
from dpaudit.verifier.ordinary.lines import Again
from dpaudit.verifier.ordinary.loops import grow, growing
from dpaudit.verifier.ordinary.refusing import refuse, teach
from dpaudit.verifier.ordinary.state import State
from dpaudit.verifier.ordinary.values import (
    UNKNOWN,
    Counts,
    Dictionary,
    Entry,
    Groups,
    Growing,
    Items,
    Nothing,
    Output,
    Place,
    Ranked,
    Record,
    Ref,
    Row,
    Scalar,
    Sequence,
    Short,
    Spent,
    Tuple,
    Value,
    mapped,
)

_ZEROS: Final = ("counter", "int", "float")
"""The defaults of dictionaries that count: any key begins at 0 there."""


def key_of(state: State, node: ast.AST, found: Value) -> Any:
    """A key that the source says: a text, a number or a truth value."""
    if isinstance(found, Scalar) and found.is_known and found.kind in ("str", "int") and found.types <= {"str", "int"}:
        return found.known
    raise refuse(node, f"the key `{ast.unparse(node)}`", "use texts and whole numbers as keys", "DPA706")


def element(state: State, node: ast.AST, owner: Value, place: Value) -> Value:
    """`owner[place]`."""
    match owner:
        case Tuple(items):
            return _at(state, node, list(items), place)
        case Record(kind, parts) if kind.style == "tuple":
            return _at(state, node, [value for _, value in parts], place)
        case Row():
            if isinstance(place, Scalar) and isinstance(place.known, str):
                read_as(state, node, owner, "keys")
                return field(state, node, owner, place.known)
        case Scalar(origin=str(origin)) if "[" in origin:
            if isinstance(place, Scalar) and isinstance(place.known, str):
                state.assume(owner.origin, "row", "a field by name")
            elif isinstance(place, Scalar) and type(place.known) is int and 0 <= place.known < 16:
                state.assume(owner.origin, f"tuple{place.known + 1}", "a field by place")
        case Scalar(origin=str()):
            state.assume(owner.origin, "list", "an element of it")
        case Ref():
            return _of_object(state, node, owner, place)
    raise refuse(node, f"`{ast.unparse(node)}`", "read elements of lists, tuples and dictionaries", "DPA706")


def read_as(state: State, node: ast.AST, owner: Row, way: str) -> None:
    """Refuse records whose fields are read in two ways: one of them fails."""
    if state.learned.types.setdefault(f"{owner.data}%", way) != way:
        raise refuse(
            node,
            f"`{ast.unparse(node)}` of records that are read by key elsewhere or have keys",
            "read all fields by key",
            "DPA703",
        )


def field(state: State, node: ast.AST, owner: Row, name: str) -> Value:
    """A field of a row, by key or as an attribute."""
    held = dict(owner.parts)
    if name in held:
        return held[name]
    if not name.isidentifier() or "__" in name:
        raise refuse(node, f"the field {name!r}", "use a plain name", "DPA702")
    state.learned.fields.setdefault(owner.data, []).append(name)
    raise Again


def _place(state: State, node: ast.AST, place: Value, size: int) -> int | Scalar:
    """A place in something of a size: a number, or an expression that is owed to be inside."""
    one = numbers.whole(state, node, place, "as an index") if isinstance(place, Scalar) and place.kind != "bool" else None
    if one is None:
        raise refuse(node, f"`{ast.unparse(node)}`", "use a whole number as an index", "DPA703")
    if size == 0:
        raise refuse(node, "an element of nothing", "put elements into it", "DPA704")
    if one.is_known:
        if not -size <= one.known < size:
            raise refuse(node, f"the index {one.known} of {size} elements", "stay inside", "DPA704")
        return int(one.known) % size
    state.owe(f"0 <= {one.code} and {one.code} < {size}")
    return one


def _at(state: State, node: ast.AST, items: list[Value], place: Value) -> Value:
    """One of several values."""
    where = _place(state, node, place, len(items))
    if isinstance(where, int):
        return items[where]
    return _picked(state, node, where, [(numbers.constant(state, one), value) for one, value in enumerate(items)])


def picked(state: State, node: ast.AST, owner: Tuple, place: Scalar) -> Value:
    """The element of a place that is inside for sure."""
    return _picked(state, node, place, [(numbers.constant(state, one), value) for one, value in enumerate(owner.items)])


def _picked(state: State, node: ast.AST, key: Scalar, pairs: list[tuple[Scalar, Value]]) -> Value:
    """The value of a key that is one of several."""
    found = numbers.scalar(state, node, pairs[-1][1])
    for name, value in pairs[-2::-1]:
        found = numbers.chosen(
            state, node, numbers.truth_of(f"({key.code} == {name.code})", key), numbers.scalar(state, node, value), found
        )
    return found


def _of_object(state: State, node: ast.AST, owner: Ref, place: Value) -> Value:
    """An element of an object of the heap."""
    held = state.object(owner)
    match held:
        case Items(items, form) if form != "set":
            if form == "array" and isinstance(place, Ref):
                return state.parts.masked(state, node, owner, place)
            return _at(state, node, list(items), place)
        case Dictionary() | Counts() | Groups() | Growing(Dictionary()):
            return entry(state, node, owner, place, None)
        case Sequence():
            return _of_sequence(state, node, owner, held, place)
        case Ranked():
            return state.parts.ranked(state, node, held, place)
        case Spent(why):
            raise refuse(node, f"`{ast.unparse(node)}` of {why}", "keep each value under a name of its own", "DPA705")
        case Output() | Growing():
            raise refuse(
                node, f"`{ast.unparse(node)}` of a list that a loop fills", "keep the value under a name of its own", "DPA705"
            )
    raise refuse(node, f"`{ast.unparse(node)}`", "read elements of lists, tuples and dictionaries", "DPA706")


def _of_sequence(state: State, node: ast.AST, owner: Ref, held: Sequence, place: Value) -> Value:
    """An element of a list of the data."""
    if isinstance(place, Ref) and held.form != "list":
        return state.parts.masked(state, node, owner, place)
    if isinstance(place, Place) and place.address == owner.address and place.source is held:
        return place.element
    if held.form == "array" and isinstance(held.value, Tuple):
        raise refuse(node, f"`{ast.unparse(node)}`, a row of an array,", "read columns, table[:, place]", "DPA706")
    if held.private and state.lenient:
        return state.parts.record_at(state, node, held, place)
    if held.private:
        raise teach(node, "record by index", f"`{ast.unparse(node)}`", ast.unparse(getattr(node, "value", node)))
    if not held.index or held.length is None or held.once or held.form == "iterator":
        raise refuse(node, f"`{ast.unparse(node)}`", "loop over it", "DPA706")
    if not isinstance(place, Scalar) or place.kind == "bool":
        # An array takes a truth value for a mask.
        raise refuse(node, f"`{ast.unparse(node)}`", "use a whole number as an index", "DPA703")
    where = numbers.whole(state, node, place, "as an index")
    if where.is_known and where.known < 0:
        where = numbers.arithmetic(state, node, ast.Add(), held.length, where)
    # The name that a loop over all places counts with is inside of them.
    counts = f"for {where.code} in range(0, {held.length.code}):"
    if not any(text == counts for _, text, _ in state.so_far()):
        state.owe(f"0 <= {where.code} and {where.code} < {held.length.code}")
    found = state.element(held, where.code)
    return found if where.public else mapped(found, lambda one: replace(one, public=False))


def sliced(state: State, node: ast.AST, owner: Value, place: ast.Slice) -> Value:
    """`owner[a:b]` of what is written out."""
    ends: list[Any] = []
    for one in (place.lower, place.upper, place.step):
        found = Nothing() if one is None else state.value(one)
        if not isinstance(found, Nothing) and not (isinstance(found, Scalar) and type(found.known) is int):
            raise refuse(node, f"`{ast.unparse(node)}`", "slice by constants", "DPA706")
        ends.append(None if isinstance(found, Nothing) else found.known)
    if ends[2] != 0 and (part := wording.sliced(state, node, owner, ends)) is not None:
        return part
    if ends[2] == 0:
        raise refuse(node, "a slice of step 0", "use another step", "DPA704")
    if isinstance(owner, Tuple):
        return Tuple(owner.items[slice(*ends)])
    if isinstance(owner, Short) and ends[0] in (None, 0) and ends[2] in (None, 1) and ends[1] is not None and ends[1] >= 0:
        return nested.first(state, node, owner, ends[1])
    held = state.object(owner) if isinstance(owner, Ref) else None
    if isinstance(held, Items) and held.form == "list":
        return state.new(Items(held.items[slice(*ends)]))
    raise refuse(node, f"`{ast.unparse(node)}`", "slice lists and tuples that are written out", "DPA706")


# Dictionaries.


def entry(state: State, node: ast.AST, owner: Ref, key: Value, default: Value | None) -> Value:
    """`owner[key]`, or `owner.get(key, default)`."""
    held = state.object(owner)
    name = scalar_key(state, node, key)
    if isinstance(held, Counts):
        return _counted(state, node, held, name, default)
    if isinstance(held, Groups):
        return state.parts.grouped(state, node, held, name, default)
    fills = isinstance(held, Growing) or (isinstance(held, Dictionary) and not held.entries and growing(state, owner.address))
    kept = held.before if isinstance(held, Growing) else held
    if fills and (not name.is_known or getattr(kept, "default", "") in _ZEROS):
        zero = isinstance(default, Scalar) and default.known == 0 and default.types == numbers.INT
        there = (owner.address, name.code, "number") in state.ensured and default is None
        if default is None and (getattr(kept, "default", "") == "list" or (owner.address, name.code, "list") in state.ensured):
            return Entry(owner.address, name, read=state.grown(), form="list")
        if not isinstance(kept, Dictionary) or kept.default == "list" or not (kept.default or zero or there):
            raise refuse(node, f"`{ast.unparse(node)}`", "count with `counts[key] = counts.get(key, 0) + 1`", "DPA706")
        return Entry(owner.address, name, read=state.grown())
    if not isinstance(held, Dictionary):
        raise refuse(node, f"`{ast.unparse(node)}` of a dictionary that a loop fills", "read it after the loop", "DPA705")
    if held.default == "list":
        raise refuse(node, f"`{ast.unparse(node)}`", "fill a defaultdict(list) in a loop over the data", "DPA705")
    cells: dict[Any, Value] = dict(held.entries)
    absent = _absent(state, held, default)
    if name.is_known:
        known = key_of(state, node, name)
        if known in cells:
            return cells[known]
        if absent is None:
            raise refuse(node, f"the key {known!r}, which is not there", "put it there first", "DPA704")
        if default is None and held.default in ("int", "float"):
            state.change(node, owner.address, held.__class__((*held.entries, (known, absent)), held.default))
        return absent
    fitting = [(numbers.constant(state, one), value) for one, value in held.entries if _fits(one, name)]
    if absent is None:
        state.owe(_among(name, [one for one, _ in fitting]))
        if not fitting:
            raise refuse(node, "a key of an empty dictionary", "put keys into it", "DPA704")
        found = _picked(state, node, name, fitting)
        if isinstance(found, Scalar):
            state.cells[found.code] = (owner.address, name.code, held)
        return found
    if default is None and held.default in ("int", "float"):
        raise refuse(node, f"`{ast.unparse(node)}`, which may make a new key", "use .get(key, 0)", "DPA706")
    return _picked(state, node, name, [*fitting, (name, absent)])


def _absent(state: State, held: Dictionary, default: Value | None) -> Value | None:
    """What is read where a key is not there."""
    if default is not None:
        return default
    if held.default:
        return numbers.constant(state, 0, numbers.FLOAT if held.default == "float" else None)
    return None


def scalar_key(state: State, node: ast.AST, key: Value) -> Scalar:
    """A key, which must be a text or a whole number."""
    found = numbers.scalar(state, node, key, "as a key")
    if found.kind not in ("int", "str"):
        state.assume(found.origin, "str", "a key")
        raise refuse(node, "a key that is no text or whole number", "annotate it as str or int", "DPA703")
    return found


def _fits(key: Any, name: Scalar) -> bool:
    """True if a constant key is of the sort of an expression."""
    return isinstance(key, str) is (name.kind == "str")


def _among(name: Scalar, keys: list[Scalar]) -> str:
    """The condition that a key is one of several."""
    tests = [f"({name.code} == {one.code})" for one in keys]
    return f"({' or '.join(tests)})" if len(tests) > 1 else tests[0] if tests else "False"


def _counted(state: State, node: ast.AST, held: Counts, key: Scalar, default: Value | None) -> Scalar:
    """An entry of a dictionary of counts: the sum of the amounts of its key."""
    zero = isinstance(default, Scalar) and default.known == 0 and default.types == numbers.INT
    there = (len(state.loops), key.code) in state.distinct and default is None
    if not (zero or there or (default is None and held.default in ("counter", "int", "float"))):
        raise refuse(node, f"`{ast.unparse(node)}`", "use .get(key, 0), or a Counter", "DPA706")
    amounts = [pair.value.items[1] for pair in held.pairs if isinstance(pair.value, Tuple)]
    kinds = [numbers.number(state, node, one) for one in amounts]
    if any(not one.types <= {"int", "float", "np.float", "Fraction"} for one in kinds):
        raise refuse(node, "a dictionary of sums of numbers of several types", "write the public keys out with 0.0 first", "DPA706")
    # Without a record of this key it is what the dictionary starts from.
    first = numbers.constant(state, 0, numbers.FLOAT if held.default == "float" and not zero else None)
    sums = [numbers.arithmetic(state, node, ast.Add(), replace(first, known=UNKNOWN), one) for one in kinds]
    real = any(one.kind == "real" for one in (first, *sums))
    types = frozenset(kind for one in (first, *sums) for kind in one.types)
    name = state.fresh("count")
    state.emit(f"{name} = {'Fraction(0)' if real else '0'}")
    for pair in held.pairs:
        depth = state.depth
        found = state.opened(node, pair)
        assert isinstance(found, Tuple)  # noqa: S101 - for the type checker
        own, amount = numbers.scalar(state, node, found.items[0]), numbers.number(state, node, found.items[1])
        if own.kind != key.kind:
            raise refuse(node, "a key of another type", "look up keys of the type of the data", "DPA703")
        state.emit(f"if {own.code} == {key.code}:")
        state.depth += 1
        state.emit(f"{name} = {name} + {amount.code}")
        state.depth = depth
    return Scalar(name, "real" if real else "int", types, tests=() if len(types) == 1 else None)


# Assignments.


def assign(state: State, node: ast.AST, owner: Value, place: Value, value: Value) -> None:
    """`owner[place] = value`."""
    held = state.object(owner) if isinstance(owner, Ref) else None
    if not isinstance(owner, Ref) or held is None:
        raise refuse(node, f"an assignment to `{ast.unparse(node)}`", "assign to elements of lists and dictionaries", "DPA705")
    match held:
        case Items(items, form) if form != "set":
            if form == "array":
                value = numbers.scalar(state, node, value)
                value = _as_element(state, node, items, value)
            where = _place(state, node, place, len(items))
            cells = dict(enumerate(items))
            _put(state, node, owner, held, cells, where, value, [(numbers.constant(state, one), one) for one in cells])
        case Dictionary(entries):
            if held.default == "list":
                raise refuse(node, f"an assignment to `{ast.unparse(node)}`", "append to the lists of its keys", "DPA705")
            name = scalar_key(state, node, place)
            if not entries and not name.is_known and state.parts.entered(state, node, owner, name, value):
                return
            if not entries and (not name.is_known or held.default in _ZEROS) and growing(state, owner.address):
                _count(state, node, owner.address, name, value)
                return
            if name.is_known:
                cells = {**dict(entries), key_of(state, node, name): value}
                state.change(node, owner.address, Dictionary(tuple(cells.items()), held.default))
                return
            fitting = [(numbers.constant(state, one), one) for one, _ in entries if _fits(one, name)]
            if held.default not in ("", "counter") or not fitting:
                raise refuse(node, f"`{ast.unparse(node)}`, which may make a new key", "write the public keys out first", "DPA706")
            state.owe(_among(name, [one for one, _ in fitting]))
            amount = _added(state, owner, held, name, value)
            if amount is not None:
                cells = dict(entries)
                for one, key in fitting:
                    test = numbers.truth_of(f"({name.code} == {one.code})", name)
                    old = numbers.scalar(state, node, cells[key])
                    new = replace(old, code=f"({old.code} + {amount})", known=UNKNOWN, positive=False, origin=None, public=False)
                    cells[key] = numbers.chosen(state, node, test, new, old)
                state.change(node, owner.address, held.made(cells))
                return
            _put(state, node, owner, held, dict(entries), name, value, fitting)
        case Output(form="dict") if state.parts.entered(state, node, owner, scalar_key(state, node, place), value):
            return
        case Growing(Dictionary()) if state.parts.entered(state, node, owner, scalar_key(state, node, place), value):
            return
        case Growing(Dictionary()):
            _count(state, node, owner.address, scalar_key(state, node, place), value)
        case _:
            raise refuse(
                node, f"an assignment to `{ast.unparse(node)}`", "assign to elements of lists that are written out", "DPA705"
            )


def _as_element(state: State, node: ast.AST, items: tuple[Value, ...], value: Scalar) -> Scalar:
    """A number as the array that it is put into holds it."""
    kinds = {one.types for one in items if isinstance(one, Scalar)}
    if kinds == {frozenset({"np.float"})}:
        return numbers.floated(state, node, numbers.number(state, node, value), frozenset({"np.float"}))
    if kinds == {frozenset({"np.int"})} and value.kind == "int" and numbers.bits_of(value) <= numbers.DATA_BITS + 2:
        return Scalar(
            value.code, "int", frozenset({"np.int"}), value.known, public=value.public, noisy=value.noisy, bits=value.bits
        )
    raise refuse(node, "an element that the array may not hold as it is", "make the array with np.zeros", "DPA703")


def _added(state: State, owner: Ref, held: Dictionary, name: Scalar, value: Value) -> str | None:
    """What is added to the entry that is replaced, where the new value is the old one and a whole number."""
    if not isinstance(value, Scalar) or value.kind != "int" or value.types != numbers.INT:
        return None
    for code, read in state.cells.items():
        head = f"({code} + "
        if read == (owner.address, name.code, held) and value.code.startswith(head):
            amount = value.code[len(head) : -1]
            return amount if amount.isdigit() else None
    return None


def _put(
    state: State,
    node: ast.AST,
    owner: Ref,
    held: Any,
    cells: dict[Any, Value],
    where: Any,
    value: Value,
    keys: list[tuple[Scalar, Any]],
) -> None:
    """Replace one cell, or the one of several that an expression says."""
    if isinstance(where, int):
        cells[where] = value
    else:
        for name, key in keys:
            test = numbers.truth_of(f"({where.code} == {name.code})", where)
            cells[key] = numbers.chosen(
                state, node, test, numbers.scalar(state, node, value), numbers.scalar(state, node, cells[key])
            )
    state.change(node, owner.address, held.made(cells))


def _count(state: State, node: ast.AST, address: int, key: Scalar, value: Value) -> None:
    """An entry of a dictionary of counts gets an amount."""
    if (
        not isinstance(value, Entry)
        or value.address != address
        or value.key.code != key.code
        or value.amount is None
        or value.form != "number"
        or value.read != state.grown()
    ):
        raise refuse(node, f"`{ast.unparse(node)}`", "count with `counts[key] = counts.get(key, 0) + 1`", "DPA706")
    grow(state, address, Tuple((key, value.amount)))


def add(state: State, node: ast.AST, owner: Value, place: Value, op: ast.operator, amount: Value) -> None:
    """`owner[place] op= amount`: the element is read, then the amount is known, then it is replaced."""
    held = state.object(owner) if isinstance(owner, Ref) else None
    if isinstance(owner, Ref) and isinstance(held, (Dictionary, Items)) and not (isinstance(place, Scalar) and place.is_known):
        pairs = _cells(state, node, owner, held, place)
        if pairs is not None:
            name, keys = pairs
            cells = held.cells()
            for one, key in keys:
                test = numbers.truth_of(f"({name.code} == {one.code})", name)
                new = numbers.scalar(state, node, state.parts.operated(state, node, op, cells[key], amount))
                if isinstance(held, Items) and held.form == "array":
                    new = _as_element(state, node, held.items, new)
                cells[key] = numbers.chosen(state, node, test, new, numbers.scalar(state, node, cells[key]))
            state.change(node, owner.address, held.made(cells))
            return
    assign(state, node, owner, place, state.parts.operated(state, node, op, element(state, node, owner, place), amount))


def _cells(state: State, node: ast.AST, owner: Ref, held: Dictionary | Items, place: Value) -> Any:
    """The cells that an expression may mean: each is changed by itself; None where that is no use."""
    if isinstance(held, Items):
        if held.form == "set" or isinstance(place, Ref):
            return None
        where = _place(state, node, place, len(held.items))
        return None if isinstance(where, int) else (where, [(numbers.constant(state, one), one) for one in range(len(held.items))])
    name = scalar_key(state, node, place)
    fitting = [(numbers.constant(state, one), one) for one, _ in held.entries if _fits(one, name)]
    if not fitting or held.default in ("int", "float"):
        return None
    if not held.default:
        state.owe(_among(name, [one for one, _ in fitting]))
        return name, fitting
    return None
