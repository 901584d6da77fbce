"""Targets that are broken on purpose, each by a mistake that was published or is made often; an audit must refute every one."""

from __future__ import annotations

from typing import Final

from dpaudit.claims import Adjacency, ApproxDP, Claim, PureDP
from dpaudit.targets import Target
from mechanisms.targets import specimens
from mechanisms.targets.queries import CLINICS

_ROW: Final = Adjacency("norm_ball", norm="linf", radius=1)

TARGETS: Final = (
    Target(
        name="broken_sparse_vector",
        description="broken on purpose: answers without noise, compared with a noisy threshold (Lyu, Su, Li 2017, Algorithm 5)",
        sample=specimens.sparse_vector_with_one_noise,
        claim=Claim(PureDP(epsilon=1), adjacency=_ROW, note="wrong: the comparisons have no noise of their own"),
        proof="mechanisms.targets.programs:sparse_vector_with_one_noise(epsilon=1)",
        neighbours=[((0, 1), (1, 0))],
        public_data=True,
    ),
    Target(
        name="broken_noisy_max",
        description="broken on purpose: a noisy maximum that is shown, not only its place (Ding and others 2018, Algorithm 7)",
        sample=specimens.noisy_max_with_value,
        claim=Claim(PureDP(epsilon=1), adjacency=_ROW, note="wrong: the maximum is low only if the noise of all scores is"),
        proof="mechanisms.targets.programs:noisy_max_with_value(epsilon=1)",
        neighbours=[((0,) * 5, (1,) * 5)],
        public_data=True,
    ),
    Target(
        name="broken_keys",
        description="broken on purpose: keys of people counted as if everybody had one record (Wilson and others 2020)",
        sample=specimens.keys_of_unbounded_people,
        claim=Claim(ApproxDP(epsilon=1, delta="1/50"), note="wrong: a person counts for every clinic, not for one"),
        neighbours=[((), (CLINICS,))],
        public_data=True,
    ),
)
