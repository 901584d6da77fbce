"""The neighbouring relation of a fit: refused where no proof covers it; and the public number in place of a private count."""

from __future__ import annotations

from collections.abc import Sequence

from dpaudit.claims import Adjacency
from dpaudit.errors import InvalidArgument, Unsupported
from dpaudit.exact import integer


def covered_relation(adjacency: Adjacency | str, covered: Sequence[str], learner: str) -> Adjacency:
    """Return the neighbouring relation of a learner, refused where its proof does not cover it."""
    relation = Adjacency.of(adjacency)
    if relation not in map(Adjacency, covered):
        remedy = f'Write adjacency="{covered[0]}"' + (", or another of these." if len(covered) > 1 else ".")
        raise Unsupported("DPA604", f"{learner} is proved under {', '.join(covered)}, got {relation}. {remedy}")
    return relation


def is_uncounted(relation: Adjacency) -> bool:
    """True if the number of records is private, so that nothing may be refused for it, and no message may show it."""
    return relation.kind == "add_remove"


def require_one_label_each(records: int, labels: int, relation: Adjacency) -> None:
    """DPA105 for another number of labels than of records; the numbers are shown where they are public."""
    if records != labels:
        counts = "" if is_uncounted(relation) else f": {records} records and {labels} labels"
        raise InvalidArgument("DPA105", f"X and y have inconsistent numbers of samples{counts}. Give y one label for each record.")


def public_count(records: int, nominal: int | None, relation: Adjacency) -> int:
    """The number of records that a plan may read: their count, or under add_remove the nominal one."""
    if is_uncounted(relation):
        if nominal is None:
            raise InvalidArgument(
                "DPA603",
                "n_nominal is missing: under add_remove the number of records is private, and a fit is planned from a public one. "
                "Give about how many records you expect, such as n_nominal=10_000; do not count them.",
            )
        return integer(nominal, "n_nominal", lower=1)
    if nominal is not None:
        raise InvalidArgument(
            "DPA603",
            f"n_nominal belongs to add_remove, got it under {relation}, where the number of records is public and is counted. "
            'Leave n_nominal out, or write adjacency="add_remove".',
        )
    return records
