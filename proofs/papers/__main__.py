"""`python -m proofs.papers`: write docs/papers.md and its drawings from benchmarks/results/papers.json, made anew with --run."""

from __future__ import annotations

import sys
from pathlib import Path

from dpaudit.cli.dossiers import decided_dossier
from dpaudit.report.dossier import from_json, to_json
from proofs.papers.chapter import write

ROOT = Path(__file__).parents[2]
RESULT = ROOT / "benchmarks" / "results" / "papers.json"

if __name__ == "__main__":
    if "--run" in sys.argv[1:]:
        RESULT.write_text(to_json(decided_dossier("papers")), encoding="ascii")
    write(from_json(RESULT.read_bytes()), ROOT / "docs")
