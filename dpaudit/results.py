"""What an audit found: frozen plain values, filled by the auditor, written and read by the report, recomputed by replay."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from fractions import Fraction
from typing import Final

from dpaudit.exact import Enclosure


class Verdict(StrEnum):
    """What may be said of a claim; none of them reads "private"."""

    PROVEN = "proven"
    REFUTED = "refuted"
    CONSISTENT = "consistent"
    INCONCLUSIVE = "inconclusive"
    FAILED = "failed"


class Values(StrEnum):
    """What a result says of the values of datasets and outputs in it, which are private unless somebody says otherwise."""

    HIDDEN = "values of the data are not shown"
    PUBLIC = "values of the data are shown: the target declares its data public"
    ASKED = "values of the data are shown: --show-values was given"


EXIT_CODES = {"survived": 0, "refuted": 1, "usage": 2, "inconclusive": 3, "failed": 4, "ledger": 5, "internal": 6}


@dataclass(frozen=True)
class ClaimSummary:
    """A claim as data.

    `kind` is pure_dp, approx_dp, zcdp, rdp, gdp or curve; `parameters` are its exact numbers by name;
    `text` is the claim in a few words; `tested_epsilon`, `tested_delta` are the point of the claimed profile that
    the attack tries to refute (epsilon in nats; delta 0 for pure claims), chosen before the runs that decide.
    """

    kind: str
    parameters: tuple[tuple[str, Fraction], ...]
    adjacency: str
    text: str
    tested_epsilon: Fraction | None = None
    tested_delta: Fraction | None = None


@dataclass(frozen=True)
class Price:
    """The certified cost of the releases that one run wrote to the release log, set against the claim.

    `quantity` names what `value` encloses (epsilon in nats at the claim's delta, or delta at the claim's epsilon ...);
    `limit` is what the claim allows of it; `status` is "within" (value.upper <= limit), "above" (value.lower > limit),
    "undecided" (the limit lies inside the interval) or "unpriced" (nothing logged, or no certified method: see `why`).
    `releases` describes what was logged, one line each; `why` is the reason tree of the interval.
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
    """The one-binomial lower bound from runs that nothing was chosen on.

    `epsilon` is a lower bound on the true epsilon at `delta`, wrong with probability at most 1 - `confidence`, None
    where the counts give none; `p_value` is for "the claim holds"; `direction` says which dataset of the pair
    counts as label 1 in the ratio: "forward" (second over first) or "reverse".
    """

    epsilon: Fraction | None
    delta: Fraction
    confidence: Fraction
    counts: Counts
    direction: str
    p_value: float


@dataclass(frozen=True)
class WealthPoint:
    """Wealth of the e-process after `run` runs, as a base-10 logarithm; the claim is refuted when it reaches the threshold."""

    run: int
    log10_wealth: float


@dataclass(frozen=True)
class Sequential:
    """The e-process: bets on the label of every run from the first on.

    `log10_wealth` is the wealth when it stopped, `log10_peak` the highest it reached, `log10_threshold` the level that
    refutes; `stopped_at` is the run at which the level was reached, None if never; `p_value` is 1 / peak wealth.
    """

    log10_wealth: float
    log10_peak: float
    log10_threshold: float
    runs: int
    stopped_at: int | None
    p_value: float
    path: tuple[WealthPoint, ...] = ()


@dataclass(frozen=True)
class Pair:
    """A pair of neighbouring datasets that was tested: position among the candidates and how the two differ.

    `difference` says what was changed by position, never by value ("record 17 removed, 569 -> 568 records");
    `witness` is the repr of both datasets, present only where the target or the caller declares them public.
    """

    index: int
    difference: str
    witness: tuple[str, str] | None = None


@dataclass(frozen=True)
class Minimal:
    """The smallest pair found on which a refuted claim still fails, with a test of its own on runs that chose nothing.

    `tried` smaller pairs were judged to find it; `refuted` says whether the claim is refuted on it again, at the error probability
    `alpha` of this one statement; `p_value` and `bound` are those of the new test; `runs` were made for all of it.
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
    """What this audit would have found.

    `epsilon` is the least true epsilon (at the tested delta) on the tested pair that the audit would have refuted with
    probability `probability`; `factor` is that epsilon over the claimed one; None where nothing would have been.
    """

    epsilon: float | None
    factor: float | None
    probability: float = 0.9


@dataclass(frozen=True)
class Unread:
    """Outputs that hold something that was not read: `runs` of the `of` that were made, and what it is, by the names of types.

    Nothing is known of what it would have shown, so that no power is stated beside it.
    """

    runs: int
    of: int
    kinds: tuple[str, ...]


@dataclass(frozen=True)
class Attack:
    """The statistical attack on neighbouring datasets: who was tested, on which event, with which counts and errors.

    `plan` is how the runs were divided: pilot (all pairs together), betting, bound; with the settings it determines the
    evidence, also where a time budget set it. `seed_path` is the target's place in the seed tree and the chosen pair. `minimal` is
    a smaller pair, where the refuted one was drawn or made and could be made smaller. `unread` is None where all of every
    output was read; reports leave it out then, as did those that were written before there was such a field.
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


