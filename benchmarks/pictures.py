"""The pictures in the documentation, made by running what they show.

    python benchmarks/pictures.py --output docs/pictures

`first_screen.svg` is what `dpaudit audit` prints, `page_1280.png` and `page_390.png` the top of its page in two widths,
`one_target.png` what the page says of one refuted claim, and `pytest_failure.svg` a test that an audit fails.

Needs: Chromium, and Pillow, which the extra `plots` brings. Size: twelve targets of 100,000 runs and a test, a minute on two cores.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final

from dpaudit.report import read_report, to_html, to_text

COLUMNS: Final = 120
HEIGHTS: Final = {1280: 1180, 390: 1100}
TARGET: Final = "count_swapped_scale"
CHROMIUM: Final = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--hide-scrollbars",
)
ALONE: Final = (
    "main > section:not(#t1), main > table, header, .target > h3, .target > pre, details, footer, pre ~ p { display: none; }"
)
"""What hides all of a page but its first target, folded."""

TEST: Final = """from dpaudit import Claim, PureDP, Target


def noisy_count(people, rng):
    return len(people) + rng.laplace(scale=0.5)


def test_the_count_keeps_its_promise(dpaudit_check):
    dpaudit_check(Target(run=noisy_count, claim=Claim(PureDP(epsilon=1)), data=[31, 54, 27, 42]), runs=20_000)
"""


def run(command: list[str], folder: Path) -> str:
    """Run a command and return what it prints; its exit code is not looked at, since audits that refute end with 1."""
    variables = os.environ | {"COLUMNS": str(COLUMNS), "FORCE_COLOR": "1"}
    return subprocess.run(command, cwd=folder, env=variables, capture_output=True, text=True, check=False).stdout


def draw_terminal(command: str, text: str, path: Path) -> None:
    """Write a terminal with a command and its output as SVG."""
    from rich.console import Console
    from rich.text import Text

    with Path(os.devnull).open("w", encoding="utf-8") as nowhere:
        console = Console(record=True, width=COLUMNS, file=nowhere, force_terminal=True)
        console.print(f"$ {command}", highlight=False)
        console.print(Text.from_ansi(text), highlight=False)
        path.write_text(console.export_svg(title="dpaudit"), encoding="utf-8")


def photograph(page: str, width: int, height: int, chromium: str, path: Path, *, hide: str = "") -> None:
    """Write the top of a page, in light colours and without the empty rest, as a small PNG."""
    from PIL import Image, ImageChops

    page = page.replace("color-scheme: light dark", "color-scheme: light").replace("(prefers-color-scheme: dark)", "not all")
    with tempfile.TemporaryDirectory() as folder:
        file, shot = Path(folder, "page.html"), Path(folder, "shot.png")
        file.write_text(page.replace("</style>", f"{hide}</style>"), encoding="utf-8")
        size = (f"--window-size={width},{height}", f"--screenshot={shot}", f"--user-data-dir={folder}/profile")
        subprocess.run([chromium, *CHROMIUM, *size, file.as_uri()], check=True, capture_output=True, timeout=300)
        image = Image.open(shot).convert("RGB")
    _, _, _, bottom = ImageChops.difference(image, Image.new("RGB", image.size, "white")).getbbox() or (0, 0, 0, 1)
    image.crop((0, 0, image.width, min(bottom + 24, image.height))).quantize(64).save(path, optimize=True)


def main() -> int:
    """Make every picture."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--output", type=Path, required=True, help="folder for the pictures")
    parser.add_argument("--chromium", default=shutil.which("chromium") or "google-chrome", help="the browser")
    options = parser.parse_args()
    options.output.mkdir(parents=True, exist_ok=True)
    program = str(Path(sys.executable).with_name("dpaudit"))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        run([program, "audit", "--jobs", "2", "--report", "report"], folder)
        report = read_report(folder / "report" / "report.json")
        shown = to_text(report, width=COLUMNS, colour=True, path="report/report.json")
        draw_terminal("dpaudit audit --report report", shown, options.output / "first_screen.svg")
        page = to_html(report)
        for width, height in HEIGHTS.items():
            photograph(page, width, height, options.chromium, options.output / f"page_{width}.png")
        one = to_html(
            type(report)(report.settings, tuple(found for found in report.results if found.name == TARGET), version=report.version)
        )
        photograph(one, 1200, 1600, options.chromium, options.output / "one_target.png", hide=ALONE)
        (folder / "test_count.py").write_text(TEST, encoding="utf-8")
        failed = run([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--color=yes", "test_count.py"], folder)
        draw_terminal("pytest -q test_count.py", failed, options.output / "pytest_failure.svg")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
