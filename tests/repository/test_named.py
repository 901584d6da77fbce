"""What the pages name is there: files, options, names of the code, links and sections."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from devtools.survey import FOLDERS, ROOT, python_files, text_files
from dpaudit.errors import CODES

PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
YOURS = {"my_count.py", "release.py", "specs.py", "report.json", "index.html", "report/index.html", "before.json", "after.json"}
"""Files that a reader has, or that a command writes."""
GONE = {"stand_ins.py"}
"""Files of which a decision says that they are gone."""
FOREIGN_FILES = {"pylock.toml", "FILE.py", "FILE.csv"}
FOREIGN_OPTIONS = {"--deselect", "--ignore", "--lf"}
"""Options of pytest itself."""
KINDS = {"--campaign", "--coverage", "--tightness"}
"""Options that a benchmark makes of the names of its kinds."""
FOREIGN_NAMES = {
    *("BudgetAccountant", "DpEvent", "PrivacyEngine", "make_private", "state_dict"),
    *("MixtureOfGaussians", "NoOp", "NonPrivate", "PoissonSampled", "RepeatAndSelect", "SampledWithReplacement"),
    *("SampledWithoutReplacement", "SelfComposed", "SingleEpochTreeAggregation", "TruncatedSubsampledGaussian"),
    *("ForkProcess", "RAY_ADDRESS", "TwoSum", "additional_dependencies", "partial_fit", "to_real"),
}
"""Names of other libraries, of Python and of the literature."""


def prose(page: Path) -> str:
    """A page without its blocks of code, which other tests run."""
    return re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)


def quoted(page: Path) -> list[str]:
    """What stands between backticks."""
    return re.findall(r"(?<!`)`([^`\n]+)`(?!`)", prose(page))


def names_in(tree: ast.AST) -> Iterator[str]:
    """Names that a module gives or uses, and the parts of texts that are names, paths or options."""
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name) | ast.Attribute(attr=name) | ast.arg(arg=name) | ast.keyword(arg=str(name)):
                yield name
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                yield name
            case ast.alias(name=name):
                yield from name.split(".")
            case ast.Constant(value=str(text)) if re.fullmatch(r"[\w./:#-]+", text):
                yield from re.findall(r"--[a-z][a-z-]*|\w+", text)


@cache
def names() -> frozenset[str]:
    """Every name of the project: modules, functions, classes, arguments, attributes, fields, options, settings."""
    found: set[str] = set()
    for file in python_files(*FOLDERS):
        found.update(file.relative_to(ROOT).with_suffix("").parts)
        found.update(names_in(ast.parse(file.read_text(encoding="utf-8"))))
    for settings in ("pyproject.toml", "action.yml", "docs/conf.py"):
        found.update(re.findall(r"\w+", (ROOT / settings).read_text(encoding="utf-8")))
    return frozenset(found)


@cache
def files() -> frozenset[str]:
    """The paths of all files that people read, from the root and from each of their folders."""
    paths = [file.relative_to(ROOT).parts for file in text_files()]
    return frozenset("/".join(parts[start:]) for parts in paths for start in range(len(parts)))


def is_symbol(name: str) -> bool:
    """Whether this is a letter of a formula, perhaps with an index."""
    return len(name) < 3 or re.fullmatch(r"[A-Za-z]+_\w?", name) is not None


def anchors(page: Path) -> set[str]:
    """What the headings of a page are called in links."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def by_path(page: Path) -> str:
    return str(page.relative_to(ROOT))


@pytest.mark.parametrize("page", PAGES, ids=by_path)
def test_a_file_that_a_page_names_is_there(page: Path):
    whole = re.compile(r"(?<![\w*.<{/-])[\w-][\w./-]*\.(?:py|md|toml|json|html|csv)\b")
    named = {name for text in quoted(page) for name in whole.findall(text)} - YOURS - GONE - FOREIGN_FILES
    assert set() == {name for name in named if name not in files() and not (page.parent / name).exists()}


@pytest.mark.parametrize("page", PAGES, ids=by_path)
def test_an_option_that_a_page_names_exists(page: Path):
    named = {option for text in quoted(page) for option in re.findall(r"(?<![\w-])--[a-z][a-z-]*", text)}
    assert set() == named - FOREIGN_OPTIONS - KINDS - names()


@pytest.mark.parametrize("page", PAGES, ids=by_path)
def test_a_name_that_a_page_uses_is_one_of_the_code(page: Path):
    whole = (re.fullmatch(r"([A-Za-z_][\w.]*)(\(.*\))?", text) for text in quoted(page))
    named = {found[1] for found in whole if found and (found[2] or re.search(r"[._]|[a-z][A-Z]", found[1]))}
    parts = {part for name in named if not re.search(r"\.(py|md|toml|json|lock)$", name) for part in name.split(".")}
    unknown = {part for part in parts - names() - FOREIGN_NAMES if not is_symbol(part)}
    assert set() == {part for part in unknown if part.rstrip("0123456789") not in names()}


@pytest.mark.parametrize("page", PAGES, ids=by_path)
def test_a_code_that_a_page_names_can_be_explained(page: Path):
    assert set() == set(re.findall(r"\bDPA\d{3}\b", page.read_text(encoding="utf-8"))) - set(CODES)


@pytest.mark.parametrize("page", PAGES, ids=by_path)
def test_a_benchmark_that_a_page_shows_has_the_options_shown(page: Path):
    for file, options in re.findall(r"python3? (benchmarks/\w+\.py)([^`\n#]*)", page.read_text(encoding="utf-8")):
        source = (ROOT / file).read_text(encoding="utf-8")
        assert set() == {option for option in re.findall(r"--[a-z-]+", options) if option not in source}


@pytest.mark.parametrize("page", PAGES, ids=by_path)
def test_a_link_leads_to_a_file_and_a_section(page: Path):
    for path, section in re.findall(r"\]\((?!https?:)([^)#\s]*)#?([^)\s\"]*)[^)]*\)", prose(page)):
        to = (page.parent / path).resolve() if path else page
        assert to.exists(), path
        assert not section or section in anchors(to), f"{path}#{section}"


def test_a_name_that_is_nowhere_is_noticed():
    assert {"LaplaceMechanism", "dp_budget", "--dp-seed"} <= names()
    assert not {"LaplaceMechanism"[::-1], "--dp-" + "sead"} & names()
    assert "dpaudit/errors.py" in files()
    assert "dpaudit/no_such_file.py" not in files()


def test_the_audit_that_a_page_shows_is_what_the_command_prints():
    """Figures included: the seed is fixed."""
    page = (ROOT / "docs" / "audit_your_own.md").read_text(encoding="utf-8")
    (shown,) = re.findall(r"^```text\n(half_noise REFUTED\n.*?)^```", page, flags=re.MULTILINE | re.DOTALL)
    code = "from dpaudit.cli import main; main()"
    command = [sys.executable, "-c", code, "audit", "examples/noisy_count.py:target"]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert 1 == ran.returncode, ran.stderr
    printed = " ".join(ran.stdout.split())
    facts = re.sub(r"\n {3,}", " ", shown).splitlines()
    assert [] == [fact for fact in facts if " ".join(fact.split()) not in printed]
