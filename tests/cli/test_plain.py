"""Functions without a Target: how their arguments, their data and their randomness are recognised, and that they are audited."""

from __future__ import annotations

import os
import random
import sys
from pathlib import Path

import numpy as np
import pytest

from dpaudit import Verdict, audit, claim
from dpaudit.errors import TargetFailure
from dpaudit.loading import load_targets
from dpaudit.plain import streams
from dpaudit.plain.asked import asked_of, read_literal
from dpaudit.plain.datafiles import read_data
from dpaudit.report import from_json

PEOPLE = "name,age,visits,ill\n" + "".join(f"p{place},{20 + place},{place % 7},{place % 2}\n" for place in range(30))


@pytest.fixture
def plain(tmp_path, monkeypatch):
    """Load the one target of a source text, with people as its data, in a process that serves audits alone."""
    monkeypatch.setattr(streams, "_owned", [True])
    monkeypatch.setattr(os, "urandom", os.urandom)  # given back afterwards
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    Path("people.csv").write_text(PEOPLE)

    def load(source, name="f", *, data="people.csv", **asked):
        Path("plain.py").write_text(source)
        (target,) = load_targets(f"plain.py:{name}", data=data, asked=asked_of(**{"epsilon": 1, **asked}))
        return target

    return load


@pytest.mark.parametrize(
    ("words", "source"),
    [
        ("list of dict", "def f(rows, rng):\n    return sum(r['age'] for r in rows)"),
        ("list of dict", "def f(rows, rng):\n    return sum(r.get('age', 0) for r in rows)"),
        ("list of dict", "def f(people: list[dict], rng):\n    return len(people)"),
        ("list of dict", "def age(p):\n    return p['age']\ndef f(people, rng):\n    return sum(map(age, people))"),
        ("list of dict", "def g(ps):\n    return [p['age'] for p in ps]\ndef f(people, rng):\n    return sum(g(people))"),
        ("column age as a list", "def f(ages, rng):\n    return sum(min(a, 90) for a in ages)"),
        ("column age as a list", "def f(age: list[float], rng):\n    return len(age)"),
        ("column age as a numpy", "import numpy as np\ndef f(ages, rng):\n    return np.clip(ages, 0, 9).sum()"),
        ("column age as a numpy", "def f(ages, rng):\n    return (ages > 30).sum()"),
        ("column age as a numpy", "import numpy as np\ndef f(ages: np.ndarray, rng):\n    return len(ages)"),
        ("column age as a pandas", "import pandas as pd\ndef f(ages: pd.Series, rng):\n    return ages.mean()"),
        ("pandas DataFrame", "def f(df, rng):\n    return df['age'].mean()"),
        ("pandas DataFrame", "def f(data, rng):\n    return data.groupby('ill').size().to_dict()"),
        ("polars DataFrame", "import polars as pl\ndef f(data: pl.DataFrame, rng):\n    return data.height"),
        ("list of tuples", "def f(people, rng):\n    return sum(p.age for p in people)"),
        ("list of tuples", "def f(people, rng):\n    return sum(age for _, age, _, _ in people)"),
        ("columns age, visits, ill", "def f(table, rng):\n    return table[:, 0].sum()"),
        ("columns age, visits, each", "def f(ages, visits, rng):\n    return sum(ages) + sum(visits)"),
        ("columns age, visits, ill, each", "def f(X, y, rng):\n    return X.shape[1] + y.sum()"),
    ],
)
def test_the_form_of_the_data_is_recognised(plain, words, source):
    target = plain(source)
    assert words in target.description
    assert target.run(target.data, np.random.default_rng(0)) is not None


