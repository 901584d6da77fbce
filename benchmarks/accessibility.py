"""What axe-core finds in reports, in headless Chromium: phone and desktop, light and dark, with everything unfolded.

    npm install --prefix /tmp/axe axe-core
    python benchmarks/accessibility.py --axe /tmp/axe/node_modules/axe-core/axe.min.js --output benchmarks/results
    python benchmarks/accessibility.py --picture build/report.png      a picture of the first page, no axe

Four pages: reports of three targets, of which one is refuted, and of one with every verdict, the page of `dpaudit diff` on
reports in which verdicts rise and fall and targets come and go, and the page of a ledger. axe runs inside frames of the widths
that are asked for, since a window cannot be narrower than 500 pixels; a frame's page differs from the written one in three
things: it may run scripts, its `details` are open, and it takes the asked colour scheme for the reader's.

Needs: Chromium, and axe-core from npm. Size: three targets of 200,000 runs, 16 pages.
"""

from __future__ import annotations

import argparse
import html
import json
import re
import shutil
import subprocess
import tempfile
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from measuring import Bar, bars_table, table, versions, write

from dpaudit import ApproxDP, PureDP, Verdict, audit
from dpaudit.errors import LedgerFailure
from dpaudit.ledger import Ledger, anchors_of, overview, write_anchor
from dpaudit.report import to_html
from dpaudit.report.difference import to_html as difference_page
from dpaudit.report.ledger_page import ledger_html
from dpaudit.results import Report
from mechanisms import LaplaceMechanism

TARGETS: Final = ("broken_noise", "examples/noisy_count.py:corrected", "cancer_count")
WIDTHS: Final = (390, 1280)
SCHEMES: Final = ("light", "dark")
GRAVE: Final = ("serious", "critical")
CHROMIUM: Final = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--virtual-time-budget=60000", "--hide-scrollbars",
)  # fmt: skip
LEFT_OUT: Final = """
main > section:not(#t1), .target > h3, .target > .pairs, .target > .checks, .target > pre, details, footer, pre ~ p,
.target > p:not(.lead) { display: none; }
"""
JUDGE: Final = """
axe.run(document).then(found => {
  const short = list => list.map(rule => [rule.impact, rule.id, rule.nodes.length]);
  const root = document.documentElement;
  frameElement.dataset.found = JSON.stringify({
    version: axe.version, rules: found.passes.length, violations: short(found.violations), open: short(found.incomplete),
    overflow: Math.max(0, root.scrollWidth - root.clientWidth),
  });
});
"""


def reports() -> dict[str, Report]:
    """The reports to look at, by name."""
    real = audit(list(TARGETS), alpha="1e-3", runs=200_000, seed=1)
    first = real.results[0]
    every = tuple(
        replace(
            first,
            name=f"made_up_{'_with_a_long_name' * 3}_to_be_{verdict}",
            verdict=verdict,
            failure="DPA405" * (verdict is Verdict.FAILED),
        )
        for verdict in Verdict
    )
    return {"three targets": real, "every verdict": replace(real, results=every, complete=False)}


def pages_of(found: dict[str, Report]) -> dict[str, str]:
    """The pages to look at, by name: every report, and one that is set against another."""
    every, real = found["every verdict"].results, found["three targets"].results
    after = tuple(replace(one, name=other.name) for one, other in zip((*real, real[1]), every, strict=False))
    later = replace(found["three targets"], results=(*after, *real))
    return {name: to_html(report) for name, report in found.items()} | {
        "before and after": difference_page(found["every verdict"], later),
        "ledger": ledger_html(ledger()),
    }


def ledger() -> dict[str, Any]:
    """A ledger with everything that its page can show."""
    noise = LaplaceMechanism(scale=16, sensitivity=1)
    with tempfile.TemporaryDirectory() as folder:
        made = Ledger.create(f"{folder}/budget.ledger")
        made.open_budget("survey/person", ApproxDP(1, "1e-6"))
        made.open_budget("survey/person/report", PureDP("1/2"))
        for _ in range(3):
            made.spend(noise, scope="survey/person/report", key="a")
        with suppress(LedgerFailure), made.charge(noise, scope="survey/person/report"):
            noise.releases(1, 9)
        write_anchor(f"{folder}/budget.ledger", f"{folder}/anchors")
        plan = [("survey/person/dashboard", noise), ("survey/person/report", PureDP(9))]
        return overview(f"{folder}/budget.ledger", planned=plan, anchors=anchors_of(f"{folder}/anchors"))


def framed(page: str, width: int, scheme: str, axe: str) -> str:
    """The report in a frame of that width, in which axe runs."""
    page = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", page)
    page = page.replace("<details>", "<details open>")
    page = page.replace("(prefers-color-scheme: dark)", "all" if scheme == "dark" else "not all")
    page = page.replace("color-scheme: light dark", f"color-scheme: {scheme}")
    page = page.replace("</body>", f"<script>{axe}</script><script>{JUDGE}</script></body>")
    return f'<iframe title="report" width="{width}" height="900" srcdoc="{html.escape(page)}"></iframe>'


