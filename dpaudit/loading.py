"""Targets loaded by name: bundled ones, those of a file or a module, functions with `@claim`, and plain functions."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import reduce
from types import ModuleType
from typing import Any, Final, TypeAlias

from dpaudit.blame import meant
from dpaudit.errors import DpauditError, ForeignPackage, TargetFailure
from dpaudit.exact import kind_of
from dpaudit.extras import left_out_of
from dpaudit.importing import module_at
from dpaudit.misnamed import how_to_make_one, near_in, own_functions, place_in, what_is_there
from dpaudit.plain.asked import Asked
from dpaudit.plain.claiming import claimed_of
from dpaudit.plain.datafiles import read_data
from dpaudit.plain.making import PROGRAM, Plain, make_target
from dpaudit.plain.printed import with_streams
from dpaudit.targets import Target

ENTRY_POINT_GROUP: Final = "dpaudit.targets"
ZOO: Final = {"zoo": "dpaudit.catalogue:TARGETS", "zoo_published": "dpaudit.catalogue:PUBLISHED"}
"""Specimens to try an auditor on: audited when they are named, never as part of everything that is bundled."""

STORY: Final = ("mechanisms.targets.story:TARGETS", "learners.targets.story:TARGETS")
"""What an audit without any name shows: everyday releases of real records and broken twins of them.

Named here and not by entry points, since what a newcomer meets first is not for other packages to add to.
"""


_STATES_ITSELF: Final = (
    "which states its claim and calls its function itself. Leave out --epsilon, --arg and --columns, "
    "or audit the function by its own name."
)

Found: TypeAlias = Target | TargetFailure | Plain


@dataclass(frozen=True)
class Reference:
    """Where a target is loaded again, in any process: the user's `text`, its place, the file for its `data`, and what is asked."""

    text: str
    position: int = 0
    data: str | None = None
    asked: Asked | None = None

    @property
    def address(self) -> str:
        """Return text and place as a report keeps them; `reference_at` reads it."""
        return f"{self.text}#{self.position}" if self.position else self.text

    def load(self) -> Target:
        """Load the target; TargetFailure (DPA401 to DPA406) where that fails."""
        targets = each_target(self.text, data=self.data, asked=self.asked)
        if self.position >= len(targets):
            raise TargetFailure("DPA401", f"{self.text} holds {len(targets)} targets, asked for number {self.position}.")
        found = targets[self.position]
        if isinstance(found, TargetFailure):
            raise found
        return found


def reference_at(address: str, data: str | None, asked: Asked | None = None) -> Reference:
    """Return the reference whose `address` this is."""
    text, mark, position = address.rpartition("#")
    known = mark and position.isdecimal()
    return Reference(text, int(position), data, asked) if known else Reference(address, 0, data, asked)


def load_targets(text: str, *, data: str | None = None, asked: Asked | None = None) -> tuple[Target, ...]:
    """Load the targets that a name stands for, at least one; TargetFailure (DPA401 to DPA406) where one is none."""
    return _only_targets(each_target(text, data=data, asked=asked))


def each_target(text: str, *, data: str | None = None, asked: Asked | None = None) -> tuple[Target | TargetFailure, ...]:
    """Load the targets that a name stands for, with an error in the place of each part of a list that is none."""
    found = _all_of(text, asked) if text.endswith(".py") else _from_code(text) if ":" in text else _from_bundle(text)
    source = None if data is None else read_data(data)
    return tuple(_ready(one, source, asked or Asked()) for one in found)


def _ready(one: Found, source: Any, asked: Asked) -> Target | TargetFailure:
    """Return a target with the data and the limit that are asked for, or why there is none."""
    try:
        if isinstance(one, Plain):
            made = make_target(one, source, asked)
        elif isinstance(one, TargetFailure):
            return one
        elif asked.is_of_a_call:
            return TargetFailure("DPA404", f"{one.name} is a Target, {_STATES_ITSELF}")
        else:
            made = one if source is None else replace(one, data=_given(source), neighbours=None, public_data=False)
        made = with_streams(made) if asked.streams else made
    except TargetFailure as failure:
        return failure
    limits = [limit for limit in (made.most_runs, asked.most_runs) if limit is not None]
    return replace(made, most_runs=min(limits)) if limits else made


