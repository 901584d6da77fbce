"""Check that figures which pages quote are those of the committed results."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, Final

from devtools.survey import ROOT, Tree


@cache
def _results(name: str) -> Any:
    """A table of `benchmarks/results`, as data."""
    return json.loads((ROOT / "benchmarks" / "results" / f"{name}.json").read_text(encoding="utf-8"))


def _require(holds: bool, what: str) -> None:  # noqa: FBT001 - read as a sentence
    """Refuse results of which a page would say something that is not so."""
    if not holds:
        raise ValueError(what)


def _bars(name: str) -> dict[str, dict[str, Any]]:
    """The bars of a table by what they measure."""
    return {bar["what"]: bar for bar in _results(name)["bars"]}


def _row(name: str, part: str, **having: str) -> dict[str, Any]:
    """The one row of a table that has these values."""
    (found,) = [row for row in _results(name)[part] if having.items() <= row.items()]
    return dict(found)


def _sampled_gaussians() -> list[str]:
    """10^4 sampled Gaussians: dpaudit and the other accountants."""
    tools = {found["tool"]: found for found in _row("accounting", "jobs", job="10^4 sampled Gaussian, q .01, sigma .8")["rows"]}
    default, coarse = tools["dp-accounting, grid 1e-4 (default)"], tools["dp-accounting, grid 1e-3"]
    renyi, prv = tools["dp-accounting, RDP"], tools["prv-accountant"]
    _require(len(set(tools["dpaudit"]["errors"])) == 1, "the four errors of dpaudit are one")
    _require([default["errors"][2], prv["errors"][2]] == ["inf", "ValueError"], "two accountants give no answer")
    low, high = (float(end) for end in prv["errors"][0].strip("[]").split(", "))
    return [
        f"relative {tools['dpaudit']['errors'][0]}, {tools['dpaudit']['seconds'][0]:.2f} s",
        f"error {float(default['errors'][0]):+.1e}, {default['seconds'][0]:.2f} s".replace("e-0", "e-"),
        f"[{100 * low:+.1f} %, {100 * high:+.1f} %], {prv['seconds'][0]:.2f} s",
        f"({coarse['seconds'][0]:.3f} s, error {float(coarse['errors'][0]):+.1e})".replace("e-0", "e-"),
        f"({renyi['seconds'][0]:.3f} s, {100 * float(renyi['errors'][0]):+.1f} %)",
        f"Renyi {100 * float(renyi['errors'][2]):+.1f} %",
    ]


def _published_bounds() -> list[str]:
    """Lower bounds of the auditor and of DP-Sniper."""
    sniper = {what: bar["limit"] for what, bar in _bars("auditing_campaign").items()}
    larger = sum(bar["met"] for bar in _bars("auditing_campaign").values())
    sooner = sum(_bars("auditing")[f"{what}, median"]["figure"] > limit for what, limit in sniper.items())
    return [f"at 4 x 10^8 runs {larger} bounds are larger than DP-Sniper's; at 10^7 runs {sooner} |", "on 20 published mechanisms"]


def _catch_list() -> list[str]:
    """The broken learners of the catch list and their corrected versions."""
    rows = _results("catch")["rows"]
    caught = sum(found["caught"] == _results("catch")["settings"]["mutant_seeds"] for found in rows)
    _require(not any(found["flagged"] for found in rows), "no sound twin is flagged")
    return [f"{caught} of {len(rows)}; none of the {len(rows)} corrected versions"]


def _verdicts() -> list[str]:
    """Verdicts on the published programs."""
    rows = _results("verification")["rows"]
    decided = [found for found in rows if found["verdict"] != "unknown"]
    _require(all(found["wanted"] == found["verdict"] for found in decided), "every verdict is as published")
    open_ones, seconds = len(rows) - len(decided), sum(found["seconds"] for found in rows)
    shown = f"{len(decided)} as published and {open_ones} unknown" if open_ones else "all as published"
    return [f"on {len(rows)} published programs", f"{shown}, {seconds:.1f} s together"]


def _noise() -> list[str]:
    """Draws a second from noise samplers."""
    laplace = _row("sampling", "rates", law="discrete Laplace", scale="1000")
    real = _row("float_noise", "rows", law="Laplace", scale="1")["seconds"]
    tumult, diffprivlib, numpy = (real[tool] / real["array"] for tool in ("tumult", "diffprivlib", "numpy"))
    return [
        f"{laplace['per_second']:.1e} draws/s".replace("e+0", "e"),
        f"{laplace['x opendp']:.0f} times OpenDP",
        f"{laplace['x diffprivlib']:.0f} times diffprivlib",
        f"{laplace['x tmlt.core']:,.0f} times Tumult Core",
        f"{1 / real['array']:.1e} noisy values/s".replace("e+0", "e"),
        f"{tumult:.0f} times Tumult Core 0.20.0, {diffprivlib:.0f} times diffprivlib",
        f"numpy is {1 / numpy:.1f} times quicker",
    ]


def _choices() -> list[str]:
    """Choices among candidates, against OpenDP and diffprivlib."""
    many, few = _results("selection")["seconds"], _results("selection")["few_seconds"]
    ours = many["exponential, spread"]
    return [
        f"{many['opendp exponential, spread'] / ours:.0f} times as fast as OpenDP",
        f"{many['diffprivlib exponential, spread'] / ours:.0f} times slower",
        f"({1e6 * few['diffprivlib exponential, spread']:.0f} microseconds against {1e6 * few['exponential, spread']:.0f})",
    ]


def _classifiers() -> list[str]:
    """Accuracies of linear learners."""
    adult, digits, cancer = (_row("learners", "problems", problem=name) for name in ("adult", "digits", "breast_cancer"))

    def percent(learned: Any) -> str:
        return f"{learned['accuracy'] if isinstance(learned, dict) else learned:.1f} %"

    return [
        f"{percent(adult['cells'][2])} with delta = 1e-5; {percent(adult['objective'][2])} with delta = 0",
        f"{percent(adult['peer'][2])} with delta = 0",
        *(f"{percent(small['peer'][0])} against {percent(small['objective'][0])}" for small in (digits, cancer)),
    ]


def _two_processes() -> list[str]:
    """Audits with one process and with two."""
    found = _results("throughput")["two_processes"]
    by_processor = [one["processor_alone"] / (one["driver"] + one["workers"] / 2) for one in found]
    by_clock = [found[place]["alone"] / found[place]["together"] for place in (1, 3, 0, 2)]
    return [
        *(
            f"| {one['processor_alone']:.3g} | {one['driver']:.3g} | {one['workers']:.3g} | {faster:.1f} |"
            for one, faster in zip(found, by_processor, strict=True)
        ),
        "on the clock the four were {:.1f}, {:.1f}, {:.1f} and {:.1f} times faster".format(*by_clock),
    ]


def _kernels() -> list[str]:
    """Accuracies of kernel learners."""

    def accuracy(learner: str, epsilon: str) -> str:
        return f"{_row('kernel_learners', 'generated', learner=learner, epsilon=epsilon)['accuracy']:.2f}".removeprefix("0")

    whole, points, literal = (accuracy(name, "1") for name in ("Gaussian process", "points, largest eigenvalue", "points, literal"))
    return [
        f"it has {whole} at epsilon 1, where values at 1,000 public points give {points} and the paper's own noise gives {literal}",
        f"at epsilon 10 it has {accuracy('choices', '10')}",
    ]


def _choices_of_points() -> list[str]:
    """The accuracy of kernel choices."""
    found = _row("kernel_learners", "generated", learner="choices", epsilon="10")
    return [f"choices have {100 * found['accuracy']:.0f} % at epsilon 10"]


def _ledgers() -> list[str]:
    """Charges a second of the ledger."""
    found = _results("ledger")
    return [
        f"{found['durable']:.0f} charges a second were durable",
        f"made {found['alone']:.0f} transactions",
        f"{round(found['speed']['new'], -2):,.0f} charges a second, and {round(found['speed']['full'], -2):,.0f} after",
    ]


def _extras() -> list[str]:
    """Sizes of the core and of each extra, beyond what is there before."""
    sums: Counter[str] = Counter()
    for _, size, extra in _results("install")["sizes"].values():
        sums[extra] += size
    rows = (f'`pip install ".[{name}]"`' for name in ("proofs", "learners", "plots"))
    added = (f"+ {sums[name]:.0f} |" for name in ("proofs", "learners", "plots"))
    return [*rows, *added, f"| the core | {sums['core']:.0f} |", f"{sums.total():.0f} in all"]


def _paper_claims() -> list[str]:
    """How many claims of the papers have which verdict, and the numbers of those that are refuted somewhere."""
    from dpaudit.report.dossier import from_json, headline, second_line

    dossier = from_json((ROOT / "benchmarks" / "results" / "papers.json").read_bytes())
    return [f"{headline(dossier)}.", f"{second_line(dossier)}."]


FIGURES: Final[list[tuple[str, Callable[[], list[str]]]]] = [
    *(
        ("README.md", given)
        for given in (_sampled_gaussians, _published_bounds, _catch_list, _verdicts, _noise, _choices, _classifiers)
    ),
    ("README.md", _extras),
    ("docs/executors.md", _two_processes),
    ("docs/kernels.md", _kernels),
    ("docs/ledger.md", _ledgers),
    ("docs/maps_and_experiments.md", _choices_of_points),
    ("docs/papers.md", _paper_claims),
    ("docs/faq.md", lambda: [f"[{_results('install')['milliseconds']['import dpaudit']:.0f} milliseconds]"]),
]


def check_figures(tree: Tree) -> Iterator[str]:
    """Name each figure of the committed results that its page does not quote as it is."""
    for page, given in FIGURES:
        text = " ".join(tree.text(tree.root / page).split())
        try:
            figures = given()
        except ValueError as error:
            yield f"{page}: it is no longer so that {error}"
        else:
            yield from (f"{page}: the results say {figure!r}" for figure in figures if figure not in text)
