"""The HTML page: whole, self-contained, small, accessible, and the same bytes for the same report."""

from __future__ import annotations

import math
import os
import re
import subprocess
import sys
from dataclasses import replace
from fractions import Fraction
from importlib.resources import files
from itertools import pairwise, takewhile
from statistics import NormalDist
from xml.etree import ElementTree as ET

import pytest

from dpaudit.auditor.statistics.family import FAMILIES, reject_claims
from dpaudit.report import read_report, to_html, to_text, wording, write_html, write_json
from dpaudit.report.plots import profile_plot, thinned, tradeoff_plot, wealth_plot
from dpaudit.results import ProfilePoint, Property, Report, Verdict, WealthPoint


@pytest.fixture(scope="module")
def page(report):
    return to_html(report)


def test_the_page_is_well_formed(page, parsed):
    parsed(page)


def test_every_plot_is_well_formed_xml(page):
    drawings = re.findall(r"<svg.*?</svg>", page, re.DOTALL)
    assert 25 == len(drawings)
    for drawing in drawings:
        assert ET.fromstring(drawing).tag.endswith("svg")  # noqa: S314 - our own drawing


def test_the_page_refers_to_nothing_outside_itself(page, parsed):
    references = parsed(page).links()
    assert references
    assert all(reference.startswith("#") for reference in references)
    assert all(target.startswith("#") for target in re.findall(r"url\(([^)]*)\)", page))
    assert {"http://www.w3.org/2000/svg"} == set(re.findall(r"https?://[^\"' <]+", page))
    assert "@import" not in page


def test_the_page_runs_nothing(page, parsed):
    found = parsed(page)
    assert [] == found.named("script")
    assert not any(name.startswith("on") for _, attributes, _ in found.elements for name in attributes)
    policies = [meta["content"] for meta in found.named("meta") if meta.get("http-equiv") == "Content-Security-Policy"]
    assert ["default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"] == policies


def test_a_check_that_was_not_run_stands_out_on_the_page_with_its_reason(report):
    checks = (Property("forms", "not run", 0, "too few runs"),)
    text = to_html(replace(report, results=(replace(report.results[0], properties=checks),)))
    assert '<small>too few runs</small></th><td class="unseen">not run</td><td>0</td>' in text
    assert '<p class="unseen">Not run: forms: too few runs.</p>' in text


def test_ids_are_unique_and_every_inner_link_leads_somewhere(page, parsed):
    found = parsed(page)
    ids = [attributes["id"] for _, attributes, _ in found.elements if "id" in attributes]
    assert len(set(ids)) == len(ids)
    wanted = {link[1:] for link in found.links()}
    wanted |= {name for _, attributes, _ in found.elements for name in attributes.get("aria-labelledby", "").split()}
    assert wanted <= set(ids)


def test_ten_targets_fit_in_300_kilobytes(page):
    assert len(page.encode()) < 300_000


def test_every_attacked_target_has_three_plots_with_their_numbers(page, report):
    figures = re.findall(r"<figure>.*?</figure>", page, re.DOTALL)
    attacked = [result for result in report.results if result.attack is not None]
    bare = [result for result in attacked if not result.profile]
    assert 3 * len(attacked) - 2 * len(bare) == len(figures)
    for figure in figures:
        assert 1 == figure.count("<svg")
        assert figure.count("<tr>") > 5
        assert "<details><summary>" in figure


def test_plots_tell_their_names_to_those_who_cannot_see_them(page, parsed):
    for attributes in parsed(page).named("svg"):
        assert "img" == attributes["role"]
        assert attributes["aria-labelledby"]
    assert page.count("<title id=") == page.count("<desc id=") == page.count("<svg")


def test_tables_have_captions_and_their_headings_a_scope(page, parsed):
    found = parsed(page)
    assert len(found.named("table")) == len(found.named("caption"))
    assert all("scope" in attributes for attributes in found.named("th"))
    assert ["en"] == [attributes["lang"] for attributes in found.named("html")]


