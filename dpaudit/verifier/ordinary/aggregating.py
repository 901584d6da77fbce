"""Functions of Python that make one value of many, or put them in order."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final

from dpaudit.verifier.ordinary import arrays, iterating, numbers, ordinals, texts
from dpaudit.verifier.ordinary.calls import Sources, given
from dpaudit.verifier.ordinary.loops import growing, repeat
from dpaudit.verifier.ordinary.refusing import refuse, teach
from dpaudit.verifier.ordinary.state import State
from dpaudit.verifier.ordinary.values import (
    Items,
    Iterator,
    Nothing,
    Opaque,
    Poison,
    Ref,
    Scalar,
    Sequence,
    Spent,
    Tuple,
    Value,
)

_FEW: Final = 4
"""The most private numbers that are put in order."""
Args = list[Value]
Named = dict[str, Value]


def _sum(state: State, node: ast.AST, args: Args, named: Named) -> Value:
    """`sum`: from the start on, one after the other."""
    parts = given(node, args, named, "iterable", "start?")
    first = parts.get("start", numbers.constant(state, 0))
    if isinstance(first, Scalar) and first.kind == "bool":
        raise refuse(node, "a sum that starts with a truth value", "start with 0", "DPA703")
    start = numbers.number(state, node, first)
    return arrays.total(state, node, iterating.drained(state, node, _summed_inside(state, node, parts["iterable"])), start)


def _summed_inside(state: State, node: ast.AST, found: Value) -> Value:
    """A generator with several `for` as one of the sums of the inner ones: a sum of all is the sum of these."""
    held = state.object(found) if isinstance(found, Ref) else None
    if not isinstance(found, Ref) or not isinstance(held, Iterator) or held.what != "generator":
        return found
    made = held.node
    assert isinstance(made, ast.GeneratorExp)  # noqa: S101 - as it was made
    if len(made.generators) < 2 or not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
        return found
    source = state.object(held.parts[0]) if isinstance(held.parts[0], Ref) else None
    outer, *rest = made.generators
    bound = {part.id for one in made.generators for part in ast.walk(one.target) if isinstance(part, ast.Name)}
    if not isinstance(source, Sequence) or node.func.id in bound:
        return found
    inner = ast.copy_location(ast.Call(node.func, [ast.copy_location(ast.GeneratorExp(made.elt, rest), made)], []), node)
    state.change(node, found.address, Spent("an iterator that was gone through before"))
    return state.new(replace(held, node=ast.copy_location(ast.GeneratorExp(inner, [outer]), made)))


def _best(*, least: bool) -> Callable[[State, ast.AST, Args, Named], Value]:
    """The reader of `min` or `max`: the first of equal ones."""

    def read(state: State, node: ast.AST, args: Args, named: Named) -> Value:
        named = dict(named)
        key, default = named.pop("key", None), named.pop("default", None)
        if named or not args or (len(args) > 1 and default is not None):
            raise refuse(node, f"`{ast.unparse(node)}`", "use min(a, b), min(list) or key=", "DPA706")
        found = iterating.drained(state, node, args[0]) if len(args) == 1 else [(None, one) for one in args]
        if isinstance(found, Sequence):
            if key is not None:
                raise refuse(node, "a largest or smallest record", "compute with its numbers", "DPA706")
            return arrays.best(state, node, found, default, least=least)
        if any(guard is not None for guard, _ in found):
            raise refuse(node, f"`{ast.unparse(node)}` of values that may not be there", "write a loop", "DPA706")
        values = [one for _, one in found]
        if not values:
            if default is None:
                raise refuse(node, "the largest or smallest of nothing", "give a default", "DPA704")
            return default
        if key is not None and not isinstance(key, Nothing):
            return _by_key(state, node, key, values, least=least)
        if any(isinstance(one, Opaque) for one in values) and all(map(numbers.is_number, values)):
            return texts.opaque(state, node, *values)
        best = values[0]
        for one in values[1:]:
            best = numbers.extreme(state, node, best, one, least=least)
        return numbers.number(state, node, best) if len(values) > 1 else best

    return read


def _by_key(state: State, node: ast.AST, key: Value, values: list[Value], *, least: bool) -> Value:
    """The value with the largest key."""
    heap, grown = dict(state.heap), state.grown()
    keys = [numbers.number(state, node, state.call(node, key, [one], {})) for one in values]
    iterating.check_still(state, node, heap, grown)
    best, top = values[0], keys[0]
    for value, one in zip(values[1:], keys[1:], strict=True):
        better = numbers.compared(state, node, ast.Lt() if least else ast.Gt(), one, top)
        if not isinstance(value, Scalar) or not isinstance(best, Scalar):
            raise refuse(node, "a largest or smallest of values that are no numbers or texts", "use a loop", "DPA706")
        best = numbers.chosen(state, node, better, value, best)
        top = numbers.chosen(state, node, better, one, top)
        if not better.is_known:
            best, top = state.keep("best", best), state.keep("top", top)
    return best


def _any(*, every: bool) -> Callable[[State, ast.AST, Args, Named], Value]:
    """The reader of `any` or `all`; nothing in an element has effects or fails."""

    def read(state: State, node: ast.AST, args: Args, named: Named) -> Value:
        source = given(node, args, named, "iterable")["iterable"]
        size, heap, grown = len(state.lines), dict(state.heap), state.grown()
        found = iterating.drained(state, node, source)
        own = source.address if isinstance(source, Ref) else 0
        if isinstance(found, Sequence):
            return arrays.any_of(state, node, found, every=every)
        changed = any(state.heap[address] is not one for address, one in heap.items() if address != own)
        if changed or state.grown() != grown or len(state.lines) != size or any(guard is not None for guard, _ in found):
            # Python stops at the first that decides; what comes after it would not run.
            raise refuse(node, f"`{ast.unparse(node)}`", "make a list of the truth values first", "DPA706")
        made = numbers.connected("and" if every else "or", [state.truth(node, one) for _, one in found])
        return replace(made, types=numbers.BOOL, tests=())

    return read


def _sorted(state: State, node: ast.AST, args: Args, named: Named) -> Value:
    """`sorted`: of constants what it gives, of others one function of all keys and values; of private lists it is refused."""
    found = iterating.drained(state, node, args[0])
    key, reverse = named.get("key", Nothing()), named.get("reverse", numbers.constant(state, False))
    if set(named) - {"key", "reverse"} or not isinstance(reverse, Scalar) or type(reverse.known) is not bool:
        raise refuse(node, f"`{ast.unparse(node)}`", "write reverse=True out", "DPA706")
    if isinstance(found, Sequence):
        if not isinstance(key, Nothing):
            raise teach(
                node, "sorted", "sorted private values", ast.unparse(node.args[0]) if isinstance(node, ast.Call) else "data"
            )
        return ordinals.ranked(state, node, found, reverse)
    values = [one for guard, one in found if guard is None]
    heap, grown = dict(state.heap), state.grown()
    keys = values if isinstance(key, Nothing) else [state.call(node, key, [one], {}) for one in values]
    iterating.check_still(state, node, heap, grown)
    wanted, held = [_parts(one) for one in keys], [_parts(one) for one in values]
    if len(values) < len(found) or not _are_alike(wanted) or not _are_alike(held):
        raise teach(node, "sorted", f"`{ast.unparse(node)}`")
    if isinstance(key, Nothing) and len(values) == len(found) and _is_few(values):
        return _in_order(state, node, values, reverse)
    if all(part.is_known for one in wanted for part in one):
        known: dict[int, Any] = {place: tuple(part.known for part in one) for place, one in enumerate(wanted)}
        order = sorted(known, key=lambda place: known[place], reverse=reverse.known)
        return state.new(Items(tuple(values[place] for place in order)))
    used = dict.fromkeys(part for one in (*wanted, *held) for part in one)
    whole = texts.opaque(state, node, *used)

    def placed(value: Value, place: str) -> Value:
        if isinstance(value, Tuple):
            return Tuple(tuple(placed(one, f"{place}:{part}") for part, one in enumerate(value.items)))
        text = isinstance(value, Scalar) and value.kind == "str"
        return replace(whole, site=f"{whole.site}:{place}", sort="text" if text else "number")

    return state.new(Items(tuple(placed(one, str(place)) for place, one in enumerate(values))))


def _sort(state: State, node: ast.AST, owner: Value, name: str, args: Args, named: Named) -> Value | None:
    """`.sort` of a list that nothing fills: the same object holds the sorted values from here on."""
    held = state.object(owner) if isinstance(owner, Ref) else None
    if name != "sort" or not isinstance(owner, Ref) or not isinstance(held, (Items, Sequence)) or held.form != "list":
        return None
    if args or growing(state, owner.address) or owner.address in state.shared or (isinstance(held, Sequence) and held.once):
        raise refuse(node, f"`{ast.unparse(node)}`", "write `name = sorted(name)`", "DPA705")
    source = state.new(held)
    # While Python sorts a list it is empty, which a key may see.
    state.change(node, owner.address, Spent("a list that is being sorted"))
    made = _sorted(state, node, [source], named)
    assert isinstance(made, Ref)  # noqa: S101 - for the type checker
    state.change(node, owner.address, state.object(made))
    return Nothing()


def _in_order(state: State, node: ast.AST, values: list[Value], reverse: Scalar) -> Ref:
    """A few numbers of one type in order: neighbours change places until none would."""
    items = [numbers.number(state, node, one) for one in values]
    for last in range(len(items) - 1, 0, -1):
        for place in range(last):
            pair = items[place], items[place + 1]
            least, most = (state.keep("ordered", numbers.extreme(state, node, *pair, least=one)) for one in (True, False))
            items[place], items[place + 1] = (most, least) if reverse.known else (least, most)
    return state.new(Items(tuple(items)))


def _is_few(values: list[Value]) -> bool:
    """True for a few numbers of one type, of which some are private and have no noise."""
    found = [one for one in values if isinstance(one, Scalar) and one.kind in ("int", "real") and one.firm]
    if len(found) < len(values) or len(found) > _FEW or len({one.types for one in found}) > 1:
        return False
    return not all(one.is_known or one.noisy or one.public for one in found)


def _parts(found: Value) -> list[Scalar]:
    """The numbers and texts of a value or of a tuple of them; one that has no type where it is something else."""
    items = found.items if isinstance(found, Tuple) else (found,)
    return [one if isinstance(one, Scalar) else Scalar("0", "int", frozenset()) for one in items]


def _are_alike(found: list[list[Scalar]]) -> bool:
    """True for values that Python compares with each other: in each place firm numbers, or texts that are constants."""
    if any(not one.firm or (one.kind == "str" and not one.is_known) for parts in found for one in parts):
        return False
    return len({tuple(one.kind == "str" for one in parts) for parts in found}) <= 1


def _mean(state: State, node: ast.AST, args: Args, named: Named) -> Value:
    """`statistics.mean`: the sum by the number."""
    source = given(node, args, named, "data")["data"]
    held = (
        arrays.held_by(state, node, source)
        if isinstance(source, Tuple)
        else state.object(source)
        if isinstance(source, Ref)
        else None
    )
    if isinstance(source, Ref) and isinstance(held, Iterator):
        source = iterating.as_list(state, node, iterating.drained(state, node, source))
        held = state.object(source)
    parts = held.items if isinstance(held, Items) else (held.value,) if isinstance(held, Sequence) else ()
    if any(isinstance(one, Scalar) and any(kind.startswith("np.") for kind in one.types) for one in parts):
        # It gives a mean of their type: of whole numbers a whole one.
        raise refuse(node, f"`{ast.unparse(node)}` of numbers of numpy", "use np.mean", "DPA703")
    return arrays.mean(state, node, source, numbers.FLOAT)


def _fsum(state: State, node: ast.AST, args: Args, named: Named) -> Value:
    """`math.fsum`."""
    found = iterating.drained(state, node, given(node, args, {}, "seq")["seq"])
    if named:
        raise refuse(node, f"`{ast.unparse(node)}`", "pass it by position", "DPA706")
    made = arrays.total(state, node, found, numbers.constant(state, 0))
    return numbers.floated(state, node, numbers.number(state, node, made))


def _reduce(state: State, node: ast.AST, args: Args, named: Named) -> Value:
    """`functools.reduce`: a function of what there is so far and each element in turn, which changes nothing."""
    if named or not 2 <= len(args) <= 3:
        raise refuse(node, f"`{ast.unparse(node)}`", "write reduce(function, values, start)", "DPA706")
    function, found = args[0], iterating.drained(state, node, args[1])
    if len(args) == 2 and (isinstance(found, Sequence) or not found or found[0][0] is not None):
        raise refuse(node, f"`{ast.unparse(node)}`, which fails without an element,", "give a start", "DPA706")
    start = args[2] if len(args) == 3 else found[0][1]  # type: ignore[index]
    so_far = state.new(Items((start,)))

    def now() -> Value:
        held = state.object(so_far)
        assert isinstance(held, Items)  # noqa: S101 - for the type checker
        return held.items[0]

    def take(value: Value) -> None:
        heap, grown = dict(state.heap), state.grown()
        made = state.call(node, function, [now(), value], {})
        iterating.check_still(state, node, heap, grown)
        state.heap[so_far.address] = Items((made,))

    if isinstance(found, Sequence):
        repeat(state, node, lambda: state.opened(node, found), take, private=found.private, public=found.steady)
    else:
        for guard, one in found[len(args) == 2 :]:
            if guard is not None:
                raise refuse(node, f"`{ast.unparse(node)}` of values that may not be there", "write a loop", "DPA706")
            take(one)
    made = now()
    if isinstance(made, Poison):
        raise refuse(node, f"`{ast.unparse(node)}`, {made.why},", "give it one kind of value in every round", "DPA705")
    return made


def fill() -> None:
    """Enter the functions of this module, and `.sort` ahead of the other methods of lists."""
    Sources.METHODS["sort"] = _sort
    Sources.PYTHON.update(
        all=_any(every=True), any=_any(every=False), max=_best(least=False), min=_best(least=True), sorted=_sorted, sum=_sum
    )
    Sources.MODULES.update({"functools.reduce": _reduce, "math.fsum": _fsum, "statistics.mean": _mean, "statistics.fmean": _mean})
