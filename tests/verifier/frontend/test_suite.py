"""The public suite: complete, readable without any alignment, and its functions stay ordinary functions."""

from __future__ import annotations

from fractions import Fraction

from dpaudit.catalogue import PROGRAMS
from dpaudit.catalogue.programs import basic, sums
from dpaudit.spec import spec_of
from dpaudit.verifier.frontend import parse

CHECKDP_PROVEN = """partialsum smartsum noisymax sparsevector svt_increasing svt_decreasing gapsparsevector numsparsevector
    adaptivesparsevector"""
CHECKDP_REFUTED = """badpartialsum badsmartsum badnoisymax badsparsevector1 badsparsevector2 badsparsevector3 badgapsparsevector
    badadaptivesparsevector"""


def test_every_published_program_is_there_with_its_verdict():
    found = {case.source.split(": ")[1]: case.verdict for case in PROGRAMS if ": " in case.source}
    assert dict.fromkeys(CHECKDP_PROVEN.split(), "proven") | dict.fromkeys(CHECKDP_REFUTED.split(), "refuted") == found
    assert 24 == len({case.program for case in PROGRAMS}) == len(PROGRAMS)


def test_no_program_brings_an_alignment():
    for case in PROGRAMS:
        assert () == spec_of(case.program).align
        assert case.program.__name__ == parse(case.program).name


def test_the_programs_run_as_they_are():
    assert Fraction(5, 2) == basic.laplace_mechanism([Fraction(2)], Fraction(1, 2), laplace=lambda scale: scale / 4)
    assert [3, 8, 10] == sums.prefix_sum([Fraction(2), Fraction(4), Fraction(1)], Fraction(1), laplace=lambda scale: scale)
