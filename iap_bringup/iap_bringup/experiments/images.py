# SPDX-License-Identifier: BSD-3-Clause
"""Measurements of images: places of points, depths of planes, and how many corners are kept."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from iap_bringup.experiments.rows import Report, Rows, bar_row
from iap_description.arrays import Array
from iap_description.geometry.tessellation import MeshPart
from iap_description.math import so3
from iap_description.process.extras import cv2
from iap_description.scenes.library import load_scene, scene_names
from iap_description.scenes.scene import Light, Scene, Sky
from iap_description.scenes.textures import make_texture
from iap_description.sensors.mounts import optical
from iap_sensors.cameras.model import CameraModel
from iap_sensors.cameras.renderer import Renderer, Shot
from iap_sensors.cameras.spec import PRESETS as CAMERAS
from iap_sensors.cameras.spec import CameraSpec
from iap_sensors.mounted.cameras import POSE, mounted_cameras_of
from iap_sensors.mounted.visible_bodies import visible_bodies
from iap_simulation.runs.unrecorded_flight import watch
from iap_simulation.scenario.resolving import Options, resolve
from iap_simulation.scenario.rig_spec import rig_spec

Pixels = NDArray[np.uint8]
NO_BODIES = np.zeros((0, 7))
LEFT, RIGHT = np.array([0.198, 0.06, 0.0]), np.array([0.198, -0.06, 0.0])  # the f450's mounts
BARREL = (-0.283, 0.074, 0.0002, 0.00002, 0.0)  # plumb_bob, as a wide lens has it
TILES, SIDE = 16, 16.0  # spots along a side of the wall, and its size [m]
REACH = 8  # pixels around a spot that belong to it
CORNERS, QUALITY, SPACING, BACK = 300, 0.01, 15, 1.0  # [pixels]
FRAMES, STARTS = 10, (6.0, 15.0, 24.0, 33.0)  # images of a window, and where windows begin [s]
FEATURES = 150
HARD_SCENES = {"foggy_arena": 60, "low_texture": 0, "smoke": 0}  # made to leave fewer, or none
DISTANCE = 5.0  # of the plane that a stereo pair looks at [m]


def projection(report: Report, renderer: Renderer) -> Rows:
    """The largest distance between spots of a slanted wall in images and where the model projects them."""
    report("projection")
    rows: Rows = {}
    for name, mount, distortion in (
        ("left", LEFT, (0.0,) * 5),
        ("right", RIGHT, (0.0,) * 5),
        ("distorted", LEFT, BARREL),
    ):
        spec = CameraSpec(**{**CAMERAS.tree("vi_g"), "distortion": distortion})
        shot = Shot(CameraModel.of(spec), spec, mount, optical(so3.IDENTITY))
        wall, points_W = spotted_wall(4.0, so3.quaternion_exp(np.array([0.0, 0.0, 0.4])))
        renderer.load(lit_wall(wall, dark_spot()), [])
        (frame,) = renderer.render([shot], NO_BODIES)
        assert frame.mono is not None  # noqa: S101 - the preset gives it
        points_C = so3.rotate(so3.conjugate(shot.q_WC), points_W - shot.p_WC_W)
        uv = shot.model.project(points_C)
        edge = [spec.width - REACH - 2, spec.height - REACH - 2]
        visible = uv[np.all((uv > REACH + 1) & (uv < edge), axis=-1)]
        off = np.linalg.norm(dark_centroids(frame.mono, visible) - visible, axis=-1)
        rows[f"{name}: {len(visible)} points, largest error, px"] = bar_row(
            float(off.max()), "<= 0.3"
        )
    return rows


def stereo(report: Report, renderer: Renderer) -> Rows:
    """The median depths that a stereo pair gives of a plane at `DISTANCE`: by matching blocks, by following corners.

    Block matching, as stereo_image_proc does it, draws disparities towards whole pixels, here 7.68
    towards 7.75: most of its error is its own.
    """
    report("stereo")
    spec = CameraSpec(**CAMERAS.tree("vi_g"))
    model, ahead = CameraModel.of(spec), optical(so3.IDENTITY)
    wall, _ = spotted_wall(DISTANCE + LEFT[0], so3.IDENTITY, tiles=4)
    renderer.load(lit_wall(wall, make_texture("mosaic")), [])
    shots = [Shot(model, spec, mount, ahead) for mount in (LEFT, RIGHT)]
    pair: list[Any] = [frame.mono for frame in renderer.render(shots, NO_BODIES)]
    blocks = cv2.StereoBM.create(32, 21).compute(*pair) / 16.0
    flow: Any = cv2.calcOpticalFlowPyrLK  # whose types forbid to leave out the first guess
    corners: Any = cv2.goodFeaturesToTrack(pair[0], CORNERS, QUALITY, SPACING)
    there, status, _ = flow(*pair, corners, None)
    shifts = (corners - there)[status > 0][:, 0]
    rows: Rows = {}
    for name, disparity in (("blocks", blocks[blocks > 0.0]), ("corners", shifts)):
        depth = spec.fx * (LEFT - RIGHT)[1] / float(np.median(disparity))
        off = 100.0 * abs(depth / DISTANCE - 1.0)
        rows[f"plane at {DISTANCE:g} m, median depth by {name} off by, %"] = bar_row(off, "<= 1")
    return rows


def features(report: Report, renderer: Renderer, scenes: Sequence[str] = ()) -> Rows:
    """The fewest corners kept over `FRAMES` images of the figure-eight, over aircraft and windows, by scene."""
    report("corners: the flight")
    log = watch("figure_eight", Options(duration=STARTS[-1] + 1.0))
    seeing, _ = resolve("figure_eight", Options(sensors="stereo"))
    cameras = mounted_cameras_of(rig_spec(seeing))
    left = [each for each in cameras if each.mount.source.topic.endswith("left")]
    rows: Rows = {}
    for name in scenes or scene_names():
        report(f"corners: {name}")
        renderer.load(load_scene(name), visible_bodies(rig_spec(log.scenario)))
        kept = []
        for camera in left:
            for start in STARTS:
                first = int(np.searchsorted(log.t, start))
                every = camera.sampling.every
                states = log.x[first : first + FRAMES * every : every]
                images = [renderer.render([camera.shot(x)], x[:, POSE])[0].mono for x in states]
                kept.append(followed([image for image in images if image is not None]))
        bar = HARD_SCENES.get(name, FEATURES)
        rows[f"{name}: corners kept, fewest of {len(kept)}"] = bar_row(min(kept), f">= {bar}")
    return rows


def followed(images: Sequence[Pixels]) -> int:
    """Number of corners of the first image still followed in the last: KLT there and back from image to image."""
    points: Any = cv2.goodFeaturesToTrack(images[0], CORNERS, QUALITY, SPACING)
    if points is None:
        return 0
    flow: Any = cv2.calcOpticalFlowPyrLK  # whose types forbid to leave out the first guess
    window = {"winSize": (21, 21), "maxLevel": 3}
    for before, after in zip(images[:-1], images[1:], strict=True):
        there, status, _ = flow(before, after, points, None, **window)
        back, returned, _ = flow(after, before, there, None, **window)
        kept = (np.linalg.norm(back - points, axis=-1) <= BACK) & (status > 0) & (returned > 0)
        inside = ((there >= 0) & (there < images[0].shape[::-1])).all(axis=-1)
        points = there[(kept & inside)[:, 0]]
        if not len(points):
            return 0
    return len(points)


def spotted_wall(distance: float, q_WO: Array, tiles: int = TILES) -> tuple[MeshPart, Array]:
    """A square across the x axis, turned about its middle, and the middles (n, 3) of its texture's tiles [m]."""
    y = 0.5 * SIDE * np.array([1.0, -1.0, -1.0, 1.0])
    z = 0.5 * SIDE * np.array([-1.0, -1.0, 1.0, 1.0])
    middle = np.array([distance, 0.0, 0.0])
    corners = middle + so3.rotate(q_WO, np.stack([0.0 * y, y, z], -1))
    normals = np.tile(so3.rotate(q_WO, np.array([-1.0, 0.0, 0.0])), (4, 1))
    uv = tiles * np.array([[0, 0], [1, 0], [1, 1], [0, 1]], dtype=np.float32)
    faces = np.array([[0, 1, 2], [0, 2, 3]], dtype=np.int32)
    at = SIDE * ((np.arange(tiles) + 0.5) / tiles - 0.5)
    across, up = (each.ravel() for each in np.meshgrid(at, at))
    points = middle + so3.rotate(q_WO, np.stack([0.0 * across, across, up], -1))
    shape = (corners.astype(np.float32), normals.astype(np.float32), uv, faces)
    return MeshPart("wall", *shape, "wall", (1.0, 1.0, 1.0, 1.0), 1), points


