# SPDX-License-Identifier: BSD-3-Clause
"""A barometer and a satellite receiver: the standard atmosphere, the Earth, and errors as their records say."""

import numpy as np
import pytest

from iap_description.errors import BadInput
from iap_description.math.atmosphere import standard_pressure
from iap_description.math.random_streams import stream
from iap_description.sensors.readings import FixReading, ScalarReading, SensorSource
from iap_description.states import P, resting_state
from iap_description.vehicles.assembly import Assembly
from iap_description.vehicles.platform import load_platform
from iap_io.bags.bag_reading import METADATA
from iap_io.runs.run_reader import RunReader
from iap_io.runs.topics import BAG
from iap_io.sensor_messages.sensor_reader import read_sensors
from iap_sensors.inertial.magnetometer import PRESETS as MAGNETOMETERS
from iap_sensors.inertial.magnetometer import Magnetometer, MagnetometerSpec
from iap_sensors.mounted.barometer import Barometer, Barometers, BarometerSpec
from iap_sensors.mounted.gnss import GnssSpec, Receiver, Receivers
from iap_simulation.runs.run import record

HOUR = 3600.0
TAUS = (0.2, 1.0, 2.0)  # of Allan deviations [s]
SOURCE = SensorSource("/iap/sensor", "iap/sensor")
LEVEL = np.array([0.0, 0.0, 0.0, 1.0])


def sensors_of(kind, preset, seed=1, **changes):
    spec = kind.SPEC.model_validate({**kind.preset(preset), **changes})
    assembly = Assembly.of(load_platform("f450"))
    return kind(spec, assembly, seed=seed, control_hz=200.0)


def samples(sensors, seconds, read, place=(1.0, 2.0, 3.0)):
    """Values of all samples of the first sensor at rest."""
    x = resting_state(np.array(place), LEVEL)[None]
    ticks = np.arange(0, seconds * sensors.control_hz, sensors.sampling.every, dtype=int)
    return np.array([read(sensors.sample(int(k), k / 200.0, x, None)[0]) for k in ticks])


def allan_variance(x, m):
    """Of samples x, in means over m of them, which overlap."""
    sums = np.concatenate([[0.0], np.cumsum(x)])
    means = (sums[m:] - sums[:-m]) / m
    return 0.5 * np.mean((means[m:] - means[:-m]) ** 2)


def allan_of_walk(m):
    """Expected Allan variance of a walk whose steps have deviation 1: (m^2 + 1/2) / (3 m)."""
    return (m**2 + 0.5) / (3.0 * m)


@pytest.mark.parametrize(
    ("height", "pressure"), [(0.0, 101_325.0), (1000.0, 89_874.6), (5000.0, 54_019.9)]
)
def test_pressures_are_those_of_the_standard_atmosphere(height, pressure):
    """Table of ICAO Doc 7488; its heights are geopotential."""
    assert standard_pressure(np.array([height]))[0] == pytest.approx(pressure, abs=0.1)


def test_a_perfect_barometer_feels_a_metre_as_twelve_pascals():
    low, high = (
        samples(
            sensors_of(Barometers, "perfect", altitude=0.0), 0.1, lambda x: x.value, (0, 0, z)
        )[0]
        for z in (0.0, 1.0)
    )
    assert low - high == pytest.approx(12.01, abs=0.01)


def test_an_hour_of_pressures_has_the_noise_and_the_walk_of_its_record():
    spec = BarometerSpec.model_validate({**Barometers.preset("ms5611"), "resolution": 0.0})
    unit = Barometer(SOURCE, spec, spec.rate, stream(1, "barometer"))
    x = np.array([unit.measure(95_000.0) for _ in range(round(HOUR * spec.rate))])
    for tau in TAUS:
        m = round(tau * spec.rate)
        expected = spec.noise**2 / m + allan_of_walk(m) * spec.walk**2 / spec.rate
        assert np.sqrt(allan_variance(x, m)) == pytest.approx(np.sqrt(expected), rel=0.05)


