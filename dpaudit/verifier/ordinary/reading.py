"""From a file of ordinary Python to a program of the verified subset with a contract about the same data."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from dpaudit.errors import Unsupported
from dpaudit.spec import LAWS, Spec
from dpaudit.verifier.ordinary import (
    aggregating,
    arrays,
    assigning,
    builtins,
    calls,
    draws,
    edges,
    expressions,
    files,
    formats,
    grouping,
    histograms,
    iterating,
    kinds,
    methods,
    nested,
    occurring,
    ordering,
    ordinals,
    outcomes,
    quantiles,
    records,
    statements,
    subscripts,
    tools,
    vectors,
)
from dpaudit.verifier.ordinary.attributes import attribute
from dpaudit.verifier.ordinary.files import Source
from dpaudit.verifier.ordinary.lines import Again, Learned
from dpaudit.verifier.ordinary.refusing import refuse
from dpaudit.verifier.ordinary.scopes import Scopes
from dpaudit.verifier.ordinary.state import Parts, State, frame_of
from dpaudit.verifier.ordinary.types import Type, plain_fields, read_annotation
from dpaudit.verifier.ordinary.values import (
    Builtin,
    Class,
    Frame,
    Generator,
    Nothing,
    Scalar,
    Value,
    names_in,
)

_MOST_READINGS: Final = 80
_GENERATORS: Final = frozenset({"rng", "generator", "random_state", "gen", "prng", "np_rng", "seed"})
"""Parameters that may be left out: the text of the claim says so."""
_CORE: Final = {"int": "int", "real": "Fraction", "bool": "bool", "str": "int"}

_PARTS: Final = Parts(
    value=expressions.value_of,
    attribute=attribute,
    truth=expressions.truth,
    operated=expressions.operated,
    call=calls.call,
    returned=statements.returned,
    bind=assigning.bind,
    masked=arrays.masked,
    grouped=grouping.group,
    ranked=ordinals.element,
    append=outcomes.append,
    element=subscripts.element,
    record_at=occurring.record_at,
    entered=occurring.entered,
)
iterating.LENIENT.append(occurring.keys_of)
for module in (
    aggregating,
    builtins,
    draws,
    edges,
    formats,
    grouping,
    histograms,
    kinds,
    methods,
    ordinals,
    tools,
    vectors,
    quantiles,
):
    module.fill()


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
    untyped: int
    notes: tuple[str, ...]
    data: records.Data
    state: State = field(repr=False)
    arguments: tuple[tuple[str, str], ...]

    def line(self, core: int) -> int:
        """The line of the source that a line of the core program comes from."""
        return self.lines[core - 1] if 1 <= core <= len(self.lines) else core

    def back(self, inputs: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments of the source that core inputs stand for; generators are left out."""
        words = {**self.state.words, **{number: text for text, number in self.state.texts.items()}}
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
        return outcomes.rebuilt(self.state, values)

    def raised(self, core: str) -> str:
        """The exception of the source that one of the core program stands for."""
        return next((own for one, own in self.state.raises.values() if one == core), core)


def read(
    text: str, claimed: Spec, *, function: str | None = None, data: Mapping[str, str] | None = None, lenient: bool = False
) -> Reading:
    """Read a function of a file: the one that is named, or else its last; `data` types what the file does not say.

    A lenient reading takes what shows which records there are: it is for counterexamples alone.
    """
    source = files.find(text, function)
    files.admit(source)
    learned = Learned()
    for _ in range(_MOST_READINGS):
        try:
            return _read(source, claimed, dict(data or {}), learned, lenient=lenient)
        except Again:
            continue
        except RecursionError as error:
            raise Unsupported("DPA702", f"{source.name} is nested too deeply to be read; split its expressions.") from error
    raise refuse(source.function, f"{source.name}, whose types do not settle", "annotate its parameters", "DPA703")


