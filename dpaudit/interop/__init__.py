"""Adapters to other libraries and programs; all are optional, and none is imported before one of its objects is passed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from dpaudit.lazy import lazily

if TYPE_CHECKING:
    from dpaudit.interop.diffprivlib import from_diffprivlib as from_diffprivlib
    from dpaudit.interop.event_writing import to_dp_accounting as to_dp_accounting
    from dpaudit.interop.events import from_dp_accounting as from_dp_accounting
    from dpaudit.interop.functions import from_client as from_client
    from dpaudit.interop.functions import from_function as from_function
    from dpaudit.interop.opacus import from_opacus as from_opacus
    from dpaudit.interop.opendp import from_opendp as from_opendp
    from dpaudit.interop.pipelines import from_pipeline_dp as from_pipeline_dp
    from dpaudit.interop.programs import from_program as from_program
    from dpaudit.interop.sklearn import from_sklearn as from_sklearn
    from dpaudit.interop.tables import from_sql as from_sql

_HOMES: Final = {
    "from_client": "functions",
    "from_diffprivlib": "diffprivlib",
    "from_dp_accounting": "events",
    "from_function": "functions",
    "from_opacus": "opacus",
    "from_opendp": "opendp",
    "from_pipeline_dp": "pipelines",
    "from_program": "programs",
    "from_sklearn": "sklearn",
    "from_sql": "tables",
    "to_dp_accounting": "event_writing",
}

__all__ = sorted(_HOMES)

__getattr__, __dir__ = lazily(__name__, _HOMES)
