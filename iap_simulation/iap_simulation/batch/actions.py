# SPDX-License-Identifier: BSD-3-Clause
"""Actions on many worlds as plain arrays, a row for each world, in SI units: for learning and planning.

| kind | columns | what acts on them |
|---|---|---|
| `pose` | x, y, z, yaw | the controller: at rest there, level |
| `velocity` | vx, vy, vz, yaw rate | the controller: level, wherever that leads |
| `acceleration` | ax, ay, az, yaw rate | the controller: level, however fast |
| `wrench` | fx, fy, fz, tx, ty, tz in P | the allocator |
| `attitude_thrust` | roll, pitch, yaw, thrust of each aircraft | its autopilot |
| `rate_thrust` | body rates x, y, z, thrust of each aircraft | its autopilot |
| `rotor_thrust` | thrust of each aircraft's four rotors | rotors, by speeds that give it at rest |
| `rpm` | speed of each aircraft's four rotors | rotors |
"""

import math
from collections.abc import Callable
from typing import Protocol, cast

import numpy as np
from numba import njit
from numpy.typing import ArrayLike

from iap_control.allocation.model import PlatformModel
from iap_description.arrays import Array
from iap_description.errors import BadInput
from iap_description.math.kernels import put4, qmul, vec_at
from iap_description.states import Command, Level, Mode
from iap_simulation.batch.load_store import level_of, make_level
from iap_simulation.batch.records import ACCELERATION, POSE, VELOCITY, WRENCH
from iap_simulation.batch.references import References
from iap_simulation.batch.worlds import Worlds

Action = References | Command


class PlatformWorlds(Protocol):
    """Worlds that actions are made for: `Worlds`, or whatever else flies one platform in each of B worlds."""

    @property
    def state(self) -> Array:
        """(B, bodies, 13) states."""

    def known_states(self) -> Array:
        """(B, bodies, 13) states that the vehicle goes by."""

    @property
    def rpm(self) -> Array:
        """(B, N, 4) rotor speeds [rpm]."""

    @property
    def model(self) -> PlatformModel:
        """The platform as controllers believe it."""

    def references(self) -> References:
        """The scenario's references at the worlds' present instants."""


def action_size(kind: str, count: int) -> int:
    """Columns of an action on a platform of `count` aircraft.

    Raises:
        BadInput: there is no such kind.
    """
    size, per_aircraft, _ = _entry(kind)
    return size * count if per_aircraft else size


def action_of(kind: str, values: ArrayLike, worlds: PlatformWorlds) -> Action:
    """Action for `Worlds.advance` from numbers, at the worlds' present states.

    Args:
        kind: see above.
        values: (B, columns).
        worlds: that it is for.

    Raises:
        BadInput: there is no such kind, or the values have another shape.
    """
    *_, made = _entry(kind)
    return made(_checked(kind, values, worlds), worlds)


def act(kind: str, values: ArrayLike, worlds: Worlds, periods: int) -> None:
    """Fly some control periods under an action, which is made anew of the worlds' states in each.

    Args:
        kind: see above.
        values: (B, columns).
        worlds: whose first vehicle flies under it; others are commanded by their controllers.
        periods: how many.

    Raises:
        BadInput: there is no such kind, or the values have another shape.
    """
    *_, made = _entry(kind)
    array = _checked(kind, values, worlds)
    if not worlds.flies_at_once:
        for _ in range(periods):
            worlds.advance({worlds.name: made(array, worlds)})
    elif kind in _REFERENCES:
        worlds.fly(periods, _REFERENCES[kind], array)
    else:
        worlds.command(cast(Command, made(array, worlds)))
        worlds.fly(periods, held=True)


def _checked(kind: str, values: ArrayLike, worlds: PlatformWorlds) -> Array:
    """An action as an array (B, columns) that lies in memory as compiled loops take it."""
    array = np.ascontiguousarray(values, dtype=np.float64)
    count, aircraft = worlds.rpm.shape[:2]
    shape = (count, action_size(kind, aircraft))
    if array.shape != shape:
        raise BadInput(f"action '{kind}': has shape {array.shape}; {shape} is expected")
    return array


def _entry(kind: str) -> tuple[int, bool, Callable[[Array, PlatformWorlds], Action]]:
    if kind not in _KINDS:
        raise BadInput(f"action '{kind}': choose {', '.join(_KINDS)}")
    return _KINDS[kind]


