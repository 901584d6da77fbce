"""What holds for every verb alike: exit codes, and one JSON document on stdout whatever happens, interruptions included."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
from importlib import import_module
from importlib.resources import files

import click
import jsonschema
import numpy as np
import pytest
from click.testing import CliRunner

from dpaudit.cli import VERBS, main

COUNT = "dpaudit.catalogue.programs.basic:histogram"
LEDGER = "book.ledger"
SUCCESSES = {
    "account": ["gaussian(sigma=1)"],
    "audit": ["releases.py:sound", "--runs", "60000", "--alpha", "1e-9"],
    "calibrate": ["laplace(scale=?)", "--epsilon", "1", "--delta", "0"],
    "config": [],
    "diff": ["out/report.json", "out/report.json"],
    "executors": ["check", "concurrent.futures:ThreadPoolExecutor"],
    "explain": ["DPA104"],
    "init": ["releases.py"],
    "ledger anchor": [LEDGER, "anchors"],
    "ledger check": [LEDGER, "survey/person/report", "pure_dp(1)"],
    "ledger export": [LEDGER],
    "ledger init": ["other.ledger"],
    "ledger migrate": [LEDGER, "moved.ledger"],
    "ledger page": [LEDGER, "--output", "page.html"],
    "ledger show": [LEDGER],
    "ledger spend": [LEDGER, "survey/person/report", "pure_dp('1/2')"],
    "ledger verify": [LEDGER],
    "ledger watch": [LEDGER, "--looks", "1"],
    "membership": ["canaries.csv", "--delta", "0"],
    "prove": [COUNT],
    "replay": ["out/report.json"],
    "report": ["out/report.json"],
    "samples": ["first.csv", "second.csv", "--epsilon", "1"],
    "scan": ["releases.py", "--ignore", "DP101,DP102"],
    "targets": [],
}
"""A call of every verb that ends with exit code 0."""

FAILURES = {
    "account": (["laplace(scale=-1)"], 2, "DPA104"),
    "audit": (["missing.py:target"], 4, None),
    "calibrate": (["laplace(scale=?)", "--epsilon", "1", "--delta", "0", "--low", "9", "--high", "1"], 2, "DPA103"),
    "config": ([], 2, "DPA507"),
    "diff": (["missing.json", "out/report.json"], 2, "DPA501"),
    "executors": (["check", "missing:make"], 2, "DPA105"),
    "explain": (["DPA999"], 2, "DPA504"),
    "init": (["missing.py"], 2, "DPA105"),
    "ledger anchor": (["missing.ledger", "anchors"], 2, "DPA801"),
    "ledger check": ([LEDGER, "survey/person/report", "pure_dp(2)"], 5, "DPA810"),
    "ledger export": (["people.csv"], 5, "DPA805"),
    "ledger init": ([LEDGER, "survey/person", "--epsilon", "0"], 2, "DPA802"),
    "ledger migrate": (["missing.ledger", "moved.ledger"], 2, "DPA801"),
    "ledger page": ([LEDGER, "--output", "missing/page.html"], 2, "DPA503"),
    "ledger show": (["missing.ledger"], 2, "DPA801"),
    "ledger spend": ([LEDGER, "survey/person/report", "pure_dp(2)"], 5, "DPA810"),
    "ledger verify": (["people.csv"], 5, "DPA805"),
    "ledger watch": (["missing.ledger"], 2, "DPA801"),
    "membership": (["people.csv", "--delta", "0"], 4, "DPA406"),
    "prove": (["missing.py:f"], 4, "DPA401"),
    "replay": (["people.csv"], 2, "DPA501"),
    "report": (["out/report.json", "--html", "missing/page.html"], 2, "DPA503"),
    "samples": (["first.csv", "people.csv", "--epsilon", "1"], 2, "DPA105"),
    "scan": (["missing.py"], 2, "DPA105"),
    "targets": ([], 2, "DPA507"),
}
"""A call of every verb that does not get what it needs, its exit code, and the code of its error; None where there is a report."""

BROKEN = """
from dpaudit import Claim, PureDP, Target


def counted(data, count, rng):
    return len(data) + rng.laplace(scale=0.3, size=count)


broken = Target(name="broken", claim=Claim(PureDP(epsilon=1)), neighbours=[([1], [1, 1])], sample=counted, public_data=True)
"""

SLOW = """
import sys, time
print("loading", file=sys.stderr, flush=True)
time.sleep(60)
"""

every_verb = pytest.mark.parametrize("verb", SUCCESSES)


@pytest.fixture(scope="module")
def refusal():
    """The shape of an error document, from the shipped schema."""
    schema = json.loads((files("dpaudit.report") / "schema.json").read_text())
    return jsonschema.Draft202012Validator({"$ref": "#/$defs/refusal", "$defs": schema["$defs"]})


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A folder with a report and a ledger of a budget of 1, made once."""
    place = tmp_path_factory.mktemp("made")
    (place / "releases.py").write_text(BROKEN)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(place)
        patch.setattr(sys, "path", list(sys.path))
        for words, code in (
            (["audit", "releases.py:broken", "--alpha", "1e-9", "--runs", "2000", "--report", "out"], 1),
            (["ledger", "init", LEDGER, "survey/person", "--epsilon", "1"], 0),
        ):
            assert code == CliRunner().invoke(main, words, prog_name="dpaudit").exit_code
    return place


