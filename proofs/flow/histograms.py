"""Histograms: the counts get the noise of the mechanism for arrays, at the distance of neighbours, and cost what is claimed."""

from __future__ import annotations

from functools import partial
from types import SimpleNamespace
from typing import Any

from mechanisms import roots
from mechanisms.histogram import HistogramMechanism
from proofs.flow.following import Subject, follow
from proofs.flow.reading import NAMES
from proofs.flow.releasing import require, require_same
from proofs.flow.terms import positive, unknown, walk_through

_VALUES, _PEOPLE, _SOURCE, _COUNT = unknown("values"), unknown("people"), unknown("source"), unknown("count")


def histogram() -> None:
    """Prove that counts are released by the mechanism of the noise that is asked for, whose distance and cost are the claim's."""
    noise, counted = unknown("mechanism"), unknown("counts")
    mechanism: Any = Subject(HistogramMechanism, {}, _mechanism=noise, counts=counted)
    counts = counted(_VALUES, _PEOPLE)
    require_same(mechanism.release(_VALUES, _SOURCE, people=_PEOPLE), noise.release(counts, _SOURCE), "a release")
    require_same(
        mechanism.releases(_VALUES, _COUNT, _SOURCE, people=_PEOPLE), noise.releases(counts, _COUNT, _SOURCE), "many releases"
    )
    moves, spread, relation = positive("moves"), positive("spread"), unknown("adjacency")
    for gaussian in (False, True):
        names = NAMES | {
            "GaussianMechanism": lambda **given: ("gaussian", given),
            "LaplaceMechanism": lambda **given: ("laplace", given),
            "root_above": partial(unknown, "root"),
            "Fraction": lambda number: number,
            "Curve": lambda loss: ("curve", loss),
        }
        held: Any = Subject(HistogramMechanism, names, gaussian=gaussian, spread=spread, moves=moves, adjacency=relation)
        kind, given = held._mechanism  # noqa: SLF001 - a proof looks inside
        (notion, claimed), claim_relation = held.claim
        require(given.pop("adjacency") is relation and claim_relation is relation, "another relation")
        if gaussian:
            # That many Gaussians at distance 1 are one at the root of their number.
            wanted = {"sensitivity": unknown("root", moves), "sigma": spread}
            (alone,) = (call for walk, _ in walk_through(lambda: held.loss) for call in walk.calls)  # noqa: B023 - called at once
            require(kind == "gaussian" and notion == "curve" and alone.parts[0].parts[1] == "gaussian", "another loss is claimed")
            require_same(alone.parts[2], (("adjacency", relation), ("sigma", spread)), "the loss of a count")
            require(claimed.op == "*" and claimed.parts[0] is moves, "the loss of other counts")
        else:
            wanted = {"sensitivity": moves, "scale": spread}
            require(kind == "laplace" and notion == "pure", "another loss is claimed")
            require_same(claimed, moves / spread, "the parameter of the claim")
        require_same(sorted(given), sorted(wanted), "the parameters of the noise")
        require_same([given[name] for name in wanted], [*wanted.values()], "the parameters of the noise")
    _prove_counts()
    _prove_root()


def _prove_counts() -> None:
    """Prove how many people a category counts, and how many counts may differ between neighbours."""
    categories, contributions, relation = unknown("categories"), unknown("contributions"), unknown("adjacency")
    functions = {name: unknown(name) for name in ("read_entries", "read_people", "places_of", "limit_contributions", "units")}
    numpy, table, labels = unknown("np"), unknown("table"), unknown("labels")
    entries = functions["read_entries"](_VALUES, "values")
    for other in (False, True):
        found = _Places()
        names = functions | {"np": numpy, "places_of": lambda *given: found.of(given)}  # noqa: B023 - called at once
        fields = {"categories": categories, "contributions": contributions, "adjacency": relation, "other": other}
        held: Any = Subject(HistogramMechanism, names, **fields, _table=table, labels=labels)
        counts = held.counts(_VALUES, _PEOPLE)
        persons = functions["read_people"](_PEOPLE, unknown("len", entries), contributions)
        require_same(found.given, (entries, table), "what is looked up")
        require_same(found.written, [("places below", 0, unknown("len", categories))] if other else [], "the places of others")
        (counted, least) = counts.parts[0].parts[0].parts[1:]
        function, (places, *rest), _ = counted[0].parts
        require(function is functions["limit_contributions"] and places is found, "other places are counted")
        require_same((rest, least), ([persons, contributions], (("minlength", unknown("len", labels)),)), "what is counted")
        require(counts.parts[0].parts[0].parts[0].parts[1] == "bincount" and counts.parts[0].parts[1] == "astype", "other counts")
        wanted = unknown("min", functions["units"](relation) * contributions, unknown("len", categories) + other)
        require_same(held.moves, wanted, "how many counts may differ")


class _Places:
    """The places of entries, of which it is noted what is written where."""

    def __init__(self) -> None:
        self.given: tuple[Any, ...] = ()
        self.written: list[tuple[Any, ...]] = []

    def of(self, given: tuple[Any, ...]) -> _Places:
        """The places of some entries in a table."""
        self.given = given
        return self

    def __lt__(self, number: int) -> tuple[str, int]:
        return ("places below", number)

    def __setitem__(self, places: tuple[str, int], value: Any) -> None:
        self.written.append((*places, value))


def _prove_root() -> None:
    """Prove that the root is rounded up: a whole number whose square is at least a multiple of what it is the root of."""
    root, square = unknown("isqrt"), unknown("square")
    above: Any = follow(roots.whole_root_above, {"math": SimpleNamespace(isqrt=root)})
    require_same(above(square), root(square - 1) + 1, "a whole root")
    names = {"whole_root_above": partial(unknown, "root above"), "max": partial(unknown, "max"), "Fraction": partial(unknown, "/")}
    for walk, found in walk_through(lambda: follow(roots.root_above, names)(square)):
        ((_, is_positive),) = walk.decided
        if is_positive:
            up, down = found.parts
            shift = down.parts[1]
            scaled = square.numerator * 4**shift
            require_same(up, unknown("root above", -(-scaled // square.denominator)), "the root of a fraction")
            require_same(down, 2**shift, "the scale of the root")
