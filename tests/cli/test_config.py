"""Settings of a project: flag before environment before file; what is wrong in the file is refused; `dpaudit config`."""

import json

import pytest

from dpaudit.cli import VERBS
from dpaudit.report import from_json


@pytest.fixture
def settings(folder):
    def write(text):
        (folder / "pyproject.toml").write_text(text)

    return write


def option(dpaudit, name, verb="audit"):
    shown = json.loads(dpaudit("config", verb, "--json").stdout)
    return next((entry["value"], entry["origin"]) for entry in shown["options"] if entry["option"] == name)


def runs_of(result):
    return from_json(result.stdout).settings.runs


def test_a_flag_counts_before_the_environment_and_that_before_the_file(dpaudit, settings, monkeypatch):
    settings('[tool.dpaudit.audit]\nruns = 3000\ntargets = ["releases.py:sound"]\n')
    assert 3000 == runs_of(dpaudit("audit", "--json"))
    monkeypatch.setenv("DPAUDIT_AUDIT_RUNS", "4000")
    assert 4000 == runs_of(dpaudit("audit", "--json"))
    assert 5000 == runs_of(dpaudit("audit", "--runs", "5000", "--json"))


def test_of_options_that_exclude_each_other_the_one_given_most_strongly_counts(dpaudit, settings):
    settings("[tool.dpaudit.audit]\nruns = 3000\n")
    assert 200_000 == runs_of(dpaudit("audit", "releases.py:sound", "--profile", "quick", "--json"))
    assert 2 == dpaudit("audit", "releases.py:sound", "--profile", "quick", "--runs", "3000").exit_code


@pytest.mark.parametrize(
    "text",
    [
        "[tool.dpaudit.audti]\nruns = 1\n",
        "[tool.dpaudit.audit]\nrunz = 1\n",
        "[tool.dpaudit]\naudit = 3\n",
        "[tool.dpaudit.ledger]\nspent = {}\n",
        "[tool.dpaudit.audit\n",
        "[tool]\ndpaudit = 3 # [tool.dpaudit\n",
    ],
)
def test_settings_that_would_do_nothing_are_refused(dpaudit, settings, text):
    settings(text)
    for verb in ("audit", "ledger"):
        refused = dpaudit(verb, "show", "x")
        if refused.exit_code == 2 and "DPA507" in refused.stderr:
            return
    pytest.fail("nothing was refused")


def test_the_nearest_file_with_settings_is_read_and_one_without_is_not(dpaudit, settings, folder, monkeypatch):
    settings("[tool.dpaudit.audit]\nseed = 7\n")
    (folder / "inner").mkdir()
    monkeypatch.chdir(folder / "inner")
    assert (7, "file") == option(dpaudit, "--seed")
    (folder / "inner" / "pyproject.toml").write_text("[project]\nname = 'other'\n")
    assert (0, "default") == option(dpaudit, "--seed")


def test_every_option_is_listed_with_its_origin(dpaudit, settings, monkeypatch):
    settings('[tool.dpaudit.audit]\nalpha = "0.01"\n[tool.dpaudit.ledger.show]\nentries = 3\n')
    monkeypatch.setenv("DPAUDIT_REPLAY_TARGET", "a.py:b")
    everything = json.loads(dpaudit("config", "--json").stdout)["options"]
    assert {entry["verb"].split()[0] for entry in everything} == set(VERBS)
    told = {(entry["verb"], entry["option"]): entry["origin"] for entry in everything}
    assert ("file", "file", "default") == (told["audit", "--alpha"], told["ledger show", "--entries"], told["audit", "--runs"])
    assert "audit --alpha = 0.01\nledger show --entries = 3\n" in dpaudit("config").stdout
    assert "(default; DPAUDIT_AUDIT_RUNS)" in dpaudit("config", "audit", "--show-origin").stdout


def test_a_variable_has_the_name_of_the_option_and_not_that_of_the_parameter(dpaudit, monkeypatch):
    monkeypatch.setenv("DPAUDIT_AUDIT_REPORT", "out")
    monkeypatch.setenv("DPAUDIT_AUDIT_TIME_BUDGET", "9")
    monkeypatch.setenv("DPAUDIT_AUDIT_FOLDER", "elsewhere")
    assert ("out", "environment") == option(dpaudit, "--report")
    assert ("9", "environment") == option(dpaudit, "--time-budget")


def test_without_settings_nothing_is_set(dpaudit):
    assert "nothing is set" in dpaudit("config").stdout
