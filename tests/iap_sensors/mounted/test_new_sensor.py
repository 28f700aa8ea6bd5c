# SPDX-License-Identifier: BSD-3-Clause
"""A new kind of sensor is one module and one line of a table: scenario, flight, bag and node parameters follow."""

import altimeter
import numpy as np
import pytest

from iap_bringup.launching.node_parameters import sensor_nodes
from iap_description.config.plain_yaml import read_yaml
from iap_description.errors import BadInput
from iap_io.runs.run_folder import load_run
from iap_io.runs.topics import BAG
from iap_io.sensor_messages.sensor_reader import read_sensors
from iap_sensors.mounted import kinds
from iap_sensors.mounted.rig_spec import RigSpec
from iap_simulation.flights.flight import Flight
from iap_simulation.runs.run import execute
from iap_simulation.scenario.resolving import SCENARIOS, Options, resolve_tree
from iap_simulation.scenario.rig_spec import rig_spec

MODULE = "altimeter:Altimeters"


@pytest.fixture(params=["altimeter", MODULE])
def key(request, monkeypatch):
    """The key of the kind: its name in the table, or its class."""
    monkeypatch.setitem(kinds.KINDS, "altimeter", MODULE)
    return request.param


def scenario(key, given="bmp388", **options):
    """The hovering flight with an altimeter on each aircraft, and inertial units."""
    own = {"sensors": {key: given, "imu": "perfect"}, "engine": {"name": "closed_form"}}
    tree = {**read_yaml(SCENARIOS.file("hover")), **own}
    return resolve_tree("hover", tree, "test", Options(duration=1.0, **options))


def test_its_readings_of_a_flight_are_in_the_bag_with_their_noise(key, tmp_path):
    flown, config = scenario(key)
    execute(Flight.of(flown), tmp_path, config)
    run = load_run(tmp_path)
    infos = [info for info in run.meta.sensors if info.topic == "/iap/drone_2/altimeter"]
    assert [info.rate for info in infos] == [50.0]
    readings = list(read_sensors(tmp_path / BAG, infos))
    assert len(readings) == 51
    np.testing.assert_allclose(np.diff([each.t for each in readings]), 0.02, atol=1e-9)
    heights = run.vehicles[0].columns.x[::4, 2, 2]
    p = altimeter.SEA_LEVEL * np.exp(-heights / altimeter.SCALE_HEIGHT)
    off = np.array([each.value for each in readings]) - p[: len(readings)]
    assert 1.5 < off.std() < 4.5
    assert abs(off.mean()) < 2.0


def test_its_node_gets_a_rig_that_is_equal_after_yaml(key):
    flown, _ = scenario(key)
    assert sensor_nodes(flown) == ["imu_node", "sensor_node"]
    rig = rig_spec(flown)
    assert RigSpec.read(rig.text, source="test") == rig


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ("bmp999", "no altimeter 'bmp999'"),
        ({"preset": "bmp388", "rate": -1.0}, "rate': Input should be greater than 0"),
        ({"mount": "imu", "rate": 1.0}, "missing key '.*noise'"),
    ],
)
def test_a_fault_in_it_is_named_by_its_key(key, given, words):
    with pytest.raises(BadInput, match=words.replace("(", r"\(").replace(")", r"\)")):
        scenario(key, given)


def test_an_assignment_reaches_into_it(key):
    if ":" not in key:  # whose dots would be those of a path
        changed, _ = scenario(key, assignments=("sensors.altimeter.noise=0.5",))
        assert changed.vehicles[0].sensors.mounted["altimeter"].noise == 0.5


def test_what_is_no_kind_is_an_unknown_key():
    with pytest.raises(BadInput, match=r"unknown key 'sensors\.sonar'"):
        scenario("sonar")
