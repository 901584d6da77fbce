"""Modules of a torch model, watched as they run: do they mix examples, keep statistics of them, or learn without noise."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

from dpaudit.auditor.training.findings import LoopCheck, holds, not_judged
from dpaudit.auditor.training.separate import SEPARATE

MODEL: Final = "parameters outside"

_ROUNDING: Final = 1e-3
_EXAMPLES: Final = 4
_BATCHES: Final = 2
"""Batches of different sizes in which a module has to mix examples, lest a dimension that is no batch is taken for one."""


class ModelWatch:
    """What the modules of a model do with the examples of a batch, and which tensors of the model change."""

    def __init__(self, model: Any, private: Any) -> None:
        """Hook into every module; `private` are the parameters of the private optimizer."""
        held = {id(one) for one in private}
        self._others = {_bare(name): one for name, one in model.named_parameters() if id(one) not in held}
        self._at_first = {name: one.detach().clone() for name, one in self._others.items()}
        self._sizes = dict[str, set[int]]()
        self._mixed = dict[str, set[int]]()
        self._kept, self._examples, self._busy = list[str](), 0, False
        if getattr(model, "batch_first", True):
            model.register_forward_pre_hook(self._begin)
            for name, module in model.named_modules():
                module.register_forward_hook(self._looking(f"{_bare(name)} ({type(module).__qualname__})"))

    @property
    def separate(self) -> LoopCheck:
        """The check that modules keep examples apart."""
        for name, sizes in self._mixed.items():
            if len(sizes) >= _BATCHES:
                detail = "what the module makes of an example is another thing where it is alone"
                remedy = "Replace modules that mix examples, such as batch normalisation, by group or layer normalisation."
                return LoopCheck(SEPARATE, "violated", len(sizes), detail, remedy, where=name)
        if self._kept:
            detail = "a buffer of the module keeps statistics of the examples without noise"
            remedy = "Do not track running statistics, or never release them."
            return LoopCheck(SEPARATE, "violated", 1, detail, remedy, where=self._kept[0])
        judged = [name for name, sizes in self._sizes.items() if sizes]
        return holds(SEPARATE, len(judged)) if judged else not_judged(SEPARATE, "no module was seen with two examples")

    @property
    def outside(self) -> LoopCheck:
        """The check that parameters which the private optimizer does not hold stay as they were."""
        moved = [name for name, one in self._others.items() if not bool((one.detach() == self._at_first[name]).all())]
        if moved:
            detail = f"{len(moved)} parameters move though the private optimizer does not hold them"
            remedy = "Hand every parameter that learns to the private optimizer, or freeze it."
            return LoopCheck(MODEL, "violated", len(self._others), detail, remedy, where=moved[0])
        return holds(MODEL, len(self._others))

    def _begin(self, _model: Any, inputs: tuple[Any, ...]) -> None:
        """Note how many examples a batch has."""
        if not self._busy:
            self._examples = len(inputs[0]) if inputs and hasattr(inputs[0], "shape") and len(inputs[0].shape) else 0

    def _looking(self, name: str) -> Any:
        """The hook of one module."""

        def look(module: Any, inputs: tuple[Any, ...], output: Any) -> None:
            count, seen = self._examples, self._sizes.setdefault(name, set())
            if self._busy or count < 2 or count in seen or len(seen) >= _BATCHES or not module.training:
                return
            if not all(hasattr(one, "shape") and len(one.shape) and len(one) == count for one in (*inputs, output)):
                return
            self._busy = True
            try:
                with _undisturbed(module):
                    self._judge(name, module, inputs, count)
            finally:
                self._busy = False

        return look

    def _judge(self, name: str, module: Any, inputs: tuple[Any, ...], count: int) -> None:
        """Run a module again on a batch, and on some of its examples alone."""
        together, again = module.forward(*inputs), module.forward(*inputs)
        if not bool((together == again).all()):  # dropout and the like
            return
        self._sizes[name].add(count)
        for place in range(min(count, _EXAMPLES)):
            alone = module.forward(*(one[place : place + 1] for one in inputs))[0]
            gap = float((alone - together[place]).norm())
            if gap > _ROUNDING * float(alone.norm() + together[place].norm()) / 2:
                self._mixed.setdefault(name, set()).add(count)
        if _buffers_after(module, inputs, slice(0, 1)) != _buffers_after(module, inputs, slice(1, 2)) and name not in self._kept:
            self._kept.append(name)


def _buffers_after(module: Any, inputs: tuple[Any, ...], part: slice) -> list[bytes]:
    """Buffers of a module once it has run on some examples, from the state that it is in."""
    with _undisturbed(module):
        module.forward(*(one[part] for one in inputs))
        return [one.detach().cpu().numpy().tobytes() for _, one in module.named_buffers(recurse=False)]


@contextmanager
def _undisturbed(module: Any) -> Iterator[None]:
    """Leave hooks, buffers and random numbers of a module as they are, and record no gradients."""
    torch = _torch()
    names = ("_forward_hooks", "_forward_pre_hooks", "_backward_hooks", "_backward_pre_hooks")
    held = [(one, name, getattr(one, name)) for one in module.modules() for name in names]
    buffers = [(one, one.detach().clone()) for one in module.buffers()]
    for one, name, hooks in held:
        setattr(one, name, type(hooks)())
    try:
        with torch.no_grad(), torch.random.fork_rng():
            yield
    finally:
        for one, name, hooks in held:
            setattr(one, name, hooks)
        for one, before in buffers:
            one.copy_(before)


def _bare(name: str) -> str:
    """Name of a part of a model without the wrapper that computes gradients of examples."""
    return name.removeprefix("_module.") or "the model"


def _torch() -> Any:
    """Torch, as whoever handed over a model has imported it."""
    return sys.modules["torch"]
