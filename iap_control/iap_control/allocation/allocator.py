# SPDX-License-Identifier: BSD-3-Clause
"""From the platform's active wrench to one command per aircraft, within the aircraft's limits."""

import math
from typing import NamedTuple, Self

import numpy as np
from numba import njit

from iap_control.allocation.allocation import TINY, attitude_of_thrust, limited_thrust
from iap_control.allocation.model import PlatformModel
from iap_control.allocation.thrust_directions import CROSSED, FIXED, FREE, HINGED
from iap_control.allocation.vectored_allocator import VectoredTables, rotor_speed, vector
from iap_description.arrays import Array, Booleans, Integers
from iap_description.math import so3
from iap_description.math.kernels import (
    Quat,
    Six,
    Vec,
    add,
    add6,
    choose,
    chosen3,
    chosen6,
    cross,
    dot,
    formula,
    least,
    matvec,
    most,
    norm,
    put_row,
    put_row4,
    put_six,
    qconj,
    qlog,
    qmul,
    quat,
    quat_of_row,
    rotate,
    scale,
    six,
    six_at,
    sub,
    unrotate,
    vec_at,
    vec_of_row,
    yaw_of,
)
from iap_description.math.saturation import (
    LEAST_FORCE,
    THRUST_TOLERANCE,
    share_out,
    share_within,
    without_rounding,
)
from iap_description.states import Command, Mode
from iap_description.vehicles.joint_motion import turn_about

STOP_DISTANCE = math.radians(1.0)  # by which commanded tilts stay off a joint's stop
CROSS_TRAVEL = math.radians(80.0)  # of a universal joint, whose axes fall together at 90 degrees


class AllocationTables(NamedTuple):
    """A platform as the compiled allocation takes it.

    Attributes:
        parts: three times (3N, 6), of a rigid platform (4N, 6): the thrusts of a wrench's parts, which are given up one
            after another.
        limits: (N, 4) least and most thrust of each aircraft [N], tangents of its tilt against the vertical and the
            platform.
        is_free: (N,) whether each aircraft turns freely.
        q_PB: (N, 4) attitude of each aircraft in P at rest.
        arms: (N, 3) places of the aircraft's thrusts in P [m].
        rotors: (4N,) least and most thrust of each rotor [N], and thrust per speed squared [N/rpm^2]; 0 of none.
        swings: (N,) how each aircraft's thrust turns, and (N, 2, 3) about which axes, see `PlatformModel`.
    """

    parts: tuple[Array, Array, Array]
    limits: Array
    is_free: Booleans
    q_PB: Array
    arms: Array
    rotors: tuple[Array, Array, Array]
    swings: tuple[Integers, Array]

    @classmethod
    def of(cls, model: PlatformModel) -> Self:
        """The tables of a platform, or of what is left of it."""
        force, tilt, yaw = (
            np.ascontiguousarray(model.B_inverse @ each) for each in _splits(model)
        )
        rotors = (*model.rotor_limits, model.rotor_coefficients)
        body = (_limits(model), model.turns, model.q_PB, _arms(model))
        return cls((force, tilt, yaw), *body, rotors, (model.swings, model.axes))


def filter_share(time_constant: float, dt: float) -> float:
    """Share of a new value that a first-order filter takes up in a period, both in seconds."""
    return dt / (time_constant + dt)


