"""The file around a function: nothing in it may change what names mean, and its constants are evaluated as the function is."""

from __future__ import annotations

import ast
import builtins
import warnings
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import EllipsisType
from typing import Final

from dpaudit.errors import Unsupported
from dpaudit.verifier.ordinary.calls import function_of
from dpaudit.verifier.ordinary.refusing import refuse
from dpaudit.verifier.ordinary.state import State, frame_of
from dpaudit.verifier.ordinary.values import Builtin, Class, Frame, Function, Ref, Sequence, Value

_MODULES: Final = {
    "__future__", "bisect", "collections", "dataclasses", "dpaudit", "fractions", "functools", "itertools", "json", "logging",
    "math", "mechanisms", "numpy", "operator", "random", "scipy", "secrets", "statistics", "typing",
}  # fmt: skip
_FORBIDDEN: Final = frozenset(
    {
        "getattr", "setattr", "delattr", "exec", "eval", "globals", "locals", "vars", "compile", "__import__", "breakpoint",
    }
)  # fmt: skip
_ATTRIBUTES: Final = frozenset(
    {
        "seed", "set_state", "setstate", "bit_generator", "seterr", "seterrcall", "errstate", "setbufsize", "set_printoptions",
        "ctypeslib", "core", "lib", "testing", "f2py", "distutils", "sys", "os", "modules", "ufunc", "vectorize", "frompyfunc",
    }
)  # fmt: skip
_INERT: Final = (ast.Name, ast.Attribute, ast.Subscript, ast.Constant, ast.Tuple, ast.List, ast.BinOp, ast.BitOr, ast.Load)
_PLAIN_NAMES: Final = frozenset({"__all__", "__version__", "__author__"})
_RESERVED: Final = frozenset({"other", "each", "ghost", "spent"})


_TYPE_NAMES: Final[Mapping[str, tuple[str, ...]]] = {
    **dict.fromkeys(("int", "float", "bool", "str", "list", "tuple", "dict"), ()),
    **{
        name: (f"typing.{name}", f"collections.abc.{name}")
        for name in ("Collection", "Dict", "Iterable", "List", "Mapping", "Sequence", "Tuple")
    },
    "Fraction": ("fractions.Fraction",), "Generator": ("numpy.random.Generator",), "NDArray": ("numpy.typing.NDArray",),
    "Random": ("random.Random",), "fractions": ("fractions",), "ndarray": ("numpy.ndarray",), "np": ("numpy",),
    "npt": ("numpy.typing",), "numpy": ("numpy",), "random": ("random", "numpy.random"), "typing": ("typing",),
}  # fmt: skip
"""The names that annotations are read by, and what a file may let them mean."""


@dataclass
class Source:
    """A file, and the function in it that is meant."""

    text: str
    tree: ast.Module
    function: ast.FunctionDef
    name: str
    owner: str = ""  # the class that it is a method of


