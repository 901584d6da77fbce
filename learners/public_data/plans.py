"""Plans that may be behind a map of public records: their rows, their solver, and what a record says of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias, cast

from learners.solvers.plans import SolverPlan

if TYPE_CHECKING:
    from learners.margins.mapped import MappedPlan
    from learners.public_data.subspace import PublicSubspace
    from learners.rows.rows import Rows

AnyPlan: TypeAlias = "SolverPlan | MappedPlan"


def subspace_of(plan: AnyPlan | None) -> PublicSubspace | None:
    """The directions that records are projected on; None for all."""
    return None if plan is None or isinstance(plan, SolverPlan) else cast("PublicSubspace", plan.public_map)


def solver_of(plan: AnyPlan) -> SolverPlan:
    """The plan of the solver, behind a map or not."""
    return plan if isinstance(plan, SolverPlan) else cast("SolverPlan", plan.inner)


def map_rows(rows: Rows, plan: AnyPlan) -> Rows:
    """Records, or their images under the map of the public records."""
    return rows if isinstance(plan, SolverPlan) else plan.images(rows)


def subspace_facts(plan: AnyPlan | None) -> dict[str, Any]:
    """What a record says of the directions that records are projected on."""
    image = subspace_of(plan)
    if image is None:
        return {}
    return {"public_records": image.public_records, "directions": image.dimension_out, "clip": str(image.clip)}
