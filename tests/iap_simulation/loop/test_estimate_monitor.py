# SPDX-License-Identifier: BSD-3-Clause
"""Estimates that are lost, and sensors that cannot be."""

import json
from types import SimpleNamespace

import numpy as np
import pytest
from refusals import refusal

from iap_control.controllers.estimate_failsafe import Failsafe
from iap_description.errors import BadInput, FlightFailed
from iap_description.signals import EstimateHealth, Reference
from iap_description.states import REF_FIXED, REF_P, REF_V
from iap_sensors.cameras.make import make_renderer
from iap_sensors.mounted.sensor_presets import set_names
from iap_sensors.mounted.sensor_suite import SensorSuite
from iap_simulation.flights.flight import Flight
from iap_simulation.loop.estimate_monitor import EstimateGuidance, EstimateMonitor
from iap_simulation.runs.run import record
from iap_simulation.scenario.resolving import Options, resolve
from iap_simulation.scenario.rig_spec import rig_spec

SOUND = EstimateHealth(tracks=80, blind=0.0, deviation=0.02, age=0.1)
LIMITS = Failsafe(blind=2.0, deviation=0.5, silence=1.0, action="land", descent=0.5)
GIVEN = Reference(np.r_[4.0, 0.0, 2.0, 0.0, 0.0, 0.0, 1.0, np.zeros(REF_FIXED - 7), 0.3])
LEFT = "sensors.cameras.left"


class Told:
    """Stands in for an estimator that says this of itself."""

    def __init__(self, health):
        self.said = health

    def health(self, t):
        return self.said


def rows(place, velocity=(0.0, 0.0, 0.0)):
    return np.r_[place, 0.0, 0.0, 0.0, 1.0, velocity, np.zeros(3)][None]


def test_a_lost_vehicle_goes_down_where_it_believes_to_be_and_stays_lost():
    told = Told(SOUND)
    monitor = EstimateMonitor("iap", told, LIMITS)
    believed, true = rows([1.0, 2.0, 3.0]), rows([1.5, 2.0, 3.0])
    assert monitor.reference(0.0, believed, true, GIVEN) is GIVEN
    assert not monitor.is_landing
    told.said = SOUND._replace(blind=3.0)
    for k in range(1, 41):
        reference = monitor.reference(0.005 * k, believed, true, GIVEN)
    assert monitor.is_landing
    told.said = SOUND  # what it says afterwards may be sure of itself, and wrong
    for k in range(41, 241):
        reference = monitor.reference(0.005 * k, believed, true, GIVEN)
    fallen = LIMITS.descent * (0.005 * 240 - 0.005 * 20)  # it is looked at every 20 steps
    assert reference.row[REF_P] == pytest.approx([1.0, 2.0, 3.0 - fallen])
    assert reference.row[REF_V] == pytest.approx([0.0, 0.0, -0.5])
    assert reference.row[REF_FIXED:] == pytest.approx([0.3])


@pytest.mark.parametrize(("speed", "outcome"), [(0.5, "lost"), (1.5, "crashed")])
def test_a_touch_is_judged_by_the_speed_before_it(speed, outcome):
    monitor = EstimateMonitor("iap", Told(SOUND._replace(blind=3.0)), LIMITS)
    for k in range(40):
        moving = rows([0.03 * k, 0.0, 2.0], (0.0, 0.0, -speed))
        monitor.reference(0.005 * k, moving, moving, GIVEN)
    with pytest.raises(FlightFailed, match=f"came down at {speed:.2f} m/s, 1.17 m") as ended:
        monitor.touch(0.2, moving)
    assert ended.value.outcome == outcome


