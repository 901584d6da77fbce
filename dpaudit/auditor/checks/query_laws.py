"""Laws that a query with a declared sensitivity keeps on every pair of neighbours, judged in exact arithmetic."""

from __future__ import annotations

import numbers
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any, Final

import numpy as np

from dpaudit.auditor.checks.search import Broken, Finding, counterexample
from dpaudit.auditor.distance import distance_exceeds, numbers_in, tolerance
from dpaudit.auditor.outputs import Failure
from dpaudit.auditor.pairs import Neighbours
from dpaudit.auditor.records import copied, fingerprint, is_dataset
from dpaudit.errors import DpauditError, class_name
from dpaudit.exact import rational, shown
from dpaudit.results import Property
from dpaudit.targets import Sensitivity, Target

SENSITIVITY: Final = "declared sensitivity"
FORM: Final = "query has one form on neighbours"
GROUP: Final = "query moves in proportion to the records"
ORDER: Final = "query does not depend on the order of records"
CONTAINER: Final = "query does not depend on the type of the dataset"
UNCHANGED: Final = "query leaves its dataset unchanged"
EMPTY: Final = "query has a value without records"

_MOST_RECORDS: Final = 10_000
_MOST_PAIRS: Final = 4


def check_sensitivity(target: Target, pairs: Sequence[Neighbours], *, examples: int = 0) -> Finding | None:
    """The declared sensitivity on every pair, in exact arithmetic.

    Args:
      target: with or without a declared sensitivity.
      pairs: candidate pairs.
      examples: how many more pairs to draw where the target's neighbours are a strategy.
    Returns:
      The property, with the smallest pair found where it is violated; "not applicable" where the query fails on every candidate;
      None where no sensitivity is declared.
    Source: docs/auditing.md, "Declared sensitivity"; docs/property_tests.md.
    """
    declared = target.sensitivity
    if declared is None:
        return None
    failures = [(_value(declared.query, pair.first), _value(declared.query, pair.second)) for pair in pairs[:1]]
    found = counterexample(target, pairs, SENSITIVITY, lambda first, second: _moves_too_far(declared, first, second), examples)
    if found.pair is not None:
        return found
    if all(isinstance(value, Failure) for values in failures for value in values):
        kind = failures[0][0].kind
        return Finding(
            Property(SENSITIVITY, "not applicable", found.property.cases, f"the query {kind} on both datasets of pair 0")
        )
    detail = f"at most {shown(rational(declared.bound))} in {declared.metric} on every pair tried"
    return Finding(Property(SENSITIVITY, "holds", found.property.cases, detail))


def check_laws(target: Target, pairs: Sequence[Neighbours], *, examples: int = 0) -> tuple[Finding, ...]:
    """The other laws of a declared query, each on a few pairs.

    Args:
      target: with or without a declared sensitivity.
      pairs: candidate pairs; large datasets are left out, since every law evaluates the query once more.
      examples: how many more pairs to draw where the target's neighbours are a strategy.
    Returns:
      One finding for each law that can be stated for the adjacency; none where no sensitivity is declared.
    Source: docs/property_tests.md, "Laws of a query".
    """
    declared = target.sensitivity
    few = [pair for pair in pairs[:_MOST_PAIRS] if not is_dataset(pair.first) or len(pair.first) <= _MOST_RECORDS]
    if declared is None or not few:
        return ()
    return tuple(counterexample(target, few, name, law, examples) for name, law in _laws(target, declared))


def _laws(target: Target, declared: Sensitivity) -> Iterator[tuple[str, Broken]]:
    """The laws that can be stated under the target's adjacency."""
    yield FORM, lambda first, second: _other_form(declared, first, second)
    yield UNCHANGED, lambda first, second: _changes(declared, first) or _changes(declared, second)
    adjacency = target.claim.relation
    if adjacency.kind in {"norm_ball", "edge", "node"}:
        return
    yield ORDER, lambda first, second: _depends_on_order(declared, first) or _depends_on_order(declared, second)
    yield CONTAINER, lambda first, second: _depends_on_container(declared, first) or _depends_on_container(declared, second)
    if adjacency.kind == "add_remove" and adjacency.unit == "record":
        yield GROUP, lambda first, second: _group_too_far(declared, first) or _group_too_far(declared, second)
        yield EMPTY, lambda first, _: _fails_without_records(declared, first)


def _value(query: Any, data: Any) -> Any:
    """The query's value as exact numbers, or a `Failure` that says why there is none."""
    try:
        value = query(copied(data))
        numbers_in(value)
    except DpauditError:
        return Failure("gives no finite numbers")
    except Exception as error:  # noqa: BLE001 - whatever the query raises is reported by type
        return Failure(f"raises {class_name(type(error))}")
    return value


