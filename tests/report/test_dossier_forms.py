"""A dossier as JSON, as text and as a page: nothing lost, nothing loaded, and plots of what was measured."""

from __future__ import annotations

import re
from dataclasses import replace
from xml.etree import ElementTree as ET

import pytest

from dpaudit.dossier import Decided, Dossier, Kind, Repair, Span, Standing, Table, Witness
from dpaudit.errors import InvalidArgument, MissingExtra
from dpaudit.report import dossier_plots
from dpaudit.report.dossier import from_json, headline, second_line, to_html, to_json, to_markdown, to_text
from dpaudit.report.dossier_plots import plots_of


def decided(key, standing, *witnesses, table=None, kind=Kind.STATED):
    correction = "" if standing is Standing.HOLDS else "half of it"
    told = ("text", "page 1", f"{key} in words", kind, f"{key} <promised>", correction, ("dpaudit/dossier.py:Item",))
    repair = Repair("a smaller claim", "twice the noise", "yes") if standing is Standing.FAILS else None
    return Decided(key, *told, standing, f"{key} was found", f"number of {key}", witnesses, repair, table)


TABLE = Table("Noise, by epsilon", ("epsilon", "one", "other"), ((0.5, 100.0, 10.0), (1.0, 50.0, 5.0), (2.0, 25.0, 2.0)))
BROKEN = Witness(
    "attack", "claim", holds=False, says="refuted", name="broken_thing", span=Span(5.5, 1.0), expects=False, where="at 1 | 2"
)
SOUND = Witness("attack", "repair", holds=True, says="kept", name="thing", span=Span(0.9, 1.0))
INFINITE = Witness(
    "enumeration", "claim", holds=False, says="impossible outcome", name="broken_list", span=Span(float("inf"), None)
)


@pytest.fixture
def dossier():
    items = (
        decided("A1", Standing.HOLDS, SOUND, table=TABLE),
        decided("A2", Standing.FAILS, BROKEN, replace(SOUND, name="other")),
        decided("A3", Standing.CONDITION, INFINITE, kind=Kind.READING),
    )
    return Dossier("papers", 1000, items, (("A1", 0.5), ("A2", 1.25), ("A3", 0.0)), "0.1.0")


def test_a_dossier_comes_back_from_its_document(dossier):
    assert dossier == from_json(to_json(dossier))


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"schema": "1"}', '{"schema": "dossier-2"}', "\ud800"])
def test_what_is_no_dossier_is_refused(text):
    with pytest.raises(InvalidArgument, match="DPA501"):
        from_json(text)


def test_a_document_with_an_unknown_field_is_refused(dossier):
    with pytest.raises(InvalidArgument, match="DPA501"):
        from_json(to_json(dossier).replace('"promised"', '"pledged"'))


def test_the_headline_counts_every_verdict(dossier):
    assert "Of 2 stated claims 1 holds, 1 fails as written" == headline(dossier)
    assert "Of 1 reading or implementation 1 needs a condition" == second_line(dossier)
    twice = replace(dossier, items=dossier.items * 2)
    assert "Of 4 stated claims 2 hold, 2 fail as written" == headline(twice)
    assert "Of 2 readings and implementations 2 need a condition" == second_line(twice)


def test_the_table_has_quotation_kind_witness_range_and_verdict(dossier):
    rows = [line for line in to_markdown(dossier).splitlines() if line.startswith("| A")]
    assert 3 == len(rows)
    cells = ("page 1: \u201cA2 in words\u201d", "stated by the paper", "attack (broken_thing) refutes the claim", "at 1 \\| 2")
    assert f"| A2 | {' | '.join(cells)} | fails as written: number of A2 |" == rows[1]


def test_a_refuted_claim_shows_its_repair(dossier):
    for told in (to_text(dossier), to_html(dossier)):
        assert "a smaller claim" in told
        assert "twice the noise" in told


@pytest.mark.parametrize("width", [40, 80, 160])
def test_the_text_fits_its_width_and_tells_what_does_not_hold(dossier, width):
    text = to_text(dossier, width=width)
    assert max(map(len, text.splitlines())) <= width
    assert "A2 was found" in text
    assert "A1 was found" not in text
    assert to_text(dossier, width=width, ascii_only=True).isascii()


def test_the_page_loads_and_runs_nothing_and_its_links_lead_somewhere(dossier, parsed):
    page = to_html(dossier)
    found = parsed(page)
    ids = [attributes["id"] for _, attributes, _ in found.elements if "id" in attributes]
    assert [] == found.named("script")
    assert len(ids) == len(set(ids))
    assert set(found.links()) <= {f"#{name}" for name in ids}
    assert "A1 &lt;promised&gt;" in page
    assert page == to_html(dossier)


def test_plots_show_what_was_measured(dossier):
    plots = plots_of(dossier)
    assert ["A1", "claimed", "sandwich"] == list(plots)
    assert [("A2 broken_thing", "5.5", "1"), ("A3 broken_list", "inf", "\u2013")] == list(plots["claimed"].rows)
    assert ["A1 thing", "A2 other"] == [row[0] for row in plots["sandwich"].rows]
    assert ("0.5", "100", "10") == plots["A1"].rows[0]
    for plot in plots.values():
        assert ET.fromstring(plot.svg).tag.endswith("svg")  # noqa: S314 - our own drawing


def test_an_empty_dossier_has_all_forms():
    empty = Dossier("papers", 1000, ())
    assert empty == from_json(to_json(empty))
    assert {} == plots_of(empty)
    assert re.search("No claim was decided", to_html(empty))


def test_without_matplotlib_a_page_has_its_tables_and_says_that_drawings_are_left_out(dossier, monkeypatch):
    whole = to_html(dossier)

    def refuse(extra):
        raise MissingExtra("DPA206", f'{extra} need matplotlib, which is not installed. Run: pip install "dpaudit[plots]".')

    monkeypatch.setattr(dossier_plots, "require", refuse)
    page = to_html(dossier)
    assert (3, 0) == (whole.count("<svg"), page.count("<svg"))
    assert 3 == page.count("Not drawn: plots need matplotlib")
    assert whole.count("<table") == page.count("<table")
