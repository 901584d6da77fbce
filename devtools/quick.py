"""How uv is called where it installs the locked packages: many at a time, so in a fifth of pip's time.

uv is itself a locked package, which pip installs first. Where it is not to be had or fails, pip installs everything: it knows every
setting of a network, and its errors are those that people look up.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from typing import Final

_READS: Final[Mapping[str, str]] = {
    "index-url": "UV_DEFAULT_INDEX",
    "find-links": "UV_FIND_LINKS",
    "no-index": "UV_NO_INDEX",
    "cert": "SSL_CERT_FILE",
    "proxy": "ALL_PROXY",
}
"""The name that uv has for a setting of pip. Further indexes are left out: uv would prefer them, where pip compares versions."""


def locked_entry(lock: str, package: str) -> str:
    """The lines of `package` in a lock file, its hashes among them; empty when it is not locked."""
    found = re.search(rf"^{re.escape(package)}==.*(?:\n[ \t]+.*)*", lock, re.MULTILINE)
    return found.group() + "\n" if found else ""


def uv_settings(listed: str) -> dict[str, str]:
    """Variables with which uv uses the package index that pip uses, from what `pip config list` prints.

    A variable of the environment, which pip lists as `:env:`, counts more than a file, as it does for pip.
    """
    lines = [line.partition("=") for line in listed.splitlines()]
    ordered = sorted(lines, key=lambda line: line[0].startswith(":env:"))
    settings = {
        _READS[name]: str(ast.literal_eval(value)) for key, _, value in ordered if (name := key.rpartition(".")[2]) in _READS
    }
    if "UV_FIND_LINKS" in settings:
        settings["UV_FIND_LINKS"] = ",".join(settings["UV_FIND_LINKS"].split())
    return settings
