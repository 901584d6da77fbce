"""Laws that a query with a declared sensitivity keeps on every pair of neighbours, checked in exact arithmetic."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

import numpy as np

from dpaudit.auditor.checks.counterexamples import Broken, PropertyResult, find_counterexample
from dpaudit.auditor.checks.refusals import find_accepted_pairs
from dpaudit.auditor.data.distance import distance_exceeds, numbers_in, tolerance
from dpaudit.auditor.data.records import copy_of, fingerprint, is_dataset
from dpaudit.auditor.pairs.candidates import Neighbours
from dpaudit.auditor.reading.outputs import Failure
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


def check_sensitivity(target: Target, pairs: Sequence[Neighbours], *, examples: int = 0) -> PropertyResult | None:
    """Check the declared sensitivity on every pair, in exact arithmetic."""
    declared = target.sensitivity
    if declared is None:
        return None
    taken = _accepted(target, declared, pairs)
    found = find_counterexample(target, taken, SENSITIVITY, lambda first, second: _moves_too_far(declared, first, second), examples)
    if found.pair is not None:
        return found
    if found.property.status == "not run":
        kind = _value(declared.query, pairs[0].first).kind
        return PropertyResult(Property(SENSITIVITY, "not run", 0, f"the query {kind} on both datasets of every pair"))
    detail = f"at most {shown(rational(declared.bound))} in {declared.metric} on every pair tried"
    return PropertyResult(Property(SENSITIVITY, "holds", found.property.cases, detail))


def _accepted(target: Target, declared: Sensitivity, pairs: Sequence[Neighbours]) -> list[Neighbours]:
    """Return the pairs whose datasets are of a size on which the query has a value at all."""
    places, _ = find_accepted_pairs(
        pairs, target.claim.relation, lambda data: not isinstance(_value(declared.query, data), Failure)
    )
    return [pairs[place] for place in places]


def check_laws(target: Target, pairs: Sequence[Neighbours], *, examples: int = 0) -> tuple[PropertyResult, ...]:
    """Check the other laws of a declared query, each on a few pairs."""
    declared = target.sensitivity
    if declared is None:
        return ()
    few = [
        pair for pair in _some(_accepted(target, declared, pairs)) if not is_dataset(pair.first) or len(pair.first) <= _MOST_RECORDS
    ]
    if not few:
        reason = f"every pair has more than {_MOST_RECORDS} records"
        return tuple(PropertyResult(Property(name, "not run", 0, reason)) for name, _ in _laws(target, declared))
    return tuple(find_counterexample(target, few, name, law, examples) for name, law in _laws(target, declared))


def _some(pairs: Sequence[Neighbours]) -> list[Neighbours]:
    """Return the first pairs, and as many of those that were made of parts of the data."""
    edited, parts = ([pair for pair in pairs if pair.is_part is part] for part in (False, True))
    return [*edited[:_MOST_PAIRS], *parts[:_MOST_PAIRS]]


def _laws(target: Target, declared: Sensitivity) -> Iterator[tuple[str, Broken]]:
    """Yield the laws that can be stated under the target's adjacency."""
    yield FORM, lambda first, second: _other_form(declared, first, second)
    yield UNCHANGED, _on_either(_changes, declared)
    adjacency = target.claim.relation
    if adjacency.kind in {"norm_ball", "edge", "node"}:
        return
    yield ORDER, _on_either(_depends_on_order, declared)
    yield CONTAINER, _on_either(_depends_on_container, declared)
    if adjacency.kind == "add_remove" and adjacency.unit == "record":
        yield GROUP, _on_either(_group_too_far, declared)
        yield EMPTY, lambda first, _: _fails_without_records(declared, first)


def _on_either(law: Callable[[Sensitivity, Any], str | None], declared: Sensitivity) -> Broken:
    """Make a law of pairs from one of single datasets: broken where either dataset breaks it, judged where either can be."""

    def broken(first: Any, second: Any) -> str | None:
        found = [law(declared, side) for side in (first, second)]
        return next((text for text in found if text), None if found == [None, None] else "")

    return broken


def _value(query: Any, data: Any) -> Any:
    """Return the query's value if it is exact numbers, else a `Failure` that says why there is none."""
    try:
        value = query(copy_of(data))
        numbers_in(value)
    except DpauditError:
        return Failure("gives no finite numbers")
    except Exception as error:  # noqa: BLE001 - whatever the query raises is reported by type
        return Failure(f"raises {class_name(type(error))}")
    return value


