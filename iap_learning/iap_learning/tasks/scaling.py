# SPDX-License-Identifier: BSD-3-Clause
"""Ranges of actions, and the scaling between numbers in [-1, 1] and SI units."""

import math
from typing import ClassVar, NamedTuple, Self

import numpy as np
from numba import njit
from numpy.typing import ArrayLike, NDArray
from pydantic import model_validator

from iap_description.arrays import Array, Integers
from iap_description.config.record import ExtendedRecord
from iap_description.config.values import Real
from iap_description.errors import BadInput
from iap_learning.tasks.user_actions import UserAction
from iap_learning.tasks.user_inputs import TermInputs
from iap_learning.tasks.user_terms import UserFunctionName
from iap_physics.engines.engine import INVALID_COMMAND, RUNNING
from iap_simulation.batch.actions import REFERENCE_KINDS


class ActionRange(ExtendedRecord):
    """Meaning of the numbers of an action, which a policy gives in [-1, 1].

    Attributes:
        kind: of action.
        low: what -1 stands for, in SI units, of each column; those of an aircraft count for all.
        high: what 1 stands for.
        function: of the user's own, ``module:function``, which makes the kind's numbers of the action's; None where
            the action has them, see `iap_learning.tasks.user_actions.UserAction`.
    """

    LATER: ClassVar[tuple[str, ...]] = ("function",)

    kind: str
    low: tuple[Real, ...]
    high: tuple[Real, ...]
    function: UserFunctionName | None = None

    @property
    def columns(self) -> int | None:
        """Number of columns of the kind; None where the kind leaves it open."""
        return None

    @property
    def gives_references(self) -> bool:
        """True if they are references for the vehicle's controller; else they are commands of its aircraft."""
        return self.kind in REFERENCE_KINDS

    @property
    def meaning(self) -> str:
        """Meaning of the numbers in a policy's header."""
        return self.kind if self.function is None else f"{self.kind} by {self.function}"

    def scale(self, copies: int = 1) -> "ActionScale":
        """The scale of its numbers, which come several times, unless a function makes all of them."""
        return ActionScale.of(self.low, self.high, copies if self.function is None else 1)

    def user_function(self, columns: int, example: TermInputs) -> UserAction | None:
        """The user's function, compiled; None where there is none.

        Args:
            columns: numbers that it is to return.
            example: inputs of a trial call.

        Raises:
            BadInput: it cannot be imported or compiled, or returns something else.
        """
        if self.function is None:
            return None
        return UserAction(self.function, columns, len(self.low), example)

    @model_validator(mode="after")
    def _are_bounds(self) -> Self:
        columns = self.columns if self.function is None else None
        for key in ("low", "high"):
            if columns is not None and len(getattr(self, key)) != columns:
                raise ValueError(f"key '{key}': kind '{self.kind}' has {columns} columns")
        if len(self.low) != len(self.high):
            raise ValueError(f"key 'high': {len(self.low)} columns are expected")
        for k, (low, high) in enumerate(zip(self.low, self.high, strict=True)):
            if low > high:
                raise ValueError(f"key 'low': it must not be above 'high' (column {k})")
        return self


class ActionScale(NamedTuple):
    """Scaling of actions, n numbers each.

    Attributes:
        middle: (n,) SI value of an action of zero.
        half: (n,) SI value that an action of one adds.
    """

    middle: Array
    half: Array

    @classmethod
    def of(cls, low: ArrayLike, high: ArrayLike, repeats: int = 1) -> Self:
        """The scale between bounds, whose columns come several times."""
        low, high = np.tile(low, repeats), np.tile(high, repeats)
        return cls(0.5 * (low + high), 0.5 * (high - low))

    @property
    def size(self) -> int:
        """Numbers of an action."""
        return len(self.middle)

    def apply(self, action: Array) -> Array:
        """SI values (..., n) of actions."""
        return np.asarray(self.middle + self.half * action)

    def invert(self, values: Array) -> Array:
        """Actions (..., n) of SI values, not clipped; zero where both bounds are the same."""
        off = np.asarray(values - self.middle)
        return np.divide(off, self.half, out=np.zeros_like(off), where=self.half > 0.0)

    def apply_to_worlds(self, actions: ArrayLike, status: Integers, action: Array) -> Array:
        """SI values (B, n) of the actions of worlds; one that is no number ends its world.

        Args:
            actions: (B, n) in [-1, 1], and clipped to it.
            status: (B,) of the worlds.
            action: (B, n) the clipped ones, written.

        Raises:
            BadInput: they have another shape.
        """
        raw = np.ascontiguousarray(actions, dtype=np.float64)
        if raw.shape != action.shape:
            raise BadInput(
                f"action: has shape {raw.shape}; {action.shape} is expected, a row for each world"
            )
        values = np.empty(raw.shape)
        _scale_actions(raw, self.middle, self.half, status, action, values)
        return values


@njit(cache=True)
def _scale_actions(
    raw: Array, middle: Array, half: Array, status: Integers, action: Array, values: Array
) -> None:
    """Write actions (B, n) clipped to [-1, 1], and their SI values.

    An action that is no number becomes zero, and ends its world.
    """
    for b in range(len(raw)):
        for k in range(len(middle)):
            number = raw[b, k]
            if math.isnan(number):
                number = 0.0
                if status[b] == RUNNING:
                    status[b] = INVALID_COMMAND
            action[b, k] = min(max(number, -1.0), 1.0)
            values[b, k] = middle[k] + half[k] * action[b, k]


def clipped(actions: Array) -> NDArray[np.float32]:
    """Actions within [-1, 1], in single numbers as policies give them."""
    return np.clip(actions, -1.0, 1.0).astype(np.float32)
