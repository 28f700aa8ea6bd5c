# SPDX-License-Identifier: BSD-3-Clause
"""A program that speaks PX4's HIL messages and its offboard mode: the loops of f450, or one of their faults.

Run it by ``fake_px4.py FAULT SECONDS INSTANCE``; the fault comes at a time of its own clock.
"""

import math
import socket
import sys
import time

from f450_loops import attitude_loop, mixed

from iap_physics.firmware.px4 import mavlink
from iap_physics.firmware.px4.mavlink import MavlinkParser, Sender

HOST, READY = "127.0.0.1", 0.1  # [s]


class Autopilot:
    """Attitude from the gyroscope alone, which is true at rest at the start; orders from UDP."""

    def __init__(self, number, fault):
        self.orders = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.orders.bind((HOST, 14580 + number))
        self.orders.setblocking(False)
        self.to = (HOST, 14540 + number)
        self.receiver, self.sender, self.fault = MavlinkParser(), Sender(1, 1), fault
        self.is_armed, self.target = False, None
        self.q, self.last_us = None, None

    def listen(self, t):
        try:
            while True:
                for message in self.receiver.add(self.orders.recv(4096)):
                    if message.number == mavlink.SET_ATTITUDE_TARGET.number:
                        self.target = message.values(mavlink.SET_ATTITUDE_TARGET)
                    elif message.number == mavlink.COMMAND_LONG.number:
                        self.command(t, message.values(mavlink.COMMAND_LONG))
        except BlockingIOError:
            pass

    def command(self, t, values):
        if values[7] == 400 and t > READY and self.fault != "never_arms":
            self.is_armed = True
        elif values[7] == 400:
            text = b"Preflight Fail: heading estimate invalid"
            self.orders.sendto(self.sender.frame(mavlink.STATUSTEXT, 3, text), self.to)

    def controls(self, sensor):
        t = 1e-6 * sensor[0]
        self.listen(t)
        w = sensor[4:7]
        if self.fault == "wrong_yaw":
            w = (w[0], w[1], -w[2])
        if self.target is None:
            return (0.0,) * 4
        if self.q is None:
            self.q = list(self.target[1:5])  # it is told to stay as it stands
        dt = 0.0 if self.last_us is None else 1e-6 * (sensor[0] - self.last_us)
        self.last_us = sensor[0]
        turn(self.q, w, dt)
        if not self.is_armed:
            return (0.0,) * 4
        return mixed(self.target[8], attitude_loop(self.q, self.target[1:5], self.target[5:8], w))


def turn(q, w, dt):
    """Move an attitude w x y z on by a body rate."""
    a, b, c, d = q
    x, y, z = (0.5 * dt * each for each in w)
    q[:] = (
        a - b * x - c * y - d * z,
        b + a * x + c * z - d * y,
        c + a * y - b * z + d * x,
        d + a * z + b * y - c * x,
    )
    size = math.hypot(*q)
    q[:] = [each / size for each in q]


def frames(fault, sender, stamp, motors, mode):
    """What is sent in answer."""
    if fault == "exit":
        sys.stdout.write("I can no more\n")
        sys.stdout.flush()
        sys.exit(3)
    if fault == "mute":
        return []
    if fault == "late":
        time.sleep(3.0)
    if fault == "disarm":
        motors, mode = (0.0,) * 4, 1
    if fault == "nan":
        motors = (math.nan, *motors[1:])
    stamp += 1000 if fault == "stamp" else 0
    frame = sender.frame(mavlink.HIL_ACTUATOR_CONTROLS, stamp, 1, *motors, *[0.0] * 12, mode)
    return [frame, frame] if fault == "twice" else [frame]


def connected(port):
    """A connection to the simulator, which may start later."""
    while True:
        try:
            return socket.create_connection((HOST, port))
        except ConnectionRefusedError:
            time.sleep(0.01)


def main(fault, seconds, number):
    """Answer HIL_SENSOR until the simulator closes the connection."""
    autopilot = Autopilot(number, fault)  # hears orders from the first on
    link, receiver, sender = connected(4560 + number), MavlinkParser(), Sender(1, 1)
    link.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    while data := link.recv(4096):
        for message in receiver.add(data):
            if message.number != mavlink.HIL_SENSOR.number:
                continue
            sensor = message.values(mavlink.HIL_SENSOR)
            motors = autopilot.controls(sensor)
            kind = fault if 1e-6 * sensor[0] >= seconds else "none"
            mode = 129 if autopilot.is_armed else 1
            link.sendall(b"".join(frames(kind, sender, sensor[0], motors, mode)))


if __name__ == "__main__":
    main(sys.argv[1], float(sys.argv[2]), int(sys.argv[3]))
