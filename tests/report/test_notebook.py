"""Reports at a prompt and in a notebook: one line, or a table in which nothing is markup and nothing is loaded."""

from __future__ import annotations

import pickle
from dataclasses import fields, replace
from fractions import Fraction

import pytest

from dpaudit.report import from_json, to_html, to_json, wording
from dpaudit.report.answers import found
from dpaudit.results import Report, Settings, TargetResult, Values, Verdict

EMPTY = Report(Settings(alpha=Fraction(1, 1000), runs=1000, seed=0), ())


def of(report, *names):
    """The report with the named results alone."""
    return replace(report, results=tuple(result for result in report.results if result.name in names))


@pytest.mark.parametrize(
    ("names", "line"),
    [
        ((), "<Report: no claim was audited>"),
        (("half_noise",), "<Report: 1 of 1 claim refuted>"),
        (("half_noise", "count"), "<Report: 1 of 2 claims refuted, 1 consistent>"),
        (("count", "mean", "rare", "crash"), "<Report: 0 of 4 claims refuted, 2 consistent, 1 inconclusive, 1 failed>"),
    ],
)
def test_a_report_at_a_prompt_is_one_line_of_verdicts(report, names, line):
    assert line == repr(of(report, *names))


def test_an_interrupted_report_says_so_in_its_line(report):
    assert "<Report: 0 of 1 claim refuted, 1 consistent, interrupted>" == repr(replace(of(report, "count"), complete=False))
    assert "<Report: no claim was audited, interrupted>" == repr(replace(EMPTY, complete=False))


def test_a_result_at_a_prompt_is_its_name_and_verdict(report):
    refuted = of(report, "half_noise").results[0]
    assert "<TargetResult 'half_noise': refuted>" == repr(refuted)
    assert r"<TargetResult 'a\nb\x1b': refuted>" == repr(replace(refuted, name="a\nb\x1b"))


def test_a_notebook_shows_every_claim_with_what_was_found_and_what_to_do(report, parsed):
    table = parsed(report._repr_html_())
    expected = [[result.name, str(result.verdict), found(result)] for result in wording.by_urgency(report.results)]
    texts = iter(table.texts)
    assert f"{wording.headline(report)}." == next(texts)
    assert ["claim", "verdict", "found", "what to do"] == [next(texts) for _ in range(4)]
    rest = list(texts)
    for name, verdict, told in expected:
        place = rest.index(name)
        assert [name, verdict, told] == rest[place : place + 3]
    assert rest.index("half_noise") < rest.index("crash") < rest.index("rare") < rest.index("count")
    assert any(text.startswith("Declare the sensitivity that was measured") for text in rest)
    assert "dpaudit explain DPA405" in rest


def test_a_notebook_shows_one_result_as_one_row(report, parsed):
    table = parsed(of(report, "half_noise").results[0]._repr_html_())
    assert 2 == len(table.named("tr"))
    assert "half_noise" in table.texts


def test_a_table_says_what_is_missing(report):
    shown = replace(report, complete=False, left_out=("learners (needs the extra learners)",))._repr_html_()
    assert "The audit was interrupted" in shown
    assert "Left out are learners (needs the extra learners)." in shown


def test_a_table_that_may_show_values_of_the_data_says_so(report):
    shown = replace(of(report, "half_noise").results[0], values=Values.ASKED)
    for table in (shown._repr_html_(), replace(report, results=(shown,))._repr_html_()):
        assert "alues of the data are shown: --show-values was given." in table
    assert "alues of the data" not in report._repr_html_() + report.results[0]._repr_html_()


def test_a_table_has_no_page_no_script_and_refers_to_nothing(report, parsed):
    shown = report._repr_html_()
    table = parsed(shown)
    assert {"table", "caption", "thead", "tbody", "tr", "th", "td"} == {tag for tag, _, _ in table.elements}
    assert {"class", "style"} == {name for _, attributes, _ in table.elements for name in attributes}
    assert [] == table.links()
    assert len(shown) < len(to_html(report)) / 20


@pytest.mark.parametrize(
    "text", ["<script>alert(1)</script>", "<img src=x onerror=alert(1)>", "\"'&</td>", "a\u202eb", "\ud800", "\x00\x1b[2J"]
)
def test_whatever_a_result_says_is_text(report, parsed, text):
    failed = replace(of(report, "crash").results[0], name=text, failure=text, summary=text)
    table = parsed(replace(report, results=(failed,), left_out=(text,))._repr_html_())
    assert {"table", "caption", "br", "thead", "tbody", "tr", "th", "td"} == {tag for tag, _, _ in table.elements}
    shown = "".join(table.texts)
    assert shown.encode()
    assert shown.isprintable()
    assert not text.isprintable() or 3 <= shown.count(text)


def test_formulas_in_names_are_not_typeset(report, parsed):
    (attributes,) = parsed(report._repr_html_()).named("table")
    assert {"tex2jax_ignore", "mathjax_ignore"} == set(attributes["class"].split())


def test_what_a_report_shows_changes_nothing_of_what_it_is(report):
    assert ["settings", "results", "env", "seconds", "complete", "version", "left_out"] == [one.name for one in fields(Report)]
    assert report == pickle.loads(pickle.dumps(report)) == from_json(to_json(report))
    assert hash(report) == hash(from_json(to_json(report)))
    other = replace(report, results=(replace(report.results[0], summary="another"), *report.results[1:]))
    assert repr(other) == repr(report)
    assert other != report


def test_every_verdict_has_a_line_and_a_row(report, parsed):
    for verdict in Verdict:
        result = replace(of(report, "count").results[0], verdict=verdict)
        assert f"<TargetResult 'count': {verdict}>" == repr(result)
        assert str(verdict) in parsed(result._repr_html_()).texts
        assert isinstance(result, TargetResult)
