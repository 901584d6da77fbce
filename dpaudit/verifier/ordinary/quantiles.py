"""Noise made of a uniform number: Laplace and exponential noise by the logarithm of one.

A uniform number u and what arithmetic makes of it is a curve over (0, 1), one piece below 1/2 and one above: a line, or a multiple
of the logarithm of a line. The curve log(2 u) below and -log(2 - 2 u) above is the quantile function of Laplace noise of scale 1,
and -log(u), or -log(1 - u), of exponential noise; a factor is the scale. Other curves have no law that is read.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Final

from dpaudit.verifier.frontend import OutsideSubset
from dpaudit.verifier.ordinary import numbers
from dpaudit.verifier.ordinary.calls import Sources
from dpaudit.verifier.ordinary.refusing import refuse, teach
from dpaudit.verifier.ordinary.state import State
from dpaudit.verifier.ordinary.values import Curve, Iterator, Piece, Ref, Scalar, Spent, Value

_UP: Final = "__up"
_DOWN: Final = "__down"
"""How the source's number rises with the uniform one; the name of the draw says it, for runs of the source."""
_ENDS: Final = ((Fraction(0), Fraction(1, 2)), (Fraction(1, 2), Fraction(1)))


@dataclass(frozen=True)
class Drawn(Spent):
    """The place of a uniform number that became noise: the curve, by its pieces and factor, with its noise."""

    curve: Curve | None = None
    noise: Scalar | None = None


def curve_of(state: State, found: Value) -> Curve | None:
    """A uniform number, or what was made of it, as a curve; None for anything else."""
    if isinstance(found, Curve):
        return found
    held = state.object(found) if isinstance(found, Ref) else None
    if isinstance(found, Ref) and isinstance(held, Iterator) and held.what == "uniform":
        line = Piece(Fraction(0), Fraction(1))
        return Curve(found.address, (line, line))
    return None


def uniform_between(state: State, node: ast.AST, found: Ref, low: Scalar, high: Scalar) -> Curve:
    """A uniform number between two constants."""
    if not (low.is_known and high.is_known and low.kind != "str" and high.kind != "str"):
        raise teach(node, "noise by hand", "a uniform number between ends that are no constants")
    made = curve_of(state, found)
    assert made is not None  # noqa: S101 - it was made for this
    width = Fraction(high.known) - Fraction(low.known)
    return _each(made, lambda piece: _shifted(_times(piece, width), Fraction(low.known)))


def operated(state: State, node: ast.AST, op: ast.operator, left: Value, right: Value) -> Value | None:
    """An operation of a curve with a number, or with another curve of the same uniform number; None where that makes noise."""
    one, other = curve_of(state, left), curve_of(state, right)
    if one is not None and other is not None and one.address == other.address:
        return _combined(node, op, one, other)
    if one is not None and other is not None:
        return None
    curve, number = (one, right) if one is not None else (other, left)
    assert curve is not None  # noqa: S101 - the caller has looked
    if not isinstance(number, Scalar) or number.kind == "str":
        raise teach(node, "noise by hand", f"`{ast.unparse(node)}` of a uniform number")
    value = numbers.number(state, node, number)
    if (
        value.is_known
        and curve.factor is None
        and (made := _with_constant(op, curve, Fraction(value.known), first=one is not None))
    ):
        return made
    if isinstance(op, ast.Mult) or (isinstance(op, ast.Div) and one is not None):
        return _scaled(state, node, op, curve, value)
    return None


def _scaled(state: State, node: ast.AST, op: ast.operator, curve: Curve, value: Scalar) -> Curve:
    """A multiple of a curve: the factor is a scale, and its sign goes into the pieces."""
    tree = ast.parse(value.code, mode="eval").body
    if value.is_known and value.known < 0:
        value, curve = numbers.constant(state, -value.known), _each(curve, lambda piece: _times(piece, Fraction(-1)))
    elif not value.is_known and isinstance(tree, ast.UnaryOp) and isinstance(tree.op, ast.USub):
        value, curve = (
            replace(value, code=f"({ast.unparse(tree.operand)})"),
            _each(curve, lambda piece: _times(piece, Fraction(-1))),
        )
    if curve.factor is None and isinstance(op, ast.Mult):
        return replace(curve, factor=value)
    factor = curve.factor or numbers.constant(state, Fraction(1))
    return replace(curve, factor=numbers.arithmetic(state, node, op, factor, value))


def settled(state: State, node: ast.AST, found: Value) -> Value:
    """A value that is kept: a curve that has a law is drawn here, once."""
    return noise(state, node, found) if isinstance(found, Curve) and _law(found) is not None else found


