"""What a reader asks of one audited target, answered in sentences: what was found, what to do, how sure it is, what was not tried.

Every form of a report takes its words from here, in this order. Numbers have four digits; the JSON holds the exact ones.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from dpaudit.codec import nearest
from dpaudit.exact import outward
from dpaudit.report import wording
from dpaudit.report.document import reproduce_command
from dpaudit.results import Attack, Bound, Diagnosis, Report, Settings, TargetResult, Verdict

_NAMED: Final = {
    "value": "the output",
    "length": "the length of the output",
    "sum": "the sum of the output",
    "largest": "the largest entry of the output",
    "position of largest": "the position of the largest entry of the output",
    "kind": "the form of the output",
    "score": "the score of the output",
    "precision": "the number of digits of the output (16: those of a single float, 17: all)",
    "last bits": "the last four bits of the output (-1: not read)",
    "divisor": "the largest divisor of 12,600 that divides the output",
}
"""The names of features that a reader may meet, in words."""

_SHAPES: Final = ("length", "kind")
"""Features that are about the form of an output, not about its numbers."""

_NUMBER: Final = re.compile(r"-?\d+\.\d{4,}(?:e[+-]?\d+)?|-?\d+(?:\.\d+)?e[+-]?\d+")
_THRESHOLD: Final = re.compile(r"(?P<name>[^<>=(){}]+) (?P<sign><=|>=|<|=) (?P<limit>[^ ,;]+)")
_RANGE: Final = re.compile(r"(?P<low>[^ <]+) <= (?P<name>[^<>=]+) < (?P<high>[^ <]+)")
_RANK: Final = re.compile(r"(?P<name>.+) among the (?P<end>smallest|largest) (?P<share>[\d.e+-]+ %) of the outputs")
_SCORE: Final = re.compile(r"score of (?:\((?P<names>.+)\)|(?P<name>[^ ]+)) (?P<sign><=|>=) (?P<limit>[^ ]+)")
_ITEM: Final = re.compile(r"item (\d+(?:, \d+)*)")
_IN_TEXT: Final = re.compile(r"the (numbers|words|digits|counts) (\d+)")
_OF_TEXTS: Final = {
    "numbers": "number {} of the text",
    "words": "word {} of the text, as a code,",
    "digits": "how number {} of the text is written, as a code,",
    "counts": "how often the words of class {} occur in the text",
}
_FEATURES_NAMED: Final = 4
_LISTED: Final = re.compile(
    r"(?P<name>kind|parity) (?:(?P<sign><=|>=|=) (?P<limit>-?[\d.e+]+)|in \{(?P<codes>[-\d.e+, ]+)\})"
    r"(?: \(kinds: (?P<legend>.*);[^;]*\))?"
)
_CODE: Final = re.compile(r"(?:^|, )(\d+) ")
_PARITIES: Final = {0.0: "an even whole number", 0.5: "no whole number", 1.0: "an odd whole number"}
_SIGNS: Final = {"<=": "at most", ">=": "at least", "<": "below", "=": "exactly"}
_RECORD: Final = re.compile(r"record (\d+) (removed|added|replaced|differs)")
_RECORDS: Final = re.compile(r"\d+(?= -> \d+ records| records)")
_MOST_DIGITS: Final = 4
_LONGEST: Final = 60
_LEAST_EXCESS: Final = 1e-3
"""No audit is asked to find violations closer to a claim than this."""
_HOPELESS: Final = 10.0
"""A power this far from the claim says that the event was too rare, not that there were too few runs."""


_FEW_RUNS: Final = 20_000
"""Fewer runs than this choose pair and event badly."""

_NEAR: Final = Fraction(11, 10)
_SEE: Final = "Cause not found: check sensitivity and shares of epsilon. "
_FURTHER: Final = re.compile(r"(about [\d.]+ times) (?:further|as much)")
_OF_SCALE: Final = ("replacement", "each", "norm", "narrow")
"""Causes that more noise would mend."""


@dataclass(frozen=True)
class Answers:
    """The answers about one target, each a sentence or more, empty where there is nothing to say.

    `found` is the verdict in words, `why` its cause where one was singled out, `repair` what to do about it, `claimed` the promise,
    `seen` the outputs that give a violation away, `where` the two datasets, `sure` what may be wrong with that and how likely,
    `unseen` what was not looked at, a sentence each, and `next_step` a command.
    """

    found: str
    why: str
    repair: str
    claimed: str
    seen: str
    where: str
    sure: str
    unseen: tuple[str, ...]
    next_step: str


def answers(report: Report, result: TargetResult, path: str | None = None) -> Answers:
    """Answer a reader's questions about one result; `path` is where the report's JSON is, for commands."""
    return Answers(
        found=found(result),
        why=why(result),
        repair=repair(result, report.settings.power_target),
        claimed=claimed(result),
        seen=seen(result),
        where=_where(result),
        sure=_sure(report, result),
        unseen=tuple(_unseen(result)),
        next_step=_next_step(result, path),
    )


def found(result: TargetResult) -> str:
    """The verdict in a sentence, with the number that decides it."""
    match result.verdict:
        case Verdict.REFUTED:
            return _refuted(result)
        case Verdict.FAILED:
            return f"Not audited: {wording.sentence(result.failure or result.summary)}"
        case Verdict.CONSISTENT:
            start = "No violation found" if wording.is_unopposed(result) else "Not refuted by the attack"
            return f"{start}{_would_have_found(result)}."
        case Verdict.INCONCLUSIVE:
            return f"Undecided. {wording.sentence(_without_repeats(result))}"
        case _:
            proven = f"Proven from the source code: {wording.promised(result)}."
            return proven if wording.is_unopposed(result) else "A proof of the claim holds, and something speaks against it."


def _without_repeats(result: TargetResult) -> str:
    """The summary without the checks that are violated or were not run, which stand beside it."""
    summary = f" {result.summary}"
    for check in result.properties:
        for word in ("Not run", "Violated"):
            summary = summary.replace(f" {word}: {check.name} ({check.detail}).", "")
    return summary.strip() or result.summary


def why(result: TargetResult) -> str:
    """The cause of a refutation, and the line at which runs on the two datasets part; empty where none was singled out."""
    diagnosis = result.diagnosis
    if diagnosis is None:
        return ""
    if diagnosis.source is None:
        return diagnosis.why
    file, line = diagnosis.source
    return f"{diagnosis.why} Runs with equal random numbers first differ at {file}:{line}."


def repair(result: TargetResult, wanted: Fraction = Settings.power_target) -> str:
    """What to do about a refuted or undecided claim, as far as the evidence says it; empty where nothing has to be done.

    `wanted` is the violation that a consistent verdict excludes, as a multiple of the claim.
    """
    if result.verdict is Verdict.REFUTED:
        return _repair_refuted(result)
    if result.verdict is Verdict.INCONCLUSIVE:
        return _repair_undecided(result, wanted)
    return ""


def claimed(result: TargetResult) -> str:
    """The promise, and between which datasets: in words, and as code writes it."""
    change, code = wording.neighbours(result.claim.adjacency), f"adjacency={result.claim.adjacency}"
    return f"{wording.promised(result)} ({f'{change}; {code}' if change else code})"


def seen(result: TargetResult) -> str:
    """How often the event of the bound occurs with either dataset of the pair, in words; empty without a bound."""
    attack, bound = result.attack, result.lower_bound
    if result.verdict is not Verdict.REFUTED or attack is None or bound is None:
        return ""
    counts = (bound.counts.zeros, bound.counts.ones) if bound.direction == "forward" else (bound.counts.ones, bound.counts.zeros)
    told = sorted(zip(counts, _sides(attack), strict=True), reverse=True, key=lambda one: one[0])
    (often, (here, _)), (rarely, (_, there)) = ((_share(count, bound), side) for count, side in told)
    # Each run was made on either dataset with probability 1/2, and only the number of both together is known.
    half = bound.counts.runs // 2
    runs = f"~{wording.thousands(round(half, 2 - len(str(half))))} runs"
    return f"{here}, {event_in_words(attack.event)} in {often} of {runs}; {there}, in {rarely}."


def event_in_words(event: str) -> str:
    """An event as a clause: "the output is at least 0.6455"."""
    short = _NUMBER.sub(lambda found: f"{float(found[0]):.{_MOST_DIGITS}g}", event)
    if (listed := _LISTED.fullmatch(event)) and (words := _forms_in_words(listed)):
        return words
    if found := _RANK.fullmatch(event):
        scored = re.fullmatch(r"score of \((.+)\)", found["name"])
        which = _weighted(scored[1]) if scored else _subject(found["name"])
        return f"{which} is among the {found['end']} {found['share']} of what either dataset gave"
    if found := _RANGE.fullmatch(short):
        return f"{_subject(found['name'])} is at least {found['low']} and below {found['high']}"
    if found := _SCORE.fullmatch(short):
        end = "high" if found["sign"] == ">=" else "low"
        return f"{_weighted(found['names'] or found['name'])} is {end} ({_SIGNS[found['sign']]} {found['limit']})"
    if found := _THRESHOLD.fullmatch(short):
        sign = "about" if found["sign"] == "=" and short != event else _SIGNS[found["sign"]]
        return f"{_subject(found['name'])} is {sign} {found['limit']}"
    name = re.match(r"[^<>=(){},]+?(?= (?:in \{|is |equal to |in one))", short)
    if name:
        return f"{_subject(name[0])}{_cut(short[name.end() :].replace(' in {', ' is one of {', 1))}"
    return f"the output falls into the event [{_cut(short)}]"


def _weighted(names: str) -> str:
    """A score of several features in words; where they are many, the first few and the number of the others."""
    more = names.endswith(", and more")
    parts = re.split(r", (?!\d)", names.removesuffix(", and more"))
    words = ["whether it is even or odd" if part == "parity" else _subject(part) for part in parts]
    if len(words) <= _FEATURES_NAMED and not more:
        return f"a weighted sum of {' and '.join([', '.join(words[:-1]), words[-1]] if words[1:] else words)}"
    return f"a weighted sum of {', '.join(words[:2])} and {'many' if more else len(words) - 2} other features"


def _forms_in_words(listed: re.Match[str]) -> str:
    """An event of forms, or of even and odd numbers, by the names of what it holds; empty where some of that has no name."""
    if listed["name"] == "parity":
        names = _PARITIES
    else:
        parts = _CODE.split(listed["legend"] or "")[1:]
        names = {float(code): _form(name) for code, name in zip(parts[::2], parts[1::2], strict=True)}
    held = _held(listed, tuple(names))
    if listed["name"] == "parity":
        words = " or ".join(names[code] for code in held if code in names)
        return "the output is " + words.replace("an even whole number or an odd whole number", "a whole number")
    if listed["sign"] == ">=":  # forms that were not seen at first have large codes
        others = [names[code] for code in names if code not in held]
        return f"the output is not {_cut(' nor '.join(others))}" if others else ""
    if not held or any(code not in names for code in held):
        return ""
    more = "" if len(held) <= 2 else f" or has one of {len(held) - 2} other forms"
    return f"the output is {' or '.join(_cut(names[code]) for code in held[:2])}{more}"


def _held(listed: re.Match[str], codes: tuple[float, ...]) -> list[float]:
    """The codes that an event holds, of all that have a name where it is a threshold."""
    if listed["codes"]:
        return [float(code) for code in listed["codes"].split(", ")]
    limit = float(listed["limit"])
    inside = {"<=": limit.__ge__, ">=": limit.__le__, "=": limit.__eq__}[listed["sign"]]
    return [code for code in codes if inside(code)]


def _form(name: str) -> str:
    """A form in words: a dictionary by its keys."""
    keys = re.findall(r"[(,]([^:(),]+):", name) if name.startswith("dict(") and name.count("(") == 1 else []
    if all(key.strip().lstrip("-").isdigit() for key in keys):
        keys = sorted(keys, key=int)
    return f"a dict with the keys {', '.join(keys)}{' ...' if name.endswith('...') else ''}" if keys else f"of the form {name}"


def _cut(text: str) -> str:
    """A text of bounded length; all of it is in the JSON."""
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 4]} ..."


def _subject(name: str) -> str:
    """The feature that an event is about, in words or as Python writes it: "item 0, 1" is output[0][1]."""
    if found := _IN_TEXT.fullmatch(name):
        return _OF_TEXTS[found[1]].format(int(found[2]) + 1)
    if name.startswith("item "):
        return _ITEM.sub(lambda found: "output" + "".join(f"[{place}]" for place in found[1].split(", ")), name)
    return _NAMED.get(name, f"{name} of the output" if name.startswith("'") else name)


def _share(count: int, bound: Bound) -> str:
    """The share of the runs on one dataset, each run having been made on either with probability 1/2."""
    if not count:
        return "none"
    share = 200 * count / bound.counts.runs
    return f"{min(share, 100):.2g} %" if share < 99.5 else f"{min(share, 100):.3g} %"


def _sides(attack: Attack) -> tuple[tuple[str, str], tuple[str, str]]:
    """How the two datasets of a pair are called in a sentence: where it begins, and once the other was named."""
    known = _RECORD.match(attack.pair.difference)
    if known is None:
        return ("On the first dataset", "on the first dataset"), ("On the second dataset", "on the second dataset")
    size = max((int(count) for count in _RECORDS.findall(attack.pair.difference)), default=0)
    name = f"record {known[1]} (numbered 0 to {size - 1})" if size > 1 else f"record {known[1]}"
    with_it, without = (f"With {name}", "with it"), (f"Without {name}", "without it")
    either = f"With one version of {name}", "with the other"
    return {"removed": (with_it, without), "added": (without, with_it)}.get(known[2], (either, either))


def _refuted(result: TargetResult) -> str:
    """Why a claim is refuted: the witness with the clearest number first."""
    false = f"The claim {claim_in_words(result)} is false"
    bound = result.lower_bound
    if result.rejected_in_family:
        if bound is not None and bound.epsilon is not None and _exceeds(bound, result):
            return f"{false}: epsilon is at least {wording.lower(bound.epsilon)}{_at(bound)}."
        sure = "" if result.attack is None else f" (p-value {wording.probability(result.attack.p_value)})"
        rejected = None if result.attack is None else result.attack.sequential.rejected
        bets = (
            "" if rejected is None else f" Bets refute every epsilon up to {wording.lower(rejected)}, which no bound here exceeds."
        )
        return f"{false}: outputs tell the two datasets apart better than {_promised_point(result)} allows{sure}.{bets}"
    price = result.price
    if price is not None and price.status == "above" and price.value is not None:
        return f"{false}: the noise that was logged costs {price.quantity} = {wording.lower(price.value.lower)}."
    return f"{false}. {wording.sentence(result.summary)}"


def claim_in_words(result: TargetResult) -> str:
    """The claim, and what may change between two datasets."""
    change = wording.neighbours(result.claim.adjacency).partition(",")[0]
    return f"{wording.promised(result)} ({change or result.claim.adjacency})"


def _exceeds(bound: Bound, result: TargetResult) -> bool:
    """True if the bound alone is above the claim at the tested delta."""
    tested = result.claim.tested_epsilon
    return tested is not None and bound.epsilon is not None and bound.epsilon > tested


def _promised_point(result: TargetResult) -> str:
    """The point of the claim that was tested."""
    tested, delta = result.claim.tested_epsilon, result.claim.tested_delta
    if tested is None:
        return wording.promised(result)
    return f"epsilon = {wording.upper(tested)}{f' at delta = {wording.upper(delta)}' if delta else ''}"


def _at(bound: Bound) -> str:
    """At which delta a bound holds, where that is not 0."""
    return f" at delta = {wording.upper(bound.delta)}" if bound.delta else ""


def _would_have_found(result: TargetResult) -> str:
    """The violation that the audit would have found."""
    power = result.power
    if power is None or power.epsilon is None:
        return ""
    least = f"{power.epsilon:.{_MOST_DIGITS}g}"
    found = f"; a true epsilon of {least} on this pair and event would be found with probability {power.probability:g}"
    others = 0 if result.attack is None else result.attack.pairs_tried - 1
    pairs = "one other pair" if others == 1 else f"{others} other pairs"
    return f"{found}; {pairs} had fewer runs, in which only larger violations show" if others > 0 else found


def _repair_refuted(result: TargetResult) -> str:
    """What to change in a function whose claim is false: the most specific advice that the evidence supports."""
    if result.diagnosis is not None:
        return _repair_of(result, result.diagnosis)
    for check in result.properties:
        if check.status == "violated" and "sensitivity" in check.name:
            return "Declare the sensitivity that was measured, or clip what one record can add, and scale the noise to it."
    bound, attack = result.lower_bound, result.attack
    constant = any("random" in check.name and check.status in ("violated", "note") for check in result.properties)
    if attack is not None and attack.event.partition(" ")[0] in _SHAPES:
        return "Fix keys, length and types of the output before looking at the data; fill them with noisy values."
    if constant:
        return "Add noise on every dataset (on some, all runs give one output), of a scale that no data decide."
    if bound is not None and not min(bound.counts.ones, bound.counts.zeros) and max(bound.counts.ones, bound.counts.zeros):
        return (
            "One of the datasets gives outputs that the other never gave. Look for a value that is released without noise, for "
            "bounds or a scale taken from the data, and for rounding or clipping after the noise."
        )
    return _least_change(result) or "Look at which step the two datasets part, and at the sensitivity that the noise is scaled to."


def _repair_of(result: TargetResult, diagnosis: Diagnosis) -> str:
    """What mends a cause, and the least change that the evidence leaves possible where more noise would mend it too."""
    least = _least_change(result).removeprefix(_SEE) if diagnosis.cause in _OF_SCALE else ""
    if diagnosis.cause != _OF_SCALE[-1] or not least:
        return f"{diagnosis.repair} {least}".strip()
    times = _FURTHER.search(diagnosis.why)
    return (
        least
        if times is None
        else f"Try {times[1]} the noise; audit again. {least.replace(' the noise is', ' is').removesuffix('.')}; more is undecided."
    )


def _least_change(result: TargetResult) -> str:
    """What noise or claim the evidence excludes as a repair: more than it may be needed; empty where it says neither."""
    bound, price, tested = result.lower_bound, result.price, result.claim.tested_epsilon
    found = [] if bound is None or bound.epsilon is None else [bound.epsilon]
    if price is not None and price.status == "above" and price.quantity == "epsilon" and price.value is not None:
        found += [price.value.lower] if isinstance(price.value.lower, Fraction) else []
    if not tested or not found or max(found) <= tested:
        return ""
    if result.claim.tested_delta:
        return f"{_SEE}More noise is needed, or a larger claim: epsilon below {wording.lower(max(found))} is refuted as well."
    # Only where no delta is spent does epsilon fall in proportion to the scale of additive noise.
    ratio = max(found) / tested
    times = outward(ratio, digits=2 if ratio > _NEAR else 3, up=False).replace("E", "e")
    return f"{_SEE}Below {times} times the noise is refuted."


def _repair_undecided(result: TargetResult, wanted: Fraction) -> str:
    """What would decide an undecided claim: what a check found, or how many runs."""
    for check in result.properties:
        if check.status == "violated":
            return f"Mend this first: {check.name}."
    if result.price is not None and result.price.status == "above":
        return _least_change(result) or "Add noise, or claim what the certified price allows."
    attack, power = result.attack, result.power
    if attack is not None and attack.unread is not None:
        score = "" if result.samples is not None else ", or give score= to say what to look at"
        return f"Release numbers, texts or containers of them{score}."
    if attack is None or power is None or power.factor is None or not 1 < power.factor < _HOPELESS:
        return _repair_without_power(result, attack)
    # What a bound can show beyond the claim falls with the square root of the runs.
    needed = attack.runs * max(2.0, ((power.factor - 1) / max(nearest(wanted - 1), _LEAST_EXCESS)) ** 2)
    step = 10 ** math.floor(math.log10(needed))
    runs = step * math.ceil(needed / step)
    if result.samples is not None:
        return f"Two samples of about {wording.thousands(runs // 2)} rows each would decide it."
    if result.most_runs is not None:
        limit = f"the target's own limit ended them at {wording.thousands(result.most_runs)}"
        return f"About {wording.thousands(runs)} runs would decide it, but {limit}: most_runs={runs}, and --runs {runs} or more."
    return f"About {wording.thousands(runs)} runs would decide it: --runs {runs}."


def _repair_without_power(result: TargetResult, attack: Attack | None) -> str:
    """What would decide a claim where no number of runs can be computed that would."""
    if result.samples is not None:
        return "More rows alone may not decide it: collect samples on two datasets whose outputs differ as much as they can."
    if attack is not None and attack.runs < _FEW_RUNS and result.most_runs is None:
        return f"Only {wording.thousands(attack.runs)} runs were made: allow more of them, such as --runs 200000, or more time."
    return "More runs alone may not decide it: give neighbours= on which the outputs differ as much as they can."


def _where(result: TargetResult) -> str:
    """The datasets of the decisive runs, and the smallest that were found."""
    attack = result.attack
    if attack is None:
        return ""
    least = attack.minimal
    smaller = f"; refuted again on {least.pair.difference}" if least is not None and least.refuted else ""
    return wording.sentence(f"{wording.pair(attack)}{smaller}")


def _sure(report: Report, result: TargetResult) -> str:
    """How likely what was found is wrong."""
    if result.verdict is not Verdict.REFUTED or not result.rejected_in_family:
        return ""
    bound = result.lower_bound
    known = ""
    if bound is not None and bound.epsilon:
        known = f" The true epsilon is below the bound given with probability at most {wording.upper(1 - bound.confidence)}."
    return f"{wording.false_alarm(report)}{known}"


def _unseen(result: TargetResult) -> Iterator[str]:
    """What was not looked at."""
    for check in result.properties:
        if check.status == "not run":
            yield wording.sentence(wording.checked(check))
    unread = None if result.attack is None else result.attack.unread
    if unread is not None:
        counts = f"{wording.thousands(unread.runs)} of {wording.thousands(unread.of)}"
        yield f"{counts} outputs hold what is not read: {', '.join(unread.kinds)}."
    screening = None if result.attack is None else result.attack.screening
    if screening is not None:
        wide, chosen, runs = wording.thousands(screening.numbers), screening.chosen, wording.thousands(screening.runs)
        among = f", and every two only among {wording.thousands(screening.paired)}" if screening.paired < screening.numbers else ""
        yield (
            f"Of the {wide} numbers of an output the {chosen} that differed most in {runs} runs were tested one by one, "
            f"the others in sums, norms and learned scores alone{among}."
        )


def _next_step(result: TargetResult, path: str | None) -> str:
    """The command that goes on from here."""
    if result.verdict is Verdict.FAILED:
        return f"dpaudit explain {result.failure[:6]}" if result.failure[:3] == "DPA" else ""
    if result.verdict is Verdict.REFUTED and result.reference is not None and path is not None:
        return reproduce_command(result, path) or ""
    return ""
