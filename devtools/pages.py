"""Check that what the pages name is there: files, options, names of the code, error codes, links and sections."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from devtools.survey import FOLDERS, Tree

YOURS: Final = {
    "my_count.py",
    "release.py",
    "specs.py",
    "report.json",
    "index.html",
    "report/index.html",
    "before.json",
    "after.json",
}
"""Files that a reader has, or that a command writes."""
GONE: Final = {"stand_ins.py"}
"""Files of which a decision says that they are gone."""
FOREIGN_FILES: Final = {"pylock.toml", "FILE.py", "FILE.csv"}
FOREIGN_OPTIONS: Final = {"--deselect", "--ignore", "--lf"}
"""Options of pytest itself."""
KINDS: Final = {"--campaign", "--coverage", "--tightness"}
"""Options that a benchmark makes of the names of its kinds."""
FOREIGN_NAMES: Final = {
    *("BudgetAccountant", "DpEvent", "PrivacyEngine", "make_private", "state_dict"),
    *("MixtureOfGaussians", "NoOp", "NonPrivate", "PoissonSampled", "RepeatAndSelect", "SampledWithReplacement"),
    *("SampledWithoutReplacement", "SelfComposed", "SingleEpochTreeAggregation", "TruncatedSubsampledGaussian"),
    *("ForkProcess", "RAY_ADDRESS", "TwoSum", "additional_dependencies", "partial_fit", "to_real"),
}
"""Names of other libraries, of Python and of the literature."""
FILE: Final = re.compile(r"(?<![\w*.<{/-])[\w-][\w./-]*\.(?:py|md|toml|json|html|csv)\b")
NAME: Final = re.compile(r"([A-Za-z_][\w.]*)(\(.*\))?")
OPTION: Final = re.compile(r"(?<![\w-])--[a-z][a-z-]*")
LINK: Final = re.compile(r"\]\((?!https?:)([^)#\s]*)#?([^)\s\"]*)[^)]*\)")


def check_pages(tree: Tree) -> Iterator[str]:
    """Name what a page refers to and what is not there."""
    names, files, codes = names_of(tree), files_of(tree), codes_of(tree)
    for page in tree.pages():
        for problem in (
            *(f"there is no file {name}" for name in sorted(_files_named(tree, page) - files) if not (page.parent / name).exists()),
            *(f"nothing has the option {name}" for name in sorted(_options_named(tree, page) - names)),
            *(f"nothing in the code has the name {name}" for name in sorted(_names_used(tree, page)) if not is_known(name, names)),
            *(f"there is no error code {code}" for code in sorted(set(re.findall(r"\bDPA\d{3}\b", tree.text(page))) - codes)),
            *_options_of_benchmarks(tree, page),
            *_broken_links(tree, page),
        ):
            yield f"{tree.place(page)}: {problem}"


def check_documents(tree: Tree) -> Iterator[str]:
    """Name each document that a source or settings file mentions and that is not there."""
    for path in tree.texts():
        for name in sorted(set(re.findall(r"\bdocs/[\w/-]+\.md\b", tree.text(path)))):
            if not (tree.root / name).is_file():
                yield f"{tree.place(path)}: there is no document {name}"


def names_of(tree: Tree) -> set[str]:
    """Every name of the project: modules, functions, classes, arguments, attributes, fields, options, settings."""
    found: set[str] = set()
    for file in tree.python(*FOLDERS):
        found.update(file.relative_to(tree.root).with_suffix("").parts)
        found.update(_names_in(tree.parsed(file)))
    for settings in ("pyproject.toml", "action.yml", "docs/conf.py"):
        found.update(re.findall(r"\w+", tree.text(tree.root / settings)))
    return found


def files_of(tree: Tree) -> set[str]:
    """The paths of all files that people read, from the root and from each of their folders."""
    paths = [file.relative_to(tree.root).parts for file in tree.texts()]
    return {"/".join(parts[start:]) for parts in paths for start in range(len(parts))}


def codes_of(tree: Tree) -> set[str]:
    """The error codes that can be explained."""
    return set(re.findall(r"\bDPA\d{3}\b", tree.text(tree.root / "dpaudit" / "errors.py")))


def is_known(name: str, names: set[str]) -> bool:
    """True if a name is one of the code or of another library, a letter of a formula, or one of these with a number."""
    symbol = len(name) < 3 or re.fullmatch(r"[A-Za-z]+_\w?", name)
    return bool(symbol) or name in names or name in FOREIGN_NAMES or name.rstrip("0123456789") in names


def anchors(text: str) -> set[str]:
    """What the headings of a page are called in links."""
    headings = re.findall(r"^#+ (.+)$", text, flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def _prose(tree: Tree, page: Path) -> str:
    """A page without its blocks of code, which tests run."""
    return re.sub(r"^```.*?^```", "", tree.text(page), flags=re.MULTILINE | re.DOTALL)


def _quoted(tree: Tree, page: Path) -> list[str]:
    """The texts between backticks."""
    return re.findall(r"(?<!`)`([^`\n]+)`(?!`)", _prose(tree, page))


def _files_named(tree: Tree, page: Path) -> set[str]:
    """The files that a page names, without those of its reader and of other projects."""
    return {name for text in _quoted(tree, page) for name in FILE.findall(text)} - YOURS - GONE - FOREIGN_FILES


def _options_named(tree: Tree, page: Path) -> set[str]:
    """The options that a page names, without those of other programs."""
    return {option for text in _quoted(tree, page) for option in OPTION.findall(text)} - FOREIGN_OPTIONS - KINDS


def _names_used(tree: Tree, page: Path) -> set[str]:
    """The parts of the dotted names between backticks that look like names of code."""
    whole = (NAME.fullmatch(text) for text in _quoted(tree, page))
    named = {found[1] for found in whole if found and (found[2] or re.search(r"[._]|[a-z][A-Z]", found[1]))}
    return {part for name in named if not re.search(r"\.(py|md|toml|json|lock)$", name) for part in name.split(".")}


def _options_of_benchmarks(tree: Tree, page: Path) -> Iterator[str]:
    """Options that a page gives to a benchmark that does not have them."""
    for file, options in re.findall(r"python3? (benchmarks/\w+\.py)([^`\n#]*)", tree.text(page)):
        path = tree.root / file
        source = tree.text(path) if path.is_file() else ""
        yield from (f"{file} has no option {option}" for option in re.findall(r"--[a-z-]+", options) if option not in source)


def _broken_links(tree: Tree, page: Path) -> Iterator[str]:
    """Links of a page that lead to no file or to no section of it."""
    for path, section in LINK.findall(_prose(tree, page)):
        to = (page.parent / path).resolve() if path else page
        if not to.exists():
            yield f"the link to {path} leads nowhere"
        elif section and (to.is_dir() or section not in anchors(tree.text(to))):
            yield f"{path or 'the page'} has no section #{section}"


def _names_in(tree: ast.AST) -> Iterator[str]:
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
