# SPDX-License-Identifier: BSD-3-Clause
"""A recorded body that is mounted with a tilt on what flies, such as a camera that looks ahead and down.

Its attitudes swing as accelerations ask for, about an axis of the body that is not its z axis. That axis is what
pushes: a platform that took the body's attitudes would fly with the camera's tilt. Wind and the drag of fast flight
lean a vehicle, too, by less.
"""

import numpy as np

from iap_description.arrays import Integers
from iap_description.errors import BadInput
from iap_io.trajectories.samples import Samples
from iap_io.trajectories.tilts import pushes, sampled

NOTED = 6.0  # tilt of which a note is made [deg]
WIND = 18.0  # lean in a strong wind [deg]
DRAG = 3.0  # lean for each m/s of speed [deg]
SIDE = 60.0  # tilt from which on a body lies on its side, which others ask about [deg]


def check_mounting(samples: Samples, stamps: Integers, mounting: str) -> Samples:
    """Note or refuse a body that is tilted against the axis along which it is pushed.

    Args:
        samples: in ENU/FLU, whose tilts fit their accelerations.
        stamps: (K,) increasing [ns].
        mounting: that the user asks for; only ``auto`` is looked at.

    Raises:
        BadInput: it is tilted by more than wind and drag explain; names the mounting that turns it level.
    """
    along = None
    if mounting == "auto" and samples.about.axes_evidence == "tilts":
        along = pushes(sampled(samples, stamps))
    if along is None:
        return samples
    x, y, z = along.axis
    tilt = float(np.degrees(np.arccos(np.clip(z, -1.0, 1.0))))
    if not NOTED < tilt < SIDE:
        return samples
    roll, pitch = np.round(np.degrees([np.arctan2(y, z), -np.arcsin(x)])) + 0.0  # no -0
    speeds = np.linalg.norm(np.diff(samples.p, axis=0), axis=1) / (1e-9 * np.diff(stamps))
    remedy = f"--mounting={roll:.0f},{pitch:.0f},0 turns it level"
    text = f"its body is tilted by {tilt:.0f} deg all along against the axis that pushes it"
    if tilt > WIND + DRAG * float(np.median(speeds)):
        raise BadInput(
            f"{samples.source}: {text}, as of a camera that is mounted so: {remedy}, --mounting none keeps it"
        )
    return samples.noted(f"{text}: by wind, or it is mounted so ({remedy})")
