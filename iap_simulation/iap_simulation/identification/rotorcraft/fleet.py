# SPDX-License-Identifier: BSD-3-Clause
r"""Aircraft on joints of one platform, identified from a recording of each of them.

A spherical joint at an aircraft's CoM passes forces and no torques, so that each turns by its own rotors alone and is
fitted as one that flies by itself [iap_simulator eq. (4)]. Their thrusts carry one mass M together: with R_i, s_i and
f_i attitude, share of the full thrust and specific force of aircraft i,

.. math:: \frac{1}{N} \sum_i R_i f_i = \sum_i \kappa_i\, s_i\, R_i e_3 + \ddot R_P r_0 ,

where kappa_i is the full thrust of one aircraft per M. The mean of the aircraft is beside the
platform's CoM by r_0, which is found together with the thrusts. R_P is the platform's attitude, by the places of its
aircraft [Kabsch, Acta Cryst. A32, 1976].
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from iap_description.arrays import Array
from iap_description.errors import BadInput
from iap_description.math import so3
from iap_io.flight_logs.flight_log import FlightLog
from iap_simulation.identification.least_squares import NORMAL_95
from iap_simulation.identification.rotorcraft.estimate import Parameter, block_scatter, estimate
from iap_simulation.identification.rotorcraft.flight_table import FlightTable, flight_table
from iap_simulation.identification.rotorcraft.rotation import AXES, rotation

FULL = "full thrust per mass"  # of all aircraft per the platform's mass
SINGLE = "the centre of mass hides how the thrust is shared"


@dataclass(frozen=True)
class FleetModel:
    """A platform of aircraft on joints.

    Attributes:
        parameters: by name; those of one aircraft begin with its body's name.
        refusals: why a parameter is not determined, by its name.
        mean: of one aircraft, means of all: roll, pitch and yaw where all have them.
    """

    parameters: dict[str, Parameter]
    refusals: dict[str, str]
    mean: dict[str, Parameter]


def identify_fleet(logs: Sequence[FlightLog]) -> FleetModel:
    """Rotation of each aircraft of a platform, and the thrust of all.

    Args:
        logs: one of each aircraft, of one flight and by one clock.

    Raises:
        BadInput: one of them lacks its motors, accelerometer or position, or flies at another time.
    """
    tables = _together([flight_table(log) for log in logs], logs)
    parameters, refusals = {FULL: _thrust(tables)}, {"thrust of one aircraft": SINGLE}
    turns = [rotation(table, np.square) for table in tables]
    for log, turning in zip(logs, turns, strict=True):
        body = log.vehicle.rpartition(" ")[2]
        parameters |= {f"{body} {name}": each for name, each in turning.estimates.items()}
        refusals |= {f"{body} {name}": why for name, why in turning.refusals.items()}
    mean = {}
    for axis in AXES:
        estimates = [each.estimates[axis] for each in turns if axis in each.estimates]
        if len(estimates) == len(turns):
            value, half = np.mean([(each.value, each.half_width) for each in estimates], axis=0)
            mean[axis] = estimates[0]._replace(value=float(value), half_width=float(half))
    return FleetModel(parameters, refusals, mean)


def _together(tables: Sequence[FlightTable], logs: Sequence[FlightLog]) -> list[FlightTable]:
    """The tables on the rows that all have.

    Raises:
        BadInput: their times are not alike, or a signal is missing.
    """
    begin, end = max(each.t[0] for each in tables), min(each.t[-1] for each in tables)
    if begin > end:
        raise BadInput(f"{logs[0].path}: its aircraft are in the air at different times")
    cut = []
    for table, log in zip(tables, logs, strict=True):
        signals = (table.motors, table.f, table.p)
        if any(each is None for each in signals) or not table.has_measured_speeds:
            raise BadInput(
                f"{log.path}, {log.vehicle}: rotor speeds, an accelerometer and a position are expected"
            )
        rows = np.flatnonzero((table.t >= begin - 1e-6) & (table.t <= end + 1e-6))
        cut.append(table.rows(slice(int(rows[0]), int(rows[-1]) + 1)))
    if len({len(each.t) for each in cut}) > 1:
        raise BadInput(f"{logs[0].path}: its aircraft are recorded at other rates")
    return cut


def _thrust(tables: Sequence[FlightTable]) -> Parameter:
    """Full thrust of all aircraft per mass of the platform."""
    dt, edge = tables[0].dt, round(1.0 / tables[0].dt)
    columns, forces = [], []
    for table in tables:
        assert table.motors is not None and table.f is not None  # noqa: S101 - `_together` has looked
        share = np.square(table.motors).mean(axis=1)
        up = so3.matrix_from_quaternion(table.q)[:, :, 2]
        columns.append(table.smoothed(share[:, None] * up))
        forces.append(so3.rotate(table.q, table.f))
    count = len(columns)
    places = [each.p for each in tables if each.p is not None]
    R = _attitudes(np.stack(places, axis=1))
    turning = np.gradient(np.gradient(R, dt, axis=0), dt, axis=0)
    columns += [tables[0].smoothed(turning[:, :, axis]) for axis in range(3)]
    A = np.stack(columns, axis=2)[edge:-edge]
    y = np.mean(forces, axis=0)[edge:-edge]
    H = np.linalg.pinv(np.einsum("kij,kil->jl", A, A))
    values = H @ np.einsum("kij,ki->j", A, y)
    scores = np.einsum("kij,ki->kj", A, y - A @ values)
    total = np.arange(len(values)) < count  # gradient of the sum
    variance = float(total @ H @ block_scatter(scores, dt) @ H @ total)
    half = NORMAL_95 * np.sqrt(max(variance, 0.0))
    return estimate(float(values @ total), half, "m/s^2", "forces of all aircraft")


def _attitudes(p: Array) -> Array:
    """Attitudes (K, 3, 3) of a rigid body by the places (K, N, 3) of N points on it, against the first row."""
    off = p - p.mean(axis=1, keepdims=True)
    U, _, Vt = np.linalg.svd(np.einsum("kni,nj->kij", off, off[0]))
    U[:, :, 2] *= np.linalg.det(U @ Vt)[:, None]
    return np.asarray(U @ Vt)
