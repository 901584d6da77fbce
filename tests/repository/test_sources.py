"""How the sources look: sizes, words that do not belong there, documents that exist, and documented public names."""

from __future__ import annotations

import ast
import enum
import importlib
import inspect
import re
import statistics
import textwrap
from pathlib import Path

import pytest

from devtools.survey import FOLDERS, ROOT, public_names, python_files, text_files

LONGEST = 500
FORBIDDEN = {
    "a note to do something later": r"\b(" + "|".join(("TO" + "DO", "FIX" + "ME", "X" + "XX")) + r")\b",
    "a path of one machine": "(?<![A-Za-z0-9._-])/(" + "home|root|work|Users|tmp/w" + r")/\w",
    "a package index": r"https?://[^\s\"')]*(?:/simple\b|pypi" + r"\.|pythonhosted|artifactory)",
    "an unfinished function": "raise NotImplemented" + "Error",
}


@pytest.mark.parametrize("path", python_files(*FOLDERS), ids=lambda path: str(path.relative_to(ROOT)))
def test_no_source_file_is_longer_than_a_person_reads(path: Path):
    assert len(path.read_text(encoding="utf-8").splitlines()) <= LONGEST


def test_half_of_the_source_files_are_short():
    assert statistics.median(len(path.read_text(encoding="utf-8").splitlines()) for path in python_files(*FOLDERS)) <= 180


@pytest.mark.parametrize("what", FORBIDDEN)
def test_no_file_holds(what: str):
    pattern = re.compile(FORBIDDEN[what])
    found = [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()[:80]}"
        for path in [*text_files(), ROOT / "requirements.lock"]
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1)
        if pattern.search(line)
    ]
    assert [] == found


def test_every_document_that_a_file_names_exists():
    named = {
        (path.relative_to(ROOT), name)
        for path in text_files()
        for name in re.findall(r"\bdocs/[\w/-]+\.md\b", path.read_text(encoding="utf-8"))
    }
    assert [] == sorted(f"{path} names {name}" for path, name in named if not (ROOT / name).is_file())


def test_every_link_of_a_document_leads_somewhere():
    links = {
        (path, target)
        for path in text_files()
        if path.suffix == ".md"
        for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", path.read_text(encoding="utf-8"))
        if "://" not in target
    }
    assert [] == sorted(f"{path.relative_to(ROOT)} -> {target}" for path, target in links if not (path.parent / target).exists())


@pytest.mark.parametrize(
    "path", python_files("dpaudit", "mechanisms", "learners", "proofs"), ids=lambda path: str(path.relative_to(ROOT))
)
def test_a_module_says_in_one_line_what_it_is(path: Path):
    text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    first = text.splitlines()[0] if text else ""
    assert re.search(r"[.!?]$", first), f"first line: {first!r}"


def raises(thing: object) -> bool:
    """True if the body of a function has a `raise` of its own, outside the functions that it defines."""
    (function,) = ast.parse(textwrap.dedent(inspect.getsource(thing))).body
    left = list(function.body)
    while left:
        node = left.pop()
        if isinstance(node, ast.Raise):
            return True
        if not isinstance(node, (ast.FunctionDef, ast.Lambda, ast.ClassDef)):
            left.extend(ast.iter_child_nodes(node))
    return False


def sections_needed(thing: object) -> set[str]:
    """The docstring sections of a public name; one that would say that there is nothing is not among them."""
    if inspect.isclass(thing):
        if issubclass(thing, (Exception, enum.Enum)) or getattr(thing, "_is_protocol", False):
            return set()
        needed = {"Example"}
        if len(inspect.signature(thing).parameters):
            needed.add("Args")
        if (check := vars(thing).get("__post_init__")) and raises(check):
            needed.add("Raises")
        return needed
    signature = inspect.signature(thing)
    needed = {"Example"}
    if signature.parameters:
        needed.add("Args")
    if raises(thing):
        needed.add("Raises")
    if signature.return_annotation not in {None, "None"}:
        needed.add("Returns")
    return needed


@pytest.mark.parametrize(("package", "name"), sorted(public_names()))
def test_a_public_name_has_each_docstring_section_that_has_something_to_say(package: str, name: str):
    thing = getattr(importlib.import_module(package), name)
    if not inspect.isclass(thing) and not inspect.isfunction(thing):
        return  # a constant, a type alias or a module
    text = inspect.getdoc(thing) or ""
    assert re.match(r"\S.*[.!?:]\n?", text), f"the first line is {text.splitlines()[:1]}"
    present = set(re.findall(r"^ *(Args|Returns|Raises|Source|Example):", text, flags=re.MULTILINE))
    assert set() == sections_needed(thing) - present


@pytest.mark.parametrize(("package", "name"), sorted(public_names()))
def test_a_public_name_is_not_also_the_name_of_a_module(package: str, name: str):
    """Importing the module would put it in the place of the function, so that calling the public name fails."""
    place = ROOT.joinpath(*package.split("."))
    assert [] == [path.name for path in (place / f"{name}.py", place / name / "__init__.py") if path.exists()]


@pytest.mark.parametrize(("package", "name"), sorted(public_names()))
def test_a_public_class_documents_its_public_methods(package: str, name: str):
    thing = getattr(importlib.import_module(package), name)
    members = vars(thing).items() if inspect.isclass(thing) and not issubclass(thing, Exception) else ()
    functions = {
        key: getattr(value, "fget", getattr(value, "__func__", value)) for key, value in members if not key.startswith("_")
    }
    bare = [key for key, value in functions.items() if inspect.isfunction(value) and not value.__doc__]
    assert [] == bare


def test_every_error_code_that_is_raised_is_registered_and_every_registered_one_is_used():
    from dpaudit.errors import CODES

    shipped = [path for path in python_files("dpaudit", "mechanisms", "learners", "proofs") if path.name != "errors.py"]
    raised = {
        node.value
        for path in shipped
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and re.fullmatch(r"DPA\d{3}", node.value)
    }
    assert set() == raised - set(CODES), "raised but not registered"
    assert set() == set(CODES) - raised, "registered but never raised"


def test_every_error_code_is_explained_in_sentences():
    from dpaudit.errors import CODES

    for code, entry in CODES.items():
        assert re.fullmatch(r"DPA[1-9]\d\d", code)
        assert entry.title
        assert entry.meaning.endswith(".")
        assert entry.remedy.endswith((".", "?"))


def test_an_unregistered_code_cannot_be_raised():
    from dpaudit.errors import InvalidArgument

    with pytest.raises(KeyError, match="DPA999"):
        InvalidArgument("DPA999", "no such code")
