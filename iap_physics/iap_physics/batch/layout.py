# SPDX-License-Identifier: BSD-3-Clause
"""Rows of a block of worlds (`math.lanes`): the vehicle's, then each body's, with room for an aircraft."""

from typing import NamedTuple

import numpy as np

from iap_description.math.kernels import formula
from iap_description.math.lanes import Index
from iap_description.math.rows import loader, numbered, storer, total
from iap_description.states import STATE_SIZE, CommandRows

COMMAND_SIZE = total(CommandRows())
ROTOR_SIZE = 12  # numbers of an aircraft's rotors, from `rpm` on


class VehicleRows(NamedTuple):
    """Rows of a vehicle."""

    mass: int = 1
    external: int = 6  # wrench on the central body
    flies: int = 1  # 1 where the world runs, else 0
    force: int = 3  # on all bodies
    torque: int = 3  # on the rigid part
    moments: int = 9  # `Moments` of all forces
    com_p: int = 3  # of all bodies
    com_v: int = 3
    failed: int = 1  # the step at which the world diverged, -1 without
    torque_1: int = 3  # on the rigid part in the first stage of a step
    torque_2: int = 3  # in the second one, then with that in the third
    torque_3: int = 3


class BodyRows(NamedTuple):
    """Rows of a body; those from `rpm` on count for an aircraft."""

    p: int = 3
    q: int = 4
    v: int = 3
    w: int = 3
    before: int = STATE_SIZE  # state row before the step
    wrench: int = 6  # about its CoM, world axes
    arm: int = 3  # from the common CoM, in P
    J: int = 9
    J_inv: int = 9
    linear: int = 3  # drag
    quadratic: int = 3  # drag
    air: int = 3  # its velocity
    rpm: int = 4
    target: int = 4  # speeds that its autopilot commands
    tilt: int = 4
    mode: int = 1
    command: int = COMMAND_SIZE
    is_estimated: int = 1  # 1 where the autopilot goes by an estimate
    estimated_q: int = 4
    estimated_w: int = 3
    thrust_coefficient: int = 1  # of its rotors
    up: int = 3  # `iap_physics.propulsion.rotors.Lag`
    down: int = 3
    tick: int = 1  # physics steps since its autopilot's last instant
    rotors_before: int = ROTOR_SIZE  # before the period, from `rpm` on
    tick_before: int = 1
    momentum: int = 3  # between stages of a step; before, the torque that an autopilot asks for
    stage_q: int = 4  # attitude at which the next stage looks
    sum_q: int = 4  # of the attitude after the step


class SharedColumns(NamedTuple):
    """Columns of what a body has in all worlds alike, (bodies, SHARED_SIZE)."""

    gravity: int = 1
    q_PB: int = 4  # of a body that does not turn
    attitude_gain: int = 3
    rate_gain: int = 3
    autopilot_J: int = 9
    mix: int = 12  # `iap_physics.propulsion.autopilot.Mix`
    c_f: int = 1  # thrust coefficient as the autopilot believes it
    rpm_min: int = 1
    rpm_max: int = 1
    lead: int = 1
    torques: int = 12  # `iap_physics.propulsion.rotors.Torques`
    thrust_share: int = 4
    speed_share: int = 1
    servo: int = 3  # `iap_physics.propulsion.tilting_rotors.Servo`
    upward: int = 24  # wrench of a unit of thrust of each rotor at no tilt
    sideways: int = 24  # at 90 deg
    lift: int = 4  # see `iap_physics.propulsion.autopilot.Autopilot`


VEHICLE, VEHICLE_SIZE = numbered(VehicleRows()), total(VehicleRows())
BODY, BODY_SIZE = numbered(BodyRows()), total(BodyRows())
SHARED, SHARED_SIZE = numbered(SharedColumns()), total(SharedColumns())
BODY_COMMAND = numbered(CommandRows(), BODY.command)
VEHICLE_ROW = np.uint64(0)  # first row of the vehicle

load_command, store_command = loader(CommandRows()), storer(CommandRows())
load_rotors = loader(BodyRows(), "rpm", "target", "tilt")
store_rotors = storer(BodyRows(), "rpm", "target", "tilt")


def rows_of(bodies: int) -> int:
    """Number of rows of a block of vehicles."""
    return VEHICLE_SIZE + bodies * BODY_SIZE


@formula
def body_row(i: int) -> Index:
    """First row of a body."""
    return np.uint64(VEHICLE_SIZE + i * BODY_SIZE)
