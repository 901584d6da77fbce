"""Size of an installation in a bare environment, by package, and what starting costs there.

python benchmarks/install.py --output benchmarks/results

Builds the wheel of this checkout, makes an environment of the standard library alone, installs the core there with the versions of
requirements.lock, and runs what a newcomer runs first. Then each extra is added in turn; what came with it is its size, beyond all
that was there before. Compiled files are not counted.

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

from dpaudit.extras import EXTRAS  # noqa: E402

CORE_MEGABYTES: Final = 240
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


def built(folder: Path) -> Path:
    """The wheel of this checkout."""
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)], cwd=ROOT, check=True, stdout=sys.stderr
    )
    return next(folder.glob("*.whl"))


def bare(folder: Path, *, upgrade: bool) -> Path:
    """The interpreter of an environment with nothing but pip in it."""
    venv.create(folder / "bare", with_pip=True)
    python = folder / "bare" / "bin" / "python"
    if upgrade:
        install(python, "--upgrade", "pip")
    return python


def install(python: Path, *arguments: str) -> float:
    """Install with pip; the seconds that it took."""
    begun = time.monotonic()
    subprocess.run(
        [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-compile", *arguments], check=True
    )
    return time.monotonic() - begun


def pins(folder: Path) -> Path:
    """The versions of requirements.lock, as pip's constraints."""
    file = folder / "pins.txt"
    lines = (ROOT / "requirements.lock").read_text(encoding="utf-8").splitlines()
    file.write_text(
        "\n".join(line.split()[0] for line in lines if "==" in line and not line.startswith((" ", "#"))), encoding="utf-8"
    )
    return file


def sizes(python: Path) -> dict[str, tuple[str, float]]:
    """Version and megabytes of each package that is installed, but for pip."""
    text = subprocess.run([str(python), "-c", _SIZES], check=True, capture_output=True, text=True).stdout
    found = {name: (version, size / 1e6) for name, (version, size) in json.loads(text).items()}
    return {name: one for name, one in found.items() if name not in {"pip", "setuptools"}}


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
    kinds: dict[str, str] = {}
    found: dict[str, tuple[str, float]] = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        wheel, python, pinned = built(folder), bare(folder, upgrade=not options.keep_pip), str(pins(folder))
        seconds = install(python, "--constraint", pinned, str(wheel))
        found = sizes(python)
        kinds = dict.fromkeys(found, "core")
        base = started(python, folder, ("-c", "pass"))
        times = {what: started(python, folder, arguments) - base * ("import" in what) for what, (arguments, _) in STARTS.items()}
        for extra in EXTRAS:
            install(python, "--constraint", pinned, f"{wheel}[{extra}]")
            found = {**sizes(python), **found}
            kinds = {name: kinds.get(name, extra) for name in found}
    sums = {kind: sum(size for name, (_, size) in found.items() if kinds[name] == kind) for kind in ("core", *EXTRAS)}
    bars = [
        Bar("core, MB", sums["core"], CORE_MEGABYTES, most=True),
        *(Bar(f"{what}, ms", times[what], limit, most=True) for what, (_, limit) in STARTS.items()),
    ]
    rows = [
        [name, version, f"{size:.1f}", kinds[name]] for name, (version, size) in sorted(found.items(), key=lambda one: -one[1][1])
    ]
    rows.append(["all", "", f"{sum(sums.values()):.1f}", ", ".join(f"{kind} {size:.0f}" for kind, size in sums.items())])
    text = (
        f"The core in an environment with nothing else, which took {seconds:.0f} s to install, then each extra in turn. Megabytes "
        "are 10^6 bytes of files, without compiled ones; milliseconds are of processor time, the least of "
        f"{REPEATS} starts.\n\n"
        f"{bars_table(bars)}\n{table(['package', 'version', 'MB', 'for'], rows)}"
    )
    record: dict[str, Any] = {
        "versions": versions(()),
        "sizes": {name: [version, size, kinds[name]] for name, (version, size) in found.items()},
        "milliseconds": times,
        "bars": [bar.record() for bar in bars],
    }
    write(options.output, "install", "Size and start of an installation", text, record)
    return int(not all(bar.met for bar in bars))


if __name__ == "__main__":
    sys.exit(main())
