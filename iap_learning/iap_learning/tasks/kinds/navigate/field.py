# SPDX-License-Identifier: BSD-3-Clause
"""An expert that knows the whole field: it flies where the time to the goal falls fastest, slower beside obstacles.

Of obstacles that move it knows nothing.
"""

import math
from typing import Literal

import numpy as np
from numba import njit
from numpy.typing import ArrayLike

from iap_description.arrays import Array, Integers
from iap_description.config.record import Record
from iap_description.config.values import NonNegative, Positive, Share, Vec3
from iap_description.math.kernels import Vec, formula, norm, vec_at, yaw_of
from iap_description.world.distances import Surroundings
from iap_learning.tasks.agents import AgentSettings
from iap_learning.tasks.kinds.navigate.velocity_agent import VelocityAgent
from iap_learning.tasks.kinds.platform.episodes import PlatformEpisodes
from iap_physics.engines.engine import world_indices

UNREACHED_TIME = 1e6  # time of what has not been reached yet [s]
TIME_TOLERANCE = 1e-3  # change of a time that calls for no further round [s]
ROUNDS = 20  # of eight sweeps, at most


def least_times(speeds: Array, spacing: float, goal: tuple[int, int, int]) -> Array:
    r"""Least times T (nx, ny, nz) to a goal through a medium of given speeds [s].

    They solve the eikonal equation :math:`\lVert\nabla T\rVert\, v = 1`, T = 0 at the goal, by fast sweeping with
    Godunov's upwind differences (Zhao, "A fast sweeping method for eikonal equations", Math. Comp. 74, 2005, eqs. 2.1
    to 2.5).

    Args:
        speeds: (nx, ny, nz), above zero [m/s].
        spacing: of the grid [m].
        goal: node at which T is zero.
    """
    times = np.full(speeds.shape, UNREACHED_TIME)
    times[goal] = 0.0
    crossings = spacing / speeds
    for _ in range(ROUNDS):
        if _sweep_all(crossings, times) < TIME_TOLERANCE:
            break
    return times


@njit(cache=True)
def _sweep_all(crossings: Array, times: Array) -> float:
    """Sweep in all eight orders; the largest change."""
    most = 0.0
    for order in range(8):
        most = max(most, _sweep(crossings, times, order & 1, (order >> 1) & 1, order >> 2))
    return most


@njit(cache=True)
def _sweep(crossings: Array, times: Array, back_x: int, back_y: int, back_z: int) -> float:
    """Update every node once, along or against each axis; the largest change."""
    nx, ny, nz = times.shape
    most = 0.0
    for a in range(nx):
        i = nx - 1 - a if back_x else a
        for b in range(ny):
            j = ny - 1 - b if back_y else b
            for c in range(nz):
                k = nz - 1 - c if back_z else c
                candidate = _arrival(crossings[i, j, k], *_upwind(times, i, j, k))
                if candidate < times[i, j, k]:
                    most = max(most, times[i, j, k] - candidate)
                    times[i, j, k] = candidate
    return most


@formula
def _upwind(times: Array, i: int, j: int, k: int) -> tuple[float, float, float]:
    """The lesser of the two neighbours' times along each axis, in rising order."""
    nx, ny, nz = times.shape
    x = min(times[max(i - 1, 0), j, k], times[min(i + 1, nx - 1), j, k])
    y = min(times[i, max(j - 1, 0), k], times[i, min(j + 1, ny - 1), k])
    z = min(times[i, j, max(k - 1, 0)], times[i, j, min(k + 1, nz - 1)])
    least, most = min(x, y, z), max(x, y, z)
    return least, max(min(x, y), min(max(x, y), z)), most


