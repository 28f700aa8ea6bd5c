# SPDX-License-Identifier: BSD-3-Clause
"""Commands that start fake firmwares, and what tests of flights by them share."""

import hashlib
import os
import sys
from pathlib import Path

import numpy as np

from iap_simulation.simulation.simulation import Simulation

FAKES = Path(__file__).parents[1] / "iap_physics" / "firmware"
NEVER = 1e9  # [s]
PATIENCE = 30.0  # with a fake on a loaded machine [s of wall time]
_WORKER = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0")[2:])  # each has ports of its own
PX4_PORT, ARDUPILOT_PORT = 4760 + 10 * _WORKER, 9302 + 100 * _WORKER  # of none that may fly here


def deadline(fault):
    """Wall time for an answer [s], short where a fault is that none comes in time."""
    return 0.5 if fault in ("mute", "late") else PATIENCE


def fake_px4(fault="none", seconds=NEVER, port=4560):
    """A firmware as a scenario has it, see `fake_betaflight`."""
    command = [sys.executable, str(FAKES / "fake_px4.py"), fault, str(seconds), "{number}"]
    waits = {"deadline": deadline(fault), "start_within": PATIENCE}
    times = {"boot_time": 0.5, "arming_time": 1.0, **waits}
    return {"name": "px4", "command": command, "port": port, **times}


def fake_ardupilot(fault="none", seconds=NEVER, port=9002):
    """A firmware as a scenario has it, see `fake_betaflight`."""
    sticks = 5501 + port - 9002
    command = [sys.executable, str(FAKES / "fake_ardupilot.py"), fault, str(seconds), "{number}"]
    waits = {"deadline": deadline(fault), "start_within": PATIENCE}
    times = {"boot_time": 0.5, "arming_time": 1.0, **waits}
    ports = {"port": port, "stick_port": sticks}
    return {"name": "ardupilot", "command": [*command, str(port), str(sticks)], **ports, **times}


def fake_betaflight(fault="none", seconds=NEVER):
    """A firmware as a scenario has it; its fault comes at a time of its own clock [s].

    The lockstep library is not for it, since it waits for states by itself.
    """
    program = str(FAKES / "fake_betaflight.py")
    command = ["env", "-u", "LD_PRELOAD", sys.executable, program, fault, str(seconds)]
    return {"name": "betaflight", "command": command, "deadline": deadline(fault)}


def plus_shaped(folder):
    """A platform of an F450 whose rotors stand ahead, behind, to the left and to the right; returns its path."""
    places = ("0.225, 0.0", "-0.225, 0.0", "0.0, 0.225", "0.0, -0.225")
    spins = ("ccw", "ccw", "cw", "cw")
    rotors = "".join(
        f"  - {{position: [{place}, 0.035], spin: {spin}}}\n"
        for place, spin in zip(places, spins, strict=True)
    )
    (folder / "plus.yaml").write_text(f"extends: f450\nname: plus\nrotors:\n{rotors}")
    keys = {
        "name": "plus_alone", "description": "In the shape of a plus.", "aircraft": "plus.yaml",
        "center": "null", "joints": "[]", "tool": "null", "ground_clearance": "0.12",
    }  # fmt: skip
    path = folder / "plus_alone.yaml"
    path.write_text("".join(f"{key}: {value}\n" for key, value in keys.items()))
    return str(path)


def flight(firmware, duration, platform="f450", scenario="hover", **settings):
    """Largest distance from the reference [m], and a hash of all states."""
    chosen = {"firmware": firmware, "engine.name": "closed_form", **settings}
    digest, worst = hashlib.sha256(), 0.0
    options = {"platform": platform, "duration": duration}
    with Simulation.of(scenario, settings=chosen, **options) as simulation:
        while not simulation.is_done:
            simulation.step()
            digest.update(simulation.state.tobytes())
            reference = simulation.loop.vehicles[0].reference(simulation.loop.k).row
            worst = max(worst, float(np.linalg.norm(simulation.state[0, :3] - reference[:3])))
    return worst, digest.hexdigest()
