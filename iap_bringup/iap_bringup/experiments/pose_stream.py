# SPDX-License-Identifier: BSD-3-Clause
"""A stream of poses as networks and players deliver it: with gaps, in bursts, with losses, and late."""

import numpy as np

from iap_description.arrays import Array
from iap_description.math import so3

HZ, DURATION = 40.0, 36.0
GAPS = {3.5: 0.05, 5.0: 0.2, 6.5: 0.5, 8.5: 1.0, 11.0: 2.0}  # begin and length [s]
BURSTS = ((16.0, 20.0, 0.1), (20.0, 25.0, 0.3))  # begin, end, and time between bursts [s]
LOSSES, LATE = (25.0, 30.0), (30.0, 35.0)  # begin and end [s]
LOST_SHARE, MAX_DELAY = 0.1, 0.1  # of poses; [s]
HEIGHT = 1.5  # about which it goes [m]


def stream() -> tuple[Array, Array]:
    """Stamps (n,) [s] and poses (n, 7) of a flight of up to 1.2 m/s and 0.5 rad/s that begins at rest."""
    t = np.arange(0.0, DURATION, 1.0 / HZ)
    u = np.clip(t / 3.0, 0.0, 1.0)
    ramp = u**3 * (10.0 - 15.0 * u + 6.0 * u * u)
    p = [1.2 * np.sin(0.8 * t), 0.8 * np.sin(1.1 * t), 0.25 * np.sin(0.9 * t)]
    turn = [0.12 * np.sin(1.3 * t), 0.15 * np.sin(0.9 * t), 0.9 * np.sin(0.5 * t)]
    place = np.transpose(p) * ramp[:, None] + [0.0, 0.0, HEIGHT]
    return t, np.hstack([place, so3.quaternion_exp(np.transpose(turn) * ramp[:, None])])


def receptions(t: Array) -> Array:
    """When poses of stamps (n,) come [s]; NaN for those that are lost."""
    rng, out = np.random.default_rng(4), t.copy()
    for begin, length in GAPS.items():
        out[(t > begin) & (t < begin + length)] = np.nan
    for begin, end, each in BURSTS:
        part = (t >= begin) & (t < end)
        out[part] = np.ceil(t[part] / each + 1e-9) * each
    lossy = (t >= LOSSES[0]) & (t < LOSSES[1])
    out[lossy & (rng.random(len(t)) < LOST_SHARE)] = np.nan
    part = (t >= LATE[0]) & (t < LATE[1])
    out[part] = np.maximum.accumulate(t[part] + rng.uniform(0.0, MAX_DELAY, part.sum()))
    return out
