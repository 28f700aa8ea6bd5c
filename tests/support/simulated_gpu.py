# SPDX-License-Identifier: BSD-3-Clause
"""A few periods of worlds on either device, for tests that compare them."""

import numpy as np

from iap_description.states import Command, Level, Mode
from iap_simulation.parallel.periods import VELOCITY
from iap_simulation.parallel.references import References
from iap_simulation.parallel.worlds import Worlds

PLATFORMS = (
    "three_star",
    "two_line",
    "f450",
    "three_star_fixed",
)  # one for each law, and mixed joints
SETTINGS = {"draw.position": 0.2, "draw.attitude_deg": 5.0, "draw.mass": 0.1, "wind.speed": 2.0}
TOLERANCE = 1e-9  # [m], [rad], ... after a second
WORLDS = 2


def flown(device: str, platform: str) -> dict[str, np.ndarray]:
    """States and rotor speeds of two worlds after each of some periods on different inputs."""
    worlds = Worlds.of("figure_eight", WORLDS, settings=SETTINGS, platform=platform, device=device)
    found = {}

    def note(what: str) -> None:
        found[what] = worlds.state.copy()
        found[f"speeds {what}"] = worlds.rpm.copy()
        found[f"status {what}"] = worlds.status.copy()
        found[f"times {what}"] = worlds.times

    worlds.fly(3)
    note("after fly")
    worlds.advance()
    note("after advance")
    kept = worlds.snapshot()
    rows = worlds.references().rows.copy()
    rows[:, 7] = 0.5
    worlds.advance(References.of(rows, Level.VELOCITY))
    note("after references")
    worlds.fly(2, VELOCITY, np.full((WORLDS, 4), 0.3))
    note("after velocities")
    worlds.restore(kept)
    worlds.reset([1], seeds=[7])
    command = Command.zeros(worlds.rpm.shape[1], Mode.RPM)
    command.rpm[:] = 5000.0
    worlds.command(command)
    worlds.fly(1, held=True)
    note("after a command")
    worlds.advance(References.of(rows, Level.WRENCH, np.full((WORLDS, 6), np.nan)))
    worlds.fly(1)
    note("after no number")
    return found


def save(device: str, path: str) -> None:
    """Write what all platforms come to into a file."""
    arrays = {
        f"{platform}.{name}": array
        for platform in PLATFORMS
        for name, array in flown(device, platform).items()
    }
    np.savez(path, **arrays)
