"""Kernels with explicit features: the columns themselves, monomials of a polynomial kernel, or random cosines of a Gaussian one."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Protocol, runtime_checkable

import numpy as np

from dpaudit.errors import InvalidArgument
from dpaudit.exact import integer
from learners.rows.fourier import GaussianKernel, fourier_map
from learners.rows.images import require_columns
from learners.rows.polynomial import polynomial_map
from learners.rows.rows import Rows
from learners.rows.sketch import sketch_map

if TYPE_CHECKING:
    from dpaudit.exact import Exact
    from learners.estimator import Public
    from learners.rows.images import PublicMap


@runtime_checkable
class Kernel(Protocol):
    """A kernel that has explicit features; a frozen value, so that estimators can be cloned and pickled."""

    def public_map(self, public: Public) -> PublicMap:
        """The map to its features, made from public quantities."""
        ...


@dataclass(frozen=True)
class Linear:
    """The kernel <x, y>: its features are the columns themselves, as many as there are, and CSR stays CSR.

    Source: Jain, Thakurta 2013, section 7.
    """

    def public_map(self, public: Public) -> Columns:
        """No map but a finer lattice."""
        return Columns(public.features)


@dataclass(frozen=True)
class Columns:
    """Records as their own images, on a lattice that is an integer number of times finer."""

    dimension_out: int

    def image_norm(self, feature_norm: Fraction) -> Fraction:
        """That of the record."""
        return feature_norm

    def apply(self, rows: Rows, *, lattice_bits: int, intercept: int = 0) -> Rows:
        """The same records in steps of which 2**lattice_bits are no fewer than their bound; there is no constant."""
        require_columns(rows, self.dimension_out)
        times = (1 << integer(lattice_bits, "lattice_bits", lower=1, upper=26)) // rows.bound
        if not times or intercept:
            raise InvalidArgument("DPA103", "the linear kernel has no coarser lattice and no constant. Append one to the records.")
        return Rows(rows.steps * np.int32(times), rows.bound * times, rows.step / times, rows.labels)


@dataclass(frozen=True)
class Polynomial:
    """The kernel (<x, y> + constant)^degree, over its largest value.

    Args:
      degree: public, 1 to 8; 1 is the linear kernel.
      constant: public, exact, in squared units of the features; None takes `feature_norm` squared, 0 leaves out lower degrees.
      columns: of a sketch of the monomials, public; None takes every monomial.
      seed: public integer that fixes the sketch, chosen before any record is read.
    Source: Jain, Thakurta 2013, section 7.
    """

    degree: int = 3
    constant: Exact | None = None
    columns: int | None = None
    seed: int = 0

    def public_map(self, public: Public) -> PublicMap:
        """All weighted monomials, or a sketch of them."""
        constant = public.feature_norm**2 if self.constant is None else self.constant
        if self.columns is None:
            return polynomial_map(dimension_in=public.features, degree=self.degree, constant=constant)
        return sketch_map(
            dimension_in=public.features, dimension_out=self.columns, degree=self.degree, constant=constant, seed=self.seed
        )


@dataclass(frozen=True)
class Gaussian:
    """The kernel exp(-|x - y|^2 / (2 width^2)), as far as random cosines and sines have it.

    Args:
      width: public, exact, positive, in units of the features; None takes a fifth of `feature_norm`.
      frequencies: how many are drawn, public; there are twice as many features.
      seed: public integer that fixes them, chosen before any record is read.
    Source: Rahimi, Recht 2007.
    """

    width: Exact | None = None
    frequencies: int = 218
    seed: int = 0

    def public_map(self, public: Public) -> PublicMap:
        """Fourier features."""
        kernel = GaussianKernel(public.feature_norm / 5 if self.width is None else self.width)
        return fourier_map(dimension_in=public.features, frequencies=self.frequencies, kernel=kernel, seed=self.seed)