@formula
def _arrival(crossing: float, a: float, b: float, c: float) -> float:
    """Time of a node from those of its neighbours, a <= b <= c, and the time to cross the spacing."""
    candidate = a + crossing
    if candidate <= b:
        return candidate
    candidate = 0.5 * (a + b + math.sqrt(2.0 * crossing * crossing - (a - b) * (a - b)))
    if candidate <= c:
        return candidate
    total = a + b + c
    room = total * total - 3.0 * (a * a + b * b + c * c - crossing * crossing)
    return (total + math.sqrt(max(room, 0.0))) / 3.0


class FieldGuidanceSettings(Record):
    """Numbers of `FieldGuidance`.

    Attributes:
        low: least corner of the grid in `map` [m].
        high: its greatest corner [m].
        spacing: of the grid [m].
        tight: clearance at which it is slowest [m].
        open: clearance from which on it flies at full speed [m].
        cruise: full speed [m/s].
        least: share of it that is left at the least clearance and inside of obstacles.
        ahead: for how long the present velocity goes on before a command acts [s].
        back: rate with which it returns to the grid [1/s].
        turn: rate with which it turns back along x [1/s].
    """

    low: Vec3
    high: Vec3
    spacing: Positive
    tight: NonNegative
    open: Positive
    cruise: Positive
    least: Share
    ahead: NonNegative
    back: NonNegative
    turn: NonNegative


class FieldGuidance:
    """Velocities of the expert, in all worlds.

    Args:
        settings: its numbers.
        episodes: that it flies.

    Attributes:
        times: (B, nx, ny, nz) to the goal on the grid of each world [s].
        speeds: (B, nx, ny, nz) there [m/s].
        low: (3,) least corner of the grids [m].
    """

    def __init__(self, settings: FieldGuidanceSettings, episodes: PlatformEpisodes) -> None:
        self._settings, self._episodes = settings, episodes
        low, high = np.array(settings.low), np.array(settings.high)
        self._shape = tuple((np.rint((high - low) / settings.spacing).astype(int) + 1).tolist())
        axes = [low[k] + settings.spacing * np.arange(self._shape[k]) for k in range(3)]
        self._nodes = np.stack(np.meshgrid(*axes, indexing="ij"), -1).reshape(-1, 3)
        self.low = low
        self.times = np.zeros((episodes.count, *self._shape))
        self.speeds = np.zeros((episodes.count, *self._shape))
        self._values = np.zeros((episodes.count, 4))
        self._surveyed = np.full(episodes.count, -1, dtype=np.int64)  # seeds

    def reset(self, worlds: ArrayLike | None = None) -> None:
        """Survey those of some worlds' fields, or of all, that are new."""
        indices, seeds = world_indices(worlds, self._episodes.count), self._episodes.episode_seeds
        for b in indices[self._surveyed[indices] != seeds[indices]].tolist():
            self._survey(b)
            self._surveyed[b] = seeds[b]

    def _survey(self, b: int) -> None:
        settings, worlds = self._settings, self._episodes.worlds
        around = Surroundings([worlds.objects.world(b).with_objects(moving=False)])
        room = around.distances_of(0, self._nodes) - settings.tight
        share = np.clip(room / (settings.open - settings.tight), settings.least, 1.0)
        self.speeds[b] = settings.cruise * share.reshape(self._shape)
        goal = np.rint((self._episodes.goal - self.low) / settings.spacing).astype(int)
        i, j, k = np.clip(goal, 0, np.array(self._shape) - 1).tolist()
        self.times[b] = least_times(self.speeds[b], settings.spacing, (i, j, k))

    def __call__(self) -> Array:
        """(B, 4) velocity in `map` and yaw rate at the present instant."""
        settings = self._settings
        how = (settings.spacing, settings.ahead, settings.back, settings.turn)
        fields = (self.times, self.speeds, self.low)
        _guide(self._episodes.worlds.state, *fields, how, self._values)
        return self._values


