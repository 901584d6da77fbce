"""Two reports side by side: a page that loads nothing, whatever changed, and forms for a CI that say the same."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from xml.etree import ElementTree as ET

import pytest

from dpaudit.exact import Enclosure
from dpaudit.report import write_json
from dpaudit.report.changes import changes, compared
from dpaudit.report.difference import headline, to_annotations, to_html, to_summary
from dpaudit.report.difference_plot import interval_plot
from dpaudit.results import Power, Report, Verdict

HALF = Fraction(1, 2)


def later(result):
    """What a later audit says of a target: each differs in another way, some not at all."""
    match result.name:
        case "count":
            claim = replace(
                result.claim, text="epsilon = 1/2 under add_remove", parameters=(("epsilon", HALF),), tested_epsilon=HALF
            )
            return replace(
                result,
                claim=claim,
                price=replace(result.price, limit=HALF, status="above"),
                verdict=Verdict.REFUTED,
                summary="Dear.",
            )
        case "mean":
            return replace(result, price=replace(result.price, value=Enclosure(Fraction(7, 10), float("inf"))))
        case "histogram":
            return replace(result, verdict=Verdict.PROVEN, proof=replace(result.proof, status="proven"))
        case "answer":
            return replace(result, attack=replace(result.attack, power=Power(1.2, 1.2)))
        case "median":
            return replace(result, name="middle")
        case _:
            return result


@pytest.fixture(scope="module")
def after(report):
    results = tuple(map(later, report.results))
    return replace(report, results=results, settings=replace(report.settings, runs=7), env=(("numpy", "3"),), complete=False)


@pytest.fixture(scope="module")
def page(report, after):
    return to_html(report, after)


def test_every_way_to_change_is_counted(report, after):
    assert "1 verdict worse, 1 target gone, 1 verdict better, 1 new target, 2 more targets changed" == headline(report, after)
    assert "2 new targets" == headline(Report(report.settings, ()), replace(report, results=report.results[:2]))
    assert "No target changed" == headline(report, report)


def test_power_and_findings_are_changes_too(report, after):
    told = {(change.target, change.what): change.sides for change in changes(report, after)}
    assert ("finds epsilon >= 1.07", "finds epsilon >= 1.2") == told["answer", "power"]
    assert ("nothing", "DPA-C01 count claims epsilon = 0.5 under add_remove; the epsilon of its releases is at least 1.") == told[
        "count", "finding"
    ]
    assert ("numpy", "2.4.6", "3") in {(change.what, change.before, change.after) for change in changes(report, after)}


def test_a_refutation_takes_no_power_away(report):
    refuted = replace(report.results[8], name="count")
    told = changes(replace(report, results=report.results[:1]), replace(report, results=(refuted,)))
    assert ["verdict", "attack", "proof", "finding", "finding", "finding"] == [change.what for change in told]


def test_a_finding_whose_figures_moved_is_no_change(report):
    refuted = report.results[8]
    moved = replace(refuted, attack=replace(refuted.attack, bound=replace(refuted.attack.bound, epsilon=Fraction(2))))
    told = changes(replace(report, results=(refuted,)), replace(report, results=(moved,)))
    assert ["attack"] == [change.what for change in told]


def test_the_page_is_well_formed_loads_nothing_and_runs_nothing(page, parsed):
    found = parsed(page)
    assert [] == found.named("script")
    assert all(link.startswith("#") for link in found.links())
    assert {"http://www.w3.org/2000/svg"} == set(re.findall(r"https?://[^\"' <]+", page))
    assert 1 == page.count("default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'")
    ids = [attributes["id"] for _, attributes, _ in found.elements if "id" in attributes]
    assert len(set(ids)) == len(ids)
    wanted = {link[1:] for link in found.links()}
    wanted |= {name for _, attributes, _ in found.elements for name in attributes.get("aria-labelledby", "").split()}
    assert wanted <= set(ids)


def test_tables_and_headings_of_the_page_can_be_heard(page, parsed):
    found = parsed(page)
    assert len(found.named("table")) == len(found.named("caption"))
    assert all("scope" in attributes for attributes in found.named("th"))
    levels = [int(tag[1]) for tag, _, _ in found.elements if re.fullmatch(r"h[1-6]", tag)]
    assert 1 == levels[0]
    assert all(deeper <= level + 1 for level, deeper in pairwise(levels))


def test_what_is_worse_comes_first_and_what_did_not_change_is_named(page):
    rows = re.findall(r'role="rowheader"><a href="#t\d+">(\w+)</a>', page)
    assert ["count", "median", "histogram", "middle", "mean", "answer"] == rows
    assert "<summary>5 targets without a change</summary>" in page
    assert "<li>maximum</li>" in page
    assert "The later audit was interrupted; targets that it did not finish appear as gone." in page


def test_every_change_stands_on_the_page(page, report, after, parsed):
    texts = " ".join("".join(parsed(page).texts).split())
    for change in changes(report, after):
        for side in change.sides:
            assert side.replace(">=", "\u2265") in texts


def test_the_plot_has_the_numbers_of_both_reports(report, after):
    pairs = {one.name: (one.before, one.after) for one in compared(report, after) if one.before and one.after}
    plot = interval_plot(*pairs["count"], "a")
    assert ("epsilon", "claim", "price, lower end", "price, upper end", "attack, lower bound") == plot.header
    assert (("before", "1", "1", "1", "0.961"), ("after", "0.5", "1", "1", "0.961")) == plot.rows
    assert ET.fromstring(plot.svg).tag.endswith("svg")  # noqa: S314 - our own drawing
    assert ("after", "1", "0.7", "inf", "0.961") == interval_plot(*pairs["mean"], "a").rows[1]
    assert interval_plot(*pairs["maximum"], "a") is None


def test_numbers_that_are_not_all_epsilon_are_drawn_as_shares_of_what_is_claimed(report):
    first = report.results[0]
    spent = replace(first.price, quantity="rho", value=Enclosure(Fraction(1), Fraction(2)), limit=Fraction(4))
    plot = interval_plot(first, replace(first, price=spent), "a")
    assert ("share of the claim", ("after", "1", "0.25", "0.5", "0.961")) == (plot.header[0], plot.rows[1])


@pytest.mark.parametrize("epsilon", ["1e-300", "1e300", "0"])
def test_no_number_is_too_small_or_too_large_to_be_drawn(report, epsilon):
    first = report.results[0]
    bound = replace(first.attack.bound, epsilon=Fraction(epsilon))
    value = Enclosure(Fraction(epsilon), Fraction(epsilon) * 10)
    other = replace(first, price=replace(first.price, value=value), attack=replace(first.attack, bound=bound))
    assert ET.fromstring(interval_plot(first, other, "a").svg).tag.endswith("svg")  # noqa: S314 - our own drawing


def test_the_same_reports_give_the_same_bytes_in_another_process(report, after, page, tmp_path):
    for name, one in (("before", report), ("after", after)):
        write_json(one, tmp_path / f"{name}.json")
    command = [sys.executable, "-m", "dpaudit", "diff", "before.json", "after.json", "--html", "page.html"]
    done = subprocess.run(command, check=False, cwd=tmp_path, env=os.environ | {"PYTHONHASHSEED": "7"}, capture_output=True)
    assert (1, page.encode()) == (done.returncode, (tmp_path / "page.html").read_bytes())


def test_names_from_reports_cannot_write_into_the_page_or_the_summary(report, parsed):
    hostile = replace(report.results[0], name="<script>alert(1)</script>|", summary="<i>&")
    other = replace(report, results=(hostile,))
    for page in (to_html(report, other), to_html(other, report)):
        parsed(page)
        assert "<script" not in page
    assert "&lt;script>alert(1)&lt;/script>\\| | target | nothing | new, consistent |" in to_summary(report, other)


def test_two_equal_and_two_empty_reports_have_all_forms(report):
    empty = Report(report.settings, ())
    for one in (report, empty):
        assert "<h1>No target changed</h1>" in to_html(one, one)
        assert ("## No target changed\n", "") == (to_summary(one, one), to_annotations(one, one))


def test_the_summary_has_a_row_for_each_change(report, after):
    lines = to_summary(report, after).splitlines()
    assert f"## {headline(report, after)}" == lines[0]
    assert len(changes(report, after)) == len(lines) - 4
    assert "| count | **verdict, worse** | consistent | refuted |" == lines[4]
    assert "| all | **complete, worse** | true | false |" == lines[-1]


def test_what_is_worse_is_annotated_at_its_line(report, after):
    assert [
        "::error file=release.py,line=12,title=count is worse::verdict: consistent -> refuted",
        "::error title=median is worse::target: consistent -> gone",
        "::error title=audit is worse::complete: true -> false",
    ] == to_annotations(report, after).splitlines()