def _read(source: Source, claimed: Spec, declared: dict[str, str], learned: Learned, *, lenient: bool) -> Reading:
    """One reading."""
    state, tree = State(learned, _PARTS, main=source.function, scopes=Scopes(source.text), lenient=lenient), source.function
    state.reserved = {part.id for part in ast.walk(source.tree) if isinstance(part, ast.Name)}
    state.reserved |= {part.arg for part in ast.walk(source.tree) if isinstance(part, ast.arg)}
    state.fractions = files.makes_fractions(source.tree)
    late = any(isinstance(one, ast.ImportFrom) and one.module == "__future__" for one in source.tree.body)
    hints = [one.annotation for one in ast.walk(tree.args) if isinstance(one, ast.arg) and one.annotation is not None]
    parts = (part for hint in hints for part in ast.walk(hint))
    state.annotated = not late and any(isinstance(part, ast.Name) and part.id == "Fraction" for part in parts)
    state.generators = frozenset(files.generators(source))
    files.load(state, source)
    if any(ast.unparse(one).partition("(")[0] not in ("spec", "claim") for one in tree.decorator_list):
        raise refuse(tree.decorator_list[0], "a decorated function", "leave the decorator out", "DPA702")
    if tree.args.vararg or tree.args.kwarg:
        raise refuse(tree, "*args or **kwargs of the function that is read", "name its arguments", "DPA702")
    types = _types(state, source, declared)
    state.line = tree.lineno
    _know(state, claimed, types)
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
    named: dict[str, Value] = {}
    for name, kind in types.items():
        arguments.append((name, kind.form))
        if kind.floats:
            state.real("floats")
        if kind.form == "list":
            change = changes.get(name)
            named[name] = records.declare(state, data, name, kind, None if change is None else change.relation, change)
        else:
            named[name] = _parameter(state, name, kind, scalars)
    named |= dict(_samplers(tree, claimed))
    function = _function(state, source)
    state.shared = frozenset(address for address, one in state.heap.items() if not isinstance(one, Frame))
    state.call(tree, function, [named.pop(one.arg) for one in tree.args.posonlyargs], named)
    if unfit is not None:
        raise unfit
    for one in state.exponents:
        # It may be too large for a float, and that would show: it is put out where it is made.
        state.assume(f"{one.site} shown", "shown", "math.exp")
    return _finished(state, source, claimed, types, data, scalars, arguments)


def _function(state: State, source: Source) -> Value:
    """The function that is read."""
    if not source.owner:
        return frame_of(state, state.global_frame).names[source.name]
    owner = frame_of(state, state.global_frame).names[source.owner]
    assert isinstance(owner, Class)  # noqa: S101 - for the type checker
    for name, function, style in owner.methods:
        if name == source.function.name and style == "":
            return function
    raise refuse(source.function, "a property or static method", "name a function, or a plain method", "DPA702")


def _samplers(tree: ast.FunctionDef, claimed: Spec) -> list[tuple[str, Value]]:
    """Keyword-only parameters that are samplers of a law."""
    laws = dict(claimed.laws)
    pairs = [(one.arg, laws.get(one.arg, one.arg)) for one in tree.args.kwonlyargs]
    return [(name, Builtin(f"law.{law}")) for name, law in pairs if law in LAWS]


def _types(state: State, source: Source, declared: dict[str, str]) -> dict[str, Type]:
    """The type of each parameter, from the first source that says something."""
    tree, learned = source.function, state.learned
    names = frame_of(state, state.global_frame).names
    classes = {name: found for name, found in names.items() if isinstance(found, Class)}
    parameters = [*tree.args.posonlyargs, *tree.args.args, *tree.args.kwonlyargs]
    plain = [*tree.args.posonlyargs, *tree.args.args]
    given = zip(plain[len(plain) - len(tree.args.defaults) :], tree.args.defaults, strict=True)
    defaults = {one.arg: default for one, default in given}
    defaults |= {one.arg: default for one, default in zip(tree.args.kwonlyargs, tree.args.kw_defaults, strict=True) if default}
    found: dict[str, Type] = {}
    laws = {name for name, _ in _samplers(tree, Spec(1, "one"))}
    for place, one in enumerate(parameters):
        if one.arg in laws:
            if one.arg in defaults:
                raise refuse(one, f"a default of the sampler {one.arg}", "leave it out: the claim is about the law", "DPA702")
            continue
        if source.owner and place == 0:
            if one.arg != "self":
                raise refuse(tree, "a method whose first parameter is not self", "call it self", "DPA702")
            found["self"] = Type("object", owner=classes[source.owner], why="class")
            continue
        found[one.arg] = _type_of(learned, one.arg, one, defaults.get(one.arg), classes, declared.get(one.arg))
    return found


