"""Refusals that teach: for each construct why it is not read, and the nearest rewrite with the user's own names."""

from __future__ import annotations

import ast
from typing import Final

from dpaudit.verifier.frontend import OutsideSubset
from dpaudit.verifier.ir import Place

REWRITES: Final[dict[str, tuple[str, str, str]]] = {
    "seed": ("DPA706", "noise from a constant seed is noise that everybody knows", "rng = np.random.default_rng()"),
    "private keys": (
        "DPA706",
        "which keys occur in the data is itself private",
        "for key in KEYS:  # KEYS: a public list of keys, known before the data",
    ),
    "draw per record": (
        "DPA706",
        "one draw per record shows how many records there are",
        "total = sum(values) + noise  # draw once, after the loop",
    ),
    "private length": (
        "DPA706",
        "dividing by a private number of records has no bounded sensitivity",
        "n = len({0}) + np.random.laplace(0, 1 / eps); mean = total / max(n, 1)",
    ),
    "record by index": (
        "DPA706",
        "records come and go, so no place belongs to one of them",
        "for record in {0}: ...",
    ),
    "sorted": (
        "DPA706",
        "one record can move an order statistic without bound",
        "sum(1 for x in {0} if x <= threshold)  # count at public thresholds",
    ),
    "noise by hand": (
        "DPA706",
        "this generator's draws follow no law that the verifier knows",
        "np.random.laplace(0, sensitivity / eps)",
    ),
    "mutation": (
        "DPA706",
        "an object that remembers may say more than one call returns",
        "return value  # return the new state instead of storing it",
    ),
    "while data": ("DPA706", "the number of rounds would show the private data", "for record in {0}: ..."),
    "two generators": ("DPA705", "an iterator is empty after it was gone through once", "{0} = list({0})  # keep the elements"),
    "opaque": (
        "DPA706",
        "a rounded or formatted release is not computed here",
        "decide on the release itself, and round when returning",
    ),
    "try": ("DPA701", "which error occurs may depend on the data", "state in requires=[...] what keeps the error away"),
}
"""For each construct: code, why (at most twelve words), and the rewrite, in which {0} is a name of the user's."""


def teach(node: ast.AST, key: str, construct: str, name: str = "data", line: int | None = None) -> OutsideSubset:
    """The refusal of a construct of the table, to be raised."""
    code, why, rewrite = REWRITES[key]
    return refuse(node, construct, f"{why}; write `{rewrite.format(name)}`", code, line)


def refuse(node: ast.AST, construct: str, hint: str, code: str = "DPA701", line: int | None = None) -> OutsideSubset:
    """The refusal of a construct, to be raised."""
    return OutsideSubset(code, Place(line or int(getattr(node, "lineno", 1)), getattr(node, "col_offset", 0) + 1), construct, hint)
