"""The certificates that ship are of the programs that ship, as their source and the verifier are now.

After a change of either, `dpaudit prove --output proofs/certificates` writes them anew.
"""

from __future__ import annotations

import pytest

from dpaudit.cli.prove import SUITE, installed, subjects_of
from dpaudit.verifier.frontend import parse
from dpaudit.verifier.recheck import parse_certificate, recheck

PROVEN = [one for name in ("proofs", SUITE) for one in subjects_of(name, anything=False) if one.published == "proven"]


def test_every_program_has_its_certificate_and_none_is_left_over():
    assert {one.name for one in PROVEN} == {path.stem for path in installed().glob("*.json")}


@pytest.mark.parametrize("subject", PROVEN, ids=lambda subject: subject.function.__name__)
def test_a_certificate_holds_of_the_source_as_it_is(subject):
    found = recheck(parse(subject.function), parse_certificate((installed() / f"{subject.name}.json").read_text()), quick=True)
    assert ("proven", "") == (found.status, found.reason)
    assert found.obligations == found.kernel
