# SPDX-License-Identifier: BSD-3-Clause
"""An inertial unit's errors: its densities come back from a long log, and each error is what its record says."""

import math

import numpy as np
import pytest

from iap_description.config.record import validate
from iap_description.errors import BadInput
from iap_description.math.random_streams import stream
from iap_estimation.evaluation.allan import allan_deviation, densities, octaves
from iap_sensors.inertial import imu as imu_module
from iap_sensors.inertial.imu import PRESETS, Imu, ImuSpec

RATE = 200.0
HOURS = 3.0


def spec_of(preset="perfect", **triads):
    tree = PRESETS.tree(preset)
    for key, changes in triads.items():
        tree[key] = {**tree[key], **changes}
    return validate(ImuSpec, tree, source="test")


def imu_of(spec, seed=1):
    return Imu(spec, RATE, stream(seed, "imu"))


def constant(value, count):
    return np.tile(value, (count, 1))


@pytest.fixture(scope="module")
def long_log():
    """Three hours at rest."""
    still = np.zeros((int(HOURS * 3600.0 * RATE), 3))
    return imu_of(spec_of("paper"))(still, still)


@pytest.mark.slow
@pytest.mark.parametrize(("triad", "name"), [("gyro", "w_S"), ("accel", "f_S")])
def test_a_long_log_returns_the_densities_of_the_paper(long_log, triad, name):
    given, found = getattr(spec_of("paper"), triad), densities(getattr(long_log, name), 1.0 / RATE)
    assert found.noise == pytest.approx(given.noise, rel=0.1)
    assert found.walk == pytest.approx(given.walk, rel=0.1)


@pytest.mark.slow
def test_the_samples_have_the_deviations_of_table_vi(long_log):
    white = long_log.w_S - long_log.gyro_bias, long_log.f_S - long_log.accel_bias
    assert white[0].std() == pytest.approx(0.0212, rel=0.01)
    assert white[1].std() == pytest.approx(0.2828, rel=0.01)
    assert np.diff(long_log.gyro_bias, axis=0).std() == pytest.approx(1.4142e-5, rel=0.01)
    assert np.diff(long_log.accel_bias, axis=0).std() == pytest.approx(1.4142e-3, rel=0.01)


def test_the_allan_deviation_of_a_ramp_is_its_slope():
    """IEEE Std 952-1997, annex C: R tau / sqrt(2)."""
    clusters = octaves(4000)
    found = allan_deviation(0.3 * 0.01 * np.arange(4000.0), 0.01, clusters)
    np.testing.assert_allclose(found, 0.3 * 0.01 * clusters / math.sqrt(2.0), rtol=1e-9)


def test_a_log_shorter_than_two_clusters_has_no_allan_deviation():
    with pytest.raises(BadInput, match="10 samples"):
        allan_deviation(np.zeros(10), 0.01, np.array([1, 5]))


def test_how_samples_are_asked_for_changes_no_bit():
    true = stream(2, "motion").normal(size=(2, 3000, 3))
    whole, unit = imu_of(spec_of("px4"))(*true), imu_of(spec_of("px4"))
    cuts = [0, 0, 1, 2, 700, 701, 1500, 3000]
    parts = [unit(*true[:, a:b]) for a, b in zip(cuts[:-1], cuts[1:], strict=True)]
    for one, many in zip(whole, zip(*parts, strict=True), strict=True):
        np.testing.assert_array_equal(one, np.concatenate(many))


def test_equal_seeds_give_equal_samples_and_others_do_not():
    still = np.zeros((20, 3))
    unit = imu_of(spec_of("paper"))
    first = unit(still, still)
    unit.reset(stream(1, "imu"))
    np.testing.assert_array_equal(first.w_S, unit(still, still).w_S)
    assert not np.any(first.w_S == imu_of(spec_of("paper"), seed=2)(still, still).w_S)


def test_gyroscopes_and_accelerometers_err_independently():
    still = np.zeros((20000, 3))
    samples = imu_of(spec_of("paper"))(still, still)
    together = np.hstack([samples.w_S - samples.gyro_bias, samples.f_S - samples.accel_bias])
    assert np.abs(np.corrcoef(together.T) - np.eye(6)).max() < 0.03


