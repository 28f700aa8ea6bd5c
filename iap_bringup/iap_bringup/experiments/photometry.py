# SPDX-License-Identifier: BSD-3-Clause
"""Images in physical light beside traced paths: their means under the sun and under the sky, and depths and labels."""

from contextlib import closing
from dataclasses import replace
from importlib.util import find_spec
from itertools import product
from typing import NamedTuple

import numpy as np

from iap_bringup.experiments.rows import Bar, Report
from iap_bringup.terminal.progress import counted
from iap_description.arrays import Array
from iap_description.math import euler
from iap_description.scenes.library import load_scene, scene_names
from iap_description.scenes.lighting import Lighting, PathTracing, Sun, Weather
from iap_description.scenes.scene import Scene
from iap_description.sensors.mounts import optical
from iap_sensors.cameras.make import make_renderer
from iap_sensors.cameras.model import CameraModel
from iap_sensors.cameras.renderer import Frame, Renderer, Shot
from iap_sensors.cameras.spec import CameraSpec

SIZE, FOCAL = (320, 240), 0.55  # of a picture [pixels], over its width
NO_BODIES = np.zeros((0, 7))
PATHS = PathTracing(spp=16)
AGREEMENT, SHARE = 0.01, 99.9  # of depths, and of pixels [%]


class SceneView(NamedTuple):
    """A view into a scene: place [m], pitch and heading [deg]."""

    scene: str
    place: tuple[float, float, float]
    pitch: float
    yaw: float


VIEWS = (
    SceneView("building_cluster", (-8.0, -4.0, 2.5), 1.0, 25.0),
    SceneView("broad_station", (-9.0, -13.0, 3.0), 2.0, 50.0),
    SceneView("textured_walls", (-3.0, -2.0, 2.5), 5.0, 30.0),
)
SUN = Lighting(sun=Sun(elevation_deg=45.0, azimuth_deg=200.0), sky_share=0.0, path_tracing=PATHS)
SKY = Lighting(sun=Sun(elevation_deg=45.0, azimuth_deg=200.0), path_tracing=PATHS)
CASES = (  # name, light, clouds, illuminance that images are exposed for [lx], and bar [%]
    ("the sun alone", SUN, 0.0, 150e3, 5.0),
    ("the sky alone", SKY, 1.0, 40e3, 8.0),
)


def photometry(report: Report) -> list[Bar]:
    """The mean light of surfaces in three scenes, over that of traced paths, and agreement of depths and labels."""
    bars = agreement(report)
    if find_spec("mitsuba") is None:
        report("no Mitsuba: no paths are traced")
        return bars
    with closing(make_renderer("physical")) as drawn, closing(make_renderer("mitsuba")) as traced:
        work = list(product(CASES, VIEWS))
        for case, view in counted(report, work, lambda w: f"{w[1].scene} under {w[0][0]}"):
            name, lighting, clouds, lux, limit = case
            weather = Weather(clouds=clouds, visibility=1e6)
            scene = load_scene(view.scene)
            dressed = replace(scene, lighting=replaced(lighting, lux), weather=weather)
            ratio = mean_light(drawn, dressed, view) / mean_light(traced, dressed, view)
            what = f"{view.scene} under {name}: mean {ratio:.3f} of that of paths, off by [%]"
            bars.append(Bar(what, 100.0 * abs(ratio - 1.0), limit))
    return bars


def replaced(lighting: Lighting, lux: float) -> Lighting:
    """The same light, with images exposed for an illuminance [lx]."""
    return lighting.model_copy(update={"exposed_for": lux})


def mean_light(renderer: Renderer, scene: Scene, view: SceneView) -> float:
    """Mean level of all that is no sky, by a camera whose levels are linear."""
    keys = {"outputs": ["rgb8", "segmentation"], "tone": "linear"}
    frame = look(renderer, scene, view, **keys)
    assert frame.rgb is not None and frame.labels is not None  # noqa: S101, PT018 - as asked for
    pixels: Array = frame.rgb[frame.labels > 0].astype(float)
    return float((pixels @ [0.2126, 0.7152, 0.0722]).mean())


def look(renderer: Renderer, scene: Scene, view: SceneView, **keys: object) -> Frame:
    """A camera's view of a scene."""
    spec = CameraSpec.for_pictures(SIZE, FOCAL, **keys)
    q_WS = euler.quaternion_from_rpy_deg([0.0, view.pitch, view.yaw])
    renderer.load(scene, [])
    place = np.array(view.place), optical(q_WS)
    (frame,) = renderer.render([Shot(CameraModel.of(spec), spec, *place)], NO_BODIES)
    return frame


def agreement(report: Report) -> list[Bar]:
    """Shares of pixels of which renderers and rays have one depth, within 1 %, and one label, in all scenes."""
    from iap_sensors.cameras.geometry import Geometry
    from iap_sensors.cameras.view import view_of
    from iap_sensors.path_tracing.seen_surfaces import SeenSurfaces

    keys = {"outputs": ["depth", "segmentation"]}
    bars = []
    with closing(make_renderer("opengl")) as fast, closing(make_renderer("physical")) as physical:
        for name in counted(report, scene_names()):
            scene, view = load_scene(name), next((v for v in VIEWS if v.scene == name), VIEWS[-1])
            frames = [look(each, scene, view, **keys) for each in (fast, physical)]
            spec = CameraSpec.for_pictures(SIZE, FOCAL, **keys)
            q_WS = euler.quaternion_from_rpy_deg([0.0, view.pitch, view.yaw])
            shot = Shot(CameraModel.of(spec), spec, np.array(view.place), optical(q_WS))
            geometry = Geometry.of(scene, [])
            place = shot.p_WC_W, shot.q_WC
            depth, labels = SeenSurfaces(geometry).look(
                shot, view_of(shot.model), place, geometry.corners
            )
            far = depth > spec.far
            rays = Frame(
                depth=np.where(far, np.inf, depth).astype(np.float32),
                labels=np.where(far, 0, labels).astype(np.uint16),
            )
            worst = min(_alike(frames[0], other) for other in (frames[1], rays))
            bars.append(Bar(f"{name}: pixels alike [%]", worst, SHARE, at_least=True))
    return bars


def _alike(one: Frame, other: Frame) -> float:
    """Share of pixels with one depth and one label [%]."""
    assert one.depth is not None  # noqa: S101 - both outputs were asked for
    assert other.depth is not None  # noqa: S101
    first, second = (np.where(np.isinf(each), 1e6, each) for each in (one.depth, other.depth))
    near = np.isclose(first, second, rtol=AGREEMENT, atol=0.0)
    return float(100.0 * (near & (one.labels == other.labels)).mean())
