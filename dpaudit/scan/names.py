"""Names: what people call budgets, bounds and data, and what an imported name stands for."""

from __future__ import annotations

import ast
import re
from typing import Final

EPSILON: Final = re.compile(
    r"^((?!.*(inv|list|values|range|s$|machine|min$|max$)).*_)?(epsilon|eps|epsilion|epsilons?_?\d*|privacy_budget)(?!.*(list|inv))(_?\w*)?$",
    re.IGNORECASE,
)
SENSITIVITY: Final = re.compile(
    r"(^|_)(sens|sensitivity|sensitivities|sensitivety|l1_sensitivity|l2_sensitivity|sensetivity)(_|\d|$)|^(gs|df_sens)$",
    re.IGNORECASE,
)
DELTA: Final = re.compile(r"^(.*_)?delta(_?\d|_total|_round|_i|_step|_prime)?$", re.IGNORECASE)
SPREAD: Final = re.compile(
    r"^(sigma|std|stddev|std_dev|noise_std|noise_multiplier|noise_scale|noise_sigma|sigma_?\w{0,6})$", re.IGNORECASE
)
CLIP: Final = re.compile(r"clip|max_(grad_)?norm|grad_norm|norm_bound|clipping|(^|_)bound$|^C$", re.IGNORECASE)
SCALE: Final = re.compile(r"(^|_)(scale|beta|b|lam|lambda|lambd|sigma|noise_level)(_|\d|$)", re.IGNORECASE)
DATA: Final = re.compile(
    r"^(\w+_)?(data|dataset|value|vector|df|frame|dataframe|records|rows|people|table|values|users|database|db|samples|population|patients|customers"
    r"|series|responses|answers|points|salaries|incomes|ages|income|age|salary|amounts|votes|scores|features|gradients?|grads?|words|items"
    r"|vectors?|individuals|counts?)$|^(X|x|xs|y|arr|array|D|X_train|y_train|train|vals|col|column|vec)$",
)  # fmt: skip
PRIVATE: Final = re.compile(
    r"(^|_)(dp|private|privately|noisy|noised|noise|privatize[dr]?|perturb(ed)?|sanitized?|anonymi\w+|laplace|laplacian|gaussian|randomi[sz]e[dr]?)(_|\d|$)",
    re.IGNORECASE,
)
RESPONSE: Final = re.compile(r"randomi[sz]ed?_?response|rappor|(^|_)(ldp|k?rr|grr)(_|$)", re.IGNORECASE)
PUBLIC: Final = re.compile(r"public|synthetic|simulat|dummy|fake|toy|domain|(^|_)test(_|$)", re.IGNORECASE)
KEEPS_COUNT: Final = re.compile(
    r"accountant|odometer|budget_?(spent|used|left|remaining)|spent|compos|spend|remaining|consumed|filter", re.IGNORECASE
)
TRIALS: Final = re.compile(r"trial|run|rep|seed|simul|experiment|monte|iter_?s|fold|bench|attempt|n_?sim|try", re.IGNORECASE)

LIBRARIES: Final = (
    "diffprivlib", "opacus", "opendp", "dp_accounting", "tensorflow_privacy", "pydp", "snsql", "snsynth", "pipeline_dp", "tmlt",
    "autodp", "jax_privacy", "mechanisms", "learners", "private_transformers", "fastDP", "pyvacy", "flwr.client.mod",
)  # fmt: skip
"""Packages whose calls are private themselves."""


def last_name(node: ast.expr) -> str:
    """Return the last name of an expression: `epsilon` of `self.epsilon`, `eps` of `eps[i]`; "" for none."""
    if isinstance(node, ast.Subscript):
        if isinstance(node.slice, ast.Constant) and isinstance(node.slice.value, str):
            return node.slice.value
        return last_name(node.value)
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def is_epsilon(name: str) -> bool:
    """True if a name is that of a privacy parameter epsilon."""
    return bool(EPSILON.match(name))


def is_parameter(name: str) -> bool:
    """True if a name says that a number is chosen for privacy."""
    return bool(is_epsilon(name) or SENSITIVITY.search(name) or name in {"noise_multiplier", "privacy_budget"})


def is_data(name: str) -> bool:
    """True if a name is one that people give to private data."""
    return bool(DATA.match(name)) and not PUBLIC.search(name) and not PRIVATE.search(name)
