"""Mechanisms that answer questions at random, people's or an analyst's: what they draw with is logged, and costs the claim."""

from __future__ import annotations

from typing import Any, Final

from mechanisms.above_threshold import AboveThreshold
from mechanisms.comparisons import Comparisons, comparisons_of
from mechanisms.response import RandomizedResponse
from mechanisms.sparse_vector import SparseVector
from proofs.flow.following import Followed, Subject
from proofs.flow.reading import NAMES, own, require_claim, require_price
from proofs.flow.releasing import Door, releases, require, require_same
from proofs.flow.terms import Term

_COMPARING: Final = NAMES | {
    "comparisons_of": Followed(comparisons_of),
    "DiscreteLaplace": lambda width: ("DiscreteLaplace", width),
    "Comparisons": lambda *parts: parts,
}


def randomized_response() -> None:
    """Prove what `RandomizedResponse` draws, logs, claims and costs."""
    door, value, source, count, truth, copies = Door(), *map(Term, ("value", "source", "count", "categories", "count read"))
    names = NAMES | {"open_release": door, "read_count": lambda _: copies, "np": _Arrays()}
    mechanism = Subject(RandomizedResponse, names, **own("epsilon", "categories", "adjacency"), _checked=lambda _: truth)
    record = mechanism._record  # noqa: SLF001 - a proof looks inside
    kind, logged, _, adjacency, _ = record
    require(kind == "randomized_response" and adjacency is mechanism.adjacency, "another kind of entry")
    require_same(logged["epsilon"], mechanism.epsilon, "the logged epsilon")
    require_same(logged["categories"].parts, (mechanism.categories,), "the logged categories")
    for run, number in ((lambda: mechanism.release(value, source), 1), (lambda: mechanism.releases(value, count, source), copies)):
        for path in releases(run, door, source):
            require_same(path.count, number, "the number of reports that is logged")
            (draw,) = path.draws
            function, (first, *made, epsilon, categories, bits), _ = draw.parts
            require(function.op in {"report", "reports"} and first is truth and bits is door.bits, "something else is drawn")
            require_same((epsilon, categories), (mechanism.epsilon, mechanism.categories), "what a report is drawn with")
            require_same(tuple(made), (number,) if made else (), "the number of reports")
    require_claim(mechanism, "pure", mechanism.epsilon)
    require_price(record, "response", mechanism.epsilon, Term("int", logged["categories"]))


def above_threshold() -> None:
    """Prove what `AboveThreshold` draws, logs, claims and costs."""
    for monotonic in (False, True):
        fields = own("sensitivity", "epsilon", "lattice", "adjacency", "threshold_share")
        _compares(Subject(AboveThreshold, _COMPARING, **fields, monotonic=monotonic), "above_threshold")
    _run_begins()


def sparse_vector() -> None:
    """Prove what `SparseVector` draws, logs, claims and costs, with and without numbers."""
    for monotonic in (False, True):
        for share in ({}, own("number_share")):
            fields = own("sensitivity", "epsilon", "lattice", "adjacency", "threshold_share", "cutoff")
            known = {"number_share": 0, "monotonic": monotonic}
            _compares(Subject(SparseVector, _COMPARING, **fields | known | share), "sparse_vector")
    _run_begins()


def _compares(mechanism: Subject, kind: str) -> None:
    """Prove that the noise of a run has the logged scales, and that these cost the claim."""
    threshold, query, number, cutoff, lattice, record = mechanism._comparisons  # noqa: SLF001 - a proof looks inside
    named, logged, sensitivity, adjacency, _ = record
    require(named == kind and lattice is mechanism.lattice, "another kind of entry, or other units")
    require(sensitivity is mechanism.sensitivity and adjacency is mechanism.adjacency, "another sensitivity or relation is logged")
    require_same(logged["lattice"], mechanism.lattice, "the logged lattice")
    scales = {"threshold_scale": threshold, "query_scale": query}
    for name, (law, width) in (scales | ({} if number is None else {"number_scale": number})).items():
        require(law == "DiscreteLaplace", "another law is drawn from")
        require_same(width, logged[name] / mechanism.lattice, f"the {name} in steps")
    require(number is not None or not logged.get("number_scale", 0), "numbers are logged that nobody draws")
    if kind == "sparse_vector":
        require(cutoff is mechanism.cutoff, "another number of answers is given")
        require_same(logged["cutoff"].parts, (cutoff,), "the logged number of answers")
        logged["cutoff"] = cutoff  # as a Fraction it is the same number
    else:
        require(cutoff == 1, "more than one answer is given")
    require_claim(mechanism, "pure", mechanism.epsilon)
    require_price(record, "comparisons", mechanism.epsilon)


def _run_begins() -> None:
    """Prove that a run is logged once, then draws its threshold's noise, which is added to the threshold and goes nowhere else."""
    door, threshold, source = Door(), Term("threshold"), Term("source")
    fields: dict[str, Any] = {name: Term(name) for name in ("threshold", "query", "number", "cutoff", "lattice", "record")}
    names = NAMES | {"open_release": door, "Run": lambda _, border, bits, hold: (border, bits, hold)}
    steps = Term("steps of the threshold")
    run = Subject(Comparisons, names, **fields, threshold_steps=lambda _: steps, _against=lambda *_: door.hold)
    for path in releases(lambda: run.begin(threshold, source), door, source):
        (draw,) = path.draws
        require(path.record is run.record, "another record is logged")
        require_same(draw.parts[0], run.threshold.sample, "what is drawn from")
        border, bits, _ = path.output
        require(bits is door.bits, "the run draws from other bits")
        require_same(border, Term("+", steps, Term("int", draw)), "what the noise is added to")


class _Arrays:
    """In place of numpy: arrays are what they are made of."""

    ndarray = "ndarray"

    def asarray(self, value: Any) -> Any:
        """The same value."""
        return value
