"""Limits of solvers in steps that they count themselves, so that a busy machine gets the same answers.

Solvers count elementary steps, and the same question takes the same number of them every time. A second of patience is a number of
steps, about what an idle core does in a second on hard arithmetic; the clock is a last guard for what does not count its steps.
"""

from __future__ import annotations

import signal
from typing import Any, Final

Z3_STEPS: Final = 10_000_000
"""For each second; the hardest question about a shipped mechanism takes 1.3 million, those about programs less than 10,000."""
CVC5_STEPS: Final = 1_000_000
"""For each second; the hardest question about a shipped mechanism takes 52,000."""
GUARD: Final = 10
"""Seconds that may pass on the clock for each of patience."""


def limit_z3(solver: Any, seconds: float) -> None:
    """Limit each question to a z3 solver."""
    solver.set("rlimit", max(1, int(seconds * Z3_STEPS)))
    solver.set("timeout", max(1, int(seconds * GUARD * 1000)))


def cvc5_options(seconds: float) -> dict[str, str]:
    """Options of cvc5 that limit each question."""
    return {"rlimit-per": str(max(1, int(seconds * CVC5_STEPS))), "tlimit-per": str(max(1, int(seconds * GUARD * 1000)))}


def limit_process(seconds: float) -> None:
    """End this process once it has computed for so many seconds more; where the system cannot do that, the clock must."""
    if hasattr(signal, "setitimer"):
        # Unlike the limit of the system, which counts in seconds, the timer ends it after a part of one.
        signal.signal(signal.SIGPROF, signal.SIG_DFL)
        signal.setitimer(signal.ITIMER_PROF, max(seconds, 0.001))
    try:
        import resource
    except ImportError:  # pragma: no cover - not on Windows
        return
    used = resource.getrusage(resource.RUSAGE_SELF)
    _, most = resource.getrlimit(resource.RLIMIT_CPU)
    last = int(used.ru_utime + used.ru_stime + seconds) + 1
    resource.setrlimit(resource.RLIMIT_CPU, (last if most == resource.RLIM_INFINITY else min(last, most), most))
    resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
