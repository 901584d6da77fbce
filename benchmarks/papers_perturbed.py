"""Perturb every constant that enters a witness of the papers, up and down, and see which verdicts notice.

`python -m benchmarks.papers_perturbed [ITEM ...]` writes benchmarks/results/papers_perturbed.csv, a row a perturbation. Integers
move by 1, others by a tenth. A perturbation is noticed if an item that reads the constant comes out undecided or with another
verdict. Left out, because no witness depends on them: precisions, digits that are shown, subscripts, lengths of attacks, words.

Needs: a fresh record of cited tests. Size: every constant of the items that are named, twice.
"""

from __future__ import annotations

import ast
import copy
import csv
import importlib
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from types import ModuleType
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[1]
RESULTS: Final = ROOT / "benchmarks" / "results" / "papers_perturbed.csv"
MODULES: Final = ("scores", "costs", "passes", "maps", "halfspaces", "public_data", "kernels")
HEADER: Final = ["module", "line", "column", "constant", "becomes", "items", "noticed"]
_RUNS: Final = 20_000
_NUMBER: Final = re.compile(r"-?\d+(?:\.\d+)?(?:/\d+|e-?\d+)?")
_ATTACKS: Final = frozenset({"refuted", "survives"})


@dataclass(frozen=True)
class Place:
    """A constant of a module: its node's position, its value, and the items that read it."""

    line: int
    column: int
    value: int | float | str
    items: tuple[str, ...]


def places_of(tree: ast.Module) -> Iterator[Place]:
    """Find the constants of a module that enter a witness, with the items that read them."""
    owners = {}
    for node in tree.body:
        names = [target.id for target in getattr(node, "targets", [getattr(node, "target", None)]) if isinstance(target, ast.Name)]
        names += [node.name] if isinstance(node, ast.FunctionDef) else []
        owners |= dict.fromkeys(names, node)
    keys = {name: _key(node) for name, node in owners.items() if isinstance(node, ast.FunctionDef) and _key(node)}
    for name, node in owners.items():
        readers = tuple(key for item, key in keys.items() if name in _reached(item, owners))
        if readers:
            yield from (Place(one.lineno, one.col_offset, one.value, readers) for one in _constants(node))


def _key(node: ast.FunctionDef) -> str:
    """The key of the item that a function decides, "" for none."""
    calls = [call for call in node.decorator_list if isinstance(call, ast.Call) and getattr(call.func, "id", "") == "_claim"]
    return str(calls[0].args[0].value) if calls and isinstance(calls[0].args[0], ast.Constant) else ""


def _reached(name: str, owners: dict[str, ast.stmt]) -> set[str]:
    """The names of the module that a function reaches, itself among them."""
    found, waiting = set(), [name]
    while waiting:
        one = waiting.pop()
        if one not in found:
            found.add(one)
            waiting += [node.id for node in ast.walk(owners[one]) if isinstance(node, ast.Name) and node.id in owners]
    return found


def _constants(node: ast.AST) -> Iterator[ast.Constant]:
    """The numbers of a definition, but for decorators, docstrings, f-strings' formats, subscripts and silent calls."""
    if isinstance(node, ast.Constant):
        is_number = isinstance(node.value, int | float) and not isinstance(node.value, bool)
        if is_number or (isinstance(node.value, str) and _NUMBER.fullmatch(node.value)):
            yield node
        return
    for field, value in ast.iter_fields(node):
        if field in ("decorator_list", "format_spec", "slice", "annotation", "returns"):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.withitem) or (isinstance(child, ast.Call) and getattr(child.func, "id", "") in _ATTACKS):
                continue
            if isinstance(child, ast.Call) and getattr(child.func, "id", "") == "digits":
                yield from _constants(child.args[0])
            elif isinstance(child, ast.AST):
                yield from _constants(child)


def moved(value: float | str) -> tuple[int | float | str, int | float | str]:
    """A constant, moved down and up."""
    if isinstance(value, int):
        return value - 1, value + 1
    if isinstance(value, float):
        return value * 0.9, value * 1.1
    exact = Fraction(value)
    return str(exact * Fraction(9, 10)), str(exact * Fraction(11, 10))


def is_noticed(source: ast.Module, name: str, place: Place, becomes: float | str, figures: dict[str, str]) -> bool:
    """True if an item that reads a constant changes its verdict, or comes out undecided, when it is another."""
    from dpaudit.dossier import decided_item

    tree = copy.deepcopy(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and (node.lineno, node.col_offset) == (place.line, place.column):
            node.value = becomes
    module = ModuleType(f"proofs.papers.{name}")
    module.__package__ = "proofs.papers"
    sys.modules[module.__name__] = module  # dataclasses and caches look their module up
    try:
        exec(compile(tree, f"{name}.py", "exec"), module.__dict__)  # noqa: S102 - our own module with one number changed
        items = [replace(item, number=figures[item.key]) for item in module.ITEMS if item.key in place.items]
        return any(decided_item(item, _RUNS).standing is not item.expects for item in items)
    except Exception:  # noqa: BLE001 - a module that cannot be loaded decides nothing
        return True


def rows_of(name: str, keys: frozenset[str]) -> Iterator[list[str]]:
    """Perturb the constants of one module that some items read, one after the other."""
    tree = ast.parse((ROOT / "proofs" / "papers" / f"{name}.py").read_text(encoding="utf-8"))
    whole = importlib.import_module(f"proofs.papers.{name}")
    figures = {item.key: item.decide(_RUNS).number for item in whole.ITEMS if item.key in keys}
    for place in places_of(tree):
        read = replace(place, items=tuple(key for key in place.items if key in keys))
        for becomes in moved(place.value) if read.items else ():
            noticed = "yes" if is_noticed(tree, name, read, becomes, figures) else "no"
            row = [name, str(place.line), str(place.column), str(place.value), str(becomes), " ".join(read.items), noticed]
            print(*row, flush=True)
            yield row
    sys.modules[whole.__name__] = whole


def main(keys: list[str]) -> None:
    """Perturb what the named items read, or all; rows of the others stay."""
    every = {item.key: item.decide.__module__.rpartition(".")[2] for item in importlib.import_module("proofs.papers").ITEMS}
    chosen = frozenset(keys or every)
    found = [row for name in MODULES if any(every[key] == name for key in chosen) for row in rows_of(name, chosen)]
    kept: list[list[str]] = []
    if RESULTS.exists():
        with RESULTS.open(encoding="utf-8", newline="") as file:
            kept = [row for row in list(csv.reader(file))[1:] if not chosen & set(row[5].split())]
    with RESULTS.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerows([HEADER, *sorted(kept + found, key=lambda row: (MODULES.index(row[0]), int(row[1]), int(row[2])))])


if __name__ == "__main__":
    main(sys.argv[1:])
