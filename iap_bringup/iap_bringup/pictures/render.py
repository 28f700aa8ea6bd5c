# SPDX-License-Identifier: BSD-3-Clause
"""``iap render RUN``: a picture of a recorded run in flight, with the path of each platform."""

import io
from pathlib import Path
from typing import Any

import matplotlib.image
import numpy as np

from iap_bringup.pictures.contact_camera import Rod, Size, contact_camera, free_camera
from iap_bringup.pictures.picture import Camera, render_scene
from iap_description.arrays import Array
from iap_description.errors import BadInput
from iap_description.plain_yaml import read_yaml
from iap_description.states import P
from iap_description.vehicles.assembly import Assembly
from iap_description.world.scene_objects import SceneObject, standing
from iap_io.runs.run_folder import CONFIG, RunData, load_run, write_file
from iap_io.runs.run_meta import VehicleMeta
from iap_simulation.scenario.randomization import placed_world
from iap_simulation.scenario.resolving import scenario_of
from iap_simulation.scenario.scenario import Scenario

SIZE = (1280, 720)  # [pixels]
PATH_STEP = 20  # ticks between the drawn points of a path


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
    out.parent.mkdir(parents=True, exist_ok=True)
    write_picture(out, run, scenario, int(np.searchsorted(times, t)), SIZE)


def write_picture(
    out: Path, run: RunData, scenario: Scenario, tick: int, size: Size, of: int = 0
) -> None:
    """Render one instant of a run.

    Args:
        out: the PNG.
        run: the recording.
        scenario: that was flown.
        tick: row of the recording.
        size: width and height [pixels].
        of: which vehicle's tool is looked at, if it has one.
    """
    scene, paths, tilts = [], [], []
    for vehicle, flown in zip(scenario.vehicles, run.vehicles, strict=True):
        states = flown.columns.x
        last = min(tick, len(states) - 1)
        assembly = Assembly.of(vehicle.platform, vehicle.name)
        scene.append((assembly, states[last]))
        tilts.append(flown.columns.tilt[last])
        paths.append(states[: tick + 1 : PATH_STEP, 0, :3])
    objects = standing(placed_world(scenario), float(run.vehicles[0].columns.t[tick]))
    camera, objects = _view(run.vehicles[of].meta, scene, of, objects, size)
    what: dict[str, Any] = {"tilts": tilts, "path_points": paths, "objects": objects}
    picture = render_scene(scene, camera=camera, size=size, **what)
    image = io.BytesIO()
    matplotlib.image.imsave(image, picture)
    write_file(out, image.getvalue())


def _view(
    meta: VehicleMeta,
    scene: list[tuple[Assembly, Array]],
    of: int,
    objects: list[SceneObject],
    size: Size,
) -> tuple[Camera, list[SceneObject]]:
    """The point of view, and the objects with those cut open that the looked-at tool is in."""
    if meta.tool_tip_P is None or meta.tool_axis_P is None or not objects:
        everything = np.vstack([each[:, P] for _, each in scene])
        return free_camera(everything, objects, size), objects
    assembly, rows = scene[of]
    rod = Rod.of(rows[0], meta.tool_tip_P, meta.tool_axis_P)
    camera = contact_camera(assembly, rows, rod, objects, size)
    back = np.array(camera.position) - np.array(camera.target)
    return camera, [each.opened(back) if rod.is_in(each) else each for each in objects]
