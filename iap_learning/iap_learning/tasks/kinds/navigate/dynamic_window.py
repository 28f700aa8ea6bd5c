# SPDX-License-Identifier: BSD-3-Clause
r"""An expert that knows where every obstacle is and will be, and chooses among velocities by what becomes of them.

It is the dynamic window approach (Fox, Burgard, Thrun, IEEE Robotics & Automation Magazine 4(1), 1997) among obstacles
that move. A candidate holds a velocity for a while, and then goes the quickest way among what stands at a share of its
speed. The platform follows velocities with a lag T and a largest acceleration, :math:`\dot v = (u - v) / T`. Of all
candidates it takes the one of least

.. math::
    t + t_\text{goal}(p(t)) + w \sum_j \bigl(1 - \tfrac{\tau_j}{2H}\bigr)\,(s_j^2 + r_j^2)

with the horizon t = H or the time of an arrival before, the time to the goal among what stands, and instants tau_j up
to t. s_j is how much nearer than the wanted room what moves is, and r_j how much slower than the wanted speed the
quickest way is there, both over what is wanted.
"""

import math
from typing import Annotated, Literal, NamedTuple, Self

import numpy as np
from numba import njit
from pydantic import Field

from iap_description.arrays import Array, Integers
from iap_description.config.record import Record
from iap_description.config.values import Count, Degrees, NonNegative, Positive, Share
from iap_description.math.kernels import Vec, add, formula, norm, scale, sub, vec_at
from iap_description.world.distances import Pieces, Surroundings, distance_to
from iap_description.world.world import World
from iap_learning.tasks.agents import AgentSettings
from iap_learning.tasks.kinds.navigate.field import (
    FieldGuidance,
    FieldGuidanceSettings,
    clamped,
    gradient,
    value_at,
)
from iap_learning.tasks.kinds.navigate.velocity_agent import VelocityAgent
from iap_learning.tasks.kinds.platform.episodes import PlatformEpisodes

TINY = 1e-9  # speed below which a way has no direction [m/s]


class WindowSettings(Record):
    """Numbers of `DynamicWindow`.

    Attributes:
        turns_deg: of velocities that are held, off the quickest way, about z.
        shares: of its speed.
        hold: for how long they are [s].
        horizon: H [s].
        instants: how many times within it are looked at.
        lag: T [s].
        acceleration: the largest [m/s^2].
        room: wanted distance from what moves [m].
        open: wanted speed of the quickest way, as a share of its largest.
        weight: w of what is nearer or slower [s].
    """

    turns_deg: Annotated[tuple[Degrees, ...], Field(min_length=1)]
    shares: Annotated[tuple[Share, ...], Field(min_length=1)]
    hold: NonNegative
    horizon: Positive
    instants: Count
    lag: Positive
    acceleration: Positive
    room: Positive
    open: Positive
    weight: NonNegative


class Rollout(NamedTuple):
    """Numbers of all candidates' ways.

    Attributes:
        candidates: (K, 3) cosine and sine of the turn while a velocity is held, and the share of the speed.
        dt: time from one instant to the next [s].
        instants: of a way.
        held: instants for which a velocity is held.
        lag: of velocities [s].
        acceleration: the largest [m/s^2].
        room: wanted distance from what moves [m].
        open: wanted speed of the quickest way [m/s].
        cruise: its largest speed [m/s].
        weight: of what is nearer or slower [s].
        spacing: of the grids [m].
        back: rate of the return to the grid [1/s].
    """

    candidates: Array
    dt: float
    instants: int
    held: int
    lag: float
    acceleration: float
    room: float
    open: float
    cruise: float
    weight: float
    spacing: float
    back: float

    @classmethod
    def of(cls, window: WindowSettings, field: FieldGuidanceSettings) -> Self:
        """The numbers of settings."""
        turns = np.deg2rad(window.turns_deg)
        rows = [(np.cos(a), np.sin(a), share) for share in window.shares for a in turns]
        dt, speed = window.horizon / window.instants, window.open * field.cruise
        wanted = (window.room, speed, field.cruise, window.weight, field.spacing, field.back)
        steps = (dt, window.instants, round(window.hold / dt))
        return cls(np.array(rows), *steps, window.lag, window.acceleration, *wanted)


class DynamicWindow:
    """Velocities of the expert, in all worlds.

    Args:
        settings: its numbers.
        episodes: that it flies.
    """

    def __init__(self, settings: "DynamicWindowSettings", episodes: PlatformEpisodes) -> None:
        self._objects, self._worlds = episodes.worlds.objects, episodes.worlds
        self._quickest = FieldGuidance(settings.field, episodes)
        self._around = Surroundings([self._moving(b) for b in range(episodes.count)])
        self._rollout = Rollout.of(settings.window, settings.field)
        items = self._objects.world(0).objects.values()
        self._numbers = [k for k, item in enumerate(items) if item.moves]

    def _moving(self, b: int) -> World:
        return self._objects.world(b).with_objects(moving=True)

    def reset(self, indices: Integers) -> None:
        """Survey the fields of some worlds."""
        self._quickest.reset(indices)
        for b in indices.tolist():
            self._around.set_world(b, self._moving(b))

    def __call__(self) -> Array:
        """(B, 4) velocity in `map` and yaw rate at the present instant."""
        how, quickest = self._rollout, self._quickest
        later = how.dt * np.arange(1, how.instants + 1)
        future = np.array([self._objects.states_ahead(tau)[:, self._numbers] for tau in later])
        out = quickest().copy()
        grids = (quickest.times, quickest.speeds, quickest.low)
        _choose(self._worlds.state[:, 0], future, self._around.pieces, grids, how, out)
        return out