def _with_constant(op: ast.operator, curve: Curve, value: Fraction, *, first: bool) -> Curve | None:
    """A curve and a constant; None where that is no curve."""
    match op:
        case ast.Add() if _is_line(curve):
            return _each(curve, lambda piece: _shifted(piece, value))
        case ast.Sub() if _is_line(curve):
            return _each(curve, lambda piece: _shifted(piece, -value) if first else _shifted(_times(piece, Fraction(-1)), value))
        case ast.Mult():
            return _each(curve, lambda piece: _times(piece, value))
        case ast.Div() if first and value != 0:
            return _each(curve, lambda piece: _times(piece, 1 / value))
    return None


def _combined(node: ast.AST, op: ast.operator, one: Curve, other: Curve) -> Curve:
    """The product or sum of two curves of one uniform number, piece by piece."""
    pieces: list[Piece] = []
    for mine, yours in zip(one.pieces, other.pieces, strict=True):
        made = None
        if isinstance(op, ast.Mult) and (mine.is_constant or yours.is_constant):
            made = _times(yours, mine.start) if mine.is_constant else _times(mine, yours.start)
        elif isinstance(op, ast.Add) and mine.of_log is None and yours.of_log is None:
            made = Piece(mine.start + yours.start, mine.slope + yours.slope)
        elif isinstance(op, ast.Sub) and mine.of_log is None and yours.of_log is None:
            made = Piece(mine.start - yours.start, mine.slope - yours.slope)
        if made is None:
            raise teach(node, "noise by hand", f"`{ast.unparse(node)}` of a uniform number")
        pieces.append(made)
    if one.factor is not None and other.factor is not None:
        raise teach(node, "noise by hand", f"`{ast.unparse(node)}` of two uniform numbers")
    if not isinstance(op, ast.Mult) and (one.factor is not None or other.factor is not None):
        raise teach(node, "noise by hand", f"`{ast.unparse(node)}` of a uniform number")
    return Curve(one.address, (pieces[0], pieces[1]), one.factor or other.factor)


def _each(curve: Curve, make: Callable[[Piece], Piece]) -> Curve:
    """A curve with other pieces."""
    return replace(curve, pieces=(make(curve.pieces[0]), make(curve.pieces[1])))


def _is_line(curve: Curve) -> bool:
    """True for a curve without logarithms and factor."""
    return curve.factor is None and all(piece.of_log is None for piece in curve.pieces)


def _times(piece: Piece, value: Fraction) -> Piece:
    """A multiple of a piece."""
    if piece.of_log is not None:
        return replace(piece, of_log=piece.of_log * value)
    return Piece(piece.start * value, piece.slope * value)


def _shifted(piece: Piece, value: Fraction) -> Piece:
    """A line moved up."""
    return Piece(piece.start + value, piece.slope)


def _signs(node: ast.AST, curve: Curve, against: Fraction = Fraction(0)) -> tuple[int, int]:
    """The sign of each piece of lines, which must be one for the whole piece."""
    found = []
    for piece, ends in zip(curve.pieces, _ENDS, strict=True):
        values = [piece.start + piece.slope * end - against for end in ends]
        # At its ends, which have no chance, a piece may be 0.
        sign = (max(values) > 0) - (min(values) < 0)
        if piece.of_log is not None or curve.factor is not None or sign == 0:
            raise teach(node, "noise by hand", "a uniform number that is compared inside of its range")
        found.append(sign)
    return found[0], found[1]


def absolute(node: ast.AST, curve: Curve) -> Curve:
    """The size of a curve."""
    signs = _signs(node, curve)
    first, second = (_times(piece, Fraction(sign)) for piece, sign in zip(curve.pieces, signs, strict=True))
    return replace(curve, pieces=(first, second))


def compared(node: ast.AST, op: ast.cmpop, curve: Curve, value: Fraction) -> tuple[bool, bool] | None:
    """Whether a comparison with a constant holds below and above the middle; None where it does not part there."""
    if not isinstance(op, (ast.Lt, ast.LtE, ast.Gt, ast.GtE)) or not _is_line(curve):
        return None
    try:
        signs = _signs(node, curve, value)
    except OutsideSubset:
        return None
    below = isinstance(op, (ast.Lt, ast.LtE))
    return (signs[0] < 0) is below, (signs[1] < 0) is below


def joined(state: State, node: ast.AST, address: int, holds: tuple[bool, bool], one: Value, other: Value) -> Curve:
    """What is one of two by a comparison of a uniform number: a curve made of pieces of both."""
    ways: list[Curve] = []
    for value in (one, other):
        curve = curve_of(state, value)
        if curve is None and isinstance(value, Scalar) and value.is_known and value.kind in ("int", "real"):
            piece = Piece(Fraction(value.known), Fraction(0))
            curve = Curve(address, (piece, piece))
        if curve is None or curve.address != address:
            raise teach(node, "noise by hand", f"`{ast.unparse(node).splitlines()[0]}` of a uniform number")
        ways.append(curve)
    first, second = (ways[0 if fits else 1].pieces[side] for side, fits in enumerate(holds))
    factors = {"" if way.factor is None else way.factor.code: way.factor for way in ways}
    if len(factors) > 1:
        raise teach(node, "noise by hand", "a uniform number that is scaled in two ways")
    return Curve(address, (first, second), next(iter(factors.values())))


