# SPDX-License-Identifier: BSD-3-Clause
r"""An artificial potential field by what a depth camera sees (Khatib, Int. J. Robotics Research 5(1), 1986).

Velocities follow the falling potential, of the goal (its eq. 9, conic beyond the distance at which the cruise speed is
reached) and of points at distances rho below rho_0 (its eqs. 14 and 15):

.. math::
    F = -\xi\,(p - p_\text{goal}) + \eta\left(\frac1\rho - \frac1{\rho_0}\right)\frac{1}{\rho^2}\,\nabla\rho

A point is where a number of the image says that something is; rho is its distance less the radius of the aircraft.
"""

from typing import Literal

import numpy as np
from numba import njit
from numpy.typing import NDArray

from iap_description.arrays import Array
from iap_description.config.record import Record
from iap_description.config.values import NonNegative, Positive
from iap_description.errors import BadInput
from iap_description.math.kernels import formula, norm, quat_at, rotate, vec_at, yaw_of
from iap_learning.tasks.agents import AgentSettings
from iap_learning.tasks.kinds.navigate.velocity_agent import VelocityAgent
from iap_learning.tasks.kinds.platform.episodes import PlatformEpisodes

NEEDED = ("position_error_P", "attitude")  # terms of an observation besides the image
TOUCHING = 0.05  # least rho that counts [m]


class PotentialSettings(Record):
    """Numbers of `PotentialField`.

    Attributes:
        attraction: xi [1/s].
        cruise: speed to which the goal's pull is cut [m/s].
        repulsion: eta, of all the image's numbers together [m^4/s].
        reach: rho_0 [m].
        radius: of the aircraft [m].
        band: height above or below beyond which a point does not matter [m].
        turn: rate with which it turns back along x [1/s].
    """

    attraction: Positive
    cruise: Positive
    repulsion: NonNegative
    reach: Positive
    radius: NonNegative
    band: Positive
    turn: NonNegative


class PotentialField:
    """Velocities of the potential field.

    Args:
        settings: its numbers.
        episodes: whose observations it is given; they have images.

    Raises:
        BadInput: a term is missing in the observations.
    """

    def __init__(self, settings: PotentialSettings, episodes: PlatformEpisodes) -> None:
        assert episodes.camera is not None
        self._camera, self._view = episodes.camera, episodes.camera.view
        observer, task = episodes.observer, episodes.task
        for name in NEEDED:
            if name not in observer.columns:
                raise BadInput(f"task '{task.name}': key 'observation': needs '{name}' here")
        self._goal, self._attitude = (observer.columns[name] for name in NEEDED)
        self._scale = task.observation["position_error_P"]
        first = task.history * observer.size
        self._image = slice(first, first + episodes.camera.size)  # the present one
        self._numbers = np.array(tuple(settings.model_dump().values()))

    def __call__(self, observations: NDArray[np.float32]) -> Array:
        """(B, 4) velocity in `map` [m/s] and yaw rate [rad/s] at observations (B, n)."""
        rows = observations.astype(np.float64)
        goals_P = self._scale * rows[:, self._goal]
        q_WP = np.ascontiguousarray(rows[:, self._attitude])
        depths = self._camera.depths(observations[:, self._image])
        out = np.empty((len(rows), 4))
        _follow(goals_P, q_WP, depths, self._view.ways_B, self._view.p_BS_B, self._numbers, out)
        return out


@njit(cache=True)
def _follow(
    goals_P: Array,
    q_WP: Array,
    depths: Array,
    ways_P: Array,
    p_PS_P: Array,
    numbers: Array,
    out: Array,
) -> None:
    """Write velocities and yaw rates of all worlds; the numbers are those of `PotentialSettings`."""
    attraction, cruise, repulsion, reach, radius, band, turn = numbers
    for b in range(len(out)):
        q = quat_at(q_WP[b], 0)
        goal_W = rotate(q, vec_at(goals_P[b], 0))
        distance = max(norm(goal_W), 1e-9)
        pull = min(attraction, cruise / distance)
        for k in range(3):
            out[b, k] = pull * goal_W[k]
        for i in range(depths.shape[1]):
            if depths[b, i] > 2.0 * (reach + radius):
                continue
            way, d = vec_at(ways_P[i], 0), depths[b, i]
            point = (p_PS_P[0] + d * way[0], p_PS_P[1] + d * way[1], p_PS_P[2] + d * way[2])
            point_W = rotate(q, point)
            if abs(point_W[2]) > band:
                continue
            length = max(norm(point_W), 1e-9)
            push = repulsion / depths.shape[1] * push_of(length - radius, reach)
            for k in range(3):
                out[b, k] -= push * point_W[k] / length
        out[b, 3] = -turn * yaw_of(q_WP[b])


@formula
def push_of(rho: float, reach: float) -> float:
    """Length of the repulsion at a distance rho, for eta = 1."""
    if rho >= reach:
        return 0.0
    near = max(rho, TOUCHING)
    return (1.0 / near - 1.0 / reach) / (near * near)


class PotentialFieldSettings(AgentSettings):
    """Keys of an agent by a potential field.

    Attributes:
        potential: numbers of it.
    """

    guide: Literal["potential_field"]
    potential: PotentialSettings


class PotentialFieldAgent(VelocityAgent[PotentialFieldSettings]):
    """Knows what a policy observes."""

    SETTINGS = PotentialFieldSettings

    def __init__(self, settings: PotentialFieldSettings, episodes: PlatformEpisodes) -> None:
        self._field = PotentialField(settings.potential, episodes)
        super().__init__(settings, episodes)

    @classmethod
    def misfit(cls, episodes: PlatformEpisodes) -> str | None:
        """Reason why it cannot fly these episodes; None where it can."""
        if episodes.camera is None and super().misfit(episodes) is None:
            return f"needs a depth image; task '{episodes.task.name}' has none"
        return super().misfit(episodes)

    def values(self) -> Array:
        """(B, 4) velocity in `map` [m/s] and yaw rate [rad/s] at the present instant."""
        return self._field(self.episodes.observe())
