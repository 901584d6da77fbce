"""The experiments: the same bytes from the same seeds, figures that fit their tables, bounds that hold, axes with units."""

import json
import re
import sys
from dataclasses import replace
from fractions import Fraction
from html import unescape
from pathlib import Path

import numpy as np
import pytest

sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))

import experiments
from charts import Axis, Line, chart
from experiment_jobs import separated, work

NAMES = ("epsilon", "columns", "margin", "bounds", "kernel", "digits", "breast_cancer", "adult", "covtype")
KNOWN = experiments.experiments(Path("data"))


def committed(name):
    return json.loads((experiments.RESULTS / f"experiments_{name}.json").read_text(encoding="utf-8"))


def test_the_list_of_experiments_is_what_is_committed():
    assert (
        set(NAMES)
        == set(KNOWN)
        == {path.stem.removeprefix("experiments_") for path in experiments.RESULTS.glob("experiments_*.json")}
    )


@pytest.mark.parametrize("name", NAMES)
def test_a_committed_page_and_its_figures_are_those_of_the_committed_rows(name):
    rows = committed(name)["rows"]
    page = (experiments.RESULTS / f"experiments_{name}.md").read_text(encoding="utf-8")
    assert page == f"# {KNOWN[name].title}\n\n{experiments.page(KNOWN[name], rows)}"
    for figure in KNOWN[name].figures:
        file = experiments.RESULTS / f"experiments_{name}{figure.stem}.svg"
        assert file.read_text(encoding="utf-8") == experiments.drawn(name, figure, rows)


@pytest.mark.parametrize("name", NAMES)
def test_committed_rows_are_those_of_the_jobs_of_their_profile(name):
    found = committed(name)
    jobs = [
        {key: value for key, value in job.items() if key != "data"}
        for job in KNOWN[name].jobs(experiments.PROFILES[found["profile"]])
    ]
    assert jobs == [{key: row[key] for key in job} for row, job in zip(found["rows"], jobs, strict=True)]


def test_the_same_command_writes_the_same_bytes(tmp_path, monkeypatch):
    small = lambda _: experiments.grid(  # noqa: E731
        "generated",
        2,
        learner=["PrivateClassifier", "no noise"],
        epsilon=["1/2", "4"],
        records=[300],
        columns=[30],
        margin=["1/5"],
        flipped=[0.05],
    )
    written = []
    for name, state in (("first", None), ("second", tmp_path / "state"), ("read back", tmp_path / "state")):
        assert experiments.run("epsilon", replace(KNOWN["epsilon"], jobs=small), "quick", 1, tmp_path / name, state)
        written.append({file.name: file.read_bytes() for file in (tmp_path / name).iterdir()})
    assert written[0] == written[1] == written[2]
    assert {f"experiments_epsilon.{kind}" for kind in ("md", "json", "svg")} == set(written[0])


def test_what_is_drawn_again_from_the_rows_is_the_same(tmp_path):
    rows = experiments.RESULTS / "experiments_digits.json"
    assert not experiments.again("digits", KNOWN["digits"], tmp_path)
    (tmp_path / rows.name).write_bytes(rows.read_bytes())
    assert experiments.again("digits", KNOWN["digits"], tmp_path)
    for file in tmp_path.iterdir():
        assert file.read_bytes() == (experiments.RESULTS / file.name).read_bytes()


def test_another_seed_is_another_result():
    job = {"measure": "generated", "learner": "PrivateClassifier", "epsilon": "1/2", "records": 300, "columns": 30, "margin": "1/5"}
    assert work({**job, "flipped": 0.05, "seed": 1}) != work({**job, "flipped": 0.05, "seed": 2})


@pytest.mark.parametrize("columns", [3, 17, 100, 4096])
def test_generated_records_have_norm_one_and_exactly_the_margin(columns):
    rows, labels = separated(200, columns, 0.25, 0.0, 7)
    dense = rows if isinstance(rows, np.ndarray) else rows.toarray()
    assert np.allclose(1, np.linalg.norm(dense, axis=1))
    assert np.array_equal(np.where(labels == 1, 0.25, -0.25), dense[:, 0])


def test_committed_errors_keep_the_certified_bounds():
    for row in committed("bounds")["rows"]:
        if "error" in row and row["bound"] is not None:
            # A bound may fail with probability 1/20; here it is far above what it bounds.
            assert row["error"] <= row["bound"]


def test_a_bound_needs_no_records():
    job = {"measure": "bound", "learner": "PureHalfspaceClassifier", "columns": 3, "margin": "3/10", "seed": 0}
    found = work({**job, "records": 10**6, "fitted": False})
    assert {"bound"} == set(found)
    assert 0 < found["bound"] < 0.01


def test_every_figure_says_what_its_axes_are_and_every_line_has_a_look_of_its_own():
    for name in NAMES:
        rows = committed(name)["rows"]
        for figure in KNOWN[name].figures:
            looks = [(line.style, line.fine) for line in figure.lines(rows) if line.style is not None]
            assert len(looks) == len(set(looks))
            drawing = experiments.drawn(name, figure, rows)
            texts = {unescape(text) for text in re.findall(r"<text[^>]*>([^<]*)</text>", drawing)}
            assert {figure.across.title, figure.up.title, figure.title, *(line.name for line in figure.lines(rows))} <= texts


def test_a_chart_is_the_same_each_time_and_shows_hollow_points():
    lines = [Line("one", [1, 10], [0.5, 1.0], [0.1, 0.0], style=1, hollow=[False, True]), Line("level", [1, 10], [2, 2])]
    drawn = [chart(lines, Axis("x", log=True), Axis("y"), title="t", description="d", key="k") for _ in range(2)]
    assert drawn[0] == drawn[1]
    assert "#d55e00" in drawn[0]


def test_places_on_an_axis_are_numbers():
    assert 0.25 == experiments.number("1/4") == experiments.number(Fraction(1, 4))
    assert ((0.5, "1/2"), (2048.0, "2,048")) == experiments.named(["1/2", 2048])
