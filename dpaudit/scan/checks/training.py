"""Private training: whether the accountant is about the batches that are drawn."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from dpaudit.scan.checks.noise import Found
from dpaudit.scan.reading import Cell
from dpaudit.scan.scopes import Module
from dpaudit.scan.values import Called

_POISSON_LOADERS: Final = {
    "DPDataLoader", "UniformWithReplacementSampler", "DistributedUniformWithReplacementSampler", "make_private",
    "make_private_with_epsilon", "PoissonSampler", "BatchSplittingSampler", "BatchMemoryManager", "IIDBatchSampler",
    "get_data_loaders",
}  # fmt: skip
_POISSON_ACCOUNTS: Final = {
    "compute_rdp", "compute_dp_sgd_privacy", "compute_rdp_sample", "PoissonSampledDpEvent", "get_noise_multiplier",
    "compute_dp_sgd_privacy_statement", "compute_rdp_poisson_subsampled_gaussian",
}  # fmt: skip
_FIXED_ACCOUNTS: Final = {
    "SampledWithoutReplacementDpEvent",
    "SampledWithReplacementDpEvent",
    "compute_rdp_sample_without_replacement",
}


def check(module: Module) -> Iterator[Found]:
    """Yield accountants of other batches than those that are drawn (DP404)."""
    found = [(cell, one) for cell, scope in module.scopes for one in scope.calls]
    named = {_last(one) for _, one in found}
    yield from _switched_off(found, module)
    if named & _POISSON_LOADERS or "poisson" in module.source.text.lower().replace("poissonsampled", ""):
        yield from _reverse(found, named)
        return
    accounts = [(cell, one) for cell, one in found if _is_account(one)]
    if not accounts:
        return
    fixed = [one for _, one in found if _is_fixed_loader(one)]
    if fixed:
        cell, account = accounts[0]
        line = cell.place(account.line)
        where = next(c for c, one in found if one is fixed[0])
        text = f"Batches have a fixed size and go through shuffled data; the accountant in line {line} is that of Poisson sampling."
        yield "DP404", where, fixed[0].line, text


def _switched_off(found: list[tuple[Cell, Called]], module: Module) -> Iterator[Found]:
    """Opacus with Poisson sampling switched off, and its epsilon asked for all the same."""
    asked = any(_last(one) in {"get_epsilon", "make_private_with_epsilon", "get_privacy_spent"} for _, one in found)
    for cell, one in found:
        if _last(one) in {"make_private", "make_private_with_epsilon"} and asked and "opacus" in module.source.text:
            for keyword in one.node.keywords:
                if keyword.arg == "poisson_sampling" and isinstance(keyword.value, ast.Constant) and keyword.value.value is False:
                    text = "Poisson sampling is switched off, and epsilon is that of Poisson sampling."
                    yield "DP404", cell, one.line, text


def _reverse(found: list[tuple[Cell, Called]], named: set[str]) -> Iterator[Found]:
    """An accountant of batches of a fixed size with a loader that draws by Poisson sampling."""
    loaders = named & {"DPDataLoader", "UniformWithReplacementSampler", "PoissonSampler"}
    for cell, one in found:
        if _last(one) in _FIXED_ACCOUNTS and loaders and not named & _POISSON_ACCOUNTS:
            yield (
                "DP404",
                cell,
                one.line,
                f"The accountant is about batches of a fixed size; {min(loaders)} draws by Poisson sampling.",
            )


def _is_account(call: Called) -> bool:
    """True if a call accounts for Poisson sampling, in a file that takes it from a library."""
    last = _last(call)
    if last in _POISSON_ACCOUNTS:
        return call.name.split(".")[0] in {"tensorflow_privacy", "dp_accounting", "opacus", "autodp"} or call.private
    return last == "step" and {"noise_multiplier", "sample_rate"} <= set(call.named)


def _is_fixed_loader(call: Called) -> bool:
    """True if a call makes batches of a fixed size from data in a shuffled or given order."""
    last = _last(call)
    if last == "DataLoader" and call.name.startswith(("torch.", "DataLoader")):
        options = {one.arg: one.value for one in call.node.keywords}
        shuffled = options.get("shuffle")
        return (
            "batch_size" in options
            and not {"sampler", "batch_sampler"} & set(options)
            and (isinstance(shuffled, ast.Constant) and shuffled.value is True)
        )
    return last == "fit" and "batch_size" in call.named and "epochs" in call.named and not call.private


def _last(call: Called) -> str:
    """Return the last part of the name of what is called."""
    return call.name.rsplit(".", 1)[-1]
