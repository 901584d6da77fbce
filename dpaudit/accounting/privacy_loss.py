"""`PrivacyLoss`: the privacy loss of everything released; no number is computed before it is asked for."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NoReturn, cast

from dpaudit.accounting.model.composition import Composition, DeltaAt, EpsilonAt, Question, merge_parts
from dpaudit.accounting.model.law import Law
from dpaudit.claims import Adjacency, Guarantee
from dpaudit.errors import InvalidArgument
from dpaudit.exact import Enclosure, Exact, in_range, instance_of, integer, kind_of, non_negative, one_given

if TYPE_CHECKING:
    from dpaudit.accounting.schemes import Scheme

_ELSEWHERE: Final = {
    "profile": "curve([0, 1, 2]) for delta at several epsilons",
    "composed": "the loss itself: it remembers what its questions found out",
    "compose": "compose(loss, other) or loss + other",
    "get_epsilon": 'epsilon(delta="1e-6")',
    "get_delta": "delta(epsilon=1)",
    "get_epsilon_for_delta": 'epsilon(delta="1e-6")',
    "get_delta_for_epsilon": "delta(epsilon=1)",
    "self_compose": "100 * loss",
    "beta": 'tradeoff(alpha="1/20")',
    "rdp": "renyi(order=2)",
    "best_of": "best_of_negative_binomial_runs(...) or best_of_poisson_runs(...)",
}

# Engines and schemes are imported by the question that needs them: most programs build losses, and few ask every question.


@dataclass(frozen=True)
class PrivacyLoss:
    """The privacy loss of everything released, composed; build it with the laws of `dpaudit.accounting` and `compose`.

    Composition is adaptive: a later release may depend on the outputs of earlier ones, as long as every release keeps its law.
    Both directions of the neighbouring relation are composed on their own, and every answer is the worse of the two.

    Args:
      composition: the laws, each with how often it is used, and the neighbouring relation that they are about.
    Source: Zhu, Dong, Wang 2022 (dominating pairs); docs/prices.md.
    Example:
      >>> from dpaudit.accounting import gaussian
      >>> loss = 100 * gaussian(sigma=10)
      >>> print(loss.describe(), loss.epsilon(delta="1e-6"))
      100 * gaussian(sigma=10, sensitivity=1) [4.88655, 4.88656]
    """

    composition: Composition

    @property
    def parts(self) -> tuple[tuple[Law, int], ...]:
        """The laws, each with how often it is used."""
        return self.composition.parts

    @property
    def adjacency(self) -> Adjacency:
        """The neighbouring relation that all parts are about."""
        return self.composition.adjacency

    @property
    def directions(self) -> tuple[str, str]:
        """The names of the two directions: of a record that is removed or added, else of the pair as it stands and reversed."""
        return ("remove", "add") if self.adjacency.kind == "add_remove" else ("forward", "backward")

    def delta(self, *, epsilon: Exact, direction: str | None = None) -> Enclosure:
        """Compute the smallest delta for which everything released is (epsilon, delta)-DP.

        Args:
          epsilon: privacy parameter in nats, exact, at least 0.
          direction: one of `directions`, such as "remove" for the loss of the dataset with the record against that without it; the
            worse of both unless given.
        Returns:
          Enclosure, dimensionless; `upper` is a valid claim, the worst neighbours lose at least `lower`.
        Raises:
          InvalidArgument: `epsilon` is not a finite number (DPA101, DPA102) or negative (DPA103), or there is no such direction
            (DPA104).
          Unsupported: no certified method covers this composition (DPA202).
        Source: Balle, Barthe, Gaboardi 2018 (privacy profiles); docs/prices.md.
        Example:
          >>> from dpaudit.accounting import gaussian
          >>> print(gaussian(sigma=1).delta(epsilon=1))
          [0.126936, 0.126937]
        """
        return self._answer(DeltaAt(non_negative(epsilon, "epsilon")), direction)

    def epsilon(self, *, delta: Exact, direction: str | None = None) -> Enclosure:
        """Compute the smallest epsilon for which everything released is (epsilon, delta)-DP.

        Args:
          delta: failure probability, exact, in [0, 1), dimensionless; 0 asks for pure epsilon.
          direction: one of `directions`; the worse of both unless given.
        Returns:
          Enclosure in nats; `upper` is a valid claim and infinite only where no finite epsilon is, nothing below `lower` is valid.
        Raises:
          InvalidArgument: `delta` is not a finite number (DPA101, DPA102) or outside [0, 1) (DPA103), or there is no such direction
            (DPA104).
          Unsupported: no certified method covers this composition (DPA202).
        Source: Sommer, Meiser, Mohammadi 2019, Lemma 5; docs/prices.md.
        Example:
          >>> from dpaudit.accounting import laplace
          >>> print((10 * laplace(scale=2)).epsilon(delta=0))
          5
        """
        return self._answer(EpsilonAt(in_range(delta, "delta", lower=0, upper=1, upper_open=True)), direction)

    def _answer(self, question: Question, direction: str | None) -> Enclosure:
        """The answer for one direction, or for the worse of both."""
        from dpaudit.accounting.engines.evaluate import evaluate, evaluate_one

        if direction is None:
            return evaluate(self.composition, question)
        return evaluate_one(self._towards(direction), question)

    def _towards(self, direction: str) -> Composition:
        """The laws of a direction; DPA104 where there is none of that name."""
        if direction not in self.directions:
            names = " or ".join(f'"{name}"' for name in self.directions)
            raise InvalidArgument("DPA104", f"direction must be {names} under {self.adjacency}, got {direction!r}.")
        return self.composition if direction == self.directions[0] else self.composition.reversed()

    def curve(self, epsilons: Iterable[Exact], *, direction: str | None = None) -> tuple[Enclosure, ...]:
        """Compute delta at many epsilons; what one question finds out serves the next.

        Args:
          epsilons: privacy parameters in nats, exact, at least 0.
          direction: one of `directions`; the worse of both unless given.
        Returns:
          One enclosure for each epsilon, the same as `delta` gives.
        Raises:
          InvalidArgument: as in `delta`.
          Unsupported: as in `delta`.
        Source: docs/prices.md.
        Example:
          >>> from dpaudit.accounting import gaussian
          >>> [str(delta) for delta in gaussian(sigma=1).curve([0, 1])]
          ['[0.382924, 0.382925]', '[0.126936, 0.126937]']
        """
        return tuple(self.delta(epsilon=epsilon, direction=direction) for epsilon in _several(epsilons, "epsilons"))

    def epsilons(self, deltas: Iterable[Exact], *, direction: str | None = None) -> tuple[Enclosure, ...]:
        """Compute epsilon at many deltas.

        Args:
          deltas: failure probabilities, exact, in [0, 1).
          direction: one of `directions`; the worse of both unless given.
        Returns:
          One enclosure for each delta, the same as `epsilon` gives.
        Raises:
          InvalidArgument: as in `epsilon`.
          Unsupported: as in `epsilon`.
        Source: docs/prices.md.
        Example:
          >>> from dpaudit.accounting import laplace
          >>> [str(epsilon) for epsilon in laplace(scale=2).epsilons([0, "1/10"])]
          ['0.5', '[0.289278, 0.289279]']
        """
        return tuple(self.epsilon(delta=delta, direction=direction) for delta in _several(deltas, "deltas"))

    def advantage(self, *, direction: str | None = None) -> Enclosure:
        """Compute the largest advantage of a test of two neighbours: its power less its level, the total variation distance.

        Args:
          direction: as in `delta`; both directions have the same distance, up to what is known of them.
        Returns:
          Enclosure in [0, 1]: delta at epsilon 0.
        Raises:
          InvalidArgument: there is no such direction (DPA104).
          Unsupported: as in `delta`.
        Source: Kairouz, Oh, Viswanath 2015, section 2; docs/prices.md.
        Example:
          >>> from dpaudit.accounting import gaussian
          >>> print(gaussian(sigma=1).advantage())
          [0.382924, 0.382925]
        """
        return self.delta(epsilon=0, direction=direction)

    def success(self, *, prior: Exact = "1/2") -> Enclosure:
        """Compute how often the best guess at which of two neighbours was used is right, when one of them has a known probability.

        Args:
          prior: probability of either one of the two datasets, exact, strictly between 0 and 1.
        Returns:
          Enclosure; no guess, on any two neighbours, is right with a larger probability than `upper`.
        Raises:
          InvalidArgument: `prior` is not a finite number (DPA101, DPA102) or not between 0 and 1 (DPA103).
          Unsupported: as in `delta`.
        Source: docs/prices.md, what an attacker can do.
        Example:
          >>> from dpaudit.accounting import gaussian
          >>> print(gaussian(sigma=1).success(), gaussian(sigma=1).success(prior="1/100").upper < 0.9901)
          [0.691462, 0.691463] True
        """
        from dpaudit.accounting.engines.tradeoffs import success_at

        return success_at(self.composition, in_range(prior, "prior", lower=0, upper=1, lower_open=True, upper_open=True))

    def tradeoff(self, *, alpha: Exact, direction: str | None = None, of: str = "tests") -> Enclosure:
        """Compute the trade-off function: the least type II error of any test of two neighbours at type I error `alpha`.

        Args:
          alpha: type I error, exact, in [0, 1], dimensionless.
          direction: one of `directions`, whose second dataset is the null hypothesis; the smaller error of both unless given.
          of: "tests", or "profile" for the convex function that belongs to the worse of the two privacy profiles: the best that a
            curve of epsilons and deltas says, never above that of the tests.
        Returns:
          Enclosure; no test of any two neighbours errs less than `lower`, and some test errs at most `upper`.
        Raises:
          InvalidArgument: `alpha` is not a finite number (DPA101, DPA102) or outside [0, 1] (DPA103), there is no such direction
            (DPA104), `of` is something else (DPA103), or a direction is asked of the profile (DPA106).
          Unsupported: no certified method covers this composition (DPA202).
        Source: Dong, Roth, Su 2022, Proposition 2.12.
        Example:
          >>> from dpaudit.accounting import gdp
          >>> print(gdp(1).tradeoff(alpha="1/20"))
          [0.740488, 0.740489]
        """
        from dpaudit.accounting.engines.tradeoffs import tradeoff_at, tradeoff_of_direction, tradeoff_of_profile

        place = in_range(alpha, "alpha", lower=0, upper=1)
        if of not in {"tests", "profile"}:
            raise InvalidArgument("DPA103", f'of must be "tests" or "profile", got {of!r}.')
        if direction is not None:
            if of == "profile":
                raise InvalidArgument("DPA106", "the profile is that of the worse direction. Leave direction out, or of.")
            return tradeoff_of_direction(self._towards(direction), place)
        return (tradeoff_at if of == "tests" else tradeoff_of_profile)(self.composition, place)

    def renyi(self, *, order: Exact, direction: str | None = None) -> Enclosure:
        """Compute the Renyi divergence of everything released, the worse of the two directions.

        Args:
          order: above 1, exact, dimensionless.
          direction: one of `directions`; the worse of both unless given.
        Returns:
          Enclosure in nats; `upper` is infinite where nothing finite is known, `lower` is 0 where only a bound is known.
        Raises:
          InvalidArgument: `order` is not a finite number (DPA101, DPA102) or not above 1 (DPA103), or there is no such direction
            (DPA104).
        Source: Mironov 2017, Definition 4 and Proposition 1.
        Example:
          >>> from dpaudit.accounting import gaussian
          >>> print((10 * gaussian(sigma=2)).renyi(order=8))
          10
        """
        from dpaudit.accounting.engines.conversions import divergence, renyi_divergence

        # Beyond 2^64 the divergence of a pure loss is its epsilon up to 1e-16, which epsilon(delta=0) gives exactly, and working
        # precision runs out: at an order of 2^200 a listed pair would answer [0, infinity].
        place = in_range(order, "order", lower=1, upper=2**64, lower_open=True)
        return renyi_divergence(self.composition, place) if direction is None else divergence(self._towards(direction), place)

    def zcdp(self) -> Enclosure:
        """Compute the smallest rho for which everything released is rho-zero-concentrated differentially private.

        Returns:
          Enclosure in nats; `upper` is a valid rho.
        Raises:
          Unsupported: no rho is known, for instance because a loss can be infinite (DPA202).
        Source: Bun and Steinke 2016, Lemma 2.3 and Proposition 1.4.
        Example:
          >>> from dpaudit.accounting import bounded_range, gaussian
          >>> print(gaussian(sigma=2).zcdp(), bounded_range(epsilon=1).zcdp().upper)
          0.125 1/8
        """
        from dpaudit.accounting.engines.conversions import zcdp_rho

        return zcdp_rho(self.composition)

    def gdp(self) -> Enclosure:
        """Compute the smallest mu for which everything released is mu-Gaussian differentially private.

        Returns:
          Enclosure, dimensionless; `upper` is a valid mu.
        Raises:
          Unsupported: the composition is neither Gaussian nor pure (DPA202).
        Source: Dong, Roth, Su 2022, Corollary 3.3 and section 2.2.
        Example:
          >>> from dpaudit.accounting import gaussian
          >>> print((16 * gaussian(sigma=2)).gdp())
          2
        """
        from dpaudit.accounting.engines.conversions import gdp_mu

        return gdp_mu(self.composition)

    def sampled(self, scheme: Scheme, *, together: bool = False) -> PrivacyLoss:
        """Return the loss when every release is made on records that a sampling scheme chooses again each time.

        Args:
          scheme: Poisson, TruncatedPoisson, WithoutReplacement, SampledWithReplacement, RandomAllocation, Shuffle or RandomOrder.
          together: whether all releases are made on one sample, which is drawn once.
        Returns:
          The loss after sampling, under the same adjacency; each release is sampled on its own unless `together`.
        Raises:
          InvalidArgument: `scheme` is no sampling scheme (DPA105).
          Unsupported: the adjacency or a part is not covered by the theorem of the scheme (DPA202).
        Source: docs/sampling_schemes.md, which has a theorem for each scheme.
        Example:
          >>> from dpaudit.accounting import Poisson, laplace
          >>> laplace(scale=1).sampled(Poisson("0.01")).epsilon(delta=0).upper < 0.0171
          True
          >>> pair = compose(laplace(scale=1), laplace(scale=2))
          >>> pair.sampled(Poisson("0.01")).delta(epsilon="0.01").upper < pair.sampled(Poisson("0.01"), together=True).delta(
          ...     epsilon="0.01"
          ... ).lower
          True
        """
        from dpaudit.accounting.laws.together import put_together
        from dpaudit.accounting.schemes import Scheme

        if not isinstance(scheme, Scheme):
            kind = type(scheme).__name__
            raise InvalidArgument("DPA105", f'sampled takes a sampling scheme, got a {kind}. For instance Poisson("0.01").')
        releases = put_together(self.composition) if instance_of(together, bool, "together") else self.composition
        return PrivacyLoss(scheme.applied_to(releases))

    def dominating(self) -> PrivacyLoss:
        """Return the loss of the laws that dominate those of this one: faster, for upper bounds only.

        Returns:
          A loss under the same adjacency, at least this one; its lower ends hold for itself only. A law without a dominating one
          stays as it is.
        Source: docs/prices.md.
        Example:
          >>> from dpaudit.accounting import gaussian
          >>> rounded = gaussian(sigma=2, sensitivity=3)
          >>> rounded.dominating().epsilon(delta="1e-6").upper == rounded.epsilon(delta="1e-6").upper
          True
        """
        from dpaudit.accounting.laws.between import dominating_laws

        return PrivacyLoss(dominating_laws(self.composition))

    def group(self, size: int | None = None, *, removed: int | None = None, added: int | None = None) -> PrivacyLoss:
        """Return the loss on datasets that differ in several records.

        Args:
          size: number of steps of the neighbouring relation, at least 1; in a sample, the worst of all splits into records that
            are removed and records that are added. Or else
          removed: number of records that only the first dataset has, 0 if only `added` is given, and
          added: number that only the second one has.
        Returns:
          A loss under the same adjacency, now of groups: of noise laws the one at the sum of the distances, in a Poisson sample
          the mixture over how many of the group are drawn, of promises what they allow at that distance.
        Raises:
          InvalidArgument: both ways or none are given (DPA106), a number is no integer (DPA105), or there is no record (DPA103).
          Unsupported: a part has no law at a larger distance, as an explicit pair has none (DPA202).
        Source: Vadhan 2017, Lemma 2.2; Bun and Steinke 2016, Proposition 1.9; docs/sampling_schemes.md, "Groups in a sample".
        Example:
          >>> from dpaudit.accounting import Poisson, gaussian, laplace
          >>> laplace(scale=2).group(3).describe()
          'laplace(scale=2, sensitivity=3)'
          >>> print(gaussian(sigma=1).sampled(Poisson("0.1")).group(2).delta(epsilon="1/2"))
          [0.0145289, 0.014529]
        """
        from dpaudit.accounting.laws.groups import of_group, of_parts

        parts = None if removed is None and added is None else (removed or 0, added or 0)
        one_given(size=size, removed_or_added=parts)
        if parts is None:
            return PrivacyLoss(of_group(self.composition, integer(cast("int", size), "size", lower=1)))
        both = [integer(number, name, lower=0) for number, name in zip(parts, ("removed", "added"), strict=True)]
        integer(sum(both), "removed + added", lower=1)
        return PrivacyLoss(of_parts(self.composition, *both))

    def user(self, *, records: int) -> PrivacyLoss:
        """Return the loss of a user who owns several records and joins or leaves with all of them.

        Args:
          records: number of records of one user, at least 1.
        Returns:
          The loss under add_remove, both directions; `group(size)` also covers groups in which some join and others leave.
        Raises:
          InvalidArgument: `records` is no integer (DPA105) or below 1 (DPA103).
          Unsupported: a part has no law at a larger distance (DPA202).
        Source: docs/sampling_schemes.md, "Groups in a sample".
        Example:
          >>> from dpaudit.accounting import Poisson, gaussian
          >>> release = gaussian(sigma=4).sampled(Poisson("0.01"))
          >>> (200 * release.user(records=32)).delta(epsilon=8).upper < 1.71e-10
          True
        """
        return self.group(removed=integer(records, "records", lower=1))

    def under(self, adjacency: Adjacency | str) -> PrivacyLoss:
        """Return the loss for another neighbouring relation, of laws that are stated for adding or removing a record.

        Args:
          adjacency: replace_one, where one record is removed and another one added, or zero_out, where a record stays and
            contributes nothing; add_remove leaves the loss as it is.
        Returns:
          The loss under that adjacency; a sensitivity stays the largest contribution of one record.
        Raises:
          Unsupported: the loss is stated under another adjacency than add_remove, or a part has no law there (DPA202).
        Source: docs/sampling_schemes.md, "Groups in a sample".
        Example:
          >>> from dpaudit.accounting import Poisson, gaussian
          >>> swapped = gaussian(sigma=1).sampled(Poisson("0.1")).under("replace_one")
          >>> print(swapped, swapped.delta(epsilon=1).upper < 0.00033)
          group(removed=1, added=1) of gaussian(sigma=1, sensitivity=1).sampled(Poisson(1/10)) under replace_one True
        """
        from dpaudit.accounting.laws.groups import under

        return PrivacyLoss(under(self.composition, Adjacency.of(adjacency)))

    def describe(self) -> str:
        """One line: every law with its exact parameters and how often it is used."""
        return self.composition.describe()

    def reversed(self) -> PrivacyLoss:
        """The same releases with the two neighbouring datasets exchanged."""
        return PrivacyLoss(self.composition.reversed())

    def __mul__(self, times: int) -> PrivacyLoss:
        """The loss of `times` such releases; `times` may be 0."""
        return PrivacyLoss(self.composition * times)

    __rmul__ = __mul__

    def __add__(self, other: PrivacyLoss) -> PrivacyLoss:
        """The loss of both together, as `compose` gives it."""
        return compose(self, other) if isinstance(other, PrivacyLoss) else NotImplemented

    def __radd__(self, other: int) -> PrivacyLoss:
        """The loss itself after 0, with which `sum` begins."""
        return self if isinstance(other, int) and other == 0 else NotImplemented

    if not TYPE_CHECKING:  # a checker of types is to see that a name is not there

        def __getattr__(self, name: str) -> NoReturn:
            """AttributeError, with the call to write instead for names that are met elsewhere."""
            instead = _ELSEWHERE.get(name)
            raise AttributeError(f"a PrivacyLoss has no {name}." + (f" Write {instead}." if instead else ""), name=name, obj=self)

    def __str__(self) -> str:
        return f"{self.describe()} under {self.adjacency}"

    def __repr__(self) -> str:
        return f"<PrivacyLoss {self}>"


def compose(*losses: PrivacyLoss) -> PrivacyLoss:
    """Return the privacy loss of several releases together, adaptively chosen.

    Args:
      losses: one or more losses under one adjacency.
    Returns:
      Their composition; equal laws are merged, the order does not matter, nothing is computed yet.
    Raises:
      AdjacencyMismatch: the losses are about different neighbouring relations (DPA201).
      InvalidArgument: no loss was given (DPA109), or something that is not a loss (DPA105).
    Source: Zhu, Dong, Wang 2022, Theorem 10 (products of dominating pairs dominate adaptive compositions).
    Example:
      >>> from dpaudit.accounting import gaussian, laplace
      >>> compose(gaussian(sigma=2), 3 * laplace(scale=4)).describe()
      'compose(gaussian(sigma=2, sensitivity=1), 3 * laplace(scale=4, sensitivity=1))'
    """
    if not losses:
        raise InvalidArgument("DPA109", "compose needs at least one privacy loss. For no release at all, write 0 * loss.")
    for loss in losses:
        if not isinstance(loss, PrivacyLoss):
            raise InvalidArgument("DPA105", f"compose takes privacy losses, got {kind_of(loss)}. For instance gaussian(sigma=1).")
        losses[0].adjacency.require(loss.adjacency, "two losses to be composed")
    return PrivacyLoss(merge_parts((part for loss in losses for part in loss.parts), losses[0].adjacency))


def _several(values: Iterable[Exact], name: str) -> Iterable[Exact]:
    """The numbers of a grid; DPA105 for a single one, and for a text, whose signs are no numbers."""
    if isinstance(values, (str, bytes)) or not isinstance(values, Iterable):
        raise InvalidArgument("DPA105", f"{name} must be several numbers, got {kind_of(values)}. Put one into a list.")
    return values


def one_release(law: Law, adjacency: Adjacency | str) -> PrivacyLoss:
    """Return the loss of one release with this law."""
    return PrivacyLoss(Composition(((law, 1),), Adjacency.of(adjacency)))


def spent_laws(spending: PrivacyLoss | Guarantee) -> Composition | Guarantee:
    """Return what a budget counts: the laws of a loss; a guarantee, and anything that will be refused, as it is."""
    return spending.composition if isinstance(spending, PrivacyLoss) else spending
