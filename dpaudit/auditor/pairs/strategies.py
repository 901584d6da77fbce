"""Hypothesis strategies of neighbouring pairs, for every adjacency."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from dpaudit.auditor.data.records import same
from dpaudit.auditor.pairs.boundary import Kind, boundary_values, plain_values
from dpaudit.auditor.pairs.kinds import operations_of
from dpaudit.auditor.pairs.random_pairs import Recipe
from dpaudit.auditor.pairs.relations import Pair
from dpaudit.claims import Adjacency
from dpaudit.errors import InvalidArgument
from dpaudit.exact import integer, word

if TYPE_CHECKING:
    from hypothesis.strategies import DrawFn, SearchStrategy

MODES: Final = ("boundary", "plain")


def neighbours(
    rows: SearchStrategy[Any] | Kind,
    adjacency: Adjacency | str = "add_remove",
    *,
    max_size: int = 8,
    mode: str = "boundary",
    reorder: bool = False,
) -> SearchStrategy[Pair]:
    """A Hypothesis strategy of neighbouring datasets, for tests and for `Target(neighbours=...)`.

    Args:
      rows: a strategy of records (of entries for `norm_ball`, of names of nodes for `edge` and `node`), drawn as they are; or
        bool, int, float, str or the name of a numpy number type, for values of `boundary_values`. Under a unit "user:KEY" rows
        are mappings, which get the user's key; under "label" their label is the last entry or the field "label".
      adjacency: an Adjacency or its shorthand string.
      max_size: largest number of records, entries or nodes of either dataset, at least 1.
      mode: "boundary" also repeats records to lengths around powers of two, and sorts and reverses them; "plain" does not.
      reorder: whether the second dataset may come in another order, for claims on multisets.
    Returns:
      A strategy of pairs (first, second) of lists, or of mappings for graphs, whose sides differ. They shrink together.
    Raises:
      InvalidArgument: an unknown adjacency, mode or kind of rows (DPA103), a norm ball by its name alone (DPA106), a size below 1
        (DPA103), or rows of the wrong type (DPA105).
    Source: docs/auditing.md, "Which neighbours".
    Example:
      >>> from hypothesis import find
      >>> find(neighbours("int8"), lambda pair: len(pair[0]) > len(pair[1]))
      ([0], [])
    """
    from hypothesis import strategies as st

    relation = Adjacency.of(adjacency)
    word(mode, "mode", MODES)
    most = integer(max_size, "max_size", lower=1)
    recipe = Recipe(_records(rows, mode), relation, most, is_arranged=mode == "boundary")
    kind = operations_of(relation)
    pairs = st.composite(kind.draw)(recipe)
    if reorder and not kind.is_ordered:
        pairs = st.composite(_reorder)(pairs)
    return pairs.filter(lambda pair: not same(*pair))


def _records(rows: SearchStrategy[Any] | Kind, mode: str) -> SearchStrategy[Any]:
    """Choose the strategy of single records."""
    from hypothesis import strategies as st

    if isinstance(rows, st.SearchStrategy):
        return rows
    if not isinstance(rows, (type, str)):
        raise InvalidArgument("DPA105", f"rows must be a strategy, a type or the name of one, got a {type(rows).__name__}.")
    return boundary_values(rows) if mode == "boundary" else plain_values(rows)


def _reorder(draw: DrawFn, pairs: SearchStrategy[Pair]) -> Pair:
    """Draw a pair whose second dataset may be a permutation of itself, or of the first with no other change."""
    from hypothesis import strategies as st

    first, second = draw(pairs)
    how = draw(st.sampled_from(("as drawn", "second shuffled", "first shuffled")))
    return first, second if how == "as drawn" else draw(st.permutations(second if how == "second shuffled" else first))
