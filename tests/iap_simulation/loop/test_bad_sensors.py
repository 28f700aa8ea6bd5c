# SPDX-License-Identifier: BSD-3-Clause
"""Sensors that cannot be: one line with the key, and nothing changes in silence."""

import pytest

from iap_description.errors import BadInput
from iap_sensors.cameras.make import make_renderer
from iap_sensors.mounted.sensor_presets import set_names
from iap_sensors.mounted.sensor_suite import SensorSuite
from iap_simulation.flights.flight import Flight
from iap_simulation.scenario.resolving import Options, resolve
from iap_simulation.scenario.rig_spec import rig_spec

LEFT = "sensors.cameras.left"


def scenario(*assignments, sensors="stereo", **options):
    return resolve("hover", Options(sensors=sensors, assignments=assignments, **options))[0]


@pytest.mark.parametrize("name", set_names())
def test_every_set_of_sensors_fits_the_shipped_platforms(name):
    for platform in ("three_star", "f450"):
        SensorSuite(rig_spec(scenario(sensors=name, platform=platform)))


@pytest.mark.parametrize(
    ("assignment", "words"),
    [
        (f"{LEFT}.fx=0.0", "sensors.cameras.left.fx'"),
        ("sensors.imu.rate=0.0", "sensors.imu.rate'"),
        ("sensors.imu.gyro.noise=-1.0", "sensors.imu.gyro.noise'"),
        ("sensors.imu=adis", "no inertial unit 'adis'"),
        ("sensors.sonar=1", "unknown key 'sensors.sonar'"),
        ("renderer=unreal", "key 'renderer'"),
        ("world.scene=moon", "moon"),
    ],
)
def test_what_cannot_be_is_refused_by_its_key(assignment, words):
    with pytest.raises(BadInput) as caught:
        scenario(assignment)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_an_unknown_set_is_refused_with_those_that_there_are():
    with pytest.raises(BadInput, match="no sensors 'sonar'.*stereo"):
        scenario(sensors="imu,sonar")


@pytest.mark.parametrize(
    ("assignment", "words"),
    [
        (f"{LEFT}.mount=nose", "key 'sensors.cameras.left.mount': drone_1 has no mount 'nose'"),
        ("sensors.uwb.mount=nose", "key 'sensors.uwb.mount'"),
        ("sensors.cameras.right.right_of=middle", "key 'sensors.cameras.right.right_of'"),
        ("sensors.cameras.right.mount=left_camera", "key 'sensors.cameras.right.right_of'"),
        ("cameras={gate: {preset: vi_g}}", "key 'cameras.gate'"),
    ],
)
def test_a_sensor_without_a_place_is_refused(assignment, words):
    with pytest.raises(BadInput) as caught:
        Flight.of(scenario(assignment))
    assert words in str(caught.value)


@pytest.mark.parametrize("unit", ["euroc", "px4"])
def test_an_attitude_filter_made_for_other_gyroscopes_is_told_of(unit):
    notes = SensorSuite(rig_spec(scenario(f"sensors.imu={unit}"))).notes
    assert [note for note in notes if note.startswith("attitude: it expects")] == notes
    assert len(notes) == 1
    assert not SensorSuite(
        rig_spec(scenario(f"sensors.imu={unit}", "sensors.attitude=mems"))
    ).notes
    assert not SensorSuite(rig_spec(scenario())).notes


def test_rates_that_do_not_divide_become_the_nearest_and_are_said_once():
    odd = (f"{LEFT}.rate=30.0", "sensors.imu.rate=300.0", "sensors.uwb.rate=200.0")
    notes = SensorSuite(rig_spec(scenario(*odd))).notes
    assert [note for note in notes if "camera 'left'" in note] == [
        "camera 'left': 28.57 Hz instead of 30 Hz, one of every 7 control steps"
    ]
    assert any("imu: 333.3 Hz instead of 300 Hz" in note for note in notes)
    assert not any("uwb" in note or "right" in note for note in notes)
    assert len(notes) == len(set(notes)) == 2


def test_a_missing_renderer_is_named_with_the_packages_that_bring_it(monkeypatch):
    from iap_sensors.cameras import opengl

    monkeypatch.setattr(opengl, "LIBRARY", "libNoSuchEGL.so.1")
    with pytest.raises(BadInput, match="libegl1 libgl1-mesa-dri.*renderer: pybullet"):
        make_renderer("opengl")
