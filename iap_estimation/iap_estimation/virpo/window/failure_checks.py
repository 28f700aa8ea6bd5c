# SPDX-License-Identifier: BSD-3-Clause
"""States that no aircraft can be in."""

import numpy as np

from iap_description.arrays import Array
from iap_estimation.virpo.fleet import Fleet
from iap_estimation.virpo.spec import Failure
from iap_estimation.virpo.window.window import EstimateLost


def check(x: Array, predicted: Array, fleet: Fleet, limits: Failure) -> None:
    """Refuse them.

    Args:
        x: (A, 16) newest states.
        predicted: (A, 16) where the inertial samples led to.
        fleet: whose they are.
        limits: see `Failure`.

    Raises:
        EstimateLost: naming what is wrong.
    """
    for a, model in enumerate(fleet.aircraft):
        for name, value, limit in (
            ("speed", x[a, 7:10], limits.speed),
            ("gyroscope bias", x[a, 10:13], limits.gyro_bias),
            ("accelerometer bias", x[a, 13:16], limits.accel_bias),
            ("jump", x[a, :3] - predicted[a, :3], limits.jump),
        ):
            size = float(np.linalg.norm(value))
            if not size < limit:
                raise EstimateLost(f"{model.name}: {name} of {size:.3g}")


def sound(x: Array, limits: Failure) -> Array:
    """States (A, 16) to begin anew from: biases that no unit has are forgotten."""
    for at, limit in ((10, limits.gyro_bias), (13, limits.accel_bias)):
        wild = ~(np.linalg.norm(x[:, at : at + 3], axis=-1) < limit)
        x[wild, at : at + 3] = 0.0
    return x