def _pose(values: Array, worlds: PlatformWorlds) -> Action:
    return _level(values, worlds, POSE)


def _velocity(values: Array, worlds: PlatformWorlds) -> Action:
    return _level(values, worlds, VELOCITY)


def _acceleration(values: Array, worlds: PlatformWorlds) -> Action:
    return _level(values, worlds, ACCELERATION)


def _level(values: Array, worlds: PlatformWorlds, what: int) -> Action:
    rows = worlds.references().rows.copy()
    _make_level(values, worlds.known_states(), what, rows)
    return References.of(rows, Level(level_of(what, worlds.model.actuation.tilts_to_push)))


@njit(cache=True)
def _make_level(values: Array, x: Array, what: int, rows: Array) -> None:
    for b in range(len(rows)):
        make_level(values[b], x[b, 0], what, rows[b])


def _wrench(values: Array, worlds: PlatformWorlds) -> Action:
    return References.of(worlds.references().rows, Level.WRENCH, values)


def _commands(worlds: PlatformWorlds, mode: Mode) -> Command:
    batch, count, _ = worlds.rpm.shape
    q_WB = np.zeros((batch, count, 4))
    q_WB[..., 3] = 1.0
    shapes = ((), (3,), (4,), (4,))
    thrust, rates, speeds, tilts = (np.zeros((batch, count, *shape)) for shape in shapes)
    return Command(mode, np.zeros((batch, 6)), thrust, q_WB, rates, speeds, tilts)


def _attitude_thrust(values: Array, worlds: PlatformWorlds) -> Action:
    command = _commands(worlds, Mode.ATTITUDE_THRUST)
    _make_attitudes(values.reshape(*command.thrust.shape, 4), command.q_WB, command.thrust)
    return command


@njit(cache=True)
def _make_attitudes(values: Array, q_WB: Array, thrust: Array) -> None:
    """Write attitudes (B, N, 4), about z, then y, then x of the aircraft, and thrusts (B, N).

    What is not finite is no number there, which ends its world.
    """
    for b in range(len(values)):
        for n in range(values.shape[1]):
            roll, pitch, yaw = vec_at(values[b, n], 0)
            about_z = (0.0, 0.0, math.sin(0.5 * yaw), math.cos(0.5 * yaw))
            about_y = (0.0, math.sin(0.5 * pitch), 0.0, math.cos(0.5 * pitch))
            about_x = (math.sin(0.5 * roll), 0.0, 0.0, math.cos(0.5 * roll))
            put4(q_WB[b, n], qmul(about_z, qmul(about_y, about_x)))
            thrust[b, n] = values[b, n, 3]


def _rate_thrust(values: Array, worlds: PlatformWorlds) -> Action:
    command, each = _commands(worlds, Mode.RATE_THRUST), values.reshape(len(values), -1, 4)
    command.w_WB_B[:], command.thrust[:] = each[..., :3], each[..., 3]
    return command


def _rotor_thrust(values: Array, worlds: PlatformWorlds) -> Action:
    per_square = np.array([each.rotor.c_f for each in worlds.model.fleet])
    thrusts = np.maximum(values.reshape(worlds.rpm.shape), 0.0)  # a rotor does not pull; NaN stays
    return _rpm(np.sqrt(thrusts / per_square[:, None]), worlds)


def _rpm(values: Array, worlds: PlatformWorlds) -> Action:
    command = _commands(worlds, Mode.RPM)
    command.rpm[:] = values.reshape(worlds.rpm.shape)
    return command


_KINDS: dict[str, tuple[int, bool, Callable[[Array, PlatformWorlds], Action]]] = {
    "pose": (4, False, _pose),
    "velocity": (4, False, _velocity),
    "acceleration": (4, False, _acceleration),
    "wrench": (6, False, _wrench),
    "attitude_thrust": (4, True, _attitude_thrust),
    "rate_thrust": (4, True, _rate_thrust),
    "rotor_thrust": (4, True, _rotor_thrust),
    "rpm": (4, True, _rpm),
}
KINDS = tuple(_KINDS)
_REFERENCES = {
    "pose": POSE,
    "velocity": VELOCITY,
    "acceleration": ACCELERATION,
    "wrench": WRENCH,
}
REFERENCE_KINDS = tuple(_REFERENCES)  # on which the vehicle's controller acts
