# SPDX-License-Identifier: BSD-3-Clause
"""The loop over a block's worlds for rotors that tilt or lean, like those of `iap_physics.batch.steps`."""

from iap_description.arrays import Array
from iap_description.math.kernels import add, formula, six
from iap_description.math.lanes import Lanes, get, get3, get4, set3, set4
from iap_physics.batch.layout import BODY, BODY_COMMAND, SHARED, body_row
from iap_physics.batch.steps import ZERO_VECTOR, shared3, shared4
from iap_physics.propulsion.rotors import Lag, spin_four
from iap_physics.propulsion.tilting_rotors import Columns, Servo, tilt_four, tilted_wrench


@formula
def shared_columns(shared: Array, i: int, k: int) -> Columns:
    """Wrenches of a unit of thrust of four rotors, from column k on."""
    return (
        six(shared3(shared, i, k), shared3(shared, i, k + 3)),
        six(shared3(shared, i, k + 6), shared3(shared, i, k + 9)),
        six(shared3(shared, i, k + 12), shared3(shared, i, k + 15)),
        six(shared3(shared, i, k + 18), shared3(shared, i, k + 21)),
    )


@formula
def spin_tilted(block: Array, i: int, shared: Array, lanes: Lanes, dt: float) -> None:
    """The rotors of the aircraft that is body i and their tilts, and their wrench on it."""
    b = body_row(i)
    rpm_min, rpm_max = shared[i, SHARED.rpm_min], shared[i, SHARED.rpm_max]
    fastest, share = (
        shared[i, SHARED.speed_share] * rpm_max,
        shared4(shared, i, SHARED.thrust_share),
    )
    limit, rate, time_constant = shared3(shared, i, SHARED.servo)
    servo = Servo(limit, rate, time_constant)
    columns = (
        shared_columns(shared, i, SHARED.upward),
        shared_columns(shared, i, SHARED.sideways),
    )
    for lane in range(lanes[0], lanes[1]):
        up, down = get3(block, b, BODY.up, lane), get3(block, b, BODY.down, lane)
        rpm, thrusts = spin_four(
            get4(block, b, BODY.rpm, lane),
            get4(block, b, BODY.target, lane),
            get(block, b, BODY.thrust_coefficient, lane),
            rpm_min,
            fastest,
            Lag(up[0], up[1], up[2]),
            Lag(down[0], down[1], down[2]),
            share,
        )
        before = get4(block, b, BODY.tilt, lane)
        after = tilt_four(before, get4(block, b, BODY_COMMAND.tilt, lane), servo, dt)
        q = get4(block, b, BODY.q, lane)
        force, torque = tilted_wrench(thrusts, before, after, q, columns[0], columns[1])
        set4(block, b, BODY.rpm, lane, rpm)
        set4(block, b, BODY.tilt, lane, after)
        set3(block, b, BODY.wrench, lane, add(ZERO_VECTOR, force))
        set3(block, b, BODY.wrench + 3, lane, add(ZERO_VECTOR, torque))
