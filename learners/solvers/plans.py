"""The default rule: solver, steps and noise of a linear classifier, from public quantities alone; how Gaussian noise is planned."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Final

from dpaudit.errors import InvalidArgument, Unsupported
from dpaudit.releases import Release
from learners.record import Charge
from learners.rows.labels import outputs_of
from learners.rows.rows import row_bound
from learners.solvers.slopes import UNIT
from mechanisms.gaussian import GaussianMechanism
from mechanisms.roots import whole_root_above

if TYPE_CHECKING:
    from learners.estimator import Public

DIAGONAL: Final = 5
OFF_DIAGONAL: Final = 7
"""What entries of a second moment are multiplied by; 7**2 <= 2 * 5**2, so that its triangle moves by at most 5 times the matrix."""

LABEL_TIMES: Final = 2
"""A record of the second class counts for two squares of the longest row, so that rare classes are told from noise."""

MOST_COLUMNS: Final = 1024
"""Up to so many columns, two classes are separated by quasi-Newton steps."""

MOVES: Final = {"replace_one": 2, "add_remove": 1, "zero_out": 1}
"""By how many times the bound of a row one record moves a sum of slopes times rows."""

_PROFILE_SHARE: Final = Fraction(3, 100)
"""That of one profile."""

_FINE: Final = 200
"""Where noise of a mean is below one part in so many of the longest row, a second profile of rows moved by the first is made."""

_MOMENT_SHARE: Final = Fraction(6, 100)
_OWN_MOMENT_SHARE: Final = Fraction(1, 4)
"""That of the second moment where no profile makes rows standard first."""

_MOMENT_STEPS: Final = 8
_MOMENT_BITS: Final = 12
"""Squares of rows of 2**12 steps sum up exactly in floats for 2**28 records and more."""

_GRADIENT_BITS: Final = 16
_FEWEST_STEPS: Final = 8
_MOST_STEPS: Final = 40
_MOST_DRAWS: Final = 2**24
"""Steps stop at so many noisy numbers, though not below the fewest."""

_USUAL_PACE: Final = 8
_LARGEST_PACE: Final = 64
_MARGIN_NOISE: Final = Fraction(4, 5)
"""Weights travel as far as their noise moves no margin by more than this in standard deviation."""

_INTERCEPT_BITS: Final = 3
"""The constant that is appended to records is 1/8 of the largest norm of a record."""

_CLOSE: Final = Fraction(1, 2**21)
"""Relative distance from the noise multiplier in floats within which the certified one is sought first."""

_LARGEST_EXPONENT: Final = Fraction(700)
"""Of an exponential that floats hold."""

_ROOM: Final = 2**60
_WIDEST: Final = 2**56
"""Sums below 2**60 with noise of at most this deviation fit 64 bits: noise 2**6 deviations away has probability below 2**-2900."""


@dataclass(frozen=True)
class SolverPlan:
    """The plan of a fit."""

    records: int  # how many there are, or a public number that stands for it
    outputs: int  # columns of weights: 1 for two classes, K for K classes
    steps: int  # how many gradients are released
    travel: Fraction  # sum of the step sizes, for slopes averaged over the records; 0 where the second moment sets them
    lattice_bits: int  # rows have at most 2**lattice_bits steps without the intercept
    intercept: int  # a constant in steps that every row ends in; 0 for none
    gradient: Release  # the release of one gradient, as it will be logged
    moment: Release | None  # the release of the second moment that comes before, or None
    profile: Release | None = None  # that of a profile of columns and labels, which come first, or None
    profiles: int = 0  # how many profiles

    @property
    def bound(self) -> int:
        """Largest norm of a row with its intercept, in steps, rounded up."""
        return row_bound(self.lattice_bits, self.intercept)

    @property
    def charges(self) -> tuple[Charge, ...]:
        """The entries that the release log will hold, in order."""
        counts = ((self.profile, self.profiles), (self.moment, 1))
        before = [release for release, count in counts if release is not None for _ in range(count)]
        return (Charge((*before, *[self.gradient] * self.steps)),)

    def noise(self, release: Release) -> GaussianMechanism:
        """The mechanism that makes a planned release."""
        return mechanism_of(release)


def default_plan(public: Public, *, standard: bool = True) -> SolverPlan:
    """Plan a private linear classifier by the default rule: quasi-Newton for two classes in few columns, else gradient steps.

    If `standard`, and rows have an intercept, a profile of columns and labels comes before quasi-Newton steps; if there are
    weights of records, with their sum.
    """
    # Gradient steps are as long altogether as makes the noise in the margin of a record of the largest norm 4/5 in deviation.
    multiplier, moves = noise_multiplier(public.epsilon, public.delta), MOVES[public.adjacency.kind]
    newton = public.classes == 2 and public.features < MOST_COLUMNS
    bits = _MOMENT_BITS if newton else _GRADIENT_BITS
    intercept = 0 if public.adjacency.kind == "zero_out" else 1 << (bits - _INTERCEPT_BITS)
    bound, columns = row_bound(bits, intercept), public.features + (intercept > 0)
    if public.records * bound * max(UNIT, OFF_DIAGONAL * bound * newton) > _ROOM:
        raise InvalidArgument("DPA108", f"sums over {public.records} records do not fit 64 bits. Fit on fewer.")
    outputs = outputs_of(public.classes)
    travel, steps, moment, profile, profiles = Fraction(0), _MOMENT_STEPS, None, None, 0
    if newton:
        part = _OWN_MOMENT_SHARE
        if standard and intercept:
            part = _MOMENT_SHARE
            moved = profile_sensitivity(bits, moves, weighted=public.weighted)
            profile = gaussian_release(public, moved, multiplier**2 / _PROFILE_SHARE, 3 * public.features + 1 + public.weighted)
            profiles = 1 + (profile.parameter("sigma") * _FINE <= public.records << 2 * bits)
        size, share = columns * (columns + 1) // 2, 1 - part - profiles * _PROFILE_SHARE
        moment = gaussian_release(public, moment_sensitivity(bound, moves), multiplier**2 / part, size)
    else:
        travel, share = _MARGIN_NOISE * public.records / (multiplier * moves), Fraction(1)
        most = min(_MOST_STEPS, _MOST_DRAWS // (columns * outputs))
        steps = max(min(math.ceil(travel / _USUAL_PACE), most), _FEWEST_STEPS)
        travel = min(travel, Fraction(_LARGEST_PACE * steps))
    gradient = gaussian_release(public, moves * UNIT * bound, multiplier**2 * steps / share, columns * outputs)
    return SolverPlan(public.records, outputs, steps, travel, bits, intercept, gradient, moment, profile, profiles)


def profile_sensitivity(bits: int, moves: int, *, weighted: bool = False) -> int:
    """Bound how far one record moves the profile in L2 norm, rounded up."""
    # A row q of norm at most L = 2**bits enters as L times the sizes of its entries, those above zero and those below apart, as its
    # squares, and as twice L**2 for its label. Sizes and squares are nonnegative and of norm at most L**2: those of two rows
    # differ by at most sqrt(2) L**2, of one that comes or goes by L**2. With weights of at most 1 the label counts for the weight,
    # and a second entry is the weight itself: each moves by at most 1.
    return whole_root_above((2 * moves + (1 + weighted) * LABEL_TIMES**2) * 16**bits)


def moment_sensitivity(bound: int, moves: int) -> int:
    """Bound how far one record moves the released triangle of a second moment, in L2 norm, rounded up to an integer."""
    return whole_root_above(moves * (DIAGONAL * bound**2) ** 2)


def gaussian_release(public: Public, sensitivity: int, variance: Fraction, dimension: int) -> Release:
    """A release of integers to be made, whose noise multiplier is at least the root of a variance; sigma is an integer."""
    sigma = math.isqrt(math.floor(variance * sensitivity**2)) + 1
    if sigma > _WIDEST:
        raise InvalidArgument("DPA108", "epsilon and delta ask for more noise than 64 bits hold. Give more of them.")
    parameters = (("lattice", Fraction(1)), ("sigma", Fraction(sigma)))
    return Release("rounded_gaussian", parameters, Fraction(sensitivity), public.adjacency, dimension)


def mechanism_of(release: Release) -> GaussianMechanism:
    """The mechanism that makes a planned release of rounded Gaussian noise."""
    return GaussianMechanism(sensitivity=release.sensitivity, sigma=release.parameter("sigma"), adjacency=release.adjacency)


def noise_multiplier(epsilon: Fraction, delta: Fraction) -> Fraction:
    """The least noise of one Gaussian release that certainly meets a budget, relative to its sensitivity."""
    from dpaudit.accounting import calibrate, gaussian

    if delta == 0:
        raise InvalidArgument(
            "DPA103", 'delta must be positive where a learner adds Gaussian noise, got 0. Write a small one: delta="1e-6".'
        )
    near = Fraction(_near(float(min(epsilon, _LARGEST_EXPONENT)), float(delta)))
    search = partial(calibrate, lambda sigma: gaussian(sigma=sigma), epsilon=epsilon, delta=delta)
    try:
        return search(low=near * (1 - _CLOSE), high=near * (1 + _CLOSE)).parameter
    except (InvalidArgument, Unsupported):  # floats went astray, or the budget is out of range
        return search(low="1e-9", high="1e9").parameter


def _near(epsilon: float, delta: float) -> float:
    """The noise multiplier in floats, near which the certified search is short."""
    low, high = 1e-9, 1e9
    for _ in range(80):
        middle = math.sqrt(low * high)
        half, place = 1 / (2 * middle), epsilon * middle
        tails = [math.erfc((place + sign * half) / math.sqrt(2)) / 2 for sign in (-1, 1)]
        met = tails[0] - (math.exp(epsilon) * tails[1] if tails[1] else 0.0) <= delta
        low, high = (low, middle) if met else (middle, high)
    return high
