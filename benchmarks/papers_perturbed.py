"""Perturb every constant that enters a witness of the papers, up and down, and see which verdicts notice.

`python -m benchmarks.papers_perturbed [ITEM ...]` writes benchmarks/results/papers_perturbed.csv, a row a perturbation. Integers
move by 1, others by a tenth. A perturbation is noticed if an item that reads the constant comes out undecided or with another
verdict; what is not noticed is explained in `UNNOTICED`. Left out, because no witness depends on them: precisions, digits that are
shown, subscripts, lengths of attacks, words. Lemmas, proofs and attacks read no constant of the items: they count as found here,
and `dpaudit audit papers` looks at them. The constants of `proofs.papers.points` are listed, with the reason why another would do.

Needs: nothing. Size: every constant of the items that are named, twice.
"""

from __future__ import annotations

import ast
import copy
import csv
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from types import ModuleType
from typing import Any, Final

from dpaudit.dossier import Witness

ROOT: Final = Path(__file__).resolve().parents[1]
PAPERS: Final = ROOT / "proofs" / "papers"
RESULTS: Final = ROOT / "benchmarks" / "results" / "papers_perturbed.csv"
MODULES: Final = ("scores", "costs", "passes", "maps", "halfspaces", "public_data", "kernels")
HEADER: Final = ["module", "function", "line", "column", "constant", "becomes", "items", "noticed", "why"]
_NUMBER: Final = re.compile(r"-?\d+(?:\.\d+)?(?:/\d+|e-?\d+)?")


def _found(kind: str, about: str, *, holds: bool) -> Callable[..., Witness]:
    """A witness of a kind that reads no constant, as the committed run found it."""
    return lambda *_, about=about, where="", **__: Witness(kind, about, holds=holds, says="", expects=holds, where=where)


_TAKEN: Final[dict[str, Any]] = {
    "lemma": _found("lemma", "claim", holds=True),
    "proof": _found("proof", "repair", holds=True),
    "model": _found("model", "shortcut", holds=False),
    "refuted": _found("attack", "shortcut", holds=False),
    "survives": _found("attack", "repair", holds=True),
}

UNNOTICED: Final[dict[tuple[str, str, str], str]] = {
    ("scores", "_a18", "0"): "a cover from the next seed has the same largest epsilon",
    ("scores", "_a22", "1"): "two records fewer do not reach the bound either",
    ("costs", "_a4", "1"): "shares of the bound are among the figures; in one draw nothing appears twice",
    ("passes", "_a7", "1"): "the length of a step of the lattice is for whoever reads the weights, not for the pass",
    ("passes", "_a8", "0"): "the cover holds on a longer stretch too, and a shorter one is part of it",
    ("passes", "_a21", "1"): "what is more than 1 is more than 0; the ratios themselves are among the figures",
    ("passes", "_a25", "1"): "with two records more there is one phase more, too",
    ("maps", "_a12", "1"): "records that are cut to another norm are cut as well; steps are counted in units of that norm",
    ("halfspaces", "_n2", "4"): "a larger moment would do as well; the lemma papers.order has this 4 and is checked for itself",
    ("public_data", "_p2", "2"): "the line through (3, 1) gives 6/5 as well as that through (2, 1)",
    ("public_data", "_p3", "100"): "the ratio of both shifts is the same at every strength; the root of k nu is cut to an integer",
    ("kernels", "_k6", "2"): "what is smaller than the part that is charged stays smaller; the part comes from the same figures",
    ("kernels", "_mean_size", "1"): "5 and 4 have the same half, rounded down; the dimension is among the figures",
    (
        "kernels",
        "_wide",
        "1",
    ): "one record of 100,000, or the curvature of a loss that is flat there, moves no digit that is written",
    ("kernels", "_wide", "2"): "the curvature of a loss that is flat there is below the digits that are written",
    ("kernels", "_wide", "4"): "both determinants change alike, so that their ratio keeps the digits that are written",
    ("kernels", "_k6", "100"): "the noise grows with the root of the number of rounds, so that one more costs the same",
}
"""Why a perturbation is not noticed, by module, function and constant."""


