# SPDX-License-Identifier: BSD-3-Clause
"""States that no aircraft can be in, after which an estimator begins anew."""

from dataclasses import dataclass

import numpy as np

from iap_description.arrays import Array
from iap_estimation.virpo.algebra.states import covariance_in_world
from iap_estimation.virpo.fleet import Fleet
from iap_estimation.virpo.spec import Failure
from iap_estimation.virpo.window.range_gate import place_after
from iap_estimation.virpo.window.window import EstimateLost, Window

# deviations of a foreseen place that a correction may have besides the limit of a jump
WIDTH = 4.0


@dataclass(frozen=True)
class Fault:
    """A restart of an estimator: time [s] and reason."""

    t: float
    reason: str


def check(x: Array, predicted: Array, doubts: Array, fleet: Fleet, limits: Failure) -> None:
    """Refuse states that no aircraft can be in.

    A jump within what the estimate said to err is none: after ten seconds without sight that is metres.

    Args:
        x: (A, 16) newest states.
        predicted: (A, 16) where the inertial samples led to.
        doubts: (A,) standard deviations of these places along their least known axes [m].
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
            ("jump", x[a, :3] - predicted[a, :3], limits.jump + WIDTH * doubts[a]),
        ):
            size = float(np.linalg.norm(value))
            if not size < limit:
                raise EstimateLost(f"{model.name}: {name} of {size:.3g}")


def doubts_after(span: float, window: Window) -> Array:
    """Standard deviations (A,) of the aircraft's places along their least known axes, some time [s] from now [m]."""
    C, states = window.covariance(), window.states
    x, alignments = states.x[-1], states.alignment
    covariances = (covariance_in_world(C, a, x, place) for a, place in enumerate(alignments))
    return np.sqrt([np.linalg.eigvalsh(place_after(one, span))[-1] for one in covariances])


def sound(x: Array, limits: Failure) -> Array:
    """States (A, 16) to begin anew from: biases that no unit has are forgotten."""
    for at, limit in ((10, limits.gyro_bias), (13, limits.accel_bias)):
        wild = ~(np.linalg.norm(x[:, at : at + 3], axis=-1) < limit)
        x[wild, at : at + 3] = 0.0
    return x
