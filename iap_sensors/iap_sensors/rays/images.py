# SPDX-License-Identifier: BSD-3-Clause
"""Images by rays: depths, ranges, labels, normals and points of a depth camera or a lidar, of one world or of many."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numba import njit

from iap_description.arrays import Array, Booleans
from iap_description.errors import BadInput
from iap_description.sensors.mounts import optical
from iap_sensors.pixel_noise import normal_table
from iap_sensors.rays.caster import NO_FACE, Bundle, Hits, Numbers, Single
from iap_sensors.rays.depth_camera_spec import DepthCameraSpec
from iap_sensors.rays.lidar_spec import LidarSpec
from iap_sensors.rays.noise import Keys, RangeErrors, measure
from iap_sensors.rays.patterns import pattern_of
from iap_sensors.rays.turning import matrix_of
from iap_sensors.rays.world_rays import Rays, RayView

Images = dict[str, np.ndarray]
Share = Callable[[Callable[[int, int], None], int], None]
KINDS: dict[str, tuple[type, tuple[int, ...], Any]] = {  # type, more axes, where nothing is seen
    "depth": (np.float32, (), np.inf),
    "range": (np.float32, (), np.inf),
    "points": (np.float32, (3,), np.nan),
    "normals": (np.float32, (3,), np.nan),
    "segmentation": (np.uint16, (), 0),
    "labels": (np.int32, (), -1),
    "faces": (np.int32, (), NO_FACE),
}
MEASURED = ("depth", "range", "points")
CLEAR = 1e-3  # before a point, up to which the second imager's view of it must be free [m]


def by_itself(work: Callable[[int, int], None], count: int) -> None:
    """Do all work at once, on this thread."""
    work(0, count)


class RaySensor:
    """A depth camera or a lidar whose images are arrays.

    | output | per pixel |
    |---|---|
    | `depth` | along the view [m]; cameras only |
    | `range` | along the ray [m] |
    | `points` | (3,) in the frame S of the data [m]: a camera's optical frame, a lidar's own |
    | `normals` | (3,) of the surface, in `map`, of unit length, towards the sensor |
    | `segmentation` | label as the renderers have it |
    | `labels` | the user's label of the face, see `Rays.labels` |
    | `faces` | number of the triangle |

    What is measured has the sensor's errors. Depths and ranges are infinite where nothing is within range, -infinite
    where something is nearer, NaN where a pixel fails (`iap_sensors.rays.noise.measure`); points are NaN in all three
    cases. The others are true, and say what each ray hits.

    Args:
        spec: what it is.
        outputs: that are wanted.

    Attributes:
        spec: as given.
        outputs: as given.
        pattern: its rays.

    Raises:
        BadInput: an output is unknown, or not one of this sensor.
    """

    def __init__(self, spec: DepthCameraSpec | LidarSpec, outputs: Sequence[str]) -> None:
        unknown = [each for each in outputs if each not in KINDS]
        if unknown:
            raise BadInput(f"no output '{unknown[0]}' of rays (outputs: {', '.join(KINDS)})")
        self.spec, self.outputs, self.pattern = spec, tuple(outputs), pattern_of(spec)
        self._is_camera = spec.IS_CAMERA
        is_flat = isinstance(spec, DepthCameraSpec) and spec.projection == "pinhole"
        if "depth" in outputs and not is_flat:
            raise BadInput(
                "output 'depth': lidars and fisheyes measure along rays: ask for 'range'"
            )
        self._errors = RangeErrors.of(spec)
        self._ways = self.pattern.bundle.ways_S

    def images(
        self,
        rays: Sequence[Rays],
        p_WS_W: Array,
        q_WS: Array,
        keys: Keys,
        hidden: tuple[int, ...] = (),
        *,
        share: Share = by_itself,
    ) -> Images:
        """One image of each output in each of B worlds.

        Args:
            rays: of each world, in its state; each its own where threads share them.
            p_WS_W: (B, 3) places of the mounts [m].
            q_WS: (B, 4) attitudes of the mounts, which look along x, xyzw.
            keys: (B,) of the images' errors, see `iap_sensors.rays.noise.frame_keys`.
            hidden: rows of the bodies that are not seen, such as the one that carries the sensor.
            share: runs work on worlds first to last - 1, perhaps on several threads.

        Returns:
            Arrays (B, rows, columns) or (B, rows, columns, 3) by the outputs' names.
        """
        out = {name: self._blank(name, len(p_WS_W)) for name in self.outputs}
        turns = optical(q_WS) if self._is_camera else q_WS

        def work(first: int, last: int) -> None:
            for b in range(first, last):
                p, R_WS = np.ascontiguousarray(p_WS_W[b]), matrix_of(turns[b])
                self._take(rays[b], p, R_WS, keys[b], hidden, b, out)

        share(work, len(p_WS_W))
        return out

    def _blank(self, name: str, count: int) -> np.ndarray:
        kind, axes, _ = KINDS[name]
        return np.empty((count, *self.pattern.shape, *axes), kind)

    def _take(
        self,
        rays: Rays,
        p_WS_W: Array,
        R_WS: Array,
        key: np.uint64,
        hidden: tuple[int, ...],
        b: int,
        out: Images,
    ) -> None:
        """Write the images of one world."""
        pattern = self.pattern
        view = RayView(pattern.bundle, p_WS_W, R_WS, pattern.axis_S, pattern.half, hidden)
        hits = rays.first_hits(view)
        if any(name in MEASURED for name in self.outputs):
            self._write_measured(rays, view, hits, key, b, out)
        if "normals" in out:
            pixels = _flat(out, "normals", b)
            _face_sensor(hits.normal, hits.face, view.R_WS, self._ways, pixels)
        if "segmentation" in out:
            _look_up(rays.segments, hits.face, 0, _flat(out, "segmentation", b))
        if "labels" in out:
            _look_up(rays.labels, hits.face, -1, _flat(out, "labels", b))
        if "faces" in out:
            _flat(out, "faces", b)[:] = hits.face

    def _write_measured(
        self, rays: Rays, view: RayView, hits: Hits, key: np.uint64, b: int, out: Images
    ) -> None:
        pattern, measured = self.pattern, np.empty(len(hits.face), np.float32)
        shaded = self._shaded(rays, view, hits)
        how = (pattern.start, pattern.cosines, self._errors, key, normal_table())
        measure(hits, shaded, *how, measured)
        if "depth" in out:
            _flat(out, "depth", b)[:] = measured
        if "range" in out or "points" in out:
            ranges = (measured / pattern.cosines).astype(np.float32)
            if "range" in out:
                _flat(out, "range", b)[:] = ranges
            if "points" in out:
                lengths = np.where(np.isfinite(ranges), ranges, np.float32(np.nan))
                np.multiply(lengths[:, None], self._ways, out=_flat(out, "points", b))

    def _shaded(self, rays: Rays, view: RayView, hits: Hits) -> Booleans:
        """Flags (n,) of the hits that the second imager of a stereo camera does not see."""
        shaded = np.zeros(len(hits.face), dtype=bool)
        spec = self.spec
        if not isinstance(spec, DepthCameraSpec) or spec.baseline == 0.0:
            return shaded
        half_width = 0.5 * spec.width / spec.focal[0]  # of the image at z = 1
        second, in_image = _to_second_imager(
            hits, self._ways, (spec.baseline, half_width, CLEAR), shaded
        )
        ways, reach = second
        p_WR_W = view.p_WS_W + view.R_WS[:, 0] * spec.baseline
        bundle = Bundle(np.zeros_like(ways), ways, reach, float(reach.max(initial=0.0)))
        back = RayView(bundle, p_WR_W, view.R_WS, view.axis_S, view.half, view.hidden)
        shaded[in_image] = rays.is_blocked(back)
        return shaded


def _flat(out: Images, name: str, b: int) -> np.ndarray:
    """An image of one world as a row of pixels, a view."""
    image = out[name][b]
    return image.reshape(-1, *image.shape[2:])


@njit(cache=True, nogil=True)
def _look_up(values: Numbers, face: Numbers, nothing: int, out: np.ndarray) -> None:
    for i in range(len(face)):
        out[i] = values[face[i]] if face[i] >= 0 else nothing


@njit(cache=True, nogil=True)
def _face_sensor(normal: Single, face: Numbers, R_WS: Array, ways_S: Single, out: Single) -> None:
    """Write normals (n, 3) in `map`, of unit length and towards the sensor."""
    for i in range(len(face)):
        if face[i] < 0:
            out[i] = np.nan
            continue
        square, along = 0.0, 0.0
        for k in range(3):
            n = np.float64(normal[i, k])
            way = 0.0
            for j in range(3):
                way += R_WS[k, j] * ways_S[i, j]
            square += n * n
            along += n * way
        scale = (-1.0 if along > 0.0 else 1.0) / np.sqrt(square)
        for k in range(3):
            out[i, k] = scale * normal[i, k]


@njit(cache=True, nogil=True)
def _to_second_imager(
    hits: Hits, ways_S: Single, geometry: tuple[float, float, float], shaded: Booleans
) -> tuple[tuple[Single, Single], np.ndarray]:
    """Rays from the second imager to the points that are in its image: ways, reaches, and numbers of their pixels.

    Args:
        hits: of the first imager.
        ways_S: (n, 3) in its optical frame.
        geometry: baseline [m], half width of the image at z = 1, and what is left out before a point [m].
        shaded: (n,) set where a point is not in the second image.
    """
    baseline, half_width, clear = geometry
    distance, face = hits.distance, hits.face
    ways = np.empty((len(face), 3), np.float32)
    reach = np.empty(len(face), np.float32)
    numbers = np.empty(len(face), np.int64)
    count = 0
    for i in range(len(face)):
        if face[i] < 0:
            continue
        x = np.float64(distance[i]) * ways_S[i, 0] - baseline
        y = np.float64(distance[i]) * ways_S[i, 1]
        z = np.float64(distance[i]) * ways_S[i, 2]
        if abs(x) > half_width * z:
            shaded[i] = True
            continue
        d = np.sqrt(x * x + y * y + z * z)
        ways[count, 0], ways[count, 1], ways[count, 2] = x / d, y / d, z / d
        reach[count] = d - clear * max(1.0, d)
        numbers[count] = i
        count += 1
    return (ways[:count], reach[:count]), numbers[:count]
