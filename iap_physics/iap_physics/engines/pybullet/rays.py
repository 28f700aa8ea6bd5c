# SPDX-License-Identifier: BSD-3-Clause
"""Rays through PyBullet's world."""

import numpy as np
from numpy.typing import NDArray

from iap_physics.engines.pybullet.client import bullet
from iap_physics.engines.pybullet.objects import STANDING

Array = NDArray[np.float64]

MOST = 16000  # per call; PyBullet drops those beyond 16383


def ray_cast(client: int, starts_W: Array, ends_W: Array, *, world_only: bool) -> Array:
    """Fraction (rays,) of each ray at its first hit, see `iap_physics.engines.engine.Engine.ray_cast`."""
    starts, ends = np.asarray(starts_W).tolist(), np.asarray(ends_W).tolist()
    seen = {"collisionFilterMask": STANDING} if world_only else {}
    hits: list[float] = []
    for i in range(0, len(starts), MOST):
        rays = bullet.rayTestBatch(
            starts[i : i + MOST], ends[i : i + MOST], **seen, physicsClientId=client
        )
        hits += [ray[2] for ray in rays]
    return np.array(hits)
