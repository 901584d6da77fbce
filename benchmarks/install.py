"""Size of an installation in a bare environment, by package, and what starting costs there.

python benchmarks/install.py --output benchmarks/results

Builds the wheel of this checkout, makes an environment of the standard library alone, installs the wheel with the versions of
requirements.lock, and runs there what a newcomer runs first. Compiled files are not counted. All dependencies are required; which
of them the accounting, the proofs and the reports need is said beside each.

Needs: a package index, as pip is set up. Size: some minutes, and some hundred megabytes in a temporary folder.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
import venv
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "benchmarks")]

from measuring import Bar, bars_table, children_seconds, table, versions, write  # noqa: E402

PROOFS: Final = {"z3-solver": "proofs", "cvc5": "proofs"}
REPORTS: Final = {
    **dict.fromkeys(
        ("matplotlib", "contourpy", "cycler", "fonttools", "kiwisolver", "pillow", "pyparsing", "packaging"), "reports"
    ),
    **dict.fromkeys(("python-dateutil", "six", "jinja2", "markupsafe"), "reports"),
}
"""What is there for proofs and reports alone; the rest is the core."""

CORE_MEGABYTES: Final = 230
REPEATS: Final = 7

_SIZES: Final = """
import json
from importlib.metadata import distributions
sizes = {}
for found in distributions():
    files = [found.locate_file(file) for file in found.files or () if not str(file).endswith(".pyc")]
    size = sum(file.stat().st_size for file in files if file.is_file())
    sizes[found.metadata["Name"].lower().replace("_", "-")] = [found.version, size]
print(json.dumps(sizes))
"""

STARTS: Final = {
    "import dpaudit": (("-c", "import dpaudit"), 30),
    "dpaudit --help": (("-m", "dpaudit", "--help"), 150),
    "dpaudit --version": (("-m", "dpaudit", "--version"), 150),
    "dpaudit account 'gaussian(sigma=1)'": (("-m", "dpaudit", "account", "gaussian(sigma=1)"), 700),
}
"""What is started, and how many milliseconds it may take; an import counts without the interpreter's own start."""


def made(folder: Path, *, upgrade: bool) -> tuple[Path, float]:
    """An environment with the wheel of this checkout, and the seconds that its installation took."""
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)], cwd=ROOT, check=True, stdout=sys.stderr
    )
    venv.create(folder / "bare", with_pip=True)
    python = folder / "bare" / "bin" / "python"
    pip = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-compile"]
    if upgrade:
        subprocess.run([*pip, "--upgrade", "pip"], check=True)
    pins = folder / "pins.txt"
    lines = (ROOT / "requirements.lock").read_text(encoding="utf-8").splitlines()
    pins.write_text(
        "\n".join(line.split()[0] for line in lines if "==" in line and not line.startswith((" ", "#"))), encoding="utf-8"
    )
    begun = time.monotonic()
    subprocess.run([*pip, "--constraint", str(pins), str(next(folder.glob("*.whl")))], check=True)
    return python, time.monotonic() - begun


def started(python: Path, folder: Path, arguments: tuple[str, ...]) -> float:
    """Least milliseconds of processor time of some starts; the first, which compiles, does not count."""
    times = []
    for _ in range(REPEATS + 1):
        before = children_seconds()
        subprocess.run([str(python), *arguments], cwd=folder, check=True, stdout=subprocess.DEVNULL)
        after = children_seconds()
        times.append(1000 * (after - before))
    return min(times[1:])


def main() -> int:
    """Install, measure and print; 1 when a bar is not met."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--keep-pip", action="store_true", help="install with the pip that this Python brings")
    parser.add_argument("--output", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        python, seconds = made(folder, upgrade=not options.keep_pip)
        found = json.loads(subprocess.run([str(python), "-c", _SIZES], check=True, capture_output=True, text=True).stdout)
        bare = started(python, folder, ("-c", "pass"))
        times = {what: started(python, folder, arguments) - bare * ("import" in what) for what, (arguments, _) in STARTS.items()}
    sizes = {name: (version, size / 1e6) for name, (version, size) in found.items() if name not in {"pip", "setuptools"}}
    kinds = {name: {**PROOFS, **REPORTS}.get(name, "core") for name in sizes}
    sums = {kind: sum(size for name, (_, size) in sizes.items() if kinds[name] == kind) for kind in ("core", "proofs", "reports")}
    bars = [
        Bar("core without proofs and reports, MB", sums["core"], CORE_MEGABYTES, most=True),
        *(Bar(f"{what}, ms", times[what], limit, most=True) for what, (_, limit) in STARTS.items()),
    ]
    rows = [
        [name, version, f"{size:.1f}", kinds[name]] for name, (version, size) in sorted(sizes.items(), key=lambda one: -one[1][1])
    ]
    rows.append(["all", "", f"{sum(sums.values()):.1f}", ", ".join(f"{kind} {size:.0f}" for kind, size in sums.items())])
    text = (
        f"One wheel with everything that it requires, in an environment with nothing else; the installation took {seconds:.0f} s. "
        "Megabytes are 10^6 bytes of files, without compiled ones; milliseconds are of processor time, the least of "
        f"{REPEATS} starts.\n\n"
        f"{bars_table(bars)}\n{table(['package', 'version', 'MB', 'for'], rows)}"
    )
    record: dict[str, Any] = {
        "versions": versions(()),
        "sizes": {name: list(found) for name, found in sizes.items()},
        "milliseconds": times,
        "bars": [bar.record() for bar in bars],
    }
    write(options.output, "install", "Size and start of an installation", text, record)
    return int(not all(bar.met for bar in bars))


if __name__ == "__main__":
    sys.exit(main())