def _type_of(
    learned: Learned, name: str, argument: ast.arg, default: ast.expr | None, classes: Mapping[str, Class], declared: str | None
) -> Type:
    """The type of one parameter."""
    if declared is not None:
        made = replace(read_annotation(ast.parse(declared, mode="eval").body, classes), why="declared")
    elif isinstance(default, ast.Constant) and default.value is None:
        generator = name in _GENERATORS or (argument.annotation is not None and _is_generator(argument.annotation))
        if not generator:
            raise refuse(argument, f"the parameter {name}, which may be None or something else,", "leave its default out", "DPA702")
        made = Type("none", why="left out")
    elif argument.annotation is not None:
        made = read_annotation(argument.annotation, classes)
    elif isinstance(default, ast.Constant) and type(default.value) in (bool, str, float):
        kind: Any = {bool: "bool", str: "str", float: "real"}[type(default.value)]
        made = Type(kind, floats=type(default.value) is float, why="default")
    else:
        use = learned.types.get(name)
        forms = {"rng": "generator", "list": "list", "int": "int", "bool": "bool", "str": "str"}
        made = Type(forms.get(use or "", "real"), why=f"assumed from {learned.why[name]}" if use else "assumed")
        made.shape = learned.types.get(f"{name}#", "any") if made.form == "list" else "numpy"
    if made.form == "list" and name in learned.fields:
        made.fields = {}
    if made.inner:
        nested.widened(learned, name, made)
    if made.form == "list" and (
        made.why.startswith("assumed") or made.rows or (made.shape == "array" and f"{name}[]" in learned.types)
    ):
        _assumed_fields(learned, name, made)
    for field_name, one in learned.made.get(name, {}).items():
        if one.field in made.fields and field_name not in made.fields:
            made.fields[field_name], made.made[field_name] = one.kind, one
    return made


def _is_generator(annotation: ast.expr) -> bool:
    """True for a generator of noise or None."""
    text = annotation.value if isinstance(annotation, ast.Constant) else ast.unparse(annotation)
    return any(str(text).startswith(name) for name in ("np.random.Generator", "numpy.random.Generator", "random.Random"))


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
        known = learned.types.get(f"{name}.{one}")
        if one and known in ("int", "bool", "str", "real"):
            made.fields[one] = known  # type: ignore[assignment]


def _parameter(state: State, name: str, kind: Type, scalars: list[tuple[str, str]]) -> Value:
    """A parameter that is no list."""
    if kind.form == "generator":
        state.notes.append(f"{name} is a generator that nobody else can predict")
        return Generator("random" if kind.shape == "random" else "numpy")
    if kind.form == "none":
        state.notes.append(f"{name} is left out")
        return Nothing()
    if kind.form == "object":
        return _object(state, name, kind, scalars)
    scalars.append((name, _CORE[kind.form]))
    state.reserved.add(name)
    state.parameters.add(name)
    types = {"int": "int", "bool": "bool", "str": "str", "real": "float" if kind.floats else "Fraction"}[kind.form]
    origin = name if kind.why.startswith("assumed") else None
    above = state.facts.get(f"({name} > 0)", False)
    return Scalar(name, kind.form, frozenset({types}), public=True, origin=origin, positive=above)  # type: ignore[arg-type]


def _object(state: State, name: str, kind: Type, scalars: list[tuple[str, str]]) -> Value:
    """An instance of a class: what it is made of is public."""
    owner = kind.owner
    assert owner is not None  # noqa: S101 - for the type checker
    parts: dict[str, Value] = {}
    init = next((function for one, function, _ in owner.methods if one == "__init__"), None)
    pairs: list[tuple[str, ast.expr | None, Value | None]] = [
        (one, annotation, default) for one, annotation, default in owner.fields
    ]
    if owner.style == "plain" and init is not None:
        known = dict(init.defaults)
        given = [*init.node.args.posonlyargs, *init.node.args.args][1:] + init.node.args.kwonlyargs
        pairs = [(one.arg, one.annotation, known.get(one.arg)) for one in given]
    for one, annotation, default in pairs:
        if isinstance(default, Nothing):
            if one not in _GENERATORS and not (annotation is not None and _is_generator(annotation)):
                raise refuse(
                    annotation or ast.Pass(),
                    f"the field {one}, which may be None or something else,",
                    "leave its default out",
                    "DPA702",
                    state.line,
                )
            state.notes.append(f"{name}.{one} is left out")
            parts[one] = default
            continue
        inner = Type("real", why="assumed") if annotation is None else read_annotation(annotation, {})
        if inner.form == "generator":
            parts[one] = Generator("random" if inner.shape == "random" else "numpy")
            continue
        if inner.form not in _CORE:
            raise refuse(annotation or ast.Pass(), f"the field {one}", "use numbers, truth values and texts", "DPA702", state.line)
        if inner.floats:
            state.real("floats")
        made = _parameter(state, f"{name}__{one}", inner, scalars)
        parts[one] = replace(made, origin=None) if isinstance(made, Scalar) else made
    return state.call(ast.Pass(), owner, [], parts)


def _fields(scalars: list[tuple[str, str]]) -> list[str]:
    """The public fields of `self`."""
    return [name.partition("__")[2] for name, _ in scalars if name.startswith("self__")]


