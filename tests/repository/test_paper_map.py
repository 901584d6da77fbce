"""The map from papers to code: what it names exists, and no public name that cites a paper is missing from it."""

from __future__ import annotations

import ast
import importlib
import inspect
import re

import pytest

from devtools.survey import ROOT, public_names

ROWS = re.findall(
    r"^\| [^|]+ \| [^|]+ \| `([^`]+)` \| `([^`]+)` \| [^|]+ \|$",
    (ROOT / "docs/paper_map.md").read_text(encoding="utf-8"),
    flags=re.MULTILINE,
)


@pytest.mark.parametrize(("file", "name"), sorted(set(ROWS)))
def test_what_the_map_names_exists(file: str, name: str):
    tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
    assert name in {node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)}


def test_every_public_name_that_cites_a_paper_stands_in_the_map():
    named = {name for _, name in ROWS}
    assert 20 <= len(named)
    things = {name: getattr(importlib.import_module(package), name) for package, name in public_names()}
    documented = {
        name: inspect.getdoc(thing) or "" for name, thing in things.items() if inspect.isclass(thing) or inspect.isfunction(thing)
    }
    citing = {
        name for name, text in documented.items() if re.search(r"^ *Source: [^\n]*\b(?:19|20)\d\d\b", text, flags=re.MULTILINE)
    }
    assert set() == citing - named
