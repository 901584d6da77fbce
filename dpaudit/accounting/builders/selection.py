"""Privacy losses of choices: selection, comparison, randomized response, and the best of several runs."""

from __future__ import annotations

from fractions import Fraction

from dpaudit.accounting.laws.best_of import (
    BestOf,
    BestOfPoisson,
    best_of_pure,
    checked_mean,
    checked_runs,
    comparison_law,
    noisy_max_law,
    permute_and_flip_law,
)
from dpaudit.accounting.laws.response import BoundedRange, randomized_response_law
from dpaudit.accounting.privacy_loss import PrivacyLoss, one_release
from dpaudit.claims import Adjacency
from dpaudit.exact import Exact, instance_of, integer, positive


def bounded_range(epsilon: Exact, *, adjacency: Adjacency | str = "add_remove") -> PrivacyLoss:
    """Privacy loss of the exponential mechanism, or of any mechanism whose losses span at most epsilon.

    Args:
      epsilon: largest difference between two losses, in nats, exact, positive: 2 * sensitivity/temperature for the
        exponential mechanism, sensitivity/temperature when adding a record moves all scores the same way.
      adjacency: the neighbouring relation of the guarantee.
    Returns:
      A loss that is exact for the worst mechanism of the class once; compositions of several get certified bounds.
    Raises:
      InvalidArgument: `epsilon` is not a finite number (DPA101, DPA102) or not positive (DPA104).
    Source: Durfee and Rogers 2019; Dong, Durfee, Rogers 2020, section 3.
    Example:
      >>> print(bounded_range(1).delta(epsilon=0), bounded_range(1).epsilon(delta=0))
      [0.244918, 0.244919] 1
    """
    return one_release(BoundedRange(positive(epsilon, "epsilon")), adjacency)


def permute_and_flip(epsilon: Exact, *, adjacency: Adjacency | str = "add_remove") -> PrivacyLoss:
    """Privacy loss of permute-and-flip, which is also report noisy max with exponential noise.

    Args:
      epsilon: by how much the distance of two scores can change, over the temperature, in nats, exact and positive.
      adjacency: the neighbouring relation that the scores' sensitivity is about.
    Returns:
      A loss between the pure guarantee and what two candidates with exchanged scores lose. It is not bounded range: rho is not
      epsilon^2/8.
    Raises:
      InvalidArgument: `epsilon` is not a finite number (DPA101, DPA102) or not positive (DPA104).
    Source: McKenna and Sheldon 2020; Ding, Kifer, Steinke, Wang, Xiao, Zhang 2021; docs/selection_and_queries.md.
    Example:
      >>> print(permute_and_flip(1).epsilon(delta=0))
      [0.831796, 1]
    """
    return one_release(permute_and_flip_law(positive(epsilon, "epsilon")), adjacency)


def noisy_max(epsilon: Exact, *, adjacency: Adjacency | str = "add_remove") -> PrivacyLoss:
    """Privacy loss of report noisy max with Laplace, exponential or geometric noise, of which only the index is released.

    Args:
      epsilon: by how much the distance of two scores can change, over the scale of the noise, in nats, exact and positive.
      adjacency: the neighbouring relation that the scores' sensitivity is about.
    Returns:
      The pure guarantee; nothing is known from below.
    Raises:
      InvalidArgument: `epsilon` is not a finite number (DPA101, DPA102) or not positive (DPA104).
    Source: Dwork and Roth 2014, Claim 3.9; docs/selection_and_queries.md.
    Example:
      >>> print(noisy_max("1/2").epsilon(delta=0).upper)
      1/2
    """
    return one_release(noisy_max_law(positive(epsilon, "epsilon")), adjacency)


def sparse_vector(epsilon: Exact, *, adjacency: Adjacency | str = "add_remove") -> PrivacyLoss:
    """Privacy loss of a whole run of above threshold or of the sparse vector technique, whatever it answers.

    Args:
      epsilon: what the threshold, the positive answers and the numbers pay together, in nats, exact and positive.
      adjacency: the neighbouring relation that the queries' sensitivity is about.
    Returns:
      The pure guarantee; nothing is known from below.
    Raises:
      InvalidArgument: `epsilon` is not a finite number (DPA101, DPA102) or not positive (DPA104).
    Source: Lyu, Su, Li 2017, Theorem 4; docs/selection_and_queries.md.
    Example:
      >>> print((2 * sparse_vector("1/2")).epsilon(delta=0).upper)
      1
    """
    return one_release(comparison_law("sparse_vector", positive(epsilon, "epsilon")), adjacency)


