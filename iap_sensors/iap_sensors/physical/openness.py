# SPDX-License-Identifier: BSD-3-Clause
"""Shares of the sky's light that come to places of a scene, and how much of what stands around, by rays from a grid.

Where rays w_i, spread evenly, end is found once for each scene and kept in the user's cache folder. A ray that leaves
the scene brings the sky's luminance. One that ends brings albedo / pi times the illuminance there: the sky's, of which
the place has a share of its own, and the sun's on level ground. From luminances R_i follow r_0 = mean(R_i) and
r = 2 mean(R_i w_i), an irradiance volume (Greger et al., IEEE Computer Graphics and Applications 18(2), 1998). Of an
unobstructed sky they are e_0 and e. A surface with normal n gets the share (r_0 + r . n) / (e_0 + e . n).
"""

import hashlib
import io
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import numpy as np
from numpy.typing import NDArray

from iap_description.arrays import Array, Booleans
from iap_description.config.array_files import DAMAGE
from iap_description.kernel_folder import user_cache, writable
from iap_io.runs.run_folder import write_file
from iap_sensors.cameras.geometry import Geometry
from iap_sensors.physical.environment import Environment
from iap_sensors.physical.material_maps import MaterialMaps
from iap_sensors.physical.sky_image import LUMINANCE, directions
from iap_sensors.rays.embree import EmbreeCaster
from iap_sensors.rays.surfaces import TriangleSurface

POINTS, RAYS = 16_000, 64
LEAST_CELL, MARGIN = 0.4, 2.0  # [m]
REACH = 300.0  # of rays [m]
INSIDE = 0.2  # share of rays that leave a solid, from which a point is in it
LEVEL = 0.7  # upward part of the normal of what reflects the sun's light
BOUNCES = 3  # of light between what stands around
LARGEST_SHARE = 4.0
RAY_END = np.dtype([("cell", np.int32), ("albedo", np.uint8), ("normal", np.int8, 3)])
SKY, INNER = -1, -2  # in place of a cell: of rays that leave the scene, and of points in solids


@dataclass(frozen=True, eq=False)
class Openness:
    """Shares of light in a scene.

    Attributes:
        lower: (3,) corner of the box that the grid fills [m].
        cell: side of a cell [m].
        values: (nz, ny, nx, 4) r_0 and r at the middles of cells.
        free: (4,) e_0 and e.
    """

    lower: Array
    cell: float
    values: Array
    free: Array

    @classmethod
    def of(
        cls, geometry: Geometry, maps: MaterialMaps, standing: Booleans, environment: Environment
    ) -> Self | None:
        """Shares of light among what stands still; None where nothing is higher than the ground.

        Args:
            geometry: of the scene and of bodies.
            maps: materials of both.
            standing: (parts,) those that cast shadows.
            environment: with the light.
        """
        if not standing.any():
            return None
        grid = RayGrid.of(geometry, maps, standing)
        ways = _even_directions(RAYS)
        sky, image = _luminance_towards(environment.sky_in_fog, ways), environment.sky_in_fog
        sun = float(environment.sun @ LUMINANCE) * grid.sunlit(environment.sun_W)
        values = grid.light(sky, _lit(image), sun, environment.sun_W)
        free = np.append(sky.mean(), 2.0 * sky @ ways / RAYS)
        return cls(grid.lower, grid.cell, values, free)

    def at(self, points: Array, normals: Array) -> Array:
        """Shares (n,) at points (n, 3) of surfaces with normals (n, 3), by the nearest cells."""
        cells = np.floor((points - self.lower) / self.cell).astype(int)
        x, y, z = np.clip(cells, 0, np.array(self.values.shape[2::-1]) - 1).T
        near = self.values[z, y, x]
        got = near[:, 0] + np.einsum("ni,ni->n", near[:, 1:], normals)
        whole = np.maximum(self.free[0] + normals @ self.free[1:], 1e-9)
        return np.clip(got / whole, 0.0, LARGEST_SHARE)


