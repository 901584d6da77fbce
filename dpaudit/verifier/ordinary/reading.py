"""From a file of ordinary Python to a program of the verified subset with a contract about the same data."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Final

from dpaudit.errors import Unsupported
from dpaudit.spec import LAWS, Spec
from dpaudit.verifier.frontend import OutsideSubset
from dpaudit.verifier.ordinary import calls, comprehensions, expressions, records, shapes, statements
from dpaudit.verifier.ordinary.admitting import admit
from dpaudit.verifier.ordinary.forms import admit_forms
from dpaudit.verifier.ordinary.modules import Source, find, scope_of
from dpaudit.verifier.ordinary.refusing import refuse, teach
from dpaudit.verifier.ordinary.state import Again, Learned, State
from dpaudit.verifier.ordinary.types import Type, read_annotation
from dpaudit.verifier.ordinary.values import Class, Generator, Module, Nothing, Record, Scalar, Scope, Value

_MOST_READINGS: Final = 80
_CORE: Final = {"int": "int", "real": "Fraction", "bool": "bool", "str": "int"}


@dataclass(frozen=True)
class Reading:
    """A function of ordinary Python, read: the program of the subset that stands for it, and the way back.

    Args:
      source: the file and the function.
      text: the core program.
      promise: what it promises, about core parameters.
      lines: for each line of the core program the line of the source, from 1 on.
      inputs: each parameter of the source with its type and what said so.
      draws: each draw with its line.
      reals: why the proof is about real numbers; empty where it is about what runs.
      forgets: whether the source puts out less than the core program does.
      notes: what is assumed besides.
    """

    source: Source
    text: str
    promise: Spec
    claimed: Spec
    lines: tuple[int, ...]
    inputs: tuple[tuple[str, str, str], ...]
    draws: tuple[tuple[int, str], ...]
    reals: tuple[str, ...]
    forgets: bool
    notes: tuple[str, ...]
    data: records.Data
    learned: Learned
    texts: Mapping[str, int]
    arguments: tuple[tuple[str, str], ...]

    def line(self, core: int) -> int:
        """The line of the source that a line of the core program comes from."""
        return self.lines[core - 1] if 1 <= core <= len(self.lines) else core

    def back(self, inputs: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments of the source that core inputs stand for; generators are left out."""
        words = {number: text for text, number in self.texts.items()}
        found: dict[str, Any] = {}
        for name, form in self.arguments:
            if form == "list":
                found[name] = self.data.back(inputs, name, words)
            elif form == "str":
                found[name] = words.get(inputs[name], f"text {inputs[name]}")
            elif form in _CORE:
                found[name] = inputs[name]
            elif form == "object":
                found[name] = {key.partition("__")[2]: value for key, value in inputs.items() if key.startswith(f"{name}__")}
        return found

    def returned(self, values: tuple[Any, ...]) -> Any:
        """The value that the source returns where the core program returns these; `...` for what is not computed."""
        return shapes.rebuilt(self.learned.shapes, dict(self.texts), self.learned.outputs, values)


def read(text: str, claimed: Spec, *, function: str | None = None, data: Mapping[str, str] | None = None) -> Reading:
    """Read a function of a file: the one that is named, or else its last; `data` types what the file does not say."""
    source = find(text, function)
    admit(source.tree, source.function)
    admit_forms(source.tree, source.function)
    learned = Learned()
    for _ in range(_MOST_READINGS):
        basis = learned.basis()
        try:
            return _read(source, claimed, dict(data or {}), learned)
        except Again:
            if learned.basis() != basis:
                learned.forget()
        except RecursionError as error:
            raise Unsupported("DPA702", f"{source.name} is nested too deeply to be read; split its expressions.") from error
    raise refuse(source.function, f"{source.name}, whose types do not settle", "annotate its parameters", "DPA703")


def _state(learned: Learned, source: Source) -> State:
    """The state before the first statement."""
    state = State(learned, Scope({}), readers={**expressions.READERS, **_COMPREHENSIONS}, call=calls.call)
    state.names = {part.id for part in ast.walk(source.tree) if isinstance(part, ast.Name)}
    state.names |= {part.arg for part in ast.walk(source.tree) if isinstance(part, ast.arg)}
    return state


