# SPDX-License-Identifier: BSD-3-Clause
"""A scene and its light as plain arrays that go to another process."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from iap_description.arrays import Array, Integers
from iap_sensors.cameras.geometry import Geometry
from iap_sensors.physical.environment import Environment
from iap_sensors.physical.lamp_colors import lamp_colors
from iap_sensors.physical.material_maps import MaterialMaps

Singles = NDArray[np.float32]
NO_LIGHT = -1  # in place of the layer of what emits light


@dataclass(frozen=True, eq=False)
class TracedMatter:
    """Matter of surfaces.

    Attributes:
        maps: (layers, side, side, 8) of materials, see `Matter.maps`, the last row first.
        noise: (n, n) large-scale variation.
        varied: the last layer that has it.
        wetness: of surfaces.
        snow: that covers them.
    """

    maps: NDArray[np.uint8]
    noise: NDArray[np.uint8]
    varied: int
    wetness: float
    snow: float


@dataclass(frozen=True, eq=False)
class TracedGroup:
    """Triangles of one opacity, of the scene or of bodies.

    Attributes:
        vertices: (n,) numbers among all vertices of the geometry.
        uv: (n, 2) place of each vertex on its material.
        faces: (m, 3) by vertex of this group.
        layers: (m,) material of each face.
        tints: (m, 3) reflectance that multiplies the material's.
        opacity: of the group.
        moves: whether it belongs to bodies.
        glow: (side, side, 3) luminance that the group emits, the last row first [kcd/m^2]; None for most.
    """

    vertices: Integers
    uv: Singles
    faces: NDArray[np.uint32]
    layers: Integers
    tints: Singles
    opacity: float
    moves: bool
    glow: Singles | None = None


@dataclass(frozen=True)
class TracedLamp:
    """A lamp: place [m], intensity in three bands [kcd], axis and half angles of its cone [rad]; no axis: all sides."""

    position: tuple[float, float, float]
    intensity: tuple[float, float, float]
    axis: tuple[float, float, float] | None
    inner: float
    outer: float


@dataclass(frozen=True, eq=False)
class TracedScene:
    """All that light meets.

    Attributes:
        corners: (vertices, 6) position and normal of all vertices; of bodies in the body.
        groups: of triangles.
        matter: of surfaces.
        sky: (h, w, 3) luminance, see `sky_image` [kcd/m^2].
        sun_W: (3,) towards the sun.
        sun: (3,) its illuminance [klx].
        lamps: that shine.
    """

    corners: Singles
    groups: tuple[TracedGroup, ...]
    matter: TracedMatter
    sky: Singles
    sun_W: Array
    sun: Array
    lamps: tuple[TracedLamp, ...]


def traced_scene(geometry: Geometry, maps: MaterialMaps, environment: Environment) -> TracedScene:
    """The arrays of a loaded scene."""
    return TracedScene(
        corners=geometry.corners,
        groups=tuple(_groups(geometry, maps)),
        matter=_matter(maps, environment),
        sky=np.ascontiguousarray(environment.sky_in_fog, np.float32),
        sun_W=environment.sun_W,
        sun=environment.sun,
        lamps=_lamps(environment),
    )


def _matter(maps: MaterialMaps, environment: Environment) -> TracedMatter:
    snow = environment.weather.snow_cover
    return TracedMatter(maps.stack, maps.noise, maps.varied, environment.wetness, snow)


def _groups(geometry: Geometry, maps: MaterialMaps) -> Sequence[TracedGroup]:
    counts = np.diff(geometry.firsts)
    opacity = np.repeat(geometry.opacity, counts)
    moves = np.repeat(geometry.rows >= 0, counts)
    layers = maps.attributes["layer"][geometry.faces[:, 0]].astype(np.int64)
    lights = np.where(np.isin(layers, list(maps.glow)), layers, NO_LIGHT)
    groups = []
    kinds = zip(opacity.tolist(), moves.tolist(), lights.tolist(), strict=True)
    for key in sorted(set(kinds)):
        mask = (opacity == np.float32(key[0])) & (moves == key[1]) & (lights == key[2])
        faces = geometry.faces[mask]
        vertices, numbers = np.unique(faces, return_inverse=True)
        first = maps.attributes[faces[:, 0]]  # those of a part are the same at all corners
        groups.append(
            TracedGroup(
                vertices=vertices.astype(np.int64),
                uv=np.ascontiguousarray(maps.attributes["uv"][vertices]),
                faces=numbers.reshape(-1, 3).astype(np.uint32),
                layers=first["layer"].astype(np.int64),
                tints=np.ascontiguousarray(first["tint"][:, :3]),
                opacity=key[0],
                moves=key[1],
                glow=None if key[2] == NO_LIGHT else maps.glow[key[2]].astype(np.float32),
            )
        )
    return groups


def _lamps(environment: Environment) -> tuple[TracedLamp, ...]:
    lamps = []
    for lamp, color in zip(environment.lamps, lamp_colors(environment.lamps), strict=True):
        axis, edge = lamp.axis_W, lamp.edge_cosine
        x, y, z = color.tolist()
        lamps.append(
            TracedLamp(
                lamp.position,
                (x, y, z),
                None if axis is None else (float(axis[0]), float(axis[1]), float(axis[2])),
                float(np.arccos(min(edge + 0.15 * (1.0 - edge), 1.0))),
                float(np.arccos(edge)),
            )
        )
    return tuple(lamps)
