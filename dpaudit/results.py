"""The results of an audit: frozen plain values, filled by the auditor, written and read by the report, recomputed by replay."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from enum import StrEnum
from fractions import Fraction
from importlib import import_module
from typing import Final

from dpaudit.exact import Enclosure
from dpaudit.plain.asked import Asked


class Verdict(StrEnum):
    """What may be said of a claim; none of them reads "private"."""

    PROVEN = "proven"
    REFUTED = "refuted"
    CONSISTENT = "consistent"
    INCONCLUSIVE = "inconclusive"
    FAILED = "failed"


class Values(StrEnum):
    """Whether a result shows values of datasets and outputs, which are private unless somebody says otherwise."""

    HIDDEN = "values of the data are not shown"
    PUBLIC = "values of the data are shown: the target declares its data public"
    ASKED = "values of the data are shown: --show-values was given"
    EARLIER = "values of the data are shown: the report is from before they could be hidden"


EXIT_CODES = {"survived": 0, "refuted": 1, "usage": 2, "inconclusive": 3, "failed": 4, "ledger": 5, "internal": 6}


@dataclass(frozen=True)
class ClaimSummary:
    """A claim as data.

    `kind` is pure_dp, approx_dp, zcdp, rdp, gdp or curve; `parameters` are its exact numbers; `tested_epsilon` (nats) and
    `tested_delta` are the point of the claimed profile that the attack tries to refute, chosen before the runs that decide.
    """

    kind: str
    parameters: tuple[tuple[str, Fraction], ...]
    adjacency: str
    text: str
    tested_epsilon: Fraction | None = None
    tested_delta: Fraction | None = None


@dataclass(frozen=True)
class Price:
    """The certified cost of the releases that one run wrote to the release log, compared with the claim.

    `quantity` names what `value` encloses, such as epsilon in nats at the claim's delta, and `limit` is what the claim allows of
    it. `status` is "within" (value.upper <= limit), "above" (value.lower > limit), "undecided", or "unpriced" (nothing logged, or
    no certified method). `releases` are a line each; `why` is the reason tree of the interval, or why there is none.
    """

    status: str
    quantity: str = ""
    value: Enclosure | None = None
    limit: Fraction | None = None
    releases: tuple[str, ...] = ()
    why: tuple[str, ...] = ()


@dataclass(frozen=True)
class Counts:
    """Hits of the chosen event: `ones` of them under label 1 and `zeros` under label 0, among `runs` runs."""

    ones: int
    zeros: int
    runs: int


@dataclass(frozen=True)
class Bound:
    """The one-binomial lower bound `epsilon` at `delta` from runs that nothing was chosen on, None where the counts give none.

    It is wrong with probability at most 1 - `confidence`; `p_value` is for "the claim holds"; `direction` is "forward" where the
    second dataset of the pair counts as label 1 in the ratio, else "reverse". Where several events were tested together, `share` of
    the error probability paid for this one. `mu` is the bound for a claim of Gaussian privacy, as likely to be right by itself.
    """

    epsilon: Fraction | None
    delta: Fraction
    confidence: Fraction
    counts: Counts
    direction: str
    p_value: float
    share: Fraction = field(default=Fraction(1), metadata={"left out": True})
    mu: Fraction | None = field(default=None, metadata={"left out": True})


@dataclass(frozen=True)
class WealthPoint:
    """Wealth of the e-process after `run` runs, as a base-10 logarithm; the claim is refuted when it reaches the threshold."""

    run: int
    log10_wealth: float


@dataclass(frozen=True)
class Sequential:
    """The e-process: bets on the label of every run from the first on.

    `stopped_at` is the run at which the wealth reached `log10_threshold`, which refutes, None if never; `p_value` is 1 / peak.
    `rejected` is the largest epsilon that these bets refute, at the tested delta; None where they refute none.
    """

    log10_wealth: float
    log10_peak: float
    log10_threshold: float
    runs: int
    stopped_at: int | None
    p_value: float
    path: tuple[WealthPoint, ...] = ()
    rejected: Fraction | None = field(default=None, metadata={"left out": True})


@dataclass(frozen=True)
class Pair:
    """A tested pair, at `index` of the candidates; `difference` is by position, not value; `witness` shows both if public."""

    index: int
    difference: str
    witness: tuple[str, str] | None = None


@dataclass(frozen=True)
class Minimal:
    """The smallest pair found on which a refuted claim still fails, with a test of its own on runs that chose nothing.

    `tried` smaller pairs were judged to find it; `runs` were made for all of it; the other fields are those of the new test.
    """

    pair: Pair
    tried: int
    refuted: bool
    bound: Bound | None
    p_value: float
    alpha: Fraction
    runs: int


@dataclass(frozen=True)
class Power:
    """The least true `epsilon` that would be refuted with this `probability`, `factor` times the claimed one; None if none is.

    `rarest` is the least probability of an output on one dataset, never given on the other, that any event would refute so.
    """

    epsilon: float | None
    factor: float | None
    probability: float = 0.9
    rarest: float | None = field(default=None, metadata={"left out": True})


@dataclass(frozen=True)
class Unread:
    """Outputs that hold something that was not read: `runs` of `of`, and its types; what it would have shown is not known."""

    runs: int
    of: int
    kinds: tuple[str, ...]


@dataclass(frozen=True)
class Screening:
    """The screening of wide outputs: `numbers` of each, seen in `runs` runs on `pairs` pairs of datasets.

    The attack tested `chosen` of them one by one, the others in sums, norms and learned scores. Every two numbers among `paired` of
    them were compared.
    """

    numbers: int
    runs: int
    chosen: int
    paired: int
    pairs: int


@dataclass(frozen=True)
class Attack:
    """The statistical attack on neighbouring datasets: the pair, the event, counts and errors.

    `plan` divides the runs into pilot (all pairs together), betting and bound; with the settings it determines the evidence, also
    where a time budget set it. `seed_path` is the target's place in the seed tree and the chosen pair. `unread` is None where all
    of every output was read, `screening` where outputs were not too wide to test every number; `searched` is the number of runs
    that a time budget allowed the search of datasets. Reports leave these out where they are None, as older ones do.
    """

    pair: Pair
    pairs_tried: int
    event: str
    sequential: Sequential
    bound: Bound | None
    power: Power
    p_value: float
    alpha: Fraction
    runs: int
    seed_path: tuple[int, ...]
    plan: tuple[int, int, int] = (0, 0, 0)
    minimal: Minimal | None = None
    unread: Unread | None = field(default=None, metadata={"left out": True})
    screening: Screening | None = field(default=None, metadata={"left out": True})
    searched: int | None = field(default=None, metadata={"left out": True})


PROPERTY_STATUSES: Final = ("violated", "not run", "note", "holds", "not applicable")
"""What a check may come to, in the order in which it wants attention."""


@dataclass(frozen=True)
class Property:
    """One check of single runs, of declared parts or of the release log; `cases` were looked at, `detail` says what was seen.

    `status` is one of `PROPERTY_STATUSES`: "not run" means that nothing is known, "note" that nothing speaks against the claim,
    "holds" that it did on every case, and "not applicable" that it cannot be stated of this target.
    """

    name: str
    status: str
    cases: int
    detail: str = ""


@dataclass(frozen=True)
class ProfilePoint:
    """Delta at `epsilon`: the largest that the claim allows, the enclosed true one, and a lower bound from the attack, or None.

    The lower bounds hold at the attack's confidence for all points at once.
    """

    epsilon: float
    claimed: float | None
    price: tuple[float, float] | None
    attack: float | None


@dataclass(frozen=True)
class ProofStep:
    """A statement that a proof rests on; `word` says on whose authority: proven, certified, enumerated, tested or axiom.

    Two more words say what is missing: recorded (tests that are not installed here) and open (code that no stamp covers).
    """

    name: str
    statement: str
    word: str


@dataclass(frozen=True)
class Proof:
    """What the proof that a target names shows of its claim, after it was checked again in the audit.

    `status` is "proven", "in part" (steps are certified, enumerated, tested, recorded or open), "refuted" (by a certified
    counterexample), "stale" (source or specification changed since) or "unknown" (see `reason`); `claim` is what it shows.
    """

    status: str
    name: str
    claim: str = ""
    reason: str = ""
    steps: tuple[ProofStep, ...] = ()


@dataclass(frozen=True)
class Samples:
    """Two samples in the place of a function: their names, how many rows each has, and how many of these were used."""

    names: tuple[str, str]
    rows: tuple[int, int]
    used: tuple[int, int]


@dataclass(frozen=True)
class Diagnosis:
    """Why a claim was refuted, where further runs on the refuting pair single out one `cause`; `why` and `repair` are sentences.

    `source` is file and line at which runs with equal random numbers part, None where that was not seen; `runs` were made to find
    all this, after the verdict and beside the runs of the attack.
    """

    cause: str
    why: str
    repair: str
    source: tuple[str, int] | None = None
    runs: int = 0


@dataclass(frozen=True)
class TargetResult:
    """Everything found about one target.

    `reference` loads it again (None for an object); `source` is file and line of its function; `failure` says why a target FAILED;
    `samples` is None where a function was run, `diagnosis` where no cause of a refutation was singled out, `most_runs` where no
    limit of the target's own ended the runs.
    """

    name: str
    description: str
    claim: ClaimSummary
    verdict: Verdict
    summary: str
    reference: str | None = None
    source: tuple[str, int] | None = None
    price: Price | None = None
    attack: Attack | None = None
    properties: tuple[Property, ...] = ()
    profile: tuple[ProfilePoint, ...] = ()
    failure: str = ""
    rejected_in_family: bool = False
    proof: Proof | None = None
    values: Values = Values.HIDDEN
    samples: Samples | None = field(default=None, metadata={"left out": True})
    diagnosis: Diagnosis | None = field(default=None, metadata={"left out": True})
    most_runs: int | None = field(default=None, metadata={"left out": True})

    @property
    def lower_bound(self) -> Bound | None:
        """The attack's lower bound on the true epsilon, None where nothing was attacked or the counts give none."""
        return None if self.attack is None else self.attack.bound

    @property
    def power(self) -> Power | None:
        """What the attack would have found, None where nothing was attacked."""
        return None if self.attack is None else self.attack.power

    def __repr__(self) -> str:
        """Name and verdict in one line; `dataclasses.asdict` gives every field."""
        return f"<TargetResult {self.name!r}: {self.verdict}>"

    def _repr_html_(self) -> str:
        return _table(self)


