# SPDX-License-Identifier: BSD-3-Clause
"""A flight log of PX4: what is in it, and what it says beside the flight that wrote it.

You see what `iap inspect` prints of a log made of a simulated flight, and that `iap replay` would fly the same path.
Run it with: python examples/14_a_flight_log_of_px4.py
"""

import struct
import sys
from pathlib import Path

import numpy as np

from iap_description.frames import swap_attitude, swap_body, swap_world
from iap_description.math import so3
from iap_description.states import P, Q, V, W
from iap_io.flight_logs.inspection import Inspection
from iap_io.flight_logs.readers import open_log
from iap_io.runs.run_folder import load_run
from iap_io.trajectories.reader import read_recorded
from iap_simulation import record

FIELDS = {
    "vehicle_attitude": "float[4] q;",
    "vehicle_local_position": "float x;float y;float z;float vx;float vy;float vz;",
    "vehicle_angular_velocity": "float[3] xyz;",
}


def message(kind: bytes, payload: bytes) -> bytes:
    """A message of ULog: its length, its kind, and what it says."""
    return struct.pack("<Hc", len(payload), kind) + payload


def write_ulog(path: Path, t: np.ndarray, x: np.ndarray) -> None:
    """Write a flight as PX4 logs it: in microseconds, NED, FRD, and quaternions w x y z."""
    R = swap_attitude(so3.matrix_from_quaternion(x[:, Q]))
    place = np.hstack([swap_world(x[:, P]), swap_world(x[:, V])])
    rates = swap_body(so3.rotate(so3.conjugate(x[:, Q]), x[:, W]))
    topics = (so3.quaternion_from_matrix(R)[:, [3, 0, 1, 2]], place, rates)
    data = b"ULog\x01\x12\x35\x01" + bytes(8) + message(b"B", bytes(40))
    for name, fields in FIELDS.items():
        data += message(b"F", f"{name}:uint64_t timestamp;{fields}".encode())
    for index, name in enumerate(FIELDS):
        data += message(b"A", struct.pack("<BH", 0, index) + name.encode())
    for index, rows in enumerate(topics):
        head = [struct.pack("<HQ", index, round(1e6 * each)) for each in t]
        for time, row in zip(head, rows.astype("<f4"), strict=True):
            data += message(b"D", time + row.tobytes())
    path.write_bytes(data)


result = record("figure_eight", duration=5.0 if "--quick" in sys.argv else None)
columns = load_run(result.folder).vehicles[0].columns
write_ulog(Path("flight.ulg"), columns.t, columns.x[:, 0])
print(*Inspection.of(open_log("flight.ulg")).conclusions(), sep="\n")
recorded = read_recorded("flight.ulg")  # what `iap replay flight.ulg` flies
at = recorded.t + recorded.start_ns * 1e-9
path = np.stack([np.interp(at, columns.t, p) for p in columns.x[:, 0, P].T], axis=1)
print(f"{1e3 * np.abs(recorded.p_WP_W - path).max():.3f} mm off at most")
