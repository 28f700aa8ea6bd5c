# SPDX-License-Identifier: BSD-3-Clause
"""A few periods of worlds on either device, for tests that compare them."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np

from iap_description.math.lanes import DOUBLE, Precision
from iap_description.states import Command, Level, Mode
from iap_simulation.batch.records import VELOCITY
from iap_simulation.batch.references import References
from iap_simulation.batch.worlds import Worlds

PLATFORMS = (
    "three_star",
    "two_line",
    "f450",
    "three_star_fixed",
)  # one for each law, and mixed joints
SIMULATOR = {"NUMBA_ENABLE_CUDASIM": "1", "NUMBA_DISABLE_JIT": "1"}
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


def environment() -> dict[str, str]:
    """This process's variables and paths, with numba's simulator of a GPU."""
    return {**os.environ, **SIMULATOR, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}


def simulated(
    path: Path, platforms: tuple[str, ...], precision: Precision
) -> dict[str, np.ndarray]:
    """Arrays of `flown` on a simulated GPU as ``PLATFORM.NAME``, from a process whose variables count for all of numba.

    Args:
        path: of a file for the arrays.
        platforms: to fly.
        precision: of the worlds.
    """
    code = f"import simulated_gpu; simulated_gpu.save({str(path)!r}, {platforms!r}, {precision!r})"
    done = subprocess.run(
        [sys.executable, "-P", "-W", "ignore", "-c", code],
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    with np.load(path) as arrays:
        return dict(arrays)


def save(path: str, platforms: tuple[str, ...], precision: Precision) -> None:
    """Write what platforms come to on a GPU into a file."""
    arrays = {
        f"{platform}.{name}": array
        for platform in platforms
        for name, array in flown("cuda", platform, precision).items()
    }
    np.savez(path, **arrays)


def check(simulated: dict[str, np.ndarray], platform: str, precision: Precision) -> None:
    """Compare a platform's worlds on a simulated GPU with those of the processor."""
    expected = flown("cpu", platform, precision)
    assert len(expected) > 5
    for name, array in expected.items():
        got = simulated[f"{platform}.{name}"]
        np.testing.assert_allclose(got, array, **TOLERANCE[precision], err_msg=name)
    assert np.abs(expected["after advance"][:, 0, :3] - expected["after fly"][:, 0, :3]).max() > 0