def judged(frames: list[str], chromium: str) -> list[dict[str, Any]]:
    """What axe found in each of the frames, which the browser opens all at once."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "page.html")
        file.write_text(
            f"<!DOCTYPE html><html lang='en'><title>Report</title><body>{''.join(frames)}</body></html>", encoding="utf-8"
        )
        command = [chromium, *CHROMIUM, "--dump-dom", f"--user-data-dir={folder}/profile", file.as_uri()]
        shown = subprocess.run(command, check=True, capture_output=True, text=True, timeout=900).stdout
    found = [json.loads(html.unescape(text)) for text in re.findall(r'data-found="([^"]*)"', shown)]
    if len(found) < len(frames):
        raise SystemExit(f"axe answered for {len(found)} of {len(frames)} pages; is the file that --axe names axe.min.js?")
    return found


def picture(page: str, chromium: str, to: Path) -> None:
    """The head of a page and the figures of its first target, as a small PNG."""
    from PIL import Image, ImageChops

    page = page.replace("color-scheme: light dark", "color-scheme: light").replace("(prefers-color-scheme: dark)", "not all")
    with tempfile.TemporaryDirectory() as folder:
        file, shot = Path(folder, "page.html"), Path(folder, "shot.png")
        file.write_text(page.replace("</style>", f"{LEFT_OUT}</style>"), encoding="utf-8")
        size = ("--window-size=1200,2000", f"--screenshot={shot}", f"--user-data-dir={folder}/profile")
        subprocess.run([chromium, *CHROMIUM, *size, file.as_uri()], check=True, capture_output=True, timeout=900)
        image = Image.open(shot).convert("RGB")
    _, _, _, bottom = ImageChops.difference(image, Image.new("RGB", image.size, "white")).getbbox() or (0, 0, 0, 1)
    image.crop((0, 0, image.width, bottom + 24)).quantize(64).save(to, optimize=True)


def main() -> int:
    """Judge every report at every width in every scheme; 1 when a bar is missed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--axe", type=Path, help="axe.min.js of the npm package axe-core")
    parser.add_argument("--picture", type=Path, help="PNG to make of the report of three targets")
    parser.add_argument("--chromium", default=shutil.which("chromium") or "google-chrome", help="the browser")
    parser.add_argument("--output", type=Path, help="folder for accessibility.md and accessibility.json")
    options = parser.parse_args()
    pages = pages_of(reports())
    if options.picture is not None:
        picture(pages["three targets"], options.chromium, options.picture)
        return 0
    if options.axe is None:
        parser.error("nothing to do: give --axe or --picture")
    axe = options.axe.read_text(encoding="utf-8")
    asked = [(name, width, scheme) for name in pages for width in WIDTHS for scheme in SCHEMES]
    said = judged([framed(pages[name], width, scheme, axe) for name, width, scheme in asked], options.chromium)
    found = [dict(zip(("report", "width", "scheme"), place, strict=True)) | one for place, one in zip(asked, said, strict=True)]
    kilobytes = len(pages["three targets"].encode()) / 1000
    grave = sum(count for one in found for impact, _, count in one["violations"] if impact in GRAVE)
    bars = [
        Bar("serious or critical findings", grave, 0, most=True),
        Bar("any findings", sum(len(one["violations"]) for one in found), 0, most=True),
        Bar("pixels by which a page is wider than its window", max(one["overflow"] for one in found), 0, most=True),
        Bar("page of three targets, kB", kilobytes, 300, most=True),
    ]
    head = ("report", "width", "scheme", "rules that hold", "findings", "left open by axe")
    rows = [
        [one["report"], str(one["width"]), one["scheme"], str(one["rules"]), _names(one["violations"]), _names(one["open"])]
        for one in found
    ]
    seen = subprocess.run([options.chromium, "--version"], check=True, capture_output=True, text=True).stdout.strip()
    used = versions(["dpaudit", "matplotlib", "jinja2"]) | {"axe-core": found[0]["version"], "browser": seen}
    notes = (
        "What axe leaves open is the contrast of texts in drawings and of what is scrolled out of sight, whose background it "
        "does not compute; `tests/report/test_page.py` computes the contrast of every pair of colours instead.\n\n"
    )
    text = f"{table(head, rows)}\n{notes}{bars_table(bars)}\n{', '.join(f'{name} {value}' for name, value in used.items())}\n"
    record = {"pages": found, "bars": [bar.record() for bar in bars], "versions": used}
    write(options.output, "accessibility", "Accessibility of the report", text, record)
    return 0 if all(bar.met for bar in bars) else 1


def _names(rules: list[list[Any]]) -> str:
    """Rules by name, each with the number of elements, or none."""
    return ", ".join(f"{name} ({count})" for _, name, count in rules) or "none"


if __name__ == "__main__":
    raise SystemExit(main())
