"""Losses as plain data and back, so that a verification can price every charge again."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from fractions import Fraction
from functools import lru_cache
from importlib import import_module
from typing import Any, Final

from dpaudit.accounting import PrivacyLoss
from dpaudit.accounting.laws.allocation import Allocated
from dpaudit.accounting.laws.between import Between
from dpaudit.accounting.laws.random_order import Ordered
from dpaudit.accounting.laws.sampled import Sampled
from dpaudit.accounting.laws.without_replacement import Swapped
from dpaudit.accounting.model.composition import Composition
from dpaudit.accounting.model.law import Law
from dpaudit.claims import Curve, Guarantee
from dpaudit.errors import InvalidArgument, Unsupported
from dpaudit.exact import integer, rational
from dpaudit.ledger.plain import adjacency_from_dict, adjacency_to_dict, guarantee_from_dict, guarantee_to_dict

_HOMES: Final = {
    "Alike": "shuffling",
    "Allocated": "allocation",
    "BestOf": "best_of",
    "BestOfPoisson": "best_of",
    "Between": "between",
    "BoundedRange": "response",
    "Concentrated": "concentrated",
    "Cut": "batches",
    "CutBatch": "batches",
    "CyclicSample": "cyclic",
    "DiscreteGaussian": "discrete_gaussian",
    "DiscreteLaplace": "discrete_laplace",
    "ExplicitPair": "pairs",
    "Fused": "allocation",
    "Gaussian": "gaussian",
    "Hidden": "random_order",
    "Joined": "together",
    "Laplace": "laplace",
    "Mixed": "mixed",
    "MixedLaplace": "mixed_laplace",
    "MixedNormals": "mixed_normals",
    "MixedResponses": "mixed_responses",
    "NormalAndLaplace": "normal_laplace",
    "Ordered": "random_order",
    "RenyiBounded": "concentrated",
    "Response": "response",
    "Round": "charged",
    "RoundedGaussian": "discrete_gaussian",
    "Sampled": "sampled",
    "Seen": "seen",
    "Shuffled": "shuffling",
    "SplitGroup": "groups",
    "SquaredGaussian": "gaussian",
    "Staircase": "discrete_laplace",
    "Sums": "allocation",
    "Swapped": "without_replacement",
    "Together": "together",
    "TruncatedNoise": "bounded_noise",
    "UpdateCharged": "charged",
    "Waits": "charged",
}
"""Laws and their parts, and the modules of `dpaudit.accounting.laws` that they are in; no other class is ever made from a file."""

MOST_TIMES: Final = 10**1000
"""That one charge may count a loss; Python reads and prints no numbers of more than 4300 digits."""

_DEEPEST: Final = 40
"""Levels of nesting that are read; a crafted file must not exhaust the stack."""


def spending_to_dict(spending: PrivacyLoss | Guarantee) -> dict[str, Any]:
    """Write a loss or a guarantee as JSON values, exact numbers as text; DPA202 for a law outside the table."""
    if isinstance(spending, Curve):
        return {"curve": spending_to_dict(spending.loss)}  # type: ignore[arg-type]  # the one class of losses there is
    if not isinstance(spending, PrivacyLoss):
        return {"guarantee": guarantee_to_dict(spending)}
    parts = [[_plain(law), count] for law, count in spending.parts]
    return {"adjacency": adjacency_to_dict(spending.adjacency), "parts": parts}


def spending_from_dict(values: Mapping[str, Any], depth: int = 0) -> PrivacyLoss | Guarantee:
    """Read a loss or guarantee back; a lookup, type or value error for values of another form."""
    if depth > 1:
        raise InvalidArgument("DPA105", "a curve is a curve of a loss.")
    if set(values) == {"curve"}:
        loss = spending_from_dict(values["curve"], depth + 1)
        return Curve(loss)  # type: ignore[arg-type]  # Curve itself refuses anything but a loss
    if set(values) == {"guarantee"}:
        return guarantee_from_dict(values["guarantee"])
    if set(values) != {"adjacency", "parts"}:
        raise InvalidArgument("DPA105", "a charge holds a loss, a guarantee or a curve.")
    parts = tuple((_law(law), integer(count, "count", lower=1)) for law, count in values["parts"])
    return PrivacyLoss(Composition(parts, adjacency_from_dict(values["adjacency"])))


def is_compared(loss: PrivacyLoss | Guarantee) -> bool:
    """True if releases are compared with the loss: not where it counts on sampling or an order, which no release log shows."""
    chance = (Allocated, Between, Ordered, Sampled, Swapped)
    return not (isinstance(loss, PrivacyLoss) and any(isinstance(law, chance) for law, _ in loss.parts))


def describe_spending(loss: PrivacyLoss | Guarantee, times: int) -> str:
    """Return the description of a charge."""
    text = loss.describe() if isinstance(loss, PrivacyLoss) else str(loss)
    return text if times == 1 else f"{times} * {text}"


@lru_cache(maxsize=256)
def write_loss(loss: PrivacyLoss | Guarantee) -> dict[str, Any]:
    """Write a loss as entries keep it, and read it back at once, so that no later verification fails to."""
    plain = spending_to_dict(loss)
    if spending_from_dict(json.loads(json.dumps(plain))) != loss:
        raise Unsupported("DPA202", "a ledger cannot keep this loss exactly, so that it could not be checked later.")
    return plain


def _plain(value: Any) -> Any:
    """Write a law, or a part of one, as JSON values: fractions as {"exact": text}, objects with the name of their class."""
    if is_dataclass(value):
        name = type(value).__name__
        if name not in _HOMES:
            raise Unsupported("DPA202", f"a ledger cannot keep a law of the kind {name}, so that it could not be checked later.")
        return {"is": name, **{field.name: _plain(getattr(value, field.name)) for field in fields(value)}}
    if isinstance(value, Fraction):
        return {"exact": str(value)}
    if isinstance(value, tuple):
        return [_plain(one) for one in value]
    if value is None or isinstance(value, (bool, int, str)):
        return value
    raise Unsupported("DPA202", f"a ledger cannot keep a law that holds a {type(value).__name__}.")


def _law(values: Any) -> Law:
    """Read a law back."""
    found = _value(values, 0)
    if not isinstance(found, Law):
        raise InvalidArgument("DPA105", "a part of a loss is a law.")
    return found


def _value(values: Any, depth: int) -> Any:
    """Read a law or a part of one back."""
    if depth > _DEEPEST:
        raise InvalidArgument("DPA105", f"a law is nested at most {_DEEPEST} deep.")
    if isinstance(values, list):
        return tuple(_value(one, depth + 1) for one in values)
    if not isinstance(values, dict):
        return values
    if set(values) == {"exact"}:
        return rational(values["exact"], "a number of a law")
    parts = {name: _value(one, depth + 1) for name, one in values.items() if name != "is"}
    return _class(str(values["is"]))(**parts)


@lru_cache(maxsize=64)
def _class(name: str) -> Any:
    """Import a class of the table."""
    return getattr(import_module(f"dpaudit.accounting.laws.{_HOMES[name]}"), name)
