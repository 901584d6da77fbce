"""Origins of an error: the name of its class and the line that raised it, never its text, which may quote data."""

from __future__ import annotations

import sys


def origin_of(error: BaseException) -> str:
    """Type of an error and the line that raised it; not its text, which may quote data."""
    from pathlib import Path

    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    where = "" if trace is None else f" at {Path(trace.tb_frame.f_code.co_filename).name}:{trace.tb_lineno}"
    return f"{class_name(type(error))}{where}"


def class_name(kind: type) -> str:
    """The name of a class where source code holds it; of its nearest base for a class made at run time, whose name may be data."""
    return next(base.__name__ for base in kind.__mro__ if base is object or _is_held_by_its_module(base))


def _is_held_by_its_module(kind: type) -> bool:
    """True if a class is found again under its name in the module that it names."""
    try:
        found: object = sys.modules.get(kind.__module__)
        for part in kind.__qualname__.split("."):
            found = getattr(found, part)
    except Exception:  # noqa: BLE001 - modules may answer for their attributes with code of their own
        return False
    return found is kind
