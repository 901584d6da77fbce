"""Workers that are forked from the process of one target and hold what it holds, also what cannot be pickled."""

from __future__ import annotations

import multiprocessing
import signal
from concurrent.futures import ProcessPoolExecutor


class ForkedWorkers(ProcessPoolExecutor):
    """Worker processes forked at the first call; `workload` sends them no target, since they have it already.

    Args:
      workers: how many.
    """

    def __init__(self, workers: int) -> None:
        context = multiprocessing.get_context("fork")
        super().__init__(workers, mp_context=context, initializer=signal.signal, initargs=(signal.SIGINT, signal.SIG_IGN))
