"""Mechanisms that choose a candidate: every draw is made at the logged temperature, which costs the claim."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from itertools import product
from types import SimpleNamespace
from typing import Any, Final

from mechanisms.exponential import ExponentialMechanism
from mechanisms.noisy_max import NoisyMax
from mechanisms.permute_and_flip import PermuteAndFlip
from mechanisms.selection import choosing
from mechanisms.top_k import TopK
from proofs.flow.following import Subject
from proofs.flow.reading import NAMES, own, require_claim, require_logged, require_price, require_record
from proofs.flow.releasing import Door, Released, releases, require, require_same
from proofs.flow.terms import Term, mentions, same

_SCORES, _SOURCE, _COUNT = Term("scores"), Term("source"), Term("count")
_READ, _LEFT, _STEPS, _COPIES = Term("scores read"), Term("scores left"), Term("steps of the scores"), Term("count read")

_CHOOSING: Final[Mapping[str, Any]] = NAMES | {
    "choosing": SimpleNamespace(moves=choosing.moves),
    "read_scores": lambda _: _READ,
    "read_count": lambda _: _COPIES,
    "lattice_steps": lambda *_: (Term("places"), _STEPS),
    "choose_in_turn": lambda among, places, choose: Term("in turn", among, places, choose(_LEFT)),
}


def exponential() -> None:
    """Prove what `ExponentialMechanism` draws, logs, claims and costs."""
    for monotonic in (False, True):
        _one_choice(ExponentialMechanism, "exponential_mechanism", "bounded range", monotonic=monotonic)


def permute_and_flip() -> None:
    """Prove what `PermuteAndFlip` draws, logs, claims and costs."""
    for monotonic in (False, True):
        _one_choice(PermuteAndFlip, "permute_and_flip", "permute and flip", monotonic=monotonic)


def top_k() -> None:
    """Prove what `TopK` draws, logs, claims and costs: k choices, each at a kth of epsilon."""
    for monotonic, method in product((False, True), ("one_shot", "peeling", "permute_and_flip")):
        _top_k(method, monotonic=monotonic)


def noisy_max() -> None:
    """Prove what `NoisyMax` draws, logs, claims and costs."""
    for monotonic, noise in product((False, True), ("geometric", "laplace")):
        _noisy_max(noise, monotonic=monotonic)


def draws() -> None:
    """Prove that what `ExponentialMechanism` shows are draws from its scores at its temperature, as many as are asked for."""
    door = Door()
    one, often, table, propose, finest = map(Term, ("draw_one", "draw_many", "alias_table", "propose", "finest_precision"))
    names = {program.op: program for program in (one, often, table, propose, finest)}
    numpy = Term("np")
    mechanism = Subject(
        ExponentialMechanism,
        {**_CHOOSING, "open_release": door, "np": numpy, **names},
        **own("sensitivity", "epsilon", "adjacency"),
        monotonic=False,
    )
    single = one(propose(_READ, mechanism.temperature, finest(_READ.size)), door.bits)
    for run, copies in _runs(mechanism):
        seen = set()
        for path in releases(run, door, _SOURCE):
            (draw,) = path.draws
            if same(draw, single):
                listed = path.output is not draw
                require(listed or copies is not _COPIES, "one choice is shown for many")
                if listed:
                    require_same(path.output, numpy.array([draw], dtype=numpy.int64), "the choices that are shown")
                    require(any(_is_range(items, copies) for items in path.walk.iterated), "how many")
                seen.add("one by one")
            else:
                require_same(draw, often(table(_READ, mechanism.temperature), copies, door.bits), "what is drawn from")
                require(path.output is draw, "something else is shown")
                seen.add("many")
        require(seen == ({"one by one", "many"} if copies is _COPIES else {"one by one"}), f"only {seen} are seen")


def _is_range(items: Any, count: Any) -> bool:
    """Whether a loop is over as many places."""
    return items.op == "call" and items.parts[0].op == "range" and same(items.parts[1], (count,))


def _chooses(kind: type, *fields: str, **known: Any) -> tuple[Subject, Door]:
    """A mechanism of which nothing is known but that its parameters are positive, and its door."""
    door = Door()
    return Subject(kind, {**_CHOOSING, "open_release": door}, **own("sensitivity", "epsilon", "adjacency", *fields), **known), door


def _runs(mechanism: Subject) -> tuple[tuple[Callable[[], Any], Any], ...]:
    """One release and many, each with the number of copies."""
    return (lambda: mechanism.release(_SCORES, _SOURCE), 1), (lambda: mechanism.releases(_SCORES, _COUNT, _SOURCE), _COPIES)


def _one_choice(kind: type, entry: str, law: str, *, monotonic: bool) -> None:
    """Prove the chain from draws to claim of a mechanism that chooses one candidate at a temperature."""
    mechanism, door = _chooses(kind, monotonic=monotonic)
    record = mechanism._record  # noqa: SLF001 - a proof looks inside
    require_record(record, entry, mechanism, monotonic=Fraction(monotonic), temperature=mechanism.temperature)
    for run, copies in _runs(mechanism):
        for path in releases(run, door, _SOURCE):
            require_logged(path.record, record)
            require_same(path.count, copies, "the number of releases that is logged")
            _require_heat(path, mechanism.temperature)
    require_claim(mechanism, "pure", mechanism.epsilon)
    require_price(record, law, mechanism.epsilon)


def _top_k(method: str, *, monotonic: bool) -> None:
    """Prove the chain of one method to choose k candidates."""
    mechanism, door = _chooses(TopK, "k", monotonic=monotonic, method=method)
    record = mechanism._record  # noqa: SLF001 - a proof looks inside
    flags = {"flips": Fraction(method == "permute_and_flip"), "monotonic": Fraction(monotonic)}
    require_record(record, "top_k", mechanism, **flags, temperature=mechanism.temperature)
    require_same(record[4], mechanism.k, "the number of choices that is logged")
    for run, copies in _runs(mechanism):
        for path in releases(run, door, _SOURCE):
            require_logged(path.record, record)
            require_same(path.count, copies * mechanism.k, "the number of choices that is logged")
            _require_heat(path, mechanism.temperature)
    require_claim(mechanism, "pure", mechanism.epsilon)
    require_price(record, "choice", mechanism.epsilon / mechanism.k)


def _noisy_max(noise: str, *, monotonic: bool) -> None:
    """Prove the chain of noisy max with one kind of noise."""
    mechanism, door = _chooses(NoisyMax, "lattice", monotonic=monotonic, noise=noise)
    record, law = mechanism._record, "Geometric" if noise == "geometric" else "DiscreteLaplace"  # noqa: SLF001 - as above
    flags = {"geometric": Fraction(noise == "geometric"), "monotonic": Fraction(monotonic)}
    require_record(record, "noisy_max", mechanism, **flags, lattice=mechanism.lattice, temperature=mechanism.scale)
    for run, copies in _runs(mechanism):
        for path in releases(run, door, _SOURCE):
            require_logged(path.record, record)
            require_same(path.count, copies, "the number of releases that is logged")
            added, tied = path.draws
            made = added.parts[0].parts[0]
            require(added.parts[0].parts[1] == "sample" and made.parts[0].op == law, "another law is drawn from")
            require_same(made.parts[1], (mechanism.scale / mechanism.lattice,), "the scale of the noise in steps")
            noisy = tied.parts[1][0]
            require(tied.parts[0].op == "greatest" and noisy.op == "+", "something else than the greatest is chosen")
            require(mentions(noisy.parts[0], added) and noisy.parts[1] is _STEPS, "something else than the scores gets noise")
    require_claim(mechanism, "pure", mechanism.epsilon)
    require_price(record, "noisy max", mechanism.epsilon)


def _require_heat(path: Released, temperature: Any) -> None:
    """Prove that every draw of a path chooses among the scores that were read, or are left of them, at a temperature."""
    for draw in path.draws:
        _, values, _ = draw.parts
        made = values[0]
        given = made.parts[1] if isinstance(made, Term) and made.op == "call" else values
        require(given[0] is _READ or given[0] is _LEFT, "a choice among other scores")
        require_same(given[1], temperature, "the temperature of a choice")
