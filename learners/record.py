"""Privacy record of a fit: what ran, under which neighbouring relation, what it costs, and how to compute that again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from itertools import islice
from types import MappingProxyType
from typing import Any, Final, Self

from dpaudit import accounting
from dpaudit.accounting import PrivacyLoss, RandomOrder, compose, price_releases
from dpaudit.accounting.schemes import Scheme
from dpaudit.claims import Adjacency
from dpaudit.errors import InvalidArgument
from dpaudit.exact import Enclosure, Exact, in_range, integer, outward, rational, shown
from dpaudit.releases import Release

SCHEMA: Final = "dpaudit.privacy_record/1"

_SCHEMES: Final = ("Poisson", "RandomAllocation", "RandomOrder", "Shuffle", "WithoutReplacement")


@dataclass(frozen=True)
class Charge:
    """Releases of a fit that are priced together.

    Args:
      releases: what ran, from the release log, at least one.
      scheme: how the records of each release were chosen; None where all of them took part. Under `RandomOrder` the releases are
        those of the passes, as many as it has batches, at one noise multiplier.
    """

    releases: tuple[Release, ...]
    scheme: Scheme | None = None

    def __post_init__(self) -> None:
        """Refuse what has no price together."""
        if not self.releases:
            raise InvalidArgument("DPA109", "releases of a charge must hold at least one release, got none. Leave out the charge.")
        if isinstance(self.scheme, RandomOrder):
            passes = self.scheme.rounds * len(self.scheme.batches)
            multipliers = {release.parameter("sigma") / release.sensitivity for release in self.releases}
            if len(multipliers) != 1 or sum(release.count for release in self.releases) != passes:
                got = f"got {sum(release.count for release in self.releases)} at {len(multipliers)}"
                raise InvalidArgument("DPA103", f"a random order needs {passes} releases at one noise multiplier, {got}.")

    @property
    def loss(self) -> PrivacyLoss:
        """The loss of the releases, each on the records that the scheme chooses."""
        if self.scheme is None:
            return price_releases(self.releases)
        if isinstance(self.scheme, RandomOrder):
            return price_releases([replace(self.releases[0], count=1)]).sampled(self.scheme)
        return price_releases(self.releases).sampled(self.scheme)


@dataclass(frozen=True)
class PrivacyRecord:
    """The record of what a fit released and what that costs; fitted estimators have one as `privacy_`.

    Args:
      charges: what ran; empty if nothing was released.
      adjacency: the neighbouring relation of all of it.
      delta: failure probability, exact, in [0, 1).
      epsilon: certified upper end at `delta`, in nats.
      secure: False if noise came from a seeded source: then nothing is private.
      public: public quantities by name, such as the number of records: text, integers, truth values, and lists of them.
      notes: what the guarantee does not cover, in sentences.
    Source: docs/learners.md, "The record".
    Example:
      >>> record = PrivacyRecord.of([], adjacency="replace_one", delta=0, public={"records": 10})
      >>> record == PrivacyRecord.from_dict(record.to_dict())
      True
    """

    charges: tuple[Charge, ...]
    adjacency: Adjacency
    delta: Fraction
    epsilon: Fraction | float
    secure: bool
    public: Mapping[str, Any]
    notes: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        charges: Sequence[Charge],
        *,
        adjacency: Adjacency | str,
        delta: Exact,
        public: Mapping[str, Any],
        notes: Sequence[str] = (),
    ) -> Self:
        """Price charges under one neighbouring relation; epsilon is the certified upper end at `delta`."""
        relation, failure = Adjacency.of(adjacency), in_range(delta, "delta", lower=0, upper=1, upper_open=True)
        loss = _composed(charges, relation)
        epsilon = Fraction(0) if loss is None else loss.dominating().epsilon(delta=failure).upper
        secure = all(release.secure for charge in charges for release in charge.releases)
        return cls(tuple(charges), relation, failure, epsilon, secure, MappingProxyType(dict(public)), tuple(notes))

    @property
    def loss(self) -> PrivacyLoss | None:
        """The loss of everything that ran; None if nothing was released."""
        return _composed(self.charges, self.adjacency)

    def stating(self, facts: Mapping[str, Any], notes: Sequence[str] = ()) -> Self:
        """Add public quantities, which replace those of the same name, and notes on what the guarantee does not cover."""
        return replace(self, public=MappingProxyType({**self.public, **facts}), notes=(*self.notes, *notes))

    def ran(self, log: Sequence[Release]) -> Self:
        """Turn the record of a plan into that of its run, whose log must hold what was planned, and whose noise may be insecure."""
        planned = [release for charge in self.charges for release in charge.releases]
        if [replace(release, secure=True) for release in log] != planned:
            raise AssertionError("a run released something else than it planned")
        left = iter(log)
        charges = tuple(Charge(tuple(islice(left, len(charge.releases))), charge.scheme) for charge in self.charges)
        return replace(self, charges=charges, secure=all(release.secure for release in log))

    def recompute(self) -> Enclosure:
        """Epsilon at `delta`, computed again from what ran.

        Returns:
          Enclosure in nats; its upper end is at most `epsilon`.
        Raises:
          Unsupported: a release has no price (DPA202).
        Source: docs/learners.md, "The record".
        Example:
          >>> print(PrivacyRecord.of([], adjacency="replace_one", delta="1e-5", public={}).recompute())
          0
        """
        loss = _composed(self.charges, self.adjacency)
        return Enclosure.point(0) if loss is None else loss.epsilon(delta=self.delta)

    def to_dict(self) -> dict[str, Any]:
        """The record as JSON values, exact numbers as text."""
        return {
            "schema": SCHEMA,
            "adjacency": {name: _text(value) for name, value in _parts(self.adjacency).items()},
            "delta": str(self.delta),
            "epsilon": str(self.epsilon),
            "secure": self.secure,
            "public": dict(self.public),
            "notes": list(self.notes),
            "charges": [
                {"releases": [_release_out(release) for release in charge.releases], "scheme": _scheme_out(charge.scheme)}
                for charge in self.charges
            ],
        }

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Self:
        """A record from what `to_dict` gave, by way of JSON or not.

        Args:
          values: the record as JSON values.
        Returns:
          An equal record. Its epsilon is the one written there; `recompute` says what it is.
        Raises:
          InvalidArgument: not a record of this schema (DPA105), or a number in it is invalid (DPA101, DPA103).
        Source: docs/learners.md, "The record".
        Example:
          >>> PrivacyRecord.from_dict({"schema": "other"})
          Traceback (most recent call last):
          ...
          dpaudit.errors.InvalidArgument: DPA105 not a privacy record of schema dpaudit.privacy_record/1.
        """
        if not isinstance(values, Mapping) or values.get("schema") != SCHEMA:
            raise InvalidArgument("DPA105", f"not a privacy record of schema {SCHEMA}.")
        try:
            adjacency = Adjacency(**values["adjacency"])
            charges = tuple(
                Charge(tuple(_release_in(each, adjacency) for each in charge["releases"]), _scheme_in(charge["scheme"]))
                for charge in values["charges"]
            )
            epsilon = float("inf") if values["epsilon"] == "inf" else rational(values["epsilon"], "epsilon")
            delta, public = rational(values["delta"], "delta"), MappingProxyType(dict(values["public"]))
            return cls(charges, adjacency, delta, epsilon, bool(values["secure"]), public, tuple(values["notes"]))
        except (AttributeError, KeyError, TypeError) as error:
            raise InvalidArgument("DPA105", f"a privacy record of {SCHEMA} lacks a part or has one of another type.") from error

    def __str__(self) -> str:
        """A table of what ran, with its price above."""
        price_text = outward(self.epsilon, digits=6, up=True) if isinstance(self.epsilon, Fraction) else "infinite"
        lines = [f"epsilon {price_text} at delta {shown(self.delta)} under {self.adjacency}"]
        if not self.secure:
            lines.append("NOT PRIVATE: the noise came from a seeded source")
        for charge in self.charges:
            for release in charge.releases:
                noise = ", ".join(f"{name} {shown(value)}" for name, value in release.parameters)
                size = f"{release.count} x {release.dimension}"
                lines.append(f"  {release.kind:<24} {size:>12}  sensitivity {shown(release.sensitivity)}; {noise}")
            if charge.scheme is not None:
                lines.append(f"  priced together under {charge.scheme}")
        lines += [f"public: {name} = {value}" for name, value in self.public.items()]
        return "\n".join([*lines, *(f"note: {note}" for note in self.notes)])

    def __reduce__(self) -> tuple[Any, tuple[dict[str, Any]]]:
        """Pickle by its JSON values, which hold nothing but what was released and public constants."""
        return type(self).from_dict, (self.to_dict(),)


def _composed(charges: Sequence[Charge], adjacency: Adjacency) -> PrivacyLoss | None:
    """The loss of the charges, all of which must be under the one adjacency; None if there are none."""
    if not charges:
        return None
    loss = compose(*(charge.loss for charge in charges))
    adjacency.require(loss.adjacency, "a record and its releases")
    return loss


def _parts(value: Any) -> dict[str, Any]:
    """Fields of a dataclass by name."""
    return {field.name: getattr(value, field.name) for field in fields(value)}


def _text(value: Any) -> Any:
    """Exact numbers as text, sequences as lists, everything else as it is."""
    if isinstance(value, Fraction):
        return str(value)
    return list(map(_text, value)) if isinstance(value, (list, tuple)) else value


def _release_out(release: Release) -> dict[str, Any]:
    """A release as JSON values; its adjacency is the record's."""
    values = {name: _text(value) for name, value in _parts(release).items() if name not in {"adjacency", "parameters"}}
    return {**values, "parameters": {name: str(value) for name, value in release.parameters}}


def _release_in(values: Mapping[str, Any], adjacency: Adjacency) -> Release:
    """The release that was written."""
    parameters = tuple(sorted((name, rational(value, name)) for name, value in values["parameters"].items()))
    dimension, count = (integer(values[name], name, lower=1) for name in ("dimension", "count"))
    sensitivity = rational(values["sensitivity"], "sensitivity")
    return Release(values["kind"], parameters, sensitivity, adjacency, dimension, count, bool(values["secure"]))


def _scheme_out(scheme: Scheme | None) -> dict[str, Any] | None:
    """A sampling scheme by its name and parameters."""
    return None if scheme is None else {"name": type(scheme).__name__, **{k: _text(v) for k, v in _parts(scheme).items()}}


def _scheme_in(values: Mapping[str, Any] | None) -> Scheme | None:
    """The sampling scheme that was written."""
    if values is None:
        return None
    known = dict(values)
    if (name := known.pop("name")) not in _SCHEMES:
        raise InvalidArgument("DPA103", f"a sampling scheme must be one of {', '.join(_SCHEMES)}, got {name!r}.")
    scheme: Scheme = getattr(accounting, name)(**known)
    return scheme