def noise(state: State, node: ast.AST, curve: Curve) -> Scalar:
    """The draw that a curve amounts to, written where it is used first."""
    held = state.heap[curve.address]
    if isinstance(held, Drawn) and held.curve == curve and held.noise is not None:
        return held.noise
    law = _law(curve)
    if law is None or not (isinstance(held, Iterator) and held.what == "uniform"):
        raise teach(node, "noise by hand", "noise made of a uniform number")
    name, scale, way, sign = law
    size = numbers.constant(state, scale) if curve.factor is None else curve.factor
    if curve.factor is not None and scale != 1:
        size = numbers.arithmetic(state, node, ast.Mult(), numbers.constant(state, scale), size)
    state.real("noise of logarithms, whose floats follow no law exactly")
    drawn = f"{state.fresh('noise')}{way}"
    state.emit(f"{drawn} = {name}({size.code})")
    made = Scalar(drawn, "real", numbers.FLOAT, noisy=True)
    if sign < 0:
        made = replace(made, code=f"(-{drawn})")
    state.heap[curve.address] = Drawn("an iterator: a uniform number that became noise", curve, made)
    return made


def _law(curve: Curve) -> tuple[str, Fraction, str, int] | None:
    """The law of a curve: its name, scale without the factor, the way that it goes with the uniform number, and its sign."""
    first, second = curve.pieces
    if first.of_log is None or second.of_log is None:
        return None
    ends = tuple(map(int, (first.start, first.slope, second.start, second.slope)))
    if any(one != int(one) for piece in curve.pieces for one in (piece.start, piece.slope)):
        return None
    size = abs(first.of_log)
    if ends == (0, 2, 2, -2) and first.of_log == -second.of_log != 0:
        return "laplace", size, _UP if first.of_log > 0 else _DOWN, 1
    if first == second and ends[:2] in ((0, 1), (1, -1)) and size > 0:
        return "exponential", size, _DOWN if first.slope == 1 else _UP, -1 if first.of_log > 0 else 1
    return None


def _logarithm(before: int) -> Any:
    """The reader of a logarithm of a curve, or of 1 and a curve; None for anything else."""

    def read(state: State, node: ast.AST, args: list[Value], named: dict[str, Value]) -> Value | None:
        curve = curve_of(state, args[0]) if len(args) == 1 and not named else None
        if curve is None:
            return None
        if not _is_line(curve):
            raise teach(node, "noise by hand", f"`{ast.unparse(node)}` of a uniform number")
        curve = _each(curve, lambda piece: _shifted(piece, Fraction(before)))
        if min(_signs(node, curve)) < 0:
            raise refuse(node, f"`{ast.unparse(node)}` of a number that may be below 0", "take the logarithm of 1 - u", "DPA706")
        return _each(curve, lambda piece: replace(piece, of_log=Fraction(1)))

    return read


def _sign(state: State, node: ast.AST, args: list[Value], named: dict[str, Value]) -> Value:
    """`math.copysign(c, u)` and `np.sign(u)`."""
    size, *rest = args if len(args) == 2 else (numbers.constant(state, 1), *args)
    curve = curve_of(state, rest[0]) if len(rest) == 1 and not named else None
    if curve is None or not (isinstance(size, Scalar) and size.kind in ("int", "real") and size.positive):
        raise refuse(node, f"`{ast.unparse(node)}`", "write `1 if x >= 0 else -1`", "DPA706")
    first, second = (Piece(Fraction(size.known if size.is_known else 1) * sign, Fraction(0)) for sign in _signs(node, curve))
    return Curve(curve.address, (first, second), None if size.is_known else size)


def with_curves(name: str, before: int) -> None:
    """Let a logarithm be read of uniform numbers too."""
    plain, of_curve = Sources.MODULES.get(name), _logarithm(before)

    def read(state: State, node: ast.AST, args: list[Value], named: dict[str, Value]) -> Value:
        found: Value | None = of_curve(state, node, args, named)
        if found is None and plain is not None:
            found = plain(state, node, args, named)
        if found is None:
            raise refuse(node, f"`{ast.unparse(node)}`", "use math.log", "DPA706")
        return found

    Sources.MODULES[name] = read


def fill() -> None:
    """Enter the functions of this module, after those that read them of other numbers."""
    for module in ("math", "numpy"):
        with_curves(f"{module}.log", 0)
        with_curves(f"{module}.log1p", 1)
    Sources.MODULES.update({"math.copysign": _sign, "numpy.sign": _sign})
    numbers.CURVES.append(noise)
