"""Published programs as ordinary functions with their claims, and the verdict that each must get from the verifier."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, Literal

from dpaudit.catalogue.programs import basic, maximum, sparse_vector, sums
from dpaudit.catalogue.specimen import Specimen


def _program(program: Callable[..., Any], source: str, verdict: Literal["proven", "refuted"] = "proven") -> Specimen:
    """Return the specimen of a program, named and described by the function."""
    return Specimen(name=program.__name__, source=source, verdict=verdict, description=program.__doc__ or "", program=program)


_DWORK: Final = "Dwork, McSherry, Nissim, Smith, TCC 2006"
_SYNTHESIS: Final = "Albarghouthi, Hsu, POPL 2018"
_CHECKDP: Final = "Wang, Ding, Kifer, Zhang, CCS 2020:"

PROGRAMS: Final = (
    _program(basic.laplace_mechanism, _DWORK),
    _program(basic.histogram, _DWORK),
    _program(basic.randomised_response, "Warner 1965"),
    _program(maximum.exponential_mechanism, "McSherry, Talwar, FOCS 2007"),
    _program(maximum.noisy_max, f"{_CHECKDP} noisymax"),
    _program(maximum.bad_noisy_max, f"{_CHECKDP} badnoisymax", "refuted"),
    _program(sums.partial_sum, f"{_CHECKDP} partialsum"),
    _program(sums.bad_partial_sum, f"{_CHECKDP} badpartialsum", "refuted"),
    _program(sums.prefix_sum, _SYNTHESIS),
    _program(sums.smart_sum, f"{_CHECKDP} smartsum"),
    _program(sums.bad_smart_sum, f"{_CHECKDP} badsmartsum", "refuted"),
    _program(sparse_vector.above_threshold, "Dwork, Roth 2014, Algorithm 1"),
    _program(sparse_vector.sparse_vector, f"{_CHECKDP} sparsevector"),
    _program(sparse_vector.sparse_vector_increasing, f"{_CHECKDP} svt_increasing"),
    _program(sparse_vector.sparse_vector_decreasing, f"{_CHECKDP} svt_decreasing"),
    _program(sparse_vector.gap_sparse_vector, f"{_CHECKDP} gapsparsevector"),
    _program(sparse_vector.numeric_above_threshold, _SYNTHESIS),
    _program(sparse_vector.numeric_sparse_vector, f"{_CHECKDP} numsparsevector"),
    _program(sparse_vector.adaptive_sparse_vector, f"{_CHECKDP} adaptivesparsevector"),
    _program(sparse_vector.bad_sparse_vector_without_noise, f"{_CHECKDP} badsparsevector1", "refuted"),
    _program(sparse_vector.bad_sparse_vector_without_stop, f"{_CHECKDP} badsparsevector2", "refuted"),
    _program(sparse_vector.bad_sparse_vector_scale, f"{_CHECKDP} badsparsevector3", "refuted"),
    _program(sparse_vector.bad_gap_sparse_vector, f"{_CHECKDP} badgapsparsevector", "refuted"),
    _program(sparse_vector.bad_adaptive_sparse_vector, f"{_CHECKDP} badadaptivesparsevector", "refuted"),
)
"""Every program with its verdict; proven means for every length and every epsilon."""
