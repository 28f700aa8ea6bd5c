# SPDX-License-Identifier: BSD-3-Clause
"""Traced images and scenes as numbers: air, lamps and lenses on the CPU, messages, and libraries that are found."""

import io
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from small_scenes import box, rectangle, scene, shot, spec, wall

from iap_description.math import so3
from iap_description.scenes.lighting import Lamp
from iap_sensors.cameras.geometry import Geometry
from iap_sensors.cameras.view import PinholeView, view_of
from iap_sensors.path_tracing import child_process, developing, messages, traced_scene, worker
from iap_sensors.path_tracing.seen_surfaces import SeenSurfaces
from iap_sensors.physical import tone
from iap_sensors.physical.lamp_colors import lamp_colors
from iap_sensors.physical.sky_image import LUMINANCE

K = np.array([[40.0, 0.0, 19.5], [0.0, 30.0, 9.5], [0.0, 0.0, 1.0]])
VIEW = PinholeView(40, 20, K, 0.4)
LEVEL = np.array([0.0, 0.0, 0.0, 1.0])


def air(**keys: Any) -> Any:
    """An environment without a sun, lamps and fog, as far as it is looked at."""
    usual = {
        "sun_W": np.array([0.0, 0.0, 1.0]), "sun": np.zeros(3), "fog_density": 0.0, "fog_height": 100.0,
        "fog": np.zeros(3), "lamps": (),
    }  # fmt: skip
    return SimpleNamespace(**{**usual, **keys})


# what the camera sees through


def test_rays_go_through_the_middles_of_pixels() -> None:
    turn = so3.quaternion_exp(np.array([0.3, -0.4, 0.2]))
    ways, lengths = developing._rays(VIEW, turn)
    assert ways.shape == (20, 40, 3) and lengths.shape == (20, 40)
    for row, column in ((0, 0), (3, 31), (19, 39)):
        way = np.array([(column - 19.5) / 40.0, (row - 9.5) / 30.0, 1.0])
        assert lengths[row, column] == pytest.approx(np.linalg.norm(way))
        expected = so3.rotate(turn, way / np.linalg.norm(way))
        np.testing.assert_allclose(ways[row, column], expected, atol=1e-12)


@pytest.mark.parametrize("rise", [0.0, 0.5, -0.2, 1e-6])
@pytest.mark.parametrize("height", [0.0, 7.0])
def test_fog_takes_light_by_its_depth_along_the_way(rise: float, height: float) -> None:
    """Extinction is 0.02 / m at the ground and half of that 20 m above it."""
    fog = air(fog_density=0.02, fog_height=20.0)
    s = (np.arange(20000) + 0.5) / 20000 * 30.0
    depth = 0.02 * np.mean(2.0 ** (-(height + rise * s) / 20.0)) * 30.0
    left = developing._through_fog(np.array([30.0, np.inf]), np.array([rise, rise]), height, fog)
    assert left[0] == pytest.approx(np.exp(-depth), rel=1e-6)
    assert left[1] == 1.0
    if height == 0.0:
        below = developing._through_fog(np.array([30.0]), np.array([rise]), -5.0, fog)
        assert below[0] == pytest.approx(left[0])


def test_fog_lies_before_surfaces_and_the_disc_of_the_sun_in_the_sky() -> None:
    light = np.full((20, 40, 3), 0.5, np.float32)
    depth = np.full((20, 40), 50.0)
    depth[:, 20:] = np.inf
    turn = so3.quaternion_exp(np.array([0.0, 0.0, 0.0]))
    fog = np.array([0.2, 0.3, 0.4])
    towards = np.array([0.5 / 40.0, 0.5 / 30.0, 1.0])  # through the pixel of row 10 and column 20
    sun = np.array([100.0, 90.0, 80.0])
    made = air(
        fog_density=0.03, fog_height=1e9, fog=fog, sun_W=towards / np.linalg.norm(towards), sun=sun
    )
    out = developing.in_air(light, VIEW, (np.zeros(3), turn), depth, made)
    assert out.dtype == np.float32 and (light == 0.5).all()
    np.testing.assert_allclose(out[10, 20], 0.5 + sun / developing.SUN_DISC, rtol=1e-5)
    np.testing.assert_allclose(out[10, 22], 0.5)  # next to it the sky has its fog already
    for row, column in ((10, 19), (0, 3)):
        way = np.linalg.norm([(column - 19.5) / 40.0, (row - 9.5) / 30.0, 1.0])
        left = np.exp(-0.03 * 50.0 * way)
        np.testing.assert_allclose(out[row, column], fog * (1.0 - left) + 0.5 * left, rtol=1e-5)


