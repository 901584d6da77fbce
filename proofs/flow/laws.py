"""The laws that the envelope draws from: their weights, how fast their tails fall, and the sampler that they are given."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import product
from types import SimpleNamespace
from typing import Any

from mechanisms.laws import law
from mechanisms.laws.discrete_gaussian import DiscreteGaussian
from mechanisms.laws.discrete_laplace import DiscreteLaplace
from mechanisms.laws.rounded_gaussian import RoundedGaussian
from mechanisms.sampling import estimates, weights
from mechanisms.sampling.estimates import Estimate
from proofs.flow.following import Refusal, Subject, follow
from proofs.flow.releasing import or_refusal, require, require_same
from proofs.flow.terms import positive, unknown, walk_through

_EXACT = {"arb": lambda number: number, "fmpq": lambda top, bottom: top / bottom, "abs": partial(unknown, "abs")}


def sampler() -> None:
    """Prove that the laws draw by the envelope's kernel from the table that is built for them."""
    many, one, source, number, wide = map(unknown, ("draw", "draw_one", "source", "number", "wide"))
    drawn, building = unknown("law"), unknown("envelope_table")
    made: Any = follow(law.envelope_sampler, {"envelope_table": building, "Sampler": _parts, "draw": many, "draw_one": one})
    table = building(drawn)
    draws, draw, reach = made(drawn)
    require_same(draws(source, number, wide), unknown("call", many, (table, source, number), (("wide", wide),)), "many draws")
    require_same(draw(source), unknown("call", one, (table, source), ()), "a draw")
    require_same(reach, table.start, "the reach")


def assigned() -> None:
    """Prove that the three laws have this sampler."""
    for kind in (DiscreteLaplace, DiscreteGaussian, RoundedGaussian):
        require(kind.__dict__["sampler"].func is law.envelope_sampler, "another sampler")


def samples() -> None:
    """Prove that asking a law for draws gives those of its sampler: one, or as many as are asked for."""
    default = unknown("default_source")
    stands = {"default_source": default, "integer": lambda number, *_, **__: number, "too_large": Refusal}
    stands["type"] = lambda _: SimpleNamespace(__name__="type")
    request, checked = (follow(one, stands) for one in (law.request, law.draw_checked))
    names = {"request": request, "draw_checked": checked, "law": SimpleNamespace(request=request, draw_checked=checked)}
    source, number = unknown("source"), positive("number")
    for program in (law.sample, DiscreteLaplace.sample):
        for count, wide in product((None, number), (False, True)):
            drawn: Any = unknown("drawn law")
            run = partial(follow(program, names), drawn, count, source=source, wide=wide)
            for walk, found in walk_through(partial(or_refusal, run)):
                if not isinstance(found, Refusal):
                    is_none = any(
                        answer for question, answer in walk.decided if question.op == "is" and question.parts[0] is source
                    )
                    bits = default() if is_none else source
                    draws = drawn.sampler.one(bits) if count is None else drawn.sampler.many(bits, count, wide)
                    require_same(found, draws, "what is drawn")


def _parts(*parts: Any) -> tuple[Any, ...]:
    """The parts of a `Sampler`."""
    return parts


def discrete_gaussian() -> None:
    """Prove that the weights are exp(-k^2 / (2 v)), and that the decay from K on is K / v."""
    variance, k = unknown("variance"), unknown("k")
    subject = _subject(DiscreteGaussian, "gaussian_weight", sigma_squared=variance)
    exponent = -(k * k) * variance.denominator / (2 * variance.numerator)
    require_same(subject.weight(k), unknown("call", exponent.exp, (), ()), "a weight")
    require_same(subject.decay(k), k / variance, "the decay")
    require_same(subject.width_squared, variance, "the width")
    # At k = 2^s y the exponent is (rate) y^2.
    _require_formula(subject, lambda shift: unknown("**", 4, shift) / (2 * variance), power=2)


def discrete_laplace() -> None:
    """Prove that the weights are exp(-|k| / s), and that they fall by 1 / s."""
    scale, k = unknown("scale"), unknown("k")
    subject = _subject(DiscreteLaplace, "laplace_weight", scale=scale)
    exponent = -unknown("abs", k) * scale.denominator / scale.numerator
    require_same(subject.weight(k), unknown("call", exponent.exp, (), ()), "a weight")
    require_same(subject.decay(k), 1 / scale, "the decay")
    require_same(subject.width_squared, scale**2, "the width")
    _require_formula(subject, lambda shift: unknown("**", 2, shift) / scale, power=1)


def _require_formula(subject: Any, rate: Callable[[Any], Any], *, power: int) -> None:
    """Prove that the float formula is the law's own exponential, the rate of which is rounded once."""
    shift, reach = unknown("shift"), unknown("reach")
    found = subject.estimate(shift, reach)
    require_same(sorted(found), ["power", "rate"], "the parts of the float formula")
    require_same((found["rate"], found["power"]), (unknown("nearest", rate(shift)), power), "the float formula")
    fresh = Estimate(rate=0.0, power=1)
    require(not fresh.correction and fresh.slack == 0, "a formula with a correction")


def _subject(kind: type, name: str, **fields: Any) -> Any:
    """A law of unknown parameters whose formulas for weights, as balls and as floats, are followed."""
    stem = name.removesuffix("_weight")
    made = {"Estimate": dict, "_nearest": partial(unknown, "nearest")}
    formulas = {
        "weights": SimpleNamespace(**{name: follow(getattr(weights, name), _EXACT)}),
        "estimates": SimpleNamespace(**{f"{stem}_estimate": follow(getattr(estimates, f"{stem}_estimate"), made)}),
    }
    return Subject(kind, formulas, **fields)
