"""The check of sources and pages finds each kind of violation, planted in a project of a few lines, and nothing else."""

from __future__ import annotations

import importlib

import pytest

from devtools import docstrings, exports, figures, pages, paper_map, sources
from devtools.survey import FOLDERS, ROOT, Tree, public_names

FUNCTION = '''"""A law."""


def price(scale: int) -> int:
    """Price one release.

    Args:
      scale: positive.
    Returns:
      The price.
    Raises:
      ValueError: it is negative.
    Source: Dwork, Roth 2014.
    Example:
      >>> price(1)
      2
    """
    if scale < 0:
        raise ValueError
    return helper(scale)


def helper(scale):
    """Add one (a detail)."""
    return scale + 1
'''
OTHER = "other.md"
MAP_HEADER = ",".join(paper_map.HEADER) + "\n"
FILES = {
    "dpaudit/__init__.py": (
        '"""The package."""\nfrom dpaudit.law import price as price\n\n_HOMES = {"price": "law"}\n__all__ = sorted(_HOMES)\n'
    ),
    "dpaudit/law.py": FUNCTION,
    "dpaudit/errors.py": '"""Codes."""\n\nCODES = ("DPA101",)\n',
    paper_map.MAP: f"{MAP_HEADER}Theorem 1,price,dpaudit/law.py,price,\n",
    "docs/README.md": (
        f"# A page\n\n## One section\n\nSee [a page]({OTHER}), [above](#one-section), `dpaudit.law.price` and DPA101.\n"
    ),
    f"docs/{OTHER}": "# Another page\n",
    "docs/conf.py": '"""Settings."""\n',
    "pyproject.toml": "[project]\n",
    "action.yml": "name: action\n",
    "requirements.lock": "",
}
CHECKS = [check for check in sources.CHECKS if check is not figures.check_figures]


@pytest.fixture
def project(tmp_path):
    """Write the project with some files changed, and give what the checks find."""

    def find(**changed):
        for path, text in {**FILES, **changed}.items():
            (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / path).write_text(text, encoding="utf-8")
        return [finding for check in CHECKS for finding in check(Tree(tmp_path))]

    return find


def test_a_project_in_good_form_has_no_finding(project):
    assert [] == project()


def page(text):
    return {"docs/README.md": f"# A page\n\n{text}\n"}


def law(old, new):
    assert 1 == FUNCTION.count(old)
    return {"dpaudit/law.py": FUNCTION.replace(old, new)}


LONG = '"""One.\n\n    Two.\n    Three.\n    Four.\n    Five.\n    Six.\n    """'
VIOLATIONS = [
    ({"dpaudit/long.py": '"""Long."""\n' + "x = 1\n" * 500}, "dpaudit/long.py: 501 lines, of at most 500; split it"),
    ({f"tests/part_{part}.py": "x = 1\n" * 181 for part in range(9)}, "half of the source files have more than 180 lines; split"),
    ({"dpaudit/late.py": '"""Late."""\n# TO' + "DO: more\n"}, "dpaudit/late.py:2: a note to do something later"),
    (page("Files are in /ho" + "me/somebody."), "docs/README.md:3: a path of one machine"),
    ({"requirements.lock": "--index https://py" + "pi.org/simple\n"}, "requirements.lock:1: a package index"),
    (law("return scale + 1", "raise NotImplemented" + "Error"), "dpaudit/law.py:25: an unfinished function"),
    (law("    Args:\n      scale: positive.\n", ""), "dpaudit/law.py:4: price is exported; its docstring lacks Args"),
    (law("    Returns:\n      The price.\n", ""), "dpaudit/law.py:4: price is exported; its docstring lacks Returns"),
    (law("    Raises:\n      ValueError: it is negative.\n", ""), "law.py:4: price is exported; its docstring lacks Raises"),
    (law("    Example:\n      >>> price(1)\n      2\n", ""), "dpaudit/law.py:4: price is exported; its docstring lacks Example"),
    (law("scale: positive", "Nothing"), "dpaudit/law.py:4: the section Args of price says nothing; leave it out"),
    (law("(a detail).", "one.\n\n    Returns:\n      It.\n    "), "helper is not exported; its docstring needs no Returns"),
    (law('"""Add one (a detail)."""', LONG), "dpaudit/law.py:23: helper is not exported; its docstring has over 5 lines"),
    ({"dpaudit/price.py": '"""Price."""\n'}, "dpaudit/price.py: a module has the name of an export of its package"),
    ({"dpaudit/see.py": '"""See docs/none' + '.md."""\n'}, "dpaudit/see.py: there is no document docs/none" + ".md"),
    (page("`dpaudit/none.py`"), "docs/README.md: there is no file dpaudit/none.py"),
    (page("`dpaudit audit --none`"), "docs/README.md: nothing has the option --none"),
    (page("`no_such_name`"), "docs/README.md: nothing in the code has the name no_such_name"),
    (page("`noSuchName()`"), "docs/README.md: nothing in the code has the name noSuchName"),
    (page("DPA999"), "docs/README.md: there is no error code DPA999"),
    (page("[there](none.md)"), "docs/README.md: the link to none.md leads nowhere"),
    (page("[there](#none)"), "docs/README.md: the page has no section #none"),
    (page(f"[there]({OTHER}#none)"), f"docs/README.md: {OTHER} has no section #none"),
    (
        {"benchmarks/one.py": '"""One."""\n', **page("python3 benchmarks/one.py --many")},
        "docs/README.md: benchmarks/one.py has no option --many",
    ),
    ({paper_map.MAP: f"{MAP_HEADER}a,b,dpaudit/law.py,prize,\n"}, "map.csv: dpaudit/law.py does not define prize"),
    ({paper_map.MAP: "a,b\nc,d\n"}, "map.csv: the columns are a, b instead of paper item, "),
    ({paper_map.MAP: MAP_HEADER}, "dpaudit/law.py:4: price cites a paper and has no row in "),
]


