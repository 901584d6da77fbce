"""`dpaudit audit`: exit codes, what goes to stdout and to stderr, files, and targets that fail beside others."""

from __future__ import annotations

import html
import json
from concurrent.futures import ThreadPoolExecutor
from importlib.resources import files

import jsonschema
import pytest

from dpaudit.cli import audit as verb
from dpaudit.errors import InvalidArgument, MissingExtra
from dpaudit.report import evidence_bytes, from_json, read_report, to_json

SURE = ("--alpha", "1e-9", "--runs", "60000")
QUICK = ("--alpha", "1e-9", "--runs", "2000")


@pytest.fixture(scope="module")
def validator():
    """The shipped schema, ready to check documents."""
    return jsonschema.Draft202012Validator(json.loads((files("dpaudit.report") / "schema.json").read_text()))


def verdicts(result):
    """Names and verdicts of a report that was printed as JSON."""
    return {found.name: str(found.verdict) for found in from_json(result.stdout).results}


def test_a_sound_claim_survives_with_exit_code_0(dpaudit):
    result = dpaudit("audit", "releases.py:sound", *SURE)
    assert 0 == result.exit_code
    assert "1 of 1 claim consistent." in result.stdout


def test_a_broken_claim_is_refuted_with_exit_code_1(dpaudit):
    result = dpaudit("audit", "releases.py:broken", *SURE)
    assert 1 == result.exit_code
    for part in ("REFUTED       broken", "datasets", "counts", "seed", "repeat", "Repair:"):
        assert part in result.stdout


def test_too_few_runs_are_inconclusive_with_exit_code_3(dpaudit):
    result = dpaudit("audit", "releases.py:sound", "--alpha", "1e-9", "--runs", "1000")
    assert 3 == result.exit_code
    assert "1 of 1 claim inconclusive." in result.stdout


def test_a_target_that_always_raises_fails_with_exit_code_4(dpaudit):
    result = dpaudit("audit", "releases.py:crash", *QUICK)
    assert 4 == result.exit_code
    assert "ZeroDivisionError" in result.stdout
    assert "[1" not in result.stdout.replace("[1, 1]", "[1")


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("nothing_of_this_name", "DPA401"),
        ("missing.py:target", "DPA401"),
        ("releases.py:missing", "DPA401"),
        ("no_such_module:target", "DPA401"),
        ("unfinished.py:target", "DPA402"),
        ("releases.py:number", "DPA403"),
        ("releases.py:far", "DPA407"),
    ],
)
def test_a_target_that_cannot_be_loaded_is_a_failed_result_with_its_code(dpaudit, name, code):
    result = dpaudit("audit", name, *QUICK, "--json")
    assert 4 == result.exit_code
    (found,) = from_json(result.stdout).results
    assert "failed" == found.verdict
    assert found.failure.startswith(code)
    assert "what is private" not in result.stdout + result.stderr


def test_other_targets_are_audited_beside_one_that_fails(dpaudit):
    result = dpaudit("audit", "missing.py:x", "releases.py:sound", "releases.py:far", *QUICK, "--json")
    assert 4 == result.exit_code
    assert {"missing.py:x": "failed", "sound": "inconclusive", "far": "failed"} == verdicts(result)


def test_a_refuted_claim_outweighs_a_failed_target(dpaudit):
    result = dpaudit("audit", "releases.py:everything", *SURE, "--json")
    assert 1 == result.exit_code
    assert {"sound": "consistent", "broken": "refuted", "crash": "failed"} == verdicts(result)


def test_failed_targets_do_not_count_only_when_that_is_asked_for(dpaudit):
    names = ("releases.py:sound", "releases.py:crash", "missing.py:x")
    assert 4 == dpaudit("audit", *names, *SURE).exit_code
    assert 0 == dpaudit("audit", *names, *SURE, "--allow-skips").exit_code