def find(text: str, wanted: str | None) -> Source:
    """The function of a file: the one that is named, or else the last."""
    try:
        tree = ast.parse(text)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compile(tree, "<source>", "exec", dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        line = getattr(error, "lineno", None) or 1
        raise Unsupported("DPA702", f"line {line}: this is not Python source ({type(error).__name__}); repair it first.") from error
    functions = {one.name: (one, "") for one in tree.body if isinstance(one, ast.FunctionDef)}
    for kind in (one for one in tree.body if isinstance(one, ast.ClassDef)):
        functions |= {f"{kind.name}.{one.name}": (one, kind.name) for one in kind.body if isinstance(one, ast.FunctionDef)}
    plain = [name for name in functions if "." not in name] or list(functions)
    name = wanted or (plain[-1] if plain else "")
    if name not in functions:
        raise Unsupported(
            "DPA702", f"there is no function {name or ''!r} here; the functions are {', '.join(functions) or 'none'}."
        )
    found, owner = functions[name]
    return Source(text, tree, found, name, owner)


# What a file may hold.


def admit(source: Source) -> None:
    """Refuse a file that may change what its names mean when it is loaded, or between calls."""
    bound: Counter[str] = Counter()
    mains: set[str] = set()
    for node in source.tree.body:
        match node:
            case ast.Expr(value=ast.Constant(value=str())):
                pass
            case ast.Import() | ast.ImportFrom():
                bound.update(name for name, _ in imported(node))
            case ast.Assign(targets=[target]):
                bound.update(_targets(target))
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr()):
                bound[name] += 1
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                bound[name] += 1
            case ast.If(
                test=ast.Compare(left=ast.Name(id="__name__"), ops=[ast.Eq()], comparators=[ast.Constant(value="__main__")]),
                orelse=[],
            ):
                for part in ast.walk(node):
                    if isinstance(part, (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.ClassDef, ast.Delete)):
                        raise refuse(part, "a definition under `if __name__`", "put it at the top of the file")
                mains |= {name for part in node.body for _, name in bindings(part)}
            case _:
                raise refuse(
                    node,
                    f"`{ast.unparse(node).splitlines()[0]}` at the top of the file",
                    "keep imports, constants and functions there",
                )
    again = next((name for name, count in bound.items() if count > 1 or name in mains), None)
    if again is not None:
        raise refuse(source.tree.body[0], f"{again}, which the file binds twice", "give each thing a name of its own")
    _check_names(source, bound)
    classes = {id(one) for one in source.tree.body if isinstance(one, ast.ClassDef)}
    for part in ast.walk(source.tree):
        _check_node(part, classes)
    plain = {id(one) for function in generators(source) for one in _own_yields(function)}
    for part in ast.walk(source.tree):
        if isinstance(part, ast.Yield) and id(part) not in plain:
            raise refuse(part, f"`{ast.unparse(part)}`", "yield in a line of its own, in a function of the file")
    for kind in (one for one in source.tree.body if isinstance(one, ast.ClassDef)):
        _check_stores(kind)
    stores = [one for one in ast.walk(source.tree) if isinstance(one, ast.Attribute) and not isinstance(one.ctx, ast.Load)]
    own = {id(part) for kind in source.tree.body if isinstance(kind, ast.ClassDef) for part in ast.walk(kind)}
    for one in stores:
        if id(one) not in own:
            raise refuse(one, f"an assignment to `{ast.unparse(one)}`", "keep values under names of their own", "DPA705")


def generators(source: Source) -> Iterator[ast.FunctionDef]:
    """Yield the functions of a file that yield, but for the one that is read: each is called to be gone through."""
    for one in ast.walk(source.tree):
        if isinstance(one, ast.FunctionDef) and one is not source.function and any(True for _ in _own_yields(one)):
            yield one


def _own_yields(node: ast.AST) -> Iterator[ast.Yield]:
    """Yield those yields of a function that are lines of its own."""
    for one in ast.iter_child_nodes(node):
        if isinstance(one, ast.Expr) and isinstance(one.value, ast.Yield):
            yield one.value
        elif isinstance(one, ast.stmt) and not isinstance(one, (ast.FunctionDef, ast.ClassDef)):
            yield from _own_yields(one)


def makes_fractions(tree: ast.Module) -> bool:
    """True if a file imports or names fractions."""
    return any(
        name.startswith("fractions")
        for one in ast.walk(tree)
        if isinstance(one, (ast.Import, ast.ImportFrom))
        for name in [getattr(one, "module", None) or "", *(part.name for part in one.names)]
    ) or any(isinstance(one, ast.Name) and one.id == "Fraction" for one in ast.walk(tree))


def _targets(node: ast.expr) -> list[str]:
    """The names of a target of the file."""
    if isinstance(node, ast.Name):
        return [node.id]
    if isinstance(node, ast.Tuple) and all(isinstance(one, ast.Name) for one in node.elts):
        return [one.id for one in node.elts if isinstance(one, ast.Name)]
    raise refuse(node, f"an assignment to `{ast.unparse(node)}` at the top of the file", "assign to names")