PROPERTY_STATUSES: Final = ("violated", "not run", "note", "holds", "not applicable")
"""What a check may come to, in the order in which it wants attention."""


@dataclass(frozen=True)
class Property:
    """One check of single runs, of declared parts or of the release log; `cases` were looked at, `detail` says what was seen.

    `status` is one of `PROPERTY_STATUSES`: "violated"; "not run" (it could be made but was not, or on too little to see anything:
    `detail` says why, and nothing is known); "note" (worth knowing, and nothing against the claim); "holds" (on every case that was
    looked at, of which there was at least one); "not applicable" (it cannot be stated of this target).
    """

    name: str
    status: str
    cases: int
    detail: str = ""


@dataclass(frozen=True)
class ProfilePoint:
    """One abscissa of the privacy profile: delta at `epsilon` as claimed, certified and attacked.

    `claimed` is the largest delta the claim allows; `price` encloses the true delta of the logged releases;
    `attack` is a lower bound at the attack's confidence, valid for all points at once. None where there is none.
    """

    epsilon: float
    claimed: float | None
    price: tuple[float, float] | None
    attack: float | None


@dataclass(frozen=True)
class ProofStep:
    """One statement that a proof rests on; `word` says who stands behind it: proven, certified, enumerated, tested or axiom.

    Two more words say what is missing: recorded (tests that are not installed here) and open (code that no stamp covers).
    """

    name: str
    statement: str
    word: str


@dataclass(frozen=True)
class Proof:
    """What the proof that a target names says of its claim, after it was checked again in the audit.

    `status` is "proven" (every step proven, certified or an axiom), "in part" (it stands, but steps are enumerated, tested,
    recorded or open), "refuted" (by a certified counterexample), "stale" (source or specification changed since) or "unknown" (see
    `reason`: it does not stand, or what it proves cannot be matched with what was audited). `name` is where it stands, `claim` what
    it shows.
    """

    status: str
    name: str
    claim: str = ""
    reason: str = ""
    steps: tuple[ProofStep, ...] = ()


@dataclass(frozen=True)
class TargetResult:
    """Everything found about one target.

    `reference` loads the target again (None when it was given as an object); `source` is (file name, line) of its
    function; `summary` is one sentence for people; `failure` names what stopped the audit when the verdict is FAILED; `proof` is
    None where the target names none; `values` says whether values of the data stand in the texts above, and why.
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

    @property
    def lower_bound(self) -> Bound | None:
        """The attack's lower bound on the true epsilon, None where nothing was attacked or the counts give none."""
        return None if self.attack is None else self.attack.bound

    @property
    def power(self) -> Power | None:
        """What the attack would have found, None where nothing was attacked."""
        return None if self.attack is None else self.attack.power


@dataclass(frozen=True)
class Settings:
    """What the audit was asked to do; together with the targets it determines the evidence bit for bit.

    `runs` is for each target; it is 0 where `seconds`, a time budget for the whole audit, was given instead: the runs that it
    was turned into stand in each attack's `plan`. `show_values` is whether the caller asked to see values of private data.
    """

    alpha: Fraction
    runs: int
    seed: int
    family: str = "holm"
    power_target: Fraction = Fraction(5, 4)
    data: str | None = None
    seconds: Fraction | None = None
    show_values: bool = False


@dataclass(frozen=True)
class Report:
    """One audit: settings, results in the order of the targets, and what lies outside the evidence (env, seconds, left_out).

    `complete` is False when the audit was interrupted; the results are then those that were finished. `left_out` says which
    bundled targets were not audited because an optional extra is not installed, and how to add it.
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
        """The process exit code that this report stands for: refuted before failed before inconclusive before survived."""
        verdicts = {result.verdict for result in self.results}
        if Verdict.REFUTED in verdicts:
            return EXIT_CODES["refuted"]
        if Verdict.FAILED in verdicts:
            return EXIT_CODES["failed"]
        if Verdict.INCONCLUSIVE in verdicts or not self.complete or not self.results:
            return EXIT_CODES["inconclusive"]
        return EXIT_CODES["survived"]
