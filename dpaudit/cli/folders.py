"""Folders of results, made before the work, so that hours of it do not end at a closed door."""

from __future__ import annotations

import os
from pathlib import Path

from dpaudit.errors import InvalidArgument


def make_folder(folder: Path) -> None:
    """Make a folder, unless it is there, and see that it may be written."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "not a possible path"
        raise InvalidArgument(
            "DPA503", f"the folder {folder} cannot be made ({reason}). Name one that can be made, such as report."
        ) from error
    if not os.access(folder, os.W_OK | os.X_OK):
        raise InvalidArgument("DPA503", f"the folder {folder} may not be written. Name one that you may write to, such as report.")
