# SPDX-License-Identifier: BSD-3-Clause
"""Small scenes to take pictures of, made of rectangles and spheres, and cameras that look at them."""

import numpy as np

from iap_description.geometry.tessellation import MeshPart
from iap_description.math import so3
from iap_description.scenes.scene import Fog, Light, Scene, Sky
from iap_description.sensors.mounts import optical
from iap_sensors.cameras.model import CameraModel
from iap_sensors.cameras.renderer import Shot
from iap_sensors.cameras.spec import PRESETS as CAMERAS
from iap_sensors.cameras.spec import CameraSpec

WHITE = (1.0, 1.0, 1.0, 1.0)
EVEN = Light(direction_W=(0.0, 0.0, 1.0), strength=0.0, ambient=1.0)  # as bright from everywhere


def spec(**keys):
    return CameraSpec(**{**CAMERAS.tree("vi_g"), **keys})


def shot(camera, p_W=(0.0, 0.0, 0.0), q_WS=(0.0, 0.0, 0.0, 1.0), **keys):
    """A camera at a place, looking along x where nothing else is said."""
    return Shot(CameraModel.of(camera), camera, np.array(p_W), optical(np.array(q_WS)), **keys)


def wall(distance=5.0, half=50.0, *, tiles=1.0, name="wall", **keys):
    """A square across the x axis that is seen from the origin."""
    y = np.array([half, -half, -half, half])
    z = np.array([-half, -half, half, half])
    corners = np.stack([np.full(4, distance), y, z], -1)
    return rectangle(name, corners, tiles=tiles, **keys)


def ground(half=50.0, *, tiles=1.0, **keys):
    """A square on the plane z = 0."""
    corners = half * np.array([[-1, -1, 0], [1, -1, 0], [1, 1, 0], [-1, 1, 0]])
    return rectangle("ground", corners, tiles=tiles, **keys)


def rectangle(name, corners, *, tiles=1.0, texture=None, color=WHITE, label=1):
    """Two triangles over corners (4, 3), counter-clockwise from where they are seen."""
    corners = np.asarray(corners, dtype=np.float32)
    normal = np.cross(corners[1] - corners[0], corners[3] - corners[0])
    normals = np.tile(normal / np.linalg.norm(normal), (4, 1)).astype(np.float32)
    uv = tiles * np.array([[0, 0], [1, 0], [1, 1], [0, 1]], dtype=np.float32)
    faces = np.array([[0, 1, 2], [0, 2, 3]], dtype=np.int32)
    return MeshPart(name, corners, normals, uv, faces, texture, color, label)


def box(name, middle, half, **keys):
    """The six sides of a box as parts."""
    sides = []
    for axis in range(3):
        for sign in (-1.0, 1.0):
            u, v = np.eye(3)[(axis + 1) % 3], np.eye(3)[(axis + 2) % 3]
            if sign < 0.0:
                u, v = v, u
            out = sign * np.eye(3)[axis]
            turns = (-u - v, u - v, u + v, -u + v)
            corners = [np.add(middle, np.multiply(half, out + turn)) for turn in turns]
            sides.append(rectangle(name, corners, **keys))
    return tuple(sides)


def ball(name, middle, radius, *, color=WHITE, label=1, n=96):
    """A sphere of 2 n^2 triangles."""
    azimuth, polar = np.meshgrid(
        np.linspace(0, 2 * np.pi, 2 * n + 1), np.linspace(0, np.pi, n + 1)
    )
    normals = np.stack(
        [np.sin(polar) * np.cos(azimuth), np.sin(polar) * np.sin(azimuth), np.cos(polar)], -1
    ).reshape(-1, 3)
    a = (np.arange(n)[:, None] * (2 * n + 1) + np.arange(2 * n)).ravel()
    b = a + 2 * n + 1
    faces = np.vstack([np.stack([a, b, b + 1], -1), np.stack([a, b + 1, a + 1], -1)])
    uv = np.zeros((len(normals), 2), np.float32)
    corners = (np.array(middle) + radius * normals).astype(np.float32)
    return MeshPart(
        name, corners, normals.astype(np.float32), uv, faces.astype(np.int32), None, color, label
    )


def scene(*parts, textures=None, light=EVEN, fog=None, sky=None):
    return Scene(
        name="small",
        parts=tuple(parts),
        solids=(),
        textures=textures or {},
        light=light,
        fog=fog,
        sky=sky or Sky(zenith=(0.3, 0.5, 0.8), horizon=(0.8, 0.85, 0.9)),
        labels={},
    )


def grain(seed=1, size=512, levels=(4, 16, 64, 256)):
    """A texture with detail at several scales."""
    import cv2

    rng = np.random.default_rng(seed)
    image = np.full((size, size), 128.0)
    for n in levels:
        image += cv2.resize(
            rng.normal(0.0, 25.0, (n, n)), (size, size), interpolation=cv2.INTER_NEAREST
        )
    return np.repeat(np.clip(image, 0, 255).astype(np.uint8)[..., None], 3, axis=-1)


def turned(roll=0.0, pitch=0.0, yaw=0.0):
    """q_WS of angles in degrees."""
    return so3.quaternion_from_matrix(so3.matrix_from_euler(np.deg2rad([roll, pitch, yaw])))


__all__ = ["Fog", "Light", "Sky"]


def spot(deviation, size=128):
    """White with a dark spot in the middle, of a standard deviation in sides of the picture."""
    x = (np.arange(size) + 0.5) / size - 0.5
    level = 255.0 * (1.0 - np.exp(-0.5 * (x**2 + x[:, None] ** 2) / deviation**2))
    return np.repeat(level.astype(np.uint8)[..., None], 3, axis=-1)