class Allocator:
    """Allocates wrenches of one platform: minimum norm, eq. (17), then attitude and thrust, eq. (18).

    Args:
        model: of the platform, and what is left of its rotors.
        rate_filter: time constant of the attitude command's derivative [s], fed forward as body rate.
        dt: control period [s].

    Attributes:
        command: the last one.
        saturated: whether an aircraft or rotor was at a limit in it.
        short: (6,) the wrench in P that was wanted less the one it makes [N, N m]; not of rigid platforms.
    """

    def __init__(self, model: PlatformModel, *, rate_filter: float, dt: float) -> None:
        self._dt = dt
        self.set_rate_filter(rate_filter)
        self.set_model(model)
        self.reset()

    def set_model(self, model: PlatformModel) -> None:
        """Allocate to what a model of the same platform says is left of it; past commands stay."""
        self.model, self._tables = model, AllocationTables.of(model)
        is_vectored = model.actuation == "vectored"
        self._vectored = VectoredTables.of(model) if is_vectored else None
        shares = model.health.thrust_per_command
        self._thrust_share = None if (shares == 1.0).all() else shares

    def set_rate_filter(self, rate_filter: float) -> None:
        """Change the time constant [s] of the attitude command's derivative."""
        self._share = filter_share(rate_filter, self._dt)

    def reset(self) -> None:
        """Forget past commands."""
        self.command = Command.zeros(self.model.count, commanded_mode(self.model))
        self.command.q_WB[:, 3] = 0.0  # the first step has no past attitude to differentiate
        self._thrusts = [np.zeros(self.model.B.shape[1]) for _ in self._tables.parts]
        self.saturated = False
        self.short = np.zeros(6)

    def __call__(self, U: Array, q_WP: Array, yaw: Array) -> Command:
        """The command for a wrench; the same object every time, overwritten.

        Args:
            U: (6,) active wrench about P's origin in P [N, N m].
            q_WP: (4,) the platform's attitude.
            yaw: (N,) headings [rad].
        """
        command, tables = self.command, self._tables
        if self._vectored is not None:
            command.wrench_P[:] = U
            rotors = (command.rpm, command.tilt, command.thrust)
            self.saturated = vector(U, self._vectored, *rotors, self.short)
            return command
        for part, thrusts in zip(tables.parts, self._thrusts, strict=True):
            matvec(part, U, thrusts)
        command.wrench_P[:] = U
        if self.model.actuation == "rigid":
            speeds = (command.rpm, command.thrust)
            self.saturated = rotor_speeds(*self._thrusts, *tables.rotors, *speeds)
        else:
            settings = (tables.limits, tables.swings, tables.q_PB, self._share, self._dt)
            out = (command.thrust, command.q_WB, command.w_WB_B, tables.arms, self.short)
            self.saturated = attitudes(*self._thrusts, q_WP, yaw, *settings, *out)
            if self._thrust_share is not None:  # of what is commanded
                command.thrust /= self._thrust_share
        return command

    @property
    def made_P(self) -> Array | None:
        """(6,) the wrench in P that the last command makes; None where rotors at their limits hide it."""
        if self.model.actuation == "rigid":
            return None if self.saturated else self.command.wrench_P
        return self.command.wrench_P - self.short

    def allocate(self, wrench_P: Array, q_WP: Array) -> Command:
        """The command for a wrench commanded from outside, the aircraft headed as they are mounted.

        Args:
            wrench_P: (6,) active wrench about P's origin in P [N, N m].
            q_WP: (4,) the platform's attitude.
        """
        return self(wrench_P, q_WP, self.model.mount_yaw + yaw_of(q_WP))


def commanded_mode(model: PlatformModel) -> Mode:
    """The mode of a platform's commands: rotors where it has but one body, else its aircraft's autopilots."""
    return Mode.RPM if model.actuation in ("rigid", "vectored") else Mode.ATTITUDE_THRUST


def _limits(model: PlatformModel) -> Array:
    """(N, 4) least and most thrust of each aircraft [N], tangents of its tilt against the vertical and the platform."""
    rows = []
    thrusts, travels = model.thrust_limits.tolist(), model.travel.tolist()
    kinds = model.swings.tolist()
    for aircraft, thrust, travel, kind in zip(model.fleet, thrusts, travels, kinds, strict=True):
        # What a hinge cannot hold upright is held by the platform: its tilt counts against that.
        largest = {CROSSED: CROSS_TRAVEL, HINGED: aircraft.tilt_max}.get(kind, math.inf)
        room = min(travel - STOP_DISTANCE, largest)
        within = math.tan(max(room, 0.0)) if room < 0.5 * math.pi else math.inf
        rows.append([*thrust, math.tan(aircraft.tilt_max), within])
    return np.array(rows)