def _check_names(source: Source, bound: Counter[str]) -> None:
    """Refuse names that are Python's own, or that mean something else in the core program."""
    for name in bound:
        if (name.startswith("__") and name not in _PLAIN_NAMES) or (
            name in ("spec", "claim") and not _is_import(source.tree, name)
        ):
            raise refuse(source.tree.body[0], f"the name {name} at the top of the file", "use another name")
    meanings = {
        name: getattr(meaning, "name", "")
        for one in source.tree.body
        if isinstance(one, (ast.Import, ast.ImportFrom))
        for name, meaning in imported(one)
    }
    for name in bound:
        if name in _TYPE_NAMES and meanings.get(name) not in _TYPE_NAMES[name]:
            raise refuse(source.tree.body[0], f"the name {name}, which means a type in annotations,", "use another name", "DPA702")
    for node, name in bindings(source.tree):
        if name in ("property", "staticmethod", "classmethod"):
            raise refuse(node, f"the name {name}", "use another name", "DPA702")
    for one in source.function.args.args:
        if one.arg in _RESERVED:
            raise refuse(one, f"the parameter name {one.arg}", f"call it {one.arg}_value", "DPA702")
        if "__" in one.arg or (
            hasattr(builtins, one.arg) and one.arg not in ("data", "input", "iter", "filter", "range", "map", "id")
        ):
            raise refuse(one, f"the parameter name {one.arg}", f"call it {one.arg.strip('_')}_value", "DPA702")


def _is_import(tree: ast.Module, name: str) -> bool:
    """True if a name comes from this library."""
    return any(
        isinstance(one, ast.ImportFrom)
        and (one.module or "").partition(".")[0] == "dpaudit"
        and name in [part.name for part in one.names if part.asname is None]
        for one in tree.body
    )


def _check_node(node: ast.AST, classes: set[int]) -> None:
    """Refuse what may change other things wherever it stands."""
    match node:
        case ast.Global() | ast.Nonlocal():
            raise refuse(node, "a global or nonlocal statement", "give the value as an argument")
        case ast.YieldFrom() | ast.Await() | ast.AsyncFunctionDef() | ast.AsyncFor() | ast.AsyncWith() | ast.Delete():
            raise refuse(node, f"`{ast.unparse(node).splitlines()[0]}`", "use plain assignments and functions")
        case ast.Name(id=name) if name in _FORBIDDEN or (name.startswith("__") and name not in _PLAIN_NAMES | {"__name__"}):
            raise refuse(node, f"the name {name}", "leave it out: it may change what is read elsewhere")
        case ast.Attribute(attr=name) if name in _ATTRIBUTES or name.startswith("__"):
            code = "DPA706" if "se" in name else "DPA701"
            raise refuse(node, f"`.{name}`, with which any function of the file can fix the noise", "leave it out", code)
        case ast.Import() | ast.ImportFrom():
            list(imported(node))
        case ast.ClassDef() if id(node) not in classes:
            raise refuse(node, "a class inside of a function", "put it at the top of the file")
        case ast.FunctionDef(decorator_list=decorators, returns=returns):
            for one in decorators:
                _check_decorator(one)
            _check_inert(returns)
        case ast.arg(annotation=annotation) | ast.AnnAssign(annotation=annotation):
            _check_inert(annotation)


def _check_decorator(node: ast.expr) -> None:
    """Refuse decorators but those whose names mean `@spec`, `@dataclass`, `@property` and `@staticmethod`."""
    head = node.func if isinstance(node, ast.Call) else node
    if not isinstance(head, ast.Name) or head.id not in ("spec", "claim", "property", "staticmethod", "classmethod"):
        raise refuse(node, "a decorator", "take it away: it may change the function")
    if any(isinstance(part, (ast.Call, ast.Lambda, ast.Attribute)) for part in ast.walk(node) if part not in (node, head)):
        raise refuse(node, f"`{ast.unparse(node)}`", "write its arguments out")