@pytest.mark.parametrize(
    "body",
    [
        "def f(rows, rng):\n    return rng.laplace()",
        "def f(rows, generator=None):\n    return generator.standard_normal()",
        "def f(rows, random_state):\n    return random_state.randn()",
        "import numpy as np\ndef f(rows, random_state=None):\n    return np.random.RandomState(random_state).laplace()",
        "import numpy as np\ndef f(rows, seed):\n    return np.random.default_rng(seed).laplace()",
        "import random\ndef f(rows, rng: random.Random):\n    return rng.gauss(0, 1)",
        "def f(rows, rng):\n    return rng.expovariate(1)",
        "import random\ndef f(rows):\n    return random.gauss(0, 1)",
        "import numpy as np\ndef f(rows):\n    return np.random.laplace()",
        "import numpy as np\ndef f(rows):\n    return np.random.default_rng().laplace()",
        "import secrets\ndef f(rows):\n    return secrets.randbelow(10**9)",
        "import os\ndef f(rows):\n    return os.urandom(8)",
        "import random\nR = random.SystemRandom()\ndef f(rows):\n    return R.random()",
        "import numpy as np\nR = np.random.default_rng(7)\ndef f(rows):\n    return R.laplace()",
        "import numpy as np\nR = np.random.RandomState(7)\ndef f(rows):\n    return R.laplace()",
        "import random\nR = random.Random(7)\ndef f(rows):\n    return R.random()",
        "from mechanisms import LaplaceMechanism as L\ndef f(a, source):\n    return L(sensitivity=1, epsilon=1).release(9,source)",
    ],
)
def test_a_run_repeats_from_its_seed_wherever_its_randomness_comes_from(plain, body):
    target = plain(body)
    first, again, other = (target.run(target.data, np.random.default_rng(seed)) for seed in (1, 1, 2))
    assert first == again != other


def test_runs_that_share_a_generator_differ_and_other_threads_keep_the_randomness_of_the_system(plain):
    target = plain("import os\ndef f(rows):\n    return os.urandom(8)")
    rng = np.random.default_rng(3)
    assert 50 == len({target.run(target.data, rng) for _ in range(50)})
    assert os.urandom(8) != os.urandom(8)


def test_a_program_that_audits_itself_keeps_its_own_randomness(plain, monkeypatch):
    monkeypatch.setattr(streams, "_owned", [False])
    target = plain("import random\nimport numpy as np\ndef f(rows):\n    return random.random(), np.random.rand()")
    assert "is not seeded in this process" in target.description
    random.seed(5)
    np.random.seed(5)  # noqa: NPY002 - the global one is meant, as below
    expected = random.random(), np.random.rand()  # noqa: NPY002, S311
    random.seed(5)
    np.random.seed(5)  # noqa: NPY002
    assert expected == target.run(target.data, np.random.default_rng(1))


def test_the_claimed_budget_and_further_arguments_are_passed(plain):
    source = "def f(rows, epsilon, delta, bound=1, kind='a', rng=None):\n    return (epsilon, delta, bound, kind)"
    target = plain(source, epsilon="1/2", delta="1e-6", arguments=["bound=100", "kind=b"])
    assert (0.5, 1e-6, 100, "b") == target.run(target.data, np.random.default_rng(0))
    assert "epsilon = 1/2, delta = 1e-06" in str(target.claim)
    assert (2, 1e-6, 1, "a") == plain(source, delta="1e-6", arguments=["epsilon=2"]).run([], np.random.default_rng(0))


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (100, "100"),
        (0.5, "0.5"),
        (True, "true"),
        (None, "None"),
        ("abc", "abc"),
        ("1", "'1'"),
        ([0, 1], "[0, 1]"),
        (float("inf"), "inf"),
    ],
)
def test_literals_are_typed(value, text):
    assert value == read_literal(text)
    assert type(value) is type(read_literal(text))


def test_a_method_is_called_on_a_new_object_in_every_run(plain):
    source = (
        "class Release:\n    def __init__(self, epsilon=9):\n        self.epsilon, self.calls = epsilon, 0\n"
        "    def count(self, ages, rng):\n        self.calls += 1\n        return (self.calls, self.epsilon)\n"
        "    @staticmethod\n    def plainly(ages):\n        return len(ages)\n"
    )
    target = plain(source, "Release.count")
    assert [(1, 1)] * 2 == [target.run(target.data, np.random.default_rng(0)) for _ in range(2)]
    assert 30 == plain(source, "Release.plainly").run([0] * 30, np.random.default_rng(0))


