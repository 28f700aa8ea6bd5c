# SPDX-License-Identifier: BSD-3-Clause
r"""Drag per mass along the body's x and y, by the accelerometer: f_i = -d_i v_i + c_i.

The constant c takes a tilted accelerometer, and a wind from one side. Thrust along z is none of it.
"""

from typing import NamedTuple

import numpy as np

from iap_description.arrays import Array
from iap_description.math import so3
from iap_simulation.identification.rotorcraft.estimate import Parameter, estimate, regression
from iap_simulation.identification.rotorcraft.flight_table import FlightTable

LEAST_SPEED = 2.0  # at which drag shows [m/s]
WIDEST = 1.0  # half-width relative to the value beyond which it is not determined
DRAG_RESOLUTION = 0.02  # least half-width: an accelerometer that tilts by a degree at 8 m/s [1/s]


class DragFit(NamedTuple):
    """Drag of a vehicle.

    Attributes:
        coefficients: (2,) d [1/s]; zero where noise hides it.
        constants: (2,) c [m/s^2].
        estimates: by name.
        refusals: why one is not determined, by its name.
    """

    coefficients: Array
    constants: Array
    estimates: dict[str, Parameter]
    refusals: dict[str, str]


def drag(table: FlightTable) -> DragFit:
    """Fit a flight."""
    names = ("drag x", "drag y")
    if table.v is None or table.f is None:
        what = "no velocity" if table.v is None else "no accelerometer"
        return DragFit(np.zeros(2), np.zeros(2), {}, dict.fromkeys(names, what))
    v_B = so3.rotate(so3.conjugate(table.q), table.v)
    values, constants = np.zeros(2), np.zeros(2)
    estimates, refusals = {}, {}
    for i, name in enumerate(names):
        fit = regression(np.column_stack([-v_B[:, i], np.ones(len(v_B))]), table.f[:, i], table.dt)
        width = fit.half_width(np.array([1.0, 0.0]))
        values[i] = fit.values[0] if width < abs(fit.values[0]) else 0.0
        constants[i] = float(np.mean(table.f[:, i] + values[i] * v_B[:, i]))
        fastest = float(np.abs(v_B[:, i]).max())
        if fastest < LEAST_SPEED:
            refusals[name] = f"at most {fastest:.1f} m/s that way, {LEAST_SPEED:g} m/s are needed"
        elif fit.values[0] < -DRAG_RESOLUTION:
            refusals[name] = (
                f"{fit.values[0]:.2f} 1/s, which is none: wind, or an accelerometer that drifts"
            )
        elif width > max(WIDEST * abs(fit.values[0]), DRAG_RESOLUTION):
            refusals[name] = f"{fit.values[0]:.2f} +- {width:.2f} 1/s: wind and vibration hide it"
        else:
            estimates[name] = estimate(
                max(fit.values[0], 0.0),
                max(width, DRAG_RESOLUTION),
                "1/s",
                "accelerometer, least squares",
            )
    return DragFit(values, constants, estimates, refusals)