def test_an_audit_of_failed_targets_alone_is_never_a_success(dpaudit):
    assert 4 == dpaudit("audit", "missing.py:x", *QUICK, "--allow-skips").exit_code


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("--alpha", "0"), "DPA103"),
        (("--alpha", "1"), "DPA103"),
        (("--alpha", "nan"), "DPA102"),
        (("--alpha", "often"), "DPA101"),
        (("--runs", "3"), "DPA103"),
        (("--seed", "-1"), "DPA103"),
        (("--time-budget", "0"), "DPA103"),
        (("--time-budget", "inf"), "DPA102"),
        (("--executor", "nothing"), "DPA105"),
        (("--executor", "no_such_module:make"), "DPA105"),
        (("--executor", "json:no_such_factory"), "DPA105"),
        (("--executor", "builtins:dict"), "DPA105"),
        (("--report", "people.csv/report"), "DPA503"),
        (("--report", "people.csv"), "DPA503"),
    ],
)
def test_wrong_settings_are_refused_with_exit_code_2_before_anything_runs(dpaudit, arguments, code):
    result = dpaudit("audit", "releases.py:sound", *arguments)
    assert 2 == result.exit_code
    assert "" == result.stdout
    assert result.stderr.startswith(f"error: {code} ")
    assert f"`dpaudit explain {code}` says more." in result.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ("--runs", "many"),
        ("--runs", "1000", "--profile", "quick"),
        ("--time-budget", "3", "--profile", "quick"),
        ("--profile", "lazy"),
        ("--jobs", "0"),
        ("--jobs", "2", "--executor", "concurrent.futures:ThreadPoolExecutor"),
        ("--no-such-option",),
    ],
)
def test_wrong_options_are_refused_with_exit_code_2(dpaudit, arguments):
    result = dpaudit("audit", "releases.py:sound", *arguments)
    assert 2 == result.exit_code
    assert "Usage: dpaudit audit" in result.stderr
    assert "" == result.stdout


def test_data_without_a_target_is_refused(dpaudit):
    result = dpaudit("audit", "--data", "people.csv")
    assert 2 == result.exit_code
    assert "none is named. Write: dpaudit audit FILE.py:NAME --data" in result.stderr


def test_json_is_one_valid_document_whatever_the_target_prints(dpaudit, validator):
    result = dpaudit("audit", "releases.py:broken", *QUICK, "--json")
    validator.validate(json.loads(result.stdout))
    assert "a target may print what it likes" not in result.stdout
    assert "a target may print what it likes" in result.stderr


@pytest.mark.parametrize("arguments", [("--alpha", "2"), ("--data", "missing.csv"), ("--report", "people.csv")])
def test_a_refusal_is_one_valid_json_document_too(dpaudit, validator, arguments):
    result = dpaudit("audit", "releases.py:sound", "--json", *arguments)
    document = json.loads(result.stdout)
    validator.validate(document)
    assert result.stderr.startswith(f"error: {document['error']['code']} {document['error']['message']}")


def test_files_are_written_where_asked_and_hold_the_same_evidence(dpaudit, folder):
    result = dpaudit("audit", "releases.py:broken", *QUICK, "--json", "--report", "out/of/here")
    assert ["index.html", "report.json"] == sorted(path.name for path in (folder / "out/of/here").iterdir())
    assert evidence_bytes(from_json(result.stdout)) == evidence_bytes(read_report(folder / "out/of/here/report.json"))
    assert "out/of/here/index.html" in result.stderr


def test_no_files_are_written_unless_asked_for(dpaudit, folder):
    before = {path.name for path in folder.iterdir()}
    dpaudit("audit", "releases.py:sound", *QUICK)
    assert before == {path.name for path in folder.iterdir()} - {"__pycache__"}


def test_a_users_function_is_audited_on_a_users_own_records(dpaudit):
    result = dpaudit("audit", "own.py:target", "--data", "people.csv", *SURE, "--json")
    (found,) = from_json(result.stdout).results
    assert 1 == result.exit_code
    assert "refuted" == found.verdict
    assert "record" in found.attack.pair.difference
    assert found.attack.pair.witness is None
    assert not {"Ada", "Bob", "Eve"} & set(result.stdout.replace('"', " ").split())