def test_a_seed_by_default_is_named(plain):
    assert "by default seed=42 repeats" in plain("def f(rows, seed=42):\n    return seed").description


@pytest.mark.parametrize(
    ("words", "source"),
    [
        ("line 2 of its file seeds", "import random\nrandom.seed(7)\ndef f(rows):\n    return random.random()"),
        ("line 2 of its file seeds", "import numpy as np\nR = np.random.default_rng(7)\ndef f(rows):\n    return R.random()"),
        ("cannot be seeded", "import random\ndef f(rows):\n    return random.Random().random() < 0.5"),
        ("no source of randomness was noticed", "def f(rows):\n    return len(rows)"),
    ],
)
def test_randomness_that_differs_from_that_of_the_program_is_named(plain, words, source):
    assert words in plain(source).description


def test_claimed_functions_are_found_and_stay_as_they_are(plain, tmp_path):
    Path("claimed.py").write_text(
        "from dpaudit import claim\n\n@claim(epsilon=1, data=[1, 2, 3])\ndef count(ages, rng):\n    return len(ages)\n\n"
        "@claim(epsilon=2, data='people.csv', columns=['age'], adjacency='replace_one')\ndef total(values, rng):\n"
        "    return sum(values)\n\nclass Stats:\n    @claim(epsilon=1, data=[1])\n    def mean(self, ages):\n        return 1\n"
    )
    found = {target.name: target for target in load_targets("claimed.py")}
    assert ["count", "total", "Stats.mean"] == list(found)
    assert [1, 2, 3] == found["count"].data
    assert "replace_one" == found["total"].adjacency.kind
    assert 30 == len(found["total"].data)


def test_a_claimed_function_is_audited_as_an_object():
    @claim(epsilon=1, data=[31, 54, 27, 42], most_runs=20_000)
    def half_noise(ages, rng):
        return len(ages) + rng.laplace(scale=0.3)

    assert 1 < half_noise([1], np.random.default_rng(0)) + 100
    assert Verdict.REFUTED == audit(half_noise, runs=20_000, seed=1).results[0].verdict


@pytest.mark.parametrize(
    ("name", "write"),
    [
        ("a.jsonl", lambda path: path.write_text('{"age": 1, "name": "x"}\n\n{"age": 2}\n')),
        ("a.json", lambda path: path.write_text('[{"age": 1, "name": "x"}, {"age": 2, "name": null}]')),
        ("a.csv", lambda path: path.write_text("age,name\n1,x\n2,\n")),
        ("a.parquet", lambda path: pytest.importorskip("pandas").DataFrame({"age": [1, 2], "name": ["x", None]}).to_parquet(path)),
    ],
)
def test_data_files_of_all_kinds_give_the_same_records(tmp_path, name, write):
    write(tmp_path / name)
    assert [{"age": 1, "name": "x"}, {"age": 2, "name": None}] == read_data(tmp_path / name)


def test_arrays_are_read_and_objects_are_refused(tmp_path):
    np.save(tmp_path / "a.npy", np.arange(6.0).reshape(3, 2))
    assert np.array_equal(np.arange(6.0).reshape(3, 2), read_data(tmp_path / "a.npy"))
    np.save(tmp_path / "b.npy", np.array([{"secret": 1}], dtype=object))
    with pytest.raises(TargetFailure, match=r"DPA406 b\.npy"):
        read_data(tmp_path / "b.npy")


