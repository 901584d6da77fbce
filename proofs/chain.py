"""The proof graph of what ships: for each mechanism and learner its source, sensitivity, mechanism, composition and claim.

`python -m proofs.chain` shows which source changed since it was reviewed and which tests must run again; docs/proofs.md says
what its options do.
"""

from __future__ import annotations

import runpy
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

from dpaudit.verifier.chain import Node, check_graph, evidence_checks
from dpaudit.verifier.lemmas import LEMMAS, Lemma
from proofs import arguments, cells, learning, picking, samplers
from proofs.foundations import ARGUMENTS, SAMPLERS, SENSITIVITIES
from proofs.results import are_installed, cited_tests, describe_runs, other_libraries, read_record, test_check
from proofs.reviewed import claims_of, open_edges, staleness
from proofs.shipped import MECHANISMS

ROOT: Final = Path(__file__).resolve().parents[1]


NODES: Final[tuple[Node, ...]] = (*SAMPLERS, *SENSITIVITIES, *ARGUMENTS, *MECHANISMS, *learning.LEARNERS)
"""The whole graph."""
CLAIMS: Final = claims_of(NODES)
"""The mechanisms and learners whose claims it shows."""
LOGGED: Final[Mapping[str, tuple[str, ...]]] = {
    "AboveThreshold": ("above_threshold",),
    "AdditiveMechanism": ("staircase",),
    "DiscreteGaussianMechanism": ("discrete_gaussian",),
    "EuclideanMechanism": ("euclidean_laplace",),
    "ExponentialMechanism": ("exponential_mechanism",),
    "GaussianMechanism": ("rounded_gaussian",),
    "HistogramMechanism": ("discrete_laplace", "rounded_gaussian"),
    "LaplaceMechanism": ("discrete_laplace",),
    "NoisyMax": ("noisy_max",),
    "PartitionSelection": ("partition_selection",),
    "PermuteAndFlip": ("permute_and_flip",),
    "PrefixSums": ("rounded_gaussian",),
    "RandomizedResponse": ("randomized_response",),
    "RealGaussianMechanism": ("real_gaussian",),
    "RealLaplaceMechanism": ("real_laplace",),
    "SparseVector": ("sparse_vector",),
    "StabilityHistogram": ("stability_histogram",),
    "TopK": ("top_k",),
    "VectorMechanism": ("discrete_laplace", "euclidean_laplace", "rounded_gaussian"),
    **learning.LOGGED,
}
"""The kinds of release that each of them logs: a claim does not cover an audited function that logs others."""
ALL_LEMMAS: Final[Mapping[str, Lemma]] = {
    **LEMMAS,
    **{lemma.name: lemma for lemma in (*samplers.LEMMAS, *picking.LEMMAS, *cells.LEMMAS, *arguments.LEMMAS, *learning.LEMMAS)},
}
"""The lemmas that it may use."""


def standing(nodes: Sequence[Node] = NODES, root: Path = ROOT, *, quick: bool = False) -> dict[str, str]:
    """Check the graph again: certificates, lemmas, running proofs, results of tests, and the source that each node is about."""
    tests = test_check(root, quick=quick)
    checks = evidence_checks(root / "proofs" / "certificates", ALL_LEMMAS, tests, quick=quick)
    return check_graph(nodes, checks, staleness(root, quick=quick))


def remarks_on(root: Path = ROOT) -> Callable[[Sequence[Node]], list[tuple[str, str, str]]]:
    """Return a function that lists what a reader must know of nodes besides whether their evidence holds; files are read once."""
    record, edges = read_record(root), open_edges(root, quick=True)

    def remarks(nodes: Sequence[Node]) -> list[tuple[str, str, str]]:
        names = cited_tests(nodes)
        found = [(place, f"No stamp covers all that it reaches: {words}.", "open") for place, words in edges(nodes).items()]
        if names and not are_installed(root):
            said = f"{len(names)} tests are not installed here. They are recorded as passed on {describe_runs(record, names)}."
            found.append(("recorded tests", said, "recorded"))
        if other := other_libraries(record, names):
            found.append(("libraries", f"The tests ran with other versions ({other}); equal results are assumed.", "axiom"))
        return found

    return remarks


if __name__ == "__main__":
    # By name: the commands import this module, and an import here would close a circle.
    runpy.run_module("proofs.commands", run_name="__main__")
