"""The experiments that people want to see: error against epsilon, columns and margin, certified bounds, kernels, and real records.

    python benchmarks/experiments.py --output benchmarks/results [--profile quick|full] [--data DIR] [--only NAME ...]

Each experiment is a table and a figure, `experiments_NAME.md`, `.json` and `.svg`. All draws follow from seeds, so that the same
command writes the same bytes again on the same machine and versions. `full` has twenty seeds where `quick` has three. With DIR,
records of adult and CoverType are learned from, too. What other libraries reach is measured by learners.py and read from its
results; after they have changed, `--redraw` draws the committed rows beside them.

Needs: data files, optional. Size: by the quick profile some 400 fits of at most 26,000 records.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any, Final

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "benchmarks")]

from charts import Axis, Line, chart  # noqa: E402
from experiment_jobs import ASKED, DELTA, TESTED, work  # noqa: E402
from measuring import table, versions, write  # noqa: E402
from resuming import Found, Job, results  # noqa: E402
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]  # noqa: E402

RESULTS: Final = ROOT / "benchmarks" / "results"
LINEAR: Final = (
    "PrivateClassifier",
    "MarginClassifier",
    "HalfspaceClassifier",
    "PureMarginClassifier",
    "ObjectivePerturbation",
    "no noise",
)
KERNEL: Final = (
    "Gaussian process",
    "points, largest eigenvalue",
    "points, independent",
    "points, literal",
    "choices",
    "questions one by one",
)
BOUNDED: Final = (("MarginClassifier", 17, "1/2"), ("HalfspaceClassifier", 17, "1/2"), ("PureHalfspaceClassifier", 3, "3/10"))
EPSILONS: Final = ("1/10", "1/4", "1/2", "1", "2", "4", "8")
COLUMNS: Final = (32, 256, 2048, 16384, 131072)
MARGINS: Final = ("1/20", "1/10", "1/5", "2/5", "4/5")
RECORDS: Final = tuple(10**power for power in range(2, 10))
LARGEST_NET: Final = 5
"""How many of these a net of 18,230 points may have: more margins are refused."""

KERNEL_EPSILONS: Final = ("1/10", "1", "10", "100")
STYLES: Final[dict[str, int | None]] = {
    **{name: place for place, name in enumerate(LINEAR[:-1])},
    **{name: place for place, name in enumerate(KERNEL)},
    "MarginSearch": 5,
    "PureHalfspaceClassifier": 3,
    "diffprivlib": 6,
    "no noise": None,
}
"""Which colour and marker a line has; None for a level."""

REAL_EPSILONS: Final = ("1/10", "1/2", "1", "3")
REAL: Final = ("digits", "breast_cancer")
IN_DATA: Final = ("adult", "covtype")
FITTED: Final = 10_000
FLIPPED: Final = 0.05
FLOOR: Final = 50 / TESTED
"""Where an error of 0 is drawn on a logarithmic axis, in percent: half a record of the test."""

Row = dict[str, Any]


@dataclass(frozen=True)
class Profile:
    """How much is done: seeds of fits that take milliseconds, of fits that take seconds, and records of the kernel problem."""

    seeds: int
    few: int
    kernel_records: int


PROFILES: Final = {"quick": Profile(3, 1, 10_000), "full": Profile(20, 5, 40_000)}


@dataclass(frozen=True)
class Figure:
    """What one value of the rows looks like: `stem` is added to the name of the file."""

    stem: str
    title: str
    across: Axis
    up: Axis
    lines: Callable[[list[Row]], list[Line]]


@dataclass(frozen=True)
class Experiment:
    """A question, the jobs that answer it, and how the answer is told and drawn.

    `x` is what the figure goes along, `values` the measured numbers of the table with the factor by which each is shown.
    """

    title: str
    text: str
    jobs: Callable[[Profile], Iterator[Job]]
    x: str
    values: dict[str, float]
    figures: tuple[Figure, ...]


def grid(measure: str, seeds: int, **axes: Sequence[Any]) -> Iterator[Job]:
    """Every combination of some values, each with every seed."""
    for chosen in product(*axes.values()):
        for seed in range(seeds):
            yield {"measure": measure, "seed": seed, **dict(zip(axes, chosen, strict=True))}


def against_epsilon(profile: Profile) -> Iterator[Job]:
    """Linear learners at all epsilons; without noise there is only one."""
    same: dict[str, list[Any]] = {"records": [4000], "columns": [100], "margin": ["1/5"], "flipped": [FLIPPED]}
    yield from grid("generated", profile.seeds, learner=LINEAR[:-1], epsilon=EPSILONS, **same)
    yield from grid("generated", profile.seeds, learner=LINEAR[-1:], epsilon=[""], **same)


def against_columns(profile: Profile) -> Iterator[Job]:
    """Linear learners in few and very many columns; objective perturbation only as long as its noise leaves something."""
    for job in grid(
        "generated",
        profile.seeds,
        learner=LINEAR,
        columns=COLUMNS,
        records=[4000],
        margin=["1/5"],
        flipped=[FLIPPED],
        epsilon=["1"],
    ):
        if job["learner"] != "ObjectivePerturbation" or job["columns"] <= 2048:
            yield job


def against_margin(profile: Profile) -> Iterator[Job]:
    """Linear learners that are told the margin, and one that is not told and chooses privately."""
    same: dict[str, list[Any]] = {"records": [4000], "columns": [100], "flipped": [FLIPPED], "epsilon": ["1"]}
    names = tuple(name for name in LINEAR if name != "ObjectivePerturbation")
    yield from grid("generated", profile.seeds, learner=names, margin=MARGINS, **same)
    yield from grid("generated", profile.few, learner=["MarginSearch"], margin=MARGINS, **same)


def against_bounds(profile: Profile) -> Iterator[Job]:
    """Bounds at all numbers of records, fits at those that are quickly made."""
    for name, columns, margin in BOUNDED:
        for records in RECORDS if name != "PureHalfspaceClassifier" else RECORDS[:LARGEST_NET]:
            fitted = records <= FITTED
            made = grid("bound", profile.seeds if fitted else 1, learner=[name], records=[records], columns=[columns])
            yield from ({**job, "margin": margin, "fitted": fitted} for job in made)


def kernel_answers(profile: Profile) -> Iterator[Job]:
    """Kernel learners, and their private function itself."""
    yield from grid("answers", profile.few, learner=["no noise"], epsilon=[""], records=[profile.kernel_records])
    yield from grid("answers", profile.few, learner=KERNEL, epsilon=KERNEL_EPSILONS, records=[profile.kernel_records])


def on_real(problem: str, data: str | None, profile: Profile) -> Iterator[Job]:
    """Margin learners on records of the world; what others reach there is known already."""
    names = ("MarginClassifier", "HalfspaceClassifier", "PureMarginClassifier")
    seeds = profile.seeds if data is None else profile.few
    for job in grid("real", seeds, learner=names, problem=[problem], epsilon=REAL_EPSILONS):
        yield job if data is None else {**job, "data": data}


def means(rows: list[Row], value: str, **same: Any) -> tuple[float, float]:
    """Mean of a value over the seeds and its standard error, of the rows that agree with what is given."""
    found = np.array([row[value] for row in rows if all(row[name] == wanted for name, wanted in same.items())])
    return float(found.mean()), float(found.std(ddof=1) / len(found) ** 0.5) if len(found) > 1 else 0.0


def lines(rows: list[Row], x: str, value: str = "error", scale: float = 100) -> list[Line]:
    """One line for each learner, with two standard errors; what has one value for all places becomes a level."""
    places = list(dict.fromkeys(row[x] for row in rows if row[x] != ""))
    made = []
    for name in dict.fromkeys(row["learner"] for row in rows):
        level = any(row[x] == "" for row in rows if row["learner"] == name)
        here = [place for place in places if level or any(row[x] == place for row in rows if row["learner"] == name)]
        found = [means(rows, value, learner=name, **{x: "" if level else place}) for place in here]
        errors = None if level else [2 * scale * error for _, error in found]
        made.append(Line(name, [*map(number, here)], [scale * mean for mean, _ in found], errors, STYLES[name]))
    return made


def bounds_and_errors(rows: list[Row]) -> list[Line]:
    """Bounds, hollow at 100 % where they say nothing, and beneath each what was measured, an error of 0 at the bottom."""
    made = []
    for name, _, _ in BOUNDED:
        own = [row for row in rows if row["learner"] == name]
        places = list(dict.fromkeys(row["records"] for row in own))
        certain = [next(row["bound"] for row in own if row["records"] == place) for place in places]
        vacuous = [value is None or value >= 1 for value in certain]
        shown = [100.0 if empty else 100 * value for value, empty in zip(certain, vacuous, strict=True)]
        made.append(Line(f"{name}: bound", places, shown, style=STYLES[name], hollow=vacuous))
        tried = [place for place in places if place <= FITTED]
        found = [max(100 * means(own, "error", records=place)[0], FLOOR) for place in tried]
        made.append(Line(f"{name}: measured", tried, found, style=STYLES[name], fine=True))
    return made


def beside_others(rows: list[Row]) -> list[Line]:
    """Margin learners on a real problem, and what is committed of others."""
    (problem,) = {row["problem"] for row in rows}
    known = next(
        one for one in json.loads((RESULTS / "learners.json").read_text(encoding="utf-8"))["problems"] if one["problem"] == problem
    )
    epsilons = [cell["epsilon"] for cell in known["cells"]]
    reached = {
        "PrivateClassifier": [cell["accuracy"] for cell in known["cells"]],
        "ObjectivePerturbation": known["objective"],
        "diffprivlib": known["peer"],
        "no noise": [known["ceiling"]] * len(epsilons),
    }
    others = [Line(name, epsilons, [100 - value for value in found], style=STYLES[name]) for name, found in reached.items()]
    return [*lines(rows, "epsilon"), *others]


def number(place: Any) -> float:
    """A place on an axis."""
    return float(Fraction(place))


def named(places: Iterable[Any]) -> tuple[tuple[float, str], ...]:
    """Ticks that say what a table says."""
    return tuple((number(place), f"{place:,}" if isinstance(place, int) else str(place)) for place in places)


def distances(rows: list[Row]) -> list[Line]:
    """How far answers are off, and as a level the size of what they are about."""
    told = lines([row for row in rows if row["learner"] != "no noise"], "epsilon", "off", 1)
    places = [number(place) for place in KERNEL_EPSILONS]
    return [*told, Line("the values themselves", places, [means(rows, "size", learner="no noise")[0]] * len(places))]


ERROR: Final = Axis("error on other records, %", ends=(0, 55))
EPSILON: Final = "epsilon (nats, logarithmic)"
GENERATED: Final = (
    f"Generated unit records with a margin, {100 * FLIPPED:g} % of the labels wrong, 4,000 to learn from, {TESTED:,} to test."
)
REAL_TEXT: Final = (
    f"Margin 1/10 where one is to be told; delta {DELTA} but for the pure learner. Error in percent. The figure also has what\n"
    "`learners.md` says of others: delta 1e-5, or pure (ObjectivePerturbation, diffprivlib), on splits of their own."
)
BOUNDS_TEXT: Final = (
    f"All records have the margin; epsilon 1, delta {DELTA} but for the pure learner, failure 1/20. A bound of 100 % and\n"
    "more says nothing. The first two learn in 17 columns at margin 1/2, the last in 3 at margin 3/10; at most\n"
    f"{FITTED:,} records are fitted. In percent."
)
KERNEL_TEXT: Final = (
    f"Records of the sphere of ten dimensions, a cubic kernel, ridge 1/100, delta {DELTA}. `no noise` is the private function\n"
    "itself. `off`: root of the mean square by which answers differ from it, in its own units; `size`: that of its values.\n"
    f"Questions one by one: the first {ASKED} tests; `read`: how many answers came from the records before the run was over."
)
BOUNDS_FIGURE: Final = Figure(
    "",
    "Certified bounds and measured errors",
    Axis("records (logarithmic)", log=True),
    Axis(
        "error, % (logarithmic)",
        log=True,
        ends=(FLOOR / 1.5, 160),
        ticks=((100, "100"), (10, "10"), (1, "1"), (0.1, "0.1"), (FLOOR, "0")),
    ),
    bounds_and_errors,
)
KERNEL_FIGURES: Final = (
    Figure(
        "_accuracy",
        "Accuracy of what is told about a private function",
        Axis(EPSILON, log=True, ticks=named(KERNEL_EPSILONS)),
        Axis("accuracy, %", ends=(45, 90)),
        lambda rows: lines(rows, "epsilon", "accuracy"),
    ),
    Figure(
        "_off",
        "How far answers are off",
        Axis(EPSILON, log=True, ticks=named(KERNEL_EPSILONS)),
        Axis("distance (units of f, logarithmic)", log=True),
        distances,
    ),
)


def experiments(data: Path | None) -> dict[str, Experiment]:
    """All of them by name."""
    generated = {
        "epsilon": (
            "Error against epsilon",
            f"100 columns, margin 1/5, delta {DELTA} but for the pure learners (Pure..., Objective...).",
            against_epsilon,
            Axis(EPSILON, log=True, ticks=named(EPSILONS)),
        ),
        "columns": (
            "Error against the number of columns",
            f"Margin 1/5, epsilon 1, delta {DELTA} but for the pure learners.",
            against_columns,
            Axis("columns (logarithmic)", log=True, ticks=named(COLUMNS)),
        ),
        "margin": (
            "Error against the margin",
            f"100 columns, epsilon 1, delta {DELTA} but for the pure learner. MarginSearch is not told the margin.",
            against_margin,
            Axis("margin of unit records (logarithmic)", log=True, ticks=named(MARGINS)),
        ),
    }
    made = {
        name: Experiment(
            title, f"{GENERATED} {more} Error in percent.", jobs, name, {"error": 100}, (figure_of(title, across, name),)
        )
        for name, (title, more, jobs, across) in generated.items()
    }
    made["bounds"] = Experiment(
        "Certified bounds and measured errors",
        BOUNDS_TEXT,
        against_bounds,
        "records",
        {"bound": 100, "error": 100},
        (BOUNDS_FIGURE,),
    )
    values = {"accuracy": 100.0, "off": 1.0, "size": 1.0, "read": 1.0}
    made["kernel"] = Experiment("Answers about a private function", KERNEL_TEXT, kernel_answers, "epsilon", values, KERNEL_FIGURES)
    for problem in (*REAL, *(IN_DATA if data else ())):
        title = f"Error against epsilon: {problem.replace('_', ' ')}"
        figure = Figure("", title, Axis(EPSILON, log=True, ticks=named(REAL_EPSILONS)), ERROR, beside_others)
        jobs = partial(on_real, problem, str(data) if problem in IN_DATA else None)
        made[problem] = Experiment(title, REAL_TEXT, jobs, "epsilon", {"error": 100}, (figure,))
    return made


def figure_of(title: str, across: Axis, x: str) -> Figure:
    """Errors along the figure."""
    return Figure("", title, across, ERROR, lambda rows: lines(rows, x))


def page(experiment: Experiment, rows: list[Row]) -> str:
    """The table of an experiment, one for each value."""
    places = list(dict.fromkeys(row[experiment.x] for row in rows))
    parts = [f"{experiment.text}\n"]
    for value, scale in experiment.values.items():
        body = []
        for name in dict.fromkeys(row["learner"] for row in rows if value in row):
            own = [row for row in rows if row["learner"] == name and row.get(value) is not None]
            body.append([name, *(cell(own, value, scale, {experiment.x: place}) for place in places)])
        parts.append(table([value, *(str(place) or "any" for place in places)], body))
    return "\n".join(parts)


def cell(rows: list[Row], value: str, scale: float, place: dict[str, Any]) -> str:
    """A mean and its standard error, if there is anything."""
    if not any(all(row[name] == wanted for name, wanted in place.items()) for row in rows):
        return ""
    mean, error = means(rows, value, **place)
    return f"{scale * mean:.3g} ± {scale * error:.2g}" if error > 1e-9 * abs(mean) else f"{scale * mean:.3g}"


def run(name: str, experiment: Experiment, profile: str, workers: int, output: Path | None, state: Path | None) -> bool:
    """Measure, print, write the table and the figures; whether it came to its end."""
    jobs = list(experiment.jobs(PROFILES[profile]))
    found: list[Found | None] = results(jobs, work, state=state, workers=workers, title=name)
    if None in found:
        return False
    rows = [
        {**{key: value for key, value in job.items() if key != "data"}, **dict(sorted((one or {}).items()))}
        for job, one in zip(jobs, found, strict=True)
    ]
    tell(name, experiment, {"profile": profile, "versions": versions(("numpy", "scipy", "scikit-learn")), "rows": rows}, output)
    return True


def again(name: str, experiment: Experiment, output: Path) -> bool:
    """Write the table and the figures of rows that are in the folder; whether there are any."""
    file = output / f"experiments_{name}.json"
    if file.exists():
        tell(name, experiment, json.loads(file.read_text(encoding="utf-8")), output)
    return file.exists()


def tell(name: str, experiment: Experiment, record: dict[str, Any], output: Path | None) -> None:
    """Print and write what was measured."""
    write(output, f"experiments_{name}", experiment.title, page(experiment, record["rows"]), record)
    if output is not None:
        for figure in experiment.figures:
            (output / f"experiments_{name}{figure.stem}.svg").write_text(drawn(name, figure, record["rows"]), encoding="utf-8")


def drawn(name: str, figure: Figure, rows: list[Row]) -> str:
    """A figure as the text of an SVG file."""
    description = (
        f"{figure.up.title} over {figure.across.title}, a line for each learner; the numbers are in experiments_{name}.md."
    )
    return chart(
        figure.lines(rows), figure.across, figure.up, title=figure.title, description=description, key=f"{name}{figure.stem}"
    )


def main() -> int:
    """Measure what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--profile", choices=PROFILES, default="quick")
    parser.add_argument("--data", type=Path, help="folder with the files of adult and covtype20k")
    parser.add_argument("--only", nargs="*", help="names of experiments; all unless given")
    parser.add_argument("--workers", type=int, default=1, help="processes; no figure depends on it")
    parser.add_argument("--state", type=Path, help="file to which every result is added, and from which a later start goes on")
    parser.add_argument("--output", type=Path, help="folder for the tables and figures")
    parser.add_argument("--redraw", action="store_true", help="measure nothing: draw what is in the output folder again")
    options = parser.parse_args()
    known = experiments(options.output if options.redraw else options.data)
    if options.redraw:
        if options.output is None:
            parser.error("--redraw needs --output, the folder that has the tables")
        there = [again(name, known[name], options.output) for name in options.only or known]
        return 0 if all(there) else 1
    with threadpool_limits(1):  # how sums are split among threads shows in their last digit
        done = [
            run(name, known[name], options.profile, options.workers, options.output, options.state)
            for name in options.only or known
        ]
    return 0 if all(done) else 130


if __name__ == "__main__":
    sys.exit(main())
