# SPDX-License-Identifier: BSD-3-Clause
"""The image sensor against EMVA 1288: the photon transfer line, saturation, dark current, and how pixels differ."""

import math

import numpy as np
import pytest
from effect_images import SENSOR, camera_with, developed, light_of
from refusals import refusal

from iap_description.config.record import validate
from iap_sensors.cameras.spec import PRESETS, CameraSpec

SIZE = {"width": 320, "height": 240, "cx": 159.5, "cy": 119.5}


def pair(effects, level, **keys):
    """Two images of even light by one camera."""
    camera = camera_with(effects, **SIZE, **keys)
    return [developed(camera, light_of(camera, level)).astype(float) for _ in range(2)]


def temporal_variance(first, second):
    """Half the variance of a difference (EMVA 1288, 4.0 linear, section 6.6)."""
    return 0.5 * np.var(first - second)


def test_variance_grows_with_the_mean_by_the_system_gain():
    """The photon transfer line: its slope is K, its offset the noise in the dark."""
    sensor = {**SENSOR, "read_noise": 30.0, "black_level": 10.0}
    gain = (255.0 - 10.0) / 10000.0
    means, variances = [], []
    for level in np.linspace(0.02, 0.8, 12):
        first, second = pair({"sensor": sensor}, level)
        means.append(np.mean([first, second]) - 10.0)
        variances.append(temporal_variance(first, second) - 1.0 / 12.0)
    slope, offset = np.polyfit(means, variances, 1)
    assert slope == pytest.approx(gain, rel=0.05)
    assert offset == pytest.approx((gain * 30.0) ** 2, rel=0.1)


def test_a_grey_chart_is_linear():
    levels = np.linspace(0.05, 0.9, 10)
    means = np.array([np.mean(pair({"sensor": SENSOR}, level)) for level in levels])
    np.testing.assert_allclose(means / 255.0, levels, rtol=0.02)


def test_a_full_well_gives_the_largest_number_without_noise():
    first, second = pair({"sensor": SENSOR}, 2.0)
    assert np.all(first == 255) and np.all(second == 255)


def test_signal_to_noise_at_saturation_is_the_root_of_the_well():
    first, second = pair({"sensor": {**SENSOR, "bits": 12, "full_well": 2500.0}}, 0.9)
    ratio = np.mean(first) / math.sqrt(temporal_variance(first, second) - 1.0 / 12.0)
    assert ratio == pytest.approx(math.sqrt(0.9 * 2500.0), rel=0.05)


def test_responses_of_pixels_differ_by_the_prnu_and_stay():
    camera = camera_with({"sensor": {**SENSOR, "full_well": 1e6, "prnu": 0.02, "bits": 16}})
    images = [developed(camera, light_of(camera, 0.8)).astype(float) for _ in range(16)]
    mean = np.mean(images, axis=0)
    assert mean.std() / mean.mean() == pytest.approx(0.02, rel=0.05)
    assert np.corrcoef(images[0].ravel(), images[1].ravel())[0, 1] > 0.8


def test_offsets_of_pixels_differ_by_the_dsnu_in_the_dark():
    sensor = {**SENSOR, "full_well": 2550.0, "dsnu": 50.0, "black_level": 100.0}
    images = [developed(camera_with({"sensor": sensor}), np.zeros((120, 160))) for _ in range(2)]
    assert images[0].std() == pytest.approx(50.0 * 155.0 / 2550.0, rel=0.06)
    np.testing.assert_array_equal(images[0], images[1])


@pytest.mark.parametrize("warmer", [0.0, 8.0, 16.0])
def test_dark_current_doubles_every_eight_kelvins(warmer):
    sensor = {**SENSOR, "dark_current": 2e4, "temperature": 25.0 + warmer}
    effects = {"sensor": sensor, "exposure": {"time": 0.04}}
    camera = camera_with(effects)
    dark = developed(camera, np.zeros((120, 160)), luminance=100.0)
    assert dark.mean() == pytest.approx(255.0 * 800.0 * 2.0 ** (warmer / 8.0) / 1e4, rel=0.02)