def test_every_text_colour_stands_out_from_its_background_in_light_and_dark():
    css = (files("dpaudit.report") / "templates/page.css").read_text()
    schemes = [dict(re.findall(r"--(\w+): (#\w{6});", block)) for block in re.findall(r":root \{(.*?)\}", css, re.DOTALL)[:2]]
    assert 2 == len(schemes)

    def brightness(colour):
        parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
        red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    texts = ("ink", "quiet", "claim", "refuted", "failed", "inconclusive", "consistent", "proven")
    for scheme in schemes:
        for text in texts:
            for background in ("paper", "panel"):
                light, dark = sorted((brightness(scheme[text]), brightness(scheme[background])), reverse=True)
                assert (light + 0.05) / (dark + 0.05) >= 4.5
        for shape in ("claim", "price", "attack", "proof"):
            for background in ("paper", "panel"):
                light, dark = sorted((brightness(scheme[shape]), brightness(scheme[background])), reverse=True)
                assert (light + 0.05) / (dark + 0.05) >= 3


def test_a_refutation_beyond_the_price_is_explained(page, report):
    assert 1 == page.count("The attack found more than the logged noise pays for")
    assert 1 == to_text(report, width=200).count("The attack found more than the logged noise pays for")


def test_headings_do_not_skip_a_level(page, parsed):
    levels = [int(tag[1]) for tag, _, _ in parsed(page).elements if re.fullmatch(r"h[1-6]", tag)]
    assert 1 == levels[0]
    assert all(after <= before + 1 for before, after in pairwise(levels))


def test_a_plot_has_a_table_row_for_each_of_its_points(report):
    result = report.results[0]
    plot = profile_plot(result.profile, "count", "a")
    assert [f"{point.epsilon:.4g}" for point in result.profile] == [row[0] for row in plot.rows]
    assert len(plot.header) == len(plot.rows[0])


def test_the_trade_off_of_a_pure_claim_has_its_one_corner():
    epsilons = (0.0, 0.5, 1.0, 1.5)
    deltas = [max(0.0, (math.e - math.exp(epsilon)) / (1 + math.e)) for epsilon in epsilons]
    profile = [ProfilePoint(*point, None, None) for point in zip(epsilons, deltas, strict=True)]
    rows = tradeoff_plot(profile, None, "count", "a").rows
    assert [("claim", "0.000", "1.000"), ("claim", "0.269", "0.269"), ("claim", "1.000", "0.000")] == list(rows)


def test_the_trade_off_of_gaussian_noise_is_never_drawn_above_the_true_one():
    normal = NormalDist()
    epsilons = [place / 8 for place in range(33)]
    deltas = [normal.cdf(0.5 - epsilon) - math.exp(epsilon) * normal.cdf(-0.5 - epsilon) for epsilon in epsilons]
    profile = [ProfilePoint(*point, None, None) for point in zip(epsilons, deltas, strict=True)]
    rows = tradeoff_plot(profile, None, "count", "a").rows
    assert 50 < len(rows)
    for alarms, misses in ((float(row[1]), float(row[2])) for row in rows if 0 < float(row[1]) < 1):
        low, high = (normal.cdf(normal.inv_cdf(1 - alarms - rounding) - 1) for rounding in (5e-4, -4.9e-4))
        assert low - 0.01 < misses < high + 5e-4


def test_the_attack_stands_in_the_trade_off_as_it_was_counted(report):
    result = report.results[0]
    rows = tradeoff_plot(result.profile, result.attack.bound, "count", "a").rows
    assert ("attack", f"{13_700 / 75_000:.3f}", f"{1 - 36_500 / 75_000:.3f}") == rows[-1]


@pytest.mark.parametrize("family", FAMILIES)
def test_the_table_of_p_values_shows_the_comparisons_that_decide(report, family):
    report = replace(report, settings=replace(report.settings, family=family))
    p_values = [1.0 if result.attack is None else result.attack.p_value for result in report.results]
    rows = wording.family(report)
    kept = list(takewhile(lambda row: row.p_value <= row.level, rows))
    assert sorted(p_values) == [row.p_value for row in rows]
    assert sum(reject_claims(p_values, report.settings.alpha, family)) == len(kept)
    assert 1e-6 / (1 if family == "holm" else 10) == pytest.approx(rows[-1].level)
    assert [] == wording.family(replace(report, results=report.results[:1]))


def test_a_thinned_path_keeps_its_ends_and_its_peak():
    path = [WealthPoint(run, 5.0 if run == 333 else 0.0) for run in range(1, 1001)]
    kept = thinned(path, 60)
    assert len(kept) <= 60
    assert {1, 333, 1000} <= {point.run for point in kept}


