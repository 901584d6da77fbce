"""What the documentation shows is true: every example in a docstring and every code block and command in a page."""

from __future__ import annotations

import contextlib
import doctest
import functools
import importlib
import io
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from click import Context, Group

from devtools import notebooks
from devtools.survey import PACKAGES, ROOT, module_names
from devtools.verbs import VERBS
from dpaudit.cli import main

OPTIONS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def source_of(module: str) -> str:
    """The text of a module, found without importing it."""
    place = ROOT.joinpath(*module.split("."))
    file = place / "__init__.py" if place.is_dir() else place.with_suffix(".py")
    return file.read_text(encoding="utf-8")


def pages() -> list[Path]:
    """The documents that hold code or commands."""
    return sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])


def blocks(page: Path, *languages: str) -> list[str]:
    """The fenced blocks of a page in the given languages."""
    found = re.findall(r"^```(\w+)\n(.*?)^```", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    return [text for language, text in found if language in languages]


def commands(page: Path) -> list[str]:
    """The command lines of a page's console blocks, without their prompts and comments."""
    lines = [line for block in blocks(page, "console", "sh", "bash") for line in block.splitlines()]
    shown = [line.removeprefix("$ ") for line in lines if line.startswith(("$ ", "python3 ", "dpaudit "))]
    return [line.split("  #")[0].strip() for line in shown]


def run_examples(examples: doctest.DocTest) -> str:
    """What went wrong in the examples, empty when all gave what they show."""
    said: list[str] = []
    with contextlib.redirect_stdout(io.StringIO()):
        doctest.DocTestRunner(optionflags=OPTIONS).run(examples, out=said.append, clear_globs=False)
    return "".join(said)


@pytest.mark.parametrize("module", [name for name in module_names(*PACKAGES) if ">>> " in source_of(name)])
def test_the_examples_in_the_docstrings_of(module: str, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found = doctest.DocTestFinder(exclude_empty=True).find(importlib.import_module(module), name=module)
    assert "" == "".join(run_examples(examples) for examples in found if examples.examples)


def pages_of_code() -> list[Path]:
    """The documents that hold code which says beside it what it prints; test_notebooks.py runs the notebooks."""
    return [page for page in pages() if blocks(page, "python") and page not in notebooks.pages()]


@pytest.mark.parametrize("page", pages_of_code(), ids=lambda page: str(page.relative_to(ROOT)))
def test_the_code_of_the_page(page: Path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {"__name__": "page"}
    for number, block in enumerate(blocks(page, "python"), start=1):
        title = f"{page.name}, block {number}"
        if ">>> " in block:
            assert "" == run_examples(doctest.DocTestParser().get_doctest(block, names, title, str(page), 0))
        else:
            with contextlib.redirect_stdout(io.StringIO()) as printed:
                exec(compile(block, title, "exec"), names)  # noqa: S102
            promised = re.findall(r"^print\(.*\)  # (.*)$", block, flags=re.MULTILINE)
            shown = printed.getvalue().splitlines()
            assert len(promised) == len(shown), f"{title}: each print says beside it what it prints"
            assert [] == [pair for pair in zip(promised, shown, strict=True) if not pair[0].startswith(pair[1])]


@functools.cache
def help_of(*verb: str) -> str:
    """What `dpaudit VERB --help` prints."""
    code = "from dpaudit.cli import main; main()"
    ran = subprocess.run([sys.executable, "-c", code, *verb, "--help"], capture_output=True, text=True, check=False)
    assert 0 == ran.returncode, ran.stderr
    return ran.stdout


def options_of(command: str) -> list[str]:
    """The long options in a command line."""
    return re.findall(r"(?<=\s)--[a-z][a-z-]*", command)


def check_dev(words: list[str]) -> None:
    """A verb of the set-up script exists."""
    assert words[2] in VERBS


def check_dpaudit(words: list[str]) -> None:
    """A verb of the command line exists and has the options shown."""
    if words[1].startswith("-"):
        assert words[1] in help_of()
        return
    command = main.get_command(Context(main), words[1])
    shown = help_of(*words[1 : 3 if isinstance(command, Group) else 2])
    assert [] == [option for option in options_of(" ".join(words)) if option not in shown]


CHECKS: dict[str, Callable[[list[str]], None]] = {"python3 dev": check_dev, "dpaudit": check_dpaudit}


@pytest.mark.parametrize("command", sorted({command for page in pages() for command in commands(page)}))
def test_a_command_shown_in_a_page_exists(command: str):
    start = next((start for start in CHECKS if command.startswith(f"{start} ")), None)
    if start is not None:
        CHECKS[start](command.split())
    else:
        assert command.split(maxsplit=1)[0] in {"git", "cd", "pytest", "python3", "bash", "pip", "uv"}, command


def test_the_readme_shows_the_two_commands():
    shown = commands(ROOT / "README.md")
    assert "python3 dev audit" in shown
    assert "python3 dev test" in shown


def test_the_audit_that_a_page_shows_is_what_the_command_prints():
    """Figures included: the seed is fixed."""
    page = (ROOT / "docs" / "audit_your_own.md").read_text(encoding="utf-8")
    (shown,) = re.findall(r"^```text\n(REFUTED +half_noise .*?)^```", page, flags=re.MULTILINE | re.DOTALL)
    code = "from dpaudit.cli import main; main()"
    command = [sys.executable, "-c", code, "audit", "examples/noisy_count.py:target"]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert 1 == ran.returncode, ran.stderr
    printed = " ".join(ran.stdout.split())
    facts = re.sub(r"\n {3,}", " ", shown).splitlines()
    assert [] == [fact for fact in facts if " ".join(fact.split()) not in printed]
