# SPDX-License-Identifier: BSD-3-Clause
"""The protocols of engines of many worlds."""

from collections.abc import Callable
from typing import Protocol, runtime_checkable

from iap_description.arrays import Array, Integers
from iap_physics.engines.engine import Engine

# Has work done on worlds first to last - 1, all of so many taken together, by one thread or several.
Share = Callable[[Callable[[int, int], object], int], object]


class BatchEngine(Engine, Protocol):
    """An engine of many worlds, each of which ends alone.

    Attributes:
        step_counts: (B,) physics steps of every world since its own reset.
    """

    step_counts: Integers


@runtime_checkable
class ObjectEngine(Protocol):
    """An engine of many worlds in which objects move."""

    def object_states_of(self, world: int) -> Array:
        """(objects, 13) state rows of the frames of a world's objects."""
