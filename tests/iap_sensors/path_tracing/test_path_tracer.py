# SPDX-License-Identifier: BSD-3-Clause
"""Traced paths against what light does, and against the renderer whose scene, light and exposure they share."""

import os
import signal
from dataclasses import replace
from importlib.util import find_spec

import cv2
import numpy as np
import pytest
from small_scenes import ball, box, ground, rectangle, scene, shot, spec, turned, wall

from iap_description.assets.surface_images import SurfaceImages
from iap_description.errors import BadInput, IapError
from iap_description.scenes.lighting import (
    Lamp,
    LampFlicker,
    Lighting,
    PathTracing,
    Sun,
    TimeOfDay,
    Weather,
)
from iap_sensors.cameras.make import make_renderer
from iap_sensors.path_tracing import child_process

NO_BODIES = np.zeros((0, 7))
AT_REST = np.array([[0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0]])
DOWN = turned(pitch=90.0)
EVEN = 3141.5926  # illuminance under a luminance of 1 kcd/m^2 from everywhere [lx]
FEW, MANY = PathTracing(spp=4), PathTracing(spp=64, denoise=False)
NIGHT = Sun(elevation_deg=-30.0, azimuth_deg=0.0)
SMALL = {"width": 64, "height": 48, "fx": 32.0, "fy": 32.0, "cx": 31.5, "cy": 23.5}
needs_mitsuba = pytest.mark.skipif(find_spec("mitsuba") is None, reason="without mitsuba")


@pytest.fixture(scope="module")
def traced():
    if find_spec("mitsuba") is None:
        pytest.skip("without mitsuba")
    renderer = make_renderer("mitsuba")
    yield renderer
    renderer.close()


def camera(**keys):
    return spec(**{"tone": "linear", "far": 100.0, "outputs": ["rgb8"], **SMALL, **keys})


def lit(*parts, weather=None, **light):
    return replace(scene(*parts), lighting=Lighting(**light), weather=weather)


def matte(part, reflectance=1.0):
    level = 1.055 * reflectance ** (1 / 2.4) - 0.055
    return replace(part, material="matte", color=(level, level, level, 1.0))


def look(renderer, shots, poses=NO_BODIES):
    return renderer.render(shots, poses)


@pytest.mark.slow
@pytest.mark.parametrize("material", [None, "matte"])
def test_in_a_white_furnace_a_white_ball_cannot_be_seen(traced, tmp_path, material):
    if material is None and traced._child.variant == "scalar_rgb":
        pytest.skip("without LLVM 19 surfaces are Mitsuba's own")
    sky = str(tmp_path / "white.hdr")
    cv2.imwrite(sky, np.ones((32, 64, 3), np.float32))
    part = replace(ball("ball", (3.0, 0.0, 0.0), 1.0, n=32), material=material)
    traced.load(lit(part, sky=sky, exposed_for=EVEN, path_tracing=MANY), [])
    (frame,) = look(traced, [shot(camera(exposure=-1.0, outputs=["rgb8", "segmentation"]))])
    seen = frame.labels == 1
    assert seen.mean() > 0.05
    assert frame.rgb[seen].mean() == pytest.approx(127.5, rel=0.02)
    assert frame.rgb[~seen].mean() == pytest.approx(127.5, rel=0.02)


@pytest.mark.slow
def test_a_grey_chart_is_linear_within_two_per_cent(traced):
    reflectances = (0.9, 0.45, 0.225, 0.1125)
    chart = [
        matte(replace(part, vertices=part.vertices + np.float32([0.0, 60.0 * k, 0.0])), each)
        for k, each in enumerate(reflectances)
        for part in [wall(2.0, 2.9)]
    ]
    sun = Sun(elevation_deg=45.0, azimuth_deg=180.0)
    traced.load(lit(*chart, sun=sun, exposed_for=80000.0, path_tracing=MANY), [])
    shots = [shot(camera(exposure=float(k)), (0.5, 60.0 * k, 0.0)) for k in range(4)]
    levels = [frame.rgb[20:28, 28:36, 1].mean() for frame in look(traced, shots)]
    assert levels[0] > 100.0
    np.testing.assert_allclose(levels, levels[0], rtol=0.02)


