# SPDX-License-Identifier: BSD-3-Clause
"""Made-up recordings of flights that felt something, for the tests of their pictures."""

import numpy as np
from made_up_flights import DT, vehicle_meta

from iap_io.runs.columns import Columns
from iap_io.runs.run_folder import RunData, VehicleRun
from iap_io.runs.run_meta import RunMeta
from iap_simulation.metrics.contact import DESIRED, ESTIMATED, FILTERED, RAW

TICKS = 2000  # 10 s
TOUCHES_AT = 4.0  # [s]


def felt_run(wrench_P=(5.0, 0.0, 0.0, 0.0, -2.0, 0.0)) -> tuple[RunData, Columns]:
    """A three-star that stands still at the origin and feels a wrench from 4 s on."""
    update = {"feels": True, "tool_tip_P": (-1.0, 0.0, 0.0), "tool_axis_P": (-1.0, 0.0, 0.0)}
    meta = vehicle_meta("three_star", stop=TICKS * DT).model_copy(update=update)
    c = Columns.zeros(TICKS, meta)
    c.t[:] = np.arange(TICKS) * DT
    c.x[..., 6] = c.reference[:, 6] = c.wrench_record.tracked[:, 6] = 1.0
    touches = c.t >= TOUCHES_AT
    for source in (RAW, FILTERED, ESTIMATED):
        c.wrench_record.wrenches[touches, source] = wrench_P
    rates = {"physics_hz": 1000.0, "control_hz": 1.0 / DT}
    judged = {"after_contact": 1.0, "steady": 2.0}
    run = RunMeta(scenario="made_up", seed=1, vehicles=(meta,), **rates, **judged)
    return RunData(run, (VehicleRun(meta, c),)), c


def push(c: Columns, mode: int, axes, since: float, **desired: float) -> None:
    """Wrench control from a time on [s]; desired values by number of the axis, as `axis_0`."""
    on = c.t >= since
    c.wrench_record.mode[on], c.wrench_record.axes[on] = mode, axes
    for name, value in desired.items():
        c.wrench_record.wrenches[on, DESIRED, int(name.removeprefix("axis_"))] = value
