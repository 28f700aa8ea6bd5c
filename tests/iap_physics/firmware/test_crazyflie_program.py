# SPDX-License-Identifier: BSD-3-Clause
"""The program of a Crazyflie in this process: what of a message goes where, and what becomes of the outputs."""

import socket
import sys
from types import SimpleNamespace

import pytest

from iap_physics.firmware.crazyflie import controllers
from iap_physics.firmware.crazyflie.controllers import ANSWER, ORDER, STATE, CrazyflieController

NUMBERS = [0.5 + k for k in range(19)]  # of a state, all of them different
ORDERED = [20.5 + k for k in range(7)]


class Record(SimpleNamespace):
    """A structure of the bindings: whatever is read first is another one."""

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        self.__dict__[name] = Record()
        return self.__dict__[name]


class Bindings:
    """The functions that the program calls; the controller's outputs are those of `outputs`."""

    modeAbs, modeVelocity, modeDisable = 1, 2, 3
    state_t = sensorData_t = setpoint_t = control_t = Record
    motors_thrust_uncapped_t = motors_thrust_pwm_t = controllerMellinger_t = Record

    def __init__(self, *outputs):
        self.outputs, self.begun, self.seen = list(outputs), [], []

    def controllerPidInit(self):
        self.begun.append("pid")

    def controllerMellingerInit(self, memory):
        self.begun.append(memory)

    def controllerPid(self, control, order, sensors, state, number):
        self.control, self.order, self.sensors, self.state = control, order, sensors, state
        self.seen.append((control.roll, control.pitch, control.yaw, number))
        if self.outputs:
            control.roll, control.pitch, control.yaw = self.outputs.pop(0)

    def controllerMellinger(self, memory, *rest):
        assert memory is self.begun[0]
        self.controllerPid(*rest)

    def powerDistribution(self, control, uncapped):
        uncapped.all = (control.roll, control.pitch, control.yaw)

    def powerDistributionCap(self, uncapped, ratios):
        roll, pitch, yaw = (abs(each) for each in uncapped.all)
        m = ratios.motors
        m.m1, m.m2, m.m3, m.m4 = roll, pitch, yaw, 4


def message(number=7, has_attitude=True):
    return STATE.pack(number, *NUMBERS) + ORDER.pack(has_attitude, *ORDERED)


@pytest.mark.parametrize("name", ["pid", "mellinger"])
def test_a_message_s_numbers_go_where_the_controller_looks_for_them(name):
    firmware = Bindings()
    CrazyflieController(firmware, name, (1.0, 1.0, 1.0)).answer(message())
    state, sensors, order = firmware.state, firmware.sensors, firmware.order
    a, q, r = state.attitude, state.attitudeQuaternion, order.attitudeRate
    told = [a.roll, a.pitch, a.yaw]
    told += [getattr(part, k) for part in (sensors.gyro, sensors.acc) for k in "xyz"]
    told += [q.x, q.y, q.z, q.w]
    told += [getattr(part, k) for part in (state.position, state.velocity) for k in "xyz"]
    assert told == NUMBERS
    ordered = [order.attitude.roll, order.attitude.pitch, order.attitude.yaw]
    assert [*ordered, r.roll, r.pitch, r.yaw, order.thrust] == ORDERED
    assert firmware.seen == [(0, 0, 0, 7)] and len(firmware.begun) == 1


@pytest.mark.parametrize(("has_attitude", "mode"), [(True, 1), (False, 2)])
def test_angles_are_ordered_as_such_or_as_rates_and_places_never(has_attitude, mode):
    firmware = Bindings()
    CrazyflieController(firmware, "pid", (1.0, 1.0, 1.0)).answer(message(1, has_attitude))
    modes = firmware.order.mode
    assert (modes.roll, modes.pitch, modes.yaw) == (mode, mode, mode)
    assert (modes.x, modes.y, modes.z) == (3, 3, 3)


def test_outputs_are_scaled_rounded_and_cut_and_the_controller_gets_its_own_back():
    firmware = Bindings((100, -201, 30_000))
    program = CrazyflieController(firmware, "pid", (0.5, 0.25, 2.0))
    assert ANSWER.unpack(program.answer(message(3))) == (3, 50, 50, 32_767, 4)
    assert (firmware.control.pitch, firmware.control.yaw) == (-50, 32_767)
    program.answer(message(4))  # in which the loop writes no outputs
    assert firmware.seen == [(0, 0, 0, 3), (100, -201, 30_000, 4)]
    assert firmware.control.roll == 50
    low = Bindings((0, 0, -30_000))
    CrazyflieController(low, "pid", (1.0, 1.0, 2.0)).answer(message())
    assert low.control.yaw == -32_767


def test_the_program_says_that_it_is_ready_and_answers_until_its_socket_is_closed(monkeypatch):
    monkeypatch.setitem(sys.modules, controllers.MODULE, Bindings((1000, 2000, 3000)))
    monkeypatch.setattr(sys, "path", list(sys.path))
    here, there = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with here:
        here.send(message(9))
        here.shutdown(socket.SHUT_WR)
        controllers.main(str(there.detach()), "pid", "1.0", "2.0", "3.0", "/of_the_bindings")
        assert here.recv(64) == b"ready"
        assert ANSWER.unpack(here.recv(64)) == (9, 1000, 4000, 9000, 4)
    assert sys.path[0] == "/of_the_bindings"
