"""The benchmark of the verifier: what it measures of a program, and that a figure beyond its limit is said."""

import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))

import verification


@pytest.fixture(scope="module")
def rows():
    return [verification.measured(name) for name in ("laplace_mechanism", "bad_partial_sum")]


CHECKS = [
    {"command": "all", "confirmed": True, "said": "31 proven", "seconds": 8.0, "clock": 9.0},
    {"command": "quick", "confirmed": True, "said": "16 proven", "seconds": 1.0, "clock": 2.0},
]
CLAIMS = [{"name": "laplace_mechanism", "proven": 1.0, "certified": 0.999}]


def test_a_proof_and_a_refutation_are_measured(rows):
    proof, refutation = rows
    assert ("proven", "refuted") == (proof["verdict"], refutation["verdict"])
    assert proof["obligations"] == proof["solvers"] == proof["kernel"] > 10
    assert proof["bytes"] > 1000
    assert refutation["loss"] > 1
    assert {"CheckDP": "<= 70 s", "ShadowDP": ""} == refutation["published"]


def test_figures_within_their_limits_are_met_and_others_are_not(rows):
    quick = [{**row, "seconds": 1.0} for row in rows]
    assert all(bar.met for bar in verification.bars_of(quick, 20.0, CHECKS, CLAIMS))
    late = [{**rows[0], "seconds": 3.1}, {**rows[1], "verdict": "unknown"}]
    missed = [{**CHECKS[0], "confirmed": False, "seconds": 121.0}, CHECKS[1]]
    bars = verification.bars_of(late, 61.0, missed, [{"name": "laplace_mechanism", "proven": 1.0, "certified": None}])
    assert [
        "share of verdicts that are the published ones",
        "slowest proof, seconds",
        "these programs on two processes, seconds of the clock",
        "`all` confirms everything",
        "`all`, seconds",
        "part of the claim of laplace_mechanism that is shown to be needed",
    ] == [bar.what for bar in bars if not bar.met]


def test_every_program_with_a_published_time_is_in_the_suite(rows):
    assert set(verification.CASES) >= verification.IN_SHADOWDP | set(verification.TIGHT)
    markdown, _ = verification.report(rows, 20.0, CHECKS, CLAIMS)
    assert "| bad_partial_sum | refuted |" in markdown
    assert "| `quick` | 16 proven | 1.00 | 2.00 |" in markdown
