# SPDX-License-Identifier: BSD-3-Clause
"""Made-up curves of a flight, and what stands in the panels of a figure."""

from dataclasses import replace

import numpy as np
from made_up_flights import DT, vehicle_meta
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

from iap_bringup.plots.contact_curves import ContactCurves
from iap_bringup.plots.flight_curves import flight_curves
from iap_description.math import so3
from iap_description.signals import ForceMode
from iap_description.states import P
from iap_description.vehicles.faults import SensorFault
from iap_io.runs.columns import Columns
from iap_io.runs.run_folder import VehicleRun
from iap_io.runs.run_meta import RunMeta, Track

TICKS, WINDOW = 200, (0.2, 0.8)


REAL_EVERY, OFF_BY = 10, np.array([0.02, -0.03, 0.04])  # of the real aircraft from its command [m]


TURN = np.deg2rad([4.0, -3.0, 170.0])


FAULTS = (
    SensorFault.model_validate({"at": 0.3, "for": 0.3, "sensor": "imu", "output": "silent"}),
)


def flight(platform="f450", **changes):
    """Curves of a flight with other numbers in every column, its reference, and the real aircraft's flight."""
    meta = vehicle_meta(platform).model_copy(update={"window_s": WINDOW, **changes})
    c, rng = Columns.zeros(TICKS, meta), np.random.default_rng(3)
    c.t[:] = DT * np.arange(TICKS)
    c.x[:, :, P] = np.cumsum(0.01 * rng.normal(size=(TICKS, len(meta.bodies), 3)), axis=0)
    c.reference[:, :3] = c.x[:, 0, P] + 0.005 * rng.normal(size=(TICKS, 3))
    angles = TURN + 0.01 * rng.normal(size=(TICKS, 3))
    c.x[..., 3:7] = so3.quaternion_from_matrix(so3.matrix_from_euler(angles))[:, None]
    c.reference[:, 3:7] = so3.quaternion_from_matrix(so3.matrix_from_euler(angles - 0.005))
    c.rpm[:] = 3000.0 + 100.0 * rng.normal(size=c.rpm.shape)
    rows = slice(None, None, REAL_EVERY)
    actual = c.reference[rows, :7].copy()
    actual[:, :3] += OFF_BY
    given = Track(c.t[rows], c.reference[rows, :7])
    run = RunMeta(
        scenario="made_up", seed=1, physics_hz=1000.0, control_hz=1.0 / DT, vehicles=(meta,)
    )
    vehicle = VehicleRun(meta, c, commanded=given, actual=Track(c.t[rows], actual))
    return flight_curves(run, vehicle)


def figure_of(draw, *content):
    figure = Figure()
    draw(figure, *content)
    return figure


def series(axes, style):
    """The lines of a panel in a colour, without those that only stand in its legend."""
    color = to_hex(style["color"] if isinstance(style, dict) else style)
    return [
        each
        for each in axes.lines
        if to_hex(each.get_color()) == color and len(each.get_xdata()) > 2
    ]


def assert_draws(axes, style, t, values):
    """One line of that colour holds these numbers."""
    (line,) = series(axes, style)
    np.testing.assert_array_equal(line.get_xdata(), t)
    np.testing.assert_allclose(line.get_ydata(), values, atol=1e-12)


def marks(axes):
    """Times of upright lines within a panel."""
    return [
        each.get_xdata()[0]
        for each in axes.lines
        if len(each.get_xdata()) == 2 and each.get_xdata()[0] == each.get_xdata()[1]
    ]


def levels(axes):
    """Values of level lines across a panel."""
    return [
        each.get_ydata()[0]
        for each in axes.lines
        if len(each.get_ydata()) == 2 and each.get_ydata()[0] == each.get_ydata()[1]
    ]


def greys(axes):
    """Begins and ends of greyed times."""
    return [(each.get_x(), each.get_x() + each.get_width()) for each in axes.patches]


def contact(**changes):
    """Curves of contact with other numbers everywhere."""
    rng, t = np.random.default_rng(2), np.linspace(0.0, 10.0, 101)
    wrenches = rng.normal(size=(6, 101, 6))
    made = ContactCurves(
        t=t, start=1.0, first=2.0, raw=wrenches[0], filtered=wrenches[1], estimated=wrenches[2],
        measured=None, desired=wrenches[3], mode=ForceMode.PAPER, is_on=t > 2.0, by_wrench=np.zeros(6, bool),
        judged=(t > 4.0) & (t < 9.0), deviation=0.1 * wrenches[4], yielded=None, frame="P", steady_s=2.0,
        integrals=rng.normal(size=(101, 2, 6)),
    )  # fmt: skip
    return replace(made, **changes)
