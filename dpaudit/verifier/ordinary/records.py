"""Data and neighbours: lists of records that come and go become lists of equal length with a mark of presence.

A list `data` under add/remove becomes `data__here`, 0 or 1 at each place, and a list for each field, the same in both runs. Under
replace-one a list of numbers may change at one place by any amount, which is a parameter `data__spread`; records with several
fields become two public lists for each, and `data__which` says which of the two counts. For every pair of neighbours there is such
a pair of inputs on which the core program does what the source does (docs/verification.md, "Records").
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Final

from dpaudit.errors import Unsupported
from dpaudit.spec import Change, Spec
from dpaudit.verifier.ordinary import nested
from dpaudit.verifier.ordinary.state import State
from dpaudit.verifier.ordinary.types import Type, plain_fields
from dpaudit.verifier.ordinary.values import Record, Ref, Row, Scalar, Sequence, Short, Tuple, Value
from dpaudit.verifier.ordinary.wording import NoText, Words

_CORE: Final = {"int": "int", "real": "Fraction", "bool": "int", "str": "int"}


@dataclass
class Data:
    """The core parameters of the lists, their contract, and the way back."""

    parameters: list[tuple[str, str]] = field(default_factory=list)
    adjacency: dict[str, Change] = field(default_factory=dict)
    public: list[str] = field(default_factory=list)
    requires: list[str] = field(default_factory=list)
    domain: list[str] = field(default_factory=list)
    lengths: dict[str, str] = field(default_factory=dict)  # for each list of public length the core list that has it
    fields: dict[str, tuple[tuple[str, ...], Type]] = field(default_factory=dict)  # for each list the core columns
    relations: dict[str, str] = field(default_factory=dict)
    read: set[str] = field(default_factory=set)  # the names that the core program reads

    def back(self, inputs: Mapping[str, Any], name: str, texts: Mapping[int, str]) -> list[Any]:
        """The list of the source that core inputs stand for."""
        _, kind = self.fields[name]
        relation = self.relations[name]
        if relation == "add_remove":
            places = [place for place, here in enumerate(inputs[f"{name}__here"]) if here == 1]
        else:
            places = list(range(len(inputs[self.lengths[name]])))
        rows = []
        words, plain = Words(texts), plain_fields(kind)
        for place in places:
            raw = {one: inputs[self._column(inputs, name, one, place)][place] for one in kind.fields}
            row: dict[str, Any] = {}
            for one, sort in plain.items():
                if sort == "str":
                    row[one] = self._text(words, name, kind, one, raw)
                else:
                    row[one] = bool(raw[one]) if sort == "bool" else raw[one]
            rows.append(row)
        if kind.inner:
            return [_inside(row, kind) for row in rows]
        if set(plain) == {""}:
            return [row[""] for row in rows]
        if kind.rows or kind.owner is not None:
            digits = all(one.isdigit() for one in plain)
            return [_tuple(row) if digits and plain else dict(row) for row in rows]
        return [_tuple(row) for row in rows] if plain else [0 for _ in rows]

    def _text(self, words: Words, name: str, kind: Type, one: str, raw: Mapping[str, Any]) -> str:
        """The text of a field: one of which Python makes the values of the fields that are made of it."""

        def is_read(part: str) -> bool:
            core = column(name, part)
            return not self.read.isdisjoint((core, f"{core}__old", f"{core}__new"))

        # What nothing reads may be anything.
        made = [(key, each) for key, each in kind.made.items() if each.field == one]
        wanted = {each.steps: raw[key] for key, each in made if is_read(key)}
        if not made:
            return words.by_number.get(raw[one], f"text {raw[one]}")
        found = words.text_for(raw[one] if is_read(one) else None, wanted)
        if found is None:
            raise NoText
        return found

    def _column(self, inputs: Mapping[str, Any], name: str, one: str, place: int) -> str:
        """The core list that has a field of the record at a place."""
        if f"{name}__which" in inputs:
            return f"{column(name, one)}__{'new' if inputs[f'{name}__which'][place] == 1 else 'old'}"
        return column(name, one)


_FILLED: Final[Mapping[str, Any]] = {"int": 0, "real": Fraction(0), "bool": False, "str": "another text"}
"""What stands at places that nothing reads."""


def _inside(row: Mapping[str, Any], kind: Type) -> list[Any]:
    """A record that is a list."""
    other = _FILLED[kind.fields.get("0", "int")]
    return [row.get(str(place), other) for place in range(int(row["size"]))]


def _tuple(row: Mapping[str, Any]) -> tuple[Any, ...]:
    """A row as a tuple, by the places that its fields are named by; places that nothing reads are 0."""
    width = max(int(one) for one in row) + 1
    return tuple(row.get(str(place), 0) for place in range(width))


def column(name: str, one: str) -> str:
    """The core list of a field."""
    return f"{name}__{one}" if one else name


def declare(state: State, data: Data, name: str, kind: Type, relation: str | None, bound: Change | None) -> Ref:
    """A list parameter: its core parameters, and the value that its name has."""
    data.relations[name] = relation or "public"
    own = next((one for one in kind.fields if one in ("here", "which", "spread", "old", "new")), None)
    if own is not None:
        raise Unsupported("DPA702", f"the field {own!r} of {name} has a name that the core program needs; use another name.")
    if kind.rows and kind.why == "annotation":
        state.learned.types.setdefault(f"{name}%", "keys")
    private = relation == "add_remove"
    several = relation == "replace_one" and set(kind.fields) != {""}
    columns = [column(name, one) for one in kind.fields]
    data.fields[name] = (tuple(columns), kind)
    mark = f"{name}__here" if private else f"{name}__which" if several else ""
    if mark:
        data.parameters.append((mark, "list[int]"))
        data.adjacency[mark] = Change("one", 1)
        data.domain += [f"0 <= {mark}[each]", f"{mark}[each] <= 1"]
        if several:
            data.lengths[name] = mark
    for one, sort in kind.fields.items():
        for suffix in ("__old", "__new") if several else ("",):
            core = column(name, one) + suffix
            data.parameters.append((core, f"list[{_CORE[sort]}]"))
            if mark or relation is None:
                data.public.append(core)
            if mark:
                data.requires.append(f"len({core}) == len({mark})")
            if kind.inner and one == "size":
                data.domain.append(f"0 <= {core}[each]")
                if nested.is_bounded(state.learned, name):
                    data.domain.append(f"{core}[each] <= {nested.width(state.learned, name)}")
            if sort == "int" and one in kind.made:
                data.domain.append(f"{-1 if kind.made[one].steps[-1][0] == 'find' else 0} <= {core}[each]")
            if sort == "bool":
                data.domain += [f"0 <= {core}[each]", f"{core}[each] <= 1"]
    if not mark:
        core = columns[0] if columns else name
        if not columns:
            data.parameters.append((core, "list[int]"))
        data.lengths[name] = core
        if relation == "replace_one":
            sort = kind.fields.get("", "int")
            data.parameters.append((f"{name}__spread", _CORE[sort]))
            data.requires.append(f"{name}__spread >= 0")
            data.adjacency[core] = Change("one", f"{name}__spread")
        elif relation is not None:
            data.adjacency[core] = bound if bound is not None else Change(relation)
        elif not columns:
            data.public.append(core)
    return state.new(_sequence(state, data, name, kind, mark, private=private, several=several))


def _sequence(state: State, data: Data, name: str, kind: Type, mark: str, *, private: bool, several: bool) -> Sequence:
    """The list as a loop of the core program over its records."""
    place = state.fresh("i")
    assumed = kind.why.startswith("assumed") or kind.rows
    public = data.relations[name] == "public"

    def part(one: str) -> Scalar:
        core = column(name, one)
        code = f"({core}__new[{place}] if {mark}[{place}] == 1 else {core}__old[{place}])" if several else f"{core}[{place}]"
        sort = kind.fields[one]
        for suffix in ("__old", "__new") if several else ("",):
            state.columns[core + suffix] = (code, place)
            state.fields[core + suffix] = (name, one)
        types = {"int": "int", "bool": "bool", "str": "str", "real": "float" if kind.floats else "Fraction"}[sort]
        if kind.shape == "array":
            types = {"int": "np.int", "float": "np.float", "Fraction": "np.float", "bool": "np.bool"}.get(types, types)
        origin = (f"{name}.{one}" if one else f"{name}[]") if assumed else None
        code = f"({code} == 1)" if sort == "bool" else code
        return Scalar(code, sort, frozenset({types}), public=public, origin=origin)

    value: Value
    plain = plain_fields(kind)
    for one in kind.made:
        part(one)
    if kind.inner:
        bounded = nested.is_bounded(state.learned, name)
        size, *items = (part(one) for one in kind.fields)
        value = Short(size, tuple(items), size, name, cut=bounded)
    elif set(plain) == {""}:
        value = part("")
    elif kind.rows:
        value = Row(name, tuple((one, part(one)) for one in plain))
    elif kind.owner is not None:
        value = Record(kind.owner, tuple((one, part(one)) for one in plain))
    else:
        value = Tuple(tuple(part(str(one)) for one in range(len(plain))))
    if kind.shape == "array" and set(plain) != {""}:
        state.matrices.add(name)
    core = mark if private else data.lengths[name]
    lines = [(0, f"for {place} in range(0, len({core})):", state.line)]
    if private:
        lines.append((1, f"if {mark}[{place}] == 1:", state.line))
    length = None if private else Scalar(f"len({core})", "int", frozenset({"int"}), public=True, positive=name in state.nonempty)
    return Sequence(
        tuple(lines),
        len(lines),
        value,
        frozenset({place}),
        length,
        "" if private else place,
        private,
        kind.shape,
        base=name,
        head=len(lines),
    )


def translated(text: str, data: Data) -> list[str]:
    """A clause of the specification in terms of core parameters; two for records that are one of two."""
    lists = data.fields

    class Names(ast.NodeTransformer):
        def __init__(self, suffix: str) -> None:
            self.suffix, self.touched = suffix, False

        def visit_Call(self, node: ast.Call) -> ast.AST:
            match node:
                case ast.Call(func=ast.Name(id="len"), args=[ast.Name(id=name)]) if name in lists:
                    if data.relations[name] == "add_remove":
                        raise Unsupported("DPA722", f"{text!r} speaks of len({name}), which is private under add_remove.")
                    return ast.Call(ast.Name("len", ast.Load()), [ast.Name(data.lengths[name], ast.Load())], [])
            return self.generic_visit(node)

        def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
            match node.value:
                case ast.Name(id=name) if name in lists:
                    return self._column(name, node.attr)
                case ast.Subscript(value=ast.Name(id=name), slice=place) if name in lists:
                    return ast.Subscript(self._column(name, node.attr), place, ast.Load())
            return self.generic_visit(node)

        def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
            match node:
                case ast.Subscript(value=ast.Subscript(value=ast.Name(id=name), slice=place), slice=ast.Constant(value=one)) if (
                    name in lists
                ):
                    return ast.Subscript(self._column(name, str(one)), place, ast.Load())
                case ast.Subscript(value=ast.Name(id=name)) if name in lists:
                    node = ast.Subscript(self._column(name, ""), node.slice, ast.Load())
            return self.generic_visit(node)

        def _column(self, name: str, one: str) -> ast.Name:
            _, kind = lists[name]
            if one not in kind.fields:
                if one == "" and not kind.fields:
                    return ast.Name("unread", ast.Load())
                raise Unsupported("DPA722", f"{text!r} speaks of a field {one!r} that nothing reads of {name}.")
            several = f"{name}__which" in data.adjacency
            self.touched |= several
            return ast.Name(column(name, one) + (self.suffix if several else ""), ast.Load())

    tree = ast.parse(text, mode="eval").body
    found = []
    for suffix in ("__old", "__new"):
        names = Names(suffix)
        found.append(ast.unparse(names.visit(ast.parse(ast.unparse(tree), mode="eval").body)))
        if not names.touched:
            break
    return found


def relations(spec: Spec, names: list[str]) -> dict[str, Change]:
    """The change of each private list."""
    private = [name for name in names if name not in spec.public]
    found: dict[str, Change] = {}
    listed = ", ".join(private) or "none"
    for name, change in spec.changes:
        if name is None and len(private) != 1:
            raise Unsupported(
                "DPA723",
                f"adjacency names no list, and {len(private)} are private: {listed}; name it, or public=[...].",
            )
        found[private[0] if name is None else name] = change
    for name in found:
        if name not in names:
            raise Unsupported("DPA723", f"adjacency names {name}, which is no list; the lists are {', '.join(names) or 'none'}.")
    left = [name for name in private if name not in found]
    if left:
        raise Unsupported(
            "DPA723", f"nothing says how {left[0]} differs between neighbours; name it in adjacency= or public=[...]."
        )
    records = [name for name, change in found.items() if change.relation in ("add_remove", "replace_one")]
    if records and len(found) > 1:
        raise Unsupported("DPA723", "records of several lists do not come and go together; pass one list of tuples.")
    return found


def renamed(text: str, names: Mapping[str, str]) -> str:
    """A text with names replaced."""
    if not names:
        return text

    class Names(ast.NodeTransformer):
        def visit_Name(self, node: ast.Name) -> ast.Name:
            return ast.Name(names.get(node.id, node.id), ast.Load())

    return ast.unparse(Names().visit(ast.parse(text, mode="eval").body))
