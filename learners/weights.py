"""Weights that multiply slopes: those of records, private and cut to a public bound, and those of classes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Self

from dpaudit.errors import InvalidArgument
from dpaudit.exact import positive
from learners.estimator import PrivateModel
from learners.rows.labels import checked_classes, class_weights

if TYPE_CHECKING:
    from dpaudit.exact import Exact
    from learners.estimator import Public


BALANCED: Final = "balanced"


@dataclass(kw_only=True, eq=False, repr=False)
class WeightedModel(PrivateModel):
    """An estimator whose fit takes a weight for each record, which is private, within a public bound."""

    sample_weight_bound: Exact = 1

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:  # noqa: N803 - scikit-learn's name
        """Learn from records, whose weights are cut to 0 and `sample_weight_bound`; without weights, all have the weight 1.

        Nothing but parameters, types and shapes is refused; a weight that is no number counts as 0.
        """
        bound = positive(self.sample_weight_bound, "sample_weight_bound")
        return self._fit(X, y) if sample_weight is None else self._fit(X, y, sample_weight, bound)

    def _weight_facts(self, public: Public) -> dict[str, Any]:
        """What the record says of weights: where they were cut."""
        return {"sample_weight_bound": str(positive(self.sample_weight_bound, "sample_weight_bound"))} if public.weighted else {}


def public_weights(given: Any, classes: Any, count: int) -> tuple[int, ...] | None:
    """The weights of the classes in their order; they name every class. None if there are none, or the fit is to find them."""
    if given is None or (isinstance(given, str) and given == BALANCED):
        return None
    named = classes if classes is not None or not isinstance(given, Mapping) else list(given)
    weights = class_weights(given, checked_classes(range(count) if named is None else named))
    if len(weights) != count:
        raise InvalidArgument("DPA103", f"class_weight must name each of the {count} classes and no other. Give all a weight.")
    return weights
