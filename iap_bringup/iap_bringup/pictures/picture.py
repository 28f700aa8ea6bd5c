# SPDX-License-Identifier: BSD-3-Clause
"""Pictures of vehicles and the world's objects over a chequered ground.

They are made from the shapes that the physics loads, without a GPU and without an engine.

`PictureScene` gives colours and depths. Shadows, the blur of turning propellers (shapes that are not
opaque), haze, sky and smooth edges are put together here.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest

import numpy as np
from numpy.typing import NDArray

from iap_bringup.pictures.picture_scene import PictureScene
from iap_description.arrays import Array
from iap_description.states import P
from iap_description.vehicles.assembly import Assembly
from iap_description.vehicles.body import UPRIGHT
from iap_description.world.scene_objects import SceneObject

Vec3 = tuple[float, float, float]

SAMPLES = 2  # per pixel and axis
FOV_DEG = 30.0  # vertical angle of view around vehicles
SPAN = (0.05, 200.0)  # depths that a camera sees [m]
REACH = 0.55  # [m] of a vehicle's parts around its bodies' origins
SHADOWED = 6.0  # [m] around vehicles and paths, within which objects cast shadows
TO_SUN = np.array([0.40, -0.38, 0.84])
SUN = 0.60 * TO_SUN / np.linalg.norm(TO_SUN)  # its length is its strength
SUN_DISTANCE = 60.0  # [m] from where its shadows are seen
SHADOW_PIXELS, SHADOW_SHARE = 3000, 1.2  # at most, and relative to the picture's width
SHADOW_BIAS, SHADOW_SLOPE = 0.008, 3.5  # m or, where it is more, pixels: for faces the sun grazes
# Places around a pixel at which its shadow is looked up, which softens edges [pixels].
SHADOW_TAPS = ((-1.5, -0.5), (0.5, -1.5), (1.5, 0.5), (-0.5, 1.5), (0.0, 0.0))
SKY_LOW, SKY_HIGH = np.array([226.0, 233.0, 240.0]), np.array([150.0, 184.0, 222.0])
HAZE = 22.0  # [m] the sky's share of the ground's colour is 63 % here


@dataclass(frozen=True)
class Viewpoint:
    """A point of view.

    Attributes:
        position: of the camera in `map` [m].
        target: the point in the picture's middle [m].
        fov_deg: vertical angle of view.
    """

    position: Vec3
    target: Vec3
    fov_deg: float = 35.0

    @property
    def view(self) -> Array:
        """(4, 4) map from world to camera axes: x right, y up, looking along -z."""
        position = np.array(self.position)
        back = position - np.array(self.target)
        back /= np.linalg.norm(back)
        right = np.cross([0.0, 0.0, 1.0], back)
        right /= np.linalg.norm(right)
        view = np.eye(4)
        view[:3, :3] = right, np.cross(back, right), back
        view[:3, 3] = -view[:3, :3] @ position
        return view


def camera_around(
    points_W: Array,
    *,
    azimuth_deg: float,
    elevation_deg: float,
    size: tuple[int, int] = (1280, 720),
) -> Viewpoint:
    """The nearest camera that sees vehicles at all points.

    Args:
        points_W: (n, 3) in `map` [m], e.g. of bodies or of a path.
        azimuth_deg: direction from the points' middle to the camera, from x towards y.
        elevation_deg: likewise, above the horizon.
        size: width and height of the picture [pixels].
    """
    middle = 0.5 * (points_W.min(axis=0) + points_W.max(axis=0))
    a, e = math.radians(azimuth_deg), math.radians(elevation_deg)
    back = np.array([math.cos(a) * math.cos(e), math.sin(a) * math.cos(e), math.sin(e)])
    trial = Viewpoint(tuple((middle + back).tolist()), tuple(middle.tolist()), FOV_DEG)
    x, y, z = trial.view[:3, :3] @ (points_W - middle).T
    up = math.tan(0.5 * math.radians(FOV_DEG))
    wide = up * size[0] / size[1]
    distance = np.max(z + np.maximum((np.abs(y) + 0.5 * REACH) / up, (np.abs(x) + REACH) / wide))
    return Viewpoint(tuple((middle + distance * back).tolist()), tuple(middle.tolist()), FOV_DEG)


def render_scene(
    scene: Sequence[tuple[Assembly, Array]],
    *,
    tilts: Sequence[Array] = (),
    camera: Viewpoint,
    size: tuple[int, int] = (1280, 720),
    path_points: Sequence[Array] = (),
    objects: Sequence[SceneObject] = (),
) -> NDArray[np.uint8]:
    """Draw vehicles, objects and a path over the ground.

    Args:
        scene: the vehicles, each with its state rows (bodies, 13).
        tilts: of each vehicle's rotors (N, 4) [rad]; upright without them.
        camera: the point of view.
        size: width and height of the picture [pixels].
        path_points: paths (n, 3) in `map` [m], drawn as tubes.
        objects: what stands in the world.

    Returns:
        The picture (height, width, 3), RGB.
    """
    points = np.vstack([*path_points, *(np.asarray(rows)[:, P] for _, rows in scene)])
    low, high = points.min(axis=0) - SHADOWED, points.max(axis=0) + SHADOWED
    points = np.vstack([points, *(np.clip(each.corners_W, low, high) for each in objects)])
    stage = PictureScene()
    for each in objects:
        stage.add_object(each.pieces, each.row)
    for (assembly, rows), angles in zip_longest(scene, tilts):
        turned = {} if angles is None else dict(zip(assembly.aircraft, angles, strict=True))
        for i, (body, row) in enumerate(zip(assembly.bodies, rows, strict=True)):
            stage.add_body(body, row, turned.get(i, UPRIGHT))
    for path in path_points:
        if len(path) > 1:
            stage.add_path(path)
    stage.add_ground(np.array(camera.target))
    picture = _draw(stage, camera, (SAMPLES * size[0], SAMPLES * size[1]), points)
    picture = picture.reshape(size[1], SAMPLES, size[0], SAMPLES, 3).mean(axis=(1, 3))
    return np.clip(np.rint(picture), 0.0, 255.0).astype(np.uint8)


def _draw(stage: PictureScene, camera: Viewpoint, size: tuple[int, int], points: Array) -> Array:
    """The picture at full sampling: sun and shadow, sky and haze, the blurs in front of it all."""
    stage.show_veils(False)
    lit, depth = stage.shoot(camera.view, camera.fov_deg, SPAN, size, SUN)
    dark, _ = stage.shoot(camera.view, camera.fov_deg, SPAN, size, 0.0 * SUN)
    rays = _rays(size, camera.fov_deg)
    solid = np.isfinite(depth)
    points_W = camera.view[:3, :3].T @ (rays[:, solid] * depth[solid])
    points_W += np.array(camera.position)[:, None]
    picture = _sky(rays, camera)
    shaded = dark[solid] + _sunlit(stage, points_W, points, size[0])[:, None] * (
        lit[solid] - dark[solid]
    )
    haze = (1.0 - np.exp(-((depth[solid] / HAZE) ** 2)))[:, None]
    picture[solid] = (1.0 - haze) * shaded + haze * picture[solid]
    stage.show_veils(True)
    blurred, _ = stage.shoot(camera.view, camera.fov_deg, SPAN, size, SUN)
    hidden = np.any(blurred != lit, axis=-1)
    picture[hidden] += stage.veil_opacity * (blurred[hidden] - picture[hidden])
    return picture


def _rays(size: tuple[int, int], fov_deg: float) -> Array:
    """(3, H, W) points in camera axes at depth 1 that the pixels see."""
    scale = 2.0 * math.tan(0.5 * math.radians(fov_deg)) / size[1]
    x = (np.arange(size[0]) + 0.5 - 0.5 * size[0]) * scale
    y = (0.5 * size[1] - 0.5 - np.arange(size[1])) * scale
    return np.stack([*np.meshgrid(x, y), np.full(size[::-1], -1.0)])


def _sky(rays: Array, camera: Viewpoint) -> Array:
    """(H, W, 3) the sky that every pixel would see, paler towards the horizon."""
    up = np.tensordot(camera.view[:3, 2], rays, axes=1) / np.linalg.norm(rays, axis=0)
    return SKY_LOW + np.clip(up / 0.5, 0.0, 1.0)[..., None] * (SKY_HIGH - SKY_LOW)


def _sunlit(stage: PictureScene, points_W: Array, points: Array, width: int) -> Array:
    """Share (n,) of the sun's light at points (3, n): their depth against that of its own view.

    `width` is that of the picture [samples], which the shadows need not be much finer than.
    """
    middle = 0.5 * (points.min(axis=0) + points.max(axis=0))
    radius = float(np.linalg.norm(points - middle, axis=1).max()) + REACH
    radius = min(radius, 0.9 * SUN_DISTANCE)
    position = middle + SUN_DISTANCE * SUN / np.linalg.norm(SUN)
    sun = Viewpoint(tuple(position.tolist()), tuple(middle.tolist()))
    fov_deg = 2.0 * math.degrees(math.asin(radius / SUN_DISTANCE))
    span = (SUN_DISTANCE - 2.0 * radius, SUN_DISTANCE + 2.0 * radius)
    stage.show_ground(False)  # it casts no shadow
    pixels = min(SHADOW_PIXELS, round(SHADOW_SHARE * width))
    _, nearest = stage.shoot(sun.view, fov_deg, span, (pixels, pixels), 0.0 * SUN)
    stage.show_ground(True)
    x, y, z = sun.view[:3, :3] @ points_W + sun.view[:3, 3:]
    scale = 0.5 * pixels / math.tan(0.5 * math.radians(fov_deg))
    column, row = 0.5 * pixels + scale * x / -z, 0.5 * pixels - scale * y / -z
    edge = pixels - 1
    nearest[[0, edge]] = nearest[:, [0, edge]] = np.inf  # beyond the view nothing casts shadows
    bias = max(SHADOW_BIAS, SHADOW_SLOPE * SUN_DISTANCE / scale)
    reached = np.zeros(len(z))
    for across, down in SHADOW_TAPS:
        i, j = (np.clip(k, 0, edge).astype(int) for k in (row + down, column + across))
        reached += -z < nearest[i, j] + bias
    return reached / len(SHADOW_TAPS)