def test_the_body_of_a_lamp_is_seen_before_what_is_behind_it() -> None:
    one = Lamp(position=(0.1, 0.2, 8.0), flux=1000.0, radius=0.35)
    light = np.zeros((20, 40, 3), np.float32)
    ways, lengths = developing._rays(VIEW, LEVEL)
    off = np.linalg.norm(np.cross(ways, np.array(one.position)), axis=-1)
    for depth, is_seen in ((9.0, True), (7.0, False)):
        depths = np.full((20, 40), depth)
        out = developing.in_air(light, VIEW, (np.zeros(3), LEVEL), depths, air(lamps=(one,)))
        expected = lamp_colors([one])[0] / (np.pi * 0.35**2) if is_seen else np.zeros(3)
        np.testing.assert_allclose(
            out[off < 0.349], np.tile(expected, ((off < 0.349).sum(), 1)), rtol=1e-5
        )
        assert not out[off > 0.351].any() and (off < 0.349).sum() > 4
    back = Lamp(position=(0.0, 0.0, -8.0), flux=1000.0, radius=3.0)
    out = developing.in_air(
        light, VIEW, (np.zeros(3), LEVEL), np.full((20, 40), 9.0), air(lamps=(back,))
    )
    assert not out.any()


@pytest.mark.parametrize(
    ("curve", "level"), [("linear", 0.3), ("srgb", 0.584), (None, None), ("filmic", None)]
)
def test_levels_are_light_times_the_gain_less_what_the_lens_takes(
    curve: str | None, level: float | None
) -> None:
    light = np.full((20, 40, 3), 1.5, np.float32)
    camera = spec(outputs=("rgb8",), tone=curve, vignetting=0.5)
    levels = developing.levels_of(light, camera, VIEW, 0.2)
    assert levels.shape == (20, 40, 3) and levels.dtype == np.float32
    middle = levels[9, 19]
    if level is not None:
        np.testing.assert_allclose(middle, level, atol=2e-3)
    elif curve == "filmic":
        filmic = 0.3 * (2.51 * 0.3 + 0.03) / (0.3 * (2.43 * 0.3 + 0.59) + 0.14)
        np.testing.assert_allclose(middle, 1.055 * filmic ** (1.0 / 2.4) - 0.055, atol=2e-3)
    else:
        like = developing.levels_of(
            light,
            spec(outputs=("rgb8",), tone=developing.DEFAULT_CURVE, vignetting=0.5),
            VIEW,
            0.2,
        )
        np.testing.assert_array_equal(levels, like)
    if curve == "linear":
        x, y = 19.5 / 40.0, 9.5 / 30.0
        np.testing.assert_allclose(
            levels[0, 0], 0.3 * (1.0 - 0.5 / 0.4 * (x * x + y * y)), atol=1e-6
        )


def test_a_grey_camera_has_luminances_and_lights_end_at_the_brightest() -> None:
    light = np.zeros((20, 40, 3), np.float32)
    light[...] = [0.2, 0.4, 0.6]
    grey = developing.levels_of(
        light, spec(outputs=("mono8",), tone="linear", vignetting=0.0), VIEW, 0.5
    )
    assert grey.shape == (20, 40, 1)
    np.testing.assert_allclose(grey, 0.5 * float(np.array([0.2, 0.4, 0.6]) @ LUMINANCE), rtol=1e-5)
    light[:] = 0.0
    light[10, 20] = 1e6
    bright = developing.levels_of(
        light, spec(outputs=("rgb8",), tone="linear", vignetting=0.0), VIEW, 1.0
    )
    around = developing._glare(np.where(light > 0.0, np.float32(tone.BRIGHTEST), np.float32(0.0)))
    np.testing.assert_allclose(bright[3, 3], tone.GLARE_SHARE * around[3, 3], rtol=1e-4)
    assert bright[10, 20, 0] == 1.0 and bright.max() == 1.0


