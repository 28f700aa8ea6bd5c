# SPDX-License-Identifier: BSD-3-Clause
"""Recorded ticks as the loop handed them over, to record them again."""

import numpy as np

from iap_description.signals import ForceMode, ForceTask, Reference, Step, WrenchRecord
from iap_description.states import Command, Level, Mode
from iap_io.runs.columns import Columns, WrenchColumns


def step_of(c: Columns, i: int) -> Step:
    """Row `i` of a vehicle's columns as the step that it was recorded from."""
    level, aircraft = Level(c.level[i]), c.aircraft[i]
    command = Command(
        Mode(c.mode[i]),
        c.wrench_P[i],
        aircraft[:, 0],
        aircraft[:, 1:5],
        aircraft[:, 5:8],
        aircraft[:, 8:],
    )
    return Step(
        int(c.k[i]),
        float(c.t[i]),
        c.x[i],
        Reference(c.reference[i], level, c.reference_wrench_P[i]),
        command,
        c.rpm[i],
        None if c.wrench_record is None else _wrench_record(c.wrench_record, i, level),
        None if c.believed is None else c.believed[i],
    )


def _wrench_record(c: WrenchColumns, i: int, level: Level) -> WrenchRecord:
    raw, filtered, estimated, desired = c.wrenches[i]
    pose, wrench = c.integrals[i]
    task = ForceTask(
        ForceMode(c.mode[i]), c.measured[i], desired, c.axes[i].astype(np.bool_), pose, wrench
    )
    return WrenchRecord(raw, filtered, estimated, Reference(c.tracked[i], level), task)
