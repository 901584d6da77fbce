"""Laws of integer noise, one a module: each samples exactly and encloses its own probabilities."""

from mechanisms.laws.discrete_gaussian import DiscreteGaussian
from mechanisms.laws.discrete_laplace import DiscreteLaplace
from mechanisms.laws.finite import FiniteLaw
from mechanisms.laws.geometric import Geometric
from mechanisms.laws.given import LawFromWeights
from mechanisms.laws.law import IntegerLaw
from mechanisms.laws.rounded_gaussian import RoundedGaussian
from mechanisms.laws.staircase import Staircase
from mechanisms.laws.truncated import TruncatedLaw

__all__ = [
    "DiscreteGaussian",
    "DiscreteLaplace",
    "FiniteLaw",
    "Geometric",
    "IntegerLaw",
    "LawFromWeights",
    "RoundedGaussian",
    "Staircase",
    "TruncatedLaw",
]
