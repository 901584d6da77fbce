"""The rules: what each code means, why it matters, and what to write instead."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True)
class Rule:
    """A kind of finding: `title` in a few words, `level` as SARIF has it, why it breaks privacy, and what to write instead."""

    title: str
    level: str
    meaning: str
    remedy: str


@dataclass(frozen=True)
class Finding:
    """One line that breaks a rule.

    Args:
      code: the rule, a key of `RULES`.
      path: the file, as it was found from the paths that were given.
      line: its line in the file, from 1; in a notebook the line of the document.
      text: what is there, in a sentence.
      cell: the number of the code cell in a notebook, from 1; None elsewhere.
      cell_line: the line in that cell.
    Example:
      >>> Finding("DP103", "release.py", 4, "The generator has a constant seed.").code
      'DP103'
    """

    code: str
    path: str
    line: int
    text: str
    cell: int | None = None
    cell_line: int | None = None


RULES: Final[dict[str, Rule]] = {
    "DP101": Rule(
        "noise is a floating-point number",
        "note",
        "Noise of a continuous law is drawn and added as a float. Which floats can come out depends on the true value, so "
        "low bits of the release can reveal it, whatever epsilon is (Mironov 2012).",
        "Draw discrete Laplace or Gaussian noise on integers or on a lattice: `mechanisms` of this project, OpenDP, or "
        "Google's library.",
    ),
    "DP102": Rule(
        "noise from a predictable generator",
        "note",
        "The generators of `random`, numpy, scipy and torch are not cryptographic: their later outputs can be computed "
        "from enough of the earlier ones, and with them the noise.",
        "Draw from the operating system: `secrets`, `random.SystemRandom`, `secure_mode=True` of Opacus, or a library "
        "that does so.",
    ),
    "DP103": Rule(
        "noise from a fixed seed",
        "error",
        "The generator of privacy noise has a constant seed. Whoever reads the code can draw the noise again and subtract "
        "it; two runs on different data have the same noise.",
        "Seed nothing that noise is drawn from. Give data splits and simulations a generator of their own.",
    ),
    "DP104": Rule(
        "one draw of noise for several numbers",
        "error",
        "The same draw is added to more than one number, so their differences are released without noise.",
        "Draw noise for each number, such as with `size=len(counts)`.",
    ),
    "DP201": Rule(
        "bounds taken from the data",
        "error",
        "Values are clipped to bounds, or a library is given bounds, that were computed from the same data. One record "
        "can move them, and the sensitivity that they stand for is no longer one.",
        "Write bounds that are known without the data, or release them first with a part of the budget.",
    ),
    "DP202": Rule(
        "scale of the noise taken from the data",
        "error",
        "The sensitivity or scale is computed from the largest, smallest or typical values of the data. A neighbouring "
        "dataset has another scale, and the amount of noise reveals it.",
        "Clip to public bounds and derive the sensitivity from these, or use smooth sensitivity or propose-test-release.",
    ),
    "DP203": Rule(
        "values clipped after the noise only",
        "error",
        "The bound that the noise is scaled for is applied after the noise was added. What is noised can lie outside, "
        "where the noise does not hide a record.",
        "Clip each record first, then aggregate and add noise. Clipping the noisy result again costs nothing.",
    ),
    "DP301": Rule(
        "epsilon in the wrong place of a scale",
        "error",
        "Laplace and Gaussian noise need a scale in proportion to sensitivity / epsilon. Here a smaller epsilon does not "
        "give as much more noise, or the sensitivity counts the wrong way.",
        "Write scale = sensitivity / epsilon.",
    ),
    "DP302": Rule(
        "Gaussian noise at the scale of Laplace",
        "error",
        "Normal noise of standard deviation sensitivity / epsilon is not epsilon-DP for any epsilon, and at that epsilon "
        "its delta is large.",
        "Calibrate sigma to epsilon and delta (`dpaudit calibrate`), or draw Laplace noise.",
    ),
    "DP303": Rule(
        "variance given where a standard deviation is taken",
        "error",
        "The call takes a standard deviation and is given its square. Below 1 that is less noise than was meant; above 1 "
        "utility is lost.",
        "Give sigma, not sigma squared.",
    ),
    "DP304": Rule(
        "delta not below one in n",
        "error",
        "A delta of 1/n allows to publish one random record in full. It has to be far below 1/n to mean something.",
        "Choose a fixed delta such as 1e-6, or 1 / n**1.5 of a public n.",
    ),
    "DP305": Rule(
        "noise folded, cut or drawn again",
        "error",
        "Noise whose sign is dropped, that is cut to a range, or that is drawn again until the result looks right has "
        "another law than the one that the claim is about; outputs become impossible for one of two neighbouring "
        "datasets.",
        "Add the noise as it was drawn and round, cut or fold the result; post-processing costs no privacy.",
    ),
    "DP401": Rule(
        "noisy sum divided by a true count",
        "warning",
        "The divisor is computed from the data without noise. Where a record may be added or removed, or the records were "
        "selected, the count is private too.",
        "Release the count with a part of the budget. If the number of records is public (replace one), say so in a suppression.",
    ),
    "DP402": Rule(
        "keys of the data are released",
        "error",
        "Noise is added to a group or value that occurs in the data, and groups that do not occur are left out. That a "
        "rare key is there at all reveals its person.",
        "List the keys beforehand and count zero for those that do not occur, or keep only keys whose noisy count passes "
        "a threshold.",
    ),
    "DP403": Rule(
        "whole budget in each turn of a loop",
        "warning",
        "Each turn of the loop releases something about the same records with the whole epsilon, so the sum is a multiple of it.",
        "Divide the budget among the turns, or compose them: `dpaudit account`.",
    ),
    "DP404": Rule(
        "accountant and batches do not match",
        "error",
        "The accountant is that of Poisson sampling, while batches have a fixed size or go through shuffled data (or the "
        "reverse). The reported epsilon is that of another algorithm, and can be too small.",
        "Draw batches by Poisson sampling (in Opacus `poisson_sampling=True`), or account for the batches that are used.",
    ),
}
"""Every rule by its code; codes are never reused."""
