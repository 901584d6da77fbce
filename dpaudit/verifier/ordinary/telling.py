"""Words about a function as people wrote it: its claim, what was understood, and what a proof leaves open."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from dpaudit.verifier.ordinary.numbers import DATA_BITS
from dpaudit.verifier.ordinary.reading import Reading

REAL_NUMBERS: Final = "proven (real numbers)"
"""The status of a proof about real numbers, which is no proof about the floats that run."""

FLOATS: Final = (
    "the proof is about real numbers. Floats round, may overflow to infinity or with an error, may be NaN or -0.0, and noise made "
    "of floats has low digits that can tell the data apart; none of this is covered"
)


TRANSLATION: Final = (
    "the function was translated into the verified subset, and no proof covers the translation: it is compared with Python on "
    "random data and on the witnesses of each verdict; earlier states of it were broken by hand-made programs (docs/decisions/0015)"
)


def claim_of(reading: Reading) -> str:
    """The claim of a function, in terms of its own parameters."""
    spec = reading.claimed
    parts = ", ".join(map(str, spec.claim if isinstance(spec.claim, tuple) else (spec.claim,)))
    claim = {"pure": f"{parts}-DP", "approx": f"({parts})-DP", "zcdp": f"{parts}-zCDP"}[str(spec.cost)]
    types = {name: kind for name, kind, _ in reading.inputs}
    changes = []
    for name, relation in reading.data.relations.items():
        if relation == "public":
            continue
        known = f"{name} ({types[name]})"
        bound = next((change.bound for one, change in spec.changes if one in (name, None)), "1")
        words = {
            "add_remove": f"one record is added to or removed from {known}",
            "replace_one": f"one record of {known} is exchanged for any other",
            "one": f"one element of {known} changes by at most {bound}",
            "all": f"every element of {known} may change by at most {bound}",
            "inc": f"every element of {known} may grow by at most {bound}",
            "dec": f"every element of {known} may fall by at most {bound}",
            "l1": f"the sizes of all changes of {known} add up to at most {bound}",
            "l2": f"the squares of all changes of {known} add up to at most the square of {bound}",
        }
        changes.append(words[relation])
    found = f"{claim} when {' and '.join(changes)}"
    for word, clauses in (("if", spec.requires), ("between databases in which", spec.domain)):
        if clauses:
            found += f", {word} " + " and ".join(f"[{one}]" if len(tuple(clauses)) > 1 else str(one) for one in clauses)
    public = [f"{name} ({types[name]})" for name, relation in reading.data.relations.items() if relation == "public"]
    if public:
        found += f", with the same {', '.join(public)} in both"
    return found + (", about real numbers" if reading.reals else "")


def understood(reading: Reading) -> Iterator[str]:
    """What was understood of a function: its inputs, draws and outputs."""
    for name, kind, why in reading.inputs:
        relation = reading.data.relations.get(name)
        role = {"public": "public", None: "public"}.get(relation, f"private, {relation}")
        yield f"input {name}: {kind} ({why}), {role}"
    for line, text in reading.draws:
        name, _, law = text.partition(" = ")
        yield f"draw {name} on line {line}: {law}"
    if not reading.draws:
        yield "nothing is drawn"
    forms = [_form(one.form) for one in reading.state.returns]
    yield f"output: {' or '.join(dict.fromkeys(forms)) or 'nothing'}"


def _form(form: tuple[Any, ...]) -> str:
    """The form of a returned value in words."""
    words = {"int": "a whole number", "real": "a number", "bool": "a truth value", "str": "a text"}
    match form:
        case ("one" | "mixed", kind, *_):
            return words[kind]
        case ("opaque", _, *parts):
            return f"a function of ({', '.join(map(_form, parts))})"
        case ("text", text):
            return repr(text)
        case ("dict", _, *parts):
            pairs: list[Any] = list(parts)
            return "{" + ", ".join(f"{key!r}: {_form(part)}" for key, part in pairs) + "}"
        case ("list" | "array" as kind, *parts):
            return f"{'' if kind == 'list' else kind}[{', '.join(map(_form, parts))}]"
        case ("tuple", *parts) | ("record", _, *parts):
            return f"({', '.join(map(_form, parts))})"
    return {"none": "None", "output": "a list"}.get(form[0], str(form[0]))


def assumptions(reading: Reading) -> tuple[str, ...]:
    """What the verdict leaves to the caller."""
    found = ["arguments have the types that are shown, and meet what is required", TRANSLATION]
    if reading.claimed.domain:
        found.append("between databases of the domain; that data outside it are rejected can be observed")
    if "add_remove" in reading.data.relations.values():
        found.append("neighbours keep the order of records")
    if ("numpy" in reading.source.text or reading.reals) and any("int" in kind for _, kind, _ in reading.inputs):
        found.append(f"whole numbers that are passed are less than 2**{DATA_BITS}, so that floats and numpy's 64 bits hold them")
    found += reading.notes
    if reading.reals:
        found.append(f"{FLOATS} ({', '.join(reading.reals)})")
    return tuple(found)
