"""Graphs as mappings from node to its neighbours: removing an edge or a node, joining two nodes, keeping some."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterator, Mapping
from functools import partial
from typing import Any, TypeAlias

from dpaudit.auditor.pairs.relations import Edit, Part, Pieces, graph_of
from dpaudit.claims import Adjacency
from dpaudit.errors import InvalidArgument, class_name

Graph: TypeAlias = Mapping[Any, Any]


def graphs_apart(first: Any, second: Any, adjacency: Adjacency) -> str:
    """Say what is wrong with two graphs, empty if nothing is; both ends of an edge list it, or one where it is directed."""
    before, after = graph_of(first), graph_of(second)
    if before is None or after is None:
        return ""
    changed: set[frozenset[Hashable]] = {frozenset(arc) for arc in before[1] ^ after[1]}
    nodes = before[0] ^ after[0]
    if adjacency.kind == "edge":
        return f"{len(nodes)} nodes and {len(changed)} edges differ" if nodes or len(changed) > 1 else ""
    if len(nodes) > 1 or any(not nodes & edge for edge in changed):
        return f"{len(nodes)} nodes differ, or edges that touch none of them"
    return ""


def graph_edits(data: Any, adjacency: Adjacency) -> Iterator[Edit]:
    """Remove the nodes of most, fewest and average degree, or edges between them, or join two nodes."""
    graph = graph_of(data)
    if graph is None:
        raise InvalidArgument(
            "DPA105",
            f"data= under {adjacency.kind} must be a mapping from each node to a list of the nodes it is joined to, got a "
            f"{class_name(type(data))}.",
        )
    if not data:
        raise InvalidArgument("DPA109", "data= holds no node, so it has no neighbour to make. Give at least one.")
    nodes = list(data)
    places = sorted(range(len(nodes)), key=lambda place: (-len(data[nodes[place]]), place))
    chosen = list(dict.fromkeys([places[0], places[-1], places[len(places) // 2], *places]))
    if adjacency.kind == "node":
        for place in chosen:
            yield partial(without_node, data, nodes[place]), f"node {place} removed with its edges, {len(nodes)} nodes"
        return
    rank = {nodes[place]: order for order, place in enumerate(chosen)}
    edges = sorted({tuple(sorted(arc, key=rank.__getitem__)) for arc in graph[1]}, key=lambda edge: [rank[node] for node in edge])
    for one, other in dict.fromkeys([*edges[:1], *edges[-1:], *edges]):
        yield partial(toggle_edge, data, one, other), f"edge between nodes {nodes.index(one)} and {nodes.index(other)} removed"
    for one, other in ((nodes[one], nodes[other]) for one in chosen for other in chosen if one < other):
        if (one, other) not in graph[1] and (other, one) not in graph[1]:
            yield partial(toggle_edge, data, one, other), f"edge between nodes {nodes.index(one)} and {nodes.index(other)} added"


def graph_parts(data: Any, adjacency: Adjacency) -> Iterator[Part]:
    """Neighbouring parts of a graph: under `edge` all nodes with few edges, under `node` few nodes with the edges between them."""
    nodes = sorted(data, key=lambda node: -len(data[node]))
    joined = [node for node in nodes[1:] if node in data[nodes[0]] or nodes[0] in data[node]]
    place = list(data).index
    if adjacency.kind == "node":
        for kept in ([nodes[0]], [nodes[0], *(joined or nodes[1:])[:1]], [nodes[0], *joined]):
            text = f"node {place(kept[0])} removed with its edges, {len(kept)} of {len(nodes)} nodes, their edges alone"
            first = _part_of(data, set(kept), None)
            yield first, without_node(first, kept[0]), text
        return
    for count in dict.fromkeys((1, 2, len(joined))):
        if 0 < count <= len(joined):
            text = f"edge between nodes {place(nodes[0])} and {place(joined[0])} removed, {count} edges of that node alone"
            first = _part_of(data, set(data), {nodes[0]: set(joined[:count])})
            yield first, toggle_edge(first, nodes[0], joined[0]), text


def graph_pieces(first: Any, second: Any) -> Pieces:
    """The nodes of either graph."""
    if graph_of(first) is None or graph_of(second) is None:
        return 0, lambda _: (first, second), ()
    nodes = list(dict.fromkeys([*first, *second]))

    def keeping(places: Collection[int]) -> tuple[Any, Any]:
        left = {nodes[place] for place in places}
        return _part_of(first, left, None), _part_of(second, left, None)

    return len(nodes), keeping, [place for place, node in enumerate(nodes) if first.get(node) != second.get(node)]


def without_node(graph: Graph, node: Any) -> dict[Any, Any]:
    """Return the graph without a node and its edges."""
    return {other: type(ends)([end for end in ends if end != node]) for other, ends in graph.items() if other != node}


def toggle_edge(graph: Graph, one: Any, other: Any) -> dict[Any, Any]:
    """Return the graph without the edge between two nodes if there is one, else with it, listed at both ends."""
    between = {one: other, other: one}
    if other in graph[one] or one in graph[other]:
        return {
            node: type(ends)([end for end in ends if node not in between or end != between[node]]) for node, ends in graph.items()
        }
    return {node: type(ends)([*ends, between[node]] if node in between else ends) for node, ends in graph.items()}


def _part_of(graph: Graph, nodes: set[Any], ends: dict[Any, set[Any]] | None) -> dict[Any, Any]:
    """Some nodes of a graph with the edges between them; with `ends`, with those edges alone that it lists at either end."""

    def keeps(node: Any, end: Any) -> bool:
        return end in nodes if ends is None else end in ends.get(node, ()) or node in ends.get(end, ())

    return {node: type(found)([end for end in found if keeps(node, end)]) for node, found in graph.items() if node in nodes}
