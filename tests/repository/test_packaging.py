"""What is shipped: a wheel and a source archive with all four packages, and a lock file that fits the declaration."""

from __future__ import annotations

import importlib.metadata
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

from devtools.survey import PACKAGES, ROOT
from devtools.wheels import locked_packages
from dpaudit.extras import EXTRAS

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
LOCK = (ROOT / "requirements.lock").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def built(tmp_path_factory) -> tuple[Path, Path, Path]:
    """The wheel, the source archive and the copy of the checkout that the locked build tool made them from."""
    folder = tmp_path_factory.mktemp("copy")
    unwanted = shutil.ignore_patterns(".git", ".venv", "__pycache__", ".*_cache", "report")
    shutil.copytree(ROOT, folder / "checkout", ignore=unwanted, symlinks=True)
    command = [sys.executable, "-m", "hatchling", "build", "-d", str(folder)]
    subprocess.run(command, cwd=folder / "checkout", check=True, capture_output=True)
    return next(folder.glob("*.whl")), next(folder.glob("*.tar.gz")), folder / "checkout"


def test_the_wheel_holds_every_file_of_the_four_packages_and_no_other_code(built):
    names = set(zipfile.ZipFile(built[0]).namelist())
    left_out = tuple(f"{folder.strip('/')}/" for folder in PROJECT["tool"]["hatch"]["build"]["targets"]["wheel"].get("exclude", []))
    files = {
        str(path.relative_to(built[2]).as_posix())
        for package in PACKAGES
        for path in (built[2] / package).rglob("*")
        if path.is_file()
    }
    assert set(left_out) <= {"proofs/rocq/"}
    assert {name for name in files if not name.startswith(left_out)} == {name for name in names if ".dist-info/" not in name}
    assert {f"{package}/py.typed" for package in PACKAGES} <= names


def test_the_wheel_says_what_it_needs_and_what_it_offers(built):
    with zipfile.ZipFile(built[0]) as archive:
        read = {name.split("/")[-1]: archive.read(name).decode() for name in archive.namelist() if ".dist-info/" in name}
    assert "Requires-Python: <3.15,>=3.11" in read["METADATA"]
    assert "License-Expression: Apache-2.0" in read["METADATA"]
    required = [Requirement(text) for text in re.findall(r"^Requires-Dist: (.*)$", read["METADATA"], flags=re.MULTILINE)]
    core = {one.name for one in required if one.marker is None}
    assert {Requirement(text).name for text in PROJECT["project"]["dependencies"]} == core
    by_extra = {
        extra: {one.name for one in required if one.marker and one.marker.evaluate({"extra": extra})} for extra in (*EXTRAS, "all")
    }
    assert all(set(packages.values()) <= by_extra[extra] for extra, packages in EXTRAS.items())
    assert set.union(*(by_extra[extra] for extra in EXTRAS)) == by_extra["all"]
    assert set() == core & by_extra["all"]
    assert "[console_scripts]\ndpaudit = dpaudit.cli:main" in read["entry_points.txt"]
    assert "[pytest11]\ndpaudit = dpaudit.pytest_plugin" in read["entry_points.txt"]
    assert (
        "[dpaudit.targets]\nlearners = learners.targets:TARGETS\nmechanisms = mechanisms.targets:TARGETS"
        in read["entry_points.txt"]
    )


def test_the_code_runs_from_the_wheel_alone(built, tmp_path):
    with zipfile.ZipFile(built[0]) as archive:
        archive.extractall(tmp_path)  # noqa: S202 - made by this test
    code = "import dpaudit, mechanisms, learners, proofs; print(dpaudit.__file__); from dpaudit.cli import main; main()"
    ran = subprocess.run(
        [sys.executable, "-c", code, "--version"],
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert 0 == ran.returncode, ran.stderr
    assert ran.stdout.startswith(str(tmp_path / "dpaudit"))
    assert PROJECT["project"]["version"] in ran.stdout.splitlines()[-1]


def test_the_source_archive_holds_all_that_is_needed_to_test_it(built):
    with tarfile.open(built[1]) as archive:
        names = {"/".join(name.split("/")[1:]) for name in archive.getnames()}
    assert {"pyproject.toml", "requirements.lock", "dev", "devtools/verbs.py", "README.md", "CHANGELOG.md", "LICENSE"} <= names
    assert {"tests/conftest.py", "tests/repository/test_packaging.py", ".ci/run", "docs/paper_map.csv"} <= names


def test_the_versions_agree():
    from dpaudit import __version__

    assert PROJECT["project"]["version"] == __version__ == importlib.metadata.version("dpaudit")


def declared() -> list[Requirement]:
    """What the project and its development groups ask for."""
    groups = PROJECT["dependency-groups"]
    wanted = [text for name in ("test", "lint", "build") for text in groups[name]]
    extras = [text for name, texts in PROJECT["project"]["optional-dependencies"].items() if name != "all" for text in texts]
    return [Requirement(text) for text in [*PROJECT["project"]["dependencies"], *extras, *wanted]]


@pytest.mark.parametrize("requirement", declared(), ids=str)
def test_the_lock_satisfies_what_is_declared(requirement: Requirement):
    locked = {name: Requirement(line.split(";")[0]) for name, (line, _) in locked_packages(LOCK).items()}
    found = locked[canonicalize_name(requirement.name)]
    assert Version(str(found.specifier).removeprefix("==")) in requirement.specifier


def test_every_locked_package_is_pinned_and_hashed_and_no_index_is_named():
    packages = locked_packages(LOCK)
    assert len(packages) == len(re.findall(r"^\S+==", LOCK, flags=re.MULTILINE))
    for name, (line, digests) in packages.items():
        assert re.fullmatch(r"[a-z0-9-]+==[0-9][\w.]*( ; .+)?", line), name
        assert digests
        assert all(re.fullmatch(r"[0-9a-f]{64}", digest) for digest in digests), name
    assert "://" not in LOCK
    assert not re.search(r"^-", LOCK, flags=re.MULTILINE)


def test_the_lock_is_closed_every_dependency_of_a_locked_package_is_locked():
    packages = locked_packages(LOCK)
    missing = [
        f"{name} needs {text}"
        for name in packages
        for text in _needs(name)
        if canonicalize_name(Requirement(text).name) not in packages
    ]
    assert [] == missing


def _needs(name: str) -> list[str]:
    """What an installed package needs here; nothing for one that is locked for other platforms only."""
    try:
        requirements = importlib.metadata.requires(name) or []
    except importlib.metadata.PackageNotFoundError:
        return []
    return [text for text in requirements if (marker := Requirement(text).marker) is None or marker.evaluate({"extra": ""})]


def test_this_suite_runs_with_the_locked_versions():
    packages = locked_packages(LOCK)
    installed = {canonicalize_name(found.name): found.version for found in importlib.metadata.distributions()}
    differing = {
        name: installed[name]
        for name, (line, _) in packages.items()
        if name in installed and not line.startswith(f"{name}=={installed[name]}")
    }
    assert {} == differing
