"""Make and keep `.venv`: the locked packages and this project, nothing else."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from devtools.exclusive import exclusive
from devtools.failures import SetupFailure, file_failure, pip_failure
from devtools.quick import locked_entry, uv_settings
from devtools.stamp import Stamp, read_stamp, wanted_stamp, write_stamp

LOCK_NAME: Final = ".setup.lock"
LOCKED: Final = ("--require-hashes", "--only-binary", ":all:")
"""How pip and uv are told to install nothing but ready-made wheels that are byte for byte those of the lock file."""
_MISLEADING: Final = ("PYTHONHOME", "PYTHONPATH", "PIP_USER", "PIP_TARGET", "PIP_PREFIX", "__PYVENV_LAUNCHER__")
"""Variables that would make the environment's Python import from, or its pip install to, somewhere else."""


@dataclass(frozen=True)
class Checkout:
    """A copy of the project, by its folder."""

    root: Path

    @property
    def environment(self) -> Path:
        """Where the virtual environment is."""
        return self.root / ".venv"

    @property
    def stamp(self) -> Path:
        """Where the environment's stamp is."""
        return self.environment / "stamp.json"

    @property
    def log(self) -> Path:
        """Where pip's output of the last set-up is."""
        return self.environment / "setup.log"

    def program(self, name: str) -> Path:
        """The path of a program of the environment, such as "python" or "dpaudit"."""
        return self.environment / "Scripts" / f"{name}.exe" if os.name == "nt" else self.environment / "bin" / name


def prepare(checkout: Checkout) -> None:
    """Make `.venv` unless it is already what the lock file, pyproject.toml and this interpreter ask for.

    Raises:
      SetupFailure: it cannot be made; the text is one sentence with the remedy.
    """
    try:
        wanted = wanted_stamp(checkout.root)
        if _is_current(checkout, wanted):
            return
        if importlib.util.find_spec("venv") is None or importlib.util.find_spec("ensurepip") is None:
            raise SetupFailure(
                "this Python comes without venv or ensurepip; install them (Debian and Ubuntu: `apt install python3-venv`) "
                "or use a Python from python.org, and repeat the command."
            )
        _make_room(checkout)
        with exclusive(checkout.environment / LOCK_NAME, lambda: _say("another process is setting up .venv; waiting for it")):
            if not _is_current(checkout, wanted):  # the other process may have done it
                _set_up(checkout, wanted)
    except OSError as error:
        raise file_failure(error, checkout.root) from error


def clean_environment() -> dict[str, str]:
    """The environment variables for programs of `.venv`, without those that point Python or pip elsewhere."""
    return {name: value for name, value in os.environ.items() if name not in _MISLEADING}


def _is_current(checkout: Checkout, wanted: Stamp) -> bool:
    """Whether `.venv` was made from what `wanted` says and is still whole."""
    found = read_stamp(checkout.stamp)
    return found is not None and found.matches(wanted) and _is_whole(checkout, found)


def _is_whole(checkout: Checkout, found: Stamp) -> bool:
    """Whether the environment's Python starts and every package that was installed is still there."""
    if not set(found.installed) <= set(_installed(checkout)):
        return False
    try:
        code = subprocess.run(
            [checkout.program("python"), "-I", "-S", "-c", ""], check=False, capture_output=True, env=clean_environment()
        ).returncode
    except OSError:
        return False
    return code == 0


def _packages(checkout: Checkout) -> list[Path]:
    """The environment's folders of installed packages."""
    folders = [checkout.environment / "Lib" / "site-packages", *(checkout.environment / "lib").glob("python3*/site-packages")]
    return [folder for folder in folders if folder.is_dir()]


def _installed(checkout: Checkout) -> tuple[str, ...]:
    """Names of the metadata folders in the environment's site-packages."""
    return tuple(sorted(entry.name for folder in _packages(checkout) for entry in folder.glob("*.dist-info")))


def _make_room(checkout: Checkout) -> None:
    """Make sure that `.venv` is a folder of this checkout; a link or a file in its place is removed, what it points to is not."""
    place = checkout.environment
    if place.is_symlink() or (place.exists() and not place.is_dir()):
        place.unlink()
    place.mkdir(exist_ok=True)


def _set_up(checkout: Checkout, wanted: Stamp) -> None:
    """Bring `.venv` up to date, keeping the packages when only pyproject.toml changed."""
    started = time.monotonic()
    found = read_stamp(checkout.stamp)
    if found is None or found.packages != wanted.packages or not _is_whole(checkout, found):
        _say("setting up .venv from requirements.lock; this happens once and takes a minute or more")
        _refuse_own_interpreter(checkout)
        checkout.stamp.unlink(missing_ok=True)
        _clear(checkout)
        _create(checkout)
        _install(checkout, checkout.root / "requirements.lock")
        _compile(checkout)
        found = Stamp(packages=wanted.packages, project="", installed=_installed(checkout))
    write_stamp(checkout.stamp, replace(found, project=""))
    _pip(checkout, "--no-deps", "--no-index", "--no-build-isolation", "-e", str(checkout.root))
    write_stamp(checkout.stamp, replace(wanted, installed=_installed(checkout)))
    _say(f".venv is ready after {time.monotonic() - started:.0f} s")


