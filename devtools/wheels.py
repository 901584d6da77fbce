"""Whether the packages of requirements.lock can be installed without a compiler on every supported Python."""

from __future__ import annotations

import json
import re
import subprocess
import tempfile
from pathlib import Path
from typing import Final

from devtools.environment import Checkout, clean_environment

PYTHONS: Final = ("3.11", "3.12", "3.13", "3.14")
PLATFORMS: Final = tuple(f"manylinux{tag}_x86_64" for tag in ("1", "2010", "2014", "_2_17", "_2_24", "_2_26", "_2_27", "_2_28"))


def locked_packages(text: str) -> dict[str, tuple[str, frozenset[str]]]:
    """Requirement line (name, version, marker) and SHA-256 digests of each package in the text of a lock file, by name."""
    packages: dict[str, tuple[str, frozenset[str]]] = {}
    for block in re.split(r"\n(?=\S)", text.strip()):
        requirement, *hashes = (part.strip() for part in block.split("\\\n"))
        name = re.split(r"[=<>!~ ;\[]", requirement, maxsplit=1)[0]
        packages[name] = (requirement, frozenset(line.removeprefix("--hash=sha256:") for line in hashes))
    return packages


def missing_wheels(checkout: Checkout) -> list[str]:
    """One line for each package and Python for which the index has no wheel among the locked files; empty when all is well.

    Needs the network. Nothing is installed; every package that applies to CPython on 64-bit Linux is asked for by version.
    """
    packages = locked_packages((checkout.root / "requirements.lock").read_text(encoding="utf-8"))
    return [line for version in PYTHONS for line in _missing_for(version, packages, checkout)]


def _missing_for(version: str, packages: dict[str, tuple[str, frozenset[str]]], checkout: Checkout) -> list[str]:
    """What is missing for one Python version."""
    with tempfile.TemporaryDirectory() as folder:
        wanted = Path(folder, "wanted.txt")
        wanted.write_text("\n".join(requirement for requirement, _ in packages.values()), encoding="utf-8")
        platforms = [part for platform in PLATFORMS for part in ("--platform", platform)]
        asked = subprocess.run(
            [
                checkout.program("python"), "-m", "pip", "install", "--dry-run", "--quiet", "--no-deps", "--ignore-installed",
                "--report", "-", "--target", folder, "--only-binary", ":all:", "--python-version", version, *platforms,
                "--disable-pip-version-check", "-r", str(wanted),
            ],
            check=False, capture_output=True, text=True, env=clean_environment(),
        )  # fmt: skip
    if asked.returncode:
        errors = [line for line in asked.stderr.splitlines() if line.startswith("ERROR:")]
        return [f"Python {version}: {line.removeprefix('ERROR:').strip()}" for line in errors or ["pip failed without a message"]]
    lines = []
    for entry in json.loads(asked.stdout)["install"]:
        name = str(entry["metadata"]["name"]).lower().replace("_", "-").replace(".", "-")
        digest = entry["download_info"]["archive_info"]["hashes"]["sha256"]
        if digest not in packages[name][1]:
            lines.append(f"Python {version}: the wheel of {name} is not among the locked files")
    return lines
