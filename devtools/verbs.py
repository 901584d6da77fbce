"""The commands of `python3 dev`, each a function from its extra arguments to an exit code."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from devtools.affected import affected_tests, changed_files
from devtools.environment import Checkout, clean_environment, prepare
from devtools.failures import FAILED, SetupFailure
from devtools.rocq import ABSENT, check_rocq
from devtools.wheels import PYTHONS, missing_wheels

CHECKOUT: Final = Checkout(Path(__file__).resolve().parent.parent)
AUDIT: Final = ("audit", "--jobs", "2", "--seed", "1")
LINTERS: Final = (
    ("ruff", "check"),
    ("ruff", "format", "--check"),
    ("mypy",),
    ("lint-imports", "--no-cache"),
    ("python", "-m", "devtools.circles"),
    ("python", "-m", "devtools.sources"),
)
PARALLEL: Final = ("-n", "auto")
FAST_SECONDS: Final = 100
"""When the fast tests stop to start more: two minutes, less the longest test and the start of the next one."""
NO_TESTS: Final = 5
"""The exit code of pytest when every test was left out by its marks."""
SITE: Final = ("-m", "sphinx", "-n", "-W", "--keep-going", "-q", "-b", "html", "-d", "build/doctrees", "docs", "build/docs")
LOCK: Final = (
    "pip", "compile", "--universal", "--generate-hashes", "--no-annotate", "--no-header", "--no-emit-index-url",
    "--no-emit-find-links", "--python-version", "3.11", "--fork-strategy", "fewest", "--group", "dev", "--all-extras", "--quiet",
    "pyproject.toml", "--output-file", "requirements.lock",
)  # fmt: skip


def audit(arguments: Sequence[str]) -> int:
    """Audit a dozen releases of real records and write report/index.html and report/report.json; --all audits every target."""
    prepare(CHECKOUT)
    report = CHECKOUT.root / "report"
    shown = Path("report") if Path.cwd() == CHECKOUT.root else report
    return _run(CHECKOUT.program("dpaudit"), *AUDIT, "--report", str(shown), *arguments)


def test(arguments: Sequence[str]) -> int:
    """Run all tests but the campaign, those that a change affects first; with --fast these alone, for two minutes at most.

    Other arguments go to pytest as they are.
    """
    start = time.time()
    prepare(CHECKOUT)
    fast = list(arguments) == ["--fast"]
    if arguments and not fast:
        return _pytest(*arguments)
    change = changed_files(CHECKOUT.root)
    found = affected_tests(CHECKOUT.root, change)
    _say(f"{len(change.files)} files differ from {change.base or 'no known commit'}; they affect {len(found.tests)} test files")
    if found.reason:
        _say(f"these are all, since {found.reason}")
    first = [word for file in found.tests for word in ("--first", file)]
    if not fast:
        return _pytest(*PARALLEL, "-m", "not campaign", *first)
    if not found.tests:
        _say("nothing to run; `python3 dev test` runs everything.")
        return 0
    code = _pytest(*PARALLEL, "-m", "not slow and not campaign", "--until", f"{start + FAST_SECONDS:.0f}", *first, *found.tests)
    _say("tests marked slow or campaign were left out; `python3 dev test` runs the slow ones, `python3 dev campaign` all.")
    return 0 if code == NO_TESTS else code


def campaign(arguments: Sequence[str]) -> int:
    """Run every test at full size, every seeded fault and example among them, then the fuzzing; about an hour."""
    _take_none("campaign", arguments)
    prepare(CHECKOUT)
    codes = {"tests": _pytest(*PARALLEL, "--full-size"), "fuzzing": _fuzz()}
    failed = [name for name, code in codes.items() if code]
    _say(f"campaign failed: {', '.join(failed)}" if failed else f"campaign passed: {', '.join(codes)}")
    return 1 if failed else 0


def lint(arguments: Sequence[str]) -> int:
    """Check style, types, layers, circles, and the form of sources and pages; all checks run, whatever the first ones find."""
    _take_none("lint", arguments)
    prepare(CHECKOUT)
    codes = {" ".join(check): _run(CHECKOUT.program(check[0]), *check[1:], folder=CHECKOUT.root) for check in LINTERS}
    failed = [name for name, code in codes.items() if code]
    _say(f"lint failed: {', '.join(failed)}" if failed else f"lint passed: {', '.join(codes)}")
    return 1 if failed else 0


def docs(arguments: Sequence[str]) -> int:
    """Build the documentation as HTML in build/docs; every warning is an error. Further arguments go to sphinx."""
    prepare(CHECKOUT)
    return _run(CHECKOUT.program("python"), *SITE, *arguments, folder=CHECKOUT.root)


def benchmark(arguments: Sequence[str]) -> int:
    """List the benchmarks, or run those that are named; options after the names are theirs."""
    prepare(CHECKOUT)
    return _run(CHECKOUT.program("python"), str(CHECKOUT.root / "benchmarks" / "run.py"), *arguments)


def lock(arguments: Sequence[str]) -> int:
    """Write requirements.lock anew from pyproject.toml, with uv; `--upgrade` takes the newest versions."""
    own = CHECKOUT.program("uv")
    found = str(own) if own.exists() else shutil.which("uv")
    if found is None:
        prepare(CHECKOUT)
        raise SetupFailure(
            f"locking needs uv, which is not there; run `{CHECKOUT.program('python')} -m pip install uv` and repeat the command."
        )
    return _run(Path(found), *LOCK, *arguments, folder=CHECKOUT.root)


def wheels(arguments: Sequence[str]) -> int:
    """Ask the package index whether every locked package has a wheel for each supported Python on 64-bit Linux."""
    _take_none("wheels", arguments)
    prepare(CHECKOUT)
    missing = missing_wheels(CHECKOUT)
    for line in missing or [f"every locked package has a wheel for CPython {', '.join(PYTHONS)}"]:
        _say(line)
    return 1 if missing else 0


def rocq(arguments: Sequence[str]) -> int:
    """Check the formal proofs in proofs/rocq with Rocq, where it is installed, and print the axioms of each theorem."""
    _take_none("rocq", arguments)
    if shutil.which("coqc") is None:
        _say(ABSENT)
        return 0
    found, faults = check_rocq(CHECKOUT.root / "proofs" / "rocq", CHECKOUT.root / "build" / "rocq")
    sys.stdout.write(found)
    for fault in faults:
        _say(fault)
    return 1 if faults else 0


def explain(arguments: Sequence[str]) -> int:
    """Print this list."""
    _take_none("help", arguments)
    sys.stdout.write("python3 dev COMMAND [ARGUMENTS]\n\n")
    for name, verb in VERBS.items():
        sys.stdout.write(f"  {name:<11}{(verb.__doc__ or '').splitlines()[0]}\n")
    sys.stdout.write("\nThe first command makes .venv from requirements.lock; later ones use it as it is.\n")
    return 0


VERBS: Final[dict[str, Callable[[Sequence[str]], int]]] = {
    "audit": audit,
    "test": test,
    "campaign": campaign,
    "lint": lint,
    "docs": docs,
    "benchmark": benchmark,
    "lock": lock,
    "wheels": wheels,
    "rocq": rocq,
    "help": explain,
}


def main(arguments: Sequence[str]) -> int:
    """Run the command that `arguments` names and give the exit code of what it ran."""
    name = arguments[0] if arguments else "help"
    if name in {"-h", "--help"}:
        name = "help"
    if name not in VERBS:
        _say(f"there is no command {name!r}; the commands are {', '.join(VERBS)}.")
        return FAILED
    try:
        return VERBS[name](arguments[1:])
    except SetupFailure as failure:
        _say(str(failure))
        return FAILED
    except KeyboardInterrupt:
        _say("interrupted; the next command repairs what was left half-made.")
        return 130


def _take_none(name: str, arguments: Sequence[str]) -> None:
    """Refuse arguments for a command that has none."""
    if arguments:
        raise SetupFailure(f"`dev {name}` takes no arguments, got {' '.join(arguments)!r}; leave them out.")


def _pytest(*arguments: str) -> int:
    """Run pytest in the checkout, with the options of the tiers."""
    return _run(CHECKOUT.program("python"), "-m", "pytest", "-p", "devtools.tiers", *arguments, folder=CHECKOUT.root)


def _fuzz() -> int:
    """Hand hostile arguments to every public name, at the size of the committed results."""
    return _run(
        CHECKOUT.program("python"), str(CHECKOUT.root / "benchmarks" / "fuzzing.py"), "--workers", "2", folder=CHECKOUT.root
    )


def _run(program: Path, *arguments: str, folder: Path | None = None) -> int:
    """Run a program, pass its output through and give its exit code, 128 + n when signal n ended it."""
    variables = clean_environment() | {"PATH": os.pathsep.join([str(program.parent), os.environ.get("PATH", os.defpath)])}
    try:
        code = subprocess.run([program, *arguments], check=False, cwd=folder, env=variables).returncode
    except OSError as error:
        raise SetupFailure(f"cannot start {program} ({error.strerror}); delete .venv and repeat the command.") from error
    return code if code >= 0 else 128 - code


def _say(text: str) -> None:
    """Tell the person at the terminal."""
    sys.stderr.write(f"dev: {text}\n")
    sys.stderr.flush()