def test_glare_keeps_what_is_even_and_spreads_a_point_evenly_to_both_sides() -> None:
    even = np.full((64, 128, 1), 0.7, np.float32)
    np.testing.assert_allclose(developing._glare(even), 0.7, rtol=1e-6)
    point = np.zeros((64, 128, 3), np.float32)
    point[31:33, 63:65] = 1.0
    spread = developing._glare(point)
    assert spread.shape == point.shape
    np.testing.assert_allclose(spread, spread[::-1, ::-1], atol=1e-5)
    assert spread[32, 64, 0] < 0.25 and spread[0, 0, 0] > 0.0
    assert spread.sum() == pytest.approx(point.sum(), rel=0.2)


# scenes as they are sent


def test_lamps_are_sent_with_their_cones() -> None:
    all_round = Lamp(position=(1.0, 2.0, 3.0), flux=500.0)
    cone = Lamp(position=(4.0, 5.0, 6.0), flux=800.0, direction=(0.0, 3.0, -4.0), cone_deg=60.0)
    one, other = traced_scene._lamps(air(lamps=(all_round, cone)))
    assert one.position == (1.0, 2.0, 3.0) and one.axis is None
    np.testing.assert_allclose(one.intensity, lamp_colors([all_round])[0])
    assert other.axis == pytest.approx((0.0, 0.6, -0.8))
    edge = np.cos(np.radians(30.0))
    assert other.outer == pytest.approx(np.radians(30.0))
    assert other.inner == pytest.approx(np.arccos(edge + 0.15 * (1.0 - edge)))


ATTRIBUTES = np.dtype([("layer", "f4"), ("tint", "f4", 4), ("uv", "f4", 2)])


def test_triangles_are_sent_by_opacity_by_whether_they_move_and_by_what_they_emit() -> None:
    """Two parts stand, one of which glows; a third is of a body and lets light through."""
    faces = np.array([[0, 1, 2], [1, 2, 3], [4, 5, 6], [7, 8, 9]], np.int32)
    attributes = np.zeros(10, ATTRIBUTES)
    attributes["layer"] = [1.0] * 4 + [2.0] * 3 + [1.0] * 3
    attributes["tint"][:, :3] = np.arange(10.0)[:, None]
    attributes["uv"] = np.arange(20.0).reshape(10, 2)
    geometry: Any = SimpleNamespace(
        firsts=np.array([0, 2, 3, 4]), opacity=np.array([1.0, 1.0, 0.25], np.float32),
        rows=np.array([-1, -1, 0]), faces=faces,
    )  # fmt: skip
    maps: Any = SimpleNamespace(
        attributes=attributes, glow={2: np.full((2, 2, 3), 7.0, np.float16)}
    )
    glass, plain, glowing = sorted(
        traced_scene._groups(geometry, maps),
        key=lambda each: (each.opacity, each.glow is not None),
    )
    assert (glass.opacity, glass.moves, glass.glow) == (0.25, True, None)
    assert (plain.opacity, plain.moves, plain.glow) == (1.0, False, None)
    assert plain.vertices.tolist() == [0, 1, 2, 3] and plain.faces.tolist() == [
        [0, 1, 2],
        [1, 2, 3],
    ]
    assert plain.layers.tolist() == [1, 1] and plain.tints[:, 0].tolist() == [0.0, 1.0]
    assert glass.vertices.tolist() == [7, 8, 9] and glass.faces.tolist() == [[0, 1, 2]]
    assert glass.uv.tolist() == [[14.0, 15.0], [16.0, 17.0], [18.0, 19.0]]
    assert glowing.vertices.tolist() == [4, 5, 6] and glowing.layers.tolist() == [2]
    assert glowing.glow is not None and (glowing.glow == 7.0).all()


