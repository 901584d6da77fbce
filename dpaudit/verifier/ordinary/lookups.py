"""Elements, entries and parts of lists, arrays and dictionaries."""

from __future__ import annotations

import ast

from dpaudit.verifier.ordinary import numbers, sequences
from dpaudit.verifier.ordinary.refusing import refuse, teach
from dpaudit.verifier.ordinary.state import State
from dpaudit.verifier.ordinary.values import Counts, Fixed, Kind, Scalar, Sequence, Table, Value


def sliced(state: State, node: ast.Subscript, owner: Value, ends: list[Scalar | None]) -> Value:
    """A slice of what is written out."""
    if any(end is not None and not (end.is_known and type(end.known) is int) for end in ends) or not isinstance(owner, Fixed):
        raise refuse(node, f"the slice `{ast.unparse(node)}`", "loop over the list, and test what you need", "DPA705")
    low, high, step = (None if end is None else end.known for end in ends)
    if step == 0:
        raise refuse(node, "a slice with step 0", "leave the step out")
    return Fixed(owner.items[low:high:step], owner.shape if owner.shape != "range" else "list")


def masked(state: State, node: ast.Subscript, owner: Value, mask: Value) -> Value:
    """The elements of an array where a mask is true."""
    if not (isinstance(owner, Sequence) and isinstance(mask, Sequence) and owner.base is mask.base and owner.keep is mask.keep):
        raise refuse(node, f"`{ast.unparse(node)}`", "use a mask that is computed from the same array", "DPA705")
    if owner.shape not in ("array", "any"):
        raise refuse(node, "a list with a mask", "use np.array(...) first", "DPA703")
    before, test = owner.keep, mask.element

    def keep(value: Value) -> Scalar:
        found = numbers.as_scalar(state, node, test(value))
        if found.kind != "bool":
            raise refuse(node, "numbers as a mask", "compare them", "DPA703")
        if before is None:
            return found
        return Scalar(f"({before(value).code} and {found.code})", "bool")

    return Sequence(owner.base, owner.element, keep, "array")


def item(state: State, node: ast.Subscript | ast.Call, owner: Value, index: Scalar) -> Value:
    """One element, or the entry of a key."""
    match owner:
        case Fixed(items=items):
            place = numbers.whole(state, node, index, "as an index")
            if place.is_known:
                if not -len(items) <= place.known < len(items):
                    raise refuse(node, "an index outside the list", "use an index inside it", "DPA706")
                return items[int(place.known)]
            keys = [(f"({place.code} == {k} or {place.code} == {k - len(items)})", one) for k, one in enumerate(items)]
            return _looked_up(state, node, keys)
        case Table(cells=cells):
            if index.is_known:
                if index.known not in cells:
                    raise refuse(node, "a key that the dictionary does not have", "add it first", "DPA706")
                return cells[index.known]
            keys = [(_is(state, node, index, key), one) for key, one in cells.items()]
            return _looked_up(state, node, keys)
        case Counts():
            return entry(state, node, owner, index, missing=None)
        case Sequence(base=base, element=element, keep=None):
            if base.private or base.at is None:
                raise teach(node, "record by index", "one record by its place", ast.unparse(getattr(node, "value", node)))
            place = numbers.whole(state, node, index, "as an index")
            if place.is_known and place.known < 0 and base.length is not None:
                place = Scalar(f"({base.length.code} - {-place.known})", "int")
            return element(base.at(node, place))
        case Scalar(origin=str()):
            state.assume(owner.origin, "list", "an index into it")
    raise refuse(node, f"`{ast.unparse(node)}`", "index lists and dictionaries", "DPA705")


def _is(state: State, node: ast.AST, index: Scalar, key: object) -> str:
    """The condition that a key is a constant."""
    return numbers.link(state, node, ast.Eq(), index, numbers.constant(state, key)).code


def _looked_up(state: State, node: ast.AST, keys: list[tuple[str, Value]]) -> Scalar:
    """The entry that a key has, among those written out, which the proof owes."""
    parts = [numbers.as_scalar(state, node, one) for _, one in keys]
    if not parts:
        raise refuse(node, "an element of nothing", "fill it first", "DPA706")
    state.owe(f"({' or '.join(test for test, _ in keys)})")
    result = parts[-1]
    for (test, _), one in zip(reversed(keys[:-1]), reversed(parts[:-1]), strict=True):
        loose = numbers.either(one, result, test)
        part, result = numbers.same_kind(state, node, one, result)
        result = Scalar(f"({part.code} if {test} else {result.code})", part.kind, loose=loose)
    return result


def entry(state: State, node: ast.AST, counts: Counts, key: Scalar, missing: Scalar | None) -> Scalar:
    """An entry of a dictionary of sums: the sum over records of this key."""
    if not counts.total and missing is None:
        raise teach(node, "private keys", "an entry that may be missing", "data")
    if missing is not None and missing.known != 0:
        raise refuse(node, "a default other than 0", "use 0", "DPA706")
    counts.fresh = False
    key = numbers.as_scalar(state, node, state.held(node, key))
    name = state.fresh("bin")
    state.store(node, name, Scalar("0", "int"))

    def add(pair: Value) -> None:
        assert isinstance(pair, Fixed)  # noqa: S101 - for the type checker: contributions are pairs
        of, amount = (numbers.as_scalar(state, node, one) for one in pair.items)
        amount = numbers.number(state, node, amount)
        kind: Kind = "real" if "real" in (state.learned.kinds[name], amount.kind) else "int"
        with sequences.branch(state, f"if {numbers.link(state, node, ast.Eq(), of, key).code}:"):
            state.store(node, name, Scalar(f"{name} + {amount.code}", kind, loose=("?",) if amount.loose else ()))

    if counts.pairs is not None:
        sequences.go(state, node, counts.pairs, add)
    return state.variable(name)
