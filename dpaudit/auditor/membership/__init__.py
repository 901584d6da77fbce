"""Membership tests of learners: canaries in one run or in many, likelihood ratios, tracing, hooks into the training."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from dpaudit.lazy import lazily

if TYPE_CHECKING:
    from dpaudit.auditor.membership.canaries import CanaryAudit as CanaryAudit
    from dpaudit.auditor.membership.canaries import audit_canaries as audit_canaries
    from dpaudit.auditor.membership.canaries import canary_target as canary_target
    from dpaudit.auditor.membership.fingerprints import draw_fingerprints as draw_fingerprints
    from dpaudit.auditor.membership.fingerprints import tracing_p_values as tracing_p_values
    from dpaudit.auditor.membership.fingerprints import tracing_scores as tracing_scores
    from dpaudit.auditor.membership.fingerprints import tracing_target as tracing_target
    from dpaudit.auditor.membership.guesses import CanaryGuesses as CanaryGuesses
    from dpaudit.auditor.membership.guesses import canary_epsilon_bound as canary_epsilon_bound
    from dpaudit.auditor.membership.guesses import guesses_p_value as guesses_p_value
    from dpaudit.auditor.membership.hooks import GradientCanaries as GradientCanaries
    from dpaudit.auditor.membership.hooks import GradientTraining as GradientTraining
    from dpaudit.auditor.membership.hooks import HookedLearner as HookedLearner
    from dpaudit.auditor.membership.hooks import TrainingHooks as TrainingHooks
    from dpaudit.auditor.membership.likelihood import LikelihoodRatio as LikelihoodRatio
    from dpaudit.auditor.membership.likelihood import fit_likelihood_ratio as fit_likelihood_ratio
    from dpaudit.auditor.membership.profile_guesses import canary_mu_bound as canary_mu_bound
    from dpaudit.auditor.membership.profile_guesses import guesses_p_value_under_claim as guesses_p_value_under_claim
    from dpaudit.auditor.membership.public_data import AccuracyTest as AccuracyTest
    from dpaudit.auditor.membership.public_data import least_squared_distance as least_squared_distance
    from dpaudit.auditor.membership.public_data import refute_by_accuracy as refute_by_accuracy
    from dpaudit.auditor.membership.rates import OperatingPoint as OperatingPoint
    from dpaudit.auditor.membership.rates import operating_point as operating_point
    from dpaudit.auditor.membership.rates import threshold_at_false_positive_rate as threshold_at_false_positive_rate
    from dpaudit.auditor.membership.score_files import read_scores as read_scores
    from dpaudit.auditor.membership.scores import DPSGD as DPSGD
    from dpaudit.auditor.membership.scores import FamilyBound as FamilyBound
    from dpaudit.auditor.membership.scores import ScoreAudit as ScoreAudit
    from dpaudit.auditor.membership.scores import audit_scores as audit_scores

_MODULES: Final = {
    "canaries": ("CanaryAudit", "audit_canaries", "canary_target"),
    "fingerprints": ("draw_fingerprints", "tracing_p_values", "tracing_scores", "tracing_target"),
    "guesses": ("CanaryGuesses", "canary_epsilon_bound", "guesses_p_value"),
    "hooks": ("GradientCanaries", "GradientTraining", "HookedLearner", "TrainingHooks"),
    "likelihood": ("LikelihoodRatio", "fit_likelihood_ratio"),
    "profile_guesses": ("canary_mu_bound", "guesses_p_value_under_claim"),
    "public_data": ("AccuracyTest", "least_squared_distance", "refute_by_accuracy"),
    "score_files": ("read_scores",),
    "scores": ("DPSGD", "FamilyBound", "ScoreAudit", "audit_scores"),
    "rates": ("OperatingPoint", "operating_point", "threshold_at_false_positive_rate"),
}
_HOMES: Final = {name: module for module, names in _MODULES.items() for name in names}

__all__ = sorted(_HOMES)

__getattr__, __dir__ = lazily(__name__, _HOMES)