@dataclass(frozen=True)
class Place:
    """A constant of a module: the name that owns it, its node's position, its value, and the items that read it."""

    owner: str
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
            yield from (Place(name, one.lineno, one.col_offset, one.value, readers) for one in _constants(node))


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
    """The numbers of a definition, but for decorators, docstrings, f-strings' formats, subscripts and calls that read none."""
    if isinstance(node, ast.Constant):
        is_number = isinstance(node.value, int | float) and not isinstance(node.value, bool)
        if is_number or (isinstance(node.value, str) and _NUMBER.fullmatch(node.value)):
            yield node
        return
    for field, value in ast.iter_fields(node):
        if field in ("decorator_list", "format_spec", "slice", "annotation", "returns"):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.withitem) or (isinstance(child, ast.Call) and getattr(child.func, "id", "") in _TAKEN):
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


def _undecided(tree: ast.Module, name: str, keys: tuple[str, ...]) -> tuple[str, ...]:
    """The items of a module, as it is given, that do not come out as they are written."""
    from dpaudit.dossier import decided_item

    module = ModuleType(f"proofs.papers.{name}")
    module.__package__ = "proofs.papers"
    before = sys.modules.get(module.__name__)
    sys.modules[module.__name__] = module  # dataclasses and caches look their module up
    try:
        exec(compile(tree, f"{name}.py", "exec"), module.__dict__)  # noqa: S102 - our own module with one number changed
        module.__dict__.update(_TAKEN)
        items = [item for item in module.ITEMS if item.key in keys]
        return tuple(item.key for item in items if decided_item(item, 0).standing is not item.expects)
    except Exception:  # noqa: BLE001 - a module that cannot be loaded decides nothing
        return keys
    finally:
        if before is not None:
            sys.modules[module.__name__] = before


def _perturbed(source: ast.Module, place: Place, becomes: float | str) -> ast.Module:
    """A module with one constant changed."""
    tree = copy.deepcopy(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and (node.lineno, node.col_offset) == (place.line, place.column):
            node.value = becomes
    return tree


def _parsed(name: str) -> ast.Module:
    """The syntax of a module of the papers."""
    return ast.parse((PAPERS / f"{name}.py").read_text(encoding="utf-8"))


def rows_of(name: str, keys: frozenset[str]) -> Iterator[list[str]]:
    """Perturb the constants of one module that some items read, one after the other."""
    tree = _parsed(name)
    read = {key for place in places_of(tree) for key in place.items} & keys
    if wrong := _undecided(tree, name, tuple(read)):
        raise SystemExit(f"{', '.join(sorted(wrong))}: not decided as written, so that nothing can be noticed")
    for place in places_of(tree):
        items = tuple(key for key in place.items if key in keys)
        for becomes in moved(place.value) if items else ():
            noticed = bool(_undecided(_perturbed(tree, place, becomes), name, items))
            why = "" if noticed else UNNOTICED.get((name, place.owner, str(place.value)), "")
            row = [name, place.owner, str(place.line), str(place.column), str(place.value), str(becomes), " ".join(items)]
            yield [*row, "yes" if noticed else "no", why]


def point_rows() -> list[list[str]]:
    """The points, which are not perturbed, each with its reason."""
    body = _parsed("points").body
    readers = {
        name: {node.id for node in ast.walk(_parsed(name)) if isinstance(node, ast.Name)} for name in (*MODULES, "witnessing")
    }
    rows = []
    for node, reason in pairwise(body):
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and isinstance(reason, ast.Expr):
            name, why = node.target.id, str(ast.literal_eval(reason.value))
            read = " ".join(module for module in readers if name in readers[module])
            rows.append(["points", name, str(node.lineno), "0", ast.unparse(node.value), "", read, "left out", why])
    return rows


def main(keys: list[str]) -> None:
    """Perturb what the named items read, or all; rows of the others stay."""
    from proofs.papers import ITEMS

    every = {item.key: item.decide.__module__.rpartition(".")[2] for item in ITEMS}
    chosen = frozenset(keys or every)
    found = []
    for name in MODULES:
        for row in rows_of(name, chosen) if any(every[key] == name for key in chosen) else ():
            print(*row, flush=True)
            found.append(row)
    kept: list[list[str]] = []
    if RESULTS.exists():
        with RESULTS.open(encoding="utf-8", newline="") as file:
            kept = [row for row in list(csv.reader(file))[1:] if row[0] in MODULES and not chosen & set(row[6].split())]
    rows = sorted(kept + found, key=lambda row: (MODULES.index(row[0]), int(row[2]), int(row[3])))
    with RESULTS.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([HEADER, *rows, *point_rows()])
    noticed = sum(row[7] == "yes" for row in rows)
    print(f"{noticed} of {len(rows)} perturbations are noticed; unexplained: {sum(row[7:] == ['no', ''] for row in rows)}")


if __name__ == "__main__":
    main(sys.argv[1:])
