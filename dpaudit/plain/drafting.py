"""A file of claims drafted from a Python file: the functions that look like releases, read from the source and never run."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from dpaudit.errors import InvalidArgument
from dpaudit.plain.signature import is_budget, is_source_name, looks_like_data

_NOISE: Final = {
    "laplace", "normal", "gauss", "normalvariate", "exponential", "expovariate", "geometric", "gumbel", "standard_normal",
    "standard_exponential", "choice", "choices", "discrete_gaussian", "discrete_laplace", "randbelow", "release",
    "multivariate_normal", "binomial", "random", "uniform", "randrange", "randint", "integers", "poisson", "getrandbits",
    "token_bytes", "urandom", "shuffle",
}  # fmt: skip
"""Calls that draw: noise, choices and coins."""

_SCALES: Final = {
    "scale", "sensitivity", "sigma", "noise_multiplier", "noise_scale", "clip", "clipping_norm", "privacy_budget", "rho", "mu",
}  # fmt: skip
_WORDS: Final = (
    "noisy", "private", "dp_", "_dp", "release", "laplace", "gaussian", "exponential_mechanism", "randomi", "histogram", "anonym",
    "suppress", "publish", "sanitiz", "perturb", "obfuscat",
)  # fmt: skip

_HEAD: Final = '''"""Claims of {file}, drafted by `dpaudit init {file}`. Nothing was run to write it.

1. Fill in what is marked FILL IN: the claims, and arguments that have no default.
2. Audit all of them on your records: dpaudit audit {draft} --data FILE.csv
   or fill in data=, the path of a data file or a dataset in the form that the function takes, and leave out --data.
