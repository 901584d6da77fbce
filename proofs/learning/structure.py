"""The chain of what is learned without labels: one second moment for directions, noisy sums and counts for clusters."""

from __future__ import annotations

from typing import Final

from proofs.nodes import TESTS, code, fitted_claim, sensitivity, source

_FITS: Final = f"{TESTS}structure/test_structure.py::test_"
_RANGES: Final = f"{TESTS}structure/test_ranges.py::test_"

NODES: Final = (
    sensitivity(
        "clusters",
        "A record is in one cluster: it moves the sums with their counts by at most the planned sensitivity, whatever the centres.",
        f"{_FITS}one_record_moves_the_clusters_by_no_more_than_their_sensitivity",
        needs=("rows.sums", "rows.norms"),
        binds=code("learners/structure/kmeans.py", "cluster_sensitivity", "sum_clusters"),
    ),
    source(
        "PrivatePCA.source",
        "A fit is one noisy second moment; directions, variances and means are computed from it.",
        f"{_FITS}one_record_moves_the_moment_by_no_more_than_its_sensitivity",
        f"{_FITS}exactly_what_was_planned_is_released_at_the_price_that_was_asked_for",
        f"{_FITS}fits_depend_on_what_was_released_alone",
        needs=("GaussianMechanism.source", "moments", "rounding"),
        binds=(
            *code("learners/structure/moments.py", "moment_triangle", "release_moments"),
            *code("learners/structure/pca.py", "MomentPlan", "moment_plan", "PrivatePCA"),
            *code("learners/structure/unlabelled.py", "UnlabelledModel"),
        ),
    ),
    fitted_claim(
        "PrivatePCA",
        "(epsilon, delta), the price of one Gaussian release.",
        needs=("GaussianMechanism.mechanism",),
    ),
    source(
        "PrivateKMeans.source",
        "A fit is a noisy second moment and the planned sums of clusters; centres are computed from them.",
        f"{_FITS}exactly_what_was_planned_is_released_at_the_price_that_was_asked_for",
        f"{_FITS}fits_depend_on_what_was_released_alone",
        needs=("GaussianMechanism.source", "moments", "clusters", "rounding"),
        binds=(
            *code("learners/structure/kmeans.py", "ClusterPlan", "cluster_plan", "first_centres", "PrivateKMeans"),
            *code("learners/structure/moments.py", "release_moments"),
        ),
    ),
    fitted_claim(
        "PrivateKMeans",
        "(epsilon, delta), the composition of the planned Gaussian releases.",
        needs=("GaussianMechanism.mechanism",),
    ),
    source(
        "PrivateRanges.source",
        "A fit is one noisy histogram of all columns; ranges are computed from it.",
        f"{_RANGES}one_record_moves_the_counts_by_no_more_than_their_sensitivity",
        f"{_RANGES}exactly_what_was_planned_is_released",
        needs=("GaussianMechanism.source", "counts.binned", "columns", "rounding"),
        binds=code(
            "learners/structure/ranges.py",
            "RangesPlan",
            "PrivateRanges",
            "ranges_plan",
            "range_rows",
            "sum_bins",
            "bin_edges",
            "_code",
        ),
    ),
    fitted_claim(
        "PrivateRanges",
        "(epsilon, delta), the price of one Gaussian release.",
        needs=("GaussianMechanism.mechanism",),
    ),
)
"""Principal directions, clusters and ranges."""