def _read(source: Source, claimed: Spec, declared: dict[str, str], learned: Learned) -> Reading:
    """One reading."""
    state, tree = _state(learned, source), source.function
    outer = scope_of(state, source)
    scope = calls.scope_for(tree, outer, "")
    state.scope, state.frames = scope, [scope]
    types = _types(state, source, outer, declared)
    lists = [name for name, kind in types.items() if kind.form == "list"]
    unfit: Unsupported | None = None
    try:
        changes = records.relations(claimed, lists)
    except Unsupported as error:
        # Use may still say that another parameter is a list; what is read until then is thrown away.
        unfit, changes = error, {}
    data = records.Data()
    arguments: list[tuple[str, str]] = []
    scalars: list[tuple[str, str]] = []
    for name, kind in types.items():
        arguments.append((name, kind.form))
        if kind.floats:
            state.line = tree.lineno
            state.real("floats")
        if kind.form == "list":
            change = changes.get(name)
            relation = None if change is None else change.relation
            scope.names[name] = records.declare(state, data, name, kind, relation, change)
        else:
            scope.names[name] = _scalar(state, name, kind, scalars)
    if isinstance(scope.names.get("self"), Class):
        raise refuse(tree, "a method", "name the class", "DPA702")
    state.public |= {name for name, _ in scalars}
    for name, value in list(scope.names.items()):
        # A parameter that the function assigns to becomes a variable of its own.
        if scope.stores.get(name, 0) > 1 and isinstance(value, Scalar):
            scope.cores[name] = state.varying_name(name)
            statements.assign(state, tree, name, value)
    for law in _samplers(tree, claimed):
        scope.names[law[0]] = law[1]
    statements.block(state, tree.body)
    if not state.dead:
        shapes.put_out(state, tree, Nothing())
    if unfit is not None:
        raise unfit
    return _finished(state, source, claimed, types, data, scalars, arguments)


def _samplers(tree: ast.FunctionDef, claimed: Spec) -> list[tuple[str, Value]]:
    """Keyword-only parameters that are samplers of a law."""
    laws = dict(claimed.laws)
    found: list[tuple[str, Value]] = []
    for one in tree.args.kwonlyargs:
        law = laws.get(one.arg, one.arg)
        if law in LAWS:
            found.append((one.arg, Module(f"law.{law}")))
    return found


def _types(state: State, source: Source, outer: Scope, declared: dict[str, str]) -> dict[str, Type]:
    """The type of each parameter, from the first source that says something."""
    tree, learned = source.function, state.learned
    classes = {name: found for name, found in outer.names.items() if isinstance(found, Class)}
    parameters = calls.parameters_of(tree)
    defaults = calls.defaults_of(tree)
    if any(ast.unparse(one).partition("(")[0].rpartition(".")[2] != "spec" for one in tree.decorator_list):
        raise refuse(tree.decorator_list[0], "a decorated function", "leave the decorator out", "DPA702")
    found: dict[str, Type] = {}
    laws = {name for name, _ in _samplers(tree, Spec(1, "one"))}
    for place, one in enumerate(parameters):
        name = one.arg
        if name in laws:
            continue
        if source.owner and place == 0:
            owner = classes.get(source.owner)
            if owner is None:
                raise teach(tree, "mutation", f"a method of {source.owner}, which is no frozen dataclass")
            found[name] = Type("object", owner=owner, why="class")
            continue
        found[name] = _type_of(learned, name, one, defaults.get(name), classes, declared.get(name))
    return found


def _type_of(
    learned: Learned, name: str, argument: ast.arg, default: ast.expr | None, classes: Mapping[str, Class], declared: str | None
) -> Type:
    """The type of one parameter."""
    if declared is not None:
        made = replace(read_annotation(ast.parse(declared, mode="eval").body, classes), why="declared")
    elif argument.annotation is not None:
        made = read_annotation(argument.annotation, classes)
        if isinstance(default, ast.Constant) and default.value is None:
            made = Type("none", why="left out")
    elif isinstance(default, ast.Constant) and type(default.value) in (bool, str, float):
        kind: Any = {bool: "bool", str: "str", float: "real"}[type(default.value)]
        made = Type(kind, floats=type(default.value) is float, why="default")
    elif isinstance(default, ast.Constant) and default.value is None:
        made = Type("none", why="left out")
    else:
        use = learned.types.get(name)
        forms = {"rng": "generator", "list": "list", "int": "int", "bool": "bool", "str": "str"}
        made = Type(forms.get(use or "", "real"), why=f"assumed from {learned.why[name]}" if use else "assumed")
        made.shape = "any" if made.form == "list" else "numpy"
    if made.form == "list" and name in learned.fields:
        made.fields = {}
    if made.form == "list" and (made.why.startswith("assumed") or made.rows):
        _assumed_fields(learned, name, made)
    return made


def _assumed_fields(learned: Learned, name: str, made: Type) -> None:
    """The fields of records of no declared type, as use says."""
    use = learned.types.get(f"{name}[]", "")
    if use.startswith("tuple"):
        made.fields = {str(place): "real" for place in range(int(use[5:]))}
    elif use == "row" or made.rows:
        made.rows, made.fields = True, dict.fromkeys(learned.fields.get(name, ()), "real")
    else:
        kind: Any = use if use in ("int", "bool", "str", "real") else "real"
        made.fields = {"": kind}
    for one in made.fields:
        kind = learned.types.get(f"{name}.{one}")
        if one and kind in ("int", "bool", "str", "real"):
            made.fields[one] = kind


