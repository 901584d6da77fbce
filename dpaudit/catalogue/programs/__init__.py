"""The public suite: published programs as ordinary functions with their claims, and the verdict that each must get."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, Literal

from dpaudit.catalogue.programs import basic, maximum, sparse_vector, sums


@dataclass(frozen=True)
class Case:
    """One program of the suite.

    Args:
      function: the program, decorated by `@spec`.
      status: the verdict that it must get.
      source: where the program was published, with its name there if that is another.
    Source: Wang, Ding, Kifer, Zhang 2020 (the benchmark programs).
    """

    function: Callable[..., Any]
    status: Literal["proven", "refuted"]
    source: str


_CHECKDP: Final = "Wang, Ding, Kifer, Zhang, CCS 2020:"

SUITE: Final = (
    Case(basic.laplace_mechanism, "proven", "Dwork, McSherry, Nissim, Smith, TCC 2006"),
    Case(basic.histogram, "proven", "Dwork, McSherry, Nissim, Smith, TCC 2006"),
    Case(basic.randomised_response, "proven", "Warner 1965"),
    Case(maximum.exponential_mechanism, "proven", "McSherry, Talwar, FOCS 2007"),
    Case(maximum.noisy_max, "proven", f"{_CHECKDP} noisymax"),
    Case(maximum.bad_noisy_max, "refuted", f"{_CHECKDP} badnoisymax"),
    Case(sums.partial_sum, "proven", f"{_CHECKDP} partialsum"),
    Case(sums.bad_partial_sum, "refuted", f"{_CHECKDP} badpartialsum"),
    Case(sums.prefix_sum, "proven", "Albarghouthi, Hsu, POPL 2018"),
    Case(sums.smart_sum, "proven", f"{_CHECKDP} smartsum"),
    Case(sums.bad_smart_sum, "refuted", f"{_CHECKDP} badsmartsum"),
    Case(sparse_vector.above_threshold, "proven", "Dwork, Roth 2014, Algorithm 1"),
    Case(sparse_vector.sparse_vector, "proven", f"{_CHECKDP} sparsevector"),
    Case(sparse_vector.sparse_vector_increasing, "proven", f"{_CHECKDP} svt_increasing"),
    Case(sparse_vector.sparse_vector_decreasing, "proven", f"{_CHECKDP} svt_decreasing"),
    Case(sparse_vector.gap_sparse_vector, "proven", f"{_CHECKDP} gapsparsevector"),
    Case(sparse_vector.numeric_above_threshold, "proven", "Albarghouthi, Hsu, POPL 2018"),
    Case(sparse_vector.numeric_sparse_vector, "proven", f"{_CHECKDP} numsparsevector"),
    Case(sparse_vector.adaptive_sparse_vector, "proven", f"{_CHECKDP} adaptivesparsevector"),
    Case(sparse_vector.bad_sparse_vector_without_noise, "refuted", f"{_CHECKDP} badsparsevector1"),
    Case(sparse_vector.bad_sparse_vector_without_stop, "refuted", f"{_CHECKDP} badsparsevector2"),
    Case(sparse_vector.bad_sparse_vector_scale, "refuted", f"{_CHECKDP} badsparsevector3"),
    Case(sparse_vector.bad_gap_sparse_vector, "refuted", f"{_CHECKDP} badgapsparsevector"),
    Case(sparse_vector.bad_adaptive_sparse_vector, "refuted", f"{_CHECKDP} badadaptivesparsevector"),
)
"""Every program with its verdict; proven means for every length and every epsilon."""
