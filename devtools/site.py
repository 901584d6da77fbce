"""What the documentation is given when it is built: tables made from data, and pages that redirect old addresses."""

from __future__ import annotations

import importlib
import os
import sys
import tomllib
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final

from devtools.paper_map import rows_of
from devtools.survey import ROOT, Tree

MOVED: Final[Mapping[str, str]] = {
    "README": "index.html",
    "accounting": "prices.html",
    "accounting_on_the_command_line": "ci.html#prices-and-calibration",
    "api/accounting": "api.html#module-dpaudit.accounting",
    "api/auditor": "api.html#module-dpaudit.auditor",
    "api/dpaudit": "api.html#module-dpaudit",
    "api/errors": "api.html#module-dpaudit.errors",
    "api/interop": "api.html#module-dpaudit.interop",
    "api/learners": "api.html#module-learners",
    "api/ledger": "api.html#module-dpaudit.ledger",
    "api/mechanisms": "api.html#module-mechanisms",
    "api/membership": "api.html#module-dpaudit.auditor.membership",
    "api/report": "api.html#module-dpaudit.report",
    "api/verifier": "api.html#module-dpaudit.verifier",
    "asks": "faq.html",
    "attacks": "catalogue.html#attacks-on-floating-point-noise",
    "campaigns": "contributing_tests.html#long-measurements",
    "catch_list": "catalogue.html#the-catch-list",
    "choice_learners": "choices_and_perturbation.html",
    "exact_sampling": "sampling.html",
    "experiments": "maps_and_experiments.html",
    "feature_maps": "maps_and_experiments.html",
    "halfspace_learners": "halfspaces.html",
    "kernel_learners": "kernels.html",
    "laws_of_noise": "laws_and_real_noise.html",
    "learner_proofs": "proofs.html#learners",
    "learners_solvers": "linear_learners.html",
    "lemmas": "proofs.html#lemmas",
    "margin_learners": "margins.html",
    "mutants": "contributing_tests.html#seeded-faults",
    "numerical_engines": "engines.html",
    "paper_map": "papers_and_code.html",
    "perturbation_learners": "choices_and_perturbation.html",
    "proof_chain": "proofs.html",
    "public_data_learners": "public_data.html",
    "pytest": "ci.html#audits-in-pytest",
    "queries": "selection_and_queries.html",
    "real_noise": "laws_and_real_noise.html",
    "rules": "threat_model.html#design-rules",
    "selection": "selection_and_queries.html",
    "settings": "ci.html#settings-of-a-project",
    "sharp_edges": "faq.html#common-mistakes",
    "trusted_base": "proofs.html#the-trusted-base",
    "vector_noise": "vectors.html",
    "zoo": "catalogue.html#the-zoo",
}
"""Pages that were merged into others: the old name, and the address of what it held."""


def markdown_table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table in Markdown, with `|` escaped in its cells."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", r"\|") for cell in line) + " |" for line in lines) + "\n"


def _claims() -> str:
    """The claims of what ships, with how many nodes of each kind they rest on."""
    from dpaudit.verifier.chain import EVIDENCE, rests_on
    from proofs.chain import CLAIMS, NODES

    statements = {node.id: node.statement for node in NODES}
    rows = []
    for name in CLAIMS:
        found = rests_on(NODES, f"{name}.claim")
        rows.append((f"`{name}`", statements[f"{name}.claim"], *(str(len(found.get(kind, ()))) for kind in EVIDENCE)))
    return markdown_table(("released by", "claim", *EVIDENCE), rows)


def _graph() -> str:
    """Every node of the proof graph."""
    from proofs.chain import NODES

    def evidence(names: Sequence[str]) -> str:
        return "<br>".join(name.partition(":")[2].removeprefix("tests/") for name in names)

    rows = [(node.id, node.statement, node.kind, evidence(node.evidence), ", ".join(node.needs)) for node in NODES]
    return markdown_table(("node", "statement", "word", "evidence", "rests on"), rows)


def _learner_lemmas() -> str:
    """The lemmas about learners."""
    from proofs.learning import LEMMAS

    return markdown_table(("id", "statement", "a step of"), [(f"`{one.name}`", one.statement, one.source) for one in LEMMAS])


def _lemmas() -> str:
    """The lemmas, questions and inequalities that the verifier ships."""
    from dpaudit.verifier.lemmas import INEQUALITIES, LEMMAS, QUESTIONS

    rows = [
        *((one.name, one.statement, one.source) for one in LEMMAS.values()),
        *((one.name, one.statement, one.source) for one in QUESTIONS),
        *((one.name, one.statement, one.source) for one in INEQUALITIES),
    ]
    return markdown_table(("id", "statement", "source"), [(f"`{name}`", *rest) for name, *rest in rows])


