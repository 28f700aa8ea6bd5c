# SPDX-License-Identifier: BSD-3-Clause
"""Measurements of camera effects beside their bars: photon transfer, linearity, exposure, rolling shutter, lenses."""

from typing import Any

import numpy as np

from iap_bringup.experiments.images import (
    BARREL,
    NO_BODIES,
    REACH,
    dark_centroids,
    dark_spot,
    lit_wall,
    spotted_wall,
)
from iap_bringup.experiments.rows import Bar, Report
from iap_description.arrays import Array, Pixels
from iap_description.config.record import validate
from iap_description.math import so3
from iap_description.math.random_streams import stream
from iap_sensors.cameras.camera import Camera
from iap_sensors.cameras.renderer import Frame, Renderer
from iap_sensors.cameras.spec import PRESETS, CameraSpec

DISTANCE = 4.0  # of the wall with spots [m]
SENSOR = {"pixel_size": 6.0, "full_well": 10000.0, "read_noise": 20.0, "black_level": 10.0}
SYSTEM_GAIN = (255.0 - 10.0) / 10000.0  # of that image sensor [DN/e-]
LEVELS = np.linspace(0.02, 0.8, 12)  # of light, over what fills the well
LINE_TIME, SPEED, RATES = 4e-5, (1.0, 5.0, 0.5), (0.3, -0.5, 1.0)  # [s], [m/s], [rad/s]
LENSES: dict[str, dict[str, Any]] = {
    "plumb_bob": {"distortion": BARREL},
    "equidistant": {
        "distortion_model": "equidistant",
        "distortion": (0.0035, 0.0007, -0.002, 0.0002),
    },
    "double_sphere": {
        "distortion_model": "double_sphere",
        "distortion": (-0.15, 0.6),
        "fx": 250.0,
        "fy": 250.0,
    },
}


def camera_bars(report: Report, renderer: Renderer) -> list[Bar]:
    """All bars of camera effects."""
    count = 3 + len(LENSES)
    report(f"0 of {count}: photon transfer")
    gain, chart = photon_transfer()
    report(f"1 of {count}: automatic exposure")
    exposure = exposure_off()
    report(f"2 of {count}: rolling shutter")
    shutter = max(spots_off(renderer, lens) for lens in ({}, LENSES["plumb_bob"]))
    bars = [
        Bar("slope of the photon transfer curve off the system gain, %", gain, 5.0),
        Bar("grey chart off a line, %", chart, 2.0),
        Bar("automatic exposure off its equation, %", exposure, 1.0),
        Bar("rolling shutter off its equation at 5 m/s and 4 m, pixels", shutter, 0.2),
    ]
    for number, (name, keys) in enumerate(LENSES.items(), 3):
        report(f"{number} of {count}: lens {name}")
        off = spots_off(renderer, keys, moving=False)
        bars.append(Bar(f"lens {name} off its projection, pixels", off, 0.1))
    return bars


def photon_transfer() -> tuple[float, float]:
    """By how much the slope of variance over mean is off the gain, and grey levels are off a line of light [%]."""
    means, variances = [], []
    for level in LEVELS:
        camera = _camera({"sensor": SENSOR})
        first, second = (_even(camera, level).astype(float) for _ in range(2))
        means.append(np.mean([first, second]) - SENSOR["black_level"])
        variances.append(0.5 * np.var(first - second) - 1.0 / 12.0)
    slope = np.polyfit(means, variances, 1)[0]
    line = np.array(means) / (LEVELS * (255.0 - SENSOR["black_level"]))
    return 100.0 * abs(slope / SYSTEM_GAIN - 1.0), 100.0 * float(np.abs(line - 1.0).max())


def exposure_off(speed: float = 0.4, target: float = 0.3, count: int = 20) -> float:
    """The largest deviation of exposures x from log x[k+2] = log x[k+1] + a (log m* - log m[k]) [%]."""
    automatic = {"speed": speed, "target": target, "time_min": 1e-6, "time_max": 0.05}
    sensor = {"pixel_size": 6.0, "full_well": 1e5, "bits": 16}
    camera = _camera({"sensor": sensor, "exposure": {"time": 0.004}, "auto_exposure": automatic})
    products, means = [], []
    for _ in range(count):
        planned = camera.shot((np.zeros(3), so3.IDENTITY)).exposure
        products.append(planned.time * planned.gain)
        means.append(float(_even(camera, 1.0).mean()) / 255.0)
    expected = [products[k + 1] * (target / means[k]) ** speed for k in range(count - 2)]
    return 100.0 * float(np.abs(np.array(products[2:]) / expected - 1.0).max())


def spots_off(renderer: Renderer, keys: dict[str, Any], *, moving: bool = True) -> float:
    """The largest distance between spots in an image and where their rows' cameras project them [pixels]."""
    effects = {"rolling_shutter": {"line_time": LINE_TIME, "bands": 32}} if moving else None
    camera = _camera(effects, **keys)
    wall, points_W = spotted_wall(DISTANCE, so3.quaternion_exp(np.array([0.0, 0.0, 0.2])))
    renderer.load(lit_wall(wall, dark_spot()), [])
    v_W, w_W = (np.array(SPEED), np.array(RATES)) if moving else (np.zeros(3), np.zeros(3))
    shot = camera.shot((np.zeros(3), so3.IDENTITY), (v_W, w_W))
    image = camera.develop(renderer.render([shot], NO_BODIES)[0]).mono
    assert image is not None  # noqa: S101 - the preset gives it
    middle, rows = 0.5 * (camera.spec.height - 1), np.full(len(points_W), 0.0)
    uv: Array = np.zeros((len(points_W), 2))
    for _ in range(20):  # rows and their times depend on each other
        t = (rows - middle) * LINE_TIME
        turns = so3.quaternion_exp(t[:, None] * w_W)
        q = so3.multiply(turns, np.tile(shot.q_WC, (len(t), 1)))
        points_C = so3.rotate(so3.conjugate(q), points_W - shot.p_WC_W - t[:, None] * v_W)
        uv = camera.model.project(points_C)
        rows = np.where(np.isfinite(uv[:, 1]), np.clip(uv[:, 1], 0.0, 2.0 * middle), middle)
    edge = [camera.spec.width - REACH - 8, camera.spec.height - REACH - 8]
    visible = uv[np.all((uv > REACH + 7) & (uv < edge), axis=-1)]
    return float(np.linalg.norm(dark_centroids(image, visible) - visible, axis=-1).max())


def _camera(effects: dict[str, Any] | None, **keys: object) -> Camera:
    tree = {**PRESETS.tree("vi_g"), "effects": effects, **keys}
    return Camera(validate(CameraSpec, tree, source="experiment cameras"), stream(1, "camera"))


def _even(camera: Camera, level: float) -> Pixels:
    """Grey levels that a camera gives of even light."""
    size = camera.spec.height, camera.spec.width
    image = camera.develop(Frame(light=np.full(size, level, np.float32))).mono
    assert image is not None  # noqa: S101 - the preset gives it
    return image
