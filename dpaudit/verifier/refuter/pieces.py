"""Functions of one noise that are sums of c x^k e^(a x) on intervals, over the reals or over the integers.

They are closed under products, under restriction and under integrating (or adding up) one noise between linear bounds in another,
so that probabilities of tree-shaped events need no quadrature. Breakpoints, powers and rates are exact, coefficients are balls.
An interval [low, high) over the integers holds low, ..., high - 1: there, as over the reals, what lies between two points is
the difference of one function, the antiderivative, at its two ends.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import reduce
from itertools import pairwise, product
from math import comb
from typing import ClassVar, Final, TypeAlias

from flint import arb, fmpq, fmpz

Key: TypeAlias = tuple[int, fmpz, fmpz]
"""A power, and a rate by numerator and denominator: flint hashes fractions forty times slower."""

Terms: TypeAlias = Mapping[Key, arb]
"""Coefficients by power and rate."""

End: TypeAlias = fmpq | None
"""An end of an interval; None where it has none on that side."""

_ZERO: Final = fmpq()


def _key(power: int, rate: fmpq) -> Key:
    """The key of a term x^power e^(rate x)."""
    return power, rate.p, rate.q


_LEVEL: Final = _key(0, _ZERO)
"""The key of a constant."""


@dataclass(frozen=True)
class Line:
    """The linear function slope x + start."""

    slope: fmpq
    start: fmpq

    def __call__(self, point: fmpq) -> fmpq:
        """Its value."""
        return self.slope * point + self.start

    def meets(self, other: Line) -> tuple[fmpq, ...]:
        """Where two lines cross; nowhere if they are parallel."""
        return () if self.slope == other.slope else ((other.start - self.start) / (self.slope - other.slope),)


@dataclass(frozen=True)
class Piece:
    """One interval [low, high) with the function on it."""

    low: End
    high: End
    terms: Terms


@dataclass(frozen=True)
class Function:
    """Pieces in increasing order, 0 elsewhere; `whole` if its argument is an integer."""

    whole: bool
    pieces: tuple[Piece, ...]

    def times(self, other: Function) -> Function:
        """The product."""
        joined = []
        for one in self.pieces:
            for two in other.pieces:
                low, high = _stricter(max, one.low, two.low), _stricter(min, one.high, two.high)
                if _is_some(low, high):
                    joined.append(Piece(low, high, _product(one.terms, two.terms)))
        return Function(self.whole, tuple(joined))

    def within(self, low: End, high: End) -> Function:
        """The function on [low, high), 0 elsewhere; ends of a function of integers are whole."""
        cut = (Piece(_stricter(max, piece.low, low), _stricter(min, piece.high, high), piece.terms) for piece in self.pieces)
        return Function(self.whole, tuple(piece for piece in cut if _is_some(piece.low, piece.high)))

    def total(self) -> arb:
        """The integral, or the sum, over everything."""
        return reduce(arb.__add__, (_mass(piece, whole=self.whole) for piece in self.pieces), arb(0))

    def between(self, lower: tuple[Line, ...], upper: tuple[Line, ...]) -> Function:
        """The integral (or sum) of this function from the highest of `lower` to below the lowest of `upper`.

        It is a function of the argument of the lines; without lines on a side there is no bound on that side.
        """
        sums, total = _running(self)
        edges = [piece.low for piece in sums if piece.low is not None]
        lines = (*lower, *upper)
        crossings = [point for place, line in enumerate(lines) for other in lines[place + 1 :] for point in line.meets(other)]
        crossings += [(edge - line.start) / line.slope for line in lines if line.slope for edge in edges]
        found = []
        for low, high, sample in _cells(crossings, whole=self.whole):
            bottom = max(lower, key=lambda line: line(sample), default=None)
            top = min(upper, key=lambda line: line(sample), default=None)
            if bottom is not None and top is not None and bottom(sample) >= top(sample):
                continue
            upper_terms = {_LEVEL: total} if top is None else _composed(_at(sums, top(sample)), top)
            lower_terms = {} if bottom is None else _composed(_at(sums, bottom(sample)), bottom)
            found.append(Piece(low, high, _sum(upper_terms, _scaled(lower_terms, arb(-1)))))
        return Function(self.whole, tuple(found))

    def stretched(self, factor: fmpq) -> Function:
        """The density of a multiple of what has this density, over the reals; the factor is not 0."""
        line, share = Line(1 / factor, _ZERO), arb(1 / abs(factor))
        found = []
        for piece in self.pieces if factor > 0 else reversed(self.pieces):
            ends = [None if end is None else end * factor for end in (piece.low, piece.high)]
            low, high = ends if factor > 0 else ends[::-1]
            found.append(Piece(low, high, _scaled(_composed(piece.terms, line), share)))
        return Function(self.whole, tuple(found))

    def convolved(self, other: Function) -> Function:
        """The density of the sum of two independent numbers with these densities, over the reals.

        The first number x lies between lines in the sum z where the second, z - x, is in a piece of its own; there powers of z - x
        are sums of products of powers of z and of x, and the rate of z - x is one of z and one of x.
        """
        parts: list[Piece] = []
        for one, two in product(self.pieces, other.pieces):
            lower = [Line(_ZERO, one.low)] if one.low is not None else []
            lower += [Line(fmpq(1), -two.high)] if two.high is not None else []
            upper = [Line(_ZERO, one.high)] if one.high is not None else []
            upper += [Line(fmpq(1), -two.low)] if two.low is not None else []
            for (power, above, below), factor in two.terms.items():
                rate = fmpq(above, below)
                for order in range(power + 1):
                    share = factor * comb(power, order) * (-1) ** order
                    inner = _antiderivative(_product(one.terms, {_key(order, -rate): share}), whole=False)
                    outer = {_key(power - order, rate): arb(1)}
                    parts += (replace(part, terms=_product(part.terms, outer)) for part in _from_to(inner, lower, upper))
        return _added(parts)


@dataclass(frozen=True)
class Bell:
    """The density of Gaussian noise on [low, high), 0 elsewhere; alone, since its products have no closed form here."""

    sigma: fmpq
    low: End = None
    high: End = None
    whole: ClassVar[bool] = False

    def within(self, low: End, high: End) -> Bell:
        """The density on a smaller interval."""
        return Bell(self.sigma, _stricter(max, self.low, low), _stricter(min, self.high, high))

    def total(self) -> arb:
        """The probability of the interval; tails are computed as such, so that small ones are exact too."""
        if not _is_some(self.low, self.high):
            return arb(0)
        if self.low is not None and self.low >= 0:
            return self._beyond(self.low) - (arb(0) if self.high is None else self._beyond(self.high))
        if self.high is not None and self.high <= 0:
            return Bell(self.sigma, -self.high, None if self.low is None else -self.low).total()
        ends = [abs(end) for end in (self.low, self.high) if end is not None]
        return arb(1) - sum((self._beyond(end) for end in ends), arb(0))

    def _beyond(self, end: fmpq) -> arb:
        """The probability of being above."""
        return (arb(end / self.sigma) / arb(2).sqrt()).erfc() / 2

    def _refused(self, *_: object) -> Function:
        """Refuse what needs a second draw."""
        raise ArithmeticError("a Gaussian draw stands in one condition with another draw")

    times = between = _refused


Density: TypeAlias = Function | Bell


def decay(rate: fmpq, factor: arb, *, whole: bool, one_sided: bool) -> Function:
    """Factor e^(-rate |x|), on all arguments or on those from 0 on."""
    right = Piece(_ZERO, None, {_key(0, -rate): factor})
    left = Piece(None, _ZERO, {_key(0, rate): factor})
    return Function(whole, (right,) if one_sided else (left, right))


def _from_to(inner: Terms, lower: list[Line], upper: list[Line]) -> Iterator[Piece]:
    """What an antiderivative gains from the highest of `lower` to the lowest of `upper`; without lines it vanishes there."""
    lines = [*lower, *upper]
    crossings = [point for place, line in enumerate(lines) for other in lines[place + 1 :] for point in line.meets(other)]
    for low, high, sample in _cells(crossings, whole=False):
        bottom = max(lower, key=lambda line: line(sample), default=None)
        top = min(upper, key=lambda line: line(sample), default=None)
        rates = [above for _, above, _ in inner]
        if (top is None and any(rate >= 0 for rate in rates)) or (bottom is None and any(rate <= 0 for rate in rates)):
            raise ArithmeticError("a term does not decay where it is integrated")
        if bottom is None or top is None or bottom(sample) < top(sample):
            first, second = ({} if line is None else _composed(inner, line) for line in (top, bottom))
            yield Piece(low, high, _sum(first, _scaled(second, arb(-1))))


def _added(pieces: list[Piece]) -> Function:
    """The sum of functions of a real number that are 0 outside of a piece each."""
    edges = (end for piece in pieces for end in (piece.low, piece.high) if end is not None)
    found = []
    for low, high, sample in _cells(edges, whole=False):
        here = (one for one in pieces if (one.low is None or one.low <= sample) and (one.high is None or sample < one.high))
        found.append(Piece(low, high, reduce(_sum, (one.terms for one in here), {})))
    return Function(whole=False, pieces=tuple(piece for piece in found if piece.terms))


def _running(function: Function) -> tuple[tuple[Piece, ...], arb]:
    """The integral (or sum) up to below a point, as pieces that cover everything, and the total."""
    total, pieces, end = arb(0), [], None
    for piece in function.pieces:
        if piece.low is not None and (end is None or end < piece.low):
            pieces.append(Piece(end, piece.low, {_LEVEL: total}))
        inner = _antiderivative(piece.terms, whole=function.whole)
        before = total - (arb(0) if piece.low is None else _value(inner, piece.low))
        pieces.append(Piece(piece.low, piece.high, _sum(inner, {_LEVEL: before})))
        if piece.high is None:
            return tuple(pieces), before
        total, end = before + _value(inner, piece.high), piece.high
    pieces.append(Piece(end, None, {_LEVEL: total}))
    return tuple(pieces), total


def _at(sums: tuple[Piece, ...], point: fmpq) -> Terms:
    """The running total around a point; one that is an edge belongs to the piece that begins there."""
    return next(
        piece.terms for piece in sums if (piece.low is None or piece.low <= point) and (piece.high is None or point < piece.high)
    )


def _cells(points: Iterable[fmpq], *, whole: bool) -> list[tuple[End, End, fmpq]]:
    """The intervals that the points cut out, each with an argument inside; a whole point is an interval of its own."""
    edges = sorted({fmpq(edge) for point in points for edge in ((point.ceil(), point.floor() + 1) if whole else (point,))})
    if not edges:
        return [(None, None, _ZERO)]
    inner = [(low, high, low if whole else (low + high) / 2) for low, high in pairwise(edges)]
    return [(None, edges[0], edges[0] - 1), *inner, (edges[-1], None, edges[-1] if whole else edges[-1] + 1)]


def _mass(piece: Piece, *, whole: bool) -> arb:
    """Integral or sum of one piece; at an end without bound every term decays."""
    inner = _antiderivative(piece.terms, whole=whole)
    if any((piece.low is None and rate <= 0) or (piece.high is None and rate >= 0) for _, rate, _ in piece.terms):
        raise ArithmeticError("a term does not decay where it is integrated")
    top = arb(0) if piece.high is None else _value(inner, piece.high)
    return top - (arb(0) if piece.low is None else _value(inner, piece.low))


def _antiderivative(terms: Terms, *, whole: bool) -> dict[Key, arb]:
    """The function whose derivative (or difference of the next value and this one) the terms are; it vanishes where they decay."""
    found: dict[Key, arb] = {}
    for (power, above, below), factor in terms.items():
        for order, share in (_summed if whole else _integrated)(power, fmpq(above, below)).items():
            key = (order, above, below)
            found[key] = found[key] + factor * share if key in found else factor * share
    return found


def _integrated(power: int, rate: fmpq) -> dict[int, arb]:
    """An antiderivative of x^power e^(rate x), by powers: it has the same rate."""
    if rate == 0:
        return {power + 1: arb(fmpq(1, power + 1))}
    found, share = {}, 1 / rate
    for lower in range(power, -1, -1):
        found[lower] = arb(share)
        share = -share * lower / rate
    return found


def _summed(power: int, rate: fmpq) -> dict[int, arb]:
    """A function whose next value exceeds this one by x^power e^(rate x): these powers times e^(rate x), by comparing them."""
    step, degree = _exponential(rate), power + (rate == 0)
    found: dict[int, arb] = {}
    for current in range(degree, -1, -1):
        # The coefficient of x^(current - (rate == 0)) in step P(x + 1) - P(x), but for the one to be found.
        wanted = current - (rate == 0)
        if wanted < 0:
            continue
        known = sum((found[higher] * comb(higher, wanted) for higher in range(current + 1, degree + 1)), arb(0))
        rest = arb(wanted == power) - step * known
        found[current] = rest / (step * current if rate == 0 else arb(rate).expm1())
    return found


def _composed(terms: Terms, line: Line) -> dict[Key, arb]:
    """The terms at slope x + start."""
    found: dict[Key, arb] = {}
    for (power, above, below), factor in terms.items():
        rate = fmpq(above, below)
        lead = factor * _exponential(rate * line.start)
        for order in range(power + 1):
            share = comb(power, order) * line.slope**order * line.start ** (power - order)
            if share:
                key = _key(order, rate * line.slope)
                found[key] = found.get(key, arb(0)) + lead * arb(share)
    return found


def _exponential(exponent: fmpq) -> arb:
    """E to a rational power."""
    return arb(exponent).exp()


def _value(terms: Terms, point: fmpq) -> arb:
    """The terms at a point."""
    total = arb(0)
    for (power, above, below), factor in terms.items():
        total += factor * _exponential(fmpq(above, below) * point) * (arb(point**power) if power else 1)
    return total


def _product(one: Terms, two: Terms) -> Terms:
    """All products of terms."""
    found: dict[Key, arb] = {}
    for (power, above, below), factor in one.items():
        for (order, high, low), share in two.items():
            key = _key(power + order, fmpq(above, below) + fmpq(high, low))
            found[key] = found.get(key, arb(0)) + factor * share
    return found


def _sum(one: Terms, two: Terms) -> Terms:
    """The terms of both."""
    found = dict(one)
    for key, share in two.items():
        found[key] = found[key] + share if key in found else share
    return found


def _scaled(terms: Terms, factor: arb) -> Terms:
    """The terms times a number."""
    return {key: share * factor for key, share in terms.items()}


def _stricter(choose: Callable[[fmpq, fmpq], fmpq], one: End, two: End) -> End:
    """The stricter of two low ends, by `max`, or of two high ones, by `min`."""
    if one is None or two is None:
        return two if one is None else one
    return choose(one, two)


def _is_some(low: End, high: End) -> bool:
    """True if the interval holds anything."""
    return low is None or high is None or low < high
