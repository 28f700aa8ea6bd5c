# SPDX-License-Identifier: BSD-3-Clause
"""Initial states of aircraft: from the ground truth, or else at the origin, levelled by gravity."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from iap_description.errors import BadInput
from iap_estimation.evaluation.trajectory_errors import poses_at
from iap_estimation.navigation.data import Dataset, Truth
from iap_estimation.virpo.initial_state import level_state
from iap_estimation.virpo.messages import Inertial
from iap_estimation.virpo.window.estimator import InitialState

Array = NDArray[np.float64]
Start = Callable[[float], Array | None]
LEVELLING_TIME = 0.1  # length of the first samples, of which the mean tells the vertical [s]


def first_of(dataset: Dataset) -> tuple[InitialState, bool]:
    """Initial states for `make_localizer`, and whether they come from the ground truth.

    Raises:
        BadInput: neither truth nor gravity tells the attitude.
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


def _from_gravity(dataset: Dataset) -> Start:
    """At the origin, without yaw, level as the first samples say."""
    forces: list[Array] = []
    first = None
    for _, measured in dataset.events():
        if isinstance(measured, Inertial):
            first = measured.t if first is None else first
            if measured.t > first + LEVELLING_TIME:
                break
            forces.append(measured.f_B)
    state = level_state(np.array(forces).reshape(-1, 3), dataset.gravity, source=dataset.source)
    return lambda _: state.copy()
