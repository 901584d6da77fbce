"""Certified accounting: build privacy loss laws, compose them lazily, ask for an Enclosure of delta or epsilon."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from dpaudit.lazy import lazily

if TYPE_CHECKING:
    from dpaudit.accounting.batches import SampledWithReplacement as SampledWithReplacement
    from dpaudit.accounting.batches import TruncatedPoisson as TruncatedPoisson
    from dpaudit.accounting.budgets.calibration import Calibration as Calibration
    from dpaudit.accounting.budgets.calibration import calibrate as calibrate
    from dpaudit.accounting.budgets.filters import Filter as Filter
    from dpaudit.accounting.budgets.individual import IndividualFilter as IndividualFilter
    from dpaudit.accounting.budgets.odometers import Odometer as Odometer
    from dpaudit.accounting.builders.guarantees import approx_dp as approx_dp
    from dpaudit.accounting.builders.guarantees import gdp as gdp
    from dpaudit.accounting.builders.guarantees import loss_of_claim as loss_of_claim
    from dpaudit.accounting.builders.guarantees import pure_dp as pure_dp
    from dpaudit.accounting.builders.guarantees import rdp as rdp
    from dpaudit.accounting.builders.guarantees import zcdp as zcdp
    from dpaudit.accounting.builders.matrices import matrix_mechanism as matrix_mechanism
    from dpaudit.accounting.builders.noise import discrete_gaussian as discrete_gaussian
    from dpaudit.accounting.builders.noise import discrete_laplace as discrete_laplace
    from dpaudit.accounting.builders.noise import gaussian as gaussian
    from dpaudit.accounting.builders.noise import laplace as laplace
    from dpaudit.accounting.builders.noise import staircase as staircase
    from dpaudit.accounting.builders.pairs import explicit_pair as explicit_pair
    from dpaudit.accounting.builders.pairs import gaussian_mixture as gaussian_mixture
    from dpaudit.accounting.builders.pairs import mixture as mixture
    from dpaudit.accounting.builders.pairs import update_charged as update_charged
    from dpaudit.accounting.builders.selection import best_of_negative_binomial_runs as best_of_negative_binomial_runs
    from dpaudit.accounting.builders.selection import best_of_poisson_runs as best_of_poisson_runs
    from dpaudit.accounting.builders.selection import bounded_range as bounded_range
    from dpaudit.accounting.builders.selection import noisy_max as noisy_max
    from dpaudit.accounting.builders.selection import permute_and_flip as permute_and_flip
    from dpaudit.accounting.builders.selection import randomized_response as randomized_response
    from dpaudit.accounting.builders.selection import sparse_vector as sparse_vector
    from dpaudit.accounting.matrices.participation import CyclicPoisson as CyclicPoisson
    from dpaudit.accounting.matrices.participation import FixedOrder as FixedOrder
    from dpaudit.accounting.matrices.participation import MinSeparation as MinSeparation
    from dpaudit.accounting.matrices.participation import Single as Single
    from dpaudit.accounting.matrices.sensitivities import sensitivity as sensitivity
    from dpaudit.accounting.matrices.strategies import Toeplitz as Toeplitz
    from dpaudit.accounting.matrices.strategies import Tree as Tree
    from dpaudit.accounting.matrices.strategies import prefix_root as prefix_root
    from dpaudit.accounting.matrices.strategies import toeplitz as toeplitz
    from dpaudit.accounting.pricing import price_releases as price_releases
    from dpaudit.accounting.privacy_loss import PrivacyLoss as PrivacyLoss
    from dpaudit.accounting.privacy_loss import compose as compose
    from dpaudit.accounting.schemes import Poisson as Poisson
    from dpaudit.accounting.schemes import RandomAllocation as RandomAllocation
    from dpaudit.accounting.schemes import RandomOrder as RandomOrder
    from dpaudit.accounting.schemes import Shuffle as Shuffle
    from dpaudit.accounting.schemes import WithoutReplacement as WithoutReplacement

_HOMES: Final = {
    "Calibration": "budgets.calibration",
    "CyclicPoisson": "matrices.participation",
    "Filter": "budgets.filters",
    "FixedOrder": "matrices.participation",
    "IndividualFilter": "budgets.individual",
    "MinSeparation": "matrices.participation",
    "Odometer": "budgets.odometers",
    "Poisson": "schemes",
    "PrivacyLoss": "privacy_loss",
    "RandomAllocation": "schemes",
    "RandomOrder": "schemes",
    "SampledWithReplacement": "batches",
    "Shuffle": "schemes",
    "Single": "matrices.participation",
    "Toeplitz": "matrices.strategies",
    "Tree": "matrices.strategies",
    "TruncatedPoisson": "batches",
    "WithoutReplacement": "schemes",
    "approx_dp": "builders.guarantees",
    "best_of_negative_binomial_runs": "builders.selection",
    "best_of_poisson_runs": "builders.selection",
    "bounded_range": "builders.selection",
    "calibrate": "budgets.calibration",
    "compose": "privacy_loss",
    "discrete_gaussian": "builders.noise",
    "discrete_laplace": "builders.noise",
    "explicit_pair": "builders.pairs",
    "gaussian": "builders.noise",
    "gaussian_mixture": "builders.pairs",
    "gdp": "builders.guarantees",
    "laplace": "builders.noise",
    "loss_of_claim": "builders.guarantees",
    "matrix_mechanism": "builders.matrices",
    "mixture": "builders.pairs",
    "noisy_max": "builders.selection",
    "permute_and_flip": "builders.selection",
    "prefix_root": "matrices.strategies",
    "price_releases": "pricing",
    "pure_dp": "builders.guarantees",
    "randomized_response": "builders.selection",
    "rdp": "builders.guarantees",
    "sensitivity": "matrices.sensitivities",
    "sparse_vector": "builders.selection",
    "staircase": "builders.noise",
    "toeplitz": "matrices.strategies",
    "update_charged": "builders.pairs",
    "zcdp": "builders.guarantees",
}

__all__ = [*sorted(_HOMES)]

__getattr__, __dir__ = lazily(__name__, _HOMES)
