# SPDX-License-Identifier: BSD-3-Clause
"""Films that collect images, bands of a rolling shutter, and cameras that cannot be built, by numbers."""

from typing import Any

import numpy as np
import pytest
from small_scenes import shot, spec

from iap_description.math import so3
from iap_sensors.camera_effects.effect import Exposure
from iap_sensors.cameras.bands import ImageBand, pieces
from iap_sensors.cameras.image_noise import Film
from iap_sensors.cameras.spec import CameraSpec
from iap_sensors.cameras.view import MARGIN, PinholeView, view_of

SMALL = {"width": 24, "height": 16, "cx": 11.5, "cy": 7.5, "fx": 20.0, "fy": 20.0,
         "distortion": (0.0,) * 5, "distortion_model": "plumb_bob"}  # fmt: skip


def film(*outputs: str, samples: int = 1, **keys: Any) -> Film:
    planned = None if samples == 1 else Exposure(0.01, samples=samples)
    return Film(
        shot(
            spec(**{**SMALL, "outputs": outputs, "blur": None, "effects": None, **keys}),
            planned=planned,
        )
    )


def test_a_film_asks_for_what_its_outputs_are_made_of() -> None:
    assert (film("mono8").look, film("rgb8", "mono8").look, film("depth").look) == (
        "mono",
        "color",
        None,
    )
    assert [film(each).needs_range for each in ("mono8", "depth", "segmentation")] == [
        False,
        True,
        True,
    ]
    assert len(film("mono8", samples=3).pieces) == 3 and film("depth").pieces == ()
    lit = film("mono8", effects={"white_balance": {}})
    assert lit.is_light and lit.look == "color" and not lit.needs_range
    focus = film("mono8", effects={"depth_of_field": {}})
    assert focus.is_light and focus.look == "mono" and focus.needs_range


def test_the_image_of_several_instants_is_their_rounded_mean() -> None:
    one = film("mono8", samples=4)
    for level in (10, 11, 12, 13):
        assert one.frame().mono is None
        one.take("mono", np.full((16, 24), level, np.uint8), one.pieces[0])
    mono = one.frame().mono
    assert mono is not None and mono.dtype == np.uint8 and (mono == 12).all()  # 11.5 is rounded up
    single = film("mono8", "rgb8")
    image = np.zeros((16, 24, 3), np.uint8)
    image[..., 1] = 100
    single.take("color", image, single.pieces[0])
    frame = single.frame()
    assert frame.rgb is not None and frame.mono is not None
    assert (frame.rgb == image).all() and (frame.mono == 59).all()  # 0.587
    single.take_mean(image + np.uint8(10))
    again = single.frame().rgb
    assert again is not None and (again[..., 0] == 10).all()


def test_depth_of_nothing_is_infinite_and_outputs_are_those_that_are_asked_for() -> None:
    ranges = np.zeros((16, 24, 2))
    ranges[2:, :, 0], ranges[2:, :, 1] = 3.5, 300.0
    for outputs, has in ((("depth",), (True, False)), (("segmentation",), (False, True))):
        one = film(*outputs)
        one.take("range", ranges)
        frame = one.frame()
        assert (frame.depth is not None, frame.labels is not None) == has
        if frame.depth is not None:
            assert np.isinf(frame.depth[:2]).all() and (frame.depth[2:] == 3.5).all()
        if frame.labels is not None:
            assert frame.labels.dtype == np.uint16 and (frame.labels[2:] == 300).all()
            assert not frame.labels[:2].any()
        assert frame.mono is None and frame.rgb is None


def test_light_of_a_film_is_the_mean_of_floats_or_levels_over_255() -> None:
    lit = film("mono8", "segmentation", samples=2, effects={"glare": {}})
    lit.take("mono", np.full((16, 24), 51, np.uint8), lit.pieces[0])
    lit.take("mono", np.full((16, 24), 0.6, np.float32), lit.pieces[1])
    ranges = np.ones((16, 24, 2))
    lit.take("range", ranges)
    frame = lit.frame()
    assert frame.light is not None and frame.mono is None
    np.testing.assert_allclose(frame.light, 0.5 * (0.2 + 0.6), rtol=1e-6)
    assert frame.depth is not None and frame.labels is not None
    plain = film("mono8", effects={"glare": {}})
    plain.take("mono", np.full((16, 24), 0.25, np.float32), plain.pieces[0])
    frame = plain.frame()
    assert frame.labels is None and frame.depth is None and frame.light is not None
    assert (frame.light == 0.25).all()


# bands


def rolling(bands: int, w: Any = (0.0, 0.0, 0.0), **keys: Any) -> tuple[Any, list[ImageBand]]:
    exposure = Exposure(0.0, line_time=1e-3, bands=bands, **keys)
    one = shot(spec(**{**SMALL, "blur": None, "effects": None}), v_WC_W=np.array([2.0, 0.0, 0.0]),
               w_WC_W=np.array(w), planned=exposure)  # fmt: skip
    return one, list(pieces(one, view_of(one.model)))


def test_bands_fill_all_rows_from_the_place_of_their_middle_instant() -> None:
    one, bands = rolling(4)
    assert [(each.rows.start, each.rows.stop) for each in bands] == [
        (0, 4),
        (4, 8),
        (8, 12),
        (12, 16),
    ]
    assert [each.dt for each in bands] == pytest.approx([-6e-3, -2e-3, 2e-3, 6e-3])
    for each in bands:
        np.testing.assert_allclose(each.place[0], one.p_WC_W + [2.0 * each.dt, 0.0, 0.0])
        assert each.maps is not None and each.maps[0].shape == (4, 24)
        assert each.view.width % 16 == 0 and each.view.height % 16 == 0
        np.testing.assert_allclose(each.maps[0][0], np.arange(24) + MARGIN)
        np.testing.assert_allclose(each.maps[1][:, 0], np.arange(4) + MARGIN)
        assert each.view.K[0, 2] == pytest.approx(11.5 + MARGIN)
        assert each.view.K[1, 2] == pytest.approx(7.5 - each.rows.start + MARGIN)
    assert len(rolling(99)[1]) == 16  # of a row each
    _, whole = rolling(1, samples=3)
    assert len(whole) == 3 and whole[0].rows == slice(0, 16)


