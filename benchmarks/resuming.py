"""Long measurements that may be interrupted: jobs on several processes, each result a line of a file that the next start reads.

Results belong to the code that gave them, so a file is for one version of it; jobs that the file does not name are made.
"""

from __future__ import annotations

import json
import signal
import sys
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from itertools import islice
from pathlib import Path
from typing import Any, TypeAlias

from rich.progress import track

Job: TypeAlias = dict[str, Any]
Found: TypeAlias = dict[str, Any]


def results(
    jobs: Iterable[Job], work: Callable[[Job], Found], *, state: Path | None, workers: int, title: str
) -> list[Found | None]:
    """What came of each job, in their order; None for those that an interrupt (Ctrl-C) left undone.

    Jobs and results are plain data. Each result is added to the `state` file when it is there; jobs it has already are not done
    again. With one worker the work is done in this process.
    """
    listed = list(jobs)
    known = {} if state is None else read_back(state)
    left = [job for job in listed if key_of(job) not in known]
    done = _inline(left, work) if workers == 1 else _spread(left, work, workers)
    try:
        for job, found in track(done, title, total=len(left), disable=not sys.stderr.isatty()):
            known[key_of(job)] = found
            if state is not None:
                with state.open("a", encoding="utf-8") as file:
                    file.write(json.dumps({"job": job, "found": found}, sort_keys=True) + "\n")
    except KeyboardInterrupt:
        sys.stderr.write(f"{title}: interrupted; {sum(key_of(job) in known for job in listed)} of {len(listed)} are done\n")
    return [known.get(key_of(job)) for job in listed]


def key_of(job: Job) -> str:
    """A job as text, by which it is known again."""
    return json.dumps(job, sort_keys=True)


def read_back(state: Path) -> dict[str, Found]:
    """Results in a file by their jobs. A last line that was cut short is taken off, so that the next one starts afresh."""
    if not state.exists():
        return {}
    text = state.read_text(encoding="utf-8")
    whole = text[: text.rfind("\n") + 1]
    if whole != text:
        state.write_text(whole, encoding="utf-8")
    lines = [json.loads(line) for line in whole.splitlines()]
    return {key_of(line["job"]): line["found"] for line in lines}


def _inline(jobs: list[Job], work: Callable[[Job], Found]) -> Iterator[tuple[Job, Found]]:
    """One job after another, here."""
    return ((job, work(job)) for job in jobs)


def _spread(jobs: list[Job], work: Callable[[Job], Found], workers: int) -> Iterator[tuple[Job, Found]]:
    """Jobs with their results as they come; few wait at a time, so that an interrupt waits for little."""
    # Workers leave Ctrl-C to this process, which lets them finish what they are at.
    with ProcessPoolExecutor(workers, initializer=signal.signal, initargs=(signal.SIGINT, signal.SIG_IGN)) as pool:
        supply = iter(jobs)
        pending: dict[Future[Found], Job] = {pool.submit(work, job): job for job in islice(supply, workers + 1)}
        while pending:
            for future in wait(pending, return_when=FIRST_COMPLETED).done:
                yield pending.pop(future), future.result()
                pending.update({pool.submit(work, job): job for job in islice(supply, 1)})
