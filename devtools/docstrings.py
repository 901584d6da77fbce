"""Check docstrings: what a name in an `__all__` must say, and how little the others may."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from devtools.exports import Definition, Export, definition_of, exports, is_a
from devtools.survey import PACKAGES, Tree

LONGEST: Final = {ast.FunctionDef: 5, ast.ClassDef: 7}
"""Most lines of the docstring of a name that no package exports; a class describes its fields, in these lines or under Args."""
_SECTION: Final = re.compile(r"^(Args|Returns|Raises|Source|Example):(.*)$")
_EMPTY: Final = re.compile(r"^(Args|Returns|Raises|Source):\s*(?:Nothing|None)\.?\s*$", flags=re.MULTILINE)


def check_exports(tree: Tree) -> Iterator[str]:
    """Name exported functions and classes whose docstring lacks a section, and exports that a module of the same name hides."""
    for export in exports(tree):
        yield from _hidden(export, tree)
        if export.node:
            missing = sections_needed(tree, export.path, export.node) - set(sections_of(ast.get_docstring(export.node) or ""))
            place = tree.place(export.path, export.node.lineno)
            yield from (f"{place}: {export.name} is exported; its docstring lacks {section}" for section in sorted(missing))


def check_brevity(tree: Tree) -> Iterator[str]:
    """Name sections that say nothing, and the docstrings of names that no package exports where they say too much."""
    public = {id(export.node) for export in exports(tree)}
    for path in tree.python(*PACKAGES):
        yield from _check_brevity(tree, path, tree.parsed(path), public)


def sections_of(text: str) -> dict[str, list[str]]:
    """The sections of a docstring by name, as lines; what comes before the first one is under the empty name."""
    found: dict[str, list[str]] = {"": []}
    now = ""
    for line in text.splitlines():
        start = _SECTION.match(line)
        now = start[1] if start else now
        rest = start[2] if start else line
        found.setdefault(now, []).extend([rest] if rest.strip() else [])
    return found


def sections_needed(tree: Tree, path: Path, node: Definition) -> set[str]:
    """The sections of an exported name; one that would say that there is nothing is not among them."""
    if isinstance(node, ast.ClassDef):
        if is_a(tree, path, node, "Exception", "Enum", "IntEnum", "StrEnum") or _is_protocol(node):
            return set()
        needed = {"Example"}
        if _takes_arguments(tree, path, node):
            needed.add("Args")
        if any(isinstance(item, ast.FunctionDef) and item.name == "__post_init__" and _raises(item) for item in node.body):
            needed.add("Raises")
        return needed
    arguments = node.args
    needed = {"Example"}
    if [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, *filter(None, [arguments.vararg, arguments.kwarg])]:
        needed.add("Args")
    if _raises(node):
        needed.add("Raises")
    if not (isinstance(node.returns, ast.Constant) and node.returns.value is None):
        needed.add("Returns")
    return needed


def _hidden(export: Export, tree: Tree) -> Iterator[str]:
    """Importing a module of the same name would put it in the place of the function, so that calling the exported name fails."""
    for path in (export.package / f"{export.name}.py", export.package / export.name / "__init__.py"):
        if path.exists():
            yield f"{tree.place(path)}: a module has the name of an export of its package; rename the module"


def _check_brevity(tree: Tree, path: Path, inside: ast.AST, public: set[int], *, is_public: bool = False) -> Iterator[str]:
    """Go through the definitions in a syntax tree; methods of an exported class are public too, unless their names begin with _."""
    for node in ast.iter_child_nodes(inside):
        if not isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            if isinstance(node, ast.stmt):
                yield from _check_brevity(tree, path, node, public, is_public=is_public)
            continue
        documented = id(node) in public or (is_public and not node.name.startswith("_"))
        text = ast.get_docstring(node) or ""
        if empty := _EMPTY.search(text):
            yield f"{tree.place(path, node.lineno)}: the section {empty[1]} of {node.name} says nothing; leave it out"
        if not documented:
            sections = sections_of(text)
            allowed = {"", "Source", *(["Args"] if isinstance(node, ast.ClassDef) else [])}
            if extra := sorted(set(sections) - allowed):
                yield f"{tree.place(path, node.lineno)}: {node.name} is not exported; its docstring needs no {', '.join(extra)}"
            if len(sections[""]) > (most := LONGEST[type(node)]):
                yield f"{tree.place(path, node.lineno)}: {node.name} is not exported; its docstring has over {most} lines"
        yield from _check_brevity(tree, path, node, public, is_public=documented)


def _is_protocol(node: ast.ClassDef) -> bool:
    """True if a class describes what others do, as no class derived from it does."""
    bases = [base.value if isinstance(base, ast.Subscript) else base for base in node.bases]
    return any(isinstance(base, ast.Name) and base.id == "Protocol" for base in bases)


def _takes_arguments(tree: Tree, path: Path, node: ast.ClassDef) -> bool:
    """True if calling a class needs or allows arguments: fields, or parameters of its own or an inherited `__init__`."""
    for item in node.body:
        if isinstance(item, ast.FunctionDef) and item.name == "__init__":
            return len([*item.args.args, *item.args.kwonlyargs]) > 1 or item.args.vararg is not None
        if isinstance(item, ast.AnnAssign) and node.decorator_list and "ClassVar" not in ast.unparse(item.annotation):
            made = item.value.keywords if isinstance(item.value, ast.Call) else []
            if not any(keyword.arg == "init" for keyword in made):
                return True
    above = [definition_of(tree, path, base.id) for base in node.bases if isinstance(base, ast.Name)]
    return any(isinstance(base, ast.ClassDef) and base is not node and _takes_arguments(tree, file, base) for file, base in above)


def _raises(function: ast.FunctionDef) -> bool:
    """True if the body of a function has a `raise` of its own, outside the functions that it defines."""
    left: list[ast.AST] = list(function.body)
    while left:
        node = left.pop()
        if isinstance(node, ast.Raise):
            return True
        if not isinstance(node, (ast.FunctionDef, ast.Lambda, ast.ClassDef)):
            left.extend(ast.iter_child_nodes(node))
    return False
