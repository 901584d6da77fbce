"""The proof graph of what ships: for each mechanism and learner its source, sensitivity, mechanism, composition and claim.

`python -m proofs.chain` writes the tables of docs/proof_chain.md and docs/learner_proofs.md, and the digests of the bound source,
anew after somebody has looked at what changed.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from dpaudit.verifier.chain import EVIDENCE, Node, evidence_checks, examined, rests_on, stamp
from dpaudit.verifier.lemmas import LEMMAS, Lemma
from proofs import arguments, learning, samplers
from proofs.foundations import ARGUMENTS, SAMPLERS, SENSITIVITIES
from proofs.shipped import MECHANISMS

ROOT: Final = Path(__file__).resolve().parents[1]


NODES: Final[tuple[Node, ...]] = (*SAMPLERS, *SENSITIVITIES, *ARGUMENTS, *MECHANISMS, *learning.LEARNERS)
"""The whole graph."""
CLAIMS: Final = tuple(sorted(node.id.removesuffix(".claim") for node in NODES if node.stage == "claim"))
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
    "RandomizedResponse": ("randomized_response",),
    "RealGaussianMechanism": ("real_gaussian",),
    "RealLaplaceMechanism": ("real_laplace",),
    "SparseVector": ("sparse_vector",),
    "StabilityHistogram": ("stability_histogram",),
    "TopK": ("top_k",),
    "VectorMechanism": ("discrete_laplace", "euclidean_laplace", "rounded_gaussian"),
    **learning.LOGGED,
}
"""The kinds of release that each of them logs: an audited function that logs others is not what its claim is about."""
ALL_LEMMAS: Final[Mapping[str, Lemma]] = {
    **LEMMAS,
    **{lemma.name: lemma for lemma in (*samplers.LEMMAS, *arguments.LEMMAS, *learning.LEMMAS)},
}
"""The lemmas that it may lean on."""


def stamps(root: Path = ROOT) -> dict[str, str]:
    """The digests of all bound source as it is now.

    Args:
      root: the folder that holds the packages.
    Returns:
      SHA-256 by place, sorted.
    Raises:
      Nothing.
    Source: docs/proof_chain.md.
    Example:
      >>> len(stamps()["mechanisms/comparisons.py:Run"])
      64
    """
    return {place: stamp(root, place) for place in sorted({place for node in NODES for place in node.binds})}


def standing(nodes: Sequence[Node] = NODES, root: Path = ROOT, *, quick: bool = False) -> dict[str, str]:
    """Look at the graph again: certificates, lemmas, running proofs, and the source that each node is about.

    Args:
      nodes: the graph, or a part of it.
      root: the folder that holds packages and tests.
      quick: whether certificates are checked by the kernel alone, and tests that are not installed are passed over.
    Returns:
      For each node why it does not hold, empty where it does.
    Raises:
      Nothing that evidence could cause.
    Source: docs/proof_chain.md.
    Example:
      >>> standing(SENSITIVITIES[:1])
      {'declared': ''}
    """
    looked_at = json.loads((root / "proofs" / "bound_source.json").read_text(encoding="utf-8"))
    checks = evidence_checks(root, root / "proofs" / "certificates", ALL_LEMMAS, quick=quick)
    if quick and not (root / "tests" / "proofs").is_dir():
        checks = {**checks, "test": lambda _what: ""}
    return examined(nodes, checks, looked_at, root)


def table() -> str:
    """The table of docs/proof_chain.md.

    Args:
      None.
    Returns:
      Markdown with a line for each mechanism and one for each node.
    Raises:
      Nothing.
    Source: docs/proof_chain.md.
    Example:
      >>> table().splitlines()[0]
      '| mechanism | claim | proven | certified | enumerated | tested | axioms |'
    """
    known = {node.id: node for node in NODES}
    lines = [
        "| mechanism | claim | proven | certified | enumerated | tested | axioms |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    for name in CLAIMS:
        found = rests_on(NODES, f"{name}.claim")
        counts = " | ".join(str(len(found.get(kind, ()))) for kind in EVIDENCE if kind != "axiom")
        lines.append(f"| `{name}` | {known[f'{name}.claim'].statement} | {counts} | {', '.join(found.get('axiom', ()))} |")
    lines += ["", "| node | statement | word | evidence | rests on |", "| --- | --- | --- | --- | --- |"]
    for node in NODES:
        evidence = "<br>".join(one.partition(":")[2].removeprefix("tests/") for one in node.evidence)
        lines.append(f"| {node.id} | {node.statement} | {node.kind} | {evidence} | {', '.join(node.needs)} |")
    return "\n".join(lines) + "\n"


def lemma_table() -> str:
    """The table of docs/learner_proofs.md.

    Args:
      None.
    Returns:
      Markdown with a line for each lemma about learners.
    Raises:
      Nothing.
    Source: docs/learner_proofs.md.
    Example:
      >>> lemma_table().splitlines()[0]
      '| id | statement | a step of |'
    """
    lines = [f"| `{one.name}` | {one.statement.replace('|', chr(92) + '|')} | {one.source} |" for one in learning.LEMMAS]
    return "\n".join(["| id | statement | a step of |", "|---|---|---|", *lines]) + "\n"


def _write() -> None:
    """Write digests and tables anew."""
    (ROOT / "proofs" / "bound_source.json").write_text(json.dumps(stamps(), indent=1) + "\n", encoding="utf-8")
    for name, start, text in (("proof_chain", "| mechanism |", table()), ("learner_proofs", "| id |", lemma_table())):
        page = ROOT / "docs" / f"{name}.md"
        page.write_text(page.read_text(encoding="utf-8").partition(start)[0] + text, encoding="utf-8")


if __name__ == "__main__":
    _write()
