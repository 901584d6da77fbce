"""Turns: several processes followed by one thread, which shares so many workers among them."""

from __future__ import annotations

import selectors
from collections.abc import Callable, Collection, Generator, Sequence
from dataclasses import dataclass
from typing import Final, Generic, TypeAlias, TypeVar

T = TypeVar("T")

Steps: TypeAlias = Generator[Collection[int], Collection[int], T]
"""Work followed in steps: it yields the descriptors that it waits for, is sent those that are ready, and returns its result."""

_PAUSE: Final = 0.2
"""Seconds after which work gets its turn although nothing is ready, to look at its limits."""


@dataclass(frozen=True)
class Piece(Generic[T]):
    """A piece of work: what starts it, given a number of workers, and whether it waits for the end of the first piece."""

    start: Callable[[int], Steps[T]]
    waits: bool = False


def finish(steps: Steps[T]) -> T:
    """Take work to its end, and return its result."""
    ((_, result),) = side_by_side([Piece(lambda _: steps)], 1)
    return result


def side_by_side(pieces: Sequence[Piece[T]], workers: int) -> Generator[tuple[int, T]]:
    """Yield place and result of each piece as it ends; what is at work when this generator is closed is ended.

    Pieces start in their order, as soon as a worker is free. Where fewer pieces than workers are left, each gets several.
    """
    waiting, ended = dict(enumerate(pieces)), set[int]()
    running: dict[int, tuple[Steps[T], int]] = {}
    wanted: dict[int, Collection[int]] = {}
    try:
        while waiting or running:
            able = [place for place, piece in waiting.items() if not piece.waits or 0 in ended]
            free = workers - sum(share for _, share in running.values())
            turn: dict[int, Collection[int] | None] = {}
            for number, place in enumerate(able[:free]):
                share = max(1, free // (len(able) - number))
                free -= share
                running[place] = waiting.pop(place).start(share), share
                turn[place] = None
            if not turn:
                ready = _wait(wanted)
                turn |= {place: [one for one in descriptors if one in ready] for place, descriptors in wanted.items()}
            for place, sent in turn.items():
                try:
                    wanted[place] = next(running[place][0]) if sent is None else running[place][0].send(sent)
                except StopIteration as end:
                    del running[place]
                    wanted.pop(place, None)
                    ended.add(place)
                    yield place, end.value
    finally:
        for steps, _ in running.values():
            steps.close()


def _wait(wanted: dict[int, Collection[int]]) -> set[int]:
    """Wait until a descriptor can be read, or for a moment."""
    with selectors.DefaultSelector() as selector:
        for descriptors in wanted.values():
            for one in descriptors:
                selector.register(one, selectors.EVENT_READ)
        return {key.fd for key, _ in selector.select(_PAUSE)}