def test_nothing_to_show_gives_no_plot(report):
    assert profile_plot((), "count", "a") is None
    assert tradeoff_plot((), report.results[0].attack.bound, "count", "a") is None
    assert wealth_plot(replace(report.results[0].attack.sequential, path=()), "count", "a") is None


def test_the_same_report_gives_the_same_bytes_in_another_process(report, page, tmp_path):
    write_json(report, tmp_path / "report.json")
    program = "import sys; from dpaudit.report import *; write_html(read_report(sys.argv[1]), sys.argv[2])"
    command = [sys.executable, "-c", program, str(tmp_path / "report.json"), str(tmp_path / "index.html")]
    subprocess.run(command, check=True, env=os.environ | {"PYTHONHASHSEED": "77", "TZ": "Asia/Tokyo"})
    assert page.encode() == (tmp_path / "index.html").read_bytes()


def test_the_page_is_a_function_of_the_json(report, page, tmp_path):
    write_json(report, tmp_path / "report.json")
    assert page == to_html(read_report(tmp_path / "report.json"))


def test_what_wants_attention_comes_first(page):
    places = [page.index(f'<section class="target {verdict}"') for verdict in ("refuted", "failed", "inconclusive", "consistent")]
    assert sorted(places) == places


def test_the_first_screen_says_the_verdicts(page):
    assert "<h1>1 of 10 claims refuted, 1 failed, 1 inconclusive, 7 consistent</h1>" in page


def test_a_refuted_claim_comes_with_pair_event_counts_seed_and_command(page):
    section = page[page.index('<section class="target refuted"') : page.index('<section class="target failed"')]
    for part in (
        "record 0 replaced",
        "value &lt;= -146",
        "36,500 times on the first",
        "seed 1, stream 3/1",
        "report.json#half_noise",
    ):
        assert part in section


def test_the_proof_is_given_with_its_axioms_and_steps(page):
    section = page[page.index('<section class="target consistent"') :]
    section = section[: section.index("</section>")]
    for part in (
        "<h3>Proof</h3><strong>in part</strong>",
        "1 proven, 1 enumerated, 1 axiom.",
        "proofs.chain#Count.claim",
        "<dt>Axioms</dt><dd>bits are fair (the operating system)</dd>",
        "<summary>All 3 steps</summary>",
        "noise costs the distance over the scale",
    ):
        assert part in section


def test_a_page_explains_the_words_of_its_proofs_and_no_others(page):
    for word in ("refuted", "stale", "in part", "not attempted"):
        assert f"<dt>Proof {word}</dt>" in page
    assert "<dt>Proof proven</dt>" not in page


def test_names_from_targets_cannot_write_into_the_page(report, parsed):
    hostile = replace(report.results[0], name="<script>alert(1)</script>\" onload='x'", description="</style><b>", summary="<i>&")
    page = to_html(replace(report, results=(hostile,)))
    parsed(page)
    assert "<script" not in page
    assert "&lt;script&gt;" in page


def test_characters_that_utf_8_cannot_say_do_not_stop_the_page(report, tmp_path):
    write_html(replace(report, results=(replace(report.results[0], name="\ud800"),)), tmp_path / "index.html")
    assert (tmp_path / "index.html").read_text(encoding="utf-8").startswith("<!DOCTYPE html>")


def test_a_report_without_results_is_a_page_too(report, parsed):
    page = to_html(Report(report.settings, ()))
    parsed(page)
    assert "No claim was audited" in page


def test_a_time_budget_is_not_said_to_repeat_the_evidence(report):
    assert "This command makes the same evidence again" in to_html(replace(report, results=report.results[:1]))
    timed = to_html(replace(report, results=report.results[:1], settings=replace(report.settings, runs=0, seconds=Fraction(60))))
    assert "This command makes the same evidence again" not in timed
    assert "--time-budget 60" in timed


def test_an_interrupted_audit_is_said_to_be_one(report):
    assert "The audit was interrupted" in to_html(replace(report, complete=False))


def test_no_verdict_reads_private(page):
    assert {"proven", "refuted", "consistent", "inconclusive", "failed"} == set(Verdict)
    assert not re.search(r"\bis private\b", page)
