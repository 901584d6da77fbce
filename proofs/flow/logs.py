"""The price of a log: the composition of the laws of its releases, each as often as it was made."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from dpaudit.accounting import pricing, privacy_loss
from proofs.flow.following import follow
from proofs.flow.releasing import require_same
from proofs.flow.terms import unknown, walk_through


def priced() -> None:
    """Prove that every release of a log is in its price: its law, times the number of copies."""
    composed, one, law = unknown("compose"), unknown("one_release"), unknown("_law")
    names = {"compose": composed, "one_release": one, "_law": law, "isinstance": lambda *_: True, "instance_of": lambda *_: True}
    program = follow(pricing.price_releases, names)
    log = [unknown("first release"), unknown("another release")]
    ((_, price),) = walk_through(lambda: program(log))
    wanted = [entry.count * one(law(entry), entry.adjacency) for entry in log]
    require_same(price.parts[:2], (composed, tuple(wanted)), "the price of a log")


def composed() -> None:
    """Prove that a composition holds all parts of the losses that it is made of, under one adjacency."""
    merged: list[Any] = []
    names = {
        "isinstance": lambda *_: True,
        "parts": None,  # of losses, which are no stand-ins here
        "merge_parts": lambda parts, adjacency: merged.append((list(parts), adjacency)),
        "PrivacyLoss": lambda _: merged[-1],
    }
    program = follow(privacy_loss.compose, names)
    held = [[unknown(f"law {place} of loss {loss}") for place in range(2)] for loss in range(2)]
    losses = [SimpleNamespace(parts=parts, adjacency=unknown("adjacency")) for parts in held]
    for walk, (parts, adjacency) in walk_through(lambda: program(*losses)):
        require_same(parts, held[0] + held[1], "the laws of a composition")
        require_same(adjacency, losses[0].adjacency, "the adjacency")
        wanted = [unknown("call", adjacency.require, (loss.adjacency, "two losses to be composed"), ()) for loss in losses]
        require_same(walk.calls, wanted, "losses under different adjacencies are composed")
