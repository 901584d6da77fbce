"""The versioned list of public names: it is what the packages export, and few of them are for everyday use."""

from __future__ import annotations

import tomllib
from collections import Counter

from devtools.survey import ROOT, public_names

LISTED = tomllib.loads((ROOT / "docs" / "public_names.toml").read_text(encoding="utf-8"))


def test_the_list_of_public_names_is_what_the_packages_export():
    listed = Counter((package, name) for tier in LISTED.values() for package, names in tier.items() for name in names)
    exported = Counter((package, name) for package, name in public_names() if not name.startswith("__"))
    assert exported == listed


def test_at_most_sixty_names_are_for_everyday_use():
    assert {"everyday", "expert"} == set(LISTED)
    assert sum(map(len, LISTED["everyday"].values())) <= 60
