# SPDX-License-Identifier: BSD-3-Clause
"""``iap render RUN``: a picture of a recorded run in flight, with the path of each platform."""

from pathlib import Path

import matplotlib.image
import numpy as np

from iap_bringup.drawing.picture import camera_around, render_scene
from iap_bringup.records.runfolder import CONFIG, load_run
from iap_bringup.scenario import scenario_of
from iap_description.assembly import Assembly
from iap_description.config import read_yaml
from iap_description.errors import BadInput
from iap_description.states import P

SIZE = (1280, 720)  # [pixels]


def render_run(folder: Path, out: Path, t: float | None) -> None:
    """Render a run to a PNG.

    Args:
        folder: the run's folder.
        out: the PNG.
        t: simulation time [s]; None is in the middle of the flight.

    Raises:
        BadInput: not a run folder, or `t` is outside the flight.
    """
    run = load_run(folder)
    scenario = scenario_of(read_yaml(folder / CONFIG), str(folder / CONFIG))
    times = run.vehicles[0].columns.t
    t = float(times[len(times) // 2]) if t is None else t
    if not times[0] <= t <= times[-1]:
        raise BadInput(f"--time {t}: the flight lasts from {times[0]:.1f} to {times[-1]:.1f} s")
    tick = int(np.searchsorted(times, t))
    scene, path = [], []
    for vehicle, flown in zip(scenario.vehicles, run.vehicles, strict=True):
        states = flown.columns.x
        scene.append(
            (Assembly.of(vehicle.platform, vehicle.name), states[min(tick, len(states) - 1)])
        )
        path.append(states[: tick + 1 : 20, 0, :3])
    seen = np.vstack([rows[:, P] for _, rows in scene])
    camera = camera_around(seen, azimuth_deg=-35.0, elevation_deg=18.0, size=SIZE)
    picture = render_scene(scene, camera=camera, size=SIZE, path_points=path)
    out.parent.mkdir(parents=True, exist_ok=True)
    matplotlib.image.imsave(out, picture)