def _arms(model: PlatformModel) -> Array:
    """(N, 3) places of the aircraft's thrusts in P [m], out of the levers in B; none where rotors are commanded."""
    if model.actuation in ("rigid", "vectored"):
        return np.zeros((model.count, 3))
    levers = model.B[3:].reshape(3, model.count, 3)
    return np.ascontiguousarray(np.stack([levers[2, :, 1], levers[0, :, 2], levers[1, :, 0]], -1))


def _splits(model: PlatformModel) -> list[Array]:
    """(6, 6) projections of a wrench on its parts, which add up to it and are given up one after another.

    The force with its lever to the CoM, so that it turns nothing, and the torque about the CoM: its tilt, its yaw.
    """
    force = np.zeros((6, 6))
    force[:3, :3], force[3:, :3] = np.eye(3), so3.hat(model.inertia.d_0)
    torque = np.eye(6) - force
    about_z = np.diag([0.0, 0.0, 0.0, 0.0, 0.0, 1.0])
    return [force, (np.eye(6) - about_z) @ torque, about_z @ torque]


class Limits(NamedTuple):
    """Of one aircraft, a row of `AllocationTables.limits`."""

    thrust_min: float
    thrust_max: float
    tan_tilt: float
    tan_travel: float


@formula
def limits_at(limits: Array, i: int) -> Limits:
    """Those of aircraft i."""
    return Limits(limits[i, 0], limits[i, 1], limits[i, 2], limits[i, 3])


@formula
def force_within(kept: float, force_P: Vec, tilt_P: Vec, thrust_max: float) -> float:
    """What is kept of all aircraft's forces, given one more of them."""
    return least(kept, share_within(tilt_P, force_P, thrust_max, LEAST_FORCE))


@formula
def yaw_within(
    kept_yaw: float,
    kept: float,
    force_P: Vec,
    tilt_P: Vec,
    yaw_P: Vec,
    q_WP: Quat,
    is_free: bool,
    limits: Limits,
) -> float:
    """What is kept of all aircraft's yaw torques, given one more of them."""
    base = rotate(q_WP, add(scale(kept, force_P), tilt_P))
    yaw_W = rotate(q_WP, yaw_P)
    kept_yaw = least(kept_yaw, share_within(base, yaw_W, limits.thrust_max, 0.0))
    across, sideways = limits.tan_tilt * most(base[2], 0.0), (yaw_W[0], yaw_W[1], 0.0)
    share = share_within((base[0], base[1], 0.0), sideways, across, 0.0)
    return choose(is_free, least(kept_yaw, share), kept_yaw)


@formula
def wanted_thrust(
    force_P: Vec, tilt_P: Vec, yaw_P: Vec, kept: float, kept_yaw: float, q_WP: Quat
) -> Vec:
    """Thrust vector [N], world axes, of what is kept of an aircraft's parts."""
    return rotate(q_WP, add(scale(kept, force_P), add(tilt_P, scale(kept_yaw, yaw_P))))


@formula
def fixed_thrust(wanted: Vec, q_WB: Quat, limits: Limits) -> Vec:
    """What an aircraft at an attitude that it cannot choose does of a thrust vector [N]."""
    up = rotate(q_WB, (0.0, 0.0, 1.0))
    return scale(least(most(dot(wanted, up), limits.thrust_min), limits.thrust_max), up)


@formula
def within_travel(f_W: Vec, f_P: Vec, across: float, q_WP: Quat, tan_travel: float) -> Vec:
    """A thrust vector that its joint lets the aircraft point at; what is along the platform's z axis is kept.

    Args:
        f_W: in world axes [N].
        f_P: in P's.
        across: its length across the platform's z axis [N].
        q_WP: the platform's attitude.
        tan_travel: tangent of the largest tilt against the platform, infinite without a stop.
    """
    allowed = tan_travel * most(f_P[2], 0.0)
    s = allowed / most(across, TINY)
    turned = rotate(q_WP, (s * f_P[0], s * f_P[1], f_P[2]))
    return chosen3((tan_travel < math.inf) & (across > allowed), turned, f_W)


