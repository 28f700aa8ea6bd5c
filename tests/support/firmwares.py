# SPDX-License-Identifier: BSD-3-Clause
"""Commands that start fake firmwares, and what tests of flights by them share."""

import sys
from pathlib import Path

FAKES = Path(__file__).parents[1] / "iap_physics" / "firmware"
NEVER = 1e9  # [s]


def fake_betaflight(fault="none", seconds=NEVER):
    """A firmware as a scenario has it; its fault comes at a time of its own clock [s].

    The lockstep library is not for it, since it waits for states by itself.
    """
    program = str(FAKES / "fake_betaflight.py")
    command = ["env", "-u", "LD_PRELOAD", sys.executable, program, fault, str(seconds)]
    return {"name": "betaflight", "command": command, "deadline": 0.5}