def _zoo() -> str:
    """Every specimen of the zoo with its exact truths, at the claims of the two groups."""
    from dpaudit.catalogue import specimens

    groups = [{one.name: one for one in specimens(epsilon)} for epsilon in ("1/2", "1/10")]

    def least_epsilon(name: str, group: int) -> str:
        if name not in groups[group]:
            return "-"
        truth = groups[group][name].truth
        allowed = f" at delta {truth.at_delta:.4g}" if truth.at_delta else ""
        return f"{truth.epsilon:.4g} (claimed {truth.at_epsilon:.4g}){allowed}"

    rows = []
    for name in dict.fromkeys([*groups[0], *groups[1]]):
        one = groups[0].get(name) or groups[1][name]
        kind, delta = "broken" if one.broken else "sound", f"{one.truth.delta:.4g}"
        rows.append((f"`{name}`<br>{one.description} ({one.source})", kind, least_epsilon(name, 0), least_epsilon(name, 1), delta))
    header = ("specimen", "claim", "least epsilon, zoo", "least epsilon, zoo_published", "least delta")
    return markdown_table(header, rows)


def _catch_list() -> str:
    """Every defect of the catch list beside its sound twin."""
    place = str(ROOT / "tests" / "catch")
    sys.path.insert(0, place)
    try:
        defects = importlib.import_module("defects").DEFECTS
    finally:
        sys.path.remove(place)
    return markdown_table(
        ("class", "defect", "what is wrong", "the twin"), [(one.kind, f"`{one.name}`", one.wrong, one.right) for one in defects]
    )


def _overlooked() -> str:
    """Mistakes that a verifier can make, with the checks that prevent them."""
    text = (ROOT / "tests" / "verifier" / "overlooked.toml").read_text(encoding="utf-8")
    rows = [(one["what"], one["checks"], str(len(one["tests"]))) for one in tomllib.loads(text)["mistake"]]
    return markdown_table(("mistake", "checks", "tests"), rows)


def _paper_map() -> str:
    """Every published result that the project uses, and the name that implements it."""
    rows = [
        (row["paper item"], row["what it gives"], f"`{row['name']}`", f"`{row['file']}`", row["proof"])
        for row in rows_of(Tree(ROOT))
    ]
    return markdown_table(("paper item", "what it gives", "name", "file", "proof"), rows)


def _paper_claims() -> str:
    """Every privacy claim of the learners' papers with its verdict in the committed run."""
    from dpaudit.report.dossier import from_json

    items = from_json((ROOT / "benchmarks" / "results" / "papers.json").read_bytes()).items
    names = [", ".join(f"`{place.partition(':')[2]}`" for place in item.code) for item in items]
    rows = [
        (one.key, f"{one.place}: \u201c{one.quote}\u201d", one.kind, one.promised, f"{one.standing}: {one.number}", code)
        for one, code in zip(items, names, strict=True)
    ]
    return markdown_table(("item", "quotation", "kind", "in plain words", "verdict", "in the code"), rows)


TABLES: Final[Mapping[str, Callable[[], str]]] = {
    "catch_list": _catch_list,
    "claims": _claims,
    "graph": _graph,
    "learner_lemmas": _learner_lemmas,
    "lemmas": _lemmas,
    "paper_claims": _paper_claims,
    "paper_map": _paper_map,
    "overlooked": _overlooked,
    "zoo": _zoo,
}
"""What a line `<!-- table: NAME -->` of a page is replaced by."""


def redirect_page(address: str) -> str:
    """Return a page that leads to another address, in browsers and in search engines."""
    return (
        f'<!DOCTYPE html>\n<html lang="en">\n<meta charset="utf-8">\n<title>This page has moved</title>\n'
        f'<link rel="canonical" href="{address}">\n<meta http-equiv="refresh" content="0; url={address}">\n'
        f'<p>This page has moved to <a href="{address}">{address}</a>.</p>\n</html>\n'
    )


def write_redirects(folder: Path, pages: Collection[str]) -> None:
    """Write a redirecting page for every old address into a folder of HTML, given the names of the pages built into it."""
    for old, address in MOVED.items():
        to, _, section = address.partition("#")
        if to.removesuffix(".html") not in pages:
            raise LookupError(f"{old} redirects to {address}, which was not built")
        if old in pages:
            raise LookupError(f"{old} is still a page and cannot redirect to {address}")
        page = folder / f"{old}.html"
        page.parent.mkdir(exist_ok=True)
        relative = os.path.relpath(folder / to, page.parent).replace(os.sep, "/")
        page.write_text(redirect_page(f"{relative}#{section}" if section else relative), encoding="utf-8")