def test_an_hour_of_fixes_has_the_noise_and_the_drift_of_its_record():
    spec = GnssSpec.model_validate(Receivers.preset("f9p_rtk"))
    unit = Receiver(SOURCE, spec, spec.rate, stream(1, "gnss"))
    off = np.array([unit.errors() for _ in range(round(HOUR * spec.rate))])
    drifts = (spec.drift_horizontal, spec.drift_horizontal, spec.drift_vertical)
    noises = (spec.noise_horizontal, spec.noise_horizontal, spec.noise_vertical)
    for x, drift, noise in zip(off.T, drifts, noises, strict=True):
        step = 2.0 * drift**2 / (spec.rate * spec.memory)
        for tau in TAUS[1:]:
            m = round(tau * spec.rate)
            expected = noise**2 / m + allan_of_walk(m) * step
            assert np.sqrt(allan_variance(x, m)) == pytest.approx(np.sqrt(expected), rel=0.05)
        assert x.std() == pytest.approx(np.hypot(drift, noise), rel=0.15)


@pytest.mark.parametrize(
    ("preset", "changes"), [("default", {}), ("bmm150", {}), ("bmm150", {"walk": 2e-7})]
)
def test_an_hour_of_fields_has_the_noise_and_the_walk_of_its_record(preset, changes):
    """A resolution r adds the variance r^2 / 12, which is white behind a noise of two steps."""
    spec = MagnetometerSpec.model_validate({**MAGNETOMETERS.tree(preset), **changes})
    unit = Magnetometer(spec, stream(1, "mag"))
    fields = np.array([unit.measure(LEVEL) for _ in range(round(HOUR * spec.rate))])
    white = spec.noise**2 + spec.resolution**2 / 12.0
    for x in fields.T:
        for tau in TAUS:
            m = round(tau * spec.rate)
            expected = white / m + allan_of_walk(m) * spec.walk**2 / spec.rate
            assert np.sqrt(allan_variance(x, m)) == pytest.approx(np.sqrt(expected), rel=0.05)
    if "walk" in changes:  # after a quarter of an hour it is six times the noise
        far = fields[round(0.25 * HOUR * spec.rate) :] - fields[: -round(0.25 * HOUR * spec.rate)]
        assert np.sqrt(np.mean(far**2)) > 4.0 * spec.noise


def test_a_flight_keeps_both_in_its_bag_and_gives_the_same_twice(tmp_path):
    both = []
    for name in ("first", "second"):
        folder = tmp_path / name
        record("hover", folder=folder, duration=1.0, sensors="outdoor")
        reader = RunReader(folder)
        chosen = [
            each for each in reader.meta.sensors if each.topic.endswith(("barometer", "gnss"))
        ]
        assert len(chosen) == 6
        both.append(list(read_sensors(folder / BAG, chosen)))
    assert (folder / BAG / METADATA).is_file()
    pressures, fixes = (
        [x for x in both[0] if isinstance(x, kind)] for kind in (ScalarReading, FixReading)
    )
    assert len(pressures) == pytest.approx(150, abs=6)
    assert len(fixes) == pytest.approx(15, abs=3)
    assert abs(fixes[0].place.latitude - 47.397742) < 1e-3
    assert 9.3e4 < pressures[0].value < 9.8e4
    assert both[0] == both[1]


@pytest.mark.parametrize(
    ("changes", "key"),
    [
        ({"datum": {"latitude_deg": 91.0, "longitude_deg": 0.0, "altitude": 0.0}}, "latitude_deg"),
        ({"memory": 0.0}, "memory"),
        ({"noise_vertical": -1.0}, "noise_vertical"),
    ],
)
def test_what_no_receiver_has_is_refused_by_its_key(tmp_path, changes, key):
    settings = {"sensors": {"gnss": {"preset": "m8n", **changes}}}
    with pytest.raises(BadInput, match=key):
        record({"extends": "hover", **settings}, folder=tmp_path / "run", duration=0.1)


def test_height_by_pressure_follows_a_climb():
    sensors = sensors_of(Barometers, "perfect", altitude=0.0)
    x = resting_state(np.zeros(3), LEVEL)[None]
    x[0, P] = 0.0, 0.0, 100.0
    (reading,) = sensors.sample(0, 0.0, x, None)
    assert reading.value == pytest.approx(float(standard_pressure(np.array([100.0]))[0]))
