# SPDX-License-Identifier: BSD-3-Clause
"""A world that is looked at, not flown in: it follows states that another engine has flown, and casts rays."""

import numpy as np
from numpy.typing import NDArray

from iap_description import so3
from iap_description.states import P, Q
from iap_physics.engines.pybullet.client import bullet
from iap_physics.engines.pybullet.engine import PyBulletEngine

Array = NDArray[np.float64]


class Bystander(PyBulletEngine):
    """The shapes of a PyBullet world, put where they are told to be; it is loaded as any engine."""

    def follow(self, x: Array, objects: Array) -> None:
        """Put everything into state rows (bodies, 13) of the vehicles and (objects, 13) of the world's objects."""
        self._place(x)
        for model, body, row in zip(self._models, self._loaded.objects, objects, strict=True):
            place = row[P] + so3.rotate(row[Q], model.p_OC_O)
            turn = so3.multiply(row[Q], model.q_OC)
            bullet.resetBasePositionAndOrientation(
                body, place.tolist(), turn.tolist(), self._client
            )
        bullet.performCollisionDetection(**self._at)  # rays look for bodies where this found them
