"""Methods of lists, dictionaries and texts."""

from __future__ import annotations

import ast
from dataclasses import replace

from dpaudit.verifier.ordinary import arrays, formats, iterating, numbers, outcomes, subscripts, wording
from dpaudit.verifier.ordinary.calls import Sources, given
from dpaudit.verifier.ordinary.loops import grow, growing
from dpaudit.verifier.ordinary.refusing import refuse, teach
from dpaudit.verifier.ordinary.state import State
from dpaudit.verifier.ordinary.values import (
    Counts,
    Dictionary,
    Growing,
    Items,
    Iterator,
    Nothing,
    Output,
    Ref,
    Scalar,
    Sequence,
    Spent,
    Value,
)

Args = list[Value]
Named = dict[str, Value]


def _of_list(state: State, node: ast.AST, owner: Value, name: str, args: Args, named: Named) -> Value | None:
    """Methods of lists."""
    held = state.object(owner) if isinstance(owner, Ref) else None
    if not isinstance(owner, Ref):
        return None
    is_list = isinstance(held, (Items, Output, Sequence)) and held.form == "list"
    if not (is_list or (isinstance(held, Growing) and isinstance(held.before, Items))):
        return None
    if named:
        return None
    if name == "append":
        append(state, node, owner, given(node, args, named, "object")["object"])
        return Nothing()
    if name == "extend":
        extend(state, node, owner, given(node, args, named, "iterable")["iterable"])
        return Nothing()
    if name == "copy" and isinstance(held, Sequence) and state.private_tests:
        # What is annotated as a sequence may be a tuple, which has no copy.
        raise refuse(node, f"`{ast.unparse(node)}` where data decide whether it is reached", "write list(...)", "DPA706")
    if name == "copy" and isinstance(held, (Items, Sequence)) and not args:
        return state.new(state.taken(node, owner.address, held) if isinstance(held, Sequence) else held)
    if name == "pop" and isinstance(held, Items) and len(args) <= 1 and not growing(state, owner.address):
        place = subscripts._place(state, node, args[0] if args else numbers.constant(state, -1), len(held.items))  # noqa: SLF001
        if isinstance(place, int):
            state.change(node, owner.address, replace(held, items=(*held.items[:place], *held.items[place + 1 :])))
            return held.items[place]
    if name == "count" and isinstance(held, Sequence) and len(args) == 1:
        wanted = numbers.scalar(state, node, args[0])

        def same(one: Value) -> tuple[None, Value]:
            return None, numbers.compared(state, node, ast.Eq(), numbers.scalar(state, node, one), wanted)

        taken = state.taken(node, owner.address, held)
        return arrays.total(state, node, iterating.over(state, node, taken, same), numbers.constant(state, 0))
    if name == "reverse" and isinstance(held, Items) and not args and not growing(state, owner.address):
        state.change(node, owner.address, replace(held, items=held.items[::-1]))
        return Nothing()
    if name in ("sort", "insert", "remove", "reverse", "clear", "count", "index", "pop"):
        raise refuse(node, f"`.{name}` of a list", "make a new list", "DPA705")
    return None


def append(state: State, node: ast.AST, owner: Ref, value: Value) -> None:
    """`owner.append(value)`: in a loop of the core program the list is one that the loop fills."""
    held = state.object(owner)
    if isinstance(held, Output):
        outcomes.append(state, node, held, value)
        return
    if isinstance(held, (Items, Growing)) and growing(state, owner.address):
        grow(state, owner.address, value)
        if not any(loop.private for loop in state.loops):
            _released(state, node, owner, value)
        return
    if not isinstance(held, Items) or held.form != "list":
        raise refuse(node, f"`{ast.unparse(node)}`", "append to a list that starts as []", "DPA705")
    state.change(node, owner.address, Items((*held.items, value)))


def _released(state: State, node: ast.AST, owner: Ref, value: Value) -> None:
    """See that a value that may be put out has a form; a loop decides whether it is."""
    held = state.object(owner)
    if isinstance(held, Growing):
        with state.trial():
            outcomes.append(state, node, state.channel(), value)