def lit_wall(wall: MeshPart, texture: Pixels) -> Scene:
    """A wall alone, as bright from everywhere, before a white sky."""
    white = (1.0, 1.0, 1.0)
    light = Light(direction_W=(0.0, 0.0, 1.0), strength=0.0, ambient=1.0)
    sky = Sky(zenith=white, horizon=white)
    return Scene("wall", (wall,), (), {"wall": texture}, light, None, sky, {1: "wall"})


def dark_spot(size: int = 128) -> Pixels:
    """White with a dark spot in the middle."""
    x = (np.arange(size) + 0.5) / size - 0.5
    level = 255.0 * (1.0 - np.exp(-0.5 * (x**2 + x[:, None] ** 2) / 0.03**2))
    return np.repeat(level.astype(np.uint8)[..., None], 3, axis=-1)


def dark_centroids(image: Pixels, uv: Array) -> Array:
    """Centroids (n, 2) of what is dark around pixels (n, 2)."""
    middles = []
    for u, v in np.round(uv).astype(int):
        window = image[v - REACH : v + REACH + 1, u - REACH : u + REACH + 1].astype(float)
        dark = window.max() - window
        rows, columns = np.mgrid[v - REACH : v + REACH + 1, u - REACH : u + REACH + 1]
        middles.append([np.sum(dark * columns) / dark.sum(), np.sum(dark * rows) / dark.sum()])
    return np.array(middles)
