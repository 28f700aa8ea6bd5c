# SPDX-License-Identifier: BSD-3-Clause
"""A few periods of worlds on either device, for tests that compare them."""

import numpy as np

from iap_description.math.lanes import DOUBLE, Precision
from iap_description.states import Command, Level, Mode
from iap_simulation.batch.batch_loop import VELOCITY
from iap_simulation.batch.references import References
from iap_simulation.batch.worlds import Worlds

PLATFORMS = (
    "three_star",
    "two_line",
    "f450",
    "three_star_fixed",
)  # one for each law, and mixed joints
CASES = (*((platform, DOUBLE) for platform in PLATFORMS), ("f450", "float32"))
SETTINGS = {
    "draw.position": 0.2,
    "draw.attitude_deg": 5.0,
    "draw.mass": 0.1,
    "wind.speed": 2.0,
    "wind.turbulence": 8.0,
}
TOLERANCE = {  # [m], [rad], ... after a second
    DOUBLE: {"rtol": 0.0, "atol": 1e-9},
    "float32": {"rtol": 1e-5, "atol": 1e-5},
}
WORLDS = 2


def flown(device: str, platform: str, precision: Precision) -> dict[str, np.ndarray]:
    """States and rotor speeds of two worlds after each of some periods on different inputs."""
    options = {"platform": platform, "device": device, "precision": precision}
    worlds = Worlds.of("figure_eight", WORLDS, settings=SETTINGS, **options)
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
        f"{platform}.{precision}.{name}": array
        for platform, precision in CASES
        for name, array in flown(device, platform, precision).items()
    }
    np.savez(path, **arrays)
