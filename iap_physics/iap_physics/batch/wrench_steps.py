# SPDX-License-Identifier: BSD-3-Clause
"""Loops over a block's worlds that sum up wrenches; see `iap_physics.batch.motion_steps` for how loops are cut."""

from iap_description.arrays import Array
from iap_description.math.kernels import add, formula, scale, sub
from iap_description.math.lanes import Index, Lanes, get, get3, get4, set1, set3
from iap_physics.air.drag import drag_force
from iap_physics.batch.layout import BODY, VEHICLE, VEHICLE_ROW, body_row

ZERO_VECTOR = (0.0, 0.0, 0.0)  # which sums begin with, so that they hold no negative zero


@formula
def clear(block: Array, body: Index, lanes: Lanes) -> None:
    """Clear the wrench of a body without rotors."""
    for k in range(6):
        for lane in range(lanes[0], lanes[1]):
            set1(block, body, BODY.wrench + k, lane, 0.0)


@formula
def add_external(block: Array, b: Index, lanes: Lanes) -> None:
    """The disturbance of the central body."""
    for k in range(6):
        for lane in range(lanes[0], lanes[1]):
            wrench = get(block, b, BODY.wrench + k, lane) + get(
                block, VEHICLE_ROW, VEHICLE.external + k, lane
            )
            set1(block, b, BODY.wrench + k, lane, wrench)


@formula
def add_drag(block: Array, b: Index, lanes: Lanes) -> None:
    """A body's drag."""
    for lane in range(lanes[0], lanes[1]):
        v_W = sub(get3(block, b, BODY.v, lane), get3(block, b, BODY.air, lane))
        linear, quadratic = (
            get3(block, b, BODY.linear, lane),
            get3(block, b, BODY.quadratic, lane),
        )
        force = drag_force(get4(block, b, BODY.q, lane), v_W, linear, quadratic)
        set3(block, b, BODY.wrench, lane, add(get3(block, b, BODY.wrench, lane), force))


@formula
def begin_sums(block: Array, lanes: Lanes) -> None:
    """Force, torque and moments of the central body alone."""
    b = body_row(0)
    for lane in range(lanes[0], lanes[1]):
        f, arm = get3(block, b, BODY.wrench, lane), get3(block, b, BODY.arm, lane)
        torque = add(ZERO_VECTOR, get3(block, b, BODY.wrench + 3, lane))
        set3(block, VEHICLE_ROW, VEHICLE.force, lane, add(ZERO_VECTOR, f))
        set3(block, VEHICLE_ROW, VEHICLE.moments, lane, add(ZERO_VECTOR, scale(f[0], arm)))
        set3(block, VEHICLE_ROW, VEHICLE.moments + 3, lane, add(ZERO_VECTOR, scale(f[1], arm)))
        set3(block, VEHICLE_ROW, VEHICLE.moments + 6, lane, add(ZERO_VECTOR, scale(f[2], arm)))
        set3(block, VEHICLE_ROW, VEHICLE.torque, lane, torque)


@formula
def add_to_sums(block: Array, b: Index, is_rigid: bool, lanes: Lanes) -> None:
    """Add a body's force and moments, and its torque where it belongs to the rigid part."""
    for lane in range(lanes[0], lanes[1]):
        f, arm = get3(block, b, BODY.wrench, lane), get3(block, b, BODY.arm, lane)
        force = add(get3(block, VEHICLE_ROW, VEHICLE.force, lane), f)
        for_x = add(get3(block, VEHICLE_ROW, VEHICLE.moments, lane), scale(f[0], arm))
        for_y = add(get3(block, VEHICLE_ROW, VEHICLE.moments + 3, lane), scale(f[1], arm))
        for_z = add(get3(block, VEHICLE_ROW, VEHICLE.moments + 6, lane), scale(f[2], arm))
        set3(block, VEHICLE_ROW, VEHICLE.force, lane, force)
        set3(block, VEHICLE_ROW, VEHICLE.moments, lane, for_x)
        set3(block, VEHICLE_ROW, VEHICLE.moments + 3, lane, for_y)
        set3(block, VEHICLE_ROW, VEHICLE.moments + 6, lane, for_z)
    if is_rigid:
        for lane in range(lanes[0], lanes[1]):
            torque = add(
                get3(block, VEHICLE_ROW, VEHICLE.torque, lane),
                get3(block, b, BODY.wrench + 3, lane),
            )
            set3(block, VEHICLE_ROW, VEHICLE.torque, lane, torque)
