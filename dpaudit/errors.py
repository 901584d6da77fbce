"""Errors: a small hierarchy, each raised with a stable code that `dpaudit explain CODE` expands."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from dpaudit.origins import class_name as class_name  # noqa: PLC0414 - everybody imports it from here
from dpaudit.origins import origin_of as origin_of  # noqa: PLC0414 - as above


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
    """Two parts of a computation are about different neighbouring relations."""


class Unsupported(DpauditError, ValueError):
    """A request that cannot be answered soundly; it is refused instead of approximated."""


class MissingExtra(Unsupported, ModuleNotFoundError):
    """A request that needs an optional extra which is not installed; `except ImportError` catches it too."""


class EngineDisagreement(DpauditError, ArithmeticError):
    """Two certified computations of one number do not intersect: one of them is wrong."""


class BudgetExceeded(DpauditError, RuntimeError):
    """A privacy or false-alarm budget does not cover what was asked for."""


class LedgerRefusal(BudgetExceeded):
    """A ledger does not allow a charge; nothing was spent and nothing may be released."""


class LedgerFailure(DpauditError, RuntimeError):
    """A ledger cannot be used, or a release was not charged to it."""


class EntropyFailure(DpauditError, RuntimeError):
    """The operating system did not give randomness; there is no fallback generator."""


class TargetFailure(DpauditError, RuntimeError):
    """A target could not be loaded or run."""


class ForeignPackage(TargetFailure):
    """Python finds another package under the name of one that is installed with dpaudit."""


@dataclass(frozen=True)
class Explanation:
    """The meaning of an error code: `title` in a few words, `meaning`, and `remedy`."""

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
    "DPA205": Explanation(
        "library not installed",
        "What was asked for belongs to another library, which is not among those that this one needs.",
        "Install it into the same environment; the message names it.",
    ),
    "DPA206": Explanation(
        "extra not installed",
        "It needs scikit-learn, matplotlib or solvers for proofs, which a plain `pip install dpaudit` leaves out.",
        'Run the command in the message; pip install "dpaudit[all]" adds all extras.',
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
        "The target's module raised an error while it was imported. The message names the line; the error's own text is shown only "
        "where it is made of words of the source code, since others may quote data.",
        "Run the file on its own, `python FILE.py`, which prints the whole traceback, and repair that line.",
    ),
    "DPA403": Explanation(
        "not a target",
        "The name was found but holds neither a Target, nor a list of them, nor a function whose claim is known.",
        "Name a function with its claim, `dpaudit audit FILE.py:NAME --epsilon 1 --data FILE.csv`, or write @claim above it.",
    ),
    "DPA404": Explanation(
        "incomplete target",
        "A Target or a function lacks what an audit needs, or parts contradict each other; the message says which.",
        "A Target has exactly one of run= and sample=, a claim, and neighbours= or data=; a function gets its arguments "
        "from the data, from the claim and from --arg NAME=VALUE.",
    ),
    "DPA405": Explanation(
        "target failed to run",
        "No run of the target gave an output, on either neighbouring dataset, so there is nothing to test: it raised an error each "
        "time, it does not take the call (data, rng), or it has no return.",
        "The message names the line. `dpaudit --debug audit ...` prints the traceback of the error, which may quote data.",
    ),
    "DPA406": Explanation(
        "unreadable data",
        "The data file could not be read by its ending: CSV with a header and equal rows, JSON lines, Parquet or .npy.",
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
    "DPA410": Explanation(
        "program failed",
        "A program that is audited ended with another exit code than 0.",
        "Run it by hand with one line of made-up data on its standard input; what it prints may hold data and is not shown here.",
    ),
    "DPA411": Explanation(
        "program too slow",
        "A program that is audited did not end in time, and was ended.",
        "It has to end when its standard input does; give a longer timeout= if it needs one.",
    ),
    "DPA412": Explanation(
        "not the lines asked for",
        "A program that is audited has to write one line of JSON, in UTF-8, for each line that it reads, and nothing else.",
        "Write everything else to standard error.",
    ),
    "DPA413": Explanation(
        "target ended its process",
        "Every target is audited in a process of its own. This one ended without a result: by an exit, a signal or an error.",
        "Look in the function for os._exit, signals, native code that crashes, and changes to modules that others use.",
    ),
    "DPA414": Explanation(
        "target took too long",
        "The target reached its time limit, or no call of its function came back for ten minutes.",
        "If it is merely slow, give a limit in seconds, --time-limit, --dp-time-limit or time_limit=, in place of the ten minutes.",
    ),
    "DPA415": Explanation(
        "target took too much memory",
        "All processes of the target together held more memory than its limit, or there were too many of them.",
        "If it needs that much, raise the limit with --memory-limit, --dp-memory-limit or memory_limit=, for instance to 16 GiB.",
    ),
    "DPA416": Explanation(
        "targets cannot be supervised here",
        "Supervision gives each target a forked process, with an executor made there; this system or this executor forbids it.",
        "Give the executor as a function that makes one, or a RenewableExecutor; without fork, leave out the limits.",
    ),
    "DPA417": Explanation(
        "another package of that name",
        "Python finds a package called mechanisms, learners or proofs that is not the one which dpaudit installs.",
        "Rename it, take its folder off the path, or use an environment without it; the message names both places.",
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
    "DPA506": Explanation(
        "functions are not in the report",
        "A membership test is reported by its counts. The learner and its score were given as functions, which a report does "
        "not name, so that their runs cannot be made again from it.",
        "Call audit_canaries again with the same functions, arguments and seed: it gives the same finding.",
    ),
    "DPA507": Explanation(
        "settings cannot be used",
        "[tool.dpaudit] in the nearest pyproject.toml is not readable, or sets a verb or an option that does not exist.",
        "`dpaudit config` lists every option with its value and where it comes from; correct or remove the entry.",
    ),
    "DPA601": Explanation(
        "budget stays in its process",
        "A budget was about to be copied into another process, or a model that was read back is to be fitted at the expense of a "
        "budget that it left behind. Two copies would each spend all of it.",
        'Run searches in threads, with joblib.parallel_config(backend="threading"); give a model that was read back a budget of '
        "its own.",
    ),
    "DPA602": Explanation(
        "labels are no classes",
        "No classes were given, and the labels are continuous numbers or of several types, so that none can be read from them.",
        "Name the public classes: classes=[...]. Labels that are none of them then count as the first.",
    ),
    "DPA603": Explanation(
        "number of records is private",
        "Under add_remove the number of records is private, so that no default may depend on it.",
        "Give a public number that stands for it, n_nominal=..., or use replace_one.",
    ),
    "DPA604": Explanation(
        "adjacency not covered",
        "The proof of a learner does not cover the neighbouring relation asked for, or not with these parameters.",
        "The message names the relations that it covers.",
    ),
    "DPA701": Explanation(
        "outside the verified subset",
        "The verifier reads a subset of Python, construct by construct, and refuses all others instead of guessing what they mean.",
        "The message names line, column and construct and says what to write instead; docs/verification.md lists the subset.",
    ),
    "DPA702": Explanation(
        "source or name not understood",
        "A function's source, its head, or a name in it does not have one plain meaning that the verifier can fix: "
        "a wrapped function, a closure, a parameter without a type, a name that is rebound.",
        "Define the function with `def` at module level, with typed parameters, and read only parameters, local names and "
        "constants.",
    ),
    "DPA703": Explanation(
        "types do not fit",
        "A value has another type than the place it stands in: a float, a truth value in arithmetic, or a type that depends "
        "on the data.",
        "Compute with int, Fraction and bool, one type a name; write Fraction(1, 2) for one half.",
    ),
    "DPA704": Explanation(
        "no value on every path",
        "A name may be read before it has a value, a loop variable is read after its loop, or a statement cannot be reached. "
        "Python would raise in some runs only, and that is an output.",
        "Give the name a value on every path before it is read, and delete what is never reached.",
    ),
    "DPA705": Explanation(
        "output outside the subset",
        "Outputs are scalars, lists that start as `[]` at the top of the function and are only appended to, and flat tuples "
        "of these; "
        "every path returns the same shape.",
        "Append to the output list and return it by its name.",
    ),
    "DPA706": Explanation(
        "call outside the subset",
        "Only samplers, helpers with a specification, pure helpers, abs, min, max, len and Fraction are called, with exactly "
        "their arguments.",
        "Draw on a line of its own; give a helper that draws a specification of its own.",
    ),
    "DPA720": Explanation(
        "specification does not fit",
        "The parts of a specification contradict each other or name parameters that the function does not have.",
        "Compare claim, adjacency, public and laws with the function's parameters.",
    ),
    "DPA721": Explanation(
        "not an expression",
        "A part of a specification is text that is no Python expression.",
        "Write an expression in the function's parameters, such as 'eps / 2'.",
    ),
    "DPA722": Explanation(
        "specification not understood",
        "An expression of a specification uses what the expression language does not have, or a function has no "
        "specification at all.",
        "Write arithmetic and comparisons of public parameters and len(...); elements of private lists belong into domain.",
    ),
    "DPA723": Explanation(
        "lists without a role",
        "Every list parameter is either private, with an adjacency, or public; one is in neither or in both.",
        "Name each list once, in adjacency={...} or in public=[...].",
    ),
    "DPA724": Explanation(
        "argument outside the specification",
        "A bound function runs only on what its proof covers: exact types, lists of Python itself, and values for which "
        "requires and domain hold. The check comes before anything is drawn.",
        "Convert exactly first: operator.index and int for integers, Fraction(x) for a finite float; map private data into "
        "the domain.",
    ),
    "DPA725": Explanation(
        "function is not its source",
        "The code object of a function, its defaults or the names that it reads are not what its source says, so that a proof of "
        "the source would be about something else.",
        "Define the function with `def` at module level in a file, without wrappers, and reload the module after editing it.",
    ),
    "DPA726": Explanation(
        "sampler not registered",
        "A bound function draws from samplers of the one class that is registered for each law, by identity; names and "
        "attributes can be imitated.",
        "Pass a sampler of that class; tests and audits use `with_test_samplers`.",
    ),
    "DPA730": Explanation(
        "not a certificate",
        "A file is not a certificate as `dpaudit prove --output` writes it: other fields, other types, or terms that do not exist.",
        "Write it again with `dpaudit prove`.",
    ),
    "DPA731": Explanation(
        "nothing to verify",
        "The verifier was given neither a function with @spec nor a text with claim= and adjacency=, or both a specification and "
        "parts of another one.",
        "Decorate the function with @spec, or give claim= and adjacency= beside its text.",
    ),
    "DPA732": Explanation(
        "program not found",
        "A name given to `dpaudit prove` does not load, or holds no function with @spec.",
        "Write MODULE:FUNCTION, FILE.py:FUNCTION, MODULE, FILE.py or suite.",
    ),
    "DPA801": Explanation(
        "no ledger",
        "The file or database does not exist, or holds no ledger of a version that this program knows.",
        "Make one with `dpaudit ledger init`; a newer ledger needs a newer dpaudit.",
    ),
    "DPA802": Explanation(
        "budget exists",
        "The scope has a budget already. Budgets are fixed when they are opened: one that grew with what was seen would promise "
        "nothing.",
        "Charge the budget that is there, or open one for another scope.",
    ),
    "DPA803": Explanation(
        "cannot make a ledger",
        "The ledger exists already, or its folder cannot be written.",
        "Choose a new name in a folder that may be written, or another database.",
    ),
    "DPA804": Explanation(
        "cannot use the ledger",
        "Other programs kept the ledger for too long, the disk or server refused, or SQLite is older than 3.37 or PostgreSQL than "
        "14. The change was not made.",
        "Repeat the call; if it keeps failing, look at the disk or server, and at who holds the ledger.",
    ),
    "DPA805": Explanation(
        "damaged ledger",
        "The file or database is not what the ledger wrote, or an entry is none that it may hold.",
        "`dpaudit ledger verify` finds the first entry that was changed; go on from a copy, and count everything since as spent.",
    ),
    "DPA806": Explanation(
        "charge cannot be changed",
        "A charge was committed or cancelled before, or noise was drawn under it: then what was released stays paid for.",
        "Cancel a charge only before anything is released in its block.",
    ),
    "DPA807": Explanation(
        "more released than reserved",
        "The release log of the block costs more than its charge, or has no price in a budget at all. The difference, or all that "
        "was left, was charged too, also beyond the budget, since the releases were made.",
        "Reserve the loss of everything that the block releases.",
    ),
    "DPA808": Explanation(
        "release outside its charge",
        "A charge sees the releases of its block, and of asyncio tasks and contexts that were copied inside it. This release would "
        "be made in another thread, task or process while the charge is open, or after it has ended, and nobody would pay for it. "
        "No noise was drawn.",
        "Start threads with contextvars.copy_context().run, end them before the charge, and make a charge of its own in each "
        "process. What no charge is about is released in `with dpaudit.releases.outside_charges():`.",
    ),
    "DPA809": Explanation(
        "insecure noise in a charge",
        "The noise of a release that a ledger pays for would come from a seeded, recorded or enumerated source. Whoever knows the "
        "seed can take the noise away. No noise was drawn.",
        "Leave out source and random_state in what is released; tests that need a seed run outside of charges, without the budget.",
    ),
    "DPA810": Explanation(
        "charge refused",
        "A budget of the ledger does not cover the charge. Nothing was spent.",
        "Release less or with more noise. A budget is not enlarged after results were seen.",
    ),
    "DPA811": Explanation(
        "no budget covers the scope",
        "Nothing may be spent on a scope that no budget was opened for.",
        "Open a budget for the dataset and unit with `dpaudit ledger init`, or correct the scope.",
    ),
    "DPA812": Explanation(
        "no right to the ledger",
        "The role that connects to the server may not do this: a spender charges its own scopes, an auditor reads, and the owner "
        "opens budgets. Nothing was changed.",
        "Connect as another role, or let the owner give the right with `dpaudit ledger grant`.",
    ),
    "DPA813": Explanation(
        "charge may have been made",
        "The server did not answer after a change was sent, and stayed away. The change was made or not; nothing was released for "
        "it.",
        "Look for it with `dpaudit ledger show`. A call with a key may be repeated, and is charged once.",
    ),
    "DPA814": Explanation(
        "ledger was moved",
        "The ledger goes on at another place. What is left here can be read, but two that take charges would spend a budget twice.",
        "Use the ledger where it was moved to; `dpaudit ledger show` names the entry.",
    ),
    "DPA815": Explanation(
        "key was used",
        "The key stands for another charge, or for one whose block has come to its end and whose release was made. Nothing was "
        "spent.",
        "Give each release its own key; for a release that was made, use its result.",
    ),
    "DPA816": Explanation(
        "entry too large",
        "An entry on a server has at most 16 MB. Nothing was changed; a charge whose releases do not fit stays open, and spent.",
        "Make fewer releases in one block.",
    ),
}