def test_matter_is_sent_with_the_water_and_snow_of_its_environment() -> None:
    maps: Any = SimpleNamespace(stack=1, noise=2, varied=3)
    wet: Any = air(wetness=0.4, weather=SimpleNamespace(snow_cover=0.6))
    sent = traced_scene._matter(maps, wet)
    assert (sent.maps, sent.noise, sent.varied, sent.wetness, sent.snow) == (1, 2, 3, 0.4, 0.6)


def test_messages_come_one_after_the_other_and_their_end_is_told() -> None:
    stream = io.BytesIO()
    levels = np.array([0.25, 1.0])
    messages.send(stream, messages.LampLevels(levels))
    messages.send(stream, messages.Answer())
    stream.seek(0)
    np.testing.assert_array_equal(messages.receive(stream).levels, levels)
    assert messages.receive(stream) == (None, "")
    with pytest.raises(EOFError):
        messages.receive(stream)


def test_light_that_is_not_denoised_is_sent_as_it_is() -> None:
    light = np.ones((2, 3, 3), np.float32)
    asked: Any = SimpleNamespace(denoised=False)
    assert worker._light((light, light, light), asked) is light


# libraries


def test_a_library_of_llvm_is_the_named_one_or_one_that_fits(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    library = tmp_path / f"libLLVM-{child_process.LLVM_VERSION}.so"
    library.write_text("no library")
    assert child_process._llvm_version(library) is None
    assert child_process._llvm_version(tmp_path / "none.so") is None
    monkeypatch.setattr(child_process, "LLVM_FOLDERS", (str(tmp_path / "none"), str(tmp_path)))
    monkeypatch.delenv(child_process.LLVM_VARIABLE, raising=False)
    for version, found in ((15, None), (child_process.LLVM_VERSION, str(library)), (None, None)):
        monkeypatch.setattr(child_process, "_llvm_version", lambda path, v=version: v)
        assert child_process.find_llvm() == found
    monkeypatch.setenv(child_process.LLVM_VARIABLE, str(tmp_path / "none.so"))
    assert child_process.find_llvm() is None
    monkeypatch.setenv(child_process.LLVM_VARIABLE, str(library))
    assert child_process.find_llvm() == str(library)


# first hits


def test_depths_and_labels_are_those_of_the_first_opaque_surface() -> None:
    camera = spec()
    glass = rectangle(
        "glass", [[2, 9, -9], [2, -9, -9], [2, -9, 9], [2, 9, 9]], color=(1, 1, 1, 0.5), label=9
    )
    here = scene(wall(5.0, label=3), glass)
    body = box("body", (0.0, 0.0, 0.0), (0.5, 0.5, 0.5), label=7)
    geometry = Geometry.of(here, [body])
    corners = geometry.corners.copy()
    corners[geometry.owners == 0, :3] += [3.0, 0.0, 0.0]
    one = shot(camera)
    view = view_of(one.model)
    seen = SeenSurfaces(geometry)
    depth, labels = seen.look(one, view, (one.p_WC_W, one.q_WC), corners)
    middle = round(view.K[1, 2]), round(view.K[0, 2])
    assert depth.shape == labels.shape == (view.height, view.width)
    assert depth[middle] == pytest.approx(2.5, abs=1e-4) and labels[middle] == 7
    assert depth[0, 0] == pytest.approx(5.0, abs=1e-4) and labels[0, 0] == 3
    hidden = shot(camera, hidden=(0,))
    depth, labels = seen.look(hidden, view, (hidden.p_WC_W, hidden.q_WC), corners)
    assert depth[middle] == pytest.approx(5.0, abs=1e-4) and labels[middle] == 3
    back = shot(camera, q_WS=(0.0, 0.0, 1.0, 0.0))
    depth, labels = seen.look(back, view, (back.p_WC_W, back.q_WC), corners)
    assert np.isinf(depth).all() and not labels.any()
    empty = SeenSurfaces(Geometry.of(scene(), []))
    depth, labels = empty.look(one, view, (one.p_WC_W, one.q_WC), np.zeros((0, 6), np.float32))
    assert np.isinf(depth).all() and not labels.any()
