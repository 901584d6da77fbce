"""Which forms of ordinary Python are read at all: those that nobody has had a false claim proven with.

The readers know more than this list admits. What it leaves out was used to have false claims proven, by two people who had not
written the readers (decision 0015): mutable dictionaries, classes, closures, generators that see later values, names that are bound
twice, effects and returns under private tests, arrays of a given type, and code that runs when the file is loaded.
"""

from __future__ import annotations

import ast
import builtins
import re
from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from dpaudit.verifier.ordinary.admitting import bindings, is_generator
from dpaudit.verifier.ordinary.refusing import refuse

_MODULES: Final = {
    "__future__", "collections", "dpaudit", "fractions", "math", "mechanisms", "numpy", "random", "scipy", "statistics",
    "typing",
}  # fmt: skip
_BUILTINS: Final = frozenset(dir(builtins))
_RESERVED: Final = frozenset({"other", "each", "ghost", "spent"})
_MADE: Final = re.compile(r"^_.|__|_\d")
"""Names that could be those of the core program."""

_STATEMENTS: Final = (
    ast.Expr, ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Return, ast.For, ast.If, ast.Pass, ast.Raise,
)  # fmt: skip
_EXPRESSIONS: Final = (
    ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.Compare, ast.Call, ast.Name, ast.Attribute, ast.Subscript, ast.Constant, ast.ListComp,
    ast.GeneratorExp, ast.IfExp, ast.Tuple, ast.List, ast.JoinedStr, ast.FormattedValue, ast.Dict, ast.DictComp,
)  # fmt: skip
_OPERATORS: Final = (ast.Invert, ast.MatMult, ast.LShift, ast.RShift, ast.BitOr, ast.BitXor, ast.BitAnd)
_STRANGE: Final = frozenset(
    {
        "getattr", "setattr", "delattr", "exec", "eval", "globals", "locals", "vars", "compile", "open", "input", "id", "hash",
        "type", "iter", "next", "map", "filter", "print", "dict", "set", "super", "object",
    }
)  # fmt: skip
_METHODS: Final = frozenset(
    {
        "seed", "set_state", "bit_generator", "pop", "update", "setdefault", "extend", "insert", "clear", "sort", "reverse",
        "remove", "astype", "view", "copy", "exp",
    }
)  # fmt: skip
_TOTAL_CALLS: Final = frozenset({"min", "max", "abs"})
_OPAQUE: Final = frozenset({"round", "int", "str", "repr", "format", "bool", "float", "complex"})
_OPAQUE_METHODS: Final = frozenset(
    {"round", "rint", "floor", "ceil", "sqrt", "exp", "log", "log2", "log10", "trunc", "item", "tolist"}
)
_LARGEST: Final = 10**9
_PUBLIC: Final = frozenset({"int", "float", "Fraction", "bool", "str"})


