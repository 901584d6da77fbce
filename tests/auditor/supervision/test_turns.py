"""Work side by side: who gets how many workers, what waits for what, and what is left when one part fails or is interrupted."""

from __future__ import annotations

import os
import time
from contextlib import suppress
from pathlib import Path

import pytest

from dpaudit.auditor.supervision.apart import run_apart, steps_apart
from dpaudit.auditor.supervision.limits import Limits
from dpaudit.auditor.supervision.turns import Piece, side_by_side
from dpaudit.errors import TargetFailure

LIMITS = Limits(seconds=20, memory=2**28)


def piece(work, *, waits=False):
    return Piece(lambda _: steps_apart(work, LIMITS), waits=waits)


@pytest.mark.parametrize(
    ("pieces", "workers", "shares"),
    [(1, 1, [1]), (1, 4, [4]), (2, 4, [2, 2]), (3, 4, [1, 1, 2]), (3, 2, [1, 1, 2]), (5, 2, [1, 1, 1, 1, 2])],
)
def test_workers_are_shared_and_the_last_one_gets_what_is_free(pieces, workers, shares):
    given = []

    def steps(number):
        yield ()
        return number

    def start(workers):
        given.append(workers)
        return steps(len(given) - 1)

    ended = list(side_by_side([Piece(start)] * pieces, workers))
    assert [(place, place) for place in range(pieces)] == sorted(ended)
    assert shares == given


def test_pieces_run_at_the_same_time_and_end_in_their_own_order():
    started = time.monotonic()
    ended = list(side_by_side([piece(lambda _: time.sleep(1.0)), piece(lambda _: time.sleep(0.2) or "soon")], 2))
    assert [(1, "soon"), (0, None)] == ended
    assert time.monotonic() - started < 10


def test_what_waits_starts_after_the_first_piece():
    first, second = piece(lambda _: time.sleep(0.3) or "first"), piece(lambda _: "second", waits=True)
    assert ["first", "second"] == [found for _, found in side_by_side([first, second], 2)]


def test_a_failure_ends_all_that_is_at_work():
    pids = []

    def hangs(send):
        send(os.getpid())
        time.sleep(60)

    def start(_):
        return steps_apart(hangs, LIMITS, pids.append)

    with pytest.raises(TargetFailure, match="exit status 3"):
        list(side_by_side([Piece(start), piece(lambda _: time.sleep(0.5) or os._exit(3))], 2))
    (hanging,) = pids
    with pytest.raises(ProcessLookupError):
        os.kill(hanging, 0)


def test_a_process_holds_no_pipe_of_the_one_beside_it():
    """A target that could write to the pipes of another one would speak for it, or end it."""

    def listed(_):
        found = 0
        for one in Path("/proc/self/fd").iterdir():
            with suppress(FileNotFoundError):  # the descriptor of this folder
                found += str(one.readlink()).startswith("pipe:")
        return found

    alone = run_apart(listed, LIMITS)
    beside = [piece(lambda _: time.sleep(0.5)), piece(listed), piece(listed)]
    assert [alone, alone] == [found for place, found in side_by_side(beside, 3) if place]
