# SPDX-License-Identifier: BSD-3-Clause
"""Rays through a MuJoCo world."""

from typing import Any

import numpy as np

from iap_description.arrays import Array
from iap_physics.engines.mujoco.geoms import FREE, STANDING, VEHICLES
from iap_physics.engines.mujoco.library import mj


def cast(model: Any, data: Any, starts_W: Array, ends_W: Array, *, world_only: bool) -> Array:  # noqa: ANN401
    """Fraction (rays,) of each ray at its first hit, see `iap_physics.engines.engine.Engine.ray_cast`."""
    mj.mj_kinematics(model, data)
    groups = np.zeros(mj.mjNGROUP, dtype=np.uint8)
    groups[[FREE, STANDING] if world_only else [VEHICLES, FREE, STANDING]] = 1
    starts, how = np.asarray(starts_W, dtype=float), (groups, 1, -1, None)
    ways = np.asarray(ends_W, dtype=float) - starts
    hits = [mj.mj_ray(model, data, *ray, *how) for ray in zip(starts, ways, strict=True)]
    return np.array([hit if 0.0 <= hit <= 1.0 else 1.0 for hit in hits])
