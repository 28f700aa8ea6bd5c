# SPDX-License-Identifier: BSD-3-Clause
"""Images by rays on a GPU, by Warp: those of `RaySensor`, but for rounding; made for thousands of worlds."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from iap_description.arrays import Array
from iap_description.errors import BadInput
from iap_description.math.so3 import matrix_from_quaternion
from iap_description.sensors.mounts import optical
from iap_description.states import P, Q
from iap_sensors.pixel_noise import normal_table
from iap_sensors.rays.caster import NO_FACE
from iap_sensors.rays.depth_camera_spec import DepthCameraSpec
from iap_sensors.rays.images import CLEAR, KINDS, Images, RaySensor
from iap_sensors.rays.noise import Keys, RangeErrors
from iap_sensors.rays.surfaces import TriangleSurface
from iap_sensors.rays.warp.kernels import MovingMeshes, Outputs, Sensor, Shapes, take
from iap_sensors.rays.warp.library import wp
from iap_sensors.rays.world_rays import Mover, Rays

DEVICES = ("cuda", "cpu")
_NAMES = {
    "depth": "depth",
    "range": "ranges",
    "points": "points",
    "normals": "normals",
    "segmentation": "segmentation",
    "faces": "faces",
}
_TYPES = {  # of Warp's; else float32
    "points": "vec3f",
    "normals": "vec3f",
    "segmentation": "uint16",
    "faces": "int32",
}


class WarpImages:
    """Takes the images of a ray sensor in many worlds at once.

    Args:
        sensor: what it is, and which outputs are wanted.
        bodies: of the vehicles, in all worlds alike.
        device: of Warp's: ``cuda``, or ``cpu``, which is for tests.

    Raises:
        BadInput: there is no such device here.
    """

    def __init__(self, sensor: RaySensor, bodies: Sequence[Mover], device: str = "cuda") -> None:
        if device not in DEVICES:
            raise BadInput(f"rays: no device '{device}' (devices: {', '.join(DEVICES)})")
        if device == "cuda" and not wp.is_cuda_available():
            raise BadInput("rays: device 'cuda': there is no NVIDIA GPU here, or no driver of it")
        self._sensor, self._device = sensor, device
        self._movers = list(bodies)
        self._loaded: list[Rays] = []
        self._parameters = self._sensor_parameters()

    def images(
        self,
        rays: Sequence[Rays],
        x: Array,
        p_WS_W: Array,
        q_WS: Array,
        keys: Keys,
        hidden: tuple[int, ...] = (),
    ) -> Images:
        """The images of all worlds; arguments as of `RaySensor.images`, and the states `x` (B, bodies, 13)."""
        made = self.on_device(rays, x, p_WS_W, q_WS, keys, hidden)
        shape, outputs = self._sensor.pattern.shape, {}
        for name, array in made.items():
            pixels = array.numpy()
            outputs[name] = pixels.reshape(len(x), *shape, *pixels.shape[2:])
        return {name: self._looked_up(name, outputs, rays) for name in self._sensor.outputs}

    def on_device(
        self,
        rays: Sequence[Rays],
        x: Array,
        p_WS_W: Array,
        q_WS: Array,
        keys: Keys,
        hidden: tuple[int, ...] = (),
    ) -> dict[str, Any]:
        """The arrays that the kernel writes, (B, pixels) of Warp's, which others take by DLPack."""
        self._load(rays)
        is_camera = isinstance(self._sensor.spec, DepthCameraSpec)
        R_WS = matrix_from_quaternion(optical(q_WS) if is_camera else q_WS)
        out, made = self._blank(len(x))
        arrays = (
            self._array(p_WS_W, wp.vec3d),
            self._array(R_WS, wp.mat33d),
            self._array(keys, wp.uint64),
        )
        scene = (self._worlds, self._bodies_at(x, hidden), *self._tables, self._before)
        size = (len(x), len(self._sensor.pattern.cosines))
        wp.launch(
            take, dim=size, inputs=[*scene, self._parameters, *arrays, out], device=self._device
        )
        return made

    def _array(self, values: Any, kind: Any) -> Any:  # noqa: ANN401 - of Warp's
        return wp.array(np.ascontiguousarray(values), dtype=kind, device=self._device)

    def _blank(self, count: int) -> tuple[Any, dict[str, Any]]:
        """Room for what is wanted, and for the faces, of which the user's labels are looked up."""
        names = {"faces" if name == "labels" else name for name in self._sensor.outputs}
        out: Any = Outputs()
        made: dict[str, Any] = {}
        for name, field in _NAMES.items():
            kind = getattr(wp, _TYPES.get(name, "float32"))
            shape = (count, len(self._sensor.pattern.cosines)) if name in names else (0, 0)
            array = wp.empty(shape, dtype=kind, device=self._device)
            setattr(out, field, array)
            if name in names:
                made[name] = array
        return out, made

    def _looked_up(self, name: str, arrays: Images, rays: Sequence[Rays]) -> Any:  # noqa: ANN401
        """An output as it is, or the user's labels of the faces that were hit."""
        if name in arrays:
            return arrays[name]
        kind, _, nothing = KINDS[name]
        faces = arrays["faces"]
        out: Any = np.empty(faces.shape, kind)
        for b, one in enumerate(rays):
            out[b] = np.where(faces[b] == NO_FACE, nothing, one.labels[faces[b]])
        return out

    def _load(self, rays: Sequence[Rays]) -> None:
        """Make the meshes of worlds that are new, once for those that share one."""
        same = len(rays) == len(self._loaded)
        if same and all(a.surface is b.surface for a, b in zip(rays, self._loaded, strict=True)):
            return
        unique = {id(one.surface): one for one in rays}
        surfaces = [one.surface for one in unique.values()]
        everything = [*surfaces, *(mover.surface for mover in self._movers)]
        self._meshes = [self._mesh(surface) for surface in everything]
        firsts = np.cumsum([0, *(len(each.corners) for each in everything)])
        place = {key: k for k, key in enumerate(unique)}
        indices = np.array([place[id(one.surface)] for one in rays])
        ids = np.array([mesh.id for mesh in self._meshes], np.uint64)
        self._worlds = Shapes()
        self._worlds.mesh = self._array(ids[indices], wp.uint64)
        self._worlds.first = self._array(firsts[indices].astype(np.int32), wp.int32)
        solid = np.concatenate([each.is_solid for each in everything]).astype(np.uint8)
        segments = np.concatenate([each.segments for each in everything]).astype(np.uint16)
        self._tables = self._array(solid, wp.uint8), self._array(segments, wp.uint16)
        firsts_moving = firsts[len(unique) : -1]
        self._ids, self._firsts_moving = ids[len(unique) :], firsts_moving.astype(np.int32)
        counts = np.array([len(one.surface.corners) for one in rays])
        before = counts[:, None] + (firsts_moving - firsts[len(unique)])
        self._before = self._array(before.astype(np.int32), wp.int32)
        self._loaded = list(rays)

    def _mesh(self, surface: TriangleSurface) -> Any:  # noqa: ANN401 - of Warp's
        corners = surface.corners if len(surface.corners) else np.full((1, 3, 3), 1e9)
        points = self._array(corners.reshape(-1, 3).astype(np.float32), wp.vec3f)
        return wp.Mesh(points, self._array(np.arange(3 * len(corners), dtype=np.int32), wp.int32))

    def _bodies_at(self, x: Array, hidden: tuple[int, ...]) -> MovingMeshes:
        bodies = MovingMeshes()
        bodies.mesh = self._array(self._ids, wp.uint64)
        bodies.first = self._array(self._firsts_moving, wp.int32)
        bodies.radius = self._array(np.array([m.radius for m in self._movers]), wp.float64)
        flags = np.isin(np.arange(len(self._movers)), hidden).astype(np.int32)
        bodies.hidden = self._array(flags, wp.int32)
        bodies.p = self._array(x[..., P], wp.vec3d)
        bodies.R = self._array(matrix_from_quaternion(x[..., Q]), wp.mat33d)
        return bodies

    def _sensor_parameters(self) -> Sensor:
        spec, pattern, errors = (
            self._sensor.spec,
            self._sensor.pattern,
            RangeErrors.of(self._sensor.spec),
        )
        outputs = Sensor()
        outputs.starts = self._array(pattern.bundle.starts_S, wp.vec3f)
        outputs.ways = self._array(pattern.bundle.ways_S, wp.vec3f)
        outputs.reach = self._array(pattern.bundle.reach, wp.float32)
        outputs.cosines = self._array(pattern.cosines, wp.float64)
        outputs.table = self._array(normal_table(), wp.float32)
        numbers = {**errors._asdict(), "start": pattern.start, "clear": CLEAR}
        if isinstance(spec, DepthCameraSpec):
            numbers |= {"baseline": spec.baseline, "half_width": 0.5 * spec.width / spec.focal[0]}
        for name, value in numbers.items():
            setattr(outputs, name, value)
        return outputs