def _apart(declared: Sensitivity, first: Any, second: Any, bound: Fraction) -> bool:
    """Whether two values of the query are further apart than a bound."""
    return distance_exceeds(first, second, declared.metric, bound)


def _moves_too_far(declared: Sensitivity, first: Any, second: Any) -> str:
    """Whether the query moves further on a pair than declared, or has a value on one side only."""
    values = [_value(declared.query, data) for data in (first, second)]
    failed = [value.kind for value in values if isinstance(value, Failure)]
    if len(failed) == 1:
        return f"the query {failed[0]} on one dataset only"
    if failed or not _apart(declared, values[0], values[1], rational(declared.bound)):
        return ""
    return f"the query moves by more than {shown(rational(declared.bound))} in {declared.metric}"


def _group_too_far(declared: Sensitivity, data: Any) -> str:
    """Whether leaving out several records moves the query by more than as many bounds."""
    if not is_dataset(data) or len(data) < 2:
        return ""
    whole = _value(declared.query, data)
    for left in dict.fromkeys((0, len(data) // 2)):
        part = _value(declared.query, data[:left])
        removed = len(data) - left
        both = not isinstance(whole, Failure) and not isinstance(part, Failure)
        if both and _apart(declared, whole, part, removed * rational(declared.bound)):
            return f"leaving out {removed} records moves the query by more than {removed} times its bound"
    return ""


def _other_form(declared: Sensitivity, first: Any, second: Any) -> str:
    """Whether the values on two neighbours have another type, shape or set of keys."""
    values = [_value(declared.query, data) for data in (first, second)]
    if any(isinstance(value, Failure) for value in values):
        return ""
    return "" if _form(values[0]) == _form(values[1]) else "the query's value has another type, shape or set of keys on one dataset"


def _form(value: Any) -> Any:
    """What must be the same on neighbours: keys, lengths, shapes and types of arrays; numbers are all of one form."""
    if isinstance(value, np.ndarray):
        return value.dtype.str, value.shape
    if isinstance(value, Mapping):
        return {repr(key): _form(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [_form(entry) for entry in value]
    return "number"


def _depends_on_order(declared: Sensitivity, data: Any) -> str:
    """Whether the reversed or rotated dataset has another value, beyond what rounding explains."""
    if not is_dataset(data) or len(data) < 2:
        return ""
    value = _value(declared.query, data)
    if isinstance(value, Failure):
        return ""
    middle = len(data) // 2
    turned = np.concatenate([data[middle:], data[:middle]]) if isinstance(data, np.ndarray) else data[middle:] + data[:middle]
    return next(
        ("the query depends on the order of the records" for other in (data[::-1], turned) if _differs(declared, value, other)), ""
    )


def _depends_on_container(declared: Sensitivity, data: Any) -> str:
    """Whether the same numbers in another container or number type have another value; what the query refuses is left out."""
    if not isinstance(data, (list, tuple)) or not data or not all(_is_plain(record) for record in data):
        return ""
    value = _value(declared.query, data)
    if isinstance(value, Failure):
        return ""
    for other in _containers(data):
        if _differs(declared, value, other):
            kind = f"an array of {other.dtype}" if isinstance(other, np.ndarray) else f"a {class_name(type(other))}"
            return f"the query's value depends on the type of the dataset: another one for {kind}"
    return ""


def _containers(data: Sequence[Any]) -> Iterator[Any]:
    """The same numbers in other containers, as far as these can hold them."""
    yield tuple(data) if isinstance(data, list) else list(data)
    whole = all(isinstance(record, int) for record in data)
    for dtype in (np.int64, np.int32) if whole else (np.float64,):
        try:
            yield np.array(data, dtype=dtype)
        except OverflowError:
            return


def _is_plain(record: Any) -> bool:
    """Whether a record is an int or a float, and no truth value."""
    return isinstance(record, numbers.Real) and type(record) in {int, float}


def _differs(declared: Sensitivity, value: Any, data: Any) -> bool:
    """Whether the query has another value on a dataset that stands for the same records."""
    other = _value(declared.query, data)
    if isinstance(other, Failure):
        return False
    return _apart(declared, value, other, tolerance(value, other, rational(declared.bound)))


def _changes(declared: Sensitivity, data: Any) -> str:
    """Whether evaluating the query changes its dataset."""
    copy = copied(data)
    before = fingerprint(copy)
    try:
        declared.query(copy)
    except Exception:  # noqa: BLE001 - failures are reported by the sensitivity
        return ""
    return "" if fingerprint(copy) == before else "the query changes the dataset it is given"


def _fails_without_records(declared: Sensitivity, data: Any) -> str:
    """Whether the query has no finite value on the empty dataset."""
    if not is_dataset(data):
        return ""
    value = _value(declared.query, data[:0])
    return f"the query {value.kind} without records" if isinstance(value, Failure) else ""
