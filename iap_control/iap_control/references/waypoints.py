# SPDX-License-Identifier: BSD-3-Clause
"""A trajectory of points in time that somebody sends in flight, as trajectory_msgs/MultiDOFJointTrajectory has them.

Positions and attitudes are smoothed as those of recorded commands are, see `smoothing.smoothed`. Velocities and
accelerations enter where every point has them.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from iap_control.references.replay import MAX_TURNING, thrust_rate
from iap_control.references.smoothing import smoothed
from iap_description.arrays import Array
from iap_description.config.bounds import are_plausible, is_unit
from iap_description.errors import BadInput
from iap_description.frames import MAP
from iap_description.math import so3
from iap_description.states import REF_A, REF_P, REF_Q, REF_V, REF_W
from iap_io.trajectories.messages import READINGS, Sample
from iap_io.trajectories.recorded import RecordedTrajectory
from iap_io.trajectories.samples import continuous

TRAJECTORY = "trajectory_msgs/msg/MultiDOFJointTrajectory"
MOST_POINTS = 100_000
_NS = 1e-9  # [s]


def read_trajectory(message: Any) -> list[Sample]:  # noqa: ANN401 - a message of rclpy
    """Points of a trajectory of one body.

    Raises:
        BadInput: it has none or too many, is of another frame, or a point makes no sense; the text says which.
    """
    if message.header.frame_id.strip("/") not in ("", MAP):
        raise BadInput(f"header.frame_id is '{message.header.frame_id}'; expected is '{MAP}'")
    if not 1 <= len(message.points) <= MOST_POINTS:
        raise BadInput(f"{len(message.points)} points, must be from 1 to {MOST_POINTS}")
    samples = list(READINGS[TRAJECTORY].samples(message))
    for i, sample in enumerate(samples):
        groups = (sample.p, sample.v, sample.w, sample.a, sample.alpha)
        numbers = [x for group in groups if group is not None for x in group]
        if not are_plausible(np.array(numbers)) or not is_unit(np.array(sample.q)):
            raise BadInput(
                f"point {i}: a number is none or too large, or the quaternion has no unit length"
            )
    times = [sample.later_ns for sample in samples]
    if times[0] < 0 or any(b <= a for a, b in zip(times, times[1:], strict=False)):
        raise BadInput("time_from_start: must not be negative, and must grow from point to point")
    return samples


def path_through(
    now: Array, samples: list[Sample], dt: float
) -> tuple[Callable[[Array], Array], float]:
    """Reference rows (T, 19) at times (T,) from the present on, and how long the path is [s].

    The way to a first point that comes later than a control period begins with the present motion. A single point
    that is due at once is a pose at rest.

    Args:
        now: (19,) the present reference.
        samples: of `read_trajectory`.
        dt: control period [s].

    Raises:
        BadInput: it turns the thrust faster than aircraft turn.
    """
    t = np.array([_NS * sample.later_ns for sample in samples])
    p, q = (np.array([getattr(sample, key) for sample in samples]) for key in "pq")
    v, w, a, alpha = (_column(samples, key) for key in ("v", "w", "a", "alpha"))
    w, alpha = (None if x is None else so3.rotate(so3.conjugate(q), x) for x in (w, alpha))
    if t[0] > dt:
        t, p, q = np.append(0.0, t), np.vstack([now[REF_P], p]), np.vstack([now[REF_Q], q])
        v = None if v is None else np.vstack([now[REF_V], v])
        w = None if w is None else np.vstack([now[REF_W], w])
        a = alpha = None
    if len(t) == 1:
        t, p, q = np.array([0.0, dt]), np.repeat(p, 2, axis=0), np.repeat(q, 2, axis=0)
        v = w = a = alpha = None
    q = continuous(q)
    path = RecordedTrajectory(
        t - t[0], p, q, TRAJECTORY, "header", 0, v_WP_W=v, w_WP_P=w, a_WP_W=a, alpha_WP_P=alpha
    )
    rows = smoothed(path)
    a = rows(np.arange(0.0, path.duration + dt, dt))[:, REF_A]
    rate = thrust_rate(a, dt)
    if rate > MAX_TURNING:
        raise BadInput(
            f"it asks for {np.linalg.norm(a, axis=1).max():.0f} m/s^2, with a thrust that turns by"
            f" {np.rad2deg(rate):.0f} deg/s: give the points more time"
        )
    return rows, path.duration


def _column(samples: list[Sample], key: str) -> Array | None:
    """One derivative of all points; None where a point has none."""
    values = [getattr(sample, key) for sample in samples]
    return None if any(each is None for each in values) else np.array(values)
