# SPDX-License-Identifier: BSD-3-Clause
"""What flights of joined modules must reach: limits that only a decision changes, and never a measurement."""

import pytest
from module_rows import limits

LIMITS = {  # least ones are negative
    "hover, n = 1: error over published, worst axis": 1.0,
    "hover, n = 2: error over published, worst axis": 1.0,
    "hover, n = 4: error over published, worst axis": 0.75,
    "hover, n = 8: error over published, worst axis": 1.0,
    "hover, n = 8 over n = 1, worst axis": 3.0,
    "hover: mean force in a joint, N": 0.1,
    "hover: mean torque in a joint, N m": 0.05,
    "no compensation, n = 2: growth of the force, N": -0.1,
    "no compensation, n = 4: growth of the force, N": -0.1,
    "no compensation, n = 8: growth of the force, N": -0.1,
    "release: first second, mm": 5.0,
    "release: first second, mrad": 5.0,
    "release: without compensation over with it": -3.0,
    "assembly: position, worst axis, mm": 3.0,
    "assembly: angle, worst axis, mrad": 2.0,
    "assembly: partings, first second, mm": 5.0,
    "assembly: partings, first second, mrad": 3.0,
    "mean force in a joint, N": 0.03,
    "mean torque in a joint, N m": 0.01,
    "at an instant, n = 4, RMS, N": 0.3,
    "at an instant, n = 4, RMS, N m": 0.15,
    "hover, n = 1, white noise: error over published, worst axis": 1.0,
    "hover, n = 4, white noise: error over published, worst axis": 0.75,
    "assembly, white noise: position, worst axis, mm": 3.0,
    "assembly, white noise: angle, worst axis, mrad": 2.0,
    "assembly, white noise: partings, first second, mm": 8.0,
    "assembly, white noise: partings, first second, mrad": 5.0,
    "mean force in a joint, white noise, N": 0.03,
    "mean torque in a joint, white noise, N m": 0.01,
    "at an instant, white noise, n = 4, RMS, N": 0.3,
    "at an instant, white noise, n = 4, RMS, N m": 0.15,
    "lemniscate, n = 1: angle over published, worst axis": 1 / 3,
    "lemniscate, n = 1: position, worst axis, mm": 5.0,
    "lemniscate, n = 2: angle over published, worst axis": 1 / 3,
    "lemniscate, n = 2: position, worst axis, mm": 5.0,
    "lemniscate, n = 3: angle over published, worst axis": 1 / 3,
    "lemniscate, n = 3: position, worst axis, mm": 5.0,
    "lemniscate, n = 3, wind 2 m/s: position, worst axis, mm": 5.0,
    "assembly: error over published, worst axis": 0.5,
    "assembly: force 3 s after a catch, N": 0.2,
    "dockings in gusts, done": -20,
    "signs as printed: position, worst axis, mm (inf: ended)": -100.0,
    "wanted 5 N in a joint: off by, N": 0.2,
    "wanted 1 N m in a joint: off by, N m": 0.05,
    "square of four: mean force in a joint, N": 0.2,
    "square of four: hover error over published of four, worst axis": 1.0,
    "square of four: position over that of a chain, worst axis": 1.5,
    "square of four: angle over that of a chain, worst axis": 1.5,
}  # fmt: skip


def test_limits_of_modules_are_those_that_were_set():
    assert limits() == pytest.approx(LIMITS)
