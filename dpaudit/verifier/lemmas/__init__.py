"""Lemmas that proofs of privacy lean on, as data, each confirmed by two solvers or by one and the kernel."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from dpaudit.verifier.lemmas import composition, conversions, floats, groups, learners, selection, sensitivity, words
from dpaudit.verifier.lemmas.boxes import Cover, Inequality, positive_on
from dpaudit.verifier.lemmas.inequalities import INEQUALITIES
from dpaudit.verifier.lemmas.questions import Question, Reply, asked
from dpaudit.verifier.lemmas.statements import Confirmation, Lemma, checked

_GROUPS: Final = (composition, groups, selection, sensitivity, conversions, learners, words, floats)
LEMMAS: Final[Mapping[str, Lemma]] = MappingProxyType({lemma.name: lemma for group in _GROUPS for lemma in group.LEMMAS})
"""Every lemma by its name."""
QUESTIONS: Final = (*words.QUESTIONS, *floats.QUESTIONS)
"""Every question about machine words and floating-point numbers."""

__all__ = [
    "INEQUALITIES", "LEMMAS", "QUESTIONS", "Confirmation", "Cover", "Inequality", "Lemma", "Question", "Reply",
    "asked", "checked", "positive_on",
]  # fmt: skip
