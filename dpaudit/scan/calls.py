"""Calls: which of them draw noise, look at extremes, count, select, clip, or are private themselves."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import Final

from dpaudit.scan.names import LIBRARIES, last_name

_LAWS: Final = {
    "laplace": "laplace", "Laplace": "laplace", "normal": "gaussian", "gauss": "gaussian", "normalvariate": "gaussian",
    "randn": "gaussian", "randn_like": "gaussian", "standard_normal": "gaussian", "norm": "gaussian", "Normal": "gaussian",
    "gumbel": "gumbel", "exponential": "exponential", "expovariate": "exponential", "normal_": "gaussian", "geometric": "geometric",
    "multivariate_normal": "multivariate",
}  # fmt: skip
_UNIT: Final = {"randn", "randn_like", "standard_normal"}
_SCALES: Final = {
    "laplace": ("scale", 1), "normal": ("scale", 1), "gumbel": ("scale", 1), "exponential": ("scale", 0), "gauss": ("sigma", 1),
    "normalvariate": ("sigma", 1), "Laplace": ("scale", 1), "Normal": ("scale", 1), "norm": ("scale", 1), "normal_": ("std", 1),
}  # fmt: skip
"""Keyword and position of the scale; torch and tensorflow name it otherwise."""

_UNIFORM: Final = {"random", "uniform", "rand", "random_sample", "rand_like", "uniform_"}
EXTREMES: Final = {
    "max", "min", "amax", "amin", "nanmax", "nanmin", "ptp", "percentile", "quantile", "nanpercentile", "nanquantile", "std",
    "nanstd", "var", "stdev", "pstdev", "median", "nanmedian",
}  # fmt: skip
SUMS: Final = {"sum", "nansum", "fsum", "dot", "cumsum"}
KEYED: Final = {"value_counts", "groupby", "Counter", "unique", "crosstab", "pivot_table"}
ARRAYS: Final = {"histogram", "bincount", "value_counts", "histogramdd", "histogram2d", "tolist", "zeros", "ones"}
KEEP_MANY: Final = {
    "list", "sorted", "array", "asarray", "tuple", "astype", "copy", "values", "to_numpy", "sort_values", "sort_index", "fillna",
    "round", "flatten", "ravel", "reshape", "float", "int", "abs", "items", "head", "to_frame", "reset_index",
}  # fmt: skip
CLIPS: Final = {"clip", "clamp", "clip_", "clamp_", "clip_by_value"}
_SHAPES: Final = {"view", "reshape", "unsqueeze", "expand", "expand_as", "to", "detach", "squeeze"}
NORM_CLIPS: Final = {"clip_grad_norm_", "clip_grad_norm", "clip_by_norm", "clip_by_global_norm"}


@dataclass(frozen=True)
class Drawn:
    """How a call draws: its law, where its scale stands, whether it has a size, and from which generator."""

    law: str
    scale: ast.expr | None
    several: bool
    source: str


def argument(call: ast.Call, name: str, position: int) -> ast.expr | None:
    """Return an argument by its keyword or position."""
    for one in call.keywords:
        if one.arg == name:
            return one.value
    if position < len(call.args) and not any(isinstance(one, ast.Starred) for one in call.args[: position + 1]):
        return call.args[position]
    return None


def drawn(call: ast.Call, name: str, generator: str | None) -> Drawn | None:  # noqa: C901, PLR0911 - one case a library
    """Return how a call draws noise; None where it does not. `generator` is that of the object whose method is called."""
    last = name.rsplit(".", 1)[-1] if name else last_name(call.func)
    distribution = None
    if last in {"rvs", "sample", "rsample"} and isinstance(call.func, ast.Attribute):
        distribution = call.func.value
        if isinstance(distribution, ast.Call):
            return _of_distribution(call, distribution, name)
        last = name.split(".")[-2] if name.count(".") >= 2 else ""
        if last not in {"laplace", "norm"} or not name.startswith("scipy."):
            return None
        scale = argument(call, "scale", 1)
        return Drawn(_LAWS[last], scale, argument(call, "size", 2) is not None, "scipy")
    if last not in _LAWS or last in {"Laplace", "Normal", "norm"}:
        return None
    source = generator or _source(name)
    if last == "normal_":
        return Drawn("gaussian", argument(call, "std", 1), several=True, source="torch")
    if source is None:
        return None
    if last in _UNIT:
        several = bool(call.args or call.keywords) and not _has_unit_size(call)
        return Drawn(_LAWS[last], None, several, source)
    keyword, position = _SCALES.get(last, ("", 99))
    if source == "torch" and any(one.arg == "generator" for one in call.keywords):
        return Drawn(_LAWS[last], argument(call, "std", 1), several=True, source="given")  # it may be a cryptographic one
    if source in {"torch", "tensorflow", "jax"}:
        return _of_tensors(call, last, source)
    if last == "expovariate":
        return Drawn("rate", argument(call, "lambd", 0), several=False, source=source)
    size = argument(call, "size", position + 1)
    several = size is not None and not (isinstance(size, ast.Constant) and size.value in (1, None))
    return Drawn(_LAWS[last], argument(call, keyword, position), several, source)


def centre(call: ast.Call, found: Drawn) -> ast.expr | None:
    """Return what a draw is centred at, where that is neither a number nor a draw around zero."""
    if found.law not in {"laplace", "gaussian", "gumbel"} or found.source not in {"numpy", "random", "scipy", "given"}:
        return None
    named = next((one.value for one in call.keywords if one.arg in {"loc", "mu"}), None)
    given = named if named is not None else (call.args[0] if call.args else None)
    if (
        given is None
        or isinstance(given, ast.Constant)
        or last_name(given).lower() in {"loc", "location", "mu", "mean", "zero", "_mean"}
    ):
        return None
    return given


def _has_unit_size(call: ast.Call) -> bool:
    """True if the only size is 1."""
    return len(call.args) == 1 and not call.keywords and isinstance(call.args[0], ast.Constant) and call.args[0].value == 1


def _of_tensors(call: ast.Call, last: str, source: str) -> Drawn:
    """Return how torch, tensorflow or jax draws."""
    scale = {
        "torch": argument(call, "std", 1),
        "tensorflow": argument(call, "stddev", 2) or argument(call, "scale", 99),
        "jax": None,
    }[source]
    return Drawn(_LAWS[last], scale, several=True, source=source)


def _of_distribution(call: ast.Call, made: ast.Call, name: str) -> Drawn | None:
    """Return how `Laplace(0, scale).sample()` draws."""
    law = last_name(made.func)
    if law not in {"Laplace", "Normal"}:
        return None
    source = "tensorflow" if "tensorflow" in name or "tfp" in name else "torch"
    return Drawn(_LAWS[law], argument(made, "scale", 1), several=bool(call.args), source=source)


def _source(name: str) -> str | None:
    """Return which generator a function by its full name draws from."""
    for start, source in (
        ("numpy.random.", "numpy"),
        ("cupy.random.", "numpy"),
        ("random.SystemRandom", "system"),
        ("secrets.", "system"),
        ("random.", "random"),
        ("torch.", "torch"),
        ("tensorflow.random.", "tensorflow"),
        ("scipy.stats.", "scipy"),
        ("jax.random.", "jax"),
    ):
        if name.startswith(start):
            return source
    return None


def is_uniform(name: str, generator: str | None) -> bool:
    """True if a call draws uniformly."""
    last = name.rsplit(".", 1)[-1]
    return last in _UNIFORM and (generator is not None or _source(name) is not None)


def uniform_source(name: str, generator: str | None) -> str:
    """Return the generator of a uniform draw."""
    return generator or _source(name) or "given"


def generator_of(call: ast.Call, name: str) -> tuple[str, ast.expr | None] | None:
    """Return the kind of a generator that a call makes, and its seed; None where it makes none."""
    last = name.rsplit(".", 1)[-1]
    seed = call.args[0] if call.args else next((one.value for one in call.keywords if one.arg == "seed"), None)
    if name.startswith("numpy.random.") and last in {"default_rng", "RandomState", "Generator"}:
        if isinstance(seed, ast.Call):  # Generator(PCG64(7))
            seed = seed.args[0] if seed.args else None
        return "numpy", seed
    if name == "random.Random":
        return "random", seed
    return ("system", None) if name in {"random.SystemRandom", "secrets.SystemRandom"} else None


def is_release(name: str) -> bool:
    """True if a call gives out its first argument with noise: a measurement of OpenDP, or a mechanism of diffprivlib."""
    if name.startswith("diffprivlib.mechanisms."):
        return name.endswith(".randomise")
    made, _, method = name.rpartition(".")
    return name.startswith("opendp.") and method in {"", "invoke"} and bool({"m", "measurements"} & set(made.split(".")))


def without_shape(node: ast.expr) -> ast.expr:
    """Return an expression without the calls and subscripts that show the same numbers in another shape."""
    while True:
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _SHAPES:
            node = node.func.value
        elif isinstance(node, ast.Subscript) and _adds_axes(node):
            node = node.value
        else:
            return node


def bound_of_factor(factor: ast.expr, *, grows: bool) -> ast.expr | None:
    """Return the bound of a factor min(1, bound / norm), or of a divisor max(1, norm / bound); None for any other."""
    factor = without_shape(factor)
    if not isinstance(factor, ast.Call):
        return None
    last, options = last_name(factor.func), {one.arg: one.value for one in factor.keywords}
    limit = "min" if grows else "max"
    parts = [*factor.args, *(options[key] for key in (limit, f"a_{limit}") if key in options)]
    if last in CLIPS:
        if isinstance(factor.func, ast.Attribute) and isinstance(factor.func.value, ast.BinOp):
            parts = [factor.func.value, *parts]
        if limit not in options and f"a_{limit}" not in options:
            return None
    elif last not in ({"max", "maximum"} if grows else {"min", "minimum"}) or options:
        return None
    ratio = next((one for one in parts if isinstance(one, ast.BinOp) and isinstance(one.op, ast.Div)), None)
    if ratio is None or len(parts) != 2 or not any(isinstance(one, ast.Constant) and one.value == 1 for one in parts):
        return None
    return ratio.right if grows else ratio.left


def _adds_axes(node: ast.Subscript) -> bool:
    """True for `x[:, None]`, which shows the same numbers in another shape."""
    parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    return all(
        isinstance(one, ast.Slice) or (isinstance(one, ast.Constant) and one.value in (None, ...)) or last_name(one) == "newaxis"
        for one in parts
    )


def library_of(name: str) -> str | None:
    """Return the private library that a full name belongs to."""
    return next((one for one in LIBRARIES if name == one or name.startswith(f"{one}.")), None)
