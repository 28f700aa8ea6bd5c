# SPDX-License-Identifier: BSD-3-Clause
"""Stand-in for the Crazyflie's bindings, by other loops: attitudes of f450 held, or one of their faults.

The file `fault` beside this one has the fault and the step at which it comes.
"""

import sys
import time
from pathlib import Path
from types import SimpleNamespace as Record

modeDisable, modeAbs, modeVelocity = range(3)  # noqa: N816 - the bindings' names
FAULT, AT = (Path(__file__).with_name("fault").read_text() + " none 0").split()[:2]
FULL = 65535
GAINS = (0.05, 0.05, 0.25)  # shares per error of the rate [s]


def vector():
    return Record(x=0.0, y=0.0, z=0.0)


def angles():
    return Record(roll=0.0, pitch=0.0, yaw=0.0)


def state_t():
    place = {"position": vector(), "velocity": vector()}
    return Record(
        attitude=angles(), attitudeQuaternion=Record(x=0.0, y=0.0, z=0.0, w=1.0), **place
    )


def sensorData_t():  # noqa: N802
    return Record(gyro=vector(), acc=vector())


def setpoint_t():
    return Record(mode=Record(), attitude=angles(), attitudeRate=angles(), thrust=0.0)


def control_t():
    return Record(roll=0, pitch=0, yaw=0, thrust=0.0)


def motors_thrust_uncapped_t():
    return Record(motors=Record(m1=0, m2=0, m3=0, m4=0))


motors_thrust_pwm_t = motors_thrust_uncapped_t


def controllerPidInit():  # noqa: N802
    """Nothing is kept."""


def controllerPid(control, order, sensors, state, step):  # noqa: N802
    """Hold an attitude, or rates; in every second step, as the real one does."""
    if FAULT != "none" and step >= int(AT):
        if FAULT == "exit":
            sys.stdout.write("I can no more\n")
            sys.stdout.flush()
            sys.exit(3)
        time.sleep(3.0)
    control.thrust = order.thrust
    if step % 2 == 1:
        return
    wanted = order.attitudeRate
    rates = [wanted.roll, wanted.pitch, wanted.yaw]
    if order.mode.roll == modeAbs:
        left = [
            getattr(order.attitude, axis) - getattr(state.attitude, axis)
            for axis in ("roll", "pitch", "yaw")
        ]
        left[2] = (left[2] + 180.0) % 360.0 - 180.0
        rates = [k * each for k, each in zip((5.0, 5.0, 2.5), left, strict=True)]
    gyro = (sensors.gyro.x, -sensors.gyro.y, sensors.gyro.z)
    errors = [0.0174533 * (rate - each) for rate, each in zip(rates, gyro, strict=True)]
    roll, pitch, yaw = (FULL * k * each for k, each in zip(GAINS, errors, strict=True))
    control.roll, control.pitch, control.yaw = round(2 * roll), round(2 * pitch), -round(yaw)


def powerDistribution(control, out):  # noqa: N802
    """Motors front right, rear right, rear left, front left."""
    r, p, y, motors = control.roll / 2, control.pitch / 2, control.yaw, out.motors
    motors.m1, motors.m2 = control.thrust - r + p + y, control.thrust - r - p - y
    motors.m3, motors.m4 = control.thrust + r - p + y, control.thrust + r + p - y


def powerDistributionCap(motors, out):  # noqa: N802
    """Within what a motor can."""
    for name, value in vars(motors.motors).items():
        setattr(out.motors, name, round(min(max(value, 0), FULL)))