def admit_forms(tree: ast.Module, function: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
    """Refuse a file or function with a form that is not on the list (DPA701)."""
    functions = _check_file(tree)
    if functions.get(function.name) is not function:
        raise refuse(function, "a method or a nested function", "move it to the top of the file, with plain arguments")
    reached = _reached(function, functions)
    _check_names(tree, reached)
    for one in reached:
        _check_function(one, main=one is function)


def _check_file(tree: ast.Module) -> dict[str, ast.FunctionDef]:
    """Return the functions of a file that consists of imports, constants and functions alone, each name bound once."""
    functions: dict[str, ast.FunctionDef] = {}
    bound: Counter[str] = Counter()
    for node in tree.body:
        match node:
            case ast.Expr(value=ast.Constant(value=str())):
                continue
            case ast.Import(names=names):
                if any(one.name.partition(".")[0] not in _MODULES for one in names):
                    raise refuse(node, "an import of an unknown module", "keep the function in a file without it")
                bound.update(one.asname or one.name.partition(".")[0] for one in names)
            case ast.ImportFrom(module=module, names=names, level=level):
                if level or (module or "").partition(".")[0] not in _MODULES or any(one.name in {"*", "seed"} for one in names):
                    raise refuse(node, "an import of an unknown module", "keep the function in a file without it")
                bound.update(one.asname or one.name for one in names)
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if _is_constant(value) or is_generator(value):
                bound[name] += 1
            case ast.FunctionDef(name=name, decorator_list=decorators):
                if not all(_is_specification(one, tree) for one in decorators):
                    raise refuse(node, "a decorator", "take it away: it may change the function")
                functions[name] = node
                bound[name] += 1
            case ast.If(
                test=ast.Compare(left=ast.Name(id="__name__"), ops=[ast.Eq()], comparators=[ast.Constant(value="__main__")]),
                orelse=[],
            ) if all(isinstance(one, ast.Expr) for one in node.body):
                continue
            case _:
                raise refuse(node, f"{_named(node)} at the top of the file", "keep imports, constants and functions there")
    for part in ast.walk(tree):
        if isinstance(part, (ast.Global, ast.Nonlocal)):
            raise refuse(part, "a global or nonlocal statement", "give the value as an argument")
        if isinstance(part, ast.Attribute) and part.attr in {"seed", "set_state", "bit_generator"}:
            raise refuse(part, f"`.{part.attr}`, with which any function of the file can fix the noise", "leave it out", "DPA706")
        annotation = part.returns if isinstance(part, ast.FunctionDef) else getattr(part, "annotation", None)
        if any(isinstance(one, (ast.Call, ast.NamedExpr, ast.Lambda)) for one in ast.walk(annotation or ast.Pass())):
            raise refuse(part, "an annotation that is computed", "name a type")
    again = next((name for name, count in bound.items() if count > 1), None)
    if again is not None:
        raise refuse(tree.body[0], f"{again}, which the file binds twice", "give each thing a name of its own")
    return functions


def _is_constant(node: ast.expr) -> bool:
    """True for numbers, texts and tuples or lists of them."""
    match node:
        case ast.Constant():
            return True
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant()):
            return True
        case ast.Tuple(elts=parts) | ast.List(elts=parts):
            return all(map(_is_constant, parts))
        case ast.Call(func=ast.Name(id="Fraction"), args=parts, keywords=[]):
            return all(map(_is_constant, parts))
    return False


def _is_specification(node: ast.expr, tree: ast.Module) -> bool:
    """True for `@spec(...)` whose name the file imports from this library."""
    imported = {
        (one.asname or one.name, (part.module or "").partition(".")[0], one.name)
        for part in tree.body
        if isinstance(part, ast.ImportFrom)
        for one in part.names
    }
    named = node.func.id if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) else ""
    return any((name, "dpaudit") == (named, place) and of in {"spec", "claim"} for name, place, of in imported)


def _reached(function: ast.FunctionDef, functions: dict[str, ast.FunctionDef]) -> list[ast.FunctionDef]:
    """Return a function with those that it names, directly or not."""
    found = [function]
    for one in found:
        names = {node.id for node in ast.walk(one) if isinstance(node, ast.Name)}
        found += [functions[name] for name in sorted(names & functions.keys()) if functions[name] not in found]
    return found


def _check_names(tree: ast.Module, reached: list[ast.FunctionDef]) -> None:
    """Refuse names that hide a function of Python, or that the core program may make."""
    lists = {argument.arg for one in reached for argument in _arguments(one)}
    for node, name in bindings(tree):
        if name in {"spec", "claim"} and not isinstance(node, ast.ImportFrom):
            raise refuse(node, f"the name {name}", "leave that name to the import from dpaudit")
        if name in _BUILTINS and not isinstance(node, ast.arg):
            raise refuse(node, f"{name}, which is a name of Python's own", f"call it {name}_value")
        if name in _BUILTINS and any(isinstance(one, ast.Name) and one.id == name for part in reached for one in ast.walk(part)):
            raise refuse(node, f"{name}, which is a name of Python's own", f"call it {name}_value")
    for part in reached:
        for node, name in bindings(part):
            if name in _RESERVED or _MADE.search(name) or any(name.startswith(f"{one}_") for one in lists - {name}):
                raise refuse(node, f"the name {name}", "use another name, without a number or an argument's name in it", "DPA702")


