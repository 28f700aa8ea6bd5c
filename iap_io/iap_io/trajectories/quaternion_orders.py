# SPDX-License-Identifier: BSD-3-Clause
"""Order of quaternions' numbers, by how a body stands: no recording says it where accelerations are too small.

A vehicle that turns by its yaw psi has q = (0, 0, sin(psi/2), cos(psi/2)), w last. Read in the other order it is a turn
about x by pi - psi. So is a body that rolls about x alone, as platforms can that push in all directions; these start
and end level.
"""

import numpy as np

from iap_description.arrays import Array
from iap_description.errors import BadInput
from iap_description.math import so3
from iap_io.trajectories.axes import reordered
from iap_io.trajectories.conventions import QuaternionOrder
from iap_io.trajectories.samples import Samples

UPRIGHT = 0.5  # least cosine of the tilt of a body that stands
LEVEL = np.radians(5.0)  # tilt of one that hovers, at most [rad]
LEANS = np.radians(12.0)  # tilt of one that does not, at least [rad]
LEAST_CHANGE = np.radians(0.6)  # RMS of a lean of which a note is made [rad]
ALONE = 0.35  # part of the lean about one axis that there is about the other, at most
OTHER_ORDERS: dict[QuaternionOrder, QuaternionOrder] = {"xyzw": "wxyz", "wxyz": "xyzw"}


def check_standing(samples: Samples) -> None:
    """Refuse a body on its head that stands if its quaternions' numbers are in the other order.

    Raises:
        BadInput: naming the option.
    """
    tilts = _other_tilts(samples)
    if tilts is not None and tilts.max() <= np.arccos(UPRIGHT):
        raise BadInput(
            f"{samples.source}: the body's z axis starts off upwards: --quaternion {_other(samples)} reads its numbers"
            " so that it stands, --mounting rest takes the body's axes from its first attitude"
        )


def check_level(samples: Samples) -> None:
    """Refuse a body that leans, and that is level all the time if its quaternions' numbers are in the other order.

    Args:
        samples: in ENU/FLU, whose accelerations do not say how the body stands.

    Raises:
        BadInput: naming both orders.
    """
    others = _other_tilts(samples)
    tilts = _tilts(so3.matrix_from_quaternion(samples.q))
    if others is None or others.max() > LEVEL or np.quantile(tilts, 0.95) < LEANS:
        return
    if max(tilts[0], tilts[-1]) < LEVEL or tilts[0] > np.arccos(UPRIGHT):
        return  # which comes back level, or starts on its side, as its mounting is asked about
    order = samples.about.quaternion
    raise BadInput(
        f"{samples.source}: it leans by up to {np.degrees(tilts.max()):.0f} deg about one axis, and its accelerations"
        f" do not: --quaternion {_other(samples)} reads its numbers so that it is level and turns by its yaw,"
        f" --quaternion {order} keeps them, --mounting rest takes the body's axes from its first attitude"
    )


def order_doubt(samples: Samples, leans: Array, forces: Array) -> str | None:
    """A note on a hover whose lean changes about one axis alone, and hardly in the other order of numbers.

    Gusts from one side make such leans, too, so that nothing is refused.

    Args:
        samples: in ENU/FLU, whose accelerations are too small to tell.
        leans: (B, 3) directions of the axis that the body pushes along, in the world's axes.
        forces: (B, 3) those of specific force.
    """
    others = _other_tilts(samples)
    if others is None or others.max() > LEVEL:
        return None
    lean, force = (x[:, :2] - x[:, :2].mean(axis=0) for x in (leans, forces))
    _, sizes, axes = np.linalg.svd(lean, full_matrices=False)
    least = max(LEAST_CHANGE * len(lean) ** 0.5, 2.0 * float(np.linalg.norm(force @ axes[0])))
    if sizes[0] < least or sizes[1] > ALONE * sizes[0]:
        return None
    return (
        f"it leans by up to {np.degrees(_tilts(so3.matrix_from_quaternion(samples.q)).max()):.0f} deg about one axis"
        f" and does not accelerate: in gusts from one side, or with a yaw near 180 deg whose numbers --quaternion"
        f" {_other(samples)} reads"
    )


def _other(samples: Samples) -> QuaternionOrder | None:
    return OTHER_ORDERS.get(samples.about.quaternion)


def _other_tilts(samples: Samples) -> Array | None:
    """Tilts (K,) by the other order of numbers [rad]; None where there is none."""
    other = _other(samples)
    if other is None:
        return None
    read = reordered(samples.q, samples.about.quaternion, other)
    return _tilts(so3.matrix_from_quaternion(read))


def _tilts(R: Array) -> Array:
    """Angles (K,) of the bodies' z axes off upwards [rad]."""
    return np.asarray(np.arccos(np.clip(R[:, 2, 2], -1.0, 1.0)))
