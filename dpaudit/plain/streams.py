"""Randomness that does not come in by arguments: global generators and the operating system's, seeded for runs.

A run of an audit repeats from its seed. Global generators are seeded once for each stretch of runs that share one generator of the
audit, so that its runs read disjoint parts of one stream, as runs that take the generator itself do.
"""

from __future__ import annotations

import os
import random
import sys
from collections.abc import Callable, Iterable
from contextvars import ContextVar
from functools import cache
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from numpy.random import Generator

_entropy: Final[ContextVar[Generator | None]] = ContextVar("entropy", default=None)
"""Where random bytes come from in the thread that makes a run; None, the operating system, everywhere else."""

_last: list[object] = [None]
"""The generator of the audit that the global ones were last seeded from; held, so that no later one has its identity."""

_taken: list[int] = [0]
"""Bytes that runs took in the place of the operating system's."""

_owned: list[bool] = [False]
"""Whether this process serves audits alone."""

_real: Final[Callable[[int], bytes]] = os.urandom


def _urandom(size: int, /) -> bytes:
    """Return random bytes: of the audit inside a run, of the operating system elsewhere, other threads included."""
    stream = _entropy.get()
    if stream is None:
        return _real(size)
    _taken[0] += 1
    return stream.bytes(size)


def _divert() -> None:
    """Let `os.urandom`, `secrets`, `SystemRandom` and numpy's unseeded generators read through `_urandom`."""
    if os.urandom is not _urandom:
        os.urandom = _urandom
        random._urandom = _urandom  # type: ignore[attr-defined]  # noqa: SLF001 - what SystemRandom and secrets read


def own_process() -> None:
    """Say that this process, and those that it forks, serve audits alone, so that all sources of randomness may be seeded.

    Elsewhere nothing global is touched: noise that a user's program draws after an audit would follow from the audit's public seed.
    """
    _owned[0] = True


def is_own_process() -> bool:
    """True if this process serves audits alone."""
    return _owned[0]


def run_seeded(call: Callable[[], Any], rng: Generator, own: tuple[Any, ...]) -> Any:
    """Make one run with all that can be seeded seeded from `rng`; `own` are generators of the user's modules."""
    if not _owned[0]:
        return call()
    if _last[0] is not rng:
        _divert()
        seed_globals(rng, own)
        _last[0] = rng
    token = _entropy.set(rng)
    try:
        return call()
    finally:
        _entropy.reset(token)


def seed_globals(rng: Generator, own: Iterable[Any] = ()) -> None:
    """Seed the global generators, and those of the user's modules."""
    import numpy as np

    random.seed(int(rng.integers(2**62)))
    np.random.seed(int(rng.integers(2**32)))  # noqa: NPY002 - the global one is what is seeded
    for one in own:
        if isinstance(one, np.random.Generator):
            one.bit_generator.state = type(one.bit_generator)(int(rng.integers(2**62))).state
        else:
            one.seed(int(rng.integers(2**32)))
    if (torch := sys.modules.get("torch")) is not None:
        torch.manual_seed(int(rng.integers(2**62)))
    if "numba" in sys.modules:
        _compiled_seed()(int(rng.integers(2**32)))


@cache
def _compiled_seed() -> Callable[[int], None]:
    """Return a function that seeds the generators of numba's code, which are its own; only compiled code reaches them."""
    import numpy as np

    def seed(number: int) -> None:
        np.random.seed(number)  # noqa: NPY002 - as above
        random.seed(number)

    compiled: Callable[[int], None] = sys.modules["numba"].njit(seed)
    return compiled


def generators_of(module: ModuleType | None) -> tuple[tuple[str, Any], ...]:
    """Return the generators that a module holds by name and that can be seeded."""
    import numpy as np

    kinds = (np.random.Generator, np.random.RandomState, random.Random)
    held = [] if module is None else list(vars(module).items())
    return tuple((name, one) for name, one in held if isinstance(one, kinds) and not isinstance(one, random.SystemRandom))


def states_of(own: Iterable[tuple[str, Any]]) -> dict[str, object]:
    """Return a stand-in for the state of every source that can be seeded, by its name."""
    import numpy as np

    shared = np.random.get_state(legacy=False)  # noqa: NPY002 - as above
    # Its key changes once in 624 draws only; position and the kept half of a normal pair tell the others.
    place = (shared["state"]["key"].tobytes(), shared["state"]["pos"], shared["has_gauss"])
    states: dict[str, object] = {"random": hash(random.getstate()), "numpy.random": place}
    for name, one in own:
        states[name] = repr(one.bit_generator.state if hasattr(one, "bit_generator") else _state_of(one))
    return {**states, "the operating system": _taken[0]}


def _state_of(one: Any) -> Any:
    """Return the state of a generator of the older kinds."""
    return one.getstate() if isinstance(one, random.Random) else one.get_state(legacy=False)
