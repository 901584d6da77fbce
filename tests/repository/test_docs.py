"""The documentation as a whole: every page is found, every package has its names, and every common ask has an answer."""

from __future__ import annotations

import importlib
import re

import pytest

from devtools.site import MOVED, TABLES, write_redirects
from devtools.survey import ROOT

DOCS = ROOT / "docs"
ASKS = (DOCS / "faq.md").read_text(encoding="utf-8")
ROWS = re.findall(r"^\| (\d+)\. (.+?) \| (.+?) \|$", ASKS, flags=re.MULTILINE)


def anchors(text: str) -> set[str]:
    """What the headings of a page are called in links."""
    headings = re.findall(r"^#+ (.+)$", text, flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_every_page_stands_in_the_table_of_contents():
    listed = re.findall(r"^\| \[[^]]*\]\(([\w/]+\.md)\) \|", (DOCS / "README.md").read_text(encoding="utf-8"), flags=re.MULTILINE)
    assert len(set(listed)) == len(listed)
    pages = {page.relative_to(DOCS).as_posix() for page in (*DOCS.glob("*.md"), *DOCS.glob("notebooks/*.md"))}
    assert pages - {"README.md", "index.md"} == set(listed)


def test_the_reference_shows_every_package_that_says_what_is_public():
    documented = set(re.findall(r"^\.\. automodule:: (\S+)$", (DOCS / "api.md").read_text(encoding="utf-8"), flags=re.MULTILINE))
    assert {"dpaudit", "dpaudit.accounting", "dpaudit.interop", "dpaudit.ledger", "mechanisms", "learners"} <= documented
    for name in documented - {"dpaudit.errors"}:
        assert importlib.import_module(name).__all__


@pytest.mark.parametrize("old", MOVED)
def test_an_old_address_leads_to_a_section_that_is_there(old):
    assert not (DOCS / f"{old}.md").exists() or old == "README"
    page, _, section = MOVED[old].partition("#")
    text = DOCS.joinpath(page).with_suffix(".md").read_text(encoding="utf-8")
    headings = {re.sub(r"[^a-z0-9]+", "-", heading.lower()).strip("-") for heading in re.findall(r"^#+ (.+)$", text, re.MULTILINE)}
    modules = {f"module-{module}" for module in re.findall(r"^\.\. automodule:: (\S+)$", text, re.MULTILINE)}
    assert section in headings | modules | {""}


def test_redirects_are_written_beside_the_pages_that_they_lead_to(tmp_path):
    pages = {address.partition(".html")[0] for address in MOVED.values()}
    (tmp_path / "zoo.html").write_text("left by an older build", encoding="utf-8")
    write_redirects(tmp_path, pages)
    for old, address in (("api/ledger", "../api.html#module-dpaudit.ledger"), ("zoo", "catalogue.html#the-zoo")):
        page = (tmp_path / f"{old}.html").read_text(encoding="utf-8")
        assert f'<meta http-equiv="refresh" content="0; url={address}">' in page


def test_a_redirect_leads_to_a_page_and_replaces_none(tmp_path):
    pages = {address.partition(".html")[0] for address in MOVED.values()}
    with pytest.raises(LookupError, match=r"redirects to catalogue\.html.*, which was not built"):
        write_redirects(tmp_path, pages - {"catalogue"})
    with pytest.raises(LookupError, match="zoo is still a page and cannot redirect"):
        write_redirects(tmp_path, pages | {"zoo"})


@pytest.mark.parametrize("name", TABLES)
def test_a_table_of_the_site_has_rows_as_wide_as_its_header(name):
    widths = {len(re.findall(r"(?<!\\)\|", line)) for line in TABLES[name]().splitlines()}
    assert 1 == len(widths)
    assert min(widths) > 3


def test_pages_name_tables_that_there_are():
    named = [name for page in DOCS.glob("*.md") for name in re.findall(r"^<!-- table: (.*) -->$", page.read_text(), re.MULTILINE)]
    assert [] == sorted(set(named) - set(TABLES))
    assert len(set(named)) == len(named)


def test_there_are_25_asks_each_with_an_answer():
    assert list(map(str, range(1, 26))) == [number for number, _, _ in ROWS]
    assert [] == [number for number, _, answer in ROWS if "](" not in answer]


@pytest.mark.parametrize(("number", "answer"), [(number, answer) for number, _, answer in ROWS])
def test_an_answer_leads_to_something_that_is_there(number, answer):
    """To a page or a section, to an example, a table of results, or to why the answer is no."""
    for path, section in re.findall(r"\]\(([^)#]*)#?([^)]*)\)", answer):
        page = DOCS / path if path else DOCS / "faq.md"
        assert page.is_file(), f"{number}: {path}"
        assert not section or section in anchors(page.read_text(encoding="utf-8")), f"{number}: {path}#{section}"
