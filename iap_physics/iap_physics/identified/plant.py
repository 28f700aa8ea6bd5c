# SPDX-License-Identifier: BSD-3-Clause
"""The identified plant in flight: velocity commands in, poses and velocities out, at a fixed step."""

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numba import njit

from iap_description.arrays import Array
from iap_description.errors import FlightFailed
from iap_description.math.random_streams import stream
from iap_physics.identified.dynamics import JOINTS, SIZE, Dynamics, advance, held_command
from iap_physics.identified.plant_file import PlantFile, SecondOrderPlant
from iap_physics.identified.second_order import DELAY, GAIN, propagated

STREAM = "arm/state_noise"
FASTEST = 1e3  # velocity beyond which a flight counts as diverged [m/s, rad/s]
STRAIGHT = 1e-9  # half the turn of a step, below which its arc is a line [rad]


@dataclass
class PlantState:
    """State of the plant, x of aerial_manipulator eq. (23) without the end effector's pose, which follows.

    Attributes:
        p_WP_W: (3,) position of the platform [m].
        yaw: its heading [rad]; the model has it level.
        q: (3,) joint angles [rad].
        v: (7,) velocities u_l, u_m, u_n along the heading's axes [m/s], then yaw rate and joint rates [rad/s].
    """

    p_WP_W: Array
    yaw: float
    q: Array
    v: Array

    def copy(self) -> "PlantState":
        """The same in memory of its own."""
        return PlantState(self.p_WP_W.copy(), self.yaw, self.q.copy(), self.v.copy())


class VelocityModel(Protocol):
    """Dynamics from held commands to velocities."""

    def advance(self, q: Array, v: Array, v_d: Array, h: float) -> None:
        """Advance q (3,) and v (7,) in place by h [s] with v_d (7,) held."""

    def held_command(self, q: Array, v: Array) -> Array:
        """The command (7,) at which velocities v (7,) stay as they are, with joints at q (3,)."""


class DynamicModel:
    """Equation (18) by Runge-Kutta 4."""

    def __init__(self, dynamics: Dynamics) -> None:
        self._dynamics = dynamics

    def advance(self, q: Array, v: Array, v_d: Array, h: float) -> None:
        """Advance q (3,) and v (7,) in place by h [s] with v_d (7,) held."""
        advance(self._dynamics, q, v, v_d, h)

    def held_command(self, q: Array, v: Array) -> Array:
        """The command (7,) at which velocities v (7,) stay as they are, with joints at q (3,)."""
        return held_command(self._dynamics, q, v)


class SecondOrderModel:
    """Second-order channels with dead time; one without parameters stands still."""

    def __init__(self, rows: Array) -> None:
        self._rows, self._dv = rows, np.zeros(SIZE)
        self._commands: list[tuple[float, Array]] = []  # since when, what
        self._t = 0.0

    def advance(self, q: Array, v: Array, v_d: Array, h: float) -> None:
        """Advance q (3,) and v (7,) in place by h [s] with v_d (7,) held; q by the trapezoidal rule."""
        self._commands.append((self._t, v_d.copy()))
        before = v[4:].copy()
        for i in np.flatnonzero(self._rows[:, GAIN]):
            v[i], self._dv[i] = self._channel(int(i), v[i], h)
        q += 0.5 * h * (before + v[4:])
        self._t += h
        oldest = self._t - self._rows[:, DELAY].max()
        while len(self._commands) > 1 and self._commands[1][0] <= oldest:
            del self._commands[0]

    def held_command(self, q: Array, v: Array) -> Array:  # noqa: ARG002 - the same in every pose
        """The command (7,) at which velocities v (7,) stay as they are; zero of channels that stand still."""
        gains = self._rows[:, GAIN]
        return np.divide(v, gains, out=np.zeros(SIZE), where=gains != 0.0)

    def _channel(self, i: int, y: float, h: float) -> tuple[float, float]:
        """A channel after a step, piece by piece of what its delayed command was."""
        row, now, dy = self._rows[i], self._t - self._rows[i, DELAY], self._dv[i]
        starts = [t for t, _ in self._commands[1:]] + [np.inf]
        end = now + h
        for (_, u), until in zip(self._commands, starts, strict=True):
            if until > now and now < end:
                piece = min(until, end) - now
                y, dy = propagated(row, y, dy, row[GAIN] * u[i], piece)
                now += piece
        return y, dy


def velocity_model(plant: PlantFile) -> VelocityModel:
    """The model of a plant's file, at rest."""
    if isinstance(plant, SecondOrderPlant):
        return SecondOrderModel(plant.rows())
    return DynamicModel(plant.dynamics())


class IdentifiedPlant:
    """A platform with an arm that does what an identified model has it do.

    As the published node does, a step advances velocities and joints, adds noise to both, and then moves the platform
    with the new velocities held.

    Args:
        plant: the model's parameters.
        start: state at t = 0.
        noise: half-width of the even noise on joints and velocities in every step [rad, m/s, rad/s].
        seed: of the noise.
    """

    def __init__(self, plant: PlantFile, start: PlantState, *, noise: float, seed: int) -> None:
        self._model, self.state, self.t = velocity_model(plant), start.copy(), 0.0
        self._noise, self._random = noise, stream(seed, STREAM)

    def step(self, v_d: Array, h: float) -> PlantState:
        """Advance by h [s] with the commanded velocities v_d (7,) held; returns the state.

        Raises:
            FlightFailed: a state that is no number, or beyond all bounds.
        """
        s = self.state
        self._model.advance(s.q, s.v, v_d, h)
        if self._noise:
            s.v += self._random.uniform(-self._noise, self._noise, SIZE)
            s.q += self._random.uniform(-self._noise, self._noise, JOINTS)
        _move(s, h)
        self.t += h
        if not np.abs(s.v).max() < FASTEST:
            raise FlightFailed("diverged", self.t, f"velocities of {np.abs(s.v).max():.3g}")
        return s


def _move(state: PlantState, h: float) -> None:
    """Advance the platform's pose with its velocities held."""
    *place, state.yaw = moved(np.append(state.p_WP_W, state.yaw), state.v, h)
    state.p_WP_W[:] = place


@njit(cache=True)
def moved(pose: Array, v: Array, h: float) -> tuple[float, float, float, float]:
    """Position [m] and heading [rad] of a pose (4,) after h [s] with velocities v (7,) held: an arc, in closed form."""
    half = 0.5 * h * v[3]
    chord = h if abs(half) < STRAIGHT else h * math.sin(half) / half  # of an arc of length h
    c, s = math.cos(pose[3] + half), math.sin(pose[3] + half)
    x, y = chord * (c * v[0] - s * v[1]), chord * (s * v[0] + c * v[1])
    return pose[0] + x, pose[1] + y, pose[2] + h * v[2], pose[3] + h * v[3]