@njit(cache=True)
def _choose(
    x: Array,
    future: Array,
    pieces: Pieces,
    grids: tuple[Array, Array, Array],
    how: Rollout,
    out: Array,
) -> None:
    """Write the first velocity of the best candidate of each world.

    Args:
        x: (B, 13) states.
        future: (H, B, objects, 13) rows of the objects at the instants to come.
        pieces: of what moves.
        grids: times to the goal and speeds (B, nx, ny, nz) [s], [m/s], and their least corner [m].
        how: candidates and weights.
        out: (B, 4) written but for the yaw rate.
    """
    sizes, spheres, firsts, kinds, movers, corners = pieces
    times, speeds, low = grids
    for b in range(len(x)):
        own = (sizes[b], spheres[b], firsts[b], kinds[b], movers[b], corners[b])
        start, grid = (vec_at(x[b], 0), vec_at(x[b], 7)), (times[b], speeds[b], low)
        least = math.inf
        for k in range(len(how.candidates)):
            cost, u = _fly(start, future[:, b], own, grid, how, how.candidates[k], least)
            if cost < least:
                least = cost
                out[b, 0], out[b, 1], out[b, 2] = u
        p, v = start
        inside, u = _on_grid(p, low, how.spacing, times[b]), vec_at(out[b], 0)
        u = add(v, _within(sub(u, v), how.lag * how.acceleration))
        for m in range(3):
            out[b, m] = u[m] + how.back * (low[m] + how.spacing * inside[m] - p[m])


@njit(cache=True)
def _fly(
    start: tuple[Vec, Vec],
    future: Array,
    pieces: Pieces,
    grid: tuple[Array, Array, Array],
    how: Rollout,
    candidate: Array,
    most: float,
) -> tuple[float, Vec]:
    """Cost of a candidate's way, up to the most that matters, and its first velocity."""
    times, speeds, low = grid
    p, v = start
    cost, left, follow = 0.0, 0.0, min(how.dt / how.lag, 1.0)
    at = _on_grid(p, low, how.spacing, times)
    c, s, share = candidate
    way = _downhill(at, times)
    speed = share * how.cruise
    held = scale(speed, (c * way[0] - s * way[1], s * way[0] + c * way[1], way[2]))
    for j in range(how.instants):
        u = held
        if j >= how.held:
            u = scale(share * value_at(speeds, at), _downhill(at, times))
        v = add(v, scale(follow, _within(sub(u, v), how.lag * how.acceleration)))
        p = add(p, scale(how.dt, v))
        at = _on_grid(p, low, how.spacing, times)
        near = max(how.room - distance_to(p, future[j], pieces), 0.0) / how.room
        slow = max(how.open - value_at(speeds, at), 0.0) / how.open
        cost += how.weight * (1.0 - 0.5 * (j + 1) / how.instants) * (near * near + slow * slow)
        left = value_at(times, at)
        if cost >= most or left < how.dt:
            return cost + (j + 1) * how.dt + left, held
    return cost + how.instants * how.dt + left, held


@formula
def _on_grid(p: Vec, low: Array, spacing: float, grid: Array) -> Vec:
    u = ((p[0] - low[0]) / spacing, (p[1] - low[1]) / spacing, (p[2] - low[2]) / spacing)
    return clamped(u, grid)


@formula
def _within(change: Vec, most: float) -> Vec:
    """A change of a velocity, of at most a length."""
    return scale(min(1.0, most / max(norm(change), TINY)), change)


@formula
def _downhill(at: Vec, times: Array) -> Vec:
    """Unit vector along the quickest way."""
    fall = gradient(times, at)
    return scale(-1.0 / max(norm(fall), TINY), fall)


class DynamicWindowSettings(AgentSettings):
    """Keys of an agent by a dynamic window.

    Attributes:
        field: numbers of the quickest ways among what stands.
        window: numbers of it.
    """

    guide: Literal["dynamic_window"]
    field: FieldGuidanceSettings
    window: WindowSettings


class DynamicWindowAgent(VelocityAgent[DynamicWindowSettings]):
    """Knows where every obstacle is and will be."""

    SETTINGS = DynamicWindowSettings

    def __init__(self, settings: DynamicWindowSettings, episodes: PlatformEpisodes) -> None:
        self._window = DynamicWindow(settings, episodes)
        super().__init__(settings, episodes)

    def begin(self, indices: Integers) -> None:
        """Survey the new fields."""
        self._window.reset(indices)

    def values(self) -> Array:
        """(B, 4) velocity in `map` [m/s] and yaw rate [rad/s] at the present instant."""
        return self._window()