def _given(source: Any) -> Any:
    """Return records as a target gets them: as a tuple, which a function cannot lengthen."""
    return tuple(source) if isinstance(source, list) else source


def bundle_locations() -> dict[str, bool]:
    """Return MODULE:ATTRIBUTE of every entry point for targets, and whether it is this distribution's own; own ones come first."""
    from importlib.metadata import entry_points

    own = {point.value: point.dist is not None and point.dist.name == "dpaudit" for point in entry_points(group=ENTRY_POINT_GROUP)}
    return dict(sorted(own.items(), key=lambda one: (not one[1], one[0])))


def bundled_targets(locations: Iterable[str] | None = None) -> dict[str, tuple[str, int]]:
    """Return the names of targets that load from some or all `bundle_locations`, each with its MODULE:ATTRIBUTE and place there."""
    names: dict[str, tuple[str, int]] = {}
    for location, targets in _bundles(locations)[0].items():
        for position, target in enumerate(targets):
            names.setdefault(target.name, (location, position))
    return names


def broken_bundles(locations: Iterable[str] | None = None) -> dict[str, DpauditError]:
    """Return the entry points that fail to load, each with its error; `locations` as for `bundled_targets`."""
    return _bundles(locations)[1]


def _bundles(locations: Iterable[str] | None) -> tuple[dict[str, tuple[Target, ...]], dict[str, DpauditError]]:
    """Load targets by location, and return the errors of the others by location."""
    loaded: dict[str, tuple[Target, ...]] = {}
    broken: dict[str, DpauditError] = {}
    for location in bundle_locations() if locations is None else locations:
        try:
            loaded[location] = _only_targets(_loaded(location))
        except DpauditError as error:
            broken[location] = error
    return loaded, broken


def _only_targets(found: Iterable[Target | TargetFailure]) -> tuple[Target, ...]:
    """Return the targets; raise the first error among them."""
    targets = []
    for one in found:
        if isinstance(one, TargetFailure):
            raise one
        targets.append(one)
    return tuple(targets)


def _from_bundle(name: str) -> tuple[Found, ...]:
    """Load a bundled target or a specimen by its name, or all targets of the entry point or group of that name."""
    from importlib.metadata import entry_points

    if name in ZOO:
        return _from_code(ZOO[name])
    if name.startswith("zoo_") and (found := [one for one in _only_targets(_loaded(ZOO["zoo"])) if one.name == name]):
        return tuple(found)
    for point in entry_points(group=ENTRY_POINT_GROUP):
        if point.name == name:
            return _from_code(point.value)
    for location in (*STORY, *bundle_locations()):  # one at a time, own ones first: others are not loaded for our names
        names = bundled_targets([location])
        if name in names:
            return (_loaded(location)[names[name][1]],)
    if there := what_is_there(name):
        raise TargetFailure("DPA401", there)
    near = meant(name, (*ZOO, *bundled_targets([*STORY, *bundle_locations()])))
    broken = broken_bundles()
    for error in broken.values():
        if isinstance(error, ForeignPackage):
            raise error
    unseen = "".join(f" Not looked at: {one}." for one in left_out_of(broken))
    raise TargetFailure(
        "DPA401",
        f"no bundled target is called {name!r}{near}.{unseen} `dpaudit targets` lists all; for your own, "
        "write FILE.py:NAME or MODULE:NAME.",
    )


def _loaded(text: str) -> tuple[Target | TargetFailure, ...]:
    """Load the targets at a place of an installed package."""
    return tuple(_ready(one, None, Asked()) for one in _from_code(text))