def _check_inert(node: ast.expr | None) -> None:
    """Refuse an annotation that does something."""
    for part in ast.walk(node) if node is not None else ():
        if not isinstance(part, _INERT):
            raise refuse(part, f"`{ast.unparse(node)}` as an annotation", "name a type")  # type: ignore[arg-type]


def _check_stores(kind: ast.ClassDef) -> None:
    """Refuse methods that assign to anything but attributes of their own instance, and those that Python calls by itself."""
    for one in kind.body:
        if not isinstance(one, ast.FunctionDef):
            continue
        own = one.args.args[0].arg if one.args.args else ""
        rebound = sum(name == own for _, name in bindings(one)) > 1
        for part in ast.walk(one):
            if isinstance(part, ast.Attribute) and not isinstance(part.ctx, ast.Load):
                fits = isinstance(part.value, ast.Name) and part.value.id == own and not rebound
                by_itself = one.decorator_list or (
                    one.name.startswith("__") and one.name not in ("__init__", "__post_init__", "__call__")
                )
                if not fits or by_itself:
                    raise refuse(
                        part, f"an assignment to `{ast.unparse(part)}`", "return the new value instead of storing it", "DPA706"
                    )


def bindings(tree: ast.AST) -> Iterator[tuple[ast.AST, str]]:
    """Yield every name that is bound below a node, where it is."""
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name, ctx=ast.Store()) | ast.arg(arg=name) | ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                yield node, name
            case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
                yield node, name
            case ast.Import(names=names) | ast.ImportFrom(names=names):
                yield from ((node, one.asname or one.name.partition(".")[0]) for one in names)


def imported(node: ast.Import | ast.ImportFrom) -> Iterator[tuple[str, Value]]:
    """The names that an import binds, and what they mean."""
    if isinstance(node, ast.Import):
        for one in node.names:
            if one.name.partition(".")[0] not in _MODULES or (
                one.asname is None and "." in one.name and one.name != "numpy.random"
            ):
                raise refuse(node, f"an import of {one.name}", "keep the function in a file without it")
            yield one.asname or one.name.partition(".")[0], Builtin(one.name if one.asname else one.name.partition(".")[0])
        return
    module = node.module or ""
    if node.level or module.partition(".")[0] not in _MODULES or any(one.name in ("*", *_ATTRIBUTES) for one in node.names):
        raise refuse(node, f"an import from {module or 'the folder'}", "keep the function in a file without it")
    if module != "__future__":
        for one in node.names:
            yield one.asname or one.name, Builtin(f"{module}.{one.name}")


# What its names mean.


def load(state: State, source: Source) -> None:
    """Give the names of a file their values: statements in order, as Python runs them."""
    names = frozenset(name for one in source.tree.body if not isinstance(one, ast.If) for name in _bound_by(one))
    state.frame = state.global_frame = state.new(Frame({}, names, None)).address
    for node in source.tree.body:
        state.line = node.lineno
        match node:
            case ast.Import() | ast.ImportFrom():
                for name, meaning in imported(node):
                    state.bind(name, meaning)
            case ast.FunctionDef():
                if any(
                    isinstance(one, ast.Name) and one.id in ("property", "staticmethod", "classmethod")
                    for one in node.decorator_list
                ):
                    raise refuse(node.decorator_list[0], "a decorator outside of a class", "take it away", "DPA702")
                state.bind(node.name, function_of(state, node))
            case ast.ClassDef():
                state.bind(node.name, _class(state, node))
            case ast.Assign(targets=[target], value=value) | ast.AnnAssign(target=target, value=ast.expr() as value):
                if any(isinstance(one, ast.Name) and one.id in _PLAIN_NAMES for one in ast.walk(target)):
                    continue
                state.bind(target, state.value(value))
    if state.lines or any(isinstance(one, Sequence) and one.once for one in state.heap.values()):
        raise refuse(source.tree.body[0], "a constant that is drawn or may fail", "compute it in the function")
    state.shared = frozenset(address for address, one in state.heap.items() if not isinstance(one, Frame))


