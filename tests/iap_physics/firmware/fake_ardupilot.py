# SPDX-License-Identifier: BSD-3-Clause
"""A program that speaks ArduPilot's JSON interface: the loops of f450 by sticks, or one of their faults.

Run it by ``fake_ardupilot.py FAULT SECONDS NUMBER PORT STICKS``; the fault comes at a time of its own clock.
"""

import json
import math
import socket
import struct
import sys
import time

from f450_loops import GAINS, mixed

HOST, READY = "127.0.0.1", 0.1  # [s]
FRAME, STICKS = struct.Struct("<HHI16H"), struct.Struct("<16H")
RESEND = 0.3  # [s]; ArduPilot itself waits for a second


def bound(port):
    out = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    out.bind((HOST, port))
    return out


class Stabilize:
    """Mode STABILIZE on the attitude that it is told."""

    def __init__(self, sticks, fault):
        self.sticks, self.fault, self.last = sticks, fault, None
        self.sticks.setblocking(False)
        self.is_armed = False

    def __call__(self, state):
        try:
            while True:
                self.last = STICKS.unpack(self.sticks.recv(64))
        except BlockingIOError:
            pass
        if self.last is None or self.last[6] < 1700:
            self.is_armed = False
        elif state["timestamp"] > READY and self.last[2] == 1000 and self.fault != "never_arms":
            self.is_armed = True
        if not self.is_armed:
            return (0.0,) * 4
        w, x, y, z = state["quaternion"]
        roll = math.atan2(2 * (w * x + y * z), 1 - 2 * (x * x + y * y))
        pitch = math.asin(max(-1.0, min(1.0, 2 * (w * y - z * x))))
        angles = [math.radians(60.0) * (each - 1500) / 500 for each in self.last[:2]]
        rates = [5.0 * (angles[0] - roll), 5.0 * (angles[1] - pitch)]
        rates.append(math.radians(200.0) * (self.last[3] - 1500) / 500)
        gyro = state["imu"]["gyro"]
        if self.fault == "wrong_yaw":
            gyro[2] *= -1.0
        turns = [k * (r - g) for k, r, g in zip(GAINS, rates, gyro, strict=True)]
        return mixed((self.last[2] - 1000) / 1000, turns)


def frames(fault, frame, shares):
    """What is sent in answer."""
    if fault == "exit":
        sys.stdout.write("I can no more\n")
        sys.stdout.flush()
        sys.exit(3)
    if fault == "mute":
        return []
    if fault == "late":
        time.sleep(3.0)
    widths = [round(1000 + 1000 * each) for each in shares] + [1500] * 12
    if fault == "disarm":
        widths[:4] = [1000] * 4
    packet = FRAME.pack(18458 + (fault == "magic"), 1000, frame + (fault == "frame"), *widths)
    return [packet, packet] if fault == "twice" else [packet]


def main(fault, seconds, number, port, stick_port):
    """Send frames and wait for states until the simulator ends this process."""
    link, to = socket.socket(socket.AF_INET, socket.SOCK_DGRAM), (HOST, port + 10 * number)
    stabilize = Stabilize(bound(stick_port + 10 * number), fault)
    frame, packets = 7, frames("none", 7, (0.0,) * 4)
    link.settimeout(RESEND)
    while True:
        for packet in packets:
            link.sendto(packet, to)
        try:
            state = json.loads(link.recv(4096))
        except TimeoutError:
            continue
        frame += 1
        kind = fault if state["timestamp"] >= seconds else "none"
        packets = frames(kind, frame, stabilize(state))


if __name__ == "__main__":
    main(sys.argv[1], float(sys.argv[2]), *map(int, sys.argv[3:]))