@njit(cache=True)
def _guide(
    x: Array,
    times: Array,
    speeds: Array,
    low: Array,
    how: tuple[float, float, float, float],
    out: Array,
) -> None:
    """Write velocities and yaw rates of all worlds.

    Args:
        x: (B, bodies, 13) states.
        times: (B, nx, ny, nz) to the goal [s].
        speeds: (B, nx, ny, nz) [m/s].
        low: (3,) least corner of the grids [m].
        how: spacing, ahead, back and turn of `FieldGuidanceSettings`.
        out: (B, 4) written.
    """
    spacing, ahead, back, turn = how
    for b in range(len(x)):
        p, v = vec_at(x[b, 0], 0), vec_at(x[b, 0], 7)
        u = _on_grid(p, v, low, spacing, ahead)
        inside = clamped(u, times[b])
        fall = gradient(times[b], inside)
        length = max(norm(fall), 1e-9)
        speed = value_at(speeds[b], inside)
        for k in range(3):
            out[b, k] = -speed * fall[k] / length + back * spacing * (inside[k] - u[k])
        out[b, 3] = -turn * yaw_of(x[b, 0, 3:7])


@formula
def _on_grid(p: Vec, v: Vec, low: Array, spacing: float, ahead: float) -> Vec:
    """Place where a command will act, in spacings from the least corner."""
    return (
        (p[0] + ahead * v[0] - low[0]) / spacing,
        (p[1] + ahead * v[1] - low[1]) / spacing,
        (p[2] + ahead * v[2] - low[2]) / spacing,
    )


@formula
def clamped(u: Vec, values: Array) -> Vec:
    """Place u in a grid, in spacings from its least corner, or the nearest one that is."""
    nx, ny, nz = values.shape
    return (
        min(max(u[0], 0.0), nx - 1.0),
        min(max(u[1], 0.0), ny - 1.0),
        min(max(u[2], 0.0), nz - 1.0),
    )


@formula
def value_at(values: Array, u: Vec) -> float:
    """Trilinear interpolation at u in the grid."""
    nx, ny, nz = values.shape
    i, j, k = min(int(u[0]), nx - 2), min(int(u[1]), ny - 2), min(int(u[2]), nz - 2)
    a, b, c = u[0] - i, u[1] - j, u[2] - k
    total = 0.0
    for di in range(2):
        for dj in range(2):
            for dk in range(2):
                weight = (a if di else 1.0 - a) * (b if dj else 1.0 - b) * (c if dk else 1.0 - c)
                total += weight * values[i + di, j + dj, k + dk]
    return total


@formula
def gradient(values: Array, u: Vec) -> Vec:
    """Differences over one spacing to either side, or to the border."""
    x, y, z = u
    more, less = clamped((x + 1.0, y, z), values), clamped((x - 1.0, y, z), values)
    along_x = (value_at(values, more) - value_at(values, less)) / (more[0] - less[0])
    more, less = clamped((x, y + 1.0, z), values), clamped((x, y - 1.0, z), values)
    along_y = (value_at(values, more) - value_at(values, less)) / (more[1] - less[1])
    more, less = clamped((x, y, z + 1.0), values), clamped((x, y, z - 1.0), values)
    along_z = (value_at(values, more) - value_at(values, less)) / (more[2] - less[2])
    return along_x, along_y, along_z


class FieldSettings(AgentSettings):
    """Keys of an agent that knows the field of obstacles.

    Attributes:
        field: numbers of it.
    """

    guide: Literal["field"]
    field: FieldGuidanceSettings
    noise: NonNegative


class FieldAgent(VelocityAgent[FieldSettings]):
    """Knows where every obstacle is."""

    SETTINGS = FieldSettings

    def __init__(self, settings: FieldSettings, episodes: PlatformEpisodes) -> None:
        self._guide = FieldGuidance(settings.field, episodes)
        super().__init__(settings, episodes)

    def begin(self, indices: Integers) -> None:
        """Survey the new fields."""
        self._guide.reset(indices)

    def values(self) -> Array:
        """(B, 4) velocity in `map` [m/s] and yaw rate [rad/s] at the present instant."""
        return self._guide()
