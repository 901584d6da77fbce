"""What a learner does with a plan that may be behind a map of public records: its rows, its solver, its record."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias, cast

from learners.solvers.plans import SolverPlan

if TYPE_CHECKING:
    from learners.margins.mapped import MappedPlan
    from learners.public_data.subspace import PublicSubspace
    from learners.record import PrivacyRecord
    from learners.rows.rows import Rows

AnyPlan: TypeAlias = "SolverPlan | MappedPlan"


def subspace_of(plan: AnyPlan | None) -> PublicSubspace | None:
    """The directions in which records are seen; None for all."""
    return None if plan is None or isinstance(plan, SolverPlan) else cast("PublicSubspace", plan.public_map)


def solver_of(plan: AnyPlan) -> SolverPlan:
    """Return the plan of the solver, behind a map or not."""
    return plan if isinstance(plan, SolverPlan) else cast("SolverPlan", plan.inner)


def seen(rows: Rows, plan: AnyPlan) -> Rows:
    """Records, or what public directions show of them."""
    return rows if isinstance(plan, SolverPlan) else plan.images(rows)


def noted(record: PrivacyRecord, plan: AnyPlan | None) -> PrivacyRecord:
    """The record, which says in which directions records are seen."""
    image = subspace_of(plan)
    if image is None:
        return record
    facts = {"public_records": image.public_records, "directions": image.dimension_out, "clip": str(image.clip)}
    return record.stating(facts)
