"""Open runs: a private minimiser that answers about one point after the other, in one process, to one thread at a time."""

from __future__ import annotations

import os
import threading
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, NoReturn, Protocol, TypeAlias

import numpy as np

from dpaudit.errors import BudgetExceeded, InvalidArgument
from learners.kernels.fitting import KernelClassifier, KernelPlan, Space, Telling
from learners.rows.images import dense

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from learners.estimator import Public
    from learners.record import PrivacyRecord
    from learners.solvers.minimum import Minimum


class Answer(NamedTuple):
    """A value of the minimiser's function at a point, and whether it was read from the data; else it is a public guess."""

    value: Fraction
    read: bool


class Teller(Protocol):
    """A private minimiser, the noise that is left, and what everyone knows of it."""

    @property
    def left(self) -> int:
        """Number of values that may still be read."""
        ...

    @property
    def open(self) -> bool:
        """True if anything may still be asked; silence may cost something too."""
        ...

    def answer(self, image: NDArray[np.int64]) -> Answer:
        """Return the run's answer about an image."""
        ...

    def guess(self, image: NDArray[np.int64]) -> Fraction:
        """Return what everyone can compute from the answers so far."""
        ...


class OpenRun:
    """A fit that answers questions about single points, which may depend on all answers before.

    It holds private weights, so it can be neither copied nor pickled, and answers only in the process that opened it; threads may
    share it. All of its price, `privacy_`, is paid when it is opened.
    """

    __slots__ = ("_lock", "_process", "_space", "_teller", "classes_", "privacy_")

    def __init__(self, teller: Teller, space: Space, classes: NDArray[Any], privacy: PrivacyRecord) -> None:
        self._teller, self._space, self.classes_, self.privacy_ = teller, space, classes, privacy
        self._lock, self._process = threading.Lock(), os.getpid()

    @property
    def left(self) -> int:
        """Number of values that may still be read from the data."""
        return self._teller.left

    def ask(self, record: Any) -> Answer:
        """The value of the minimiser's function at one point (Jain, Thakurta 2013, Algorithm 1)."""
        (image,) = self._images([record])
        with self._lock:
            return self._answer(image)

    def guess(self, record: Any) -> Fraction:
        """Return what everyone can compute of a value from the answers so far, also after the run: it costs nothing."""
        (image,) = self._images([record])
        with self._lock:
            return self._teller.guess(image)

    def predict(self, X: Any) -> NDArray[Any]:  # noqa: N803 - scikit-learn's name
        """Classes of points: each is asked about in turn while the run is open, and guessed after that."""
        images = self._images(X)
        with self._lock:
            values = [self._answer(image).value if self._teller.open else self._teller.guess(image) for image in images]
        predicted: NDArray[Any] = self.classes_[np.array([value > 0 for value in values], dtype=np.int64)]
        return predicted

    def _answer(self, image: NDArray[np.int64]) -> Answer:
        """The teller's answer, in the process that has its noise."""
        if os.getpid() != self._process:
            raise BudgetExceeded("DPA204", "another process opened this run, and holds its noise too. Open a new run here.")
        if not self._teller.open:
            raise BudgetExceeded("DPA204", "the run has read its last value and is over. Use guess, or open a new run.")
        return self._teller.answer(image)

    def _images(self, points: Any) -> NDArray[np.int64]:
        """Images of points, one in each row."""
        return dense(self._space.images(points), np.int64)

    def __reduce__(self) -> NoReturn:
        """Refuse to be copied: two copies would spend the same noise twice, and both would hold private weights."""
        raise TypeError("an open run cannot be copied or pickled; open a new run, which is paid for")


Planner: TypeAlias = "Callable[[Minimum, Public], Telling]"


class _Opened(KernelClassifier):
    """A fit whose result is a teller: checked, planned, charged and recorded as all fits are."""

    released: ClassVar[tuple[str, ...]] = ("teller",)

    def __init__(self, name: str, plan: Planner, parameters: Mapping[str, Any]) -> None:
        super().__init__(**parameters)
        self.name, self.plan = name, plan

    def _telling(self, public: Public, space: Space, found: Minimum) -> Telling:  # noqa: ARG002 - the space is in the rows
        """Return the release plan of the run."""
        return self.plan(found, public)

    def _plan_facts(self, public: Public, plan: KernelPlan | None) -> dict[str, Any]:
        """The record names the predictor."""
        return super()._plan_facts(public, plan) | {"learner": self.name}


def open_run(X: Any, y: Any, *, name: str, plan: Planner, parameters: Mapping[str, Any]) -> OpenRun:  # noqa: N803 - scikit-learn's
    """Find the private minimiser and open a run about it; everything is paid for here."""
    fitted = _Opened(name, plan, parameters).fit(X, y)
    if fitted.plan_ is None:
        raise InvalidArgument("DPA109", "all labels are of one class, so there is nothing to ask. Name two: classes=[...].")
    return OpenRun(fitted.teller, fitted.plan_.space, fitted.classes_, fitted.privacy_)