@dataclass(frozen=True)
class Settings:
    """What an audit is asked to do; together with the targets it determines the evidence bit for bit.

    `runs` is for each target; it is 0 where `seconds` is given for the whole audit, and each attack's `plan` has the runs. `asked`
    is what the command said of functions without a Target. Unless `stop_early` is False, a refuted claim gets 20,000 more runs for
    its bound instead of all that are left; reports that lack it are from before there was a choice.
    """

    alpha: Fraction
    runs: int
    seed: int
    family: str = "holm"
    power_target: Fraction = Fraction(5, 4)
    data: str | None = None
    seconds: Fraction | None = None
    show_values: bool = False
    asked: Asked | None = field(default=None, metadata={"left out": True})
    stop_early: bool | None = field(default=None, metadata={"left out": True})


@dataclass(frozen=True)
class Report:
    """One audit: settings, results in the order of the targets, and what is not evidence (env, seconds, left_out).

    `complete` is False where it was interrupted, and later targets are missing; `left_out` names targets that need an extra.
    """

    settings: Settings
    results: tuple[TargetResult, ...]
    env: tuple[tuple[str, str], ...] = ()
    seconds: tuple[tuple[str, float], ...] = ()
    complete: bool = True
    version: str = field(default="")
    left_out: tuple[str, ...] = ()

    @property
    def exit_code(self) -> int:
        """The process exit code of this report: refuted before failed before inconclusive before survived."""
        verdicts = {result.verdict for result in self.results}
        if Verdict.REFUTED in verdicts:
            return EXIT_CODES["refuted"]
        if Verdict.FAILED in verdicts:
            return EXIT_CODES["failed"]
        if Verdict.INCONCLUSIVE in verdicts or not self.complete or not self.results:
            return EXIT_CODES["inconclusive"]
        return EXIT_CODES["survived"]

    def __repr__(self) -> str:
        """How many claims got which verdict, in one line; `dataclasses.asdict` gives every field."""
        counts = Counter(result.verdict for result in self.results)
        refuted, total = counts.pop(Verdict.REFUTED, 0), len(self.results)
        found = f"{refuted} of {total} {'claim' if total == 1 else 'claims'} refuted" if total else "no claim was audited"
        others = [f"{counts[verdict]} {verdict}" for verdict in Verdict if counts[verdict]]
        return f"<Report: {', '.join([found, *others, *([] if self.complete else ['interrupted'])])}>"

    def _repr_html_(self) -> str:
        return _table(self)


def _table(shown: Report | TargetResult) -> str:
    """The HTML that a notebook asks a value for; found by name when it is asked, since results import nothing above them."""
    made: str = import_module("dpaudit.report.notebook").table(shown)
    return made
