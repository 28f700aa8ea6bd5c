# SPDX-License-Identifier: BSD-3-Clause
"""A world that is only looked at: vehicles, objects, paths and a chequered ground, drawn by triangles without a GPU."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numba import njit

from iap_description.arrays import Array, Booleans
from iap_description.geometry.shapes import Rgba, Shape
from iap_description.geometry.tessellation import Mesh, mesh
from iap_description.math import so3
from iap_description.math.kernels import cross, dot, put, vec
from iap_description.math.kernels import scale as scaled
from iap_description.states import P, Q
from iap_description.vehicles.body import UPRIGHT, Body

TILES, TILE = 80, 0.5  # along each side of the ground, and their size [m]
TILE_COLORS = np.array([(0.86, 0.87, 0.88), (0.75, 0.77, 0.79)])
PATH_COLOR, PATH_RADIUS, PATH_SIDES = (0.95, 0.42, 0.05, 1.0), 0.012, 6  # radius in m
AMBIENT = 0.55  # share of the light that comes from everywhere
WHITE = 255.0
UP = np.array([0.0, 0.0, 1.0])
NONE = -1  # in place of a triangle
EDGE = 1e-15  # volume below which a triangle is seen from its edge [m^3]


@dataclass(frozen=True, eq=False)
class PaintedTriangles:
    """Triangles of one colour.

    Attributes:
        corners_W: (n, 3, 3) [m].
        normals_W: (n, 3, 3) of the surface at the corners.
        color: sRGB and opacity in 0..1.
    """

    corners_W: Array
    normals_W: Array
    color: Rgba


class PictureScene:
    """All that a camera sees."""

    def __init__(self) -> None:
        self._solids = list[PaintedTriangles]()
        self._veils = list[PaintedTriangles]()  # of what is not opaque
        self._middle: Array | None = None  # (2,) of the ground [m]
        self._shows_veils, self._shows_ground = True, True

    @property
    def veil_opacity(self) -> float:
        """Opacity of what is not opaque, 0 where there is no such thing."""
        return max((each.color[3] for each in self._veils), default=0.0)

    def add_body(self, body: Body, row: Array, tilts: Array = UPRIGHT) -> None:
        """Place one rigid body by its state row, with its rotors at tilts (4,) [rad]."""
        for shape in (*body.visual, *body.propellers(tilts)):
            kind = self._veils if shape.color[3] < 1.0 else self._solids
            kind.append(_placed(mesh(shape), row, shape.color))

    def add_object(self, pieces: Sequence[Shape], row: Array) -> None:
        """Place what one object of the world is made of by the state row of its frame; all opaque."""
        self._solids += [_placed(mesh(piece), row, (*piece.color[:3], 1.0)) for piece in pieces]

    def add_ground(self, middle: Array) -> None:
        """Square tiles around a point (2,), always an even number of them from the origin of `map`."""
        self._middle = 2.0 * TILE * np.round(0.5 * np.asarray(middle)[:2] / TILE)

    def add_path(self, points_W: Array) -> None:
        """A tube along points (n, 3) [m]."""
        along = np.gradient(points_W, axis=0)
        side = np.stack([-along[:, 1], along[:, 0], 0.0 * along[:, 0]], -1)
        side[np.linalg.norm(side, axis=1) < 1e-6] = [1.0, 0.0, 0.0]  # vertical, or at rest
        side /= np.linalg.norm(side, axis=1, keepdims=True)
        up = np.cross(along, side)
        up /= np.maximum(np.linalg.norm(up, axis=1, keepdims=True), 1e-9)
        angle = 2.0 * np.pi * np.arange(PATH_SIDES)[:, None] / PATH_SIDES
        circles = np.cos(angle) * side[:, None] + np.sin(angle) * up[:, None]
        rings = points_W[:, None] + PATH_RADIUS * circles
        a = np.arange((len(points_W) - 1) * PATH_SIDES)
        b = a - a % PATH_SIDES + (a + 1) % PATH_SIDES
        c, d = b + PATH_SIDES, a + PATH_SIDES
        faces = np.vstack([np.stack([a, b, c], -1), np.stack([a, c, d], -1)])
        corners, normals = rings.reshape(-1, 3)[faces], circles.reshape(-1, 3)[faces]
        self._solids.append(PaintedTriangles(corners, normals, PATH_COLOR))

    def show_veils(self, shown: bool) -> None:
        """Draw what is not opaque as if it were, or not at all."""
        self._shows_veils = shown

    def show_ground(self, shown: bool) -> None:
        """Draw the ground or not."""
        self._shows_ground = shown

    def shoot(
        self,
        view: Array,
        fov_deg: float,
        span: tuple[float, float],
        size: tuple[int, int],
        light: Array,
    ) -> tuple[Array, Array]:
        """Take a picture without shadows.

        Args:
            view: (4, 4) map from world to camera axes (x right, y up, looking along -z).
            fov_deg: vertical angle of view.
            span: least and greatest depth that is seen [m].
            size: width and height [pixels].
            light: (3,) direction to the light; its length is the light's strength.

        Returns:
            Colours (H, W, 3) in 0..255, and depths along the view (H, W) [m], infinite where there
            is nothing.
        """
        width, height = size
        scale = 0.5 * height / np.tan(0.5 * np.radians(fov_deg))
        depth, triangles = np.full((height, width), span[1]), np.full((height, width), NONE)
        place = np.zeros((height, width, 3))
        drawn = [*self._solids, *(self._veils if self._shows_veils else [])]
        colors = np.full((height, width, 3), WHITE)
        if drawn:
            corners_W = np.concatenate([each.corners_W for each in drawn])
            corners_C = corners_W @ view[:3, :3].T + view[:3, 3]
            rasterize(corners_C, scale, span[0], depth, triangles, place)
            hit = triangles != NONE
            colors[hit] = _lit(drawn, triangles[hit], place[hit], corners_C, view, light)
        if self._middle is not None and self._shows_ground:
            self._lay_ground(view, scale, span[0], depth, colors, light)
        return colors, np.where(depth < span[1], depth, np.inf)

    def _lay_ground(
        self, view: Array, scale: float, near: float, depth: Array, colors: Array, light: Array
    ) -> None:
        """Draw the ground where nothing is in front of it."""
        height, width = depth.shape
        x, y = np.meshgrid(
            np.arange(width) + 0.5 - 0.5 * width, 0.5 * height - 0.5 - np.arange(height)
        )
        rays_W = np.stack([x / scale, y / scale, np.full(x.shape, -1.0)], -1) @ view[:3, :3]
        eye = -view[:3, :3].T @ view[:3, 3]
        with np.errstate(divide="ignore", invalid="ignore"):
            far = -eye[2] / rays_W[..., 2]
            points = eye[:2] + far[..., None] * rays_W[..., :2]
            at = (points - self._middle) / TILE
            shown: Booleans = (
                (far >= near) & (far < depth) & (np.abs(at) < 0.5 * TILES).all(axis=-1)
            )
        depth[shown] = far[shown]
        tiles = np.floor(at[shown]).astype(int).sum(axis=-1) % 2
        strength = AMBIENT + max(0.0, float(light[2])) * (eye[2] > 0.0)
        colors[shown] = np.minimum(strength * WHITE * TILE_COLORS[tiles], WHITE)


def _placed(made: Mesh, row: Array, color: Rgba) -> PaintedTriangles:
    """Triangles of a shape in its body's frame, placed by the body's state row."""
    vertices, normals, faces = made
    corners = so3.rotate(row[Q], vertices) + row[P]
    return PaintedTriangles(corners[faces], so3.rotate(row[Q], normals)[faces], color)


def _lit(
    drawn: Sequence[PaintedTriangles],
    triangles: Array,
    place: Array,
    corners_C: Array,
    view: Array,
    light: Array,
) -> Array:
    """Colours (n, 3) of places on triangles: what comes from everywhere, and Lambert's law of the light."""
    counts = [len(each.corners_W) for each in drawn]
    painted = np.repeat(np.array([each.color[:3] for each in drawn]), counts, axis=0)
    normals = np.einsum(
        "nk,nki->ni", place, np.concatenate([each.normals_W for each in drawn])[triangles]
    )
    points_C = np.einsum("nk,nki->ni", place, corners_C[triangles])
    away = np.einsum("ni,ni->n", normals @ view[:3, :3].T, points_C) > 0.0
    normals[away] *= -1.0  # the side that is looked at
    size = np.maximum(np.linalg.norm(normals, axis=1), 1e-9)
    strength = AMBIENT + np.maximum(0.0, normals @ light / size)
    return np.minimum(WHITE * painted[triangles] * strength[:, None], WHITE)