def _from_code(text: str) -> tuple[Found, ...]:
    """Load the targets at MODULE:ATTRIBUTE or FILE.py:ATTRIBUTE, or the function there."""
    place, _, attribute = text.rpartition(":")
    if not place or not attribute:
        raise TargetFailure("DPA401", f"{text!r} is not of the form MODULE:ATTRIBUTE or FILE.py:ATTRIBUTE.")
    module = module_at(place)
    owner_name, _, method = attribute.partition(".")
    if not hasattr(module, owner_name):
        raise TargetFailure(
            "DPA401", f"{place} has no attribute {owner_name!r}{near_in(module, owner_name)}.{_targets_within(module, place)}"
        )
    owner = getattr(module, owner_name)
    if method and not hasattr(owner, method):
        near = meant(method, (one for one in dir(owner) if not one.startswith("_")))
        raise TargetFailure("DPA401", f"{owner_name} at {place_in(module, owner_name)} has no {method!r}{near}.")
    found = getattr(owner, method) if method else owner
    targets = _targets_of(found, module, attribute, place)
    if targets:
        return targets
    if inspect.isclass(found):
        methods = [name for name, one in vars(found).items() if inspect.isfunction(one) and not name.startswith("_")]
        remedy = f" Name a method of it: {PROGRAM} {text}.{methods[0]} --epsilon 1 --data FILE.csv" if methods else ""
        where = place_in(module, owner_name)
        raise TargetFailure("DPA403", f"{attribute} at {where} is a class, not a Target or a function.{remedy}")
    if callable(found):
        return (_plain(found, owner if method else None, module, attribute, text),)
    where, within = place_in(module, owner_name), _targets_within(module, place, found)
    raise TargetFailure("DPA403", f"{attribute} at {where} is {kind_of(found)}, not a Target or a non-empty list of them.{within}")


def _plain(found: Callable[..., Any], owner: Any, module: ModuleType, name: str, text: str) -> Plain:
    """Return a function that is no Target; a method of a class is bound to an object of it in every run."""
    if owner is None and inspect.isfunction(found):
        *path, _ = found.__qualname__.split(".")
        owner = reduce(lambda holder, part: getattr(holder, part, None), path, sys.modules.get(found.__module__)) if path else None
    of_class = inspect.isclass(owner) and inspect.isfunction(inspect.getattr_static(owner, found.__name__, None))
    return Plain(found, owner if of_class else None, module, name, claimed_of(found), text)


def _all_of(file: str, asked: Asked | None) -> tuple[Found, ...]:
    """Load every target that a file holds by a name of its own or in a list, once each, in the order of the names."""
    module = module_at(file)
    listed = [one for name, value in list(vars(module).items()) for one in _targets_of(value, module, name, file)]
    targets = tuple({id(one.function if isinstance(one, Plain) else one): one for one in listed}.values())
    if targets:
        return targets
    functions = own_functions(module)
    if len(functions) == 1 and asked is not None and asked.epsilon is not None:
        (function,) = functions
        return (_plain(function, None, module, function.__name__, f"{file}:{function.__name__}"),)
    raise TargetFailure("DPA403", f"{file} holds no Target and no function with @claim. {how_to_make_one(module, file)}")


def _targets_within(module: ModuleType, place: str, value: object = None) -> str:
    """Name the targets that a module holds, for an error message, or say how to make one, of the value if that is a function."""
    names = [name for name, one in vars(module).items() if _targets_of(one, module, name, place)]
    if names:
        return f" It has {', '.join(names)}."
    return f" It has no Target at module level. {how_to_make_one(module, place, value)}"


def _targets_of(value: Any, module: ModuleType, name: str, place: str) -> tuple[Found, ...]:
    """Return the target or claimed function that a value is, or those that it lists, with an error for each other part; else ()."""
    if inspect.isclass(value) and value.__module__ == module.__name__:
        methods = [one for one, function in vars(value).items() if claimed_of(function)]
        return tuple(_plain(getattr(value, one), value, module, f"{name}.{one}", f"{place}:{name}.{one}") for one in methods)
    if claimed_of(value):
        return (_plain(value, None, module, name, f"{place}:{name}"),)
    listed = tuple(value) if isinstance(value, (list, tuple)) else (value,)
    if not any(isinstance(one, Target) or claimed_of(one) for one in listed):
        return ()
    return tuple(_one_of(one, module, name, place, position) for position, one in enumerate(listed))


def _one_of(one: Any, module: ModuleType, name: str, place: str, position: int) -> Found:
    """Return one member of a list as a target."""
    if isinstance(one, Target):
        return one
    if claimed_of(one):
        return _plain(one, None, module, getattr(one, "__name__", name), f"{place}:{name}")
    return TargetFailure("DPA403", f"{place_in(module, name)}: {name}[{position}] is {kind_of(one)}, not a Target. Take it out.")
