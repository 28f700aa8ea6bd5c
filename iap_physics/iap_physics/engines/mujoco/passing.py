# SPDX-License-Identifier: BSD-3-Clause
"""Pairs of bodies that go through each other for a while, by MuJoCo's masks of geoms.

Two geoms meet where the type of one is in the affinity of the other. A body that passes any other gets a bit of its
own, from the top, where surfaces have none: its type keeps its surface's bit, by which it meets all that has none of
its own, and its affinity names the bodies with bits that it meets.
"""

from typing import Any

import numpy as np

from iap_description.arrays import Integers
from iap_description.errors import IapError
from iap_physics.engines.mujoco.geoms import BITS, VEHICLES

Pairs = frozenset[frozenset[int]]
LOWEST = 8  # bits below are left to surfaces


class Passing:
    """The bodies of a world that pass each other.

    Args:
        model: MuJoCo's.
    """

    def __init__(self, model: Any) -> None:  # noqa: ANN401
        self._model = model
        self._masks = model.geom_contype.copy(), model.geom_conaffinity.copy()
        self._bits: dict[int, int] = {}
        self.pairs: Pairs = frozenset()

    def let(self, bodies: tuple[int, int], *, passes: bool) -> None:
        """Let two of MuJoCo's bodies pass each other, or meet again.

        Raises:
            IapError: there is no bit left.
        """
        pair = frozenset(bodies)
        for body in bodies:
            self._bits.setdefault(body, BITS - 1 - len(self._bits))
        if min(self._bits.values()) < LOWEST:
            raise IapError(f"let_pass: no more than {BITS - LOWEST} bodies pass others")
        self.hold(self.pairs | {pair} if passes else self.pairs - {pair})

    def hold(self, pairs: Pairs) -> None:
        """Let these pass each other, and no others."""
        self.pairs = pairs
        self._model.geom_contype[:], self._model.geom_conaffinity[:] = self._masks
        for body, bit in self._bits.items():
            geoms = self._geoms(body)
            met = [b for b in self._bits if b != body and frozenset((b, body)) not in pairs]
            self._model.geom_contype[geoms] |= 1 << bit
            self._model.geom_conaffinity[geoms] = sum(1 << self._bits[b] for b in met)

    def _geoms(self, body: int) -> Integers:
        """Geoms of a body that meet its own surface."""
        of_body = self._model.geom_bodyid == body
        found: Integers = np.flatnonzero(of_body & (self._model.geom_group == VEHICLES))
        return found
