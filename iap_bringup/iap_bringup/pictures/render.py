# SPDX-License-Identifier: BSD-3-Clause
"""``iap render RUN``: a picture of a recorded run: paths of platforms, arms, and what tips have written."""

import io
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import matplotlib.image
import numpy as np
from numpy.typing import NDArray

from iap_bringup.pictures.contact_camera import Rod, Size, contact_camera, free_camera
from iap_bringup.pictures.picture import Viewpoint, render_scene
from iap_description.arrays import Array
from iap_description.errors import BadInput
from iap_description.math import so3
from iap_description.states import P, Q
from iap_description.vehicles.arm_links import ChainState, link_rows
from iap_description.vehicles.assembly import Assembly
from iap_description.vehicles.body import Body
from iap_description.vehicles.mounted_arm import MountedArm
from iap_description.world.scene_objects import SceneObject, standing
from iap_io.runs.columns import Columns
from iap_io.runs.run_folder import RunData, write_file
from iap_io.runs.vehicle_meta import VehicleMeta
from iap_simulation.scenario.randomization import placed_world
from iap_simulation.scenario.scenario import Scenario


def with_arm(assembly: Assembly, rows: Array, q: Array | None) -> tuple[Assembly, Array]:
    """A vehicle that is looked at, with the links of its arm as bodies of their own.

    Args:
        assembly: the vehicle.
        rows: (bodies, 13) its states.
        q: (n,) joint coordinates [rad], [m]; None of a vehicle without an arm.
    """
    arm = assembly.arm
    if arm is None or q is None:
        return assembly, rows
    drag = assembly.bodies[0].drag
    links = tuple(
        Body(link.name, link.mass, link.inertia, drag, visual=link.visual) for link in arm.links
    )
    extended = replace(assembly, bodies=(*assembly.bodies, *links))
    return extended, np.vstack([rows, link_rows(arm, rows[0], ChainState(q, np.zeros_like(q)))])


def touched(arm: MountedArm, columns: Columns, tick: int) -> Array:
    """(n, 3) where an arm's tip was while it touched something under wrench control, up to a row [m]."""
    joints, wrenches = columns.arm, columns.wrench_record
    if joints is None or wrenches is None:
        return np.zeros((0, 3))
    touches = (wrenches.mode > 0) & (wrenches.wrenches[:, 0, :3] != 0.0).any(axis=1)
    ticks = np.flatnonzero(touches[: tick + 1])
    tips_P = np.array([arm.tip_P(joints.q[k]) for k in ticks]).reshape(-1, 3)
    rows = columns.x[ticks, 0]
    return np.asarray(rows[:, P] + so3.rotate(rows[:, Q], tips_P))


SIZE = (1280, 720)  # [pixels]
IN_SHEET, GAP = (
    (520, 400),
    6,
)  # of one picture of several beside each other, and between them [pixels]
PATH_STEP = 20  # ticks between the drawn points of a path
Picture = NDArray[np.uint8]


def render_run(run: RunData, scenario: Scenario, out: Path, times: Sequence[float]) -> None:
    """Render a run to a PNG.

    Args:
        run: the recording.
        scenario: that was flown.
        out: the PNG.
        times: simulation times [s], whose pictures stand beside each other; none: the middle of the flight.

    Raises:
        BadInput: a time is outside the flight.
    """
    t = run.vehicles[0].columns.t
    ticks = [int(np.searchsorted(t, each)) for each in picture_times(times, t)]
    write_sheet(out, _pictures(run, scenario, ticks, picture_size(len(ticks))))


def picture_times(times: Sequence[float], t: Array) -> list[float]:
    """Times of pictures [s]: those that are asked for, or the middle of a flight with rows at t (n,).

    Raises:
        BadInput: one is outside the flight.
    """
    for each in times:
        if not t[0] <= each <= t[-1]:
            raise BadInput(f"--time {each}: the flight lasts from {t[0]:.1f} to {t[-1]:.1f} s")
    return [*times] or [float(t[len(t) // 2])]


def picture_size(count: int) -> Size:
    """Width and height of each of so many pictures [pixels]."""
    return SIZE if count == 1 else IN_SHEET


def write_sheet(out: Path, pictures: Sequence[Picture]) -> None:
    """Write pictures (h, w, 3) beside each other into a PNG."""
    gap = np.full((len(pictures[0]), GAP, 3), 255, np.uint8)
    sheet = [part for picture in pictures for part in (gap, picture)][1:]
    image = io.BytesIO()
    matplotlib.image.imsave(image, np.hstack(sheet))
    out.parent.mkdir(parents=True, exist_ok=True)
    write_file(out, image.getvalue())


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
    write_sheet(out, _pictures(run, scenario, [tick], size, of))


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
    scene, t = [], float(run.vehicles[0].columns.t[tick])
    objects = standing(placed_world(scenario), t)
    if run.objects is not None:
        pairs = zip(objects, run.objects.at(t), strict=True)
        objects = [replace(item, row=row) for item, row in pairs]
    for vehicle, recorded in zip(scenario.vehicles, run.vehicles, strict=True):
        columns, assembly = recorded.columns, Assembly.of(vehicle.platform, vehicle.name)
        k = min(tick, len(columns.t) - 1)
        q = None if columns.arm is None else columns.arm.q[k]
        scene.append(with_arm(assembly, columns.x[k], q))
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
