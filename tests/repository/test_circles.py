"""The check for circles of imports sees every kind of import, and finds the circles that there are."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from devtools import circles

NAMES = [f"m{number}" for number in range(7)]
GRAPHS = st.fixed_dictionaries({name: st.sets(st.sampled_from(NAMES)) for name in NAMES})


def reachable(graph, start):
    found, left = set(), [start]
    while left:
        for name in graph[left.pop()]:
            if name not in found:
                found.add(name)
                left.append(name)
    return found


@given(GRAPHS)
def test_two_modules_are_in_one_circle_where_each_reaches_the_other(graph):
    graph = {name: targets - {name} for name, targets in graph.items()}
    reach = {name: reachable(graph, name) for name in NAMES}
    expected = {
        frozenset(other for other in NAMES if other == name or (other in reach[name] and name in reach[other])) for name in NAMES
    }
    assert {group for group in expected if len(group) > 1} == {frozenset(group) for group in circles.find_circles(graph)}


@pytest.mark.parametrize(
    "text",
    [
        "import dpaudit.b",
        "from dpaudit import b",
        "from dpaudit.b import name",
        "from . import b",
        "from .b import name",
        "def f():\n    from dpaudit.b import name",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from dpaudit.b import name",
        "class A:\n    def f(self):\n        import dpaudit.b as other",
    ],
)
def test_an_import_counts_wherever_it_is_written(tmp_path, text, capsys):
    package = tmp_path / "dpaudit"
    package.mkdir()
    for name, content in (("__init__", ""), ("a", text), ("b", "from dpaudit.a import name")):
        (package / f"{name}.py").write_text(content, encoding="utf-8")
    assert [["dpaudit.a", "dpaudit.b"]] == circles.find_circles(circles.import_graph(circles.module_files(tmp_path)))
    assert 1 == circles.main(tmp_path)
    assert "2 modules import each other" in capsys.readouterr().out
