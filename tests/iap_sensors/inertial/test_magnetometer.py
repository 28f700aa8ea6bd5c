# SPDX-License-Identifier: BSD-3-Clause
"""A magnetometer in the Earth's field."""

import numpy as np
import pytest

from iap_description.config.record import validate
from iap_description.errors import BadInput
from iap_description.math import so3
from iap_description.math.random_streams import stream
from iap_sensors.inertial.magnetometer import PRESETS, Magnetometer, MagnetometerSpec

LEVEL_TO_THE_EAST = np.array([0.0, 0.0, 0.0, 1.0])


def spec_of(preset="perfect", **changes):
    return validate(MagnetometerSpec, {**PRESETS.tree(preset), **changes}, source="test")


def magnetometer_of(spec, seed=1):
    return Magnetometer(spec, stream(seed, "mag"))


def test_the_field_points_north_and_down_on_the_northern_half():
    field_S = magnetometer_of(spec_of(declination_deg=0.0)).measure(LEVEL_TO_THE_EAST)
    np.testing.assert_allclose(field_S, 5e-5 * np.array([0.0, 0.5, -np.sqrt(0.75)]), atol=1e-12)


def test_declination_turns_it_eastwards():
    field_S = magnetometer_of(spec_of(declination_deg=10.0)).measure(LEVEL_TO_THE_EAST)
    assert np.rad2deg(np.arctan2(field_S[0], field_S[1])) == pytest.approx(10.0)


def test_a_sensor_sees_it_in_its_own_axes():
    spec, q_WS = spec_of(), so3.quaternion_exp(np.array([0.4, -0.9, 2.0]))
    field_S = magnetometer_of(spec).measure(q_WS)
    np.testing.assert_allclose(so3.rotate(q_WS, field_S), spec.field_W, atol=1e-15)


def test_noise_and_constant_error_are_what_the_record_says():
    spec = spec_of(noise=1e-6, bias=3e-6)
    errors = [
        [unit.measure(LEVEL_TO_THE_EAST) - spec.field_W for _ in range(20)]
        for unit in (magnetometer_of(spec, seed) for seed in range(300))
    ]
    assert np.std(errors, axis=1).mean() == pytest.approx(1e-6, rel=0.05)
    assert np.mean(errors, axis=1).std() == pytest.approx(3e-6, rel=0.1)


def test_equal_seeds_give_equal_samples():
    unit = magnetometer_of(spec_of("default"))
    first = unit.measure(LEVEL_TO_THE_EAST)
    assert np.any(first != unit.measure(LEVEL_TO_THE_EAST))
    unit.reset(stream(1, "mag"))
    np.testing.assert_array_equal(first, unit.measure(LEVEL_TO_THE_EAST))


def test_all_presets_are_magnetometers():
    assert PRESETS.names() == ["bmm150", "default", "perfect"]
    for name in PRESETS.names():
        assert spec_of(name).strength == 5e-5


def test_a_walk_goes_by_the_root_of_time_whatever_the_rate():
    spec = spec_of(walk=1e-7, rate=20.0)
    for rate in (5.0, 20.0):
        ends = []
        for seed in range(300):
            unit = Magnetometer(spec, stream(seed, "mag"), rate)
            fields = [unit.measure(LEVEL_TO_THE_EAST) for _ in range(round(4.0 * rate) + 1)]
            ends.append(fields[-1] - fields[0])
        assert np.std(ends) == pytest.approx(2e-7, rel=0.1)


def test_numbers_are_steps_of_its_resolution_and_without_the_keys_nothing_changes():
    steps = magnetometer_of(spec_of("bmm150")).measure(LEVEL_TO_THE_EAST) / 3e-7
    np.testing.assert_allclose(steps, np.rint(steps), atol=1e-9)
    assert "walk" not in spec_of("default").model_dump()


@pytest.mark.parametrize(
    "changes",
    [
        {"strength": 0.0},
        {"inclination_deg": 90.0},
        {"noise": -1.0},
        {"rate": -5.0},
        {"walk": -1e-9},
    ],
)
def test_impossible_ones_are_refused_by_the_key_s_name(changes):
    with pytest.raises(BadInput, match=f"test: key '{next(iter(changes))}'"):
        spec_of(**changes)