def _arguments(function: ast.FunctionDef) -> list[ast.arg]:
    """The arguments of a function."""
    given = function.args
    return [*given.posonlyargs, *given.args, *given.kwonlyargs]


def _check_function(function: ast.FunctionDef, *, main: bool) -> None:
    """Refuse what a function may not hold."""
    given = function.args
    if given.vararg or given.kwarg:
        raise refuse(function, "*args or **kwargs", "name the arguments")
    for default in (*given.defaults, *(one for one in given.kw_defaults if one is not None)):
        if not _is_constant(default) or isinstance(default, ast.List):
            raise refuse(default, "a default that is computed", "write a number or a text")
    public = {
        argument.arg
        for argument in _arguments(function)
        if main and (argument.arg.startswith("eps") or getattr(argument.annotation, "id", "") in _PUBLIC)
    } - {name for _, name in bindings(function) if not isinstance(_, ast.arg)}
    place = _Place(function, frozenset(public), main=main)
    _check_block(function.body, place, {argument.arg for argument in _arguments(function)}, loops=())
    _check_opaque(function, main=main)


@dataclass(frozen=True)
class _Place:
    """The function that is checked, its public numbers, and whether it is the one that is proven."""

    function: ast.FunctionDef
    public: frozenset[str]
    main: bool

    @cached_property
    def stored(self) -> Counter[str]:
        """How often statements bind each name."""
        inner = {
            id(one) for part in ast.walk(self.function) if isinstance(part, ast.comprehension) for one in ast.walk(part.target)
        }
        return Counter(name for node, name in bindings(self.function) if id(node) not in inner)


def _check_block(body: list[ast.stmt], place: _Place, known: set[str], *, loops: tuple[ast.For, ...]) -> None:
    """Refuse statements that are not on the list, and returns or effects under a test that is not of public numbers alone.

    `known` are the names that have a value on every way here; those that the block adds are added to it.
    """
    function, public, main = place.function, place.public, place.main
    for node in body:
        if not isinstance(node, _STATEMENTS):
            raise refuse(node, _named(node), "use assignments, for loops, if and one return")
        for part in _expressions(node):
            _check_part(node, part)
            _check_known(part, place, known)
        match node:
            case ast.Expr(value=ast.Constant(value=str())):
                pass
            case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="append"))):
                if any(name in _names(loop.iter) for loop in loops):
                    raise refuse(node, f"{name}, which grows while it is gone through", "append to another list")
            case ast.Expr():
                raise refuse(node, "an expression whose value is not used", "take it away")
            case ast.Assign(targets=targets):
                plain = len(targets) == 1 and all(isinstance(one, ast.Name) for one in getattr(targets[0], "elts", targets))
                if not plain:
                    raise refuse(node, f"the assignment to {ast.unparse(targets[0])}", "assign to one name, or to a row of names")
                _check_late(node, place, loops)
                known |= {name for _, name in bindings(targets[0])}
            case ast.AnnAssign(target=target, value=value):
                if not isinstance(target, ast.Name) or value is None:
                    raise refuse(node, "an annotation without a value", "assign the value at once")
                _check_late(node, place, loops)
                known.add(target.id)
            case ast.AugAssign(target=target):
                if not isinstance(target, ast.Name):
                    raise refuse(node, f"the assignment to {ast.unparse(target)}", "count in names, one for each public key")
                if target.id not in known:
                    raise refuse(node, f"{target.id}, which may have no value here", "assign to it before")
            case ast.For(target=target, iter=source, body=inner, orelse=orelse):
                stored = {name for part in inner for _, name in bindings(part)}
                if orelse or not all(isinstance(one, ast.Name) for one in _targets(target)):
                    raise refuse(node, "a loop with else, or over nested targets", "write a plain for loop")
                if stored & _names(source):
                    raise refuse(node, "a loop over values that it changes", "give the new value a name of its own")
                _check_block(inner, place, known | {name for _, name in bindings(target)}, loops=(*loops, node))
            case ast.If(test=test, body=inner, orelse=orelse):
                if main and not loops and _names(test) <= public:
                    ways = [set(known), set(known)]
                    for way, branch in zip(ways, (inner, orelse), strict=True):
                        _check_block(branch, place, way, loops=loops)
                    known |= ways[0] & ways[1]
                else:
                    known |= _check_choice(node, place, known)
            case ast.Return() if loops or node is not function.body[-1]:
                if loops or not main:
                    raise refuse(node, "a return inside a loop or test", "return once, in the last line")
            case ast.Raise() if loops or not main:
                raise refuse(node, "an error that a helper or a loop raises", "state in requires=[...] what keeps the error away")


