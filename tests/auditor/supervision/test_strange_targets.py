"""Whatever a target does to its process, it alone fails, and the targets around it have the evidence that they have without it."""

from __future__ import annotations

import pytest
from strange import CASES, module

import dpaudit
from dpaudit.results import Verdict

RUNS = 2_000
AROUND = ("honest.py:sound", "honest.py:broken", None, "honest.py:after", "honest.py:broken_after")
SLOW = {
    "a deep list",
    "gives outputs of a hundred megabytes",
    "prints a lot",
    "sets the profiler",
    "recurses in C",
    "asks to be terminated",
}
"""Cases that the campaign has and that take longer than a test may."""

HANGS = {"sleeps", "spins", "hangs while imported", "closes everything and sleeps"}
QUICK = [case for case in CASES if case[1] not in SLOW and "hang" not in case[1] and "sleep" not in case[1]]
CHOSEN = [*QUICK[::4], *(case for case in CASES if case[1] in HANGS)]

_base: dict[str, object] = {}


def audited(text):
    """The results of five targets, the one in the middle named here, by name."""
    names = [text if name is None else name for name in AROUND]
    report = dpaudit.audit(
        [name for name in names if name], runs=RUNS, alpha="0.001", supervised=True, time_limit=4, memory_limit="1 GiB"
    )
    return {result.name: result for result in report.results}, report


@pytest.fixture
def around(folder):
    """The honest results beside an honest target in the place of the strange one, and without any."""
    if not _base:
        _base["beside"], _base["without"] = audited("honest.py:strange")[0], audited("")[0]
    return _base


@pytest.mark.timeout(300)
@pytest.mark.parametrize("case", CHOSEN, ids=" ".join)
def test_a_strange_target_fails_alone_or_is_judged_rightly(around, folder, case):
    kind, name = case
    (folder / "strange_one.py").write_text(module(kind, name), encoding="utf-8")

    found, report = audited("strange_one.py:target")

    (strange,) = (result for result in report.results if result.name not in around["without"])
    expected = around["without" if "could not be audited" in strange.summary else "beside"]
    others = {key: result for key, result in found.items() if result is not strange}
    assert {key: result for key, result in expected.items() if key != "strange"} == others
    assert 5 == len(report.results)
    # Outputs without a form are not compared and targets that are inherited not pickled: neither exits.
    dies = kind == "deaths" or (kind == "parts" and "exit" in name and not {"pickles", "comparison"} & set(name.split()))
    assert strange.verdict in ({Verdict.FAILED} if dies else {Verdict.FAILED, Verdict.CONSISTENT, Verdict.INCONCLUSIVE})
    assert strange.source is not None
    assert strange.source[0] == "strange_one.py"
    assert bool(strange.failure) == (strange.verdict is Verdict.FAILED)


@pytest.mark.parametrize(("kind", "name"), [("deaths", "exits at once"), ("imports", "exits while imported")])
def test_a_dead_target_alone_has_exit_code_4_with_name_and_reason(folder, kind, name):
    (folder / "strange_one.py").write_text(module(kind, name), encoding="utf-8")

    report = dpaudit.audit("strange_one.py:target", runs=RUNS, supervised=True)

    assert 4 == report.exit_code
    assert "exit status 0" in report.results[0].failure


def test_the_evidence_of_workers_is_the_evidence_without_them(folder):
    from functools import partial

    from dpaudit.auditor.runs.renewal import ForkedWorkers, Workers

    names = ["honest.py:sound", "honest.py:broken", "honest.py:sound"]
    alone = dpaudit.audit(names, runs=RUNS)
    for workers in (partial(ForkedWorkers, 2), Workers(2)):  # one target after the other, and two side by side
        seen = []
        supervised = dpaudit.audit(names, runs=RUNS, supervised=True, executor=workers, progress=seen.append)
        assert alone.results == supervised.results
        shares = [one.fraction for one in seen]
        assert sorted(shares) == shares
        assert 1.0 == shares[-1]