@pytest.mark.parametrize(("changed", "finding"), VIOLATIONS, ids=[finding for _, finding in VIOLATIONS])
def test_a_violation_is_found(project, changed, finding):
    assert [] != [found for found in project(**changed) if finding in found]


def test_only_the_violation_is_found(project):
    assert ["docs/README.md: there is no error code DPA999"] == project(**page("DPA999"))


def test_a_source_and_the_fields_of_a_class_may_be_documented_beside_the_lines_that_are_allowed(project):
    lines = ("", "Two.", "Three.", "Four.", "", "Args:", "  x: a field.", "Source: A paper.", '"""')
    fields = '\n\nclass Kept:\n    """One.\n' + "".join(f"    {line}\n" for line in lines)
    assert [] == project(**{"dpaudit/law.py": FUNCTION + fields})


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("class A(ValueError):\n    x: int", set()),
        ("class A(Protocol[T]):\n    x: int", set()),
        ("class B(StrEnum):\n    X = 1\n\nclass A(B):\n    Y = 2", set()),
        ("@dataclass\nclass A:\n    x: int", {"Args", "Example"}),
        ("@dataclass\nclass A:\n    x: ClassVar[int] = 1", {"Example"}),
        ("@dataclass\nclass B:\n    x: int\n\nclass A(B):\n    pass", {"Args", "Example"}),
        ("class A:\n    def __init__(self, x):\n        pass", {"Args", "Example"}),
        ("@dataclass\nclass A:\n    x: int\n    def __post_init__(self):\n        raise ValueError", {"Args", "Example", "Raises"}),
        ("def A() -> None:\n    pass", {"Example"}),
        ("def A() -> int:\n    def inner():\n        raise ValueError\n    return inner", {"Example", "Returns"}),
        ("def A(*x) -> None:\n    for y in x:\n        raise ValueError", {"Args", "Example", "Raises"}),
    ],
)
def test_a_section_is_needed_where_it_has_something_to_say(tmp_path, text, expected):
    path = tmp_path / "a.py"
    path.write_text(text, encoding="utf-8")
    tree = Tree(tmp_path)
    found, node = exports.definition_of(tree, path, "A")
    assert expected == docstrings.sections_needed(tree, found, node)


def test_what_is_read_as_exported_is_what_importing_the_packages_gives():
    found = {(".".join(export.package.relative_to(ROOT).parts), export.name): export for export in exports.exports(Tree(ROOT))}
    assert set(public_names()) == set(found)
    for (package, name), export in found.items():
        thing = getattr(importlib.import_module(package), name)
        if export.node is not None:
            assert (export.node.name, export.path.stem) == (thing.__name__, export.path.stem)
            assert thing.__module__.replace(".", "/") in str(export.path)


def test_a_figure_that_no_result_gives_is_found():
    tree = Tree(ROOT)
    page, given = figures.FIGURES[0]
    assert [] == list(figures.check_figures(tree))
    figure = given()[0]
    tree._read[ROOT / page] = " ".join(tree.text(ROOT / page).split()).replace(figure, "something else")
    assert [f"{page}: the results say {figure!r}"] == list(figures.check_figures(tree))


def test_the_checks_read_the_whole_project():
    tree = Tree(ROOT)
    assert 900 <= len(tree.python(*FOLDERS))
    assert "dpaudit/errors.py" in pages.files_of(tree)
    assert 20 <= len(paper_map.rows_of(tree))


def test_the_report_ends_with_the_number_of_findings_and_the_exit_code_is_one(project, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(sources, "CHECKS", CHECKS)
    project()
    assert 0 == sources.main(tmp_path)
    assert "" == capsys.readouterr().out
    project(**page("DPA999 and `noSuchName()`"))
    assert 1 == sources.main(tmp_path)
    assert 3 == len(capsys.readouterr().out.splitlines())
