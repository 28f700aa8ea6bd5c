# SPDX-License-Identifier: BSD-3-Clause
"""Pairs of bodies that go through each other for a while, by PyBullet's filter of collisions."""

from dataclasses import dataclass

from iap_physics.engines.pybullet.client import Handle, bullet

Pairs = frozenset[frozenset[int]]


@dataclass
class CollisionFilter:
    """The bodies of a world, by their rows, that pass each other.

    Attributes:
        client: PyBullet's.
        handles: PyBullet's body and link of every state row.
        pairs: that pass.
    """

    client: int
    handles: list[Handle]
    pairs: Pairs = frozenset()

    def let(self, rows: tuple[int, int], *, passes: bool) -> None:
        """Let two bodies pass each other, or meet again."""
        pair = frozenset(rows)
        self.pairs = self.pairs | {pair} if passes else self.pairs - {pair}
        (a, link_a), (b, link_b) = (self.handles[row] for row in rows)
        bullet.setCollisionFilterPair(
            a, b, link_a, link_b, int(not passes), physicsClientId=self.client
        )

    def hold(self, pairs: Pairs) -> None:
        """Let these pass each other, and no others."""
        for pair in self.pairs ^ pairs:
            a, b = pair
            self.let((a, b), passes=pair in pairs)
