"""Privacy losses of explicit pairs, of mixtures, and of interactive releases that pay per update."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from dpaudit.accounting.laws.between import Between, dominated_laws, dominating_laws
from dpaudit.accounting.laws.charged import Round, UpdateCharged
from dpaudit.accounting.laws.mixed import HIDDEN, REVEALED, Mixed, law_of_component
from dpaudit.accounting.laws.mixed_normals import mixed_normals
from dpaudit.accounting.laws.pairs import distribution_from_numbers, listed_pair
from dpaudit.accounting.privacy_loss import PrivacyLoss, one_release
from dpaudit.claims import Adjacency
from dpaudit.errors import InvalidArgument
from dpaudit.exact import Exact, in_range, instance_of, integer, non_negative, positive, shown


def explicit_pair(p: Sequence[Exact], q: Sequence[Exact], *, adjacency: Adjacency | str = "add_remove") -> PrivacyLoss:
    """Privacy loss of a mechanism with finitely many outputs, from its exact probabilities on two neighbours.

    Args:
      p: probability of each output on the first dataset, exact, adding up to 1.
      q: probability of each output on the second dataset, in the same order. In a composition the first dataset is
        the same for all pairs, so under add_remove let `p` always be the dataset that has the record.
      adjacency: the neighbouring relation of the two datasets.
    Returns:
      A loss that is exact in both directions, also after composition.
    Raises:
      InvalidArgument: different lengths (DPA105), no outputs (DPA109), an entry that is not a probability or sums other
        than 1 (DPA103).
    Source: Zhu, Dong, Wang 2022 (dominating pairs); Sommer, Meiser, Mohammadi 2019 for exact composition.
    Example:
      >>> (2 * explicit_pair(["3/4", "1/4"], ["1/4", "3/4"])).delta(epsilon=0).lower
      Fraction(1, 2)
    """
    sides = tuple(distribution_from_numbers(side, name) for side, name in ((p, "p"), (q, "q")))
    if len(sides[0]) != len(sides[1]):
        raise InvalidArgument(
            "DPA105", f"p and q must list the same outputs, got {len(sides[0])} and {len(sides[1])} probabilities."
        )
    return one_release(listed_pair(*sides), adjacency)


def mixture(parts: Sequence[tuple[Exact, PrivacyLoss]], *, revealed: bool = True) -> PrivacyLoss:
    """Privacy loss of one of several mechanisms, drawn with public probabilities that do not depend on the data.

    Args:
      parts: (probability, loss) of each component, probabilities exact and adding up to 1; a loss is that of one release, or of
        none (`0 * loss`).
      revealed: whether the component is known to those who see the output. If not, the revealed mixture is a bound from above
        and nothing is known from below; of components with listed outputs, average the probabilities and give `explicit_pair`.
    Returns:
      A loss under the components' adjacency, exact where those of the components are, also after composition.
    Raises:
      AdjacencyMismatch: the components are about different neighbouring relations (DPA201).
      InvalidArgument: no component (DPA109), one that is no pair of a number and a loss (DPA101, DPA102, DPA105), or
        probabilities outside [0, 1] or of another sum than 1 (DPA103).
      Unsupported: a component makes several releases, or is known by its moments only (DPA202).
    Source: docs/prices.md, "Mixtures".
    Example:
      >>> from dpaudit.accounting import laplace, pure_dp
      >>> half = mixture([("1/2", laplace(scale=1)), ("1/2", pure_dp("1/4"))])
      >>> print(half.epsilon(delta=0), half.delta(epsilon="1/4"))
      1 [0.156355, 0.156356]
    """
    instance_of(revealed, bool, "revealed")
    if not isinstance(parts, Sequence) or not all(_is_component(part) for part in parts):
        raise InvalidArgument("DPA105", "parts must be (probability, loss) pairs in a sequence, such as [(1, gaussian(sigma=1))].")
    if not parts:
        raise InvalidArgument("DPA109", "parts must list at least one component.")
    adjacency = parts[0][1].adjacency
    for _, loss in parts:
        adjacency.require(loss.adjacency, "two components of a mixture")
    found = [(in_range(weight, "a component's probability", lower=0, upper=1), loss) for weight, loss in parts]
    whole = sum((weight for weight, _ in found), Fraction(0))
    if whole != 1:
        remedy = 'Write fractions such as "1/3", not rounded decimals.'
        raise InvalidArgument("DPA103", f"probabilities must add up to exactly 1, got {shown(whole)}. {remedy}")
    drawn = tuple((weight, loss) for weight, loss in found if weight)
    above, below = (
        Mixed(tuple((weight, law_of_component(loss.composition, side)) for weight, loss in drawn))
        for side in (dominating_laws, dominated_laws)
    )
    if len(drawn) == 1:
        return drawn[0][1]
    if revealed and above == below:
        return one_release(above, adjacency)
    name = f"mixture({', '.join(f'{shown(weight)}: {loss.describe()}' for weight, loss in drawn)}, revealed={revealed})"
    return one_release(Between(name, above, below, REVEALED) if revealed else Between(name, above, None, HIDDEN), adjacency)


def update_charged(
    *,
    scale: Exact,
    sensitivity: Exact = "1",
    threshold: Exact,
    updates: int,
    lattice: Exact | None = None,
    adjacency: Adjacency | str = "add_remove",
) -> PrivacyLoss:
    """Privacy loss of any number of adaptive queries whose noisy value is shown only beyond a threshold, a few times at most.

    Every round adds fresh noise to a query and shows the result if its absolute value exceeds the threshold (an update), else
    only that it does not. Query, and what a public guess subtracts from it, may depend on all that was shown. The run may have
    any number of rounds; it ends with the last update.

    Args:
      scale: scale of the Laplace noise, in units of the query, exact, positive.
      sensitivity: largest distance of a query on neighbours, in the same units, exact, positive.
      threshold: public and the same in all rounds, without noise, exact, at least half the sensitivity.
      updates: number of updates with which the run ends, at least 1.
      lattice: step on whose multiples queries and discrete Laplace noise lie, exact, positive, a divisor of the sensitivity;
        None for noise on the line.
      adjacency: the neighbouring relation that the sensitivity is about.
    Returns:
      A loss between a moment bound and what one attack gains: an analyst who asks the same query again and again.
    Raises:
      InvalidArgument: a parameter is not a number (DPA101, DPA102, DPA105), not positive (DPA104), out of range (DPA103), or the
        sensitivity is no multiple of the lattice (DPA107).
    Source: Jain and Thakurta 2013, Algorithm 1; docs/prices.md, "Charged updates".
    Example:
      >>> loss = update_charged(scale=40, threshold=2000, updates=10)
      >>> loss.epsilon(delta="1e-6").upper < 1
      True
    """
    width, distance, edge = positive(scale, "scale"), positive(sensitivity, "sensitivity"), positive(threshold, "threshold")
    times, step = integer(updates, "updates", lower=1), Fraction(0) if lattice is None else positive(lattice, "lattice")
    if step and distance % step:
        remedy = "Round it down: values on the lattice are no further apart."
        raise InvalidArgument(
            "DPA107", f"sensitivity must be a multiple of the lattice {shown(step)}, got {shown(distance)}. {remedy}"
        )
    if 2 * edge < distance:
        remedy = "A lower one hides next to nothing: compose laplace() over all rounds."
        raise InvalidArgument("DPA103", f"threshold must be at least {shown(distance / 2)}, got {shown(edge)}. {remedy}")
    stated = {"scale": width, "sensitivity": distance, "threshold": edge} | ({"lattice": step} if step else {})
    name = f"update_charged({', '.join(f'{key}={shown(value)}' for key, value in stated.items())}, updates={times})"
    return one_release(
        UpdateCharged(Round(width, distance, (edge // step + 1) * step if step else edge, step), times, name), adjacency
    )


def _is_component(part: object) -> bool:
    """True for a pair of anything and a loss."""
    return isinstance(part, tuple) and len(part) == 2 and isinstance(part[1], PrivacyLoss)


def gaussian_mixture(
    *, sigma: Exact, sensitivities: Sequence[Exact], weights: Sequence[Exact], adjacency: Adjacency | str = "add_remove"
) -> PrivacyLoss:
    """Privacy loss of Gaussian noise on a sum to which a neighbour contributes a hidden random amount, in any dimension.

    Args:
      sigma: standard deviation of the noise, in output units, exact, positive.
      sensitivities: largest Euclidean norms of what the neighbour may contribute, in output units, exact, at least 0.
      weights: probability of each, exact, in the same order, adding up to 1; the draw must not depend on the data.
      adjacency: add_remove or zero_out; the mixture is what the dataset with the record gives. Where records are replaced both
        datasets give one: `.under("replace_one")` of the loss under add_remove.
    Returns:
      A loss that is exact for the stated norms, both directions, also after composition.
    Raises:
      InvalidArgument: different lengths (DPA105), nothing listed (DPA109), a number that is none (DPA101, DPA102), negative or
        weights of another sum than 1 or another adjacency (DPA103), or a sigma that is not positive (DPA104).
    Source: Choquette-Choo, Ganesh, Steinke, Thakurta 2023; docs/prices.md, "Mixtures of Gaussians".
    Example:
      >>> from dpaudit.accounting import gaussian_mixture
      >>> print(gaussian_mixture(sigma=1, sensitivities=[0, 1, 3], weights=["1/2", "3/10", "1/5"]).delta(epsilon=1))
      [0.165402, 0.165403]
    """
    relation = Adjacency.of(adjacency)
    if relation.kind not in {"add_remove", "zero_out"}:
        remedy = 'For records that are replaced write gaussian_mixture(...).under("replace_one").'
        raise InvalidArgument("DPA103", f"adjacency must be add_remove or zero_out, got {relation}. {remedy}")
    noise = positive(sigma, "sigma")
    chances = distribution_from_numbers(weights, "weights")
    if isinstance(sensitivities, str) or not isinstance(sensitivities, Sequence) or len(sensitivities) != len(chances):
        raise InvalidArgument("DPA105", "sensitivities must be a sequence with one norm for each weight, such as [0, 1].")
    norms = [non_negative(norm, f"sensitivities[{index}]") for index, norm in enumerate(sensitivities)]
    listed = [f"[{', '.join(shown(value) for value in values)}]" for values in (norms, chances)]
    name = f"gaussian_mixture(sigma={shown(noise)}, sensitivities={listed[0]}, weights={listed[1]})"
    return one_release(mixed_normals(zip(norms, chances, strict=True), ((Fraction(0), Fraction(1)),), noise**-2, name), relation)