def _moves_too_far(declared: Sensitivity, first: Any, second: Any) -> str | None:
    """Say that the query moves further on a pair than declared, or has a value on one side only."""
    values = [_value(declared.query, data) for data in (first, second)]
    failed = [value.kind for value in values if isinstance(value, Failure)]
    if len(failed) == 1:
        return f"the query {failed[0]} on one dataset only"
    if failed:
        return None
    if not distance_exceeds(values[0], values[1], declared.metric, rational(declared.bound)):
        return ""
    return f"the query moves by more than {shown(rational(declared.bound))} in {declared.metric}"


def _group_too_far(declared: Sensitivity, data: Any) -> str | None:
    """Say that leaving out several records moves the query by more than as many bounds."""
    if not is_dataset(data) or len(data) < 2:
        return None
    whole, compared = _value(declared.query, data), False
    for left in dict.fromkeys((0, len(data) // 2)):
        part = _value(declared.query, data[:left])
        removed = len(data) - left
        both = not isinstance(whole, Failure) and not isinstance(part, Failure)
        compared = compared or both
        if both and distance_exceeds(whole, part, declared.metric, removed * rational(declared.bound)):
            return f"leaving out {removed} records moves the query by more than {removed} times its bound"
    return "" if compared else None


def _other_form(declared: Sensitivity, first: Any, second: Any) -> str | None:
    """Say that the values on two neighbours have another type, shape or set of keys."""
    values = [_value(declared.query, data) for data in (first, second)]
    if any(isinstance(value, Failure) for value in values):
        return None
    return "" if _form(values[0]) == _form(values[1]) else "the query's value has another type, shape or set of keys on one dataset"


def _form(value: Any) -> Any:
    """Return what must be the same on neighbours: keys, lengths, shapes and types of arrays; numbers are all of one form."""
    if isinstance(value, np.ndarray):
        return value.dtype.str, value.shape
    if isinstance(value, Mapping):
        return {repr(key): _form(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [_form(entry) for entry in value]
    return "number"


def _depends_on_order(declared: Sensitivity, data: Any) -> str | None:
    """Say that the reversed or rotated dataset has another value, beyond what rounding explains."""
    if not is_dataset(data) or len(data) < 2:
        return None
    value = _value(declared.query, data)
    if isinstance(value, Failure):
        return None
    middle = len(data) // 2
    turned = np.concatenate([data[middle:], data[:middle]]) if isinstance(data, np.ndarray) else data[middle:] + data[:middle]
    return next(
        ("the query depends on the order of the records" for other in (data[::-1], turned) if _differs(declared, value, other)), ""
    )


def _depends_on_container(declared: Sensitivity, data: Any) -> str | None:
    """Say that the same numbers in another container have another value; what the query refuses is left out."""
    if not isinstance(data, (list, tuple)) or not data or not all(type(record) in {int, float} for record in data):
        return None
    value = _value(declared.query, data)
    if isinstance(value, Failure):
        return None
    for other in _containers(data):
        if _differs(declared, value, other):
            kind = f"an array of {other.dtype}" if isinstance(other, np.ndarray) else f"a {class_name(type(other))}"
            return f"the query's value depends on the type of the dataset: another one for {kind}"
    return ""


def _containers(data: Sequence[Any]) -> Iterator[Any]:
    """Yield the same numbers in other containers, as far as these can hold them."""
    yield tuple(data) if isinstance(data, list) else list(data)
    whole = all(isinstance(record, int) for record in data)
    for dtype in (np.int64, np.int32) if whole else (np.float64,):
        try:
            yield np.array(data, dtype=dtype)
        except OverflowError:
            return


def _differs(declared: Sensitivity, value: Any, data: Any) -> bool:
    """True if the query has another value on a dataset of the same records."""
    other = _value(declared.query, data)
    if isinstance(other, Failure):
        return False
    return distance_exceeds(value, other, declared.metric, tolerance(value, other, rational(declared.bound)))


def _changes(declared: Sensitivity, data: Any) -> str | None:
    """Say that evaluating the query changes its dataset."""
    copy = copy_of(data)
    before = fingerprint(copy)
    try:
        declared.query(copy)
    except Exception:  # noqa: BLE001 - failures are reported by the sensitivity
        return None
    after = fingerprint(copy)
    if before is None and after is None:
        return None
    return "" if after == before else "the query changes the dataset it is given"


def _fails_without_records(declared: Sensitivity, data: Any) -> str | None:
    """Say that the query has no finite value on the empty dataset."""
    if not is_dataset(data):
        return None
    value = _value(declared.query, data[:0])
    return f"the query {value.kind} without records" if isinstance(value, Failure) else ""
