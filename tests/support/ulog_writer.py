# SPDX-License-Identifier: BSD-3-Clause
"""PX4 logs written byte by byte: definitions, rows of topics, parameters and dropouts.

The layout is that of https://docs.px4.io/main/en/dev_log/ulog_file_format.html.
"""

import struct
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
from flight_bags import Array, Motion

from iap_description.frames import swap_attitude, swap_body, swap_world
from iap_description.math import so3

HEADER = b"ULog\x01\x12\x35\x01"
CODES = {"uint64_t": "Q", "float": "f", "bool": "?", "uint8_t": "B", "int32_t": "i"}
BOOT_US = 100_000_000  # of the first row


def message(kind: str, payload: bytes) -> bytes:
    return struct.pack("<HB", len(payload), ord(kind)) + payload


class ULogWriter:
    """A log in the making."""

    def __init__(self) -> None:
        self.definitions: list[bytes] = []
        self.subscriptions: list[bytes] = []
        self.rows: list[tuple[int, bytes]] = []

    def information(self, key: str, text: str) -> None:
        name = f"char[{len(text)}] {key}".encode()
        self.definitions.append(message("I", bytes([len(name)]) + name + text.encode()))

    def parameter(self, key: str, value: int) -> None:
        name = f"int32_t {key}".encode()
        self.definitions.append(message("P", bytes([len(name)]) + name + struct.pack("<i", value)))

    def topic(self, name: str, fields: str, rows: Iterable[Sequence], instance: int = 0) -> None:
        """Rows of numbers, the first of which is the time [us]; `fields` as in ``float[3] xyz;bool on``."""
        index, code = len(self.subscriptions), "<Q"
        for each in fields.split(";"):
            kind, _, width = each.split(" ")[0].rstrip("]").partition("[")
            code += f"{width}{CODES[kind]}"
        if instance == 0:
            text = f"{name}:uint64_t timestamp;{fields};"
            self.definitions.append(message("F", text.encode()))
        head = struct.pack("<BH", instance, index)
        self.subscriptions.append(message("A", head + name.encode()))
        packed = (struct.pack(code, int(row[0]), *row[1:]) for row in rows)
        index_bytes = struct.pack("<H", index)
        self.rows += [
            (struct.unpack("<Q", each[:8])[0], message("D", index_bytes + each)) for each in packed
        ]

    def dropout(self, time_us: int, duration_ms: int) -> None:
        self.rows.append((time_us, message("O", struct.pack("<H", duration_ms))))

    def write(self, path: Path) -> Path:
        flags = message("B", bytes(40))
        data = b"".join(each for _, each in sorted(self.rows, key=lambda row: row[0]))
        head = HEADER + struct.pack("<Q", BOOT_US)
        path.write_bytes(head + flags + b"".join([*self.definitions, *self.subscriptions]) + data)
        return path


def flight_log(
    motion: Motion,
    *,
    landed: float = 0.0,
    lost: tuple[float, float] = (0.0, 0.0),
    R_said: Array | None = None,
) -> ULogWriter:
    """A quadrotor's motion as PX4 logs it, in NED and FRD.

    Args:
        motion: in ENU and FLU.
        landed: time at its begin before which the vehicle stands, by the land detector [s].
        lost: from when to when the logger lost all rows [s].
        R_said: attitudes (K, 3, 3) that are written in place of the right ones.
    """
    log = ULogWriter()
    log.information("ver_hw", "MADE_UP")
    for key, value in (("SYS_AUTOSTART", 4001), ("MAV_TYPE", 2), ("CA_ROTOR_COUNT", 4)):
        log.parameter(key, value)
    keep = (motion.t < lost[0]) | (motion.t >= lost[1])
    us = np.round(BOOT_US + motion.t * 1e6)[keep, None]
    R = so3.matrix_from_quaternion(motion.q)
    written = swap_attitude(R) if R_said is None else R_said
    q = so3.quaternion_from_matrix(written)[:, [3, 0, 1, 2]]
    f = np.einsum("kji,kj->ki", R, motion.a + [0.0, 0.0, 9.81])

    def put(name: str, fields: str, *columns: Array, instance: int = 0) -> None:
        log.topic(name, fields, np.hstack([us, *(each[keep] for each in columns)]), instance)

    ones = np.ones((len(motion.t), 1))
    place = [swap_world(motion.p), swap_world(motion.v), np.tile(ones, 4)]
    put("vehicle_attitude", "float[4] q", q)
    flags = "bool xy_valid;bool z_valid;bool v_xy_valid;bool v_z_valid"
    put(
        "vehicle_local_position",
        f"float x;float y;float z;float vx;float vy;float vz;{flags}",
        *place,
    )
    put("vehicle_angular_velocity", "float[3] xyz", swap_body(motion.w))
    raw = [swap_body(motion.w), swap_body(f)]
    put("sensor_combined", "float[3] gyro_rad;float[3] accelerometer_m_s2", *raw)
    put("actuator_armed", "bool armed", ones)
    put("vehicle_land_detected", "bool landed", (motion.t < landed).astype(float)[:, None])
    if lost[1] > lost[0]:
        log.dropout(round(BOOT_US + lost[1] * 1e6), round(1e3 * (lost[1] - lost[0])))
    return log