@pytest.mark.parametrize("content", [b"", b"age\n", b"age,name\n3\n", b"age\n\xff\n"])
def test_records_that_cannot_be_read_end_with_exit_code_4(dpaudit, folder, content):
    (folder / "people.csv").write_bytes(content)
    result = dpaudit("audit", "own.py:target", "--data", "people.csv")
    assert 4 == result.exit_code
    assert result.stderr.startswith("error: DPA406 people.csv")


def test_the_evidence_does_not_depend_on_the_workers(dpaudit):
    alone = dpaudit("audit", "releases.py:broken", *QUICK, "--json")
    threads = dpaudit("audit", "releases.py:broken", *QUICK, "--json", "--executor", "concurrent.futures:ThreadPoolExecutor")
    processes = dpaudit("audit", "releases.py:broken", *QUICK, "--json", "--jobs", "2")
    assert 1 == alone.exit_code == threads.exit_code == processes.exit_code
    expected = evidence_bytes(from_json(alone.stdout))
    assert expected == evidence_bytes(from_json(threads.stdout))
    assert expected == evidence_bytes(from_json(processes.stdout))


def test_the_seed_changes_the_evidence(dpaudit):
    first, second = (from_json(dpaudit("audit", "releases.py:sound", *QUICK, "--json", "--seed", seed).stdout) for seed in (1, 2))
    assert (1, 2) == (first.settings.seed, second.settings.seed)
    assert first.results[0].attack != second.results[0].attack


@pytest.mark.parametrize(
    ("profile", "runs"), [(None, 1_000_000), ("quick", 200_000), ("standard", 1_000_000), ("thorough", 10_000_000)]
)
def test_a_profile_stands_for_a_number_of_runs(dpaudit, monkeypatch, profile, runs):
    seen = []
    monkeypatch.setattr(verb, "_audited", lambda names, settings, *rest, everything: seen.append(settings.runs))
    dpaudit("audit", "releases.py:sound", *(("--profile", profile) if profile else ()))
    assert [runs] == seen


def test_a_time_budget_takes_the_place_of_runs(dpaudit):
    report = from_json(dpaudit("audit", "releases.py:broken", "--alpha", "1e-9", "--time-budget", "1", "--json").stdout)
    assert (0, 1) == (report.settings.runs, report.settings.seconds)
    assert report.results[0].attack.plan[2] > 0


def test_on_request_every_bundled_target_is_audited(dpaudit, monkeypatch):
    from dpaudit.cli import intake

    monkeypatch.setattr(intake, "bundled_targets", lambda *_: {"releases.py:sound": (), "releases.py:broken": ()})
    monkeypatch.setattr(intake, "broken_bundles", lambda *_: {"other:TARGETS": InvalidArgument("DPA404", "incomplete.")})
    result = dpaudit("audit", "--all", *QUICK, "--json")
    assert 1 == result.exit_code
    assert {"sound": "inconclusive", "broken": "refuted", "other:TARGETS": "failed"} == verdicts(result)


def test_without_any_bundled_target_one_must_be_named(dpaudit, monkeypatch):
    from dpaudit.cli import intake

    monkeypatch.setattr(intake, "bundled_targets", lambda *_: {})
    monkeypatch.setattr(intake, "broken_bundles", lambda *_: {})
    for everything in ((), ("--all",)):
        result = dpaudit("audit", *everything)
        assert 2 == result.exit_code
        assert "DPA109" in result.stderr


def test_without_a_name_the_targets_of_the_story_are_audited_with_fewer_runs(dpaudit, monkeypatch):
    from dpaudit.cli import intake

    asked = []
    monkeypatch.setattr(intake, "STORY", ("releases:everything",))
    monkeypatch.setattr(verb, "_audited", lambda names, settings, *_, everything: asked.append((names, settings.runs, everything)))
    dpaudit("audit")
    assert [((), 100_000, False)] == asked
    assert ["sound", "broken"] == [name for name in intake.bundled(everything=False).names if name in {"sound", "broken"}]


def test_all_targets_and_named_ones_exclude_each_other(dpaudit):
    result = dpaudit("audit", "releases.py:sound", "--all")
    assert 2 == result.exit_code
    assert "--all audits every bundled target; name none beside it." in result.stderr


