"""Types of parameters: from annotations, defaults, what the caller declares, or use."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from dpaudit.verifier.ordinary.refusing import refuse
from dpaudit.verifier.ordinary.values import Class, Kind

_SCALARS: Final[Mapping[str, Kind]] = {
    "int": "int", "float": "real", "Fraction": "real", "fractions.Fraction": "real", "bool": "bool", "str": "str",
    "np.float64": "real", "numpy.float64": "real",
}  # fmt: skip
_LISTS: Final = (
    "list", "List", "Sequence", "Collection", "tuple", "Tuple", "typing.List", "typing.Sequence", "Iterable", "typing.Iterable",
)  # fmt: skip
_ARRAYS: Final = ("np.ndarray", "numpy.ndarray", "ndarray", "np.array", "npt.NDArray", "NDArray")
_GENERATORS: Final = ("np.random.Generator", "numpy.random.Generator", "Generator", "random.Random", "Random")


@dataclass
class Type:
    """The type of a parameter: `form` is a scalar's kind, "list", "generator", "none" or "object"."""

    form: str
    fields: dict[str, Kind] = field(default_factory=dict)  # of the elements of a list; "" for an element that is a number
    shape: str = "any"  # of a list
    owner: Class | None = None  # the class of elements, or of an object
    floats: bool = False  # whether it holds floats
    why: str = "assumed"
    inner: bool = False  # whether its elements are lists: "size" says how long, and a field stands for each of the first places
    made: dict[str, Any] = field(default_factory=dict)  # fields that are made of a text in another
    rows: bool = False  # whether elements are rows whose fields use says


def plain_fields(kind: Type) -> dict[str, Kind]:
    """The fields that the records of a list have in the source."""
    return {one: sort for one, sort in kind.fields.items() if one not in kind.made}


def read_annotation(node: ast.expr, classes: Mapping[str, Class]) -> Type:
    """The type that an annotation says."""
    text = ast.unparse(node)
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return read_annotation(ast.parse(node.value, mode="eval").body, classes)
    if text in _SCALARS:
        return Type(_SCALARS[text], floats="float" in text, why="annotation")
    if text in _GENERATORS:
        return Type("generator", why="annotation", shape="random" if "Random" in text else "numpy")
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr) and ast.unparse(node.right) == "None":
        raise refuse(node, f"the type {text}, which allows None,", "leave None out, or give no default of None", "DPA702")
    if text in classes and classes[text].style != "keys":
        return Type("object", owner=classes[text], why="annotation")
    base = ast.unparse(node.value) if isinstance(node, ast.Subscript) else text
    if base in _ARRAYS:
        return Type("list", {"": "real"}, "array", floats=True, why="annotation")
    if base in _LISTS:
        element = node.slice if isinstance(node, ast.Subscript) else None
        if isinstance(element, ast.Tuple) and len(element.elts) == 2 and ast.unparse(element.elts[1]) == "...":
            element = element.elts[0]
        return _list_of(node, element, classes)
    raise refuse(
        node, f"the type {text}", "write int, float, Fraction, bool, str, or a list of these, of tuples or of dataclasses", "DPA702"
    )


def _list_of(node: ast.expr, element: ast.expr | None, classes: Mapping[str, Class]) -> Type:
    """The type of a list by that of its elements."""
    made = Type("list", {}, "list", why="annotation")
    if element is None:
        made.fields[""] = "real"
        made.why = "assumed elements"
        return made
    text = ast.unparse(element)
    if text in _SCALARS:
        made.fields[""], made.floats = _SCALARS[text], "float" in text
        return made
    parts: list[tuple[str, ast.expr]] = []
    if isinstance(element, ast.Subscript) and ast.unparse(element.value) in _LISTS[:3] and ast.unparse(element.slice) in _SCALARS:
        made.inner, made.floats = True, "float" in text
        made.fields = {"size": "int", "": _SCALARS[ast.unparse(element.slice)]}
        return made
    if (
        isinstance(element, ast.Subscript)
        and ast.unparse(element.value) in ("tuple", "Tuple", "typing.Tuple")
        and isinstance(element.slice, ast.Tuple)
    ):
        parts = [(str(place), one) for place, one in enumerate(element.slice.elts)]
    elif text in classes and classes[text].style == "keys":
        made.rows = True
        return made
    elif text in classes:
        made.owner = classes[text]
        parts = [(name, one) for name, one, _ in classes[text].fields]
    elif text.startswith(("dict", "Dict", "Mapping", "typing.Dict")):
        made.rows = True
        return made
    for name, one in parts:
        kind = _SCALARS.get(ast.unparse(one))
        if kind is None:
            raise refuse(node, f"records with a field of type {ast.unparse(one)}", "use int, float, bool and str fields", "DPA702")
        made.fields[name] = kind
        made.floats = made.floats or "float" in ast.unparse(one)
    if not parts:
        raise refuse(node, f"a list of {text}", "write a list of numbers, texts, tuples or dataclasses", "DPA702")
    return made