def _know(state: State, claimed: Spec, types: dict[str, Type]) -> None:
    """Tests that are decided by what is required: that a parameter is above 0."""
    own = types.get("self")
    for text in [*_inferred(claimed, types, []), *map(str, claimed.requires), *_of_claim(claimed, own is not None)]:
        match ast.parse(text, mode="eval").body:
            case ast.Compare(
                left=ast.Call(func=ast.Name(id="len"), args=[ast.Name(id=name)]),
                ops=[ast.GtE()],
                comparators=[ast.Constant(value=1)],
            ):
                state.nonempty.add(name)
            case ast.Compare(left=ast.Name(id=name), ops=[ast.Gt()], comparators=[ast.Constant(value=0)]):
                core = name if name in types or own is None else f"self__{name}"
                for zero in ("0", "Fraction(0, 1)"):
                    state.facts |= {f"({core} {sign} {zero})": True for sign in (">", ">=", "!=")}
                    state.facts |= {f"({core} {sign} {zero})": False for sign in ("<", "<=", "==")}


def _of_claim(claimed: Spec, owned: bool) -> list[str]:  # noqa: FBT001 - whether the function is a method
    """What is required of fields that the claim is made of, where the specification says nothing of them."""
    said = _said(claimed)
    names = {part.id for one in claimed.claim for part in ast.walk(ast.parse(str(one))) if isinstance(part, ast.Name)}  # type: ignore[union-attr]
    return [f"{name} > 0" for name in sorted(names - said)] if owned else []


def _said(claimed: Spec) -> set[str]:
    """The names that the specification requires something of."""
    return {part.id for one in claimed.requires for part in ast.walk(ast.parse(str(one))) if isinstance(part, ast.Name)}


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
    edges = [(one, "int") for one in dict.fromkeys(one for pair in state.ends.values() for one in pair)]
    parameters = [*data.parameters, *scalars, *edges]
    head = f"def {source.function.name}({', '.join(f'{name}: {kind}' for name, kind in parameters)}):"
    lines = [(0, head, source.function.lineno), *ordering.simplified(outcomes.written(state))]
    text = "\n".join("    " * depth + line for depth, line, _ in lines) + "\n"
    if "middle " in text:
        raise refuse(source.function, "a uniform number in a test that is more than a comparison", "compare it alone", "DPA706")
    own = types.get("self")
    fields = _fields(scalars)
    requires = [*_inferred(claimed, types, fields), *map(str, claimed.requires)]
    fixed = {one: f"self__{one}" for one in fields} if own is not None else {}

    def clause(one: str) -> list[str]:
        return [records.renamed(part, fixed) for part in records.translated(one, data)]

    data.read = {name for _, line, _ in lines[1:] for name in names_in(line)}
    ends = [one for name, (low, high) in state.ends.items() for one in (f"{low} <= {name}[each]", f"{name}[each] < {high}")]
    promise = Spec(
        claim=tuple(clause(str(part))[0] for part in claimed.claim),  # type: ignore[union-attr]
        adjacency=dict(data.adjacency),
        requires=[*data.requires, *(part for one in requires for part in clause(one))],
        domain=[*data.domain, *ends, *(part for one in claimed.domain for part in clause(str(one)) if "unread" not in part)],
        public=data.public,
        cost=claimed.cost,
        align={},
    )
    return Reading(
        source=source,
        text=text,
        promise=promise,
        claimed=replace(claimed, requires=tuple(requires)),
        lines=tuple(line for _, _, line in lines),
        inputs=tuple((name, _shown(kind), kind.why) for name, kind in types.items()),
        draws=tuple((line, one.strip()) for _, one, line in lines if one.startswith("noise__") and " = " in one),
        reals=tuple(state.reals),
        forgets=state.rounded or not outcomes.released_once(state),
        untyped=state.untyped,
        notes=tuple(dict.fromkeys(state.notes)),
        data=data,
        state=state,
        arguments=tuple(arguments),
    )


def _shown(kind: Type) -> str:
    """A type as people write it."""
    words = {"int": "int", "real": "float" if kind.floats else "Fraction", "bool": "bool", "str": "str"}
    if kind.form != "list":
        return words.get(kind.form, kind.form if kind.owner is None else kind.owner.name)
    plain = plain_fields(kind)
    if set(plain) == {""}:
        return f"{'array' if kind.shape == 'array' else 'list'}[{words[plain['']]}]"
    inner = ", ".join(f"{one}: {words[sort]}" for one, sort in plain.items())
    return f"list of records ({inner or 'nothing of them is read'})"


def _inferred(claimed: Spec, types: dict[str, Type], fields: list[str]) -> list[str]:
    """Parameters that the claim is made of are above 0, where the specification says nothing of them."""
    said = _said(claimed)
    names = {part.id for one in claimed.claim for part in ast.walk(ast.parse(str(one))) if isinstance(part, ast.Name)}  # type: ignore[union-attr]
    found = [f"{name} > 0" for name, kind in types.items() if name in names and name not in said and kind.form in ("real", "int")]
    return found + [f"{one} > 0" for one in fields if one in names and one not in said]
