"""Why set-up can fail, each in one sentence with its remedy."""

from __future__ import annotations

import errno
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Final

FAILED: Final = 2
"""Exit code when a command could not be started; 1 would read as "a claim is refuted"."""


class SetupFailure(Exception):
    """Set-up cannot go on; the text is one sentence that says what is wrong and what to do."""


_PIP_SAYS: Final = {
    r"No space left on device|Errno 28\b": "the disk is full; set-up needs about 1 GB, so free some space and repeat the command.",
    r"DO NOT MATCH THE HASHES": (
        "a downloaded package differs from the one that was locked, so nothing was installed; repeat the command, "
        "and if it happens again ask who runs your package index."
    ),
    r"CERTIFICATE_VERIFY_FAILED|SSLError|SSLCertVerificationError": (
        "the package index's certificate is not trusted here; name your network's certificate file in PIP_CERT "
        "and repeat the command."
    ),
    r"NewConnectionError|NameResolutionError|Failed to establish a new connection|Temporary failure in name resolution|"
    r"Network is unreachable|Connection refused|ConnectTimeoutError|ReadTimeoutError|Read timed out|ProxyError|"
    r"RemoteDisconnected|ConnectionResetError|IncompleteRead|ProtocolError": (
        "the package index cannot be reached; connect to the network (behind a proxy set HTTPS_PROXY, with an index of your own "
        "PIP_INDEX_URL) and repeat the command."
    ),
    r"No matching distribution found for (?P<package>[^\s(;]+)": (
        "the package index has no ready-made wheel of {package} for this Python and platform; "
        "use CPython 3.11 to 3.14 on a platform that the package supports, such as 64-bit Linux with glibc."
    ),
}
"""What pip prints, as a pattern, and the sentence to say instead; the first that matches counts."""


def pip_failure(lines: Sequence[str], log: Path) -> SetupFailure:
    """The sentence for a pip run that failed after printing `lines`, all of which are in the file `log`."""
    text = "\n".join(lines)
    for pattern, sentence in _PIP_SAYS.items():
        found = re.search(pattern, text)
        if found:
            return SetupFailure(sentence.format(**found.groupdict()))
    errors = [line.removeprefix("ERROR:").strip() for line in lines if line.startswith("ERROR:")]
    last = errors[-1] if errors else lines[-1] if lines else "no message"
    return SetupFailure(f"pip failed with {last!r}; its whole output is in {log}, repair what it names and repeat the command.")


def file_failure(error: OSError, root: Path) -> SetupFailure:
    """The sentence for a file operation below `root` that the operating system refused."""
    if error.errno in {errno.EROFS, errno.EACCES, errno.EPERM}:
        return SetupFailure(
            f"cannot write {error.filename or root}; copy the checkout to a folder that you may write to and run the command there."
        )
    if error.errno in {errno.ENOSPC, errno.EDQUOT}:
        return SetupFailure("the disk is full; set-up needs about 1 GB, so free some space and repeat the command.")
    return SetupFailure(f"cannot use {error.filename or root} ({error.strerror}); repair that and repeat the command.")
