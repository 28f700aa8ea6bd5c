# SPDX-License-Identifier: BSD-3-Clause
"""A scene in Mitsuba, and light along the rays of a pinhole; imported in the child process, once a variant is set."""

from typing import Any

import numpy as np

from iap_description.process.extras import missing
from iap_sensors.path_tracing.messages import LampLevels, LightRequest, Poses
from iap_sensors.path_tracing.traced_scene import Singles, TracedGroup, TracedLamp, TracedScene

try:
    import drjit as dr
    import mitsuba as mi
except ImportError as error:
    raise missing("mitsuba", "path tracing needs", "pathtracer") from error

Wide = Any  # of Dr.Jit or Mitsuba

MAX_DEPTH, ROULETTE_DEPTH = 6, 3  # of paths
SAMPLES_AT_ONCE = 4  # of each pixel
LOOKS = 4  # of each pixel, for the denoiser
BRIGHTEST = 2000.0  # luminance of a path over that of a white surface that images are exposed for
SKY_OF_MAP = [
    [0, 0, 1, 0],
    [1, 0, 0, 0],
    [0, 1, 0, 0],
    [0, 0, 0, 1],
]  # Mitsuba's skies have y upwards
SMALLEST_ROUGHNESS = 0.06
MATTE_LAYER = 1  # of `MaterialMaps`


