# SPDX-License-Identifier: BSD-3-Clause
"""Limits of the keys of camera effects: what is at a limit is taken, what is just beyond is refused."""

import numpy as np
import pytest

from iap_description.config.record import validate
from iap_description.errors import BadInput
from iap_sensors.camera_effects.effect import (
    CameraEffect,
    CameraGeometry,
    CameraImage,
    EffectStage,
    Exposure,
)
from iap_sensors.camera_effects.table import CameraEffects

CAMERA = CameraGeometry(6, 5, (4.0, 3.0), (2.5, 2.0), 20.0, 1, ("mono8",), lambda uv: uv)
SENSOR = {"pixel_size": 3e-6, "full_well": 1e4}
EXPOSURE = {"exposure": {"time": 0.01}, "sensor": SENSOR}


def effects(name, **keys):
    return validate(CameraEffects, {**EXPOSURE, name: keys}, source="test")


@pytest.mark.parametrize(
    ("name", "keys", "key", "taken", "refused"),
    [
        ("auto_exposure", {}, "target", (0.01, 0.99), (0.0, 1.0)),
        ("auto_exposure", {"delay": 0}, "speed", (0.01, 1.0), (0.0, 1.01)),
        ("auto_exposure", {"delay": 1}, "speed", (0.99,), (1.0,)),  # 2 sin 30 deg
        ("auto_exposure", {"delay": 2}, "speed", (0.617,), (0.619,)),  # 2 sin 18 deg
        ("auto_exposure", {"speed": 0.01}, "delay", (0, 32), (-1, 33)),
        ("auto_exposure", {"time_max": 0.02}, "time_min", (0.02,), (0.0201,)),
        ("auto_exposure", {}, "gain_max_db", (0.0, 60.0), (-0.1, 60.1)),
        ("exposure", {"time": 0.01}, "gain_db", (0.0, 60.0), (-0.1, 60.1)),
        ("exposure", {"time": 0.01}, "transmission", (0.01, 1.0), (0.0, 1.01)),
        ("motion_blur", {}, "samples", (2, 64), (1, 65)),
        ("rolling_shutter", {"line_time": 1e-5}, "bands", (1, 1024), (0, 1025)),
        ("flicker", {}, "frequency", (1e5,), (0.0, 1.1e5)),
        ("flicker", {}, "modulation", (0.0, 1.0), (-0.1, 1.1)),
        ("lens_drops", {}, "count", (1, 1000), (0, 1001)),
        ("lens_drops", {}, "radius", (1.0, 1000.0), (0.9, 1001.0)),
        ("lens_drops", {}, "wideness", (1.0, 20.0), (0.9, 20.1)),
        ("glare", {}, "levels", (1, 8), (0, 9)),
        ("lens_flare", {}, "ghosts", ((0.5,), (0.5,) * 16), ((), (0.5,) * 17)),
        ("depth_errors", {"baseline": 0.1}, "lateral_noise", (0.0, 8.0), (-0.1, 8.1)),
        ("sensor", SENSOR, "temperature", (-100.0, 150.0), (-100.1, 150.1)),
        ("sensor", SENSOR, "bits", (1, 16), (0, 17)),
        ("sensor", SENSOR, "black_level", (254.9,), (255.0,)),
        ("sensor", {**SENSOR, "bits": 4}, "black_level", (14.9,), (15.0,)),
        ("chromatic_aberration", {}, "red", ((-0.1, 0.1),), ((-0.11, 0.0), (0.0, 0.11))),
        ("bayer", {}, "response", ((0.01, 1.0, 1.0),), ((0.0, 1.0, 1.0), (1.0, 1.0, 1.01))),
        ("dropped_frames", {}, "share", (0.0, 1.0), (-0.1, 1.1)),
    ],
)  # fmt: skip
def test_keys_of_effects_are_taken_up_to_their_limits(name, keys, key, taken, refused):
    for value in taken:
        assert getattr(getattr(effects(name, **{**keys, key: value}), name), key) == value
    for value in refused:
        with pytest.raises(BadInput, match=f"{name}"):
            effects(name, **{**keys, key: value})