@dataclass(frozen=True, eq=False)
class RayGrid:
    """Ends of rays from the points of a grid.

    Attributes:
        lower: see `Openness`.
        cell: see `Openness`.
        shape: (3,) numbers of cells along z, y and x.
        ends: (points, RAYS) of `RAY_END`.
        corners: (n, 3, 3) triangles that rays end at.
    """

    lower: Array
    cell: float
    shape: Array
    ends: NDArray[np.void]
    corners: Array

    @classmethod
    def of(cls, geometry: Geometry, maps: MaterialMaps, standing: Booleans) -> Self:
        """The grid of a scene, read where it is there already."""
        counts = np.diff(geometry.firsts)
        still = np.repeat((geometry.rows < 0) & (geometry.opacity == 1.0), counts)
        corners = geometry.corners[:, :3].astype(float)[geometry.faces]
        casters = corners[np.repeat(standing, counts)].reshape(-1, 3)
        lower, upper = casters.min(axis=0) - MARGIN, casters.max(axis=0) + MARGIN
        lower[2] = max(lower[2], min(casters[:, 2].min(), 0.0))
        cell = max(LEAST_CELL, float((np.prod(upper - lower) / POINTS) ** (1.0 / 3.0)))
        shape = np.ceil((upper - lower) / cell).astype(int)[::-1]
        albedo = _albedos(geometry, maps)[still]
        path = _folder() / f"{_key(corners[still], albedo, lower, cell)}.npy"
        ends = _read(path, (int(np.prod(shape)), RAYS))
        if ends is None:
            ends = _cast(corners[still], albedo, lower, cell, shape)
            data = io.BytesIO()
            np.save(data, ends)
            write_file(path, data.getvalue())
        return cls(lower, cell, shape, ends, corners[still])

    def sunlit(self, sun_W: Array) -> Array:
        """1 for points (n,) in the sun, 0 for others."""
        if sun_W[2] <= 0.0:
            return np.zeros(len(self.ends))
        starts = _points(self.lower, self.cell, self.shape).astype(np.float32)
        ways = np.tile(sun_W, (len(starts), 1)).astype(np.float32)
        reach = np.full(len(starts), REACH, np.float32)
        return np.where(_caster(self.corners).is_blocked(starts, ways, reach), 0.0, 1.0)

    def light(self, sky: Array, lit: Array, sun: Array, sun_W: Array) -> Array:
        """Values (nz, ny, nx, 4), see `Openness`.

        Args:
            sky: (RAYS,) luminance of the sky.
            lit: (4,) illuminance over pi of an unobstructed plane by its normal, a + b . n.
            sun: (points,) illuminance of the sun across its rays.
            sun_W: (3,) towards it.
        """
        ways, ends = _even_directions(RAYS), self.ends
        is_hit = ends["cell"] >= 0
        cell, normal = ends["cell"][is_hit], ends["normal"][is_hit] / 127.0
        albedo = ends["albedo"][is_hit] / 255.0
        # Walls in the sun are left out: four harmonics do not tell them from what they light.
        is_level = normal[:, 2] > LEVEL
        direct = is_level * sun[cell] * np.maximum(normal @ sun_W, 0.0) / np.pi
        free = np.append(sky.mean(), 2.0 * sky @ ways / RAYS)
        even = np.maximum(lit[0] + normal @ lit[1:], 0.0)
        whole = np.maximum(free[0] + normal @ free[1:], 1e-9)
        R = np.where(is_hit, 0.0, sky)
        inner = ends["cell"][:, 0] == INNER
        values = self._spread(R, ways, inner)
        for _ in range(BOUNCES):
            near = values[cell]
            got = near[:, 0] + np.einsum("ni,ni->n", near[:, 1:], normal)
            R[is_hit] = albedo * (even * np.clip(got / whole, 0.0, LARGEST_SHARE) + direct)
            values = self._spread(R, ways, inner)
        return values.reshape(*self.shape, 4)

    def _spread(self, R: Array, ways: Array, inner: Booleans) -> Array:
        """Values (points, 4) of luminances (points, RAYS)."""
        values = np.column_stack([R.mean(axis=1), 2.0 * R @ ways / RAYS])
        return _filled(values, inner, self.shape).reshape(-1, 4)


def _cast(
    corners: Array, albedo: Array, lower: Array, cell: float, shape: Array
) -> NDArray[np.void]:
    """Ends of rays (points, RAYS) among triangles (n, 3, 3) of an albedo (n,)."""
    points, ways = _points(lower, cell, shape), _even_directions(RAYS)
    starts = np.repeat(points, RAYS, axis=0).astype(np.float32)
    rays = np.tile(ways, (len(points), 1)).astype(np.float32)
    hits = _caster(corners).first_hits(starts, rays, np.full(len(rays), REACH, np.float32))
    there = hits.face >= 0
    normals = np.where(there[:, None], hits.normal, 0.0).astype(float)
    normals /= np.maximum(np.linalg.norm(normals, axis=1), 1e-12)[:, None]
    is_back = there & (np.einsum("ij,ij->i", normals, rays) > 0.0)
    leaves = is_back & ~_has_two_sides(corners)[np.maximum(hits.face, 0)]
    is_inside = leaves.reshape(-1, RAYS).mean(axis=1) > INSIDE
    normals[is_back] *= -1.0
    places = starts + hits.distance[:, None] * rays + 0.5 * cell * normals
    at = np.clip(np.floor((places - lower) / cell).astype(int), 0, shape[::-1] - 1)
    ends = np.zeros(len(rays), RAY_END)
    flat = (at[:, 2] * shape[1] + at[:, 1]) * shape[2] + at[:, 0]
    ends["cell"] = np.where(there, flat, SKY)
    ends["albedo"] = np.where(there, np.round(255.0 * albedo[np.maximum(hits.face, 0)]), 0)
    ends["normal"] = np.round(127.0 * normals)
    by_place = ends.reshape(-1, RAYS)
    by_place["cell"][is_inside] = INNER
    return by_place


