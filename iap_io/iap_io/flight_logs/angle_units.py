# SPDX-License-Identifier: BSD-3-Clause
r"""Unit of the angles in a log's tables, by its rates.

In one unit alone :math:`\log(R_k^T R_{k+1}) \approx \omega \Delta t`. Where rates have the wrong one, angles that fit
them would put the vehicle on its head.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from iap_description.arrays import Array
from iap_description.math import so3
from iap_io.flight_logs import flight_log as names
from iap_io.flight_logs.flight_log import Signal
from iap_io.flight_logs.frame_checks import FEWEST, means
from iap_io.flight_logs.log_tables import LogField, Tables, signals_of

DEGREE = float(np.pi / 180.0)
UNITS: Mapping[str, float] = {  # of angles, in rad
    "deg": DEGREE,
    "rad": 1.0,
    "hundredths of a degree": 0.01 * DEGREE,
    "tenths of a degree": 0.1 * DEGREE,
}
OFF, FITS = (
    0.6,
    0.3,
)  # share of the rates that a wrong unit leaves at least, and the right one at most
LARGE_STEP = 1.0  # turn between two samples that is none of a vehicle [rad]
UPRIGHT = 0.5  # least cosine of the usual tilt


def in_the_unit_of_angles(
    tables: Tables, fields: Sequence[LogField], angles: Sequence[str], unit: float
) -> tuple[dict[str, Signal], list[str]]:
    """The signals of a log and notes, its angles in the unit that fits its rates.

    Args:
        tables: of the log.
        fields: of its signals.
        angles: tables whose attitudes are angles.
        unit: in which these are by rights [rad].
    """
    signals, notes = signals_of(tables, fields)
    if _rest(signals) < OFF:
        return signals, notes
    for name, other in UNITS.items():
        scaled = [
            each._replace(scale=each.scale * other / unit)
            if each.table in angles and names.UNITS[each.signal] == names.UNITS[names.ATTITUDE]
            else each
            for each in fields
        ]
        found, more = signals_of(tables, scaled)
        if other != unit and _rest(found) < FITS and _is_upright(found[names.ATTITUDE].values):
            note = f"attitude: its angles are in {name}, as the rates say, and were read so"
            return found, [*more, note]
    return signals, notes


def _rest(signals: Mapping[str, Signal]) -> float:
    """Share of the rates that the attitude's turning leaves; 0 where nothing can be compared."""
    attitude = signals.get(names.ATTITUDE)
    rates = signals.get(names.GYROSCOPE, signals.get(names.RATES))
    if attitude is None or rates is None or len(attitude.t) < FEWEST:
        return 0.0
    R = so3.matrix_from_quaternion(so3.normalized(attitude.values))
    dt = np.diff(attitude.t)[:, None]
    turned = so3.log(np.swapaxes(R[:-1], 1, 2) @ R[1:])
    steady = np.linalg.norm(turned, axis=1) < LARGE_STEP
    measured = means(rates, attitude.t)
    off = np.where(steady[:, None], turned / dt - measured, measured)
    return float(np.sum(off**2) / max(float(np.sum(measured**2)), 1e-12))


def _is_upright(q: Array) -> bool:
    """True if attitudes (K, 4) usually stand upright."""
    return float(np.median(so3.matrix_from_quaternion(so3.normalized(q))[:, 2, 2])) > UPRIGHT
