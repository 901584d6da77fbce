"""Claims: a guarantee (epsilon, delta, a curve ...) and the neighbouring relation that it holds under."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Final, Protocol, TypeAlias, runtime_checkable

from dpaudit.errors import AdjacencyMismatch, InvalidArgument
from dpaudit.exact import Enclosure, Exact, in_range, integer, kind_of, non_negative, positive, rational, shown

# Neighbouring relations and what each lets change.
KINDS: Final = {
    "add_remove": "one record added or removed",
    "replace_one": "one record replaced, the number of records is public",
    "zero_out": "one record becomes the null record",
    "label": "one record has another label, its features are public",
    "norm_ball": "the input vector moves by at most a radius in a norm",
    "hamming": "at most so many records have other values, the number of records is public",
    "edge": "one edge of a graph more or less, its nodes are public",
    "node": "one node of a graph with all its edges more or less",
}

NORMS: Final = ("l1", "l2", "linf")

# Names that other libraries and papers give to the relations.
_OTHER_WORDS: Final = {
    **dict.fromkeys(("add", "remove", "add_or_remove", "add_remove_one", "addition", "deletion", "unbounded"), "add_remove"),
    **dict.fromkeys(("replace", "replacement", "substitute", "substitution", "swap", "change_one", "bounded"), "replace_one"),
    **dict.fromkeys(("zero", "zeroing", "zeroed"), "zero_out"),
}


@dataclass(frozen=True)
class Adjacency:
    """A neighbouring relation, as a value that is compared wherever privacy statements are put together.

    Args:
      kind: one of `KINDS`.
      unit: what one "record" is: "record", or "user:KEY" when all rows with one value of column KEY belong together.
      norm: "l1", "l2" or "linf", for `norm_ball` only.
      radius: largest distance in that norm, exact and positive, for `norm_ball`; how many records, 1 unless given, for `hamming`.
    Raises:
      InvalidArgument: an unknown kind, unit or norm (DPA103), a norm without radius (DPA106), or a `hamming` radius that is no
        positive integer (DPA103, DPA105).
    Source: Dwork and Roth 2014, section 2.3; Desfontaines and Pejo 2020 for the variants.
    Example:
      >>> Adjacency("replace_one") == Adjacency.of("replace_one")
      True
    """

    kind: str
    unit: str = "record"
    norm: str | None = None
    radius: Exact | None = None

    def __post_init__(self) -> None:
        """Check the parts against each other and store the radius exactly."""
        for part in ("kind", "unit"):
            if not isinstance(getattr(self, part), str):
                raise InvalidArgument("DPA105", f"{part} must be a string, got {kind_of(getattr(self, part))}.")
        if self.kind not in KINDS:
            raise InvalidArgument("DPA103", f"adjacency must be one of {', '.join(KINDS)}, got {self.kind!r}. {_meant(self.kind)}")
        if self.unit != "record" and not (self.unit.startswith("user:") and len(self.unit) > len("user:")):
            raise InvalidArgument("DPA103", f'unit must be "record" or "user:KEY", got {self.unit!r}.')
        if self.kind == "norm_ball":
            if self.norm not in NORMS or self.radius is None:
                raise InvalidArgument(
                    "DPA106", f"norm_ball needs norm= one of {', '.join(NORMS)} and radius=, got norm={self.norm!r}."
                )
            object.__setattr__(self, "radius", positive(self.radius, "radius"))
        elif self.kind == "hamming" and self.norm is None:
            object.__setattr__(self, "radius", integer(1 if self.radius is None else self.radius, "radius", lower=1))
        elif self.norm is not None or self.radius is not None:
            raise InvalidArgument(
                "DPA106", f"norm and radius belong to norm_ball, radius alone to hamming too, got them with {self.kind}."
            )

    @classmethod
    def of(cls, value: Adjacency | str) -> Adjacency:
        """The relation itself, or the one a string such as "add_remove" is shorthand for."""
        if isinstance(value, Adjacency):
            return value
        if isinstance(value, str):
            return cls(value)
        raise InvalidArgument("DPA105", f'adjacency must be an Adjacency or a string such as "add_remove", got {kind_of(value)}.')

    def require(self, other: Adjacency, what: str) -> None:
        """Raise AdjacencyMismatch (DPA201) unless `other` is this very relation; `what` names the two sides."""
        if self != other:
            raise AdjacencyMismatch(
                "DPA201", f"{what} are about different neighbouring relations: {self} and {other}. State both under one adjacency."
            )

    def __str__(self) -> str:
        """The kind, with unit or ball where they are not the usual ones."""
        size = "" if self.radius is None else shown(rational(self.radius))
        ball = size and f"({size if self.norm is None else f'{self.norm}, {size}'})"
        unit = "" if self.unit == "record" else f" per {self.unit}"
        return f"{self.kind}{ball}{unit}"


def _meant(word: str) -> str:
    """Say what to write instead of an unknown relation."""
    from difflib import get_close_matches

    plain = "_".join(word.lower().replace("-", " ").replace("_", " ").split())
    near = [_OTHER_WORDS[plain]] if plain in _OTHER_WORDS else get_close_matches(plain, KINDS, n=1)
    if near:
        return f'Write adjacency="{near[0]}": {KINDS[near[0]]}.'
    return f'Write "add_remove" for {KINDS["add_remove"]}, "replace_one" where {KINDS["replace_one"]}.'


@runtime_checkable
class PrivacyProfile(Protocol):
    """The privacy loss of something released: what `dpaudit.accounting` builds and what a claim is compared with."""

    @property
    def adjacency(self) -> Adjacency:
        """The neighbouring relation the loss is about."""

    def delta(self, *, epsilon: Exact) -> Enclosure:
        """Smallest delta at `epsilon`, over both directions of the neighbouring relation."""

    def epsilon(self, *, delta: Exact) -> Enclosure:
        """Smallest epsilon in nats at `delta`, over both directions of the neighbouring relation."""

    def describe(self) -> str:
        """One line that names the law and its exact parameters."""


@dataclass(frozen=True)
class PureDP:
    """Pure differential privacy: no event is more than e^epsilon times likelier on a neighbour.

    Args:
      epsilon: privacy parameter in nats, exact, at least 0.
    Raises:
      InvalidArgument: `epsilon` is not a finite number (DPA101, DPA102) or negative (DPA103).
    Source: Dwork, McSherry, Nissim, Smith 2006, Definition 1.
    Example:
      >>> str(PureDP(epsilon="1/2"))
      'epsilon = 1/2'
    """

    epsilon: Exact

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", non_negative(self.epsilon, "epsilon"))

    def __str__(self) -> str:
        return f"epsilon = {shown(rational(self.epsilon))}"


@dataclass(frozen=True)
class ApproxDP:
    """Approximate differential privacy: P(S) <= e^epsilon Q(S) + delta for every event S.

    Args:
      epsilon: privacy parameter in nats, exact, at least 0.
      delta: failure probability, exact, in [0, 1), dimensionless.
    Raises:
      InvalidArgument: a parameter is not a finite number (DPA101, DPA102) or out of range (DPA103).
    Source: Dwork, Kenthapadi, McSherry, Mironov, Naor 2006.
    Example:
      >>> str(ApproxDP(epsilon=1, delta="1e-6"))
      'epsilon = 1, delta = 1e-06'
    """

    epsilon: Exact
    delta: Exact

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", non_negative(self.epsilon, "epsilon"))
        object.__setattr__(self, "delta", in_range(self.delta, "delta", lower=0, upper=1, upper_open=True))

    def __str__(self) -> str:
        return f"epsilon = {shown(rational(self.epsilon))}, delta = {shown(rational(self.delta))}"


@dataclass(frozen=True)
class ZCDP:
    """Zero-concentrated differential privacy: Renyi divergence of every order a > 1 is at most a rho.

    Args:
      rho: privacy parameter in nats, exact, at least 0.
    Raises:
      InvalidArgument: `rho` is not a finite number (DPA101, DPA102) or negative (DPA103).
    Source: Bun and Steinke 2016, Definition 1.1.
    Example:
      >>> str(ZCDP(rho="1/2"))
      'rho = 1/2 (zCDP)'
    """

    rho: Exact

    def __post_init__(self) -> None:
        object.__setattr__(self, "rho", non_negative(self.rho, "rho"))

    def __str__(self) -> str:
        return f"rho = {shown(rational(self.rho))} (zCDP)"


@dataclass(frozen=True, init=False)
class RDP:
    """Renyi differential privacy at the listed orders.

    Args:
      orders: mapping from order a > 1 to the bound on the Renyi divergence of that order, in nats, at least 0.
    Raises:
      InvalidArgument: an order is not above 1 or given twice, or a bound is negative (DPA103), or the mapping is empty (DPA109).
    Source: Mironov 2017, Definition 4.
    Example:
      >>> str(RDP({2: "1/2", 8: 2}))
      'Renyi divergence <= 1/2 at order 2, 2 at order 8'
    """

    orders: tuple[tuple[Fraction, Fraction], ...]

    def __init__(self, orders: Mapping[Exact, Exact]) -> None:
        if not isinstance(orders, Mapping):
            raise InvalidArgument("DPA105", f"RDP takes a mapping from order to bound, got {kind_of(orders)}.")
        if not orders:
            raise InvalidArgument("DPA109", "RDP needs at least one order. Give a mapping such as {2: '1/2'}.")
        pairs = [(rational(order, "order"), non_negative(bound, "bound")) for order, bound in orders.items()]
        for order, _ in pairs:
            if order <= 1:
                raise InvalidArgument("DPA103", f"order must be above 1, got {shown(order)}.")
        if len(dict(pairs)) < len(pairs):
            raise InvalidArgument("DPA103", "orders must differ, got one of them twice. Give one bound per order.")
        object.__setattr__(self, "orders", tuple(sorted(pairs)))

    def __str__(self) -> str:
        return "Renyi divergence <= " + ", ".join(f"{shown(bound)} at order {shown(order)}" for order, bound in self.orders)


@dataclass(frozen=True)
class GDP:
    """Gaussian differential privacy: no test distinguishes neighbours better than N(0, 1) from N(mu, 1).

    Args:
      mu: distance in standard deviations, exact, at least 0, dimensionless.
    Raises:
      InvalidArgument: `mu` is not a finite number (DPA101, DPA102) or negative (DPA103).
    Source: Dong, Roth, Su 2022, Definition 2.6.
    Example:
      >>> str(GDP(mu="1/10"))
      'mu = 1/10 (GDP)'
    """

    mu: Exact

    def __post_init__(self) -> None:
        object.__setattr__(self, "mu", non_negative(self.mu, "mu"))

    def __str__(self) -> str:
        return f"mu = {shown(rational(self.mu))} (GDP)"


@dataclass(frozen=True)
class Curve:
    """A whole privacy profile: at every epsilon, delta is at most the upper end of `loss.delta(epsilon=...)`.

    Args:
      loss: any privacy loss of `dpaudit.accounting`.
    Raises:
      InvalidArgument: `loss` has no delta(epsilon=...) (DPA105).
    Source: Balle, Barthe, Gaboardi 2018 (privacy profiles).
    Example:
      >>> from dpaudit.accounting import gaussian
      >>> str(Curve(gaussian(sigma=2)))
      'profile of gaussian(sigma=2, sensitivity=1)'
    """

    loss: PrivacyProfile

    def __post_init__(self) -> None:
        if not isinstance(self.loss, PrivacyProfile):
            raise InvalidArgument("DPA105", f"Curve takes a privacy loss of dpaudit.accounting, got {kind_of(self.loss)}.")

    def __str__(self) -> str:
        return f"profile of {self.loss.describe()}"


Guarantee: TypeAlias = PureDP | ApproxDP | ZCDP | RDP | GDP | Curve


@dataclass(frozen=True)
class Claim:
    """A guarantee together with the neighbouring relation it holds under.

    Args:
      guarantee: PureDP, ApproxDP, ZCDP, RDP, GDP or Curve.
      adjacency: an Adjacency or its shorthand string.
      note: where the claim comes from, free text for the report.
    Raises:
      InvalidArgument: the guarantee is of another type (DPA105) or the adjacency unknown (DPA103).
      AdjacencyMismatch: the loss of a Curve is about another adjacency (DPA201).
    Source: design rule 5 (adjacency is a value).
    Example:
      >>> str(Claim(PureDP(epsilon=1), adjacency="replace_one"))
      'epsilon = 1 under replace_one'
    """

    guarantee: Guarantee
    adjacency: Adjacency | str = "add_remove"
    note: str = ""

    def __post_init__(self) -> None:
        if not isinstance(self.guarantee, (PureDP, ApproxDP, ZCDP, RDP, GDP, Curve)):
            raise InvalidArgument(
                "DPA105",
                f"a claim needs PureDP, ApproxDP, ZCDP, RDP, GDP or Curve, got {kind_of(self.guarantee)}. "
                "For instance Claim(PureDP(epsilon=1)).",
            )
        object.__setattr__(self, "adjacency", Adjacency.of(self.adjacency))
        if isinstance(self.guarantee, Curve):
            self.relation.require(self.guarantee.loss.adjacency, "a claim and the loss it promises")

    @property
    def relation(self) -> Adjacency:
        """The adjacency as a value, whatever it was written as."""
        return Adjacency.of(self.adjacency)

    def __str__(self) -> str:
        return f"{self.guarantee} under {self.adjacency}"
