"""The smaller verbs: `report`, `targets`, `explain`, and what all of them share."""

from __future__ import annotations

import json
from importlib import import_module

import click
import pytest

from dpaudit import cli
from dpaudit.cli import VERBS, exit_code_of, main
from dpaudit.errors import CODES, BudgetExceeded, EngineDisagreement, EntropyFailure, InvalidArgument, TargetFailure, Unsupported
from dpaudit.results import EXIT_CODES


def test_a_recorded_report_is_shown_again_and_written_as_the_same_page(dpaudit, folder):
    audited = dpaudit("audit", "releases.py:broken", "--alpha", "1e-9", "--runs", "2000", "--report", "out")
    shown = dpaudit("report", "out/report.json", "--html", "again.html")
    assert 0 == shown.exit_code
    assert audited.stdout == shown.stdout
    assert (folder / "out/index.html").read_bytes() == (folder / "again.html").read_bytes()
    assert (folder / "out/report.json").read_text() == dpaudit("report", "out/report.json", "--json").stdout


def test_a_page_that_cannot_be_written_is_refused(dpaudit):
    dpaudit("audit", "releases.py:broken", "--alpha", "1e-9", "--runs", "2000", "--report", "out")
    result = dpaudit("report", "out/report.json", "--html", "missing/page.html")
    assert (2, True) == (result.exit_code, "DPA503" in result.stderr)


@pytest.mark.parametrize("name", ["missing.json", "people.csv", "."])
def test_what_is_not_a_report_is_refused(dpaudit, name):
    result = dpaudit("report", name)
    assert 2 == result.exit_code
    assert result.stderr.startswith("error: DPA501")


def test_bundled_targets_are_listed_with_their_claims(dpaudit, monkeypatch):
    from dpaudit import loading as targets

    loaded = targets.load_targets("releases.py:everything")
    monkeypatch.setattr(targets, "bundled_targets", lambda: {target.name: ("releases.py:everything", 0) for target in loaded})
    monkeypatch.setattr(targets, "broken_bundles", lambda: {"other:TARGETS": InvalidArgument("DPA404", "incomplete.")})
    monkeypatch.setattr(targets, "load_targets", lambda name: [target for target in loaded if target.name == name])
    listed = dpaudit("targets")
    assert 0 == listed.exit_code
    assert "broken  epsilon = 1 under add_remove\n        needs three times the noise" in listed.stdout
    assert "other:TARGETS cannot be loaded: DPA404 incomplete." in listed.stderr
    document = json.loads(dpaudit("targets", "--json").stdout)
    assert ["sound", "broken", "crash"] == [target["name"] for target in document["targets"]]
    assert [{"location": "other:TARGETS", "code": "DPA404", "message": "incomplete."}] == document["broken"]


@pytest.mark.parametrize("code", CODES)
def test_every_code_is_explained(dpaudit, code):
    result = dpaudit("explain", code.lower())
    assert 0 == result.exit_code
    assert result.stdout.startswith(f"{code} {CODES[code].title}\n")
    assert " ".join(CODES[code].meaning.split()) in " ".join(result.stdout.split())
    assert " ".join(CODES[code].remedy.split()) in " ".join(result.stdout.split())


def test_all_codes_are_listed_without_one(dpaudit):
    lines = dpaudit("explain").stdout.splitlines()
    assert list(CODES) == [line.split()[0] for line in lines]
    assert set(CODES) == set(json.loads(dpaudit("explain", "--json").stdout)["codes"])
    assert CODES["DPA104"].remedy == json.loads(dpaudit("explain", "DPA104", "--json").stdout)["remedy"]


def test_an_unknown_code_is_refused(dpaudit):
    result = dpaudit("explain", "DPA999")
    assert 2 == result.exit_code
    assert result.stderr.startswith("error: DPA504 there is no error code 'DPA999'")


@pytest.mark.parametrize("name", VERBS)
def test_every_verb_has_the_help_that_the_list_shows(dpaudit, name):
    command = getattr(import_module(f"dpaudit.cli.{name}"), name)
    assert (name, VERBS[name]) == (command.name, command.short_help)
    parts = [(name, part) for part in command.commands] if isinstance(command, click.Group) else [(name,)]
    for verb in parts:
        result = dpaudit(*verb, "--help")
        assert (0, True) == (result.exit_code, "JSON" in result.stdout)


def test_help_lists_all_verbs_and_exit_codes(dpaudit):
    result = dpaudit("--help")
    assert 0 == result.exit_code
    for name, line in VERBS.items():
        assert name in result.stdout
        assert line in result.stdout
    assert all(f" {code} " in result.stdout for code in EXIT_CODES.values())


def test_the_version_is_the_packages(dpaudit):
    import dpaudit as package

    assert f"dpaudit {package.__version__}\n" == dpaudit("--version").stdout


def test_an_unknown_verb_is_wrong_usage(dpaudit):
    result = dpaudit("prove_it_all")
    assert 2 == result.exit_code
    assert "No such command" in result.stderr


def test_exit_codes_are_those_of_the_design():
    expected = {"survived": 0, "refuted": 1, "usage": 2, "inconclusive": 3, "failed": 4, "ledger": 5, "internal": 6}
    assert expected == EXIT_CODES


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (InvalidArgument("DPA103", ""), 2),
        (Unsupported("DPA202", ""), 2),
        (BudgetExceeded("DPA204", ""), 2),
        (TargetFailure("DPA405", ""), 4),
        (EngineDisagreement("DPA203", ""), 6),
        (EntropyFailure("DPA301", ""), 6),
    ],
)
def test_every_kind_of_error_has_its_exit_code(error, code):
    assert code == exit_code_of(error)


@pytest.fixture
def failing(monkeypatch):
    """Let `dpaudit explain` raise an error."""

    def fail(error):
        def callback(**_):
            raise error

        command = click.Command("explain", params=cli.Verbs.get_command(main, None, "explain").params, callback=callback)
        monkeypatch.setattr(cli.Verbs, "get_command", lambda *_: command)

    return fail


def test_an_internal_error_is_short_says_what_to_do_and_shows_no_data(dpaudit, failing):
    failing(RuntimeError("record of Ada"))
    result = dpaudit("explain")
    assert 6 == result.exit_code
    assert "" == result.stdout
    assert result.stderr.startswith("error: internal error: RuntimeError at test_verbs.py:")
    assert "Please report it" in result.stderr
    assert "Ada" not in result.stderr
    assert "Traceback" not in result.stderr


def test_the_traceback_is_shown_on_request(dpaudit, failing):
    failing(RuntimeError("detail"))
    result = dpaudit("--debug", "explain")
    assert 6 == result.exit_code
    assert "Traceback (most recent call last)" in result.stderr


def test_an_interruption_is_not_a_refutation(dpaudit, failing):
    failing(KeyboardInterrupt())
    result = dpaudit("explain")
    assert (3, "error: interrupted.\n") == (result.exit_code, result.stderr)


def test_a_message_cannot_steer_the_terminal(dpaudit):
    result = dpaudit("explain", "\x1b[2Jx")
    assert "\x1b" not in result.stderr
