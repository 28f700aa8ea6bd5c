# SPDX-License-Identifier: BSD-3-Clause
"""Actions of a user's own: functions from the numbers of an action to those of a kind that the suite flies."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numba import njit

from iap_description.arrays import Array
from iap_description.errors import BadInput
from iap_learning.tasks.user_inputs import TermInputs, WorldArrays, world_maker
from iap_learning.tasks.user_terms import compiled_function, numbers_of, trial


class UserAction:
    """A user's function from the numbers of an action, in SI units, to those of a kind that the suite flies.

        def along(values, world):
            return (values[0], 0.0, 0.0, 0.0)

    Args:
        name: ``module:function``.
        columns: numbers of the kind.
        values: numbers of the action.
        example: inputs of a trial call.

    Raises:
        BadInput: there is no such function, numba cannot compile it, or it returns something else.
    """

    def __init__(self, name: str, columns: int, values: int, example: TermInputs) -> None:
        key, self._columns = "action.function", columns
        function = compiled_function(name, key)
        count = numbers_of(trial(function, (np.zeros(values), example), name, key), name, key)
        if count != columns:
            raise BadInput(
                f"key '{key}': '{name}' returns {count} numbers; {columns} are expected"
            )
        self._loop = _loop_of_actions(function, world_maker(example))

    def __call__(self, values: Array, inputs: WorldArrays) -> Array:
        """Numbers (B, columns) of actions (B, n) at the present instant; one that is no number stays so."""
        out = np.empty((len(values), self._columns))
        self._loop(values, inputs, out)
        return out


def _loop_of_actions(
    function: Callable[..., Any], world: Callable[[WorldArrays, int], Any]
) -> Callable[..., None]:
    """The loop over worlds."""

    @njit(nogil=True, error_model="numpy")
    def loop(values: Array, inputs: WorldArrays, out: Array) -> None:
        for b in range(len(values)):
            numbers = function(values[b], world(inputs, b))
            for k in range(len(numbers)):
                out[b, k] = numbers[k]

    return loop