@pytest.mark.slow
def test_light_falls_as_in_the_physical_renderer_where_nothing_shades_the_sky(traced, opengl):
    """A rough plane of a material and a block's shadow under sun and sky, and a lamp at night with its cone."""
    plane = replace(ground(20.0), material="concrete", metres=20.0 * ground(1.0).vertices[:, :2])
    sun = Sun(elevation_deg=50.0, azimuth_deg=90.0)
    lamp = Lamp(position=(0.0, 0.0, 4.0), flux=4e3, direction=(0.0, 0.0, -1.0), cone_deg=90.0)
    cases = (
        ({"sun": sun, "exposed_for": 6e4}, box("block", (2.5, 0.0, 1.0), (0.5, 0.5, 0.5))),
        ({"sun": NIGHT, "lamps": {"one": lamp}, "exposed_for": 100.0}, ()),
    )
    physical = make_renderer("physical")
    for light, block in cases:
        dressed = lit(plane, *block, path_tracing=PathTracing(spp=32), **light)
        at = shot(camera(antialiasing=4), (0.0, 0.0, 3.5), DOWN)
        means, shares = [], []
        for renderer in (physical, traced):
            renderer.load(dressed, [])
            image = look(renderer, [at])[0].rgb.astype(float)
            means.append(image.mean())
            shares.append((image > 0.5 * image.mean()).mean())
        assert means[1] == pytest.approx(means[0], rel=0.05)
        assert shares[1] == pytest.approx(shares[0], abs=0.02)
    physical.close()


@pytest.mark.slow
def test_what_glows_lights_the_ground_by_its_luminance_its_area_and_the_inverse_square(traced):
    """A panel of 0.04 m^2 and 10 kcd/m^2, 2 m above: 100 lx, the light for which the image is exposed."""
    corners = np.array([[-0.1, -0.1, 2.0], [-0.1, 0.1, 2.0], [0.1, 0.1, 2.0], [0.1, -0.1, 2.0]])
    panel = replace(rectangle("panel", corners), material="panel")
    far = Lamp(position=(0.0, 0.0, 500.0), flux=1.0)  # without a light a scene is refused
    light = {"sun": NIGHT, "lamps": {"far": far}, "exposed_for": 100.0, "path_tracing": MANY}
    dark = {"panel": SurfaceImages(luminance=(1e4, 1e4, 1e4))}
    traced.load(replace(lit(matte(ground(20.0)), panel, **light), surfaces=dark), [])
    image = look(traced, [shot(camera(exposure=-1.0), (0.0, 0.0, 0.5), DOWN)])[0].rgb
    assert image[16:32, 24:40].mean() == pytest.approx(127.5, rel=0.03)


def test_depth_and_labels_are_those_of_the_fast_renderer(traced, opengl):
    parts = (ground(20.0), *box("block", (5.0, 1.0, 1.0), (0.5, 0.5, 1.0), label=3))
    body = [ball("ball", (0.0, 0.0, 0.0), 0.4, n=12, label=7)]
    poses = np.array([[3.0, -0.5, 1.0, 0.0, 0.0, 0.0, 1.0], [0.1, 0.0, 1.5, 0.0, 0.0, 0.0, 1.0]])
    keys = {"width": 640, "height": 480, "fx": 320.0, "fy": 320.0, "cx": 319.5, "cy": 239.5}
    camera_ = camera(outputs=["depth", "segmentation"], tone=None, **keys)
    at = shot(camera_, (0.0, 0.0, 1.5), turned(pitch=10.0, yaw=5.0), hidden=(1,))
    frames = []
    for renderer, dressed in ((traced, lit(*parts)), (opengl, scene(*parts))):
        renderer.load(dressed, [body, body])
        frames += look(renderer, [at], poses)
    mine, other = frames
    depths = [np.where(np.isinf(each.depth), 1e6, each.depth) for each in frames]
    assert np.isclose(*depths, rtol=0.01).mean() > 0.999
    assert (mine.labels == other.labels).mean() > 0.999
    assert set(np.unique(mine.labels)) == {0, 1, 3, 7}


def test_an_image_depends_on_its_state_alone(traced):
    body = [matte(ball("ball", (0.0, 0.0, 0.0), 0.4, n=8), 0.5)]
    traced.load(lit(ground(20.0), exposed_for=80000.0, path_tracing=FEW), [body])
    moved = np.array([[1.5, 0.8, 1.0, 0.0, 0.0, 0.0, 1.0]])
    at = shot(camera(), (-2.0, 0.0, 1.2))
    first, other, again = (look(traced, [at], poses)[0].rgb for poses in (AT_REST, moved, AT_REST))
    np.testing.assert_array_equal(first, again)
    assert np.abs(first.astype(int) - other).max() > 20