def test_a_vehicle_that_holds_is_not_complete_either():
    hold = LIMITS.model_copy(update={"action": "hold"})
    monitor = EstimateMonitor("iap", Told(SOUND._replace(deviation=0.6)), hold)
    for t in (0.0, 5.0):
        reference = monitor.reference(t, rows([1.0, 2.0, 3.0]), rows([1.0, 2.0, 3.0]), GIVEN)
    assert reference.row[REF_P] == pytest.approx([1.0, 2.0, 3.0])
    assert not monitor.is_landing
    with pytest.raises(FlightFailed, match="lost at 0.00 s, uncertain by 0.60 m"):
        monitor.end(5.0)


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        ("control.failsafe.blind=-1", "control.failsafe.blind"),
        ("control.failsafe.action=pray", "control.failsafe.action"),
    ],
)
def test_settings_are_checked(setting, words):
    with pytest.raises(BadInput, match=words):
        resolve("hover", Options(assignments=(setting,)))


@pytest.mark.slow
def test_in_the_dark_a_quadrotor_lands_and_says_so(tmp_path):
    try:
        make_renderer("opengl").close()
    except BadInput as error:
        pytest.skip(str(error))
    dark = {f"sensors.cameras.{side}.exposure": -20 for side in ("left", "right")}
    result = record(
        "hover",
        folder=tmp_path / "run",
        settings={**dark, "recording.euroc": False},
        platform="f450",
        sensors="stereo",
        state_source="vio",
        duration=8.0,
        seed=11,
    )
    assert result.metrics["outcome"] == "lost"
    assert "nothing seen for 2.1 s; came down at" in result.failure
    told = result.failure.split(" came down at ")[1].split(", ")
    speed, distance = (float(part.split()[0]) for part in told)
    assert speed < 1.0
    assert distance < 1.0
    method = json.loads((tmp_path / "run" / "metrics.json").read_text())["methods"]["vio"]
    blind, lost = method["events"]
    assert blind == {"t_s": 0.0, "what": "vision lost"}
    assert lost["t_s"] == pytest.approx(2.1, abs=0.2)
    assert lost["what"] == "estimate lost, nothing seen for 2.1 s"
    health = method["health"]
    assert health["tracks_min"] == 0
    assert health["blind_max_s"] > 3.0


def scenario(*assignments, sensors="stereo", **options):
    return resolve("hover", Options(sensors=sensors, assignments=assignments, **options))[0]


@pytest.mark.parametrize("name", set_names())
def test_every_set_of_sensors_fits_platforms_of_its_kind(name):
    for platform in {"wrist": ("m100_gripper",)}.get(name, ("three_star", "f450")):
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
    line = refusal(scenario, assignment)
    assert words in line


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
    line = refusal(Flight.of, scenario(assignment))
    assert words in line


@pytest.mark.parametrize("unit", ["euroc", "px4"])
def test_an_attitude_filter_made_for_other_gyroscopes_is_warned_of(unit):
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


def test_a_vehicle_whose_estimate_is_watched_is_guided_by_its_fail_safe_and_others_as_before():
    vehicles = [SimpleNamespace(estimate=None), SimpleNamespace(estimate=None)]
    passed = {}
    plant = SimpleNamespace(
        t=2.0, state=lambda i: [f"true {i}"], set_estimate=lambda i, x: passed.update({i: x})
    )
    estimators = {i: SimpleNamespace(state=lambda t, i=i: (i, t)) for i in range(2)}
    monitors = {1: SimpleNamespace(reference=lambda *given: given)}
    references = ["first", "second"]
    EstimateGuidance(vehicles, estimators, monitors, None).refer(0, plant, references)
    assert references == ["first", (2.0, (1, 2.0), "true 1", "second")]
    assert passed == {0: (0, 2.0), 1: (1, 2.0)} == dict(enumerate(v.estimate for v in vehicles))


def test_an_estimate_beyond_all_places_ends_the_flight_before_anybody_flies_by_it():
    vehicle = SimpleNamespace(estimate=None, name="iap")
    plant = SimpleNamespace(t=2.0, set_estimate=None)
    far = np.zeros((1, 13))
    far[0, 2] = -2e7
    guidance = EstimateGuidance([vehicle], {0: SimpleNamespace(state=lambda t: far)}, {}, None)
    with pytest.raises(FlightFailed, match="iap: its estimate is beyond"):
        guidance.refer(0, plant, ["nominal"])
    assert vehicle.estimate is None
