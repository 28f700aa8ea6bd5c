# SPDX-License-Identifier: BSD-3-Clause
"""A scenario's key `docking`: which latch, when it has succeeded, and how the script flies."""

from iap_control.docking.settings import ScriptSettings
from iap_description.config.record import Positive, Record


class Success(Record):
    """Conditions on which a docking has succeeded."""

    peak_force: Positive  # largest on a vehicle, mean over a control period [N]
    hover: Positive  # coupled flight after the probe is caught [s]
    end_speed: Positive  # of both vehicles at its end, at most [m/s]
    end_tilt_deg: Positive  # of both vehicles at its end, at most
    within: Positive  # from the start [s]


class DockingSpec(Record):
    """A docking and the conditions of its success."""

    latch: str
    success: Success
    script: ScriptSettings