def test_an_executor_whose_factory_raises_is_refused(dpaudit, folder):
    (folder / "pools.py").write_text("def make():\n    raise OSError('no machine')\n")
    result = dpaudit("audit", "releases.py:sound", "--executor", "pools:make")
    assert 4 == result.exit_code
    assert "DPA408 make raised OSError" in result.stderr


def test_a_given_executor_is_shut_down(dpaudit, folder, monkeypatch):
    def ended(self, **how):
        with (folder / "ended").open("a") as file:
            file.write(f"{sorted(how.items())}\n")

    monkeypatch.setattr(ThreadPoolExecutor, "shutdown", ended)
    dpaudit("audit", "releases.py:sound", *QUICK, "--executor", "concurrent.futures:ThreadPoolExecutor")
    # once when it was tried, once for the one target
    assert 2 * "[('wait', True)]\n" == (folder / "ended").read_text()


def test_an_interrupted_audit_keeps_what_was_finished(dpaudit, folder, monkeypatch):
    from dpaudit.auditor.supervision import audits

    examine = audits.examine_apart

    def interrupted(job, *rest, **options):
        if job.candidate.name == "crash":
            raise KeyboardInterrupt
        return examine(job, *rest, **options)

    monkeypatch.setattr(audits, "examine_apart", interrupted)
    result = dpaudit("audit", "releases.py:sound", "releases.py:crash", *QUICK, "--report", "out")
    assert 3 == result.exit_code
    report = read_report(folder / "out/report.json")
    assert (False, ["sound"]) == (report.complete, [found.name for found in report.results])
    assert "interrupted" in result.stderr


def test_an_interruption_before_any_run_is_exit_code_3_and_a_document(dpaudit, monkeypatch, validator):
    def interrupted(*rest, everything):
        raise KeyboardInterrupt

    monkeypatch.setattr(verb, "_audited", interrupted)
    result = dpaudit("audit", "releases.py:sound", "--json")
    assert 3 == result.exit_code
    validator.validate(json.loads(result.stdout))


def test_bundled_targets_that_lack_an_extra_are_named_in_every_form_of_the_report(dpaudit, folder, monkeypatch, validator):
    from dpaudit.cli import intake

    lacking = MissingExtra("DPA206", 'learners need scikit-learn, which is not installed. Run: pip install "dpaudit[learners]".')
    monkeypatch.setattr(intake, "bundled_targets", lambda *_: {"releases.py:sound": ()})
    monkeypatch.setattr(intake, "broken_bundles", lambda *_: {"learners.targets:TARGETS": lacking})
    forms = ("--report", "out", "--junit", "junit.xml", "--sarif", "dpaudit.sarif", "--github")
    result = dpaudit("audit", "--all", *QUICK, *forms)
    assert 3 == result.exit_code
    said = f"eft out are the targets of learners: {lacking.message}"
    assert f"l{said}" in " ".join(result.stderr.split())
    assert f"L{said}" in " ".join(result.stdout.split())
    validator.validate(json.loads((folder / "out" / "report.json").read_text()))
    report = from_json((folder / "out" / "report.json").read_text())
    assert (f"l{said}",) == tuple(f"left out are {one}." for one in report.left_out)
    assert report == from_json(to_json(report))
    assert ["sound"] == [one.name for one in report.results]
    for file in ("out/index.html", "junit.xml"):
        assert f"L{said}" in html.unescape((folder / file).read_text())
    sarif = json.loads((folder / "dpaudit.sarif").read_text())
    assert f"L{said}" == sarif["runs"][0]["invocations"][0]["toolExecutionNotifications"][0]["message"]["text"]
    assert 'skipped="1"' in (folder / "junit.xml").read_text()
    assert "::warning title=dpaudit::Left out are the targets of learners" in result.stdout + result.stderr


def test_a_report_without_anything_left_out_has_no_such_field(dpaudit):
    assert "left_out" not in json.loads(dpaudit("audit", "releases.py:sound", *QUICK, "--json").stdout)
