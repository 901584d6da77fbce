"""Checks of a private training loop as it runs: clipping, noise, sampling, divisor, and numbers that must be public."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from dpaudit.lazy import lazily

if TYPE_CHECKING:
    from dpaudit.auditor.training.canaries import DiracCanaries as DiracCanaries
    from dpaudit.auditor.training.findings import LoopCheck as LoopCheck
    from dpaudit.auditor.training.jax_hooks import JaxWatch as JaxWatch
    from dpaudit.auditor.training.jax_hooks import from_jax_privacy as from_jax_privacy
    from dpaudit.auditor.training.jax_hooks import from_keras as from_keras
    from dpaudit.auditor.training.opacus import OpacusCanaries as OpacusCanaries
    from dpaudit.auditor.training.opacus import from_opacus as from_opacus
    from dpaudit.auditor.training.promises import TrainingClaim as TrainingClaim
    from dpaudit.auditor.training.steps import StepAudit as StepAudit
    from dpaudit.auditor.training.steps import audit_steps as audit_steps
    from dpaudit.auditor.training.telling import training_report as training_report
    from dpaudit.auditor.training.twins import audit_loop as audit_loop
    from dpaudit.auditor.training.twins import compare_trainings as compare_trainings
    from dpaudit.auditor.training.watching import TrainingWatch as TrainingWatch
    from dpaudit.auditor.training.watching import audit_training as audit_training

_HOMES: Final = {
    "DiracCanaries": "canaries",
    "JaxWatch": "jax_hooks",
    "LoopCheck": "findings",
    "OpacusCanaries": "opacus",
    "StepAudit": "steps",
    "TrainingClaim": "promises",
    "TrainingWatch": "watching",
    "audit_loop": "twins",
    "audit_steps": "steps",
    "audit_training": "watching",
    "compare_trainings": "twins",
    "from_jax_privacy": "jax_hooks",
    "from_keras": "jax_hooks",
    "from_opacus": "opacus",
    "training_report": "telling",
}

__all__ = sorted(_HOMES)

__getattr__, __dir__ = lazily(__name__, _HOMES)
