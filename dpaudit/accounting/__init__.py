"""Certified accounting: build privacy loss laws, compose them lazily, ask for an Enclosure of delta or epsilon."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from dpaudit.lazy import lazily

if TYPE_CHECKING:
    from dpaudit.accounting.calibration import Calibration as Calibration
    from dpaudit.accounting.calibration import calibrate as calibrate
    from dpaudit.accounting.filters import Filter as Filter
    from dpaudit.accounting.individual import IndividualFilter as IndividualFilter
    from dpaudit.accounting.laws.best_of import best_of_poisson_runs as best_of_poisson_runs
    from dpaudit.accounting.laws.best_of import best_of_runs as best_of_runs
    from dpaudit.accounting.laws.bounded_range import bounded_range as bounded_range
    from dpaudit.accounting.laws.charged import update_charged as update_charged
    from dpaudit.accounting.laws.choices import noisy_max as noisy_max
    from dpaudit.accounting.laws.choices import permute_and_flip as permute_and_flip
    from dpaudit.accounting.laws.choices import sparse_vector as sparse_vector
    from dpaudit.accounting.laws.concentrated import rdp as rdp
    from dpaudit.accounting.laws.concentrated import zcdp as zcdp
    from dpaudit.accounting.laws.discrete_gaussian import discrete_gaussian as discrete_gaussian
    from dpaudit.accounting.laws.discrete_laplace import discrete_laplace as discrete_laplace
    from dpaudit.accounting.laws.gaussian import gaussian as gaussian
    from dpaudit.accounting.laws.gaussian import gdp as gdp
    from dpaudit.accounting.laws.laplace import laplace as laplace
    from dpaudit.accounting.laws.mixed import mixture as mixture
    from dpaudit.accounting.laws.pairs import explicit_pair as explicit_pair
    from dpaudit.accounting.laws.response import approx_dp as approx_dp
    from dpaudit.accounting.laws.response import pure_dp as pure_dp
    from dpaudit.accounting.laws.response import randomized_response as randomized_response
    from dpaudit.accounting.laws.staircase import staircase as staircase
    from dpaudit.accounting.loss import PrivacyLoss as PrivacyLoss
    from dpaudit.accounting.loss import compose as compose
    from dpaudit.accounting.odometers import Odometer as Odometer
    from dpaudit.accounting.pricing import price as price
    from dpaudit.accounting.promises import claimed_loss as claimed_loss
    from dpaudit.accounting.schemes import Poisson as Poisson
    from dpaudit.accounting.schemes import RandomAllocation as RandomAllocation
    from dpaudit.accounting.schemes import RandomOrder as RandomOrder
    from dpaudit.accounting.schemes import Shuffle as Shuffle
    from dpaudit.accounting.schemes import WithoutReplacement as WithoutReplacement

_HOMES: Final = {
    "Calibration": "calibration",
    "Filter": "filters",
    "IndividualFilter": "individual",
    "Odometer": "odometers",
    "Poisson": "schemes",
    "PrivacyLoss": "loss",
    "RandomAllocation": "schemes",
    "RandomOrder": "schemes",
    "Shuffle": "schemes",
    "WithoutReplacement": "schemes",
    "approx_dp": "laws.response",
    "best_of_poisson_runs": "laws.best_of",
    "best_of_runs": "laws.best_of",
    "bounded_range": "laws.bounded_range",
    "calibrate": "calibration",
    "claimed_loss": "promises",
    "compose": "loss",
    "discrete_gaussian": "laws.discrete_gaussian",
    "discrete_laplace": "laws.discrete_laplace",
    "explicit_pair": "laws.pairs",
    "gaussian": "laws.gaussian",
    "gdp": "laws.gaussian",
    "laplace": "laws.laplace",
    "mixture": "laws.mixed",
    "noisy_max": "laws.choices",
    "permute_and_flip": "laws.choices",
    "price": "pricing",
    "pure_dp": "laws.response",
    "randomized_response": "laws.response",
    "rdp": "laws.concentrated",
    "sparse_vector": "laws.choices",
    "staircase": "laws.staircase",
    "update_charged": "laws.charged",
    "zcdp": "laws.concentrated",
}

__all__ = [*sorted(_HOMES)]

__getattr__, __dir__ = lazily(__name__, _HOMES)
