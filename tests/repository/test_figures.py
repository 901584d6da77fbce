"""Figures that pages quote are those of the committed results."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from typing import Any

import pytest

from devtools.survey import ROOT


@cache
def results(name: str) -> Any:
    """A table of `benchmarks/results`, as data."""
    return json.loads((ROOT / "benchmarks" / "results" / f"{name}.json").read_text(encoding="utf-8"))


def bars(name: str) -> dict[str, dict[str, Any]]:
    """The bars of a table by what they measure."""
    return {bar["what"]: bar for bar in results(name)["bars"]}


def row(name: str, part: str, **having: str) -> dict[str, Any]:
    """The one row of a table that has these values."""
    (found,) = [row for row in results(name)[part] if having.items() <= row.items()]
    return dict(found)


def sampled_gaussians() -> list[str]:
    tools = {found["tool"]: found for found in row("accounting", "jobs", job="10^4 sampled Gaussian, q .01, sigma .8")["rows"]}
    default, coarse = tools["dp-accounting, grid 1e-4 (default)"], tools["dp-accounting, grid 1e-3"]
    renyi, prv = tools["dp-accounting, RDP"], tools["prv-accountant"]
    assert [tools["dpaudit"]["errors"][0]] * 4 == tools["dpaudit"]["errors"]
    assert ["inf", "ValueError"] == [default["errors"][2], prv["errors"][2]]
    low, high = (float(end) for end in prv["errors"][0].strip("[]").split(", "))
    return [
        f"relative {tools['dpaudit']['errors'][0]}, {tools['dpaudit']['seconds'][0]:.2f} s",
        f"error {float(default['errors'][0]):+.1e}, {default['seconds'][0]:.2f} s".replace("e-0", "e-"),
        f"[{100 * low:+.1f} %, {100 * high:+.1f} %], {prv['seconds'][0]:.2f} s",
        f"({coarse['seconds'][0]:.3f} s, error {float(coarse['errors'][0]):+.1e})".replace("e-0", "e-"),
        f"({renyi['seconds'][0]:.3f} s, {100 * float(renyi['errors'][0]):+.1f} %)",
        f"Renyi {100 * float(renyi['errors'][2]):+.1f} %",
    ]


def published_bounds() -> list[str]:
    sniper = {what: bar["limit"] for what, bar in bars("auditing_campaign").items()}
    larger = sum(bar["met"] for bar in bars("auditing_campaign").values())
    sooner = sum(bars("auditing")[f"{what}, median"]["figure"] > limit for what, limit in sniper.items())
    return [f"at 4 x 10^8 runs {larger} bounds are larger than DP-Sniper's; at 10^7 runs {sooner} |", "on 20 published mechanisms"]


def catch_list() -> list[str]:
    rows = results("catch")["rows"]
    caught = sum(found["caught"] == results("catch")["settings"]["mutant_seeds"] for found in rows)
    assert not any(found["flagged"] for found in rows)
    return [f"{caught} of {len(rows)}; none of their {len(rows)} sound twins"]


def verdicts() -> list[str]:
    rows = results("verification")["rows"]
    assert [found["wanted"] for found in rows] == [found["verdict"] for found in rows]
    return [f"on {len(rows)} published programs", f"all as published, {sum(found['seconds'] for found in rows):.1f} s together"]


def noise() -> list[str]:
    laplace = row("sampling", "rates", law="discrete Laplace", scale="1000")
    real = row("float_noise", "rows", law="Laplace", scale="1")["seconds"]
    tumult, diffprivlib, numpy = (real[tool] / real["array"] for tool in ("tumult", "diffprivlib", "numpy"))
    return [
        f"{laplace['per_second']:.1e} draws/s".replace("e+0", "e"),
        f"{laplace['x opendp']:.0f} times OpenDP",
        f"{laplace['x diffprivlib']:.0f} times diffprivlib",
        f"{laplace['x tmlt.core']:,.0f} times Tumult Core",
        f"{1 / real['array']:.1e} sums/s".replace("e+0", "e"),
        f"{tumult:.0f} times Tumult Core 0.20.0, {diffprivlib:.0f} times diffprivlib",
        f"numpy is {1 / numpy:.1f} times quicker",
    ]


def choices() -> list[str]:
    many, few = results("selection")["seconds"], results("selection")["few_seconds"]
    ours = many["exponential, spread"]
    return [
        f"{many['opendp exponential, spread'] / ours:.0f} times as fast as OpenDP",
        f"{many['diffprivlib exponential, spread'] / ours:.0f} times slower",
        f"({1e6 * few['diffprivlib exponential, spread']:.0f} microseconds against {1e6 * few['exponential, spread']:.0f})",
    ]


def classifiers() -> list[str]:
    adult, digits, cancer = (row("learners", "problems", problem=name) for name in ("adult", "digits", "breast_cancer"))

    def percent(learned: Any) -> str:
        return f"{learned['accuracy'] if isinstance(learned, dict) else learned:.1f} %"

    return [
        f"{percent(adult['cells'][2])} with delta = 1e-5; {percent(adult['objective'][2])} with delta = 0",
        f"{percent(adult['peer'][2])} with delta = 0",
        *(f"{percent(small['peer'][0])} against {percent(small['objective'][0])}" for small in (digits, cancer)),
    ]


def two_processes() -> list[str]:
    found = results("throughput")["two_processes"]
    by_processor = [one["processor_alone"] / (one["driver"] + one["workers"] / 2) for one in found]
    by_clock = [found[place]["alone"] / found[place]["together"] for place in (1, 3, 0, 2)]
    return [
        *(
            f"| {one['processor_alone']:.3g} | {one['driver']:.3g} | {one['workers']:.3g} | {faster:.1f} |"
            for one, faster in zip(found, by_processor, strict=True)
        ),
        "on the clock the four were {:.1f}, {:.1f}, {:.1f} and {:.1f} times faster".format(*by_clock),
    ]


def kernels() -> list[str]:
    def accuracy(learner: str, epsilon: str) -> str:
        return f"{row('kernel_learners', 'generated', learner=learner, epsilon=epsilon)['accuracy']:.2f}".removeprefix("0")

    whole, points, literal = (accuracy(name, "1") for name in ("Gaussian process", "points, largest eigenvalue", "points, literal"))
    return [
        f"it has {whole} at epsilon 1, where values at 1,000 public points give {points} and the paper's own noise gives {literal}",
        f"at epsilon 10 it has {accuracy('choices', '10')}",
    ]


def choices_of_points() -> list[str]:
    found = row("kernel_learners", "generated", learner="choices", epsilon="10")
    return [f"choices have {100 * found['accuracy']:.0f} % at epsilon 10"]


def ledgers() -> list[str]:
    found = results("ledger")
    return [
        f"{found['durable']:.0f} charges a second were durable",
        f"made {found['alone']:.0f} transactions",
        f"{round(found['speed']['new'], -2):,.0f} charges a second, and {round(found['speed']['full'], -2):,.0f} after",
    ]


def sizes() -> list[str]:
    megabytes = {name: size for name, (_, size) in results("install")["sizes"].items()}
    return [
        f"takes {bars('install')['core without proofs and reports, MB']['figure']:.0f} MB",
        f"scikit-learn ({megabytes['scikit-learn']:.1f} MB)",
        f"cryptography ({megabytes['cryptography']:.1f} MB)",
    ]


FIGURES: list[tuple[str, Callable[[], list[str]]]] = [
    *(("README.md", given) for given in (sampled_gaussians, published_bounds, catch_list, verdicts, noise, choices, classifiers)),
    ("docs/executors.md", two_processes),
    ("docs/kernel_learners.md", kernels),
    ("docs/ledger.md", ledgers),
    ("docs/decisions/0013-what-came-out-otherwise.md", sizes),
    ("docs/experiments.md", choices_of_points),
    ("docs/asks.md", lambda: [f"[{results('install')['milliseconds']['import dpaudit']:.0f} milliseconds]"]),
]


@pytest.mark.parametrize(("page", "given"), FIGURES, ids=lambda value: value if isinstance(value, str) else "")
def test_a_page_quotes_the_results_that_are_there(page: str, given: Callable[[], list[str]]):
    text = " ".join((ROOT / page).read_text(encoding="utf-8").split())
    assert [] == [figure for figure in given() if figure not in text]