def _bound_by(node: ast.stmt) -> list[str]:
    """The names that a statement of the file binds."""
    match node:
        case ast.Import() | ast.ImportFrom():
            return [name for name, _ in imported(node)]
        case ast.FunctionDef(name=name) | ast.ClassDef(name=name) | ast.AnnAssign(target=ast.Name(id=name)):
            return [name]
        case ast.Assign(targets=[target]):
            return _targets(target)
    return []


def _class(state: State, node: ast.ClassDef) -> Class:
    """A class: its fields, methods and constants, each name once."""
    style = _style(state, node)
    _check_class_names(node)
    fields: list[tuple[str, ast.expr, Value | None]] = []
    methods: list[tuple[str, Function, str]] = []
    constants: list[tuple[str, Value]] = []
    seen: Counter[str] = Counter()
    for one in node.body:
        match one:
            case ast.Expr(value=ast.Constant()) | ast.Pass():
                continue
            case ast.AnnAssign(target=ast.Name(id=name), annotation=kind, value=default) if style != "plain" and _is_field(
                state, kind
            ):
                value = None if default is None else state.value(default)
                if isinstance(value, Ref):
                    raise refuse(one, f"the default of {name}", "use a number or a text")
                fields.append((name, kind, value))
            case ast.Assign(targets=[ast.Name(id=name)], value=value_node) if style != "tuple" and not name.startswith("__"):
                value = state.value(value_node)
                if isinstance(value, (Function, Class, Builtin)):
                    raise refuse(one, f"`{ast.unparse(one)}` in a class", "use numbers, texts and tuples")
                constants.append((name, value))
            case ast.FunctionDef(name=name, decorator_list=decorators):
                special = (
                    {"__init__", "__call__"} if style == "plain" else {"__post_init__", "__call__"} if style != "tuple" else set()
                )
                if name.startswith("__") and name not in special:
                    raise refuse(one, f"the method {name}", "leave it out: Python calls it by itself")
                word = decorators[0].id if decorators and isinstance(decorators[0], ast.Name) else ""
                if len(decorators) > 1 or (decorators and word not in _WORDS):
                    raise refuse(one, "a decorator", "take it away: it may change the function")
                methods.append((name, function_of(state, one), _WORDS.get(word, "")))
            case _:
                raise refuse(one, f"`{ast.unparse(one).splitlines()[0]}` in a class", "keep fields, constants and methods")
        seen[name] += 1
    if any(count > 1 for count in seen.values()):
        raise refuse(node, f"the class {node.name}, which binds a name twice", "give each thing a name of its own")
    late = [default is not None for _, _, default in fields]
    if late != sorted(late):
        raise refuse(node, f"the class {node.name}, where a field without a default follows one with it", "give it a default")
    return Class(node.name, style, tuple(fields), tuple(methods), tuple(constants))


_WORDS: Final = {"property": "property", "staticmethod": "static", "classmethod": "class"}
"""The decorators of methods, and what they make of one."""
_FIELD_TYPES: Final = frozenset(
    {
        "bool", "dict", "float", "int", "list", "str", "tuple", "fractions.Fraction", "numpy.ndarray", "numpy.float64",
        "numpy.random.Generator", "random.Random", "typing.Any", "typing.Dict", "typing.List", "typing.Optional",
        "typing.Sequence", "typing.Tuple",
    }
)  # fmt: skip
"""What makes a plain field: other annotations mean something to dataclasses."""