def _check_part(node: ast.stmt, part: ast.expr) -> None:
    """Refuse forms in an expression of a statement; a loop may go through a range."""
    of_loop = isinstance(node, ast.For) and part is node.iter and isinstance(part, ast.Call)
    for one in part.args if of_loop and isinstance(part, ast.Call) and getattr(part.func, "id", "") == "range" else [part]:
        _check_expression(one)


def _check_choice(node: ast.If, place: _Place, known: set[str]) -> set[str]:
    """Refuse all but assignments of values that always exist under a test that may be private; return what both branches assign."""
    stored = []
    for branch in (node.body, node.orelse):
        names = set[str]()
        for one in branch:
            for part in _expressions(one):
                _check_expression(part)
                _check_known(part, place, known | names)
            match one:
                case ast.Pass():
                    continue
                case ast.Assign(targets=[ast.Name(id=name)], value=value) | ast.AugAssign(target=ast.Name(id=name), value=value):
                    divides = isinstance(getattr(one, "op", None), (ast.Div, ast.FloorDiv, ast.Mod, ast.Pow))
                    if divides or not _is_total(value) or (isinstance(one, ast.AugAssign) and name not in known | names):
                        raise refuse(one, "a value that may not exist, under a test", "compute it before the test")
                    names.add(name)
                case ast.If():
                    names |= _check_choice(one, place, known | names)
                case _:
                    raise refuse(
                        one, f"{_named(one)} under a test of private data", "assign to a name there, and use it after the test"
                    )
        stored.append(names)
    for name in (stored[0] ^ stored[1]) - known:
        raise refuse(node, f"{name}, which only one branch assigns", f"assign to {name} before the test, too")
    return stored[0] & stored[1]


def _check_known(node: ast.expr, place: _Place, known: set[str]) -> None:
    """Refuse a name of the function that may have no value yet."""
    inner = {name for part in ast.walk(node) if isinstance(part, ast.comprehension) for _, name in bindings(part.target)}
    for name in _loads(node):
        if place.stored[name] and name not in known | inner:
            raise refuse(node, f"{name}, which may have no value here", f"assign to {name} before")


def _check_late(node: ast.Assign | ast.AnnAssign, place: _Place, loops: tuple[ast.For, ...]) -> None:
    """Refuse a list, or what is made of one, over names that get another value: it is written where its elements are used."""
    value = node.value
    at_once = isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id in {"sum", "len", *_TOTAL_CALLS}
    made = (ast.List, ast.Tuple, ast.ListComp, ast.GeneratorExp, ast.Call, ast.Subscript)
    if value is None or at_once or not any(isinstance(part, made) for part in ast.walk(value)):
        return
    around = {name for loop in loops for _, name in bindings(loop)}
    later = {name for one, name in bindings(place.function) if getattr(one, "lineno", 0) > node.lineno}
    grown = {
        part.func.value.id
        for part in ast.walk(place.function)
        if isinstance(part, ast.Call) and isinstance(part.func, ast.Attribute) and part.func.attr == "append"
        if isinstance(part.func.value, ast.Name)
    }
    for name in _loads(value):
        if (place.stored[name] > 1 and name in around | later) or name in grown:
            raise refuse(node, f"{name}, which gets another value", f"give the new value of {name} a name of its own")


