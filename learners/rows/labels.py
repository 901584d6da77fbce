"""Labels as integers: positions among public classes, where others count as the first, or parts of a public bound.

Also the number of scores for so many classes, and the refusal of more than two.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping
from fractions import Fraction
from numbers import Real
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from dpaudit.errors import InvalidArgument
from dpaudit.exact import kind_of, positive
from learners.rows.schema import as_numbers, read_or
from mechanisms.entries import name_contents

if TYPE_CHECKING:
    from numpy.typing import NDArray

_NAME_THEM: Final = "Name every label that there may be once, such as classes=[0, 1] or classes=['no', 'yes']."

TARGET_UNIT: Final = 2**12
"""Steps of the largest label that a regressor keeps."""

WEIGHT_UNIT: Final = 2**12
"""Steps of the largest weight of a class or a record."""


def checked_classes(classes: Any) -> NDArray[Any]:
    """The public classes in order, refused unless they are distinct numbers or distinct strings."""
    given = classes.tolist() if isinstance(classes, np.ndarray) else classes
    if isinstance(given, (str, bytes)) or not isinstance(given, Iterable):
        raise InvalidArgument("DPA105", f"classes must be a sequence of numbers or strings, got {kind_of(classes)}. {_NAME_THEM}")
    listed = [value.item() if isinstance(value, np.generic) else value for value in given]
    if not listed:
        raise InvalidArgument("DPA109", f"classes must name at least one class, got none. {_NAME_THEM}")
    kinds = [kind for kind in (Real, str) if all(isinstance(value, kind) for value in listed)]
    if not kinds:
        raise InvalidArgument("DPA105", f"classes must be all numbers or all strings, got other types or a mixture. {_NAME_THEM}")
    if len(set(listed)) < len(listed) or any(value != value for value in listed):  # noqa: PLR0124 - NaN alone
        raise InvalidArgument("DPA103", f"classes must differ from each other and not be NaN, got one twice or NaN. {_NAME_THEM}")
    result = np.array(sorted(listed))
    if result.dtype == object or result.tolist() != sorted(listed):
        raise InvalidArgument("DPA103", "classes must be numbers of one dtype: integers of 64 bits, or floats.")
    return result


def class_weights(weights: Any, classes: NDArray[Any]) -> tuple[int, ...]:
    """Public weights of the classes, in their order, in steps of 1 / 4096 of the largest, each at least one step."""
    if not isinstance(weights, Mapping):
        raise InvalidArgument(
            "DPA105",
            f"class_weight must be a mapping from every class to a public weight, got {kind_of(weights)}. How often classes occur "
            'is private; class_weight="balanced" pays for it where the learner says so. Else write class_weight={0: 1, 1: 10}.',
        )
    named = classes.tolist()
    if set(weights) != set(named):
        raise InvalidArgument("DPA103", f"class_weight must name each of the {len(named)} classes and no other. Give all a weight.")
    exact = [positive(weights[name], "a weight of class_weight") for name in named]
    return tuple(max(1, round(weight / max(exact) * WEIGHT_UNIT)) for weight in exact)


def read_weights(weights: Any, bound: Fraction, records: int) -> NDArray[np.int64]:
    """Weights of records in 1 / 4096 of a bound, each by itself: cut to 0 and the bound, 0 for what is no number; None for 1 each.

    They are rounded down, and refused for type and shape only.
    """
    given = [1] * records if weights is None else weights
    read = np.array(given, dtype=object) if isinstance(given, (list, tuple)) else np.asarray(given)
    if read.shape != (records,) or read.dtype.kind not in "biufO":
        raise InvalidArgument(
            "DPA105", f"sample_weight must be {records} numbers, one for each record, got an array of shape {read.shape}."
        )
    with np.errstate(all="ignore"):
        steps = np.floor(np.nan_to_num(as_numbers(read).astype(np.float64), nan=0.0) * (WEIGHT_UNIT / float(bound)))
        return np.clip(steps, 0, WEIGHT_UNIT).astype(np.int64)


def read_classes(labels: Any) -> NDArray[Any]:
    """The classes that occur in the labels: a private value, which no guarantee covers."""
    present = set(map(_hashed, checked_labels(labels).tolist())) - {None}
    if any(isinstance(value, float) and not value.is_integer() for value in present):
        raise InvalidArgument("DPA602", "Unknown label type: continuous. Name the classes, classes=[...], or use a regressor.")
    try:
        return checked_classes(sorted(present))
    except TypeError as error:
        raise InvalidArgument("DPA602", "Unknown label type: mixed. Name the classes: classes=[...].") from error


def positions(labels: Any, classes: NDArray[Any]) -> NDArray[np.int64]:
    """Position of each label among the classes, compared as Python compares them, where 1, 1.0 and True are equal; else 0."""
    read = checked_labels(labels)
    place = {value: position for position, value in enumerate(classes.tolist())}
    if read.dtype == object:
        return np.fromiter((place.get(_hashed(label), 0) for label in read), dtype=np.int64, count=len(read))
    return np.fromiter((place.get(label, 0) for label in read.tolist()), dtype=np.int64, count=len(read))


def targets(labels: NDArray[Any], bound: Fraction) -> NDArray[np.int64]:
    """Labels as whole parts of 1 / 2**12 of a bound, each by itself: cut to the bound, 0 for what is no number."""
    with np.errstate(all="ignore"):
        steps = np.trunc(np.nan_to_num(as_numbers(labels).astype(np.float64), nan=0.0) * (TARGET_UNIT / float(bound)))
        return np.clip(steps, -TARGET_UNIT, TARGET_UNIT).astype(np.int64)


def checked_labels(labels: Any) -> NDArray[Any]:
    """Labels as an array, refused for its shape only."""
    if labels is None:
        raise InvalidArgument(
            "DPA105", "fit requires y to be passed, but the target y is None. Give one label for each record: fit(X, y)."
        )
    # A list has no dtype of its own: as an array of numbers or strings, one label would change how all others are read.
    read = np.array(labels, dtype=object) if isinstance(labels, (list, tuple)) else np.asarray(labels)
    if read.ndim == 2 and read.shape[1] == 1:
        import warnings

        from sklearn.exceptions import DataConversionWarning

        message = "A column-vector y was passed when a 1d array was expected. Please change the shape of y to (n_samples,)."
        warnings.warn(message, DataConversionWarning, stacklevel=2)
        return read[:, 0]
    if read.ndim != 1:
        raise InvalidArgument("DPA105", f"y should be a 1d array, got {read.ndim} dimensions. Give one label for each record.")
    return read


def require_comparable(labels: NDArray[Any], classes: NDArray[Any]) -> None:
    """DPA105 for an array of labels whose type none of the public classes has, so that all would count as the first class."""
    text = classes.dtype.kind == "U"
    if labels.dtype.kind not in ("OUT" if text else "Obiufc"):
        named, remedy = ("text", "y.astype(str)") if text else ("numbers", "y.astype(int)")
        raise InvalidArgument(
            "DPA105",
            f"y is an array of {name_contents(labels)}, but classes are {named}, so no label would be found among them. "
            f"Convert the labels: {remedy}, or name the classes as y spells them (cross_val_predict numbers them).",
        )


def require_number_labels(labels: NDArray[Any]) -> None:
    """DPA105 for an array of labels whose type is not that of numbers, so that all would count as 0."""
    if labels.dtype.kind not in "biufO":
        raise InvalidArgument(
            "DPA105", f"y must be numbers for a regressor, got an array of {name_contents(labels)}. Convert it: y.astype(float)."
        )


def outputs_of(classes: int) -> int:
    """Number of scores for so many classes: one for two classes, else one for each."""
    return 1 if classes == 2 else classes


def require_two(classes: int) -> None:
    """DPA103 for more than two classes, where the margin is that of one class against another."""
    if classes > 2:
        raise InvalidArgument(
            "DPA103",
            f"Only binary classification is supported. The type of the target is multiclass: {classes} classes. "
            "Use PrivateClassifier, or name two.",
        )


def _hashed(label: Any) -> Hashable:
    """A label that can be looked up; None for one that cannot, and for numbers that are not finite."""
    return read_or(None, _found, label)


def _found(label: Any) -> Hashable:
    """The label itself, once it is known that a look-up does not raise."""
    hash(label)
    return None if isinstance(label, Real) and not math.isfinite(label) else label