@formula
def lacking(force_P: Vec, tilt_P: Vec, yaw_P: Vec, f_W: Vec, q_WP: Quat, arm_P: Vec) -> Six:
    """What an aircraft's thrust, with its lever, makes too little of the platform's wrench."""
    asked_P = add(force_P, add(tilt_P, yaw_P))
    lack_P = sub(asked_P, unrotate(q_WP, f_W))
    is_short, none = norm(lack_P) > THRUST_TOLERANCE, (0.0, 0.0, 0.0)
    return chosen6(is_short, six(lack_P, cross(arm_P, lack_P)), six(none, none))


@formula
def is_commanded(q_WB: Quat) -> bool:
    """Whether there has been an attitude command."""
    return (q_WB[0] != 0.0) | (q_WB[1] != 0.0) | (q_WB[2] != 0.0) | (q_WB[3] != 0.0)


@formula
def filtered_rate(last: Quat, turn: Vec, w_B: Vec, share: float, dt: float) -> Vec:
    """Filtered body rate [rad/s] of attitude commands that turn so far [rad] since the last one, if there is one."""
    after = add(w_B, scale(share, sub(scale(1.0 / dt, turn), w_B)))
    return chosen3(is_commanded(last), after, w_B)


@njit(cache=True)
def attitudes(
    forces_P: Array,
    tilts_P: Array,
    yaws_P: Array,
    q_WP: Array,
    yaw: Array,
    limits: Array,
    swings: tuple[Integers, Array],
    q_PB: Array,
    share: float,
    dt: float,
    thrust: Array,
    q_WB: Array,
    w_WB_B: Array,
    arms: Array,
    short: Array,
) -> bool:
    """Thrust, attitude and filtered body rate of every aircraft; True if one is at a limit.

    Where an aircraft cannot bear its share, all give up the same part of the yaw torque, then of the force: the
    platform turns late or loses height, but does not tip over. An aircraft that does not turn freely is told an
    attitude that its joint lets it have, so that its autopilot leaves turning to the platform.
    """
    kinds, axes = swings
    kept, kept_yaw, q = 1.0, 1.0, quat(q_WP)
    for i in range(thrust.shape[0]):
        kept = force_within(kept, vec_at(forces_P, 3 * i), vec_at(tilts_P, 3 * i), limits[i, 1])
    for i in range(thrust.shape[0]):
        parts = (vec_at(forces_P, 3 * i), vec_at(tilts_P, 3 * i), vec_at(yaws_P, 3 * i))
        own = limits_at(limits, i)
        if kinds[i] == HINGED:
            side_P = rotate(quat_of_row(q_PB, i), side_of(axes[i]))
            up_P = rotate(quat_of_row(q_PB, i), (0.0, 0.0, 1.0))
            kept_yaw = hinge_yaw_within(kept_yaw, kept, *parts, up_P, side_P, own)
        else:
            kept_yaw = yaw_within(kept_yaw, kept, *parts, q, kinds[i] >= CROSSED, own)
    saturated = kept < 1.0 or kept_yaw < 1.0
    short[:] = 0.0
    for i in range(thrust.shape[0]):
        if limits[i, 1] == 0.0:  # it is lost: no thrust, and the attitude that it was told last
            thrust[i] = 0.0
            put_row(w_WB_B, i, (0.0, 0.0, 0.0))
            continue
        parts = (vec_at(forces_P, 3 * i), vec_at(tilts_P, 3 * i), vec_at(yaws_P, 3 * i))
        wanted = wanted_thrust(*parts, kept, kept_yaw, q)
        if kinds[i] == FREE:
            f_W = _free_thrust(wanted, q, limits_at(limits, i))
            attitude = attitude_of_thrust(f_W, yaw[i])
        else:
            rest = qmul(q, quat_of_row(q_PB, i))
            if kinds[i] == FIXED:
                attitude, f_W = rest, fixed_thrust(wanted, rest, limits_at(limits, i))
            elif kinds[i] == HINGED:
                f_W, attitude = _hinged_thrust(wanted, rest, axes[i], limits_at(limits, i))
            else:
                f_W = _free_thrust(wanted, q, limits_at(limits, i))
                attitude = qmul(rest, _crossed(unrotate(rest, f_W), axes[i]))
        saturated = saturated or norm(sub(f_W, wanted)) > THRUST_TOLERANCE
        lack = lacking(*parts, f_W, q, vec_of_row(arms, i))
        put_six(short, 0, add6(six_at(short, 0), lack))
        thrust[i] = norm(f_W)
        last = quat_of_row(q_WB, i)
        turn = qlog(qmul(qconj(last), attitude))
        put_row(w_WB_B, i, filtered_rate(last, turn, vec_of_row(w_WB_B, i), share, dt))
        put_row4(q_WB, i, attitude)
    for k in range(6):
        short[k] = without_rounding(short[k])
    return saturated


