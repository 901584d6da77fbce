"""A program of another language or team as an audit target: `count_program.py`, with half the noise it needs, and with all of it.

Try `dpaudit audit examples/program_count.py:target --runs 2000` (refuted) and `:corrected`.
"""

import sys
from pathlib import Path

from dpaudit import Claim, PureDP
from dpaudit.interop import from_program

PROGRAM = [sys.executable, Path(__file__).with_name("count_program.py")]
# One process gets many lines, since starting one takes far longer than a release.
given = {"claim": Claim(PureDP(epsilon=1)), "data": ["Ada", "Ben", "Cem"], "batches": True, "most_runs": 20_000}

target = from_program([*PROGRAM, "0.5"], **given, name="count_program_half")
corrected = from_program([*PROGRAM, "1"], **given, name="count_program", description="how many came?")
