"""The documentation as a whole: every page is found, every package has its names, and every common ask has an answer."""

from __future__ import annotations

import importlib
import re

import pytest

from devtools.survey import ROOT

DOCS = ROOT / "docs"
ASKS = (DOCS / "asks.md").read_text(encoding="utf-8")
ROWS = re.findall(r"^\| (\d+)\. (.+?) \| (.+?) \|$", ASKS, flags=re.MULTILINE)


def anchors(text: str) -> set[str]:
    """What the headings of a page are called in links."""
    headings = re.findall(r"^#+ (.+)$", text, flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_every_page_stands_in_the_table_of_contents():
    listed = re.findall(r"^\| \[[^]]*\]\((\w+\.md)\) \|", (DOCS / "README.md").read_text(encoding="utf-8"), flags=re.MULTILINE)
    assert len(set(listed)) == len(listed)
    assert {page.name for page in DOCS.glob("*.md")} - {"README.md", "index.md"} == set(listed)


def test_every_reference_page_names_a_package_that_says_what_is_public():
    listed = set(re.findall(r"^(api/\w+)$", (DOCS / "api.md").read_text(encoding="utf-8"), flags=re.MULTILINE))
    pages = {f"api/{page.stem}": page.read_text(encoding="utf-8") for page in (DOCS / "api").glob("*.md")}
    assert set(pages) == listed
    documented = {re.findall(r"^\.\. automodule:: (\S+)$", text, flags=re.MULTILINE)[0] for text in pages.values()}
    assert {"dpaudit", "dpaudit.accounting", "dpaudit.interop", "dpaudit.ledger", "mechanisms", "learners"} <= documented
    for name in documented - {"dpaudit.errors"}:
        assert importlib.import_module(name).__all__


def test_there_are_25_asks_each_with_an_answer():
    assert list(map(str, range(1, 26))) == [number for number, _, _ in ROWS]
    assert [] == [number for number, _, answer in ROWS if "](" not in answer]


@pytest.mark.parametrize(("number", "answer"), [(number, answer) for number, _, answer in ROWS])
def test_an_answer_leads_to_something_that_is_there(number, answer):
    """To a page or a section, to an example, a table of results, or to why the answer is no."""
    for path, section in re.findall(r"\]\(([^)#]*)#?([^)]*)\)", answer):
        page = DOCS / path if path else DOCS / "asks.md"
        assert page.is_file(), f"{number}: {path}"
        assert not section or section in anchors(page.read_text(encoding="utf-8")), f"{number}: {path}#{section}"


def test_every_refusal_is_the_answer_to_an_ask():
    refused = anchors(ASKS[ASKS.index("\n## Refused") :]) - {"refused"}
    assert refused <= {section for _, _, answer in ROWS for section in re.findall(r"\(#([^)]*)\)", answer)}
