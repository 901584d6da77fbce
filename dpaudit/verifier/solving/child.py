"""cvc5 in a process of its own, which ends when it has computed for too long: not all of its parts count their steps.

The child reads one request a line, {"text": ..., "seconds": ..., "most": ...}, and answers each by one line, {"answer": ...,
"values": ..., "spent": ...}; `most` ends it, whatever it does, and `spent` is the processor time it took.
"""

from __future__ import annotations

import atexit
import json
import subprocess
import sys
import threading
import time
from fractions import Fraction
from functools import lru_cache
from os import getpid
from typing import IO, Any, Final, TypeAlias

from dpaudit.verifier.fuel import charge_elsewhere, seconds_left, spend
from dpaudit.verifier.solving.limits import GUARD, cvc5_options, limit_process

Values: TypeAlias = dict[str, int | Fraction | bool]
"""Values of the constants of a text by their quoted names."""

_GRACE: Final = 1.0
"""Seconds of the processor, beyond its own limit, after which the child ends."""


_PROGRAM: Final = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); "
    "from dpaudit.verifier.solving.child import serve; serve(sys.stdin, sys.stdout)"
)


class Child:
    """A process that answers with cvc5; it is started when first asked, and again after it was killed."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[str] | None = None
        self._turn = threading.Lock()

    def ask(self, text: str, seconds: float) -> tuple[str, Values | None]:
        """Ask cvc5 about a text: its answer, "unknown" if it ended without one, and the values of the constants of a "sat"."""
        spend()
        with self._turn:
            process = self._running()
            if process.stdin is None or process.stdout is None:
                raise OSError("the solver's process has no pipes")
            clock = threading.Timer(GUARD * (seconds + _GRACE), process.kill)
            clock.start()
            most = min(seconds + _GRACE, max(seconds_left(), 0.0))
            try:
                process.stdin.write(json.dumps({"text": text, "seconds": seconds, "most": most}) + "\n")
                process.stdin.flush()
                line = process.stdout.readline()
            except OSError:
                line = ""
            finally:
                clock.cancel()
            if not line:
                self.stop()
                charge_elsewhere(most)
                spend()
                return "unknown", None
        reply = json.loads(line)
        charge_elsewhere(reply["spent"])
        spend()
        return reply["answer"], None if reply["values"] is None else {name: _read(value) for name, value in reply["values"].items()}

    def stop(self) -> None:
        """End the process, if there is one."""
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None

    def _running(self) -> subprocess.Popen[str]:
        """The process, ready to be asked."""
        if self._process is None or self._process.poll() is not None:
            # The child finds what this process finds: -P keeps files of the working directory out of its way.
            command = [sys.executable, "-P", "-c", _PROGRAM, json.dumps(sys.path)]
            self._process = subprocess.Popen(  # noqa: S603 - this module, by this interpreter
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
            )
            if self._process.stdout is not None:
                self._process.stdout.readline()
        return self._process


def cvc5_here() -> Child:
    """The child of this process and thread."""
    return _child(getpid(), threading.get_ident())


@lru_cache(maxsize=64)
def _child(process: int, thread: int) -> Child:
    """One child for each thread, ended with the process; a forked process does not share its parent's."""
    del process, thread
    child = Child()
    atexit.register(child.stop)
    return child


def _read(value: bool | str) -> int | Fraction | bool:  # noqa: FBT001 - a value as JSON has it
    """A value as the child wrote it: a truth value, "3" for an int, "3/1" for a rational number."""
    if isinstance(value, bool):
        return value
    return Fraction(value) if "/" in value else int(value)


def _answer(text: str, seconds: float) -> tuple[str, dict[str, Any] | None]:
    """Ask cvc5 about a text, in this process."""
    import cvc5  # type: ignore[import-untyped]

    solver = cvc5.Solver(cvc5.TermManager())
    for option, value in {**cvc5_options(seconds), "produce-models": "true"}.items():
        solver.setOption(option, value)
    names = cvc5.SymbolManager(solver.getTermManager())
    parser = cvc5.InputParser(solver, names)
    parser.setStringInput(cvc5.InputLanguage.SMT_LIB_2_6, text, "obligation")
    answer = "unknown"
    while not (command := parser.nextCommand()).isNull():
        if command.getCommandName() == "check-sat":
            answer = str(solver.checkSat())
        else:
            command.invoke(solver, names)
    return answer, _values(solver, names) if answer == "sat" else None


def _values(solver: Any, names: Any) -> dict[str, bool | str] | None:
    """The values of all constants; None where one is no rational number."""
    values: dict[str, bool | str] = {}
    for declared in names.getDeclaredTerms():
        if not declared.getSort().isFunction():
            value = solver.getValue(declared)
            if not (value.isBooleanValue() or value.isIntegerValue() or value.isRealValue()):
                return None
            exact, real = value.toPythonObj(), declared.getSort().isReal()
            number = f"{Fraction(exact).numerator}/{Fraction(exact).denominator}" if real else str(exact)
            values[f"|{declared.getSymbol()}|"] = exact if isinstance(exact, bool) else number
    return values


def serve(requests: IO[str], replies: IO[str]) -> None:
    """Answer requests until there are no more; what goes wrong with one is an unknown answer."""
    replies.write("ready\n")
    replies.flush()
    for line in requests:
        request = json.loads(line)
        limit_process(request["most"])
        began = time.process_time()
        try:
            answer, values = _answer(request["text"], request["seconds"])
        except Exception:  # noqa: BLE001 - whatever a solver does wrong, it has not answered.
            answer, values = "unknown", None
        replies.write(json.dumps({"answer": answer, "values": values, "spent": time.process_time() - began}) + "\n")
        replies.flush()