@pytest.fixture
def prepared(dpaudit, folder, made):
    """The command line in a folder of its own, with a copy of that report and of that ledger."""
    shutil.copytree(made / "out", folder / "out")
    shutil.copy(made / LEDGER, folder)
    rng = np.random.default_rng(1)
    for name, chance in (("first.csv", 0.3), ("second.csv", 0.7)):
        np.savetxt(folder / name, rng.random(8000) < chance, fmt="%d")
    (folder / "canaries.csv").write_text("included,score\n" + "1,0.5\n0,0.25\n" * 20)
    return dpaudit


def command_of(verb):
    """The command that a verb is."""
    name, *part = verb.split()
    command = getattr(import_module(f"dpaudit.cli.{name}"), name)
    return command.commands[part[0]] if part else command


def test_the_tables_hold_every_verb():
    found = [(name, command_of(name)) for name in VERBS]
    parts = [f"{name} {part}" for name, command in found if isinstance(command, click.Group) for part in command.commands]
    plain = [name for name, command in found if not isinstance(command, click.Group)]
    assert {*plain, *parts} == set(SUCCESSES) == set(FAILURES)


@every_verb
def test_a_verb_that_succeeds_ends_with_0_and_gives_one_document(prepared, verb):
    result = prepared(*verb.split(), *SUCCESSES[verb], "--json")
    assert 0 == result.exit_code, result.stderr
    assert "1" == json.loads(result.stdout)["schema"]


@every_verb
def test_a_verb_that_fails_ends_with_its_code_and_gives_one_document(prepared, folder, verb, refusal):
    words, exit_code, code = FAILURES[verb]
    if code == "DPA507":
        (folder / "pyproject.toml").write_text("[tool.dpaudit.audti]\nruns = 1\n")
    result = prepared(*verb.split(), *words, "--json")
    assert exit_code == result.exit_code, result.stderr
    document = json.loads(result.stdout)
    if code is None:
        assert document["evidence"]["results"][0]["failure"].startswith("DPA401")
        return
    refusal.validate(document)
    assert code == document["error"]["code"]
    assert result.stderr.startswith(f"error: {code} ")
    assert "Traceback" not in result.stderr
    assert "" == prepared(*verb.split(), *words).stdout, "without --json, an error is for people alone"


@every_verb
@pytest.mark.parametrize("words", [["--no-such-option"], ["--json=3"]])
def test_wrong_usage_ends_with_2_and_gives_one_document(dpaudit, verb, words, refusal):
    result = dpaudit(*verb.split(), "--json", *words)
    assert 2 == result.exit_code
    refusal.validate(document := json.loads(result.stdout))
    assert "usage" == document["error"]["code"]
    assert document["error"]["message"] in result.stderr
    assert "" == dpaudit(*verb.split(), *words).stdout


@every_verb
@pytest.mark.parametrize(
    ("error", "exit_code", "code"), [(RuntimeError("record of Ada"), 6, "internal"), (KeyboardInterrupt(), 3, "interrupted")]
)
def test_a_bug_ends_with_6_and_an_interruption_with_3_and_each_gives_one_document(
    dpaudit, monkeypatch, verb, refusal, error, exit_code, code
):
    def fail(*_, **__):
        raise error

    monkeypatch.setattr(command_of(verb), "callback", fail)
    result = dpaudit(*verb.split(), *SUCCESSES[verb], "--json")
    assert exit_code == result.exit_code
    refusal.validate(document := json.loads(result.stdout))
    assert code == document["error"]["code"]
    assert "Ada" not in result.stdout + result.stderr
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize("words", [["no_such_verb", "--json"], ["--no-such-option", "explain", "--json"]])
def test_a_mistake_before_the_verb_gives_a_document_too(dpaudit, words):
    result = dpaudit(*words)
    assert (2, "usage") == (result.exit_code, json.loads(result.stdout)["error"]["code"])


def test_json_may_be_asked_for_by_the_environment_or_the_file(dpaudit, folder, monkeypatch):
    assert "" == dpaudit("explain", "DPA999").stdout
    monkeypatch.setenv("DPAUDIT_EXPLAIN_JSON", "1")
    assert "DPA504" == json.loads(dpaudit("explain", "DPA999").stdout)["error"]["code"]
    monkeypatch.delenv("DPAUDIT_EXPLAIN_JSON")
    (folder / "pyproject.toml").write_text("[tool.dpaudit.explain]\njson = true\n")
    assert "DPA504" == json.loads(dpaudit("explain", "DPA999").stdout)["error"]["code"]


def test_an_error_after_the_document_adds_no_second_one(prepared, folder):
    path = folder / "out" / "report.json"
    path.write_text(path.read_text().replace('"seed": 0', '"seed": 1'))
    result = prepared("replay", "out/report.json", "--json")
    assert 4 == result.exit_code
    assert json.loads(result.stdout)["targets"][0]["identical"] is False


@pytest.mark.parametrize(
    ("words", "where"),
    [
        (["audit", "slow.py:target", "--report", "late"], "late/report.json"),
        (["prove", "slow.py:function"], None),
        (["executors", "check", "slow:make"], None),
    ],
)
def test_the_interrupt_key_ends_a_verb_with_3_and_one_document(folder, words, where, refusal):
    (folder / "slow.py").write_text(SLOW)
    process = subprocess.Popen(
        [sys.executable, "-m", "dpaudit", *words, "--json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert "loading\n" == process.stderr.readline()
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert 3 == process.returncode
    assert "Traceback" not in err
    refusal.validate(document := json.loads(out))
    assert "interrupted" == document["error"]["code"]
