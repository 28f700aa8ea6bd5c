# SPDX-License-Identifier: BSD-3-Clause
"""Compiles every kernel once, so that no run waits for it: short flights, also with sensors and on estimates.

The set-up calls ``python -m iap_bringup.cli.warm_up``; numba keeps what was compiled, in ``NUMBA_CACHE_DIR`` under
``./iap``.
"""

import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from iap_description.bounds import first_odd
from iap_description.errors import BadInput
from iap_learning.episodic import make_episodes
from iap_learning.tasks.task import TASKS
from iap_sensors.cameras.make import make_renderer
from iap_simulation.parallel.worlds import Worlds
from iap_simulation.run import record

PLATFORMS = ("three_star", "two_line", "f450")  # one for each control law
WEATHER = ("wind.speed=1.0", "wind.turbulence=1.0", "state_noise.position=0.001")
PUSH = "disturbances=[{at: 0.0, until: 1.0, force: [1.0, 0.0, 0.0], torque: [0.0, 0.0, 0.0]}]"
CAMERAS = tuple(
    f"sensors.cameras.{name}.{key}"
    for name in ("left", "right")
    for key in ("noise=1.0", "vignetting=0.1", "distortion=[-0.1, 0.01, 0.0, 0.0, 0.0]")
)


def main() -> None:
    """Fly for a fifth of a second each time and throw the recordings away."""
    with tempfile.TemporaryDirectory() as folder:
        for engine in ("closed_form", "pybullet"):
            for platform in PLATFORMS:
                given = (f"engine.name={engine}", *WEATHER)
                out = Path(folder) / f"{engine}-{platform}"
                record("hover", folder=out, platform=platform, duration=0.2, assignments=given)
        undisturbed = ("engine.name=closed_form",)
        record("hover", folder=Path(folder) / "steady", duration=0.2, assignments=undisturbed)
        for sampling in ("integrating", "instantaneous"):
            record("hover", folder=Path(folder) / sampling, **_sensing(sampling))
        if _can_draw():
            for method in ("joint", "virpo", "drift_filter"):
                record("figure_eight", folder=Path(folder) / method, **_estimating(method))
        _check_message()
        for platform in PLATFORMS:
            worlds = Worlds.of("hover", 2, platform=platform)
            for _ in range(2):
                worlds.advance()
            worlds.fly(1)
        for task in TASKS.names():
            make_episodes(task, 2).step(None)


def _can_draw() -> bool:
    try:
        make_renderer("opengl").close()
    except BadInput:  # a run with cameras will say so itself
        return False
    return True


def _sensing(sampling: str) -> dict[str, Any]:
    """All sensors that compile something; cameras where this machine can draw."""
    given = (f"sensors.imu.sampling={sampling}", "control.observer=acceleration", PUSH)
    if not _can_draw():
        return {"sensors": "imu,uwb", "duration": 0.2, "assignments": given}
    return {"sensors": "stereo", "duration": 0.2, "assignments": (*given, *CAMERAS)}


def _estimating(method: str) -> dict[str, Any]:
    """A flight on an estimate, long and fast enough for its window to move."""
    slow = tuple(f"sensors.cameras.{name}.rate=10.0" for name in ("left", "right"))
    given = ("recording.euroc=false", "start.lead_in=1.0", *slow)
    source = {"sensors": "stereo", "state_source": method}
    return {**source, "duration": 2.0, "assignments": given}


def _check_message() -> None:
    """Look at the numbers of a message as nodes do."""
    first_odd(np.array([0.0, 0.0, 0.0, 1.0]), np.arange(4), np.array([0]))


if __name__ == "__main__":
    main()