def _refuse_own_interpreter(checkout: Checkout) -> None:
    """Windows cannot delete a running program, so the environment cannot be rebuilt by its own Python there."""
    if os.name == "nt" and Path(sys.prefix) == checkout.environment:
        raise SetupFailure("this Python belongs to .venv, which has to be made again; run `deactivate` and repeat the command.")


def _clear(checkout: Checkout) -> None:
    """Empty `.venv`, except for the lock that this process holds."""
    for entry in checkout.environment.iterdir():
        if entry.name == LOCK_NAME:
            continue
        if entry.is_dir() and not entry.is_symlink():
            shutil.rmtree(entry)
        else:
            entry.unlink()


def _create(checkout: Checkout) -> None:
    """Create a virtual environment with pip, from the interpreter that runs this script."""
    interpreter = getattr(sys, "_base_executable", sys.executable)  # sys.executable is gone already if it was that of .venv
    made = subprocess.run(
        [interpreter, "-m", "venv", checkout.environment], check=False, capture_output=True, text=True, env=clean_environment()
    )
    if made.returncode:
        last = ((made.stdout + made.stderr).strip().splitlines() or ["no message"])[-1]
        raise SetupFailure(
            f"`{interpreter} -m venv` failed with {last!r}; install a complete Python 3.11 or newer "
            "(Debian and Ubuntu: `apt install python3-venv`) and repeat the command."
        )


def _install(checkout: Checkout, locked: Path) -> None:
    """Install the locked packages: with uv where it can be had, else with pip."""
    if not _uv(checkout, locked):
        _pip(checkout, *LOCKED, "--no-compile", "-r", str(locked))


def _uv(checkout: Checkout, locked: Path) -> bool:
    """Whether uv, installed as it is locked, has installed all the locked packages; its output goes to the log."""
    entry = locked_entry(locked.read_text(encoding="utf-8"), "uv")
    if not entry:
        return False
    alone = checkout.environment / "uv.txt"
    alone.write_text(entry, encoding="utf-8")
    try:
        _pip(checkout, *LOCKED, "--retries", "1", "-r", str(alone))
    except SetupFailure:
        return False  # this platform has no uv, or there is no network: then pip says so
    python, clean = checkout.program("python"), clean_environment()
    listed = subprocess.run([python, "-m", "pip", "config", "list"], check=False, capture_output=True, text=True, env=clean).stdout
    command: Sequence[str | Path] = [
        checkout.program("uv"), "pip", "install", "--no-config", "--python", python, *LOCKED, "-r", locked
    ]  # fmt: skip
    variables = {name: value for name, value in clean.items() if not name.startswith("UV_")} | uv_settings(listed)
    with checkout.log.open("a", encoding="utf-8") as log:
        shown = None if sys.stderr.isatty() else log  # on a terminal uv shows how far it has come, as pip does
        return subprocess.run(command, check=False, stdout=log, stderr=shown, env=variables).returncode == 0


def _pip(checkout: Checkout, *arguments: str) -> None:
    """Run `pip install` in the environment, count packages on a terminal, and turn a failure into one sentence."""
    command: Sequence[str | Path] = [
        checkout.program("python"), "-m", "pip", "install", "--no-input", "--disable-pip-version-check", *arguments
    ]  # fmt: skip
    lines: list[str] = []
    with (
        checkout.log.open("a", encoding="utf-8") as log,
        subprocess.Popen(
            command,
            cwd=checkout.root,
            env=clean_environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            encoding="utf-8",
            errors="replace",
        ) as process,
    ):
        for line in process.stdout or ():
            log.write(line)
            lines.append(line.rstrip())
            _show_progress(sum(text.startswith("Collecting ") for text in lines), line)
    if process.returncode:
        raise pip_failure(lines, checkout.log)


def _compile(checkout: Checkout) -> None:
    """Compile the installed packages on all processors, which pip does on one; their own tests, a third of the files, never run."""
    command: Sequence[str | Path] = [
        checkout.program("python"), "-m", "compileall", "-q", "-j", "0", "-x", r"[/\\]tests[/\\]", *_packages(checkout)
    ]  # fmt: skip
    # What cannot be compiled, a template for example, is never imported either.
    subprocess.run(command, check=False, capture_output=True, env=clean_environment())


def _show_progress(count: int, line: str) -> None:
    """On a terminal, overwrite one line with how far pip has come."""
    if not sys.stderr.isatty():
        return
    step = f"dev: {count} packages found" if line.startswith("Collecting ") else "dev: installing the packages"
    if line.startswith(("Collecting ", "Installing collected")):
        sys.stderr.write(f"\r{step} ... " + ("\n" if line.startswith("Installing") else ""))
        sys.stderr.flush()


def _say(text: str) -> None:
    """Tell the person at the terminal; standard output is left to the commands themselves."""
    sys.stderr.write(f"dev: {text}\n")
    sys.stderr.flush()
