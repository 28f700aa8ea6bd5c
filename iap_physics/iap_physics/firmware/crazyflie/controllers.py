# SPDX-License-Identifier: BSD-3-Clause
"""The program of one Crazyflie: the controllers of its firmware, a step for each state that comes.

It runs as ``controllers.py SOCKET CONTROLLER ROLL PITCH YAW [FOLDER]``: the number of an open socket, the controller,
the scales of its outputs, and the folder of the bindings. Controllers keep states in variables of their module, so that
each aircraft has a process of its own. It imports nothing of the suite, since another Python may run it.
"""

import importlib
import socket
import struct
import sys
from collections.abc import Callable, Sequence
from typing import Any

MODULE = "cffirmware"
# Step; attitude [deg]; gyroscope [deg/s]; accelerometer [g]; quaternion xyzw; position [m]; velocity [m/s].
STATE = struct.Struct("<I19d")
# Whether an attitude is ordered; attitude [deg]; rates [deg/s]; thrust of a motor, of 65535.
ORDER = struct.Struct("<?7d")
ANSWER = struct.Struct("<I4H")  # step; motors front right, rear right, rear left, front left
READY = b"ready"
LIMIT = 32_767  # of outputs, which are numbers of 16 bits
Step = Callable[[Any, Any, Any, Any, int], None]


def pid(firmware: Any) -> Step:  # noqa: ANN401 - the bindings have no types
    """The cascade of PID loops."""
    firmware.controllerPidInit()
    step: Step = firmware.controllerPid
    return step


def mellinger(firmware: Any) -> Step:  # noqa: ANN401 - as `pid`
    """The attitude loop of Mellinger and Kumar."""
    memory = firmware.controllerMellinger_t()
    firmware.controllerMellingerInit(memory)

    def step(control: Any, order: Any, sensors: Any, state: Any, number: int) -> None:  # noqa: ANN401
        firmware.controllerMellinger(memory, control, order, sensors, state, number)

    return step


CONTROLLERS: dict[str, Callable[[Any], Step]] = {"pid": pid, "mellinger": mellinger}


class CrazyflieController:
    """One aircraft's controller.

    Args:
        firmware: the bindings.
        controller: name of the controller.
        scales: of its outputs about roll, pitch and yaw.
    """

    def __init__(self, firmware: Any, controller: str, scales: Sequence[float]) -> None:  # noqa: ANN401
        self._firmware, self._scales = firmware, scales
        self._state, self._sensors = firmware.state_t(), firmware.sensorData_t()
        self._order, self._control = firmware.setpoint_t(), firmware.control_t()
        self._motors = firmware.motors_thrust_uncapped_t()
        self._ratios = firmware.motors_thrust_pwm_t()
        self._step = CONTROLLERS[controller](firmware)
        self._outputs = (0, 0, 0)

    def answer(self, message: bytes) -> bytes:
        """The motors for a message of state and order."""
        number, *state = STATE.unpack_from(message)
        has_attitude, *order = ORDER.unpack_from(message, STATE.size)
        self._take_state(state)
        self._take_order(order, has_attitude=has_attitude)
        control = self._control
        # Attitude loops write outputs in every second step; what they left is not scaled twice.
        control.roll, control.pitch, control.yaw = self._outputs
        self._step(control, self._order, self._sensors, self._state, number)
        self._outputs = control.roll, control.pitch, control.yaw
        control.roll, control.pitch, control.yaw = (
            round(min(max(scale * each, -LIMIT), LIMIT))
            for scale, each in zip(self._scales, self._outputs, strict=True)
        )
        self._firmware.powerDistribution(control, self._motors)
        self._firmware.powerDistributionCap(self._motors, self._ratios)
        motors = self._ratios.motors
        return ANSWER.pack(number, motors.m1, motors.m2, motors.m3, motors.m4)

    def _take_state(self, numbers: Sequence[float]) -> None:
        state, sensors = self._state, self._sensors
        attitude, q = state.attitude, state.attitudeQuaternion
        attitude.roll, attitude.pitch, attitude.yaw = numbers[:3]
        sensors.gyro.x, sensors.gyro.y, sensors.gyro.z = numbers[3:6]
        sensors.acc.x, sensors.acc.y, sensors.acc.z = numbers[6:9]
        q.x, q.y, q.z, q.w = numbers[9:13]
        state.position.x, state.position.y, state.position.z = numbers[13:16]
        state.velocity.x, state.velocity.y, state.velocity.z = numbers[16:19]

    def _take_order(self, numbers: Sequence[float], *, has_attitude: bool) -> None:
        order, firmware = self._order, self._firmware
        mode = firmware.modeAbs if has_attitude else firmware.modeVelocity
        order.mode.x = order.mode.y = order.mode.z = firmware.modeDisable
        order.mode.roll = order.mode.pitch = order.mode.yaw = mode
        order.attitude.roll, order.attitude.pitch, order.attitude.yaw = numbers[:3]
        rate = order.attitudeRate
        rate.roll, rate.pitch, rate.yaw = numbers[3:6]
        order.thrust = numbers[6]


def main(number: str, controller: str, *rest: str) -> None:
    """Answer each message until the socket is closed."""
    scales, folders = rest[:3], rest[3:]
    sys.path[:0] = folders
    firmware = importlib.import_module(MODULE)
    link = socket.socket(fileno=int(number))
    controlled = CrazyflieController(firmware, controller, [float(each) for each in scales])
    link.send(READY)
    while message := link.recv(512):
        link.send(controlled.answer(message))


if __name__ == "__main__":
    main(*sys.argv[1:])