@njit(cache=True)
def rasterize(
    corners_C: Array, scale: float, near: float, depth: Array, triangles: Array, place: Array
) -> None:
    """Find the nearest triangle in every pixel.

    A pixel's ray is d = (x, y, -1). With the corners as columns of M, M w = d gives the place on the triangle in
    homogeneous coordinates: it is hit where all w >= 0, at the depth 1 / sum(w) (Olano and Greer, Triangle scan
    conversion using 2D homogeneous coordinates, 1997, section 4). So no triangle has to be clipped.

    Args:
        corners_C: (n, 3, 3) corners of the triangles in camera axes: x right, y up, looking along -z [m].
        scale: pixels for a unit of x at depth 1.
        near: least depth that is seen [m].
        depth: (h, w) along the view [m]; what is nearer than it is written.
        triangles: (h, w) numbers of triangles.
        place: (h, w, 3) shares of the corners, which sum up to 1.
    """
    height, width = depth.shape
    for n in range(len(corners_C)):
        a, b, c = vec(corners_C[n, 0]), vec(corners_C[n, 1]), vec(corners_C[n, 2])
        determinant = dot(a, cross(b, c))
        if (
            abs(determinant) < EDGE or min(a[2], b[2], c[2]) > -near
        ):  # seen from its edge, or behind the camera
            continue
        u, v, w = (
            cross(b, c),
            cross(c, a),
            cross(a, b),
        )  # rows of the inverse of M, times its determinant
        left, right, top, bottom = _pixels(corners_C[n], scale, near, width, height)
        for i in range(top, bottom + 1):
            y = (0.5 * height - 0.5 - i) / scale
            for j in range(left, right + 1):
                ray = ((j + 0.5 - 0.5 * width) / scale, y, -1.0)
                at = (
                    dot(u, ray) / determinant,
                    dot(v, ray) / determinant,
                    dot(w, ray) / determinant,
                )
                total = at[0] + at[1] + at[2]
                if min(at) < 0.0 or total <= 0.0 or not near <= 1.0 / total < depth[i, j]:
                    continue
                depth[i, j], triangles[i, j] = 1.0 / total, n
                put(place[i, j], scaled(1.0 / total, at))


@njit(cache=True)
def _pixels(
    corners_C: Array, scale: float, near: float, width: int, height: int
) -> tuple[int, int, int, int]:
    """First and last column and row of the pixels that may see a triangle: all where it comes too near."""
    x_low, x_high, y_low, y_high = float(width), -1.0, float(height), -1.0
    for k in range(3):
        z = -corners_C[k, 2]
        if z < near:
            return 0, width - 1, 0, height - 1
        x = corners_C[k, 0] / z * scale + 0.5 * width - 0.5
        y = 0.5 * height - 0.5 - corners_C[k, 1] / z * scale
        x_low, x_high = min(x_low, x), max(x_high, x)
        y_low, y_high = min(y_low, y), max(y_high, y)
    left, right = math.ceil(max(x_low, 0.0)), math.floor(min(x_high, width - 1.0))
    return left, right, math.ceil(max(y_low, 0.0)), math.floor(min(y_high, height - 1.0))
