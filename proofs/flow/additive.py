"""Mechanisms that add noise: what they add is one draw of their law, and what they log, claim and cost is about that law."""

from __future__ import annotations

from typing import Any

from mechanisms.discrete_gaussian import DiscreteGaussianMechanism
from mechanisms.float_noise import FloatNoise
from mechanisms.gaussian import GaussianMechanism
from mechanisms.laplace import LaplaceMechanism
from mechanisms.noise import Noise
from mechanisms.real_gaussian import RealGaussianMechanism
from mechanisms.real_laplace import RealLaplaceMechanism
from proofs.flow.following import Subject
from proofs.flow.reading import NAMES, own, prices, require_claim, require_price, require_record
from proofs.flow.releasing import Door, Released, one_draw, releases, require, require_same
from proofs.flow.terms import Term, same

_BUILT = {
    "Noise": lambda law, lattice, _, record: (law, lattice, record),  # the width sizes tables and decides refusals only
    "FloatNoise": lambda family, scale, record: (family, scale, record),
    "FixedWork": lambda law: law,
    "DiscreteLaplace": lambda width: ("DiscreteLaplace", width),
    "DiscreteGaussian": lambda *, sigma_squared: ("DiscreteGaussian", sigma_squared),
    "RoundedGaussian": lambda width: ("RoundedGaussian", width),
}


def release() -> None:
    """Prove that `Noise` shows the value in steps plus one draw of its law, for a number, an array and many copies."""
    door, value, source, count = Door(), Term("value"), Term("source"), Term("count")
    steps, form = Term("steps of the array"), Term("format of the array")
    names = NAMES | {"open_release": door, "array_steps": lambda *_: (steps, form)}
    noise = Subject(Noise, names, law=Term("law"), lattice=Term("lattice"), width=Term("width"), record=Term("record"))
    for run in (lambda: noise.once(value, source), lambda: noise.often(value, count, source)):
        for path in releases(run, door, source):
            require(path.record is noise.record, "another record is logged")
            draw = one_draw(path)
            if draw.parts[0].parts[1] == "one":
                _number(path, draw, noise, value)
            else:
                _array(path, draw, noise, value, steps)


def _number(path: Released, draw: Term, noise: Subject, value: Term) -> None:
    """Prove the path of a number: its steps plus the draw, times the lattice."""
    require_same(draw.parts[0], noise.law.sampler.one, "what is drawn from")
    (read,) = (call for call in path.walk.calls if call.parts[0].op == "number_steps")
    require_same(read.parts[1], (value, noise.lattice), "what is read")
    whole = any(answer and same(question, noise.lattice == 1) for question, answer in path.walk.decided)
    total = Term("+", read, draw)
    require_same(path.output, total if whole else noise.lattice * total, "the number that is shown")


def _array(path: Released, draw: Term, noise: Subject, value: Term, steps: Term) -> None:
    """Prove the path of an array, or of copies of a number: a draw for every entry, added to its steps, and written."""
    function, (_, number, wide), _ = draw.parts
    require_same(function, noise.law.sampler.many, "what is drawn from")
    require_same(number, path.count * path.dimension, "the number of draws")
    require(wide is False, "wide draws in an array")
    within = [answer for question, answer in path.walk.decided if same(question, noise.law.sampler.reach > 2**61)]
    require(within == [False], "blocks may reach beyond what int64 holds")
    write, (noisy, unit), _ = path.output.parts
    require(write.parts[1] == "write" and unit is noise.lattice, "the output is written in other units")
    shaped, read = noisy.parts
    require(
        noisy.op == "+" and shaped.parts[0].parts[1] == "reshape" and shaped.parts[0].parts[0] is draw, "something else is added"
    )
    require_same(path.dimension, read.size, "the number of entries that is logged")
    if read is not steps:  # a number, read once and put into an array
        (one,) = (call for call in path.walk.calls if call.parts[0].op == "number_steps")
        require_same(one.parts[1], (value, noise.lattice), "what is read")
        require(read.parts[0].parts[1] == "array" and read.parts[1][0].parts[1][0] is one, "something else gets noise")


def float_release() -> None:
    """Prove that `FloatNoise` shows the rounded sum of the value and one draw, for a number, an array and many copies."""
    door, value, source, count = Door(), Term("value"), Term("source"), Term("count")
    number, numbers, copies = Term("number read"), Term("numbers read"), Term("count read")
    names = NAMES | {
        "open_release": door,
        "_number": lambda _: number,
        "_numbers": lambda _: numbers,
        "read_count": lambda _: copies,
    }
    noise = Subject(FloatNoise, names, family=Term("family"), scale=Term("scale"), record=Term("record"), _law=Term("law"))
    for run in (lambda: noise.once(value, source), lambda: noise.often(value, count, source)):
        for path in releases(run, door, source):
            draw = one_draw(path)
            function, (law, summand, _), _ = draw.parts
            require(law is noise._law and path.record is noise.record, "another law is drawn from, or another entry logged")  # noqa: SLF001
            if function.op == "noisy_sum":
                require(summand is number and path.output is draw, "something else than the number gets noise, or is shown")
                require_same((path.count, path.dimension), (1, 1), "the releases that are logged")
                continue
            read = summand.parts[0].parts[0].parts[1][0]  # reshape(broadcast_to(read, ...))
            require(function.op == "noisy_sums" and (read is numbers or read.parts[1][0] is number), "something else gets noise")
            require(path.output.parts[0].parts[0] is draw, "something else is shown")
            require_same((path.count, path.dimension), (copies, read.size), "the releases that are logged")


