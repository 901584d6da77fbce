"""What the arguments of a function stand for: the data, a source of randomness, the budget, or a constant."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from dpaudit.blame import meant
from dpaudit.errors import TargetFailure
from dpaudit.plain.usage import Usage, usage_of

_GENERATORS: Final = {
    "rng", "generator", "gen", "random_state", "random_source", "random_generator", "prng", "rnd", "rand", "np_random", "seed",
    "random_seed", "source", "random",
}  # fmt: skip
"""Names of parameters that take a source of randomness; an annotation says more."""

_EPSILONS: Final = {"epsilon", "eps", "epsilon_total", "total_epsilon", "privacy_budget", "ε", "ϵ"}
_DELTAS: Final = {"delta", "δ", "delt"}
_DATA: Final = {
    "data", "dataset", "df", "frame", "dataframe", "records", "rows", "people", "table", "values", "xs", "x", "users", "db",
    "database", "samples", "population", "items", "arr", "array", "patients", "customers", "private_data", "sensitive_data",
    "series", "responses", "answers", "points", "train", "training_data", "features",
}  # fmt: skip
_LABELS: Final = {"y", "labels", "targets", "target", "label", "outcomes", "y_train", "train_labels"}
_SCALARS: Final = re.compile(
    r"(builtins\.)?(int|float|bool|str|complex|Fraction|Decimal)( ?\| ?None)?|Optional\[(int|float|bool|str)\]"
)
_SEEDED: Final = {"default_rng", "RandomState", "Random", "seed", "SeedSequence", "check_random_state", "PRNGKey", "manual_seed"}
"""Calls that make a generator of a seed, or seed one."""

_SOURCES: Final = (
    (re.compile(r"RandomState"), "RandomState"),
    (re.compile(r"BitSource|\bSource\b"), "source"),
    (re.compile(r"Generator"), "Generator"),
    (re.compile(r"random\.Random|\bRandom\b|SystemRandom"), "Random"),
)


@dataclass(frozen=True)
class Call:
    """How a function is called: `data` are the parameters that take it, `source` the one for randomness, and the kinds to try.

    `constants` are the other arguments by name; `epsilon` names the parameter that takes the claimed one.
    """

    data: tuple[str, ...]
    source: str | None
    sources: tuple[str, ...]
    constants: tuple[tuple[str, Any], ...]
    default_source: str = ""


def annotation_of(parameter: inspect.Parameter) -> str:
    """Return an annotation as text; "" for none."""
    noted = parameter.annotation
    if noted is inspect.Parameter.empty:
        return ""
    return noted if isinstance(noted, str) else inspect.formatannotation(noted)


def parameters_of(function: Callable[..., Any]) -> dict[str, inspect.Parameter]:
    """Return the parameters of a function by name; none where it does not say them."""
    try:
        return dict(inspect.signature(function).parameters)
    except (TypeError, ValueError):
        return {}


def call_of(
    function: Callable[..., Any],
    budget: Mapping[str, Any],
    given: Mapping[str, Any],
    columns: Iterable[str],
    place: str,
    *,
    takes_data: bool = True,
    is_method: bool = False,
) -> Call:
    """Decide how a function is called.

    `budget` has the claimed "epsilon" and "delta"; `given` are arguments by name; `place` names function and line in errors.
    """
    parameters, constants, left, source = parameters_of(function), dict[str, Any](), list[str](), None
    if is_method:
        parameters.pop(next(iter(parameters), ""), None)  # the object
    for name, one in parameters.items():
        if one.kind in (one.VAR_POSITIONAL, one.VAR_KEYWORD):
            continue
        role = is_budget(name)
        if name in given:
            constants[name] = given[name]
        elif source is None and _is_source(one):
            source = name
        elif role and budget.get(role) is not None:
            constants[name] = budget[role]
        elif role == "delta" and one.default is one.empty:
            raise TargetFailure(
                "DPA404",
                f"{place} takes {name}, and no delta is given. If the claim has a delta, write --delta VALUE; if {name} is only an "
                f"argument of the function, write --arg {name}=VALUE.",
            )
        elif role and one.default is not one.empty:
            continue
        else:
            left.append(name)
    data = _data_of(parameters, left, list(columns)) if takes_data else ()
    if takes_data and not data:
        raise TargetFailure(
            "DPA404",
            f"{place} has no argument for the data; its arguments are ({', '.join(parameters)}). Make the data the first of them: "
            f"def {place.partition(' at ')[0]}({', '.join(['data', *parameters])}).",
        )
    _refuse_missing([name for name in left if name not in data and parameters[name].default is inspect.Parameter.empty], place)
    kinds = () if source is None else sources_of(parameters[source], usage_of(function, source))
    fixed = source if source is not None and type(parameters[source].default) is int else ""
    return Call(data, source, kinds, tuple(constants.items()), fixed)


def _refuse_missing(names: list[str], place: str) -> None:
    """Refuse a call that lacks arguments."""
    if names:
        written = " ".join(f"--arg {name}=VALUE" for name in names)
        raise TargetFailure("DPA404", f"{place} also needs {', '.join(names)}. Write {written}, or give it a default.")


def refuse_unknown(names: Iterable[str], functions: Iterable[Callable[..., Any]], place: str) -> None:
    """Refuse arguments that no function takes."""
    known = {name: one for function in functions for name, one in parameters_of(function).items()}
    if any(one.kind is one.VAR_KEYWORD for one in known.values()):
        return
    for name in names:
        if name not in known:
            listed = ", ".join(known) or "none"
            raise TargetFailure("DPA404", f"{place} has no argument {name!r}{meant(name, known)}. It has {listed}.")


def is_budget(name: str) -> str:
    """Return "epsilon" or "delta" for the parameters that take one, "" for others."""
    plain = name.lower().strip("_")
    return "epsilon" if plain in _EPSILONS else "delta" if plain in _DELTAS else ""


def _is_source(one: inspect.Parameter) -> bool:
    """True if a parameter takes a source of randomness."""
    noted = annotation_of(one)
    if "Iterator" in noted or "collections" in noted:
        return False
    if any(pattern.search(noted) for pattern, _ in _SOURCES):
        return True
    return is_source_name(one.name) and not isinstance(one.default, (str, bool))


def is_source_name(name: str) -> bool:
    """True if a parameter of this name takes a source of randomness."""
    return name.lower().strip("_") in _GENERATORS


def looks_like_data(name: str) -> bool:
    """True if a parameter of this name takes data."""
    return name.lower().strip("_") in _DATA


def sources_of(one: inspect.Parameter, usage: Usage) -> tuple[str, ...]:
    """Return the kinds of source that a parameter may take, likeliest first."""
    import random

    import numpy as np

    noted, name = annotation_of(one), one.name.lower()
    for pattern, kind in _SOURCES:
        if pattern.search(noted):
            return (kind,)
    if re.search(r"\bint\b", noted) or isinstance(one.default, int):
        return ("seed",)
    likely: list[str] = []
    if usage.passed & _SEEDED or "seed" in name:
        likely.append("seed")
    if usage.attributes:
        kinds = {"Generator": np.random.Generator, "RandomState": np.random.RandomState, "Random": random.Random}
        likely += [kind for kind, made in kinds.items() if usage.attributes <= set(dir(made))][:1]
    if name == "source":
        likely.append("source")
    if name == "random_state":
        likely.append("seed")
    return tuple(dict.fromkeys([*likely, "Generator", "seed", "RandomState", "Random", "source"]))


def _data_of(parameters: Mapping[str, inspect.Parameter], left: list[str], columns: list[str]) -> tuple[str, ...]:
    """Return the parameters that take the data, or columns of them."""
    required = [name for name in left if parameters[name].default is inspect.Parameter.empty]
    able = [name for name in required if not _SCALARS.fullmatch(annotation_of(parameters[name]))]
    matching = [name for name in able if column_for(name, columns)]
    named = [name for name in able if name.lower().strip("_") in _DATA]
    if len(matching) > 1:
        return tuple(matching)
    pair = _pair_of(able)
    if pair and not matching:
        return pair
    if not able:
        optional = [name for name in left if name not in required and name.lower() in _DATA]
        return tuple(optional[:1])
    return ((matching or named or able)[0],)


def _pair_of(names: list[str]) -> tuple[str, ...]:
    """Return the parameters for features and labels, where a function takes both."""
    labels = [name for name in names if name.lower() in _LABELS]
    place = names.index(labels[0]) if labels else 0
    return (names[place - 1], names[place]) if place else ()


def column_for(name: str, columns: Iterable[str]) -> str | None:
    """Return the column that a parameter is named after: the same word, in the singular or the plural."""
    stems = {_stem(one): one for one in columns}
    plain = re.sub(r"_(list|values|column|col|array|data|vec|vector|series)$", "", name.lower())
    return next((stems[one] for one in (_stem(name), _stem(plain)) if one in stems), None)


def _stem(word: str) -> str:
    """Return a word in lower case without signs and without the ending of a plural."""
    plain = re.sub(r"[^a-z0-9]", "", word.lower())
    for ending, single in (("ies", "y"), ("sses", "ss"), ("s", "")):
        if plain.endswith(ending) and len(plain) > len(ending) + 1 and not plain.endswith("ss"):
            return plain[: -len(ending)] + single
    return plain