Delete what is no release.
"""

{imports}
'''

_CLAIM: Final = """
# {where}: {reasons}.
{name} = claim(
    epsilon={epsilon},{note}
    delta={delta}
    adjacency="add_remove",  # one record added or removed; "replace_one" where the number of records is public
    data=...,  # --data FILE.csv replaces it
{arguments})({function})
"""


@dataclass(frozen=True)
class Candidate:
    """A function that looks like a release: its name, its line, why, its own epsilon, and what it needs."""

    name: str
    line: int
    reasons: tuple[str, ...]
    epsilon: str
    takes_delta: bool
    missing: tuple[str, ...]


def draft(file: Path, written: Path) -> str:
    """Return the text of a file of claims for the functions of `file` that look like releases; InvalidArgument where none does."""
    found = list(candidates(file))
    if not found:
        raise InvalidArgument(
            "DPA105",
            f"{file.name} has no function that looks like a release. Name one yourself: dpaudit audit {file.name}:NAME --epsilon 1 "
            "--data FILE.csv",
        )
    module = file.stem if file.stem.isidentifier() else "module"
    line = (
        f"import {module}"
        if module == file.stem
        else f'from importlib import import_module\n\nmodule = import_module("{file.stem}")'
    )
    imports = f"{line}\n\nfrom dpaudit import claim"
    claims = "".join(_claim_text(one, file, module) for one in found)
    return _HEAD.format(file=file.name, draft=written.name, imports=imports) + claims


def candidates(file: Path) -> Iterator[Candidate]:
    """Yield the functions and methods of a file that look like releases, in their order."""
    try:
        tree = ast.parse(file.read_text(encoding="utf-8"), str(file))
    except (SyntaxError, UnicodeDecodeError, ValueError) as error:
        line = f":{error.lineno}" if isinstance(error, SyntaxError) and error.lineno else ""
        raise InvalidArgument("DPA105", f"{file.name}{line} is no Python source that can be read. Repair it first.") from error
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and (found := _candidate(node, "")):
            yield found
        if isinstance(node, ast.ClassDef) and not _needs_arguments(node):
            yield from filter(None, (_candidate(one, f"{node.name}.") for one in node.body if isinstance(one, ast.FunctionDef)))


def _candidate(node: ast.FunctionDef, owner: str) -> Candidate | None:
    """Return a function as a candidate; None where nothing speaks for it, or where it takes no data."""
    plain = {name.id for one in node.decorator_list for name in ast.walk(one) if isinstance(name, ast.Name)}
    if node.name.startswith("_") or plain & {"property", "pytest", "fixture", "claim"}:
        return None
    names = [one.arg for one in (*node.args.posonlyargs, *node.args.args)][1 if owner else 0 :]
    keywords = [one.arg for one in node.args.kwonlyargs]
    optional = set(names[len(names) - len(node.args.defaults) :] if node.args.defaults else ()) | {
        name for name, default in zip(keywords, node.args.kw_defaults, strict=True) if default is not None
    }
    reasons = tuple(_reasons(node, [*names, *keywords]))
    left = [name for name in (*names, *keywords) if name not in optional and not is_budget(name) and not is_source_name(name)]
    able = [name for name in left if name.lower() not in _SCALES]
    if not reasons or not able:
        return None
    data = next((name for name in able if looks_like_data(name)), able[0])
    missing = tuple(name for name in left if name != data)
    takes_delta = any(is_budget(name) == "delta" for name in (*names, *keywords))
    return Candidate(f"{owner}{node.name}", node.lineno, reasons, _default_of_epsilon(node), takes_delta, missing)


def _reasons(node: ast.FunctionDef, names: list[str]) -> Iterator[str]:
    """Yield what speaks for a release: calls that draw, arguments of a mechanism, and its name."""
    drawn = {one.func.attr if isinstance(one.func, ast.Attribute) else getattr(one.func, "id", "") for one in _calls(node)} & _NOISE
    if drawn:
        yield f"it calls {', '.join(sorted(drawn))}"
    if told := [name for name in names if is_budget(name) or name.lower() in _SCALES or is_source_name(name)]:
        yield f"it takes {', '.join(told)}"
    if not drawn and not told and any(word in node.name.lower() for word in _WORDS):
        yield "its name says so"


def _calls(node: ast.AST) -> Iterator[ast.Call]:
    """Yield the calls inside a function."""
    return (one for one in ast.walk(node) if isinstance(one, ast.Call))


def _needs_arguments(node: ast.ClassDef) -> bool:
    """True if an object of a class cannot be made without arguments other than a budget."""
    made = next((one for one in node.body if isinstance(one, ast.FunctionDef) and one.name == "__init__"), None)
    if made is None:
        return False
    names = [one.arg for one in made.args.args][1:]
    required = names[: len(names) - len(made.args.defaults)]
    return any(not is_budget(name) and not is_source_name(name) for name in required)


def _default_of_epsilon(node: ast.FunctionDef) -> str:
    """Return the function's own default of epsilon as it is written; "" where it has none."""
    positional = [*node.args.posonlyargs, *node.args.args]
    pairs: list[tuple[ast.arg, Any]] = list(zip(positional[::-1], node.args.defaults[::-1], strict=False))
    pairs += list(zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True))
    for one, default in pairs:
        number = default.value if isinstance(default, ast.Constant) else None
        if is_budget(one.arg) == "epsilon" and isinstance(number, (int, float)) and not isinstance(number, bool):
            return repr(str(number)) if isinstance(number, float) else str(number)
    return ""


def _claim_text(one: Candidate, file: Path, module: str) -> str:
    """Return the claim of one function as source."""
    arguments = ", ".join(f'"{name}": ...' for name in one.missing)
    return _CLAIM.format(
        where=f"{file.name}:{one.line}",
        reasons=", ".join(one.reasons),
        name=one.name.replace(".", "_"),
        epsilon=one.epsilon or 1,
        delta='"1e-6",  # FILL IN' if one.takes_delta else "0,  # FILL IN where the claim has one",
        note="  # the function's own default" if one.epsilon else "  # FILL IN: the epsilon that the function is to keep",
        arguments=f"    arguments={{{arguments}}},  # FILL IN\n" if arguments else "",
        function=f"{module}.{one.name}",
    )