def laplace() -> None:
    """Prove what `LaplaceMechanism` draws, logs, claims and costs: a number the exact law, several what the distance allows."""
    for fixed_work in (False, True):
        mechanism = _mechanism(LaplaceMechanism, "sensitivity", "scale", "lattice", "adjacency", fixed_work=fixed_work)
        width, epsilon = mechanism.scale / mechanism.lattice, mechanism.sensitivity / mechanism.scale
        record = _drawn(mechanism, "DiscreteLaplace", width)
        require_record(record, "discrete_laplace", mechanism, lattice=mechanism.lattice, scale=mechanism.scale)
        require_claim(mechanism, "pure", epsilon)
        _require_exact(record, mechanism, "DiscreteLaplace", width)
        require_price(record, "pure", epsilon, dimension=2)


def discrete_gaussian() -> None:
    """Prove what `DiscreteGaussianMechanism` draws, logs, claims and costs."""
    mechanism = _mechanism(DiscreteGaussianMechanism, "sensitivity", "sigma_squared", "lattice", "adjacency")
    variance, rho = mechanism.sigma_squared / mechanism.lattice**2, mechanism.sensitivity**2 / (2 * mechanism.sigma_squared)
    record = _drawn(mechanism, "DiscreteGaussian", variance)
    require_record(record, "discrete_gaussian", mechanism, lattice=mechanism.lattice, sigma_squared=mechanism.sigma_squared)
    require_claim(mechanism, "concentrated", rho)
    _require_exact(record, mechanism, "DiscreteGaussian", variance)
    require_price(record, "concentrated", rho, dimension=2)


def gaussian() -> None:
    """Prove what `GaussianMechanism` draws, logs, claims and costs: at most the Gaussian before it is rounded."""
    mechanism = _mechanism(GaussianMechanism, "sensitivity", "sigma", "lattice", "adjacency")
    record = _drawn(mechanism, "RoundedGaussian", mechanism.sigma / mechanism.lattice)
    require_record(record, "rounded_gaussian", mechanism, lattice=mechanism.lattice, sigma=mechanism.sigma)
    require_claim(mechanism, "gaussian", mechanism.sensitivity / mechanism.sigma)
    require_price(record, "gaussian", mechanism.sensitivity / mechanism.sigma)


def real_laplace() -> None:
    """Prove what `RealLaplaceMechanism` draws, logs, claims and costs: at most the Laplace law before it is rounded."""
    mechanism = _mechanism(RealLaplaceMechanism, "sensitivity", "scale", "adjacency")
    family, scale, record = mechanism._noise  # noqa: SLF001 - a proof looks inside
    require(family.op == "LaplaceCells" and scale is mechanism.scale, "another law is drawn from")
    require_record(record, "real_laplace", mechanism, scale=scale)
    require_claim(mechanism, "pure", mechanism.sensitivity / scale)
    require_price(record, "laplace", scale, mechanism.sensitivity)
    require_price(record, "pure", mechanism.sensitivity / scale, dimension=2)


def real_gaussian() -> None:
    """Prove what `RealGaussianMechanism` draws, logs, claims and costs: at most the Gaussian before it is rounded."""
    mechanism = _mechanism(RealGaussianMechanism, "sensitivity", "sigma", "adjacency")
    family, scale, record = mechanism._noise  # noqa: SLF001 - a proof looks inside
    require(family.op == "GaussianCells" and scale is mechanism.sigma, "another law is drawn from")
    require_record(record, "real_gaussian", mechanism, sigma=scale)
    require_claim(mechanism, "gaussian", mechanism.sensitivity / scale)
    require_price(record, "gaussian", mechanism.sensitivity / scale)


def _mechanism(kind: type, *fields: str, **known: Any) -> Subject:
    """A mechanism of which nothing is known but that its parameters are positive."""
    return Subject(kind, NAMES | _BUILT, **own(*fields), **known)


def _drawn(mechanism: Subject, law: str, parameter: Any) -> tuple[Any, ...]:
    """Prove which law a mechanism draws from, in steps of its lattice; gives what it logs."""
    (name, drawn), lattice, record = mechanism._noise  # noqa: SLF001 - a proof looks inside
    require(name == law and lattice is mechanism.lattice, "another law is drawn from, or in other units")
    require_same(drawn, parameter, "the parameter of the law")
    return tuple(record)


def _require_exact(record: tuple[Any, ...], mechanism: Subject, law: str, parameter: Any) -> None:
    """Prove that a number costs what the drawn law loses in as many steps as fit the sensitivity, and nothing where none fits."""
    for priced in prices(record):
        if priced[0] == "gaussian":
            require_same(priced[1], 0, "the cost of no step")
            continue
        name, drawn, steps = priced
        require(name == law and steps.op == "call" and steps.parts[0].op == "floor", f"a number costs {priced!r}")
        require_same(drawn, parameter, "the parameter of the law that is priced")
        require_same(steps.parts[1], (mechanism.sensitivity / mechanism.lattice,), "the steps that are priced")
