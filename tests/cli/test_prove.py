"""`dpaudit prove`: verdicts, certificates, rechecks and exit codes."""

from __future__ import annotations

import json

import pytest

from dpaudit.catalogue import PROGRAMS as SUITE
from dpaudit.cli import prove as proving
from dpaudit.cli.prove import Outcome, exit_code_of, installed, subjects_of
from dpaudit.verifier.recheck import Rechecked

PROGRAMS = '''
"""Programs of a user."""
from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from dpaudit.spec import spec


@spec(claim="eps", adjacency="one", requires=["eps > 0", "len(q) >= 1"])
def sound(q: list[Fraction], eps: Fraction, *, laplace: Callable) -> Fraction:
    return q[0] + laplace(1 / eps)


@spec(claim="eps", adjacency="one", requires=["eps > 0", "len(q) >= 1"])
def broken(q: list[Fraction], eps: Fraction, *, laplace: Callable) -> Fraction:
    return q[0] + laplace(1 / (2 * eps))


@spec(claim=("eps", "1/10"), adjacency="one", requires=["eps > 0", "len(q) >= 1"], align={"laplace.1": "0"})
def open_ended(q: list[Fraction], eps: Fraction, *, laplace: Callable) -> Fraction:
    return q[0] + laplace(1 / eps)


@spec(claim="eps", adjacency="one", requires=["eps > 0"])
def foreign(q: list[int], eps: Fraction, *, laplace: Callable) -> Fraction:
    return bytes(q)[0] + laplace(1 / eps)


def plain(q):
    return q
'''


@pytest.fixture
def programs(folder):
    (folder / "programs.py").write_text(PROGRAMS)
    return folder


@pytest.mark.parametrize(("name", "code", "said"), [("sound", 0, "proven"), ("broken", 1, "refuted"), ("open_ended", 3, "unknown")])
def test_the_exit_code_is_the_verdict(dpaudit, programs, name, code, said):
    result = dpaudit("prove", f"programs.py:{name}")
    assert (code, "") == (result.exit_code, result.stderr)
    assert f"{name}: {said}" == result.stdout.splitlines()[0]
    assert f"1 {said}" == result.stdout.splitlines()[-1]


def test_source_outside_the_subset_gives_4_and_its_place_and_does_not_hide_the_rest(dpaudit, programs):
    result = dpaudit("prove", "programs.py:foreign", "programs:sound")
    assert 4 == result.exit_code
    assert "programs.foreign: unsupported" in result.stdout
    assert "sound: proven" in result.stdout


def test_a_proof_says_claim_alignment_checks_and_what_it_rests_on(dpaudit, programs):
    lines = dpaudit("prove", "programs:sound").stdout.splitlines()
    assert "  claim       eps-DP when one element of q (Fraction) changes by at most 1, if [eps > 0] and [len(q) >= 1]" == lines[1]
    assert "  alignment   laplace.1 moves by -(other.q[0] - q[0])" in lines
    assert any(line.startswith("  checked     15 obligations; z3 and cvc5 confirm 15, the kernel 15") for line in lines)
    assert "A proof rests on:" in lines


def test_json_holds_every_program(dpaudit, programs):
    result = dpaudit("prove", "programs.py", "--json")
    found = {one["program"]: one for one in json.loads(result.stdout)["programs"]}
    assert 1 == result.exit_code
    assert {"sound": "proven", "broken": "refuted", "open_ended": "unknown", "foreign": "unsupported"} == {
        name.partition(".")[2]: one["status"] for name, one in found.items()
    }
    assert "DPA702 line 28, column 12" in found["programs.foreign"]["error"]
    assert found["programs.broken"]["witness"]["loss_lower"] is not None


def test_certificates_are_written_and_rechecked_and_go_stale(dpaudit, programs):
    written = dpaudit("prove", "programs.py:sound", "--output", "proofs")
    assert (0, "written: proofs/programs.sound.json\n") == (written.exit_code, written.stderr)
    for extra in ((), ("--quick",)):
        again = dpaudit("prove", "programs.py:sound", "--recheck", "--certificates", "proofs", *extra)
        assert (0, "sound: proven") == (again.exit_code, again.stdout.splitlines()[0])
    (programs / "programs.py").write_text(PROGRAMS.replace("q[0] + laplace(1 / eps)", "q[0] + laplace(30 / eps)"))
    stale = dpaudit("prove", "programs.py:sound", "--recheck", "--quick", "--certificates", "proofs", "--json")
    assert 3 == stale.exit_code
    assert json.loads(stale.stdout)["programs"][0]["reason"].startswith("stale")


def test_what_has_no_certificate_or_none_that_can_be_read_is_said(dpaudit, programs):
    missing = dpaudit("prove", "programs.py:sound", "--recheck", "--certificates", ".")
    assert (3, True) == (missing.exit_code, "there is no certificate" in missing.stdout)
    (programs / "programs.sound.json").write_text("{}")
    spoiled = dpaudit("prove", "programs.py:sound", "--recheck", "--certificates", ".")
    assert (4, True) == (spoiled.exit_code, "DPA730" in spoiled.stdout)


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("programs.py:plain",), 4, "DPA732"),
        (("programs.py:missing",), 4, "DPA732"),
        (("nowhere.py:sound",), 4, "DPA401"),
        (("unfinished.py",), 4, "DPA402"),
        (("--quick",), 2, "belong to --recheck"),
        (("--certificates", "."), 2, "belong to --recheck"),
        (("--recheck", "--output", "."), 2, "makes none"),
        (("programs.py:sound", "--output", "programs.py"), 2, "DPA503"),
    ],
)
def test_wrong_use_is_refused(dpaudit, programs, arguments, code, said):
    result = dpaudit("prove", *arguments)
    assert (code, True) == (result.exit_code, said in result.stderr)


def test_everything_that_is_installed_is_rechecked_by_default(monkeypatch, dpaudit):
    seen = []
    monkeypatch.setattr(
        proving, "_rechecked", lambda subject, folder, quick: seen.append((subject, folder, quick)) or done("proven")
    )
    result = dpaudit("prove", "--recheck", "--quick")
    proven = [case.program for case in SUITE if case.verdict == "proven"]
    assert 0 == result.exit_code
    assert proven == [subject.function for subject, _, _ in seen][-len(proven) :]
    assert {(installed(), True)} == {(folder, quick) for _, folder, quick in seen}


def done(status):
    """A recheck that gave this."""
    return Rechecked("noisy", status, "", 0, 0, quick=True, seconds=0.0)


@pytest.mark.parametrize(
    ("pairs", "code"),
    [
        ([("proven", "proven"), ("refuted", "refuted")], 0),
        ([("refuted", "proven"), ("unknown", "proven"), ("unsupported", "proven")], 1),
        ([("unknown", "proven"), ("unsupported", "proven")], 4),
        ([("unknown", "proven"), ("proven", "proven")], 3),
        ([("unknown", "refuted")], 3),
        ([("proven", "refuted")], 6),
    ],
)
def test_exit_codes_count_verdicts_that_are_not_the_published_ones(pairs, code):
    outcomes = [Outcome("f", published, status, (), "{}") for status, published in pairs]
    assert code == exit_code_of(outcomes)


def test_the_suite_is_named_by_itself_or_by_its_modules():
    assert [case.program for case in SUITE] == [subject.function for subject in subjects_of("suite")]
    assert {case.program for case in SUITE} == {subject.function for subject in subjects_of("dpaudit.catalogue.programs")}