@pytest.mark.parametrize(
    ("name", "text"), [("a.jsonl", '{"zebulon"'), ("a.parquet", "zebulon"), ("a.npy", "zebulon"), ("b.jsonl", "")]
)
def test_a_broken_data_file_is_refused_without_its_content(tmp_path, name, text):
    (tmp_path / name).write_text(text)
    with pytest.raises(TargetFailure, match="DPA406") as failure:
        read_data(tmp_path / name)
    assert "zebulon" not in str(failure.value)


BROKEN = "def f(ages, epsilon, rng):\n    return len(ages) + rng.laplace(scale=0.3 / epsilon)\n"


@pytest.mark.parametrize(("verdict", "source"), [("refuted", BROKEN), ("consistent", BROKEN.replace("0.3", "1.0"))])
def test_a_plain_function_is_audited_by_one_line_and_replayed(dpaudit, folder, verdict, source):
    (folder / "plain.py").write_text(source)
    result = dpaudit(
        "audit", "plain.py:f", "--epsilon", "1", "--data", "people.csv", "--runs", "40000", "--json", "--report", "out"
    )
    (found,) = from_json(result.stdout).results
    assert (verdict, "plain.py:f", ("plain.py", 1)) == (found.verdict, found.reference, found.source)
    assert 0 == dpaudit("replay", "out/report.json").exit_code


DRAFTED = """
import numpy as np


class Stats:
    def noisy_total(self, ages, lower, rng):
        return sum(ages) + lower + rng.laplace()


def noisy_count(ages, epsilon=0.5):
    return len(ages) + np.random.laplace(scale=1 / epsilon)


def gaussian_count(ages, epsilon, delta):
    return len(ages) + np.random.normal(scale=5 / epsilon)


def read(path):
    raise SystemExit("run by mistake")


raise_if_run = open("was_run", "w") if __name__ != "to_be_drafted" else None
"""


def test_a_draft_is_made_without_running_anything_and_is_audited_when_filled_in(dpaudit, folder):
    (folder / "to_be_drafted.py").write_text(DRAFTED)
    result = dpaudit("init", "to_be_drafted.py")
    assert (0, False) == (result.exit_code, (folder / "was_run").exists())
    assert ["Stats.noisy_total", "noisy_count", "gaussian_count"] == [line.split("  ")[1] for line in result.stdout.splitlines()]
    written = folder / "audit_to_be_drafted.py"
    found = {target.name: target for target in load_targets_of(written)}
    assert ["noisy_count", "gaussian_count"] == list(found)
    assert "epsilon = 1/2" in str(found["noisy_count"].claim)
    refused = dpaudit("audit", written.name, "--data", "people.csv", "--runs", "2000")
    assert "Stats_noisy_total at audit_to_be_drafted.py:14 needs lower. Fill in a value in its claim." in " ".join(
        refused.stdout.split()
    )
    written.write_text(written.read_text().replace('"lower": ...', '"lower": 3'))
    assert 3 == len(load_targets_of(written))


def load_targets_of(path):
    """Load the targets of a drafted file that are filled in."""
    from dpaudit.loading import each_target
    from dpaudit.targets import Target

    return [one for one in each_target(str(path), data="people.csv") if isinstance(one, Target)]


def test_a_draft_overwrites_nothing_and_needs_something_to_draft(dpaudit, folder):
    (folder / "plain.py").write_text(BROKEN)
    (folder / "nothing.py").write_text("def helper(path):\n    return path\n")
    assert 0 == dpaudit("init", "plain.py").exit_code
    before = (folder / "audit_plain.py").read_text()
    again = dpaudit("init", "plain.py")
    assert (2, "DPA503" in again.stderr, before) == (again.exit_code, True, (folder / "audit_plain.py").read_text())
    for name, says in (("nothing.py", "no function that looks like a release"), ("plian.py", "did you mean 'plain.py'?")):
        refused = dpaudit("init", name)
        assert (2, True) == (refused.exit_code, says in refused.stderr)