def _is_field(state: State, annotation: ast.expr) -> bool:
    """True for an annotation of a plain field, by what its names mean."""
    frame = frame_of(state, state.frame)
    match annotation:
        case ast.Constant(value=None) | ast.Constant(value=EllipsisType()):
            return True
        case ast.Name() | ast.Attribute():
            found = dotted(annotation, frame.names)
            return found in _FIELD_TYPES or isinstance(frame.names.get(ast.unparse(annotation)), Class)
        case ast.Subscript(value=base, slice=part):
            return _is_field(state, base) and _is_field(state, part)
        case ast.Tuple(elts=parts):
            return all(_is_field(state, one) for one in parts)
        case ast.BinOp(left=left, op=ast.BitOr(), right=right):
            return _is_field(state, left) and _is_field(state, right)
    return False


def dotted(node: ast.expr, names: Mapping[str, Value]) -> str:
    """What a dotted name means: the path of an import, or a name of Python's own."""
    match node:
        case ast.Name(id=name):
            found = names.get(name)
            return found.name if isinstance(found, Builtin) else "" if name in names else name
        case ast.Attribute(value=base, attr=attr):
            inner = dotted(base, names)
            return f"{inner}.{attr}" if inner else ""
    return ""


def _check_class_names(node: ast.ClassDef) -> None:
    """Refuse values in a class that are made of its own names, which mean something else there."""
    own = {name for one in node.body for _, name in bindings(one) if not isinstance(one, ast.FunctionDef)}
    own |= {one.name for one in node.body if isinstance(one, ast.FunctionDef)}
    for one in node.body:
        parts: list[ast.expr | None] = []
        if isinstance(one, ast.FunctionDef):
            parts = [*one.args.defaults, *one.args.kw_defaults]
        elif isinstance(one, (ast.Assign, ast.AnnAssign)):
            parts = [one.value, getattr(one, "annotation", None)]
        for part in (found for one_part in parts if one_part is not None for found in ast.walk(one_part)):
            if isinstance(part, ast.Name) and part.id in own:
                raise refuse(part, f"{part.id} in the class {node.name}", "use a constant of the file", "DPA705")


def _style(state: State, node: ast.ClassDef) -> str:
    """What kind of class it is, by what its decorator and base mean."""
    names = frame_of(state, state.frame).names

    def meaning(one: ast.expr) -> str:
        return dotted(one, names)

    if node.keywords or len(node.decorator_list) > 1 or len(node.bases) > 1:
        raise refuse(node, f"the class {node.name}", "write a dataclass, or a class without bases")
    if node.bases:
        if meaning(node.bases[0]) == "typing.TypedDict" and not node.decorator_list:
            if any(not isinstance(one, (ast.AnnAssign, ast.Expr, ast.Pass)) for one in node.body):
                raise refuse(node, f"the class {node.name} with more than keys", "write a dataclass")
            return "keys"
        if meaning(node.bases[0]) != "typing.NamedTuple" or node.decorator_list:
            raise refuse(node, f"the class {node.name} with a base", "write a dataclass, or a class without bases")
        return "tuple"
    if not node.decorator_list:
        return "plain"
    decorator = node.decorator_list[0]
    given = {one.arg: one.value for one in decorator.keywords} if isinstance(decorator, ast.Call) else {}
    plain = all(isinstance(one, ast.Constant) and one.value is True for one in given.values())
    if (
        meaning(decorator.func if isinstance(decorator, ast.Call) else decorator) != "dataclasses.dataclass"
        or not plain
        or set(given) - {"frozen", "slots"}
    ):
        raise refuse(decorator, "a decorator", "write @dataclass(frozen=True)")
    if isinstance(decorator, ast.Call) and decorator.args:
        raise refuse(decorator, "a decorator", "write @dataclass(frozen=True)")
    if "slots" in given and any(isinstance(one, ast.FunctionDef) and one.name == "__post_init__" for one in node.body):
        raise refuse(node, f"the class {node.name} with slots and __post_init__", "leave slots out")
    return "frozen" if "frozen" in given else "dataclass"
