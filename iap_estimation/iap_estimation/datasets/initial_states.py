# SPDX-License-Identifier: BSD-3-Clause
"""Initial states of aircraft: from the ground truth, or else at the origin, levelled by gravity.

At rest the latter is its state. In motion the specific force is not gravity's alone, and its velocity is not zero:
both are then off by what `VirpoSpec.unknown` allows, and the first keyframes, whose stereo depths have a scale,
correct them (the window takes more steps for these).
"""

from collections.abc import Callable

import numpy as np

from iap_description.arrays import Array
from iap_description.errors import BadInput
from iap_description.math import so3
from iap_estimation.datasets.dataset import SensorDataset
from iap_estimation.evaluation.trajectory_errors import poses_at
from iap_estimation.evaluation.truth import Truth
from iap_estimation.virpo.messages import ImuSample
from iap_estimation.virpo.window.estimator import InitialState

Start = Callable[[float], Array | None]
MIN_FORCE_RATIO = 0.3  # specific force over gravity, below which it does not show the vertical
LEVELLING_TIME = 0.1  # length of the first samples, whose mean shows the vertical [s]


def first_of(dataset: SensorDataset) -> tuple[InitialState, bool]:
    """Initial states for `make_localizer`, and whether they come from the ground truth.

    Raises:
        BadInput: neither truth nor gravity shows the attitude.
    """
    truths = [one.truth for one in dataset.aircraft]
    known = [truth for truth in truths if truth is not None and truth.has_attitude]
    if len(known) == len(truths):
        starts: list[Start] = [_from_truth(truth) for truth in known]
    elif len(truths) == 1:
        starts = [_from_gravity(dataset)]
    else:
        raise BadInput(f"{dataset.source}: nothing says how the aircraft begin towards each other")
    return lambda aircraft, t: starts[aircraft](t), len(known) == len(truths)


def _from_truth(truth: Truth) -> Start:
    """The true pose and velocity, and biases of zero; None while the truth has not begun."""
    v_W = np.gradient(truth.poses[:, :3], truth.t, axis=0) if truth.v_W is None else truth.v_W

    def start(t: float) -> Array | None:
        if not truth.t[0] <= t <= truth.t[-1]:
            return None
        pose = poses_at(np.array([t]), truth.t, truth.poses)[0]
        v = [np.interp(t, truth.t, v_W[:, i]) for i in range(3)]
        return np.concatenate([pose, v, np.zeros(6)])

    return start


def _from_gravity(dataset: SensorDataset) -> Start:
    """At the origin, without yaw, level as the first samples say."""
    forces: list[Array] = []
    first = None
    for _, measured in dataset.events():
        if isinstance(measured, ImuSample):
            first = measured.t if first is None else first
            if measured.t > first + LEVELLING_TIME:
                break
            forces.append(measured.f_B)
    state = level_state(np.array(forces).reshape(-1, 3), dataset.gravity, source=dataset.source)
    return lambda _: state.copy()


def level_state(f_B: Array, gravity: float, *, source: str) -> Array:
    """State (16,) at the origin, from mean specific forces (S, 3) of the first samples [m/s^2].

    Raises:
        BadInput: there are none, or they are those of a fall.
    """
    if not len(f_B):
        raise BadInput(f"{source}: no inertial samples to begin with")
    f = f_B.mean(axis=0)
    size = float(np.linalg.norm(f))
    if not size > MIN_FORCE_RATIO * gravity:
        raise BadInput(
            f"{source}: a specific force of {size:.2f} m/s^2 does not say where the vertical is"
        )
    x, y, z = f / size
    roll, pitch = np.arctan2(y, z), np.arctan2(-x, np.hypot(y, z))
    q = so3.quaternion_from_matrix(so3.matrix_from_euler(np.array([roll, pitch, 0.0])))
    return np.concatenate([np.zeros(3), q, np.zeros(9)])