def test_photons_on_a_pixel_are_those_of_the_camera_equation():
    """500 lx on white, f/2, 5 ms: 0.9 pi/4 500/pi / 4 = 28.1 lx, 0.0206 mW/m^2 ... by h c / lambda a photon."""
    h, c, wavelength = 6.62607015e-34, 2.99792458e8, 555e-9
    illuminance = 0.9 * 0.25 * math.pi * (500.0 / math.pi) / 2.0**2
    photons = 36e-12 * 5e-3 * (illuminance / 683.0) / (h * c / wavelength)
    camera = camera_with(
        {
            "sensor": {**SENSOR, "full_well": 4e4, "quantum_efficiency": 0.5},
            "exposure": {"time": 5e-3},
        }
    )
    level = developed(camera, light_of(camera, 1.0)).mean() / 255.0
    assert 4e4 * level == pytest.approx(0.5 * photons, rel=0.01)


def test_light_counts_by_its_luminance_where_the_renderer_knows_it():
    effects = {"sensor": {**SENSOR, "full_well": 4e4}, "exposure": {"time": 5e-3}}
    levels = []
    for luminance in (50.0, 100.0):
        camera = camera_with(effects)
        levels.append(developed(camera, light_of(camera, 1.0), luminance=luminance).mean())
    assert levels[1] / levels[0] == pytest.approx(2.0, rel=0.01)


def test_a_gain_of_six_decibels_doubles_numbers():
    means = []
    for decibels in (0.0, 20.0 * math.log10(2.0)):
        exposure = {"time": 1e-3, "gain_db": decibels}
        camera = camera_with({"sensor": SENSOR, "exposure": exposure})
        means.append(developed(camera, light_of(camera, 0.3)).mean())
    assert means[1] / means[0] == pytest.approx(2.0, rel=0.02)


def test_equal_seeds_give_equal_images_and_cameras_draw_apart():
    effects = {"sensor": {**SENSOR, "prnu": 0.01, "read_noise": 5.0}}
    images = [
        developed(camera, light_of(camera))
        for camera in (
            camera_with(effects),
            camera_with(effects),
            camera_with(effects, seed=2),
            camera_with(effects, topic="right"),
        )
    ]
    np.testing.assert_array_equal(images[0], images[1])
    assert not np.array_equal(images[0], images[2])
    assert not np.array_equal(images[0], images[3])


def test_a_camera_starts_anew_with_its_seed():
    from iap_description.math.random_streams import stream

    camera = camera_with({"sensor": {**SENSOR, "prnu": 0.01}})
    first = developed(camera, light_of(camera))
    camera.reset(stream(1, "left"))
    np.testing.assert_array_equal(first, developed(camera, light_of(camera)))


@pytest.mark.parametrize(
    ("effects", "said"),
    [
        ({"sensor": {**SENSOR, "full_well": 0.0}}, "key 'effects.sensor.full_well'"),
        ({"sensor": {**SENSOR, "read_noise": -1.0}}, "key 'effects.sensor.read_noise'"),
        ({"sensor": {**SENSOR, "black_level": 255.0}}, "key 'black_level': 255.0 is not below"),
        ({"sensor": SENSOR, "exposure": {"time": 0.0}}, "key 'effects.exposure.time'"),
        ({"exposure": {"time": 0.01}}, "key 'exposure': it needs the effect 'sensor', too"),
        ({"auto_exposure": {}}, "key 'auto_exposure': it needs the effect 'exposure', too"),
        (
            {"sensor": SENSOR, "exposure": {"time": 0.01}, "auto_exposure": {"speed": 1.0}},
            "key 'speed': 1.0 swings up with a delay of 1 images; less than 1 settles",
        ),
        ({"noise": {}}, "unknown key 'effects.noise'"),
        ({"vignetting": {"polynomial": [-2.0, 0.0, 0.0]}}, "key 'polynomial'"),
    ],
)
def test_an_impossible_effect_is_refused_in_one_line(effects, said):
    line = refusal(
        validate, CameraSpec, {**PRESETS.tree("vi_g"), "effects": effects}, source="scenario.yaml"
    )
    assert said in line