def _is_total(node: ast.AST) -> bool:
    """True for an expression that has a value whatever the numbers in it are, and no effect."""
    for part in ast.walk(node):
        match part:
            case ast.Call(func=ast.Name(id=name)) if name in _TOTAL_CALLS and not getattr(part, "keywords", ()):
                if len(part.args) < 2 and name != "abs":
                    return False
            case ast.Call() | ast.Subscript() | ast.JoinedStr() | ast.ListComp() | ast.GeneratorExp() | ast.Dict() | ast.DictComp():
                return False
            case ast.BinOp(op=ast.Div() | ast.FloorDiv() | ast.Mod() | ast.Pow()):
                return False
    return True


def _check_expression(node: ast.expr) -> None:
    """Refuse forms of expressions that are not on the list."""
    ranges = [part.iter for part in ast.walk(node) if isinstance(part, ast.comprehension)]
    used_up = [part.args[0] for part in ast.walk(node) if isinstance(part, ast.Call) and len(part.args) == 1]
    for part in ast.walk(node):
        match part:
            case ast.expr() if not isinstance(part, _EXPRESSIONS):
                raise refuse(part, _named(part), "use numbers, lists, comprehensions and calls by name")
            case ast.BinOp(op=operator) | ast.UnaryOp(op=operator) if isinstance(operator, _OPERATORS):
                raise refuse(part, f"the operator of `{ast.unparse(part)}`", "use arithmetic, comparisons, and, or, not")
            case ast.Call(func=function) if not isinstance(function, (ast.Name, ast.Attribute)):
                raise refuse(part, "a call of what an expression gives", "call a function by its name")
            case ast.Name(id=name) if name in _STRANGE or name.startswith("__"):
                raise refuse(part, f"`{name}`", "leave it out: it may see or change what is not read")
            case ast.Attribute(attr=name) if name in _METHODS or name.startswith("_"):
                raise refuse(part, f"`.{name}`", "leave it out: it may change what is read elsewhere")
            case ast.IfExp(body=body, orelse=orelse) if not (_is_total(body) and _is_total(orelse)):
                raise refuse(part, "a value that may not exist, in a conditional expression", "compute it before")
            case ast.BoolOp(values=values) if not all(map(_is_total, values[1:])):
                raise refuse(part, "a value that may not exist, behind and or or", "compute it before")
            case (
                ast.ListComp(generators=generators) | ast.GeneratorExp(generators=generators) | ast.DictComp(generators=generators)
            ):
                if len(generators) > 1:
                    raise refuse(part, "a comprehension with two loops", "write two loops")
                if not all(isinstance(one, ast.Name) for one in _targets(generators[0].target)):
                    raise refuse(part, "a comprehension over nested targets", "use one name, or a row of names")
            case ast.GeneratorExp() if part not in used_up:
                raise refuse(part, "a generator that is kept", "write a list: [...]")
            case ast.Call(func=ast.Name(id="range")) if part not in ranges:
                raise refuse(part, "a range that is not gone through at once", "write `for i in range(...)`")
            case ast.keyword(arg="dtype"):
                raise refuse(part.value, "an array of a given type", "leave dtype= out")
            case ast.Constant(value=int() | float() as value) if abs(value) > _LARGEST:
                raise refuse(part, f"the number {value}", f"use numbers up to {_LARGEST:,}, which no type of numpy's wraps around")
            case ast.BinOp(op=ast.Pow(), right=exponent) if not _is_small(exponent):
                raise refuse(part, "a power that may be too large for a float", "use a constant exponent of at most 3")
            case ast.Starred() | ast.keyword(arg=None):
                raise refuse(node, "arguments that are unpacked", "name the arguments")