class MitsubaScene:
    """A scene that is loaded.

    Args:
        scene: to load.
        is_vectorised: whether the variant computes many rays at once, with matter of the suite's own.
    """

    def __init__(self, scene: TracedScene, *, is_vectorised: bool) -> None:
        self._scene, self._is_vectorised = scene, is_vectorised
        tree: dict[str, Any] = {"type": "scene", **_lights(scene)}
        self._matters: list[Wide] = []
        self._names: dict[str, TracedGroup] = {}
        for number, group in enumerate(scene.groups):
            pieces = [group] if is_vectorised else list(_by_look(group))
            for part, piece in enumerate(pieces):
                name = f"g{number}_{part}"
                tree[name] = self._mesh(name, piece)
                if group.moves:
                    self._names[name] = piece
        self._mi = mi.load_dict(tree)
        self._parameters = mi.traverse(self._mi)
        path = {"type": "path", "max_depth": MAX_DEPTH, "rr_depth": ROULETTE_DEPTH}
        self._integrator = mi.load_dict(path)

    def place(self, poses: Poses) -> None:
        """Move the bodies: their corners (n, 6) in `map`, of which those of hidden ones shrink to a point."""
        for name, group in self._names.items():
            corners = poses.corners[group.vertices - poses.first]
            vertices = np.ascontiguousarray(corners[:, :3])
            hidden = poses.hidden[group.vertices - poses.first]
            vertices[hidden] = vertices[hidden][:1]
            self._parameters[f"{name}.vertex_positions"] = vertices.ravel()
            self._parameters[f"{name}.vertex_normals"] = corners[:, 3:].ravel()
        self._parameters.update()

    def dim(self, dimmed: LampLevels) -> None:
        """Let lamps shine with shares of their light."""
        for number, (lamp, level) in enumerate(zip(self._scene.lamps, dimmed.levels, strict=True)):
            color = [float(level) * each for each in lamp.intensity]
            self._parameters[f"lamp{number}.intensity.value"] = mi.Color3f(*color)
        self._parameters.update()

    def light(self, asked: LightRequest) -> tuple[Singles, Singles, Singles]:
        """Luminance (h, w, 3) that a pinhole sees, and albedo and normal there for the denoiser."""
        if self._is_vectorised:
            return self._vectorised(asked)
        return self._scalar(asked)

    def _mesh(self, name: str, group: TracedGroup) -> Wide:
        properties = mi.Properties()
        if self._is_vectorised:
            from iap_sensors.path_tracing.matter_bsdf import MatterBsdf

            bsdf = MatterBsdf(self._scene.matter, group)
            self._matters.append(bsdf)
        else:
            bsdf = mi.load_dict(_principled(self._scene, group))
        if group.opacity < 1.0:
            bsdf = mi.load_dict({"type": "mask", "opacity": group.opacity, "bsdf": bsdf})
        properties["mesh_bsdf"] = bsdf
        if group.glow is not None:
            image = mi.Bitmap(np.ascontiguousarray(group.glow[::-1]))
            radiance = {"type": "bitmap", "bitmap": image, "raw": True}
            properties["mesh_emitter"] = mi.load_dict({"type": "area", "radiance": radiance})
        counts = len(group.vertices), len(group.faces)
        mesh = mi.Mesh(
            name, *counts, has_vertex_normals=True, has_vertex_texcoords=True, props=properties
        )
        corners = self._scene.corners[group.vertices]
        values = mi.traverse(mesh)
        values["vertex_positions"] = np.ascontiguousarray(corners[:, :3]).ravel()
        values["vertex_normals"] = np.ascontiguousarray(corners[:, 3:]).ravel()
        values["vertex_texcoords"] = group.uv.ravel()
        values["faces"] = group.faces.ravel()
        values.update()
        return mesh

    def _vectorised(self, asked: LightRequest) -> tuple[Singles, Singles, Singles]:
        total = np.zeros((asked.height * asked.width, 3), np.float32)
        done, run = 0, 0
        while done < asked.spp:
            count = min(SAMPLES_AT_ONCE, asked.spp - done)
            total += self._pass(asked, count, run)
            done, run = done + count, run + 1
        shape = asked.height, asked.width, 3
        albedo, normal = self._look(asked)
        mean = (total / np.float32(asked.spp)).astype(np.float32)
        return mean.reshape(shape), albedo.reshape(shape), normal.reshape(shape)

    def _rays(self, asked: LightRequest, sampler: Wide, count: int) -> Wide:
        """Rays through random places of every pixel, some for each."""
        index = dr.arange(mi.UInt32, asked.height * asked.width * count) // count
        u, v = mi.Float(index % asked.width), mi.Float(index // asked.width)
        off = sampler.next_2d() - 0.5
        u, v = u + off.x, v + off.y
        fx, fy, cx, cy = (mi.Float(each) for each in asked.pinhole)
        R, origin = mi.Matrix3f(asked.R_WC), mi.Point3f(asked.p_WC_W)
        dr.make_opaque(fx, fy, cx, cy, R, origin)
        d_C = mi.Vector3f((u - cx) / fx, (v - cy) / fy, 1.0)
        ray = mi.Ray3f(origin, R @ dr.normalize(d_C))
        ray.o += ray.d * (asked.near * dr.norm(d_C))
        return mi.RayDifferential3f(ray)

    def _pass(self, asked: LightRequest, count: int, run: int) -> Singles:
        sampler = mi.load_dict({"type": "independent"})
        sampler.seed(asked.seed + run, asked.height * asked.width * count)
        ray = self._rays(asked, sampler, count)
        light, _, _ = self._integrator.sample(self._mi, sampler, ray)
        light = dr.select(dr.isfinite(light), dr.clip(light, 0.0, BRIGHTEST * asked.white), 0.0)
        means = [dr.block_sum(each, count) for each in light]
        return np.stack([np.array(each) for each in means], -1)

    def _look(self, asked: LightRequest) -> tuple[Singles, Singles]:
        """Means of albedo and normal over each pixel."""
        sampler = mi.load_dict({"type": "independent"})
        count = min(LOOKS, asked.spp)
        sampler.seed(asked.seed, asked.height * asked.width * count)
        si = self._mi.ray_intersect(self._rays(asked, sampler, count))
        albedo, normal = mi.Color3f(0.0), mi.Vector3f(0.0)
        for name, matter in zip(self._mi.shapes(), self._matters, strict=True):
            there = si.is_valid() & (si.shape == mi.ShapePtr(name))
            a, n = matter.look(si, there)
            albedo, normal = dr.select(there, a, albedo), dr.select(there, n, normal)
        values = [*dr.clip(albedo, 0.0, 1.0), *normal]
        means = [dr.block_sum(each, count) / count for each in values]
        out = np.stack([np.array(each) for each in means], -1)
        return np.ascontiguousarray(out[:, :3]), np.ascontiguousarray(out[:, 3:])

    def _scalar(self, asked: LightRequest) -> tuple[Singles, Singles, Singles]:
        """By Mitsuba's own sensor, whose pixels are square: rows are stretched afterwards."""
        fx, fy, cx, cy = asked.pinhole
        rows = max(round(asked.height * fx / fy), 1)
        to_world = np.eye(4)
        to_world[:3, :3] = asked.R_WC @ np.diag([-1.0, -1.0, 1.0])
        to_world[:3, 3] = asked.p_WC_W
        film = {
            "type": "hdrfilm", "width": asked.width, "height": rows, "pixel_format": "rgb",
            "component_format": "float32", "rfilter": {"type": "box"},
        }  # fmt: skip
        aovs = {"type": "aov", "aovs": "albedo:albedo,normal:sh_normal", "path": self._integrator}
        sensor = {
            "type": "perspective", "near_clip": asked.near, "far_clip": 1e5, "film": film,
            "fov": float(2.0 * np.rad2deg(np.arctan(0.5 * asked.width / fx))), "fov_axis": "x",
            "to_world": mi.ScalarTransform4f(to_world),
            "principal_point_offset_x": (cx + 0.5 - 0.5 * asked.width) / asked.width,
            "principal_point_offset_y": (cy + 0.5 - 0.5 * asked.height) / asked.height,
            "sampler": {"type": "independent"},
        }  # fmt: skip
        camera, integrator = mi.load_dict(sensor), mi.load_dict(aovs)
        image = mi.render(
            self._mi, sensor=camera, integrator=integrator, spp=asked.spp, seed=asked.seed
        )
        layers = np.nan_to_num(np.array(image, np.float32))
        row = (np.arange(asked.height) * rows // asked.height).clip(0, rows - 1)
        light, albedo, normal = np.split(layers[row], 3, axis=-1)
        light = np.clip(light, 0.0, BRIGHTEST * asked.white)
        return light, np.clip(albedo, 0.0, 1.0), normal


def _lights(scene: TracedScene) -> dict[str, Any]:
    """Emitters: the sky, the sun and lamps."""
    sky = mi.Bitmap(np.ascontiguousarray(scene.sky))
    to_world = mi.ScalarTransform4f(np.array(SKY_OF_MAP, float))
    tree: dict[str, Any] = {"sky": {"type": "envmap", "bitmap": sky, "to_world": to_world}}
    if scene.sun.any() and scene.sun_W[2] > 0.0:
        irradiance = {"type": "rgb", "value": scene.sun.tolist()}
        way = (-scene.sun_W).tolist()
        tree["sun"] = {"type": "directional", "direction": way, "irradiance": irradiance}
    for number, lamp in enumerate(scene.lamps):
        tree[f"lamp{number}"] = _lamp(lamp)
    return tree


def _lamp(lamp: TracedLamp) -> dict[str, Any]:
    intensity = {"type": "rgb", "value": list(lamp.intensity)}
    if lamp.axis is None:
        return {"type": "point", "position": list(lamp.position), "intensity": intensity}
    up = [0.0, 0.0, 1.0] if abs(lamp.axis[2]) < 0.9 else [0.0, 1.0, 0.0]
    target = np.add(lamp.position, lamp.axis).tolist()
    way = mi.ScalarTransform4f().look_at(origin=list(lamp.position), target=target, up=up)
    inner, outer = np.rad2deg([lamp.inner, lamp.outer]).tolist()
    return {
        "type": "spot", "to_world": way, "intensity": intensity,
        "cutoff_angle": outer, "beam_width": min(inner, outer - 0.01),
    }  # fmt: skip


def _by_look(group: TracedGroup) -> list[TracedGroup]:
    """A group as several, each of one material and tint."""
    looks = np.column_stack([group.layers, group.tints])
    kinds, which = np.unique(looks, axis=0, return_inverse=True)
    groups = []
    for k in range(len(kinds)):
        mask = which.ravel() == k
        used, numbers = np.unique(group.faces[mask], return_inverse=True)
        groups.append(
            TracedGroup(
                group.vertices[used],
                np.ascontiguousarray(group.uv[used]),
                numbers.reshape(-1, 3).astype(np.uint32),
                group.layers[mask],
                group.tints[mask],
                group.opacity,
                group.moves,
                group.glow,
            )
        )
    return groups


def _principled(scene: TracedScene, group: TracedGroup) -> dict[str, Any]:
    """Mitsuba's own matter for a group of one look; what water and snow change is taken as even."""
    texels = scene.matter.maps[group.layers[0]].astype(np.float32) / 255.0
    wet, snow = scene.matter.wetness, scene.matter.snow
    base = texels[..., :3] ** 2 * group.tints[0] * (1.0 - 0.45 * wet)
    base = base * (1.0 - snow) + snow * np.array([0.82, 0.85, 0.90], np.float32)
    rough = np.maximum(texels[..., 3] * (1.0 - wet) + 0.35 * wet, SMALLEST_ROUGHNESS)

    def texture(values: Singles) -> dict[str, Any]:
        image = np.ascontiguousarray(values[::-1], np.float32)  # Mitsuba's first row is on top
        return {"type": "bitmap", "bitmap": mi.Bitmap(image), "raw": True}

    if group.layers[0] == MATTE_LAYER:
        return {"type": "diffuse", "reflectance": texture(base)}
    return {
        "type": "principled", "base_color": texture(base), "roughness": texture(rough[..., None]),
        "metallic": texture(texels[..., 7:8]), "specular": 0.5,
    }  # fmt: skip
