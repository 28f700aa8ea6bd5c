# SPDX-License-Identifier: BSD-3-Clause
"""``iap render RUN``: a picture of a recorded run in flight, with the path of each platform."""

import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import matplotlib.image
import numpy as np
from numpy.typing import NDArray

from iap_bringup.pictures.arms import carried, touched, with_arm
from iap_bringup.pictures.contact_camera import Rod, Size, contact_camera, free_camera
from iap_bringup.pictures.picture import Viewpoint, render_scene
from iap_description.arrays import Array
from iap_description.config.plain_yaml import read_yaml
from iap_description.errors import BadInput
from iap_description.math import so3
from iap_description.states import P, Q
from iap_description.vehicles.assembly import Assembly
from iap_description.world.scene_objects import SceneObject, standing
from iap_io.runs.run_folder import CONFIG, RunData, load_run, write_file
from iap_io.runs.vehicle_meta import VehicleMeta
from iap_simulation.scenario.randomization import placed_world
from iap_simulation.scenario.resolving import scenario_of
from iap_simulation.scenario.scenario import Scenario

SIZE = (1280, 720)  # [pixels]
IN_SHEET, GAP = (
    (520, 400),
    6,
)  # of one picture of several beside each other, and between them [pixels]
PATH_STEP = 20  # ticks between the drawn points of a path
Picture = NDArray[np.uint8]


def render_run(folder: Path, out: Path, times: Sequence[float]) -> None:
    """Render a run to a PNG.

    Args:
        folder: the run's folder.
        out: the PNG.
        times: simulation times [s], whose pictures stand beside each other; none: the middle of the flight.

    Raises:
        BadInput: not a run folder, or a time is outside the flight.
    """
    run = load_run(folder)
    scenario = scenario_of(read_yaml(folder / CONFIG), str(folder / CONFIG))
    t = run.vehicles[0].columns.t
    for each in times:
        if not t[0] <= each <= t[-1]:
            raise BadInput(f"--time {each}: the flight lasts from {t[0]:.1f} to {t[-1]:.1f} s")
    ticks = [int(np.searchsorted(t, each)) for each in times or [t[len(t) // 2]]]
    out.parent.mkdir(parents=True, exist_ok=True)
    _write(out, _pictures(run, scenario, ticks, SIZE if len(ticks) == 1 else IN_SHEET))


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
    _write(out, _pictures(run, scenario, [tick], size, of))


def _write(out: Path, pictures: Sequence[Picture]) -> None:
    gap = np.full((len(pictures[0]), GAP, 3), 255, np.uint8)
    sheet = [part for picture in pictures for part in (gap, picture)][1:]
    image = io.BytesIO()
    matplotlib.image.imsave(image, np.hstack(sheet))
    write_file(out, image.getvalue())


def _pictures(
    run: RunData, scenario: Scenario, ticks: Sequence[int], size: Size, of: int = 0
) -> list[Picture]:
    """Pictures of some instants, of one size, from one point of view where no tool is looked at."""
    scenes = [_scene(run, scenario, tick) for tick in ticks]
    everything = np.vstack([_positions(scene) for scene, _ in scenes])
    out = []
    for tick, (scene, objects) in zip(ticks, scenes, strict=True):
        recorded = zip(scene, run.vehicles, strict=True)
        paths = [
            each.columns.x[: tick + 1 : PATH_STEP, 0, P]
            if assembly.arm is None
            else touched(assembly.arm, each.columns, tick)[::PATH_STEP]
            for (assembly, _), each in recorded
        ]
        camera, shown = _view(run.vehicles[of].meta, scene[of], objects, everything, size)
        tilts = [each.columns.tilt[min(tick, len(each.columns.t) - 1)] for each in run.vehicles]
        drawn_with: dict[str, Any] = {"path_points": paths, "tilts": tilts, "objects": shown}
        out.append(render_scene(scene, camera=camera, size=size, **drawn_with))
    return out


def _scene(
    run: RunData, scenario: Scenario, tick: int
) -> tuple[list[tuple[Assembly, Array]], list[SceneObject]]:
    """Vehicles with their state rows, links of arms among them, and the world's objects at one instant."""
    scene, world = [], placed_world(scenario)
    objects, gripper = standing(world, float(run.vehicles[0].columns.t[tick])), scenario.gripper
    for vehicle, recorded in zip(scenario.vehicles, run.vehicles, strict=True):
        columns, assembly = recorded.columns, Assembly.of(vehicle.platform, vehicle.name)
        k = min(tick, len(columns.t) - 1)
        q = None if columns.arm is None else columns.arm.q[k]
        scene.append(with_arm(assembly, columns.x[k], q))
        if gripper is not None and assembly.arm is not None:
            number, gripper_of = list(world.objects).index(gripper.object), assembly.arm
            objects = carried(objects, number, gripper, gripper_of, columns, k)
            gripper = None  # it is at the tip of the first arm
    return scene, objects


def _positions(scene: list[tuple[Assembly, Array]]) -> Array:
    """(n, 3) places of all bodies and of the tips of arms [m]."""
    positions = [rows[:, P] for _, rows in scene]
    for assembly, rows in scene:
        if assembly.arm is not None:
            positions.append(rows[-1:, P] + so3.rotate(rows[-1, Q], assembly.arm.chain.tip))
    return np.vstack(positions)


def _view(
    meta: VehicleMeta,
    looked_at: tuple[Assembly, Array],
    objects: list[SceneObject],
    everything: Array,
    size: Size,
) -> tuple[Viewpoint, list[SceneObject]]:
    """The point of view, and the objects with those cut open that the looked-at tool is in."""
    if meta.tool_tip_P is None or meta.tool_axis_P is None or not objects:
        return free_camera(everything, objects, size), objects
    assembly, rows = looked_at
    rod = Rod.of(rows[0], meta.tool_tip_P, meta.tool_axis_P)
    camera = contact_camera(assembly, rows, rod, objects, size)
    back = np.array(camera.position) - np.array(camera.target)
    return camera, [each.opened(back) if rod.is_in(each) else each for each in objects]
