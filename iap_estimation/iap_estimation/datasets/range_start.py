# SPDX-License-Identifier: BSD-3-Clause
r"""The initial state of an aircraft that has ranges and an inertial unit alone, in the anchors' frame.

Its place is where the first rounds of ranges meet, its tilt what gravity says. Its yaw shows only in motion: the
beginning of the data is estimated once for each of some yaws, and the one whose window fits best is taken.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numba import njit

from iap_description.arrays import Array
from iap_description.errors import BadInput
from iap_description.math import so3
from iap_estimation.datasets.dataset import SensorDataset
from iap_estimation.datasets.initial_states import LEVELLING_TIME, level_state
from iap_estimation.virpo.messages import ImuSample, Ranges
from iap_estimation.virpo.methods.uwb import UwbLocalizer, mean_cost
from iap_estimation.virpo.spec import StartDeviations, VirpoSpec
from iap_estimation.virpo.window.estimator import InitialState

TRIAL = 10.0  # length of the beginning that shows the yaw [s]
YAWS = np.deg2rad(np.arange(0.0, 360.0, 45.0))
FIRST_ROUNDS = 10  # of ranges, which show the place
ROUNDS, STILL = 100, 1e-4  # of Gauss-Newton at most, and a step that ends it [m]
EPSILON = float(np.finfo(float).eps)  # times the number of ranges: singular values that count as 0
FEWEST = 4  # anchors that fix a place in space
# What the place and the tilt may be off, half the step between two yaws, and biases as a unit without data sheet has.
DEVIATIONS = {
    "position": 0.3,
    "yaw_deg": 30.0,
    "tilt_deg": 5.0,
    "velocity": 0.5,
    "gyro_bias": 0.02,
    "accel_bias": 0.3,
}


class _Beginning(NamedTuple):
    """Measurements of the first `TRIAL` seconds, in order of time."""

    events: list[ImuSample | Ranges]

    @property
    def rounds(self) -> list[Ranges]:
        return [each for each in self.events if isinstance(each, Ranges)]

    @property
    def forces(self) -> Array:
        """(n, 3) first specific forces [m/s^2]."""
        samples = [each for each in self.events if isinstance(each, ImuSample)]
        near = [each.f_B for each in samples if each.t <= samples[0].t + LEVELLING_TIME]
        return np.array(near).reshape(-1, 3)


def range_start(dataset: SensorDataset, spec: VirpoSpec) -> tuple[InitialState, StartDeviations]:
    """The initial state of the only aircraft of a data set, and what it may be off.

    Raises:
        BadInput: there are too few anchors, no inertial samples, or they are those of a fall.
    """
    beginning = _beginning(dataset)
    level = level_state(beginning.forces, dataset.gravity, source=dataset.source)
    level[:3] = meeting_point(beginning.rounds[:FIRST_ROUNDS], dataset.source)
    deviations = spec.unknown.model_copy(update=DEVIATIONS)
    turned = [_turned(level, yaw) for yaw in YAWS]
    costs = [_cost(dataset, spec, beginning, state, deviations) for state in turned]
    best = turned[int(np.argmin(costs))]
    return lambda _, __: best.copy(), deviations


def meeting_point(rounds: Sequence[Ranges], source: str) -> Array:
    r"""The place (3,) [m] that ranges :math:`d_k` to anchors :math:`a_k` agree on best.

    It is the least of :math:`\sum_k \rho(|p - a_k| - d_k)`, by Gauss-Newton from the middle of the anchors.
    Huber's kernel, in deviations, keeps ranges that took a detour from counting much.

    Raises:
        BadInput: ranges to less than four anchors.
    """
    anchors = np.vstack([each.p_W for each in rounds]) if rounds else np.zeros((0, 3))
    if len(set(map(tuple, anchors.tolist()))) < FEWEST:
        raise BadInput(
            f"{source}: the first ranges are to fewer than {FEWEST} of the anchors whose places are known"
        )
    d = np.concatenate([each.ranges for each in rounds])
    sigma = np.concatenate([each.deviations for each in rounds])
    return _met(anchors, d, sigma)


@njit(cache=True)
def _met(anchors: Array, d: Array, sigma: Array) -> Array:
    """The place (3,) of `meeting_point`, of anchors (n, 3), ranges (n,) and deviations (n,) [m]."""
    n = len(d)
    p = np.array([anchors[:, k].mean() for k in range(3)])
    rows, rest = np.empty((n, 3)), np.empty(n)
    for _ in range(ROUNDS):
        for i in range(n):
            x, y, z = p[0] - anchors[i, 0], p[1] - anchors[i, 1], p[2] - anchors[i, 2]
            length = max(np.sqrt(x * x + y * y + z * z), 1e-6)
            off = d[i] - length
            weight = np.sqrt(1.0 / max(abs(off / sigma[i]), 1.0)) / sigma[i]
            rows[i, 0], rows[i, 1], rows[i, 2] = weight * x, weight * y, weight * z
            rows[i] /= length
            rest[i] = weight * off
        step = np.linalg.lstsq(rows, rest, n * EPSILON)[0]
        p = p + step
        if np.sqrt((step * step).sum()) < STILL:
            break
    return p


def _beginning(dataset: SensorDataset) -> _Beginning:
    measurements: list[ImuSample | Ranges] = []
    for _, measured in dataset.events():
        if measurements and measured.t > measurements[0].t + TRIAL:
            break
        if isinstance(measured, (ImuSample, Ranges)):
            measurements.append(measured)
    return _Beginning(measurements)


def _turned(state: Array, yaw: float) -> Array:
    turned = state.copy()
    turned[3:7] = so3.multiply(so3.quaternion_exp(np.array([0.0, 0.0, yaw])), state[3:7])
    return turned


def _cost(
    dataset: SensorDataset,
    spec: VirpoSpec,
    beginning: _Beginning,
    state: Array,
    deviations: StartDeviations,
) -> float:
    """Mean cost of the second half of the updates from a state on."""
    one = UwbLocalizer(dataset.fleet(spec), spec, lambda _, __: state.copy(), deviations)
    costs = []
    for measured in beginning.events:
        if isinstance(measured, Ranges):
            one.ranges(0, measured)
        elif one.imu(0, measured):
            costs.append(mean_cost(one))
    return float(np.mean(costs[len(costs) // 2 :])) if costs else float("inf")
