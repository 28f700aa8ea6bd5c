# SPDX-License-Identifier: BSD-3-Clause
"""A program that speaks Betaflight SITL's packets: a mixer with attitude and rate loops of f450, or one of its faults.

As its releases of 2026, it takes its receiver for lost when sticks stay away.

Run it by ``fake_betaflight.py FAULT SECONDS``; the fault comes at a time of its own clock.
"""

import math
import os
import socket
import struct
import sys
import time
from pathlib import Path

HOST, OFFSET = "127.0.0.1", int(os.environ["IAP_PORT_OFFSET"])
STATE, STICKS, MOTORS = struct.Struct("<18d"), struct.Struct("<d16H"), struct.Struct("<4f")
BOOT, IDLE = 5.0, 0.01
LOSS = 0.15  # time without sticks after which it disarms [s]
SIDES = ((-1, 1, 1), (1, -1, 1), (1, 1, -1), (-1, -1, -1))  # of FR, RL, FL, RR: y, x, spin


def say(text):
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def bound(port):
    out = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    out.bind((HOST, port + OFFSET))
    return out


def take_settings():
    """Be a command line until `save`."""
    server = socket.create_server((HOST, 5761 + OFFSET))
    say("bind port 5761")
    console, _ = server.accept()
    text = b""
    while b"save" not in text:
        more = console.recv(4096)
        text += more
        wrong = b"### ERROR\n" if b"nonsense" in more else b""
        console.sendall(wrong + b"\n# ")
    Path("eeprom.bin").write_bytes(text)


class Loops:
    """Attitude and rate loop, in axes forward, left, up."""

    def __init__(self, yaw_sign):
        self.is_armed, self.yaw_sign = False, yaw_sign
        self.sticks = (1500, 1500, 1000, 1500, 1000, 1000)
        self.heard = 0.0  # time of the last ones

    def __call__(self, state):
        t, p, q, r = state[0], state[1], -state[2], -self.yaw_sign * state[3]
        w, x, y, z = state[7], state[8], -state[9], -state[10]
        roll, pitch, throttle, yaw, arm, angle = self.sticks
        if arm < 1700 or t - self.heard > LOSS:
            self.is_armed = False
        elif t > BOOT and throttle < 1010:
            self.is_armed = True
        if not self.is_armed:
            return (0.0,) * 4
        wanted = [math.radians(60.0) * (each - 1500) / 500 for each in (roll, pitch)]
        if angle > 1300:
            is_roll = math.atan2(2 * (w * x + y * z), 1 - 2 * (x * x + y * y))
            is_pitch = math.asin(max(-1.0, min(1.0, 2 * (w * y - z * x))))
            rates = [5.0 * (wanted[0] - is_roll), 5.0 * (wanted[1] - is_pitch)]
        else:
            rates = [math.radians(500.0) * (each - 1500) / 500 for each in (roll, pitch)]
        rates.append(-math.radians(200.0) * (yaw - 1500) / 500)
        a, b, c = (
            k * (s - g) for k, s, g in zip((0.05, 0.05, 0.25), rates, (p, q, r), strict=True)
        )
        u = IDLE + (1 - IDLE) * max(0, throttle - 1010) / 990
        # y f gives roll, -x f pitch, and a rotor that turns ccw pulls clockwise.
        shares = [u + a * i - b * j - c * k for i, j, k in SIDES]
        return tuple(min(max(each, IDLE), 1.0) for each in shares)


def end():
    say("I can no more")
    sys.exit(3)


def late(packet):
    time.sleep(3.0)
    return [packet]


ZEROS = MOTORS.pack(0.0, 0.0, 0.0, 0.0)
FAULTS = {  # what is sent in place of a packet
    "none": lambda packet: [packet],
    "mute": lambda _: [],
    "exit": lambda _: end(),
    "late": late,
    "disarm": lambda _: [ZEROS],
    "short": lambda packet: [packet[:8]],
    "nan": lambda packet: [MOTORS.pack(math.nan, *MOTORS.unpack(packet)[1:])],
    "twice": lambda packet: [packet, packet],
    "wrong_yaw": lambda packet: [packet],
}


def newest(sticks):
    """Sticks that came last; None where none have."""
    last = None
    try:
        while True:
            last = STICKS.unpack(sticks.recv(64))[1:7]
    except BlockingIOError:
        return last


def main(fault, seconds):
    """Answer states until the simulator ends this process."""
    if "IAP_PACED" in os.environ and not Path("eeprom.bin").exists():
        take_settings()
        return
    states, sticks = bound(9003), bound(9004)
    out = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    sticks.setblocking(False)
    loops = Loops(-1.0 if fault == "wrong_yaw" else 1.0)
    say("bind port 9004")
    while True:
        state = STATE.unpack(states.recv(256))
        if (last := newest(sticks)) is not None:
            loops.sticks, loops.heard = last, state[0]
        kind = fault if state[0] >= seconds else "none"
        packet = MOTORS.pack(*loops(state))
        for each in FAULTS[kind](packet):
            out.sendto(each, (HOST, 9002 + OFFSET))


if __name__ == "__main__":
    main(sys.argv[1], float(sys.argv[2]))
