"""Forms of a report for CI systems, written by `audit` and `report`, and `dpaudit diff`."""

import json
from xml.etree import ElementTree as ET

import pytest

SURE = ("--runs", "20000", "--alpha", "1e-6")


@pytest.fixture
def audited(dpaudit, folder):
    found = dpaudit("audit", "releases.py:everything", *SURE, "--report", "out", "--junit", "ci/j.xml", "--sarif", "ci/s.json")
    assert 1 == found.exit_code
    return folder


def test_an_audit_writes_the_forms_that_a_report_gives_later(audited, dpaudit):
    first = {name: (audited / "ci" / name).read_bytes() for name in ("j.xml", "s.json")}
    assert 0 == dpaudit("report", "out/report.json", "--junit", "ci/j.xml", "--sarif", "ci/s.json").exit_code
    assert first == {name: (audited / "ci" / name).read_bytes() for name in first}
    assert ("3", "1", "1") == tuple(ET.fromstring(first["j.xml"]).get(name) for name in ("tests", "failures", "errors"))  # noqa: S314
    results = json.loads(first["s.json"])["runs"][0]["results"]
    # The three checks of outputs were not run on the failed target, which gave none.
    assert ["DPA-E01", *["DPA-N01"] * 3, "DPA-T01"] == sorted(found["ruleId"] for found in results)


def test_a_job_is_annotated_and_its_summary_grows(audited, dpaudit, monkeypatch):
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(audited / "summary.md"))
    for times in (1, 2):
        shown = dpaudit("report", "out/report.json", "--github", "--json")
        assert "::error file=releases.py,line=" in shown.stderr
        assert json.loads(shown.stdout)["schema"]
        assert times == (audited / "summary.md").read_text().count("## 1 of 3 claims refuted")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(audited))
    assert 2 == dpaudit("report", "out/report.json", "--github").exit_code


def test_forms_that_cannot_be_written_are_refused_before_the_runs(dpaudit, folder):
    (folder / "file").write_text("")
    refused = dpaudit("audit", "releases.py:sound", "--runs", "10000000", "--junit", "file/j.xml")
    assert (2, True) == (refused.exit_code, "DPA503" in refused.stderr)


def test_a_difference_for_the_worse_ends_with_exit_code_1(audited, dpaudit):
    assert 0 == dpaudit("audit", "releases.py:sound", "--runs", "200000", "--report", "one").exit_code
    worse = dpaudit("diff", "one/report.json", "out/report.json")
    better = dpaudit("diff", "out/report.json", "one/report.json", "--json")
    assert (0, 1) == (worse.exit_code, better.exit_code)
    assert "broken: target: nothing -> new, refuted" in worse.stdout
    assert {"broken", "crash"} == {change["target"] for change in json.loads(better.stdout)["changes"] if change["worse"]}
    assert "nothing differs" in dpaudit("diff", "one/report.json", "one/report.json").stdout
    assert 2 == dpaudit("diff", "one/report.json", "missing.json").exit_code


def test_differences_come_as_a_page_and_in_a_job(audited, dpaudit, monkeypatch):
    assert 0 == dpaudit("audit", "releases.py:sound", "--runs", "200000", "--report", "one").exit_code
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(audited / "summary.md"))
    shown = dpaudit("diff", "out/report.json", "one/report.json", "--html", "diff.html", "--github", "--json")
    assert (1, "1") == (shown.exit_code, json.loads(shown.stdout)["schema"])
    assert shown.stderr.startswith("written: diff.html\n::error title=broken is worse::target: refuted -> gone\n")
    assert (audited / "summary.md").read_text().startswith("## 2 targets gone, ")
    assert "<h1>2 targets gone, " in (audited / "diff.html").read_text()
    assert 2 == dpaudit("diff", "out/report.json", "one/report.json", "--html", "missing/diff.html").exit_code
