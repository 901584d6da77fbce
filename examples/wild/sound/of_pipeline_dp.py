"""Aggregations of PipelineDP 0.3.1, on its local backend, in which nothing was found."""

# requires: pipeline-dp==0.3.1

import operator
from functools import partial

import pipeline_dp as dp
from _entry import show_table

from dpaudit.interop import from_pipeline_dp

KEYS = ["x", "y"]
FEWER = [(1, "x", 1.0), (2, "x", 0.0), (2, "y", 1.0), (4, "y", 1.0)]
MORE = [*FEWER, (3, "x", 1.0)]
EXTRACTORS = dp.DataExtractors(operator.itemgetter(0), operator.itemgetter(1), operator.itemgetter(2))
"""Persons, partitions and values of a row."""


def aggregate(rows: list[tuple[int, str, float]], backend: object, accountant: object, *, metric: object, noise: object) -> object:
    """Compute one metric by partition, for public partitions."""
    bounds = {} if metric in {dp.Metrics.COUNT, dp.Metrics.PRIVACY_ID_COUNT} else {"min_value": 0, "max_value": 1}
    params = dp.AggregateParams(
        metrics=[metric], noise_kind=noise, max_partitions_contributed=1, max_contributions_per_partition=1, **bounds
    )
    return dp.DPEngine(accountant, backend).aggregate(rows, params, EXTRACTORS, public_partitions=KEYS)


def select(rows: list[tuple[int, str, float]], backend: object, accountant: object) -> object:
    """Choose the partitions to show."""
    return dp.DPEngine(accountant, backend).select_partitions(
        rows, dp.SelectPartitionsParams(max_partitions_contributed=1), EXTRACTORS
    )


METRICS = {
    "count": dp.Metrics.COUNT,
    "persons": dp.Metrics.PRIVACY_ID_COUNT,
    "sum": dp.Metrics.SUM,
    "mean": dp.Metrics.MEAN,
    "variance": dp.Metrics.VARIANCE,
}
CELLS = [(name, dp.NoiseKind.LAPLACE, 0) for name in METRICS] + [(name, dp.NoiseKind.GAUSSIAN, "0.01") for name in ("count", "sum")]
TARGETS = [
    from_pipeline_dp(
        partial(aggregate, metric=METRICS[name], noise=noise),
        epsilon=1,
        delta=delta,
        neighbours=[(FEWER, MORE)],
        name=f"{name}, {noise.name.capitalize()}",
        public_data=True,
        most_runs=20_000,
    )
    for name, noise, delta in CELLS
] + [
    from_pipeline_dp(
        select,
        epsilon=1,
        delta="0.01",
        neighbours=[(FEWER, MORE)],
        name="select_partitions",
        public_data=True,
        most_runs=20_000,
    )
]

if __name__ == "__main__":
    show_table(TARGETS)
