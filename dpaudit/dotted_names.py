"""Dotted names in source code: what they stand for by its imports, and which of them seed a generator that a package shares."""

from __future__ import annotations

import ast


def imports_of(trees: list[ast.Module]) -> dict[str, str]:
    """Return what each imported name stands for, anywhere in a file."""
    known: dict[str, str] = {}
    for tree in trees:
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                for one in node.names:
                    known[one.asname or one.name.split(".")[0]] = one.name if one.asname else one.name.split(".")[0]
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                for one in node.names:
                    known[one.asname or one.name] = f"{node.module}.{one.name}"
    return known


def dotted(node: ast.expr) -> str:
    """Return `a.b.c` for such an expression; "" for any other."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return ".".join([node.id, *reversed(parts)]) if isinstance(node, ast.Name) else ""


def seeded_globally(name: str) -> str | None:
    """Return which global generator a call seeds."""
    return {
        "numpy.random.seed": "numpy",
        "random.seed": "random",
        "torch.manual_seed": "torch",
        "torch.random.manual_seed": "torch",
        "torch.cuda.manual_seed": "torch",
        "torch.cuda.manual_seed_all": "torch",
        "tensorflow.random.set_seed": "tensorflow",
        "tensorflow.set_random_seed": "tensorflow",
    }.get(name)
