# SPDX-License-Identifier: BSD-3-Clause
"""The loop over a block's worlds for rotors that tilt or lean, like those of `iap_physics.batch.steps`."""

from iap_description.arrays import Array
from iap_description.math.kernels import add, formula, six
from iap_description.math.lanes import Lanes, get, get3, get4, set3, set4
from iap_physics.batch import layout
from iap_physics.batch.layout import body_row
from iap_physics.batch.steps import ZERO_VECTOR, alike3, alike4
from iap_physics.propulsion.rotors import Lag, spin_four
from iap_physics.propulsion.tilting_rotors import Columns, Servo, tilt_four, tilted_wrench


@formula
def alike_columns(alike: Array, i: int, k: int) -> Columns:
    """Wrenches of a unit of thrust of four rotors, from column k on."""
    return (
        six(alike3(alike, i, k), alike3(alike, i, k + 3)),
        six(alike3(alike, i, k + 6), alike3(alike, i, k + 9)),
        six(alike3(alike, i, k + 12), alike3(alike, i, k + 15)),
        six(alike3(alike, i, k + 18), alike3(alike, i, k + 21)),
    )


@formula
def spin_tilted(block: Array, i: int, alike: Array, lanes: Lanes, dt: float) -> None:
    """The rotors of the aircraft that is body i and their tilts, and their wrench on it."""
    b = body_row(i)
    rpm_min, rpm_max = alike[i, layout.RPM_MIN], alike[i, layout.RPM_MAX]
    fastest, share = alike[i, layout.SPEED_SHARE] * rpm_max, alike4(alike, i, layout.THRUST_SHARE)
    limit, rate, time_constant = alike3(alike, i, layout.SERVO)
    servo = Servo(limit, rate, time_constant)
    columns = (
        alike_columns(alike, i, layout.UPWARD),
        alike_columns(alike, i, layout.SIDEWAYS),
    )
    for lane in range(lanes[0], lanes[1]):
        up, down = get3(block, b, layout.UP, lane), get3(block, b, layout.DOWN, lane)
        rpm, thrusts = spin_four(
            get4(block, b, layout.RPM, lane),
            get4(block, b, layout.TARGET, lane),
            get(block, b, layout.THRUST_COEFFICIENT, lane),
            rpm_min,
            fastest,
            Lag(up[0], up[1], up[2]),
            Lag(down[0], down[1], down[2]),
            share,
        )
        before = get4(block, b, layout.TILT, lane)
        after = tilt_four(before, get4(block, b, layout.COMMAND_TILT, lane), servo, dt)
        q = get4(block, b, layout.Q, lane)
        force, torque = tilted_wrench(thrusts, before, after, q, columns[0], columns[1])
        set4(block, b, layout.RPM, lane, rpm)
        set4(block, b, layout.TILT, lane, after)
        set3(block, b, layout.WRENCH, lane, add(ZERO_VECTOR, force))
        set3(block, b, layout.WRENCH + 3, lane, add(ZERO_VECTOR, torque))
