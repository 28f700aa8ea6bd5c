# SPDX-License-Identifier: BSD-3-Clause
"""Worlds of a task as functions of the user's own get them; a kind of tasks says what they are."""

from typing import Any, Generic, TypeVar

import numpy as np

from iap_description.arrays import Array, Integers
from iap_description.errors import IapError
from iap_learning.tasks.task import Task
from iap_learning.tasks.user_functions import UserFunctions
from iap_learning.tasks.user_inputs import WorldArrays

T = TypeVar("T", bound=Task)


class FunctionWorlds(Generic[T]):
    """Worlds that functions get: what policies know of them, and the truth by which they are rewarded and judged.

    A kind that takes functions sets `functions`, and says what there is in `_true_arrays`, `_known_arrays` where
    policies do not know the truth, and `_term_inputs` where its terms are a table.

    Attributes:
        task: that is flown.
        functions: of the user's own; None of kinds that take none.
    """

    task: T
    functions: UserFunctions | None = None

    @property
    def unsound(self) -> Integers:
        """(B,) 1 where a function has given no finite number in the present episode."""
        return self._taken().unsound

    def known(self, which: Integers) -> WorldArrays:
        """Worlds as functions of observations and actions get them, with the terms of some worlds (n,)."""
        return self._with_terms(self._known_arrays(), which)

    def true(self, which: Integers) -> WorldArrays:
        """Worlds as functions of rewards and ends get them, with the terms of some worlds (n,)."""
        return self._with_terms(self._true_arrays(), which)

    def _with_terms(self, worlds: WorldArrays, which: Integers) -> WorldArrays:
        return self._taken().world(worlds, self._term_inputs(), which)

    def _taken(self) -> UserFunctions:
        if self.functions is None:
            raise self._takes_none()
        return self.functions

    def _takes_none(self) -> IapError:
        return IapError(f"task '{self.task.name}': kind '{self.task.kind}' takes no functions")

    def _term_inputs(self) -> Any:  # noqa: ANN401 - of the kind's terms
        """Inputs of the kind's terms at present."""

    def _true_arrays(self) -> WorldArrays:
        """Worlds as they are, without terms."""
        raise self._takes_none()

    def _known_arrays(self) -> WorldArrays:
        """Worlds as policies know them, without terms."""
        return self._true_arrays()

    def _of_kind(self, values: Array) -> Array:
        """Numbers (B, columns) of the kind of actions (B, n), by the user's function where there is one."""
        if self.functions is None or self.functions.action is None:
            return values
        return self.functions.action(values, self.known(np.arange(len(values))))