def randomized_response(epsilon: Exact, *, categories: int = 2, adjacency: Adjacency | str = "replace_one") -> PrivacyLoss:
    """Privacy loss of k-ary randomized response, which keeps a category with weight e^epsilon against 1 for each other.

    Args:
      epsilon: privacy parameter in nats, exact, positive.
      categories: number of categories, at least 2.
      adjacency: the neighbouring relation under which a person's category may change.
    Returns:
      A loss that is exact, also after composition.
    Raises:
      InvalidArgument: a parameter is not a number (DPA101, DPA102, DPA105), not positive (DPA104) or out of range (DPA103).
    Source: Warner 1965; Kairouz, Bonawitz, Ramage 2016 for k categories.
    Example:
      >>> print(randomized_response(1, categories=4).epsilon(delta=0))
      1
    """
    exact, count = positive(epsilon, "epsilon"), integer(categories, "categories", lower=2)
    return one_release(randomized_response_law(exact, count), adjacency)


def best_of_negative_binomial_runs(loss: PrivacyLoss, *, shape: Exact, stop: Exact) -> PrivacyLoss:
    """Privacy loss of running a mechanism a random number of times and releasing the best of its outputs alone.

    Args:
      loss: of one run, the score by which its output is compared included.
      shape: of the negative binomial number of runs, exact, above -1 and at most 2**20: 1 makes it geometric, 0 logarithmic.
      stop: of the same, exact, in (0, 1): the smaller the more runs.
    Returns:
      A loss known from above only: pure where a run's is, with (2 + shape) times its epsilon.
    Raises:
      InvalidArgument: no privacy loss (DPA105), no numbers (DPA101, DPA102), or out of range (DPA103).
      Unsupported: a run has neither a finite epsilon nor a finite rho (DPA202).
    Source: Papernot, Steinke 2022, Theorem 2; Liu, Talwar 2019; docs/prices.md, "The best of a random number of runs".
    Example:
      >>> from dpaudit.accounting import gaussian, pure_dp
      >>> best_of_negative_binomial_runs(pure_dp(epsilon="1/2"), shape=1, stop="1/10").epsilon(delta=0).upper
      Fraction(3, 2)
      >>> print(best_of_negative_binomial_runs(gaussian(sigma=10), shape=1, stop="1/10").epsilon(delta="1e-6"))
      [0, 0.898078]
    """
    number, end = checked_runs(shape, stop)
    epsilon = instance_of(loss, PrivacyLoss, "loss").epsilon(delta=0).upper
    if isinstance(epsilon, Fraction):
        return one_release(best_of_pure(epsilon, number), loss.adjacency)
    return one_release(BestOf(Fraction(loss.zcdp().upper), number, end), loss.adjacency)


def best_of_poisson_runs(loss: PrivacyLoss, *, mean: Exact) -> PrivacyLoss:
    """Privacy loss of running a mechanism a Poisson number of times, at least once, and releasing the best of its outputs alone.

    Args:
      loss: of one run, the score by which its output is compared included; Gaussian, or pure.
      mean: parameter of the number of runs, exact, positive, at most 1000.
    Returns:
      A loss known from above only.
    Raises:
      InvalidArgument: no privacy loss (DPA105), no number (DPA101, DPA102), not positive (DPA104), or out of range (DPA103).
      Unsupported: a run has no mu (DPA202).
    Source: Papernot, Steinke 2022, Theorem 6; docs/prices.md, "The best of a random number of runs".
    Example:
      >>> from dpaudit.accounting import gaussian
      >>> print(best_of_poisson_runs(gaussian(sigma=10), mean=10).epsilon(delta="1e-6"))
      [0, 0.781197]
    """
    number = checked_mean(mean)
    return one_release(BestOfPoisson(Fraction(instance_of(loss, PrivacyLoss, "loss").gdp().upper), number), loss.adjacency)
