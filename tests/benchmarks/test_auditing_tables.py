"""Tables of bounds: the same whatever the workers, never mixed with those of other code, and judged by their bars."""

import math
import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))

import auditing
import float_leaks
import measuring

from dpaudit.errors import InvalidArgument


def test_code_is_told_apart_by_what_it_does_and_not_by_its_comments(tmp_path, monkeypatch):
    digests = []
    for number, text in enumerate(["x = 1\n", '"""New."""\nx = 1  # one\n', "x = 2\n", 'def f():\n    """Do."""\n    return 1\n']):
        folder = tmp_path / str(number) / "package"
        folder.mkdir(parents=True)
        (folder / "module.py").write_text(text)
        monkeypatch.setattr(measuring, "__file__", str(tmp_path / str(number) / "benchmarks" / "measuring.py"))
        digests.append(measuring.code_of(["package"]))
    assert digests[0] == digests[1]
    assert 3 == len(set(digests))


def test_bounds_do_not_depend_on_the_workers_or_on_where_they_were_kept(tmp_path):
    kind, rows, runs, seeds = auditing.KINDS["coverage"], auditing.ROWS[:2], (600,), range(2)
    plain = auditing.measured(kind, rows, runs, seeds)
    spread = auditing.measured(kind, rows, runs, seeds, workers=2, state=tmp_path / "state.jsonl")
    kept = auditing.measured(kind, rows, runs, seeds, state=tmp_path / "state.jsonl")
    assert [(row, number) for row in rows for number in runs] == [(one.row, one.runs) for one in plain]
    assert [one.bounds for one in plain] == [one.bounds for one in spread] == [one.bounds for one in kept]
    assert spread == kept


def measured(bounds, row=auditing.ROWS[0], truth=0.1, seconds=1.0, runs=10_000_000):
    return auditing.Measured(row, runs, truth, tuple(bounds), seconds)


def failed(bars):
    return [bar.what for bar in bars if not bar.met]


@pytest.mark.parametrize(("bound", "seconds", "expected"), [(0.099, 1, 0), (0.097, 1, 1), (0.099, 21, 1), (0.097, 21, 2)])
def test_a_row_has_to_be_tight_and_fast(bound, seconds, expected):
    assert expected == len(failed(auditing.bounds_report([measured([bound], seconds=seconds)])[1]))


def test_two_hundred_audits_may_be_wrong_thirty_times():
    for above, expected in ((30, 0), (31, 1)):
        text, bars = auditing.coverage_report([measured([0.11] * above + [0.09] * (200 - above))])
        assert expected == len(failed(bars))
        assert expected == text.count("**not met**")


def test_a_published_bound_above_the_truth_is_no_bar():
    rappor = next(row for row in auditing.ROWS if row.specimen == "rappor_one_hash")
    _, truth = auditing.target_of("rappor_one_hash", "1/10")
    assert 0.3 < truth < rappor.sniper
    assert [] == auditing.campaign_report([measured([0.29], row=rappor, truth=truth)])[1]
    assert ["laplace"] == failed(auditing.campaign_report([measured([0.097])])[1])
    assert [] == failed(auditing.campaign_report([measured([0.098])])[1])


@pytest.mark.parametrize(("runs", "bar"), [(100_000, 0.970), (1_000_000, 0.990), (10_000_000, 0.996)])
def test_laplace_noise_of_epsilon_1_has_a_bar_at_each_number_of_runs(runs, bar):
    for bound, expected in ((bar, 0), (bar - 0.001, 1)):
        assert expected == len(failed(auditing.tightness_report([measured([bound], runs=runs, truth=1.0)])[1]))


def test_every_row_is_a_specimen_with_a_truth():
    truths = [auditing.target_of(row.specimen, "1/10")[1] for row in auditing.ROWS]
    assert 20 == len(truths)
    assert all(row.bar < truth for row, truth in zip(auditing.ROWS, truths, strict=True) if math.isfinite(truth))


def test_a_page_says_first_that_a_measurement_was_interrupted():
    assert "**Interrupted: 3 of 7 audits are done.** " == measuring.incomplete(3, 7)
    assert "" == measuring.incomplete(7, 7)


@pytest.mark.parametrize(("name", "expected"), [("laplace", 1), ("real_laplace", 1), ("euclidean_laplace", 2), ("top_k", 2)])
def test_what_is_audited_of_a_sampler_has_bits_somewhere(name, expected):
    views = float_leaks.views(name)
    assert expected == len(views)
    assert "first number" in views or name == "real_laplace"


def test_leaking_noise_is_refuted_and_a_sampler_is_not():
    leak = float_leaks.audited({"leak": "inversion of 53 bits", "alpha": "1/20", "runs": 20_000, "seed": 0})
    assert leak["refuted"]
    assert leak["stopped"] is not None
    job = {"sampler": "real_laplace", "view": "outputs", "alpha": "1e-9", "runs": 2000, "seed": 0}
    assert not float_leaks.audited(job)["refuted"]


def test_fewer_runs_than_an_audit_needs_are_refused():
    with pytest.raises(InvalidArgument, match="DPA103"):
        auditing.audited({"specimen": "laplace", "epsilon": "1/10", "alpha": "0.2", "runs": 10, "seed": 0})