@pytest.mark.parametrize("change", ["", "plain.py", "helper.py", "people.csv", "extra.txt", "--seed"])
def test_a_report_is_reused_until_something_that_it_depends_on_changes(dpaudit, folder, change):
    (folder / "helper.py").write_text("SCALE = 1\n")
    (folder / "extra.txt").write_text("1")
    (folder / "plain.py").write_text(f"from helper import SCALE\n\nFILE = 'extra.txt'\n\n\n{BROKEN.replace('0.3', 'SCALE')}")
    command = ("audit", "plain.py:f", "--epsilon", "1", "--data", "people.csv", "--runs", "2000", "--reuse")
    first = dpaudit(*command)
    if change.endswith(("py", "csv", "txt")):
        (folder / change).write_text((folder / change).read_text() + ("\n" if change.endswith("py") else "\n44,Ann\n"))
    second = dpaudit(*command, *(("--seed", "1") if change == "--seed" else ()))
    assert "This report is reused" not in first.stdout
    assert (change == "") == ("This report is reused" in second.stdout)
    assert first.exit_code == second.exit_code


def test_failed_audits_are_not_kept(dpaudit, folder):
    (folder / "plain.py").write_text("def f(rows):\n    return 1 / 0\n")
    command = ("audit", "plain.py:f", "--epsilon", "1", "--data", "people.csv", "--runs", "2000", "--reuse")
    assert [4, 4] == [dpaudit(*command).exit_code for _ in range(2)]
    assert not list(folder.glob(".dpaudit/*.json"))


def test_a_time_budget_keeps_the_most_runs_of_slow_functions(dpaudit, folder):
    (folder / "plain.py").write_text(BROKEN.replace("0.3", "1"))
    result = dpaudit("audit", "plain.py:f", "--epsilon", "1", "--data", "people.csv", "--most-runs", "6000", "--json")
    (found,) = from_json(result.stdout).results
    assert found.attack.runs <= 6000


PRINTING = "import os\n\n\ndef f(rows, rng):\n    {}\n    return len(rows) + rng.laplace()\n"


@pytest.mark.parametrize(
    ("verdict", "line"),
    [
        ("refuted", "print(len(rows))"),
        ("refuted", "os.write(2, b'.' * len(rows))"),
        ("not refuted", "print('done')"),
    ],
)
def test_what_a_run_prints_counts_if_that_is_asked(dpaudit, folder, verdict, line):
    (folder / "plain.py").write_text(PRINTING.format(line))
    command = ("audit", "plain.py:f", "--epsilon", "1", "--data", "people.csv", "--runs", "4000", "--json")
    (found,) = from_json(dpaudit(*command, "--streams").stdout).results
    assert (verdict == "refuted") == (found.verdict is Verdict.REFUTED)
    assert "what is printed counts as output" in found.description
    assert "plain.py" == found.source[0]


def test_streams_are_refused_where_one_call_makes_many_outputs(folder):
    (folder / "plain.py").write_text(
        "from dpaudit import *\n\n"
        "f = Target(sample=lambda data, n, rng: rng.laplace(size=n), claim=Claim(PureDP(epsilon=1)), data=[1, 2])\n"
    )
    with pytest.raises(TargetFailure, match="DPA404"):
        load_targets("plain.py:f", asked=asked_of(streams=True))


def test_the_time_of_runs_is_a_statement_of_its_own(dpaudit, folder):
    slow = "def f(rows, rng):\n    if len(rows) > 2:\n        sum(range(20_000))\n    return len(rows) + rng.laplace()\n"
    (folder / "plain.py").write_text(slow)
    command = ("audit", "plain.py:f", "--epsilon", "1", "--data", "people.csv", "--runs", "4000", "--json")
    (plain,), (timed,) = (from_json(dpaudit(*command, *more).stdout).results for more in ((), ("--timing",)))
    assert not [check for check in plain.properties if check.name == "elapsed time"]
    (check,) = [check for check in timed.properties if check.name == "elapsed time"]
    assert "violated" == check.status
    assert Verdict.INCONCLUSIVE is timed.verdict