def _scalar(state: State, name: str, kind: Type, scalars: list[tuple[str, str]]) -> Value:
    """A parameter that is no list."""
    if kind.form == "generator":
        state.learned.notes.append(f"{name} is a generator that nobody else can predict")
        return Generator("random" if kind.shape == "random" else "numpy")
    if kind.form == "none":
        return Nothing()
    if kind.form == "object":
        assert kind.owner is not None  # noqa: S101 - for the type checker: objects have a class
        parts: dict[str, Value] = {}
        for one, annotation, _ in kind.owner.fields:
            inner = read_annotation(annotation, {})
            if inner.form not in _CORE:
                raise refuse(annotation, f"the field {one}", "use numbers, truth values and texts", "DPA702")
            if inner.floats:
                state.real("floats")
            parts[one] = _scalar(state, f"{name}__{one}", inner, scalars)
        return Record(parts, kind.owner)
    scalars.append((name, _CORE[kind.form]))
    state.learned.kinds[name] = kind.form  # type: ignore[assignment]
    origin = name if kind.why.startswith("assumed") else None
    return Scalar(name, kind.form, origin=origin)  # type: ignore[arg-type]


def _finished(
    state: State,
    source: Source,
    claimed: Spec,
    types: dict[str, Type],
    data: records.Data,
    scalars: list[tuple[str, str]],
    arguments: list[tuple[str, str]],
) -> Reading:
    """The core program with its contract."""
    learned = state.learned
    parameters = [*data.parameters, *scalars]
    head = f"def {source.function.name}({', '.join(f'{name}: {kind}' for name, kind in parameters)}):"
    outputs = list(dict.fromkeys((*state.outputs, *(name for name in learned.outputs if name == shapes.SHOWN))))
    written = [(0, head, source.function.lineno)] + [(1, f"{name} = []", source.function.lineno) for name in outputs]
    written += state.lines
    text = "\n".join("    " * depth + line for depth, line, _ in written) + "\n"
    fixed: dict[str, str] = {}
    requires = [*_inferred(claimed, types), *map(str, claimed.requires)]
    if "self" in types:
        owner = types["self"].owner
        fixed = {} if owner is None else {one: f"self__{one}" for one, _, _ in owner.fields}

    def clause(one: str) -> list[str]:
        return [_renamed(part, fixed) for part in records.translated(one, data)]

    promise = Spec(
        claim=tuple(clause(str(part))[0] for part in claimed.claim),  # type: ignore[union-attr]
        adjacency=dict(data.adjacency),
        requires=[*data.requires, *(part for one in requires for part in clause(one))],
        domain=[*data.domain, *(part for one in claimed.domain for part in clause(str(one)) if "unread" not in part)],
        public=data.public,
        cost=claimed.cost,
        align={},
    )
    return Reading(
        source=source,
        text=text,
        promise=promise,
        claimed=replace(claimed, requires=tuple(requires)),
        lines=tuple(line for _, _, line in written),
        inputs=tuple((name, _shown(kind), kind.why) for name, kind in types.items()),
        draws=tuple((line, one) for _, one, line in state.lines if one.startswith("noise_") and " = " in one),
        reals=tuple(learned.reals),
        forgets=learned.rounded,
        notes=tuple(dict.fromkeys(learned.notes)),
        data=data,
        learned=learned,
        texts=dict(state.texts),
        arguments=tuple(arguments),
    )


def _shown(kind: Type) -> str:
    """A type as people write it."""
    words = {"int": "int", "real": "float" if kind.floats else "Fraction", "bool": "bool", "str": "str"}
    if kind.form != "list":
        return words.get(kind.form, kind.form if kind.owner is None else kind.owner.tree.name)
    if set(kind.fields) == {""}:
        return f"list[{words[kind.fields['']]}]"
    inner = ", ".join(f"{one}: {words[sort]}" for one, sort in kind.fields.items())
    return f"list of records ({inner or 'nothing of them is read'})"


def _inferred(claimed: Spec, types: dict[str, Type]) -> list[str]:
    """Parameters that the claim is made of are above 0, where the specification says nothing of them."""
    texts = " ".join(map(str, (*claimed.requires,)))
    said = (
        {part.id for part in ast.walk(ast.parse(f"[{','.join(map(str, claimed.requires))}]")) if isinstance(part, ast.Name)}
        if texts
        else set()
    )
    names = {part.id for one in claimed.claim for part in ast.walk(ast.parse(str(one))) if isinstance(part, ast.Name)}  # type: ignore[union-attr]
    found = [f"{name} > 0" for name, kind in types.items() if name in names and name not in said and kind.form in ("real", "int")]
    own = types.get("self")
    if own is not None and own.owner is not None:
        found += [f"{one} > 0" for one, _, _ in own.owner.fields if one in names and one not in said]
    return found


def _renamed(text: str, names: Mapping[str, str]) -> str:
    """A text with names replaced."""
    if not names:
        return text

    class Names(ast.NodeTransformer):
        def visit_Name(self, node: ast.Name) -> ast.Name:
            return ast.Name(names.get(node.id, node.id), ast.Load())

    return ast.unparse(Names().visit(ast.parse(text, mode="eval").body))


_COMPREHENSIONS: Final[dict[type, Any]] = {
    ast.Call: calls.read_call,
    ast.DictComp: comprehensions.dict_comprehension,
    ast.GeneratorExp: lambda state, node: comprehensions.comprehension(state, node, once=True),
    ast.ListComp: lambda state, node: comprehensions.comprehension(state, node, once=False),
}

statements.BINARY.append(expressions.binary)

__all__ = ["Fraction", "OutsideSubset", "Reading", "read"]
