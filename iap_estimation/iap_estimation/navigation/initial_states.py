# SPDX-License-Identifier: BSD-3-Clause
"""Where aircraft are when an estimator begins: as the truth says, or else at the origin, level as gravity says."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from iap_description.errors import BadInput
from iap_estimation.evaluation.trajectory_errors import poses_at
from iap_estimation.navigation.data import Dataset, Truth
from iap_estimation.virpo.initial_state import level_state
from iap_estimation.virpo.messages import Inertial
from iap_estimation.virpo.window.estimator import First

Array = NDArray[np.float64]
Start = Callable[[float], Array | None]
FIRST = 0.1  # length of the first samples, of which the mean tells the vertical [s]


def first_of(dataset: Dataset) -> tuple[First, bool]:
    """What `make_localizer` asks for, and whether it comes from the truth.

    Raises:
        BadInput: neither truth nor gravity tells the attitude.
    """
    truths = [craft.truth for craft in dataset.crafts]
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
    for _, said in dataset.events():
        if isinstance(said, Inertial):
            first = said.t if first is None else first
            if said.t > first + FIRST:
                break
            forces.append(said.f_B)
    state = level_state(np.array(forces).reshape(-1, 3), dataset.gravity, source=dataset.source)
    return lambda _: state.copy()
