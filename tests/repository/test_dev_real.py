"""The set-up with a real interpreter, venv and pip: from nothing, without a network, and with one that is too old."""

from __future__ import annotations

import ast
import hashlib
import importlib.machinery
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import time
import tomllib
import zipfile
from pathlib import Path

import pytest

from devtools.environment import Checkout, prepare
from devtools.failures import SetupFailure
from devtools.survey import ROOT

BACKEND = """
import zipfile

def get_requires_for_build_editable(config_settings=None):
    return []

def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    name = "small-1-py3-none-any.whl"
    files = {
        "small.pth": "",
        "small-1.dist-info/METADATA": "Metadata-Version: 2.1\\nName: small\\nVersion: 1\\n",
        "small-1.dist-info/WHEEL": "Wheel-Version: 1.0\\nGenerator: test\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n",
        "small-1.dist-info/entry_points.txt": "[console_scripts]\\nsmall = one:main\\n",
        "small-1.dist-info/RECORD": "",
    }
    with zipfile.ZipFile(wheel_directory + "/" + name, "w") as archive:
        for path, text in files.items():
            archive.writestr(path, text)
    return name
"""


@pytest.fixture
def small(tmp_path, monkeypatch) -> Checkout:
    """A real project with one locked package, which a folder offers instead of an index."""
    root, offer = tmp_path / "small project", tmp_path / "offer"
    root.mkdir()
    offer.mkdir()
    wheel = offer / "one-1-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("one.py", "def main():\n    print('one is here')\n    raise SystemExit(3)\n")
        archive.writestr("one-1.dist-info/METADATA", "Metadata-Version: 2.1\nName: one\nVersion: 1\n")
        archive.writestr("one-1.dist-info/WHEEL", "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr("one-1.dist-info/RECORD", "")
    digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
    (root / "requirements.lock").write_text(f"one==1 \\\n    --hash=sha256:{digest}\n", encoding="utf-8")
    (root / "backend.py").write_text(BACKEND, encoding="utf-8")
    (root / "pyproject.toml").write_text(
        '[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n\n[project]\nname = "small"\n'
        'version = "1"\n',
        encoding="utf-8",
    )
    for variable in [name for name in os.environ if name.startswith("PIP_")]:
        monkeypatch.delenv(variable)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(offer))
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "misleading"))
    return Checkout(root)


def test_a_real_environment_is_made_from_nothing_runs_and_is_used_again(small, capsys):
    prepare(small)
    assert ".venv is ready" in capsys.readouterr().err
    ran = subprocess.run([small.program("small")], capture_output=True, text=True, check=False)
    assert (3, "one is here\n") == (ran.returncode, ran.stdout)
    assert list(small.environment.rglob("__pycache__/one.*.pyc"))
    start = time.monotonic()
    prepare(small)
    assert "" == capsys.readouterr().err
    assert time.monotonic() - start < 1


def test_a_package_that_differs_from_the_locked_one_is_not_installed(small):
    lock = small.root / "requirements.lock"
    lock.write_text(re.sub(r"sha256:\w+", f"sha256:{'0' * 64}", lock.read_text(encoding="utf-8")), encoding="utf-8")
    with pytest.raises(SetupFailure, match="differs from the one that was locked, so nothing was installed"):
        prepare(small)
    assert [] == list(small.environment.glob("lib/python*/site-packages/one*"))


def test_without_a_network_one_sentence_says_so(small, monkeypatch):
    monkeypatch.delenv("PIP_NO_INDEX")
    monkeypatch.delenv("PIP_FIND_LINKS")
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("PIP_RETRIES", "1")
    with pytest.raises(SetupFailure, match="the package index cannot be reached; connect to the network"):
        prepare(small)


def old_interpreters() -> list[str]:
    """Interpreters on the search path that are too old and start."""
    found = [shutil.which(name) for name in ("python2", "python2.7", *(f"python3.{minor}" for minor in range(3, 11)))]
    started = [
        path for path in found if path and subprocess.run([path, "-c", ""], capture_output=True, check=False).returncode == 0
    ]
    return sorted(set(started))


def pretending(version: str, folder: Path) -> dict[str, str]:
    """Variables under which this interpreter says that it is another version."""
    (folder / "sitecustomize.py").write_text(f"import sys\nsys.version_info = {version}\n", encoding="utf-8")
    return {**os.environ, "PYTHONPATH": str(folder)}


@pytest.mark.parametrize(
    ("version", "says"),
    [
        ("(2, 7, 18)", "dev: Python 2.7 is too old, allowed are 3.11 to 3.14; use a newer one"),
        ("(3, 10, 4)", "dev: Python 3.10 is too old, allowed are 3.11 to 3.14; use a newer one"),
        ("(3, 15, 0)", "dev: Python 3.15 is newer than the locked packages"),
    ],
)
def test_a_python_outside_the_range_is_refused_in_one_sentence(tmp_path, version, says):
    ran = subprocess.run(
        [sys.executable, ROOT / "dev", "test"], env=pretending(version, tmp_path), capture_output=True, text=True, check=False
    )
    assert (2, "") == (ran.returncode, ran.stdout)
    assert ran.stderr.startswith(says)
    assert 1 == len(ran.stderr.splitlines())


def test_every_old_python_on_this_machine_can_read_the_script():
    for interpreter in old_interpreters():
        ran = subprocess.run([interpreter, ROOT / "dev", "test"], capture_output=True, text=True, check=False)
        assert (2, 1) == (ran.returncode, len(ran.stderr.splitlines())), interpreter
        assert "is too old" in ran.stderr
    assert ast.parse((ROOT / "dev").read_bytes(), feature_version=(3, 4))
    assert not re.search(rb"""\bf["']|->|:=|\bprint\b|\basync\b""", (ROOT / "dev").read_bytes())


def test_the_script_takes_the_versions_that_the_project_declares():
    loader = importlib.machinery.SourceFileLoader("dev_script", str(ROOT / "dev"))
    script = importlib.util.module_from_spec(importlib.util.spec_from_loader("dev_script", loader))
    loader.exec_module(script)
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["requires-python"]
    (oldest, newest), following = (script.OLDEST, script.NEWEST), script.NEWEST[1] + 1
    assert declared == f">={oldest[0]}.{oldest[1]},<{newest[0]}.{following}"
    assert "" == script.refusal((*oldest, 0)) == script.refusal((*newest, 9))