@pytest.mark.parametrize(
    ("name", "taken", "refused", "said"),
    [
        (
            "exposure",
            {"time": 0.05},
            {"time": 0.0501},
            "effects.exposure.time': 0.0501 s is longer",
        ),
        (
            "auto_exposure",
            {"time_max": 0.05},
            {"time_max": 0.0501},
            "effects.auto_exposure.time_max': 0.0501 s is longer than an image at 20.0 Hz",
        ),
        (
            "rolling_shutter",  # five rows
            {"line_time": 0.0099},
            {"line_time": 0.0101},
            "line_time': 5 rows take 0.0505 s, longer than an image at 20.0 Hz",
        ),
        ("depth_of_field", {"focus": 0.0041}, {"focus": 0.004}, "focus': 0.004 m is within the"),
        ("lens_flare", {"ghosts": (0.1, -0.1)}, {"ghosts": (0.1, 0.0)}, "a magnification is 0"),
    ],
)
def test_effects_refuse_what_does_not_fit_the_camera(name, taken, refused, said):
    getattr(effects(name, **taken), name).check(CAMERA)
    with pytest.raises(ValueError, match=said):
        getattr(effects(name, **refused), name).check(CAMERA)


@pytest.mark.parametrize(
    ("names", "needed"),
    [
        (("exposure",), "sensor"),
        (("sensor", "motion_blur"), "exposure"),
        (("sensor", "auto_exposure"), "exposure"),
    ],
)
def test_an_effect_without_what_it_builds_on_is_refused(names, needed):
    keys = {"exposure": {"time": 0.01}, "sensor": SENSOR, "motion_blur": {}, "auto_exposure": {}}
    said = f"key '{names[-1]}': it needs the effect '{needed}', too"
    with pytest.raises(BadInput, match=said):
        validate(CameraEffects, {name: keys[name] for name in names}, source="test")


def test_effects_tell_what_they_need_of_a_camera():
    off = CameraEffects()
    assert off.specs == {} and not off.needs_color and not off.needs_depth
    colors, depth = CameraEffects(bayer={}), CameraEffects(depth_of_field={})
    assert (colors.needs_color, colors.needs_depth) == (True, False)
    assert (depth.needs_color, depth.needs_depth) == (False, True)
    both = validate(CameraEffects, {**EXPOSURE, "vignetting": {}, "glare": None}, source="test")
    assert list(both.specs) == ["vignetting", "exposure", "sensor"]  # as light goes


def test_geometry_exposure_and_images_are_plain_unless_something_says_otherwise():
    assert CAMERA.shape == (5, 6)
    assert CAMERA.pixels.shape == (5, 6, 2) and CAMERA.pixels[4, 3].tolist() == [3, 4]
    assert CAMERA.tangents[4, 3] == 5.0
    plain = Exposure()
    assert (plain.time, plain.gain, plain.line_time, plain.bands, plain.samples) == (0, 1, 0, 1, 1)
    assert Exposure(line_time=0.5).row_times(4).tolist() == [-0.75, -0.25, 0.25, 0.75]
    for shape, channels in (((5, 6), 1), ((5, 6, 3), 3)):
        light = np.zeros(shape, np.float32)
        image = CameraImage(light, None, 1.5, plain, None, np.uint64(1))
        assert image.channels == channels
        assert (image.irradiation, image.black, image.is_lost) == (None, 0.0, False)
        first = int(image.drawn_key())
        assert first == (6364136223846793005 + 1442695040888963407) % 2**64
        assert int(image.drawn_key()) != first
    effect = CameraEffect(CameraEffects(bayer={}).bayer, CAMERA)
    assert effect.stage == EffectStage.OPTICS and effect.plan(plain) is plain


@pytest.mark.parametrize(("share", "lost"), [(0.0, 0), (0.25, 500), (1.0, 2000)])
def test_images_are_lost_with_their_share(share, lost):
    (effect,) = CameraEffects(dropped_frames={"share": share}).dropped_frames.effects(CAMERA)
    effect.reset(np.random.default_rng(3))
    count = 0
    for _ in range(2000):
        image = CameraImage(
            np.zeros((1, 1), np.float32), None, 0.0, Exposure(), None, np.uint64(1)
        )
        effect.apply(image)
        count += image.is_lost
    assert abs(count - lost) <= (60 if 0.0 < share < 1.0 else 0)
    image.is_lost = True
    effect.apply(image)
    assert image.is_lost  # once lost, it stays so
