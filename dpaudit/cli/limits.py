"""The options that limit what each target may use."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import click

_TIME: Final = click.option(
    "--time-limit", metavar="SECONDS", help="End a target that takes longer; without it, one that is silent for ten minutes."
)
_MEMORY: Final = click.option("--memory-limit", metavar="SIZE", help="End a target that holds more memory; 4 GiB unless given.")


def limits(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add --time-limit and --memory-limit to a command."""
    return _TIME(_MEMORY(command))
