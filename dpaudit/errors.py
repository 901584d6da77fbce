"""Errors: a small hierarchy, each raised with a stable code that `dpaudit explain CODE` expands."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


class DpauditError(Exception):
    """An error of dpaudit; `code` names its entry in `CODES`, the text says what, got, allowed and remedy."""

    def __init__(self, code: str, message: str) -> None:
        if code not in CODES:
            raise KeyError(f"unregistered error code {code}")
        super().__init__(f"{code} {message}")
        self.code = code
        self.message = message

    def __reduce__(self) -> tuple[type[DpauditError], tuple[str, str]]:
        """Pickle by code and message, so that an error survives the way back from a worker process."""
        return type(self), (self.code, self.message)


class InvalidArgument(DpauditError, ValueError):
    """A parameter is outside what is allowed; nothing was computed and no randomness was drawn."""


class AdjacencyMismatch(DpauditError, ValueError):
    """Two parts of a computation speak of different neighbouring relations."""


class Unsupported(DpauditError, ValueError):
    """What was asked for cannot be done soundly, so it is refused instead of approximated."""


class EngineDisagreement(DpauditError, ArithmeticError):
    """Two certified computations of one number do not intersect: one of them is wrong."""


class BudgetExceeded(DpauditError, RuntimeError):
    """A privacy or false-alarm budget does not cover what was asked for."""


class EntropyFailure(DpauditError, RuntimeError):
    """The operating system did not give randomness; there is no fallback generator."""


class TargetFailure(DpauditError, RuntimeError):
    """A target could not be loaded or run."""


@dataclass(frozen=True)
class Explanation:
    """What an error code means: `title` in a few words, `meaning`, and `remedy`."""

    title: str
    meaning: str
    remedy: str


CODES: Final[dict[str, Explanation]] = {
    "DPA101": Explanation(
        "not a number",
        "A numeric parameter was given as something that is not an int, Fraction, Decimal, float or numeric string. "
        "Booleans are refused too: True is rarely meant as the number 1.",
        'Give an int, a Fraction, a Decimal, or a string such as "1/3" or "1e-6"; a float is read as the binary value it is.',
    ),
    "DPA102": Explanation(
        "not finite",
        "A parameter is NaN or infinite. No privacy parameter, noise scale or data value may be.",
        "Find where the NaN or infinity comes from and replace it by a finite public constant.",
    ),
    "DPA103": Explanation(
        "out of range",
        "A parameter is a number but lies outside its allowed range, which the message states.",
        "Choose a value inside the range.",
    ),
    "DPA104": Explanation(
        "not positive",
        "A scale, sensitivity or budget must be strictly positive. Zero noise is not private, "
        "and a query whose sensitivity is zero needs no noise at all.",
        "Give a positive value; release a query of sensitivity zero directly.",
    ),
    "DPA105": Explanation(
        "wrong type or shape",
        "An argument has the wrong type, dtype or shape; the message states what is accepted.",
        "Convert it before the call.",
    ),
    "DPA106": Explanation(
        "exactly one of",
        "Several parameters describe the same quantity (for instance sigma and sigma_squared) and exactly one is needed.",
        "Give one of them and leave out the others.",
    ),
    "DPA107": Explanation(
        "off the lattice",
        "A mechanism adds noise to multiples of its declared lattice, and the value is not a multiple. "
        "Rounding a finished sum would change its sensitivity, so it is refused.",
        "Round each person's contribution to the lattice before summing, or choose a finer lattice.",
    ),
    "DPA108": Explanation(
        "overflow",
        "A value or result does not fit the machine integers that this operation returns; it is never wrapped or clamped silently.",
        "Use smaller values, a coarser lattice or less noise.",
    ),
    "DPA109": Explanation(
        "empty input",
        "An operation that needs at least one element got none.",
        "Give a non-empty input, or treat the empty case before the call.",
    ),
    "DPA201": Explanation(
        "adjacency mismatch",
        "Privacy statements under different neighbouring relations were put together. "
        "A guarantee for adding or removing a record says something else than one for replacing a record.",
        "State every part under one adjacency; a conversion is explicit and costs what it costs.",
    ),
    "DPA202": Explanation(
        "unsupported computation",
        "The number asked for has no certified method in this version, so it is refused rather than approximated.",
        "The message says which forms are supported.",
    ),
    "DPA203": Explanation(
        "engines disagree",
        "Two independent certified computations of the same number returned intervals that do not meet. One of them is wrong.",
        "Please report it with the expression that was evaluated; do not use either number.",
    ),
    "DPA204": Explanation(
        "budget exceeded",
        "A privacy or false-alarm budget does not cover the request.",
        "Ask for less, or state a larger budget before looking at any result.",
    ),
    "DPA301": Explanation(
        "no entropy",
        "The operating system did not deliver random bytes. dpaudit never falls back to a weaker generator.",
        "Repair the system's random source; the release was not made.",
    ),
    "DPA401": Explanation(
        "target not found",
        "The name is neither a bundled target, nor MODULE:ATTRIBUTE, nor FILE.py:ATTRIBUTE that can be loaded.",
        "`dpaudit targets` lists the bundled ones; check the spelling, and the file's folder or the module's installation.",
    ),
    "DPA402": Explanation(
        "target failed to load",
        "The target's module raised an error while it was imported.",
        "Run the module on its own and repair the error that the message names.",
    ),
    "DPA403": Explanation(
        "not a target",
        "The name was found but holds something else than a Target or a sequence of Targets.",
        "Build `dpaudit.Target(run=..., claim=..., ...)` at module level and name it.",
    ),
    "DPA404": Explanation(
        "incomplete target",
        "A Target lacks what an audit needs, or its parts contradict each other; the message says which.",
        "Give exactly one of run= and sample=, a claim, and neighbours= or data=.",
    ),
    "DPA405": Explanation(
        "target failed to run",
        "The target raised an error in every run, on both neighbouring datasets, so there is nothing to test.",
        "Run the function by hand on one dataset; the message names the exception's type and where it was raised.",
    ),
    "DPA406": Explanation(
        "unreadable data",
        "The data file could not be read as comma-separated values with a header line and rows of equal length.",
        "Check path, encoding (UTF-8), header and row lengths; the message gives the line number, never the content.",
    ),
    "DPA407": Explanation(
        "datasets are not neighbours",
        "A pair of datasets given with a target differs by more than its claim's adjacency allows.",
        "Give pairs that differ as the claim says, or claim the adjacency that the pairs have.",
    ),
    "DPA408": Explanation(
        "cannot reach workers",
        "The executor's workers could not load the target or failed for a reason outside the target.",
        "Give the target by import string (MODULE:ATTRIBUTE) and make sure that the workers can import it.",
    ),
    "DPA409": Explanation(
        "no neighbours to make",
        "Neighbouring datasets are made from data by the edits of the claim's adjacency, and only where that changes something.",
        "Give the pairs yourself: neighbours=[(first, second), ...].",
    ),
    "DPA501": Explanation(
        "unreadable report",
        "The file is not a dpaudit report of a schema version that this program knows.",
        "Give a report.json written by `dpaudit audit`; a newer report needs a newer dpaudit.",
    ),
    "DPA502": Explanation(
        "replay differs",
        "Repeating the runs of a report did not give the recorded counts: the target, its data or a library changed.",
        "Compare the versions in the report's env section with the installed ones, and the target's source with the one audited.",
    ),
    "DPA503": Explanation(
        "cannot write",
        "An output file or folder could not be written.",
        "Choose a folder that exists and may be written.",
    ),
    "DPA504": Explanation(
        "unknown code",
        "`dpaudit explain` was asked for a code that does not exist.",
        "`dpaudit explain` without a code lists all of them.",
    ),
    "DPA505": Explanation(
        "expression not understood",
        "A composition given as text, or a file of events, is not written as `dpaudit account` reads it.",
        "Write laws with their parameters by name: 1000 * gaussian(sigma=1) + laplace(scale=2).",
    ),
}