def extend(state: State, node: ast.AST, owner: Ref, value: Value) -> None:
    """`owner.extend(values)`."""
    before = state.heap[owner.address]
    if isinstance(value, Ref) and isinstance(state.object(value), Iterator):
        # It would go on through what it just added.
        state.heap[owner.address] = Spent("a list that grows meanwhile")
    found = iterating.drained(state, node, value)
    state.heap[owner.address] = before
    if isinstance(found, Sequence):
        raise refuse(node, f"`{ast.unparse(node)}`", "write a list comprehension", "DPA706")
    for guard, one in found:
        if guard is not None:
            raise refuse(node, f"`{ast.unparse(node)}`", "write a loop with `if`", "DPA706")
        append(state, node, owner, one)


def _of_dictionary(state: State, node: ast.AST, owner: Value, name: str, args: Args, named: Named) -> Value | None:
    """Methods of dictionaries."""
    held = state.object(owner) if isinstance(owner, Ref) else None
    if not isinstance(owner, Ref) or not isinstance(held, (Dictionary, Counts, Growing)):
        return None
    if isinstance(held, Growing) and not isinstance(held.before, Dictionary):
        return None
    if name == "get" and not named and 1 <= len(args) <= 2:
        default = args[1] if len(args) == 2 else Nothing()
        if isinstance(default, Nothing):
            if isinstance(held, Dictionary) and isinstance(args[0], Scalar) and args[0].is_known:
                return subscripts.entry(state, node, owner, args[0], default)
            raise refuse(node, f"`{ast.unparse(node)}`, which may be None", "give a default: .get(key, 0)", "DPA706")
        return subscripts.entry(state, node, owner, args[0], default)
    if name in ("keys", "values", "items") and not args and not named:
        if isinstance(held, Counts) and state.lenient:
            return state.new(Iterator(name, (owner,)))
        if isinstance(held, Counts):
            raise teach(node, "private keys", "a loop over keys that are found in the data")
        if isinstance(held, Dictionary):
            return state.new(Iterator(name, (owner,)))
    if name == "copy" and isinstance(held, Dictionary) and not args and not named:
        return state.new(held)
    if name == "update" and isinstance(held, Dictionary) and len(args) <= 1 and not growing(state, owner.address):
        other = state.object(args[0]) if args and isinstance(args[0], Ref) else Dictionary()
        # A Counter adds up instead.
        if isinstance(other, Dictionary) and held.default != "counter" and (not args or isinstance(args[0], Ref)):
            cells = {**dict(held.entries), **dict(other.entries), **named}
            state.change(node, owner.address, replace(held, entries=tuple(cells.items())))
            return Nothing()
    if name in ("update", "pop", "clear", "popitem", "most_common", "elements", "subtract"):
        raise refuse(node, f"`.{name}` of a dictionary", "assign its entries one by one", "DPA705")
    return None


def _of_spent(state: State, node: ast.AST, owner: Value, name: str, args: Args, named: Named) -> Value | None:
    """Methods of what has no value of its own here."""
    held = state.object(owner) if isinstance(owner, Ref) else None
    if isinstance(held, Spent):
        raise refuse(node, f"`.{name}` of {held.why}", "keep each value under a name of its own", "DPA705")
    return None


def _of_text(state: State, node: ast.AST, owner: Value, name: str, args: Args, named: Named) -> Value | None:
    """Methods of constant texts, which Python computes."""
    if isinstance(owner, Scalar) and isinstance(owner.known, str) and name == "format":
        return formats.formatted(state, node, owner.known, args, named)
    if isinstance(owner, Scalar) and isinstance(owner.known, str) and name == "join" and len(args) == 1 and not named:
        return formats.joined(state, node, owner.known, iterating.drained(state, node, args[0]))
    if (
        isinstance(owner, Scalar)
        and isinstance(owner.known, str)
        and name in ("lower", "upper", "strip", "title")
        and not args
        and not named
    ):
        return state.text(getattr(owner.known, name)())
    return None


def fill() -> None:
    """Enter the methods of this module."""
    Sources.METHODS.update(list=_of_list, dict=_of_dictionary, spent=_of_spent, text=_of_text, word=wording.method)
