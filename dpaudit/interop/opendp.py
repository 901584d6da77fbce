"""OpenDP's measurements and transformations as audit targets, each with the claim that its own map makes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, Final

from dpaudit.claims import RDP, ZCDP, Adjacency, ApproxDP, Claim, Guarantee, PureDP
from dpaudit.errors import InvalidArgument, Unsupported
from dpaudit.exact import Exact, integer, rational
from dpaudit.interop.stability import EPSILON, NORMS, probe
from dpaudit.targets import Sensitivity, Target

_ORDERS: Final = (1.5, 2, 3, 4, 8, 16, 32, 64)
"""Orders at which a Renyi curve is asked; a claim at any choice of them is one that the curve makes."""

_VALUES: Final = {"bool": (True, False), "String": ("a", "b", "c")}
_RANGE: Final = (0, 100)
"""Where a domain has no bounds: numbers that every type holds, and that most clamps cut."""


def from_opendp(operation: Any, *, d_in: Exact = 1, delta: Exact = "1/1000", **others: Any) -> Target:
    """An OpenDP measurement, or a transformation, as an audit target with the claim of its own map.

    A transformation releases nothing. What is audited is a probe that costs at most epsilon = 2 if outputs on neighbours are as
    close as the map says; where outputs are numbers or vectors, their distance is checked as a declared sensitivity too.

    Args:
      operation: a `Measurement` or a `Transformation` of the opendp library.
      d_in: input distance at which the map is asked, in the units of the input metric, exact.
      delta: where a measurement with a whole privacy profile is audited, exact, in (0, 1); others have one of their own, or none.
      others: what else a Target takes, such as `name`, and `neighbours` or `data`; made from the input domain unless given.
    Returns:
      A Target. Its randomness is OpenDP's own, so that a report holds valid evidence but cannot be replayed run by run.
    Raises:
      InvalidArgument: not an operation of OpenDP (DPA105), a map without a finite bound (DPA102), a distance or delta that is none
        (DPA101, DPA103), or what a Target refuses (DPA404).
      Unsupported: a metric, measure or domain that has no counterpart here (DPA202).
    Source: docs/adapters.md, "OpenDP".
    Example:
      >>> from types import SimpleNamespace
      >>> Measurement = type("Measurement", (SimpleNamespace,), {"__module__": "opendp.mod"})  # a stand-in
      >>> count = Measurement(
      ...     input_metric=SimpleNamespace(type="SymmetricDistance"),
      ...     output_measure=SimpleNamespace(type="MaxDivergence"),
      ...     input_distance_type="u32",
      ...     map=lambda d_in: 0.5 * d_in,
      ... )
      >>> str(from_opendp(count, data=[3, 4]).claim)
      'epsilon = 1/2 under add_remove'
    """
    if not type(operation).__module__.startswith("opendp") or not hasattr(operation, "input_metric"):
        raise InvalidArgument("DPA105", f"a Measurement or Transformation of opendp is expected, got a {type(operation).__name__}.")
    given = others.get("neighbours")
    distance = rational(d_in, "d_in")
    adjacency = _adjacency(operation, distance, given=given is not None)
    d_out = operation.map(float(distance) if operation.input_distance_type.startswith("f") else integer(d_in, "d_in", lower=0))
    start = others.get("data") if others.get("data") is not None or isinstance(given, Sequence) else input_of(operation)
    if given is None:
        others["data"] = start
    if hasattr(operation, "output_measure"):
        claim = Claim(_guarantee(operation.output_measure, d_out, delta), adjacency, "OpenDP's privacy map")
        return Target(run=lambda data, _: operation(data), claim=claim, **{"name": "measurement", **others})
    metric = _kind(operation.output_metric)
    others.setdefault("sensitivity", Sensitivity(operation, d_out, NORMS[metric]) if d_out and metric in NORMS else None)
    claim = Claim(PureDP(epsilon=EPSILON if d_out else 0), adjacency, f"OpenDP's stability map: {d_out} at {d_in}")
    run = probe(operation, metric, float(d_out), operation(given[0][0] if isinstance(given, Sequence) else start))
    return Target(run=run, claim=claim, **{"name": "transformation", **others})


def _kind(descriptor: Any) -> str:
    """Return the name of a metric or measure, without its module and the type of its numbers."""
    return re.sub(r"^.*::(?=\w+(<|$))|<(?!Max|Zero).*", "", str(descriptor.type))


def _adjacency(operation: Any, d_in: Fraction, *, given: bool) -> Adjacency:
    """Return the neighbouring relation of an input metric at a distance."""
    metric, sized = _kind(operation.input_metric), getattr(getattr(operation, "input_domain", None), "size", None) is not None
    if metric in NORMS and (given or "monotonic=true" not in str(operation.input_metric).lower()):
        return Adjacency("norm_ball", norm=NORMS[metric], radius=d_in)
    if metric in {"SymmetricDistance", "InsertDeleteDistance"} and d_in == 1 + sized:
        return Adjacency("replace_one" if sized else "add_remove")
    if metric in {"ChangeOneDistance", "HammingDistance", "DiscreteDistance"}:
        return Adjacency("replace_one") if d_in == 1 else Adjacency("hamming", radius=int(d_in))
    raise Unsupported("DPA202", f"{metric} at distance {d_in} has no adjacency here. Ask at d_in=1, for datasets of one size at 2.")


def _guarantee(measure: Any, d_out: Any, delta: Exact) -> Guarantee:
    """Return the guarantee that a privacy map gives."""
    match _kind(measure), d_out:
        case "MaxDivergence", epsilon:
            return PureDP(epsilon)
        case "ZeroConcentratedDivergence", rho:
            return ZCDP(rho)
        case "Approximate<MaxDivergence>", (epsilon, fixed):
            return ApproxDP(epsilon, fixed)
        case "Approximate<ZeroConcentratedDivergence>", (rho, 0.0):
            return ZCDP(rho)
        case "SmoothedMaxDivergence", profile:
            return ApproxDP(profile.epsilon(float(rational(delta))), float(rational(delta)))
        case "RenyiDivergence", curve:
            return RDP({order: curve(float(order)) for order in _ORDERS})
    raise Unsupported("DPA202", f"{measure} has no counterpart here. OpenDP converts most measures with opendp.combinators.")


def input_of(operation: Any) -> Any:
    """An input made from the domain: values across its range, one record more than the output has where that is fixed."""
    domain = operation.input_domain
    atom = getattr(domain, "element_domain", domain)
    kind = str(getattr(atom, "carrier_type", ""))
    values: list[Any] = list(_VALUES.get(kind, ()))
    size = getattr(domain, "size", None) or (getattr(getattr(operation, "output_domain", None), "size", None) or 3) + 1
    if re.fullmatch(r"[fiu]\d+|usize", kind):
        lower, upper = atom.bounds or _RANGE
        number = float if kind.startswith("f") else round
        values = [number(lower + (upper - lower) * place / (size - 1 or 1)) for place in range(size)]
    if not values:
        raise Unsupported("DPA202", f"no input can be made from {domain}. Give data= or neighbours=.")
    return values[0] if atom is domain else [values[place % len(values)] for place in range(size)]