def _is_small(node: ast.expr) -> bool:
    """True for an exponent with which no number that is read gets too large for a float."""
    return isinstance(node, ast.Constant) and type(node.value) is int and 0 <= node.value <= 3


def _check_opaque(function: ast.FunctionDef, *, main: bool) -> None:
    """Refuse rounded or formatted values that are used for anything but to be returned: they are not computed here."""
    held: set[str] = set()
    for node in ast.walk(function):
        if not isinstance(node, ast.stmt) or isinstance(node, (ast.Return, ast.FunctionDef)):
            continue
        opaque = next((part for top in _expressions(node) for part in ast.walk(top) if _is_opaque(part)), None)
        if opaque is None:
            continue
        if not (isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and node in function.body):
            raise refuse(opaque, f"`{ast.unparse(opaque)}` here", "round and format in the return statement")
        held.add(node.targets[0].id)
    if not main and (held or any(map(_is_opaque, ast.walk(function)))):
        raise refuse(function, f"{function.name}, which rounds or formats", "round and format in the function that is proven")
    stored = Counter(name for _, name in bindings(function))
    for node in ast.walk(function):
        if isinstance(node, (ast.IfExp, ast.Compare, ast.BoolOp)) and _names(node) & held:
            raise refuse(node, "a choice among rounded or formatted values", "decide on the release itself")
    uses = [name for part in function.body if not isinstance(part, ast.Return) for name in _loads(part)]
    for name in held:
        if stored[name] > 1 or name in uses:
            raise refuse(
                function, f"{name}, which is rounded or formatted and used again", "round and format in the return statement"
            )


def _is_opaque(node: ast.AST) -> bool:
    """True for what is not computed: a rounded or formatted value, or a function of real numbers."""
    match node:
        case ast.JoinedStr():
            return True
        case ast.Call(func=ast.Name(id=name)):
            return name in _OPAQUE
        case ast.Call(func=ast.Attribute(attr=name)):
            return name in _OPAQUE_METHODS
    return False


def _loads(node: ast.AST) -> list[str]:
    """Names that are read below a node."""
    return [part.id for part in ast.walk(node) if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Load)]


def _expressions(node: ast.stmt) -> list[ast.expr]:
    """The expressions of a statement itself, without those of statements in it."""
    return [part for part in ast.iter_child_nodes(node) if isinstance(part, ast.expr) and not _is_stored(part)]


def _is_stored(node: ast.expr) -> bool:
    """True for the target of an assignment or loop, which is checked by itself."""
    return isinstance(getattr(node, "ctx", None), ast.Store)


def _targets(node: ast.expr) -> list[ast.expr]:
    """The names of a target."""
    return node.elts if isinstance(node, ast.Tuple) else [node]


def _names(node: ast.AST) -> set[str]:
    """All names below a node."""
    return {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}


_WORDS: Final = {
    "Assign": "an assignment", "AugAssign": "an assignment", "AnnAssign": "an assignment", "Expr": "a call", "If": "a test",
    "For": "a loop", "While": "a while loop", "ClassDef": "a class", "FunctionDef": "a function", "AsyncFunctionDef": "a function",
    "Return": "a return", "Raise": "a raise", "Try": "try and except", "With": "a with block", "Assert": "an assertion",
    "Lambda": "a lambda", "NamedExpr": "a walrus", "Delete": "a del", "Break": "a break", "Continue": "a continue",
}  # fmt: skip


def _named(node: ast.AST) -> str:
    """A form in the words that people use for it."""
    name = type(node).__name__
    return _WORDS.get(name, f"the form {name}")