def _has_two_sides(corners: Array) -> Booleans:
    """True for those of triangles (n, 3, 3) that are there twice, as what is open is: a ray ends at either."""
    _, points = np.unique(corners.reshape(-1, 3), axis=0, return_inverse=True)
    sets = np.sort(points.reshape(-1, 3), axis=1)
    _, kinds, counts = np.unique(sets, axis=0, return_inverse=True, return_counts=True)
    return np.asarray(counts[kinds.reshape(-1)] > 1)


def _caster(corners: Array) -> EmbreeCaster:
    return EmbreeCaster.of(TriangleSurface.of([corners], is_solid=False, label=0))


def _points(lower: Array, cell: float, shape: Array) -> Array:
    """Middles (n, 3) of the cells of a grid."""
    z, y, x = np.indices(shape.tolist()).reshape(3, -1)
    return np.asarray(lower + cell * (np.stack([x, y, z], -1) + 0.5))


def _albedos(geometry: Geometry, maps: MaterialMaps) -> Array:
    """Mean albedo (faces,) of materials."""
    layers = (maps.stack[..., :3].astype(np.float32) / 255.0) ** 2
    of_layer = layers.mean(axis=(1, 2)) @ LUMINANCE
    first = maps.attributes[geometry.faces[:, 0]]
    return np.asarray(of_layer[first["layer"].astype(int)] * (first["tint"][:, :3] @ LUMINANCE))


def _even_directions(count: int) -> Array:
    """Unit vectors (n, 3) spread evenly, on a Fibonacci spiral."""
    k = np.arange(count) + 0.5
    z, turn = 1.0 - 2.0 * k / count, np.pi * (1.0 + 5.0**0.5) * k
    level = np.sqrt(1.0 - z * z)
    return np.stack([level * np.cos(turn), level * np.sin(turn), z], -1)


def _luminance_towards(image: Array, ways: Array) -> Array:
    """Mean luminance (n,) of what of a sky (h, w, 3) lies nearest to directions (n, 3)."""
    d, sizes = directions(*image.shape[:2])
    nearest = np.argmax(d.reshape(-1, 3).astype(np.float32) @ ways.T.astype(np.float32), axis=1)
    weights = sizes.ravel()
    total = np.bincount(nearest, weights * (image.reshape(-1, 3) @ LUMINANCE), len(ways))
    return np.asarray(total / np.bincount(nearest, weights, len(ways)))


def _lit(image: Array) -> Array:
    """(4,) a and b of the illuminance over pi, a + b . n, of planes by a sky (h, w, 3)."""
    d, sizes = directions(*image.shape[:2])
    light = image @ LUMINANCE * sizes / (4.0 * np.pi)
    return np.append(light.sum(), 2.0 * np.einsum("hw,hwk->k", light, d))


def _filled(values: Array, is_inside: Booleans, shape: Array) -> Array:
    """Values of a grid in which points within solids have those of their neighbours."""
    grid = np.pad(values.reshape(*shape, 4), ((1, 1), (1, 1), (1, 1), (0, 0)))
    known = np.pad((~is_inside).reshape(shape), 1)
    inner = np.pad(np.ones(shape, bool), 1)
    for _ in range(2):
        total, count = np.zeros_like(grid), np.zeros(known.shape)
        for axis in range(3):
            for step in (-1, 1):
                total += np.roll(grid * known[..., None], step, axis)
                count += np.roll(known, step, axis)
        new = ~known & (count > 0) & inner
        grid[new] = total[new] / count[new][:, None]
        known |= new
    return np.where(known[..., None], grid, 0.0)[1:-1, 1:-1, 1:-1]


def _folder() -> Path:
    return writable(user_cache() / "iap" / "openness")


def _key(*arrays: Array | float) -> str:
    """A key of all that ends of rays depend on: the triangles, the grid, and this module."""
    digest = hashlib.sha256(Path(__file__).read_bytes())
    for each in arrays:
        digest.update(np.ascontiguousarray(each, float).tobytes())
    return digest.hexdigest()[:24]


def _read(path: Path, shape: tuple[int, ...]) -> NDArray[np.void] | None:
    """Ends of a file; None where there is none, or it was cut short."""
    try:
        ends: NDArray[np.void] = np.load(path, allow_pickle=False)
    except DAMAGE:
        return None
    return ends if ends.shape == shape and ends.dtype == RAY_END else None