def test_a_carrier_is_not_in_its_own_camera(traced):
    body = [matte(ball("ball", (0.0, 0.0, 0.0), 0.5, n=8), 0.9)]
    traced.load(lit(ground(20.0), exposed_for=80000.0, path_tracing=FEW), [body])
    at = AT_REST + np.array([[1.0, 0.0, 1.5, 0.0, 0.0, 0.0, 0.0]])
    seen, hidden = (
        look(traced, [shot(camera(), (0.0, 0.0, 1.5), hidden=rows)], at)[0].rgb.astype(int)
        for rows in ((), (0,))
    )
    assert np.abs(seen - hidden)[22:26, 30:34].min() > 5


def test_what_falls_is_refused_in_one_line(traced):
    with pytest.raises(BadInput, match=r"world.weather.rain.*'mitsuba'.*wetness"):
        traced.load(lit(wall(), weather=Weather(rain=5.0)), [])


@needs_mitsuba
def test_a_renderer_whose_process_was_killed_says_so(capfd):
    renderer = make_renderer("mitsuba")
    os.kill(renderer._child._process.pid, signal.SIGKILL)
    with pytest.raises(IapError, match=r"renderer 'mitsuba': its process ended with -9"):
        renderer.load(lit(wall()), [])
    renderer.close()


@needs_mitsuba
@pytest.mark.slow
def test_without_llvm_the_scalar_variant_gives_nearly_the_same_image(traced, monkeypatch, capfd):
    dressed = lit(
        matte(ground(20.0), 0.5),
        matte(rectangle("half", [[4, 0, -1], [4, -4, -1], [4, -4, 4], [4, 0, 4]]), 0.3),
        exposed_for=60000.0,
        path_tracing=PathTracing(spp=32, denoise=False),
    )
    at = [shot(camera(), (0.0, 0.0, 1.0), turned(pitch=10.0))]
    traced.load(dressed, [])
    one = look(traced, at)[0].rgb.astype(float)
    monkeypatch.setenv(child_process.LLVM_VARIABLE, "/nowhere/libLLVM.so")
    scalar = make_renderer("mitsuba")
    assert "scalar variant" in capfd.readouterr().err
    scalar.load(dressed, [])
    other = look(scalar, at)[0].rgb.astype(float)
    scalar.close()
    assert other.mean() == pytest.approx(one.mean(), rel=0.03)
    blocks = [image.reshape(6, 8, 8, 8, 3).mean(axis=(1, 3)) for image in (one, other)]
    assert np.abs(blocks[0] - blocks[1]).max() < 12.0


def test_a_library_that_is_no_llvm_is_not_taken(tmp_path, monkeypatch):
    monkeypatch.delenv(child_process.LLVM_VARIABLE, raising=False)
    (tmp_path / "libLLVM-19.so").write_bytes(b"no library")
    monkeypatch.setattr(child_process, "LLVM_FOLDERS", (str(tmp_path),))
    assert child_process.find_llvm() is None


def test_without_mitsuba_the_line_that_installs_it_is_said(monkeypatch):
    monkeypatch.setattr("iap_sensors.cameras.make.find_spec", lambda _: None)
    with pytest.raises(BadInput, match=r"renderer 'mitsuba' needs mitsuba.*pathtracer"):
        make_renderer("mitsuba")


@pytest.mark.slow
def test_lamps_flicker_and_the_sun_passes_as_in_the_physical_renderer(traced, opengl):
    flicker = LampFlicker(frequency=1.0, on_share=0.5, modulation=0.8)
    lamp = Lamp(position=(0.0, 0.0, 4.0), flux=9000.0, flicker=flicker)
    light = {"lamps": {"one": lamp}, "exposed_for": 400.0, "path_tracing": MANY}
    traced.load(lit(matte(ground(20.0)), sun=NIGHT, **light), [])
    at = shot(camera(), (0.5, 0.0, 2.0), DOWN)
    frames = traced.render([at, replace(at, t=0.75)], NO_BODIES)
    bright, dim = (float(frame.rgb[20:28, 28:36].mean()) for frame in frames)
    assert bright / dim == pytest.approx(5.0, rel=0.1)
    day = TimeOfDay(hour=6.0, rate=1800.0)
    outside = replace(
        lit(matte(ground(20.0)), exposed_for=80000.0, path_tracing=MANY), time_of_day=day
    )
    physical = make_renderer("physical")
    means = []
    for renderer in (traced, physical):
        renderer.load(outside, [])
        frames = renderer.render([at, replace(at, t=10.0)], NO_BODIES)  # five hours later
        means.append([float(frame.rgb[20:28, 28:36].mean()) for frame in frames])
    physical.close()
    np.testing.assert_allclose(means[0], means[1], rtol=0.05, atol=1.0)
    assert means[0][1] > 2.0 * means[0][0]