@formula
def _free_thrust(wanted: Vec, q_WP: Quat, limits: Limits) -> Vec:
    """What an aircraft that turns freely does of a thrust vector [N]."""
    f_W = limited_thrust(wanted, limits.thrust_min, limits.thrust_max, limits.tan_tilt)
    f_P = unrotate(q_WP, f_W)
    return within_travel(f_W, f_P, math.hypot(f_P[0], f_P[1]), q_WP, limits.tan_travel)


@formula
def side_of(axes: Array) -> Vec:
    """Where a hinge turns its aircraft's thrust to, which is along (0, 0, 1) at rest."""
    return cross(vec_of_row(axes, 0), (0.0, 0.0, 1.0))


@formula
def hinge_yaw_within(
    kept_yaw: float,
    kept: float,
    force_P: Vec,
    tilt_P: Vec,
    yaw_P: Vec,
    up_P: Vec,
    side_P: Vec,
    limits: Limits,
) -> float:
    """`yaw_within` of an aircraft on a hinge, whose thrust at rest is along `up_P` and turns towards `side_P`."""
    base = add(scale(kept, force_P), tilt_P)
    kept_yaw = least(kept_yaw, share_within(base, yaw_P, limits.thrust_max, 0.0))
    across = limits.tan_travel * most(dot(base, up_P), 0.0)
    sides = ((dot(base, side_P), 0.0, 0.0), (dot(yaw_P, side_P), 0.0, 0.0))
    return least(kept_yaw, share_within(*sides, across, 0.0))


@formula
def _hinged_thrust(wanted: Vec, rest: Quat, axes: Array, limits: Limits) -> tuple[Vec, Quat]:
    """What an aircraft on a hinge does of a thrust vector [N], and its attitude; `rest` is the one at rest."""
    f_J, side = unrotate(rest, wanted), side_of(axes)
    up = least(most(f_J[2], limits.thrust_min), limits.thrust_max)
    room = math.sqrt(most(limits.thrust_max * limits.thrust_max - up * up, 0.0))
    allowed = least(up * limits.tan_travel, room)
    across = least(most(dot(f_J, side), -allowed), allowed)
    f_W = rotate(rest, add(scale(across, side), (0.0, 0.0, up)))
    return f_W, qmul(rest, turn_about(vec_of_row(axes, 0), math.atan2(across, up)))


@formula
def _crossed(f_J: Vec, axes: Array) -> Quat:
    """Attitude against that at rest in which a universal joint lets its aircraft thrust along a vector."""
    first, second = vec_of_row(axes, 0), vec_of_row(axes, 1)
    along = dot(f_J, first)
    across = math.sqrt(most(dot(f_J, f_J) - along * along, 0.0))
    turned = turn_about(first, math.atan2(-dot(f_J, second), most(f_J[2], 0.0)))
    return qmul(turned, turn_about(second, math.atan2(along, across)))


@njit(cache=True)
def rotor_speeds(
    lift: Array,
    tilt: Array,
    yaw: Array,
    lowest: Array,
    highest: Array,
    coefficients: Array,
    rpm: Array,
    thrust: Array,
) -> bool:
    """Rotor speeds (N, 4) of rotor thrusts (4N,) in three parts, and their sums; True if one is at a limit."""
    forces = np.empty(lift.shape[0])
    saturated = share_out(lift, tilt, yaw, lowest, highest, forces)
    for i in range(rpm.shape[0]):
        thrust[i] = 0.0
        for r in range(4):
            thrust[i] += forces[4 * i + r]
            rpm[i, r] = rotor_speed(forces[4 * i + r], coefficients[4 * i + r])
    return saturated