def test_rows_of_a_band_are_turned_to_their_own_attitudes() -> None:
    w = np.array([0.0, 0.0, 3.0])
    one, (band,) = rolling(1, w=w)
    assert band.maps is not None
    K = band.view.K
    w_C = so3.rotate(so3.conjugate(one.q_WC), w)
    for row, column in ((0, 3), (15, 20), (8, 11)):
        turn = so3.quaternion_exp((row - 7.5) * 1e-3 * w_C)
        way = so3.rotate(turn, np.array([(column - 11.5) / 20.0, (row - 7.5) / 20.0, 1.0]))
        u, v = 20.0 * way[:2] / way[2] + K[:2, 2]
        assert band.maps[0][row, column] == pytest.approx(u, abs=1e-4)
        assert band.maps[1][row, column] == pytest.approx(v, abs=1e-4)
    ramp = np.tile(np.arange(band.view.width, dtype=np.float32), (band.view.height, 1))
    np.testing.assert_allclose(band.bent(ramp), band.maps[0], atol=0.02)


# cameras


def built(**keys: Any) -> CameraSpec:
    return spec(**{**SMALL, "blur": None, "effects": None, **keys})


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ({"position": (0.0, 0.0, 0.0)}, "keys 'position' and 'rpy_deg' come together"),
        ({"rpy_deg": (0.0, 0.0, 0.0)}, "keys 'position' and 'rpy_deg' come together"),
        ({"mount": "front", "position": (0.0,) * 3, "rpy_deg": (0.0,) * 3}, "a camera on a mount has no"),
        ({"near": 5.0, "far": 5.0}, r"'near': 5\.0 m is not below far, 5\.0 m"),
        ({"outputs": ("depth", "mono8", "depth")}, "'outputs': one is given twice in depth, mono8, depth"),
        ({"rate": 20.0, "blur": {"exposure_time": 0.051, "samples": 2}}, r"0\.051 s is longer than an image"),
        ({"blur": {"exposure_time": 0.001, "samples": 2}, "effects": {}}, "'effects.motion_blur' takes its"),
        ({"vignetting": 0.1, "effects": {"vignetting": {}}}, "'effects.vignetting' takes its place"),
        ({"outputs": ("segmentation",), "effects": {"vignetting": {}}}, "neither image nor depth among"),
        ({"distortion": (-9.0, 0.0, 0.0, 0.0, 0.0)}, "such a lens folds the image over itself"),
    ],
)  # fmt: skip
def test_a_camera_that_cannot_be_built_is_refused(keys: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        built(**keys)


def test_cameras_at_their_limits_can_be_built_and_know_whether_they_draw_light() -> None:
    assert built(rate=20.0, blur={"exposure_time": 0.05, "samples": 2}).blur is not None
    assert built(vignetting=0.0, effects={"vignetting": {}}).gives_light
    assert not built(vignetting=0.1, effects={}).gives_light and not built().gives_light
    border = built()._border
    assert border.shape == (132, 2)
    np.testing.assert_allclose(border.min(axis=0), [-11.5 / 20.0, -7.5 / 20.0])
    np.testing.assert_allclose(border.max(axis=0), [11.5 / 20.0, 7.5 / 20.0])
    assert (np.abs(border) == np.abs(border).max(axis=0)).any(axis=1).all()


def test_a_camera_for_pictures_has_its_focal_length_by_its_width() -> None:
    one = CameraSpec.for_pictures((200, 100), 0.8, outputs=("rgb8",))
    assert (one.fx, one.fy, one.cx, one.cy) == (160.0, 160.0, 99.5, 49.5)
    assert (one.near, one.far, one.antialiasing, one.outputs) == (0.1, 100.0, 4, ("rgb8",))


def test_edges_and_planes_of_a_view_are_half_a_pixel_beyond_its_outermost_ones() -> None:
    view = PinholeView(24, 16, np.array([[20.0, 0, 10.5], [0, 10.0, 7.0], [0, 0, 1]]), 0.4)
    assert view.edges == pytest.approx((-11.0 / 20.0, 13.0 / 20.0, -0.75, 0.85))
    planes = view.planes((np.array([1.0, 2.0, 3.0]), np.array([0.0, 0.0, 0.0, 1.0])), 0.5, 50.0)

    def inside(x: float, y: float, z: float) -> bool:
        point = np.array([1.0, 2.0, 3.0]) + [x, y, z]
        return bool((planes[:, :3] @ point >= planes[:, 3]).all())

    np.testing.assert_allclose(np.linalg.norm(planes[:, :3], axis=1), 1.0)
    for k, (low, high) in enumerate(((-0.55, 0.65), (-0.75, 0.85))):
        for value, is_in in (
            (low + 0.01, True),
            (low - 0.01, False),
            (high - 0.01, True),
            (high + 0.01, False),
        ):
            x, y = (value, 0.0) if k == 0 else (0.0, value)
            assert inside(10.0 * x, 10.0 * y, 10.0) == is_in
    assert [inside(0.0, 0.0, z) for z in (0.49, 0.51, 49.9, 50.1)] == [False, True, True, False]
