"""Any command-line program as an audit target: one line of JSON in, one line of JSON out, for every release."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpaudit.claims import Claim
from dpaudit.errors import InvalidArgument, TargetFailure
from dpaudit.exact import Exact, positive
from dpaudit.targets import Target

if TYPE_CHECKING:
    from numpy.random import Generator


def from_program(
    command: Sequence[str | os.PathLike[str]], *, claim: Claim, batches: bool = False, timeout: Exact = 60, **others: Any
) -> Target:
    """A program in any language as an audit target.

    For every release the program reads one line {"data": ..., "seed": ...} from its standard input and writes one line of JSON, the
    output, to its standard output; at the end of the input it ends with code 0. Data never appear in arguments, in the environment
    or in an error, and there is no shell.

    Args:
      command: the program and its arguments, a program without folders being looked up on PATH.
      claim: what one release promises.
      batches: whether one process may get the lines of many releases, which saves starting it for each; a process a release
        otherwise, so that no release can remember another one.
      timeout: seconds that one process may take, exact, positive.
      others: what else a Target takes: `neighbours` or `data` that JSON can hold (arrays are lists there), `name` and others.
    Returns:
      A Target. The seed is below 2**53; runs can be replayed if all the program's randomness comes from it.
    Raises:
      InvalidArgument: a command that is a text or empty (DPA105), no program of that name (DPA103), no timeout (DPA101,
        DPA102, DPA104), or what a Target refuses (DPA404).
      TargetFailure: from runs: another exit code than 0 (DPA410), too slow (DPA411), or not the lines asked for (DPA412).
    Source: docs/adapters.md, "Programs".
    Example:
      >>> import sys
      >>> from dpaudit import Claim, PureDP
      >>> echo = [sys.executable, "-c", "import json; print(len(json.loads(input())['data']))"]
      >>> target = from_program(echo, claim=Claim(PureDP(epsilon=1)), data=[1, 2, 3])
      >>> import numpy as np
      >>> target.run(target.data, np.random.default_rng(1))
      3
    """
    listed = isinstance(command, Sequence) and not isinstance(command, (str, bytes)) and len(command) > 0
    if not listed or not all(isinstance(word, (str, os.PathLike)) for word in command):
        raise InvalidArgument(
            "DPA105", 'a command must be a non-empty sequence of texts such as ["python3", "release.py"]; there is no shell.'
        )
    words = [os.fspath(word) for word in command]
    if shutil.which(words[0]) is None:
        raise InvalidArgument("DPA103", f"{Path(words[0]).name} cannot be found as a program that may be run. Check its path.")
    seconds = float(positive(timeout, "timeout"))

    def sample(data: Any, count: int, rng: Generator) -> list[Any]:
        return _run_program(words, [{"data": data, "seed": int(rng.integers(2**53))} for _ in range(count)], seconds)

    function = {"sample": sample} if batches else {"run": lambda data, rng: sample(data, 1, rng)[0]}
    return Target(claim=claim, **{"name": Path(words[-1]).name, **function, **others})


def _run_program(words: list[str], requests: list[dict[str, Any]], seconds: float) -> list[Any]:
    """The outputs of one process, one for each request."""
    lines = "".join(json.dumps(request, default=_plain) + "\n" for request in requests)
    try:
        done = subprocess.run(words, input=lines, capture_output=True, timeout=seconds, check=False, encoding="utf-8")  # noqa: S603
    except subprocess.TimeoutExpired:
        raise TargetFailure("DPA411", f"the program did not end within {seconds:g} seconds.") from None
    except UnicodeDecodeError:
        raise TargetFailure("DPA412", "the program wrote something that is not UTF-8.") from None
    if done.returncode:
        raise TargetFailure("DPA410", f"the program ended with exit code {done.returncode}; what it printed is not shown.")
    try:
        outputs = [json.loads(line) for line in done.stdout.split("\n") if line.strip()]
    except ValueError:
        raise TargetFailure("DPA412", "the program wrote a line that is not JSON.") from None
    if len(outputs) != len(requests):
        raise TargetFailure("DPA412", f"the program wrote {len(outputs)} lines for {len(requests)} releases.")
    return outputs


def _plain(value: Any) -> Any:
    """Arrays and their numbers as what JSON has."""
    if not hasattr(value, "tolist"):
        raise InvalidArgument("DPA105", f"a program is given its data as JSON, which has no {type(value).__name__}.")
    return value.tolist()
