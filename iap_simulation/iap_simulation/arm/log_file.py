# SPDX-License-Identifier: BSD-3-Clause
"""The log of an arm's flight, ``flight.csv`` in its run folder: a header, then one row for every step of the plant.

Columns are named as `iap identify` reads them: t, the commands NAME_ref, the velocities NAME, the joints q1 to q3;
behind them the poses of platform and end effector.
"""

from pathlib import Path

import numpy as np

from iap_description.arrays import Array
from iap_description.config.text_files import read_text
from iap_description.errors import BadInput
from iap_io.runs.run_folder import write_file
from iap_physics.identified.dynamics import CHANNELS, JOINTS
from iap_simulation.arm.flight import ArmFlightLog, empty

FLIGHT_LOG = "flight.csv"
JOINT_NAMES = tuple(f"q{i + 1}" for i in range(JOINTS))
POSE = ("x", "y", "z", "yaw")
TIP, WANTED = (
    tuple(f"{name}_{axis}" for axis in ("x", "y", "z", "heading")) for name in ("tip", "tip_d")
)
COLUMNS = ("t", *(f"{name}_ref" for name in CHANNELS), *CHANNELS, *JOINT_NAMES, *POSE)
COLUMNS += (*TIP, *WANTED)


def write_flight_log(folder: Path, log: ArmFlightLog) -> Path:
    """Write the log of a flight; returns its path.

    Raises:
        RecordingFailed: the disk is full or cannot be written.
    """
    parts = (log.t, log.command, log.v, log.q, log.pose, log.r, log.r_d)
    table = np.column_stack(parts)
    lines = [",".join(COLUMNS), *(",".join(map(repr, row)) for row in table.tolist())]
    write_file(folder / FLIGHT_LOG, ("\n".join(lines) + "\n").encode())
    return folder / FLIGHT_LOG


def read_flight_log(path: Path) -> ArmFlightLog:
    """A flight as it was written.

    Raises:
        BadInput: not such a file.
    """
    header, columns = read_csv(path)
    if header != list(COLUMNS):
        raise BadInput(f"{path}: the columns are not those of a flight")
    log, at = empty(len(columns)), 1
    log.t[:] = columns[:, 0]
    for part in (log.command, log.v, log.q, log.pose, log.r, log.r_d):
        part[:] = columns[:, at : at + part.shape[1]]
        at += part.shape[1]
    return log


def read_csv(path: Path) -> tuple[list[str], Array]:
    """Header and numbers (K, columns) of a file of comma-separated values.

    Raises:
        BadInput: it has no rows, or a row with something else than its columns' numbers, named by its line.
    """
    lines = read_text(path).splitlines()
    header = [name.strip() for name in lines[0].split(",")] if lines else []
    rows = []
    for number, line in enumerate(lines[1:], 2):
        try:
            row = [float(cell) for cell in line.split(",")]
        except ValueError as error:
            raise BadInput(f"{path}: line {number}: {error}") from error
        if len(row) != len(header):
            raise BadInput(f"{path}: line {number}: {len(header)} numbers are expected")
        rows.append(row)
    if not rows:
        raise BadInput(f"{path}: a header and rows of numbers are expected")
    return header, np.array(rows)