def test_a_perfect_unit_says_what_is():
    true = stream(3, "motion").normal(size=(2, 50, 3))
    samples = imu_of(spec_of())(*true)
    np.testing.assert_array_equal(samples.w_S, true[0])
    np.testing.assert_array_equal(samples.f_S, true[1])
    assert not samples.gyro_bias.any()


def test_it_saturates_at_its_range():
    samples = imu_of(spec_of(accel={"range": 20.0}))(
        np.zeros((1, 3)), constant([30.0, -25.0, 9.0], 1)
    )
    np.testing.assert_array_equal(samples.f_S, [[20.0, -20.0, 9.0]])


def test_its_numbers_are_multiples_of_its_resolution():
    true = stream(4, "motion").normal(size=(100, 3))
    w = imu_of(spec_of(gyro={"resolution": 0.01}))(true, true).w_S
    np.testing.assert_allclose(w / 0.01, np.round(w / 0.01), atol=1e-9)
    assert np.abs(w - true).max() <= 0.005 + 1e-12


def test_a_saturated_unit_does_not_exceed_its_range_by_rounding():
    spec = spec_of(accel={"range": 20.0, "resolution": 0.3})
    samples = imu_of(spec)(np.zeros((1, 3)), constant([30.0, -30.0, 0.0], 1))
    assert np.abs(samples.f_S).max() == 20.0


def drawn(triad, count=2000):
    """Readings of units of many seeds for a unit value along every axis: (count, 3, 3), a column for each."""
    still = np.zeros((3, 3))
    return np.array(
        [imu_of(spec_of(gyro=triad), seed)(np.eye(3), still).w_S.T for seed in range(count)]
    )


def test_scales_are_off_by_what_the_record_says():
    errors = drawn({"scale": 0.02}, 400) - np.eye(3)
    assert np.diagonal(errors, axis1=1, axis2=2).std() == pytest.approx(0.02, rel=0.1)
    assert not errors[:, ~np.eye(3, dtype=bool)].any()


def test_axes_are_tilted_by_what_the_record_says():
    errors = drawn({"misalignment_deg": 0.5}, 400) - np.eye(3)
    off = errors[:, ~np.eye(3, dtype=bool)]
    assert off.std() == pytest.approx(math.radians(0.5), rel=0.1)
    assert not np.diagonal(errors, axis1=1, axis2=2).any()


def test_a_bias_is_drawn_at_the_start_and_stays_without_a_walk():
    still = np.zeros((5, 3))
    units = [imu_of(spec_of(accel={"bias": 0.2}), seed)(still, still) for seed in range(400)]
    assert np.std([unit.accel_bias[0] for unit in units]) == pytest.approx(0.2, rel=0.1)
    assert not np.ptp(units[0].f_S, axis=0).any()


def test_all_presets_are_units():
    assert PRESETS.names() == ["bmi085", "euroc", "paper", "perfect", "px4", "vn100"]
    for name in PRESETS.names():
        assert spec_of(name).rate == RATE


@pytest.mark.parametrize(
    ("triad", "key"),
    [
        ({"noise": -1.0}, "gyro.noise"),
        ({"range": 0.0}, "gyro.range"),
        ({"resolution": -0.1}, "gyro.resolution"),
        ({"scale": float("nan")}, "gyro.scale"),
    ],
)
def test_impossible_units_are_refused_by_the_key_s_name(triad, key):
    with pytest.raises(BadInput, match=f"test: .*'{key}'"):
        spec_of(gyro=triad)


@pytest.mark.parametrize("triad", ["gyro", "accel"])
def test_a_unit_without_an_error_model_is_refused_by_the_key_s_name(triad):
    tree = {key: value for key, value in PRESETS.tree("paper").items() if key != triad}
    with pytest.raises(BadInput, match=f"test: missing key '{triad}'"):
        validate(ImuSpec, tree, source="test")


@pytest.mark.parametrize("block", [1, 65])
def test_samples_do_not_depend_on_how_many_errors_are_drawn_at_once(block, monkeypatch):
    true = stream(2, "motion").normal(size=(2, 200, 3))
    expected = imu_of(spec_of("px4"))(*true)
    monkeypatch.setattr(imu_module, "SAMPLES_DRAWN_AT_ONCE", block)
    for one, other in zip(imu_of(spec_of("px4"))(*true), expected, strict=True):
        np.testing.assert_array_equal(one, other)
