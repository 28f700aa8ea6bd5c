# SPDX-License-Identifier: BSD-3-Clause
"""Faults as records: which kind a tree is, what is refused, when each acts, and what it leaves of rotors."""

import numpy as np
import pytest
import yaml

from iap_description.config.record import Record, validate
from iap_description.errors import BadInput
from iap_description.vehicles.faults import Fault, check_faults
from iap_description.vehicles.health import Health
from iap_description.vehicles.platform import load_platform

F450 = load_platform("f450").aircraft


class Faults(Record):
    faults: tuple[Fault, ...]


ONE_OF_EACH = [
    {"at": 1.0, "aircraft": 1, "rotor": 4, "thrust": 0.6},
    {"at": 2.0, "aircraft": 2, "motors": "off", "known": True},
    {"at": 3.0, "aircraft": 3, "battery": 0.8, "over": 2.0},
    {"at": 4.0, "sensor": "imu", "aircraft": 1, "for": 2.0, "output": "silent"},
    {"at": 5.0, "commands_late": 0.02, "for": 1.0},
]


def faults_of(*trees):
    return validate(Faults, {"faults": list(trees)}, source="test").faults


def health(faults, t, count=3):
    out = Health.sound([F450] * count)
    out.weaken(faults, t)
    return out


def test_records_survive_yaml():
    made = Faults(faults=faults_of(*ONE_OF_EACH))
    text = yaml.safe_dump(made.model_dump(mode="json"))
    assert "lasts" not in text
    assert validate(Faults, yaml.safe_load(text), source="test") == made


def test_motors_off_is_read_though_yaml_says_false():
    tree = yaml.safe_load("{at: 1.0, aircraft: 1, motors: off}")
    assert tree["motors"] is False
    assert str(faults_of(tree)[0]) == "motors of aircraft 1 stopped"


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"thrust": 1.1}, r"key 'faults.0.thrust': .* \(got 1.1\)"),
        ({"thrust": float("nan")}, "key 'faults.0.thrust'"),
        ({"rotor": 5}, "key 'faults.0.rotor'"),
        ({"rotor": 0}, "key 'faults.0.rotor'"),
        ({"aircraft": 0}, "key 'faults.0.aircraft'"),
        ({"at": -1.0}, "key 'faults.0.at'"),
        ({"for": 1.0}, "unknown key 'faults.0.for'"),
        ({"motors": "off"}, "key 'faults.0': .* this one has rotor and motors"),
        ({"known": "yes"}, "key 'faults.0.known'"),
    ],
)
def test_what_cannot_be_is_refused_by_its_key(change, words):
    with pytest.raises(BadInput, match=words):
        faults_of({**ONE_OF_EACH[0], **change})


@pytest.mark.parametrize(
    ("tree", "words"),
    [
        ({"at": 1.0, "aircraft": 1}, "one of the keys rotor, motors, .* has none"),
        ({"at": 1.0, "aircraft": 1, "rotor": 1}, "missing key 'faults.0.thrust'"),
        ({"at": 1.0, "aircraft": 1, "motors": "on"}, "key 'faults.0.motors'"),
        ({"at": 1.0, "aircraft": 1, "battery": 2.0}, "key 'faults.0.battery'"),
        ({**ONE_OF_EACH[3], "at": 0.0}, "key 'faults.0.at'"),
        ({**ONE_OF_EACH[3], "known": True}, "unknown key 'faults.0.known'"),
        ({**ONE_OF_EACH[3], "output": "loud"}, "key 'faults.0.output'"),
        ({"at": 1.0, "commands_late": 0.0}, "key 'faults.0.commands_late'"),
        ([1.0, 1, 1], "key 'faults.0'"),
    ],
)
def test_every_kind_says_which_key_is_wrong(tree, words):
    with pytest.raises(BadInput, match=words):
        faults_of(tree)


def test_an_aircraft_that_is_not_there_is_refused():
    with pytest.raises(ValueError, match="key 'faults.1.aircraft': there are 3, not 4"):
        check_faults(faults_of(ONE_OF_EACH[0], {**ONE_OF_EACH[1], "aircraft": 4}), [F450] * 3)


def test_each_rotor_of_an_aircraft_may_fail():
    trees = [{"at": 1.0, "aircraft": 1, "rotor": k, "thrust": 0.5} for k in (1, 2, 3, 4)]
    assert [each.rotor for each in faults_of(*trees)] == [1, 2, 3, 4]


def test_a_rotor_that_is_not_there_is_refused():
    fault = {"at": 1.0, "aircraft": 2, "rotor": 4, "thrust": 0.6}
    with pytest.raises(ValueError, match=r"key 'faults\.0\.rotor': aircraft 2 has 3, not 4"):
        check_faults(faults_of(fault), load_platform("hexa").fleet)


def test_rotors_are_counted_on_the_aircraft_that_has_them():
    fleet, last = [load_platform("hexa").fleet[0], F450], {"at": 1.0, "rotor": 4, "thrust": 0.6}
    check_faults(faults_of({**last, "aircraft": 2}), fleet)
    with pytest.raises(ValueError, match=r"key 'faults\.0\.rotor': aircraft 1 has 3, not 4"):
        check_faults(faults_of({**last, "aircraft": 1}), fleet)


@pytest.mark.parametrize("tree", ONE_OF_EACH)
def test_the_same_cannot_fail_twice_at_a_time(tree):
    with pytest.raises(ValueError, match="key 'faults.1': faults.0 has struck"):
        check_faults(faults_of(tree, {**tree, "at": tree["at"] + 0.5}), [F450] * 3)


def test_what_has_passed_may_come_again_and_different_things_may_fail_together():
    again = [{**each, "at": 8.0} for each in ONE_OF_EACH[3:]]
    other = {**ONE_OF_EACH[0], "rotor": 3}
    check_faults(faults_of(*ONE_OF_EACH, *again, other), [F450] * 3)


def test_a_sensor_of_all_aircraft_is_that_of_one_too():
    everywhere = {**ONE_OF_EACH[3], "aircraft": None}
    with pytest.raises(ValueError, match=r"key 'faults\.1'"):
        check_faults(faults_of(everywhere, ONE_OF_EACH[3]), [F450] * 3)


def test_a_fault_acts_from_its_time_on_and_a_battery_sags_linearly():
    faults = faults_of(*ONE_OF_EACH[:3])
    assert (health(faults, 0.999).rotors == 1.0).all()
    assert health(faults, 1.0).thrust[0].tolist() == [1.0, 1.0, 1.0, 0.6]
    assert health(faults, 2.0).speed.tolist() == [1.0, 0.0, 1.0]
    np.testing.assert_allclose(health(faults, 4.0).speed, [1.0, 0.0, 0.9])
    np.testing.assert_allclose(health(faults, 9.0).speed, [1.0, 0.0, 0.8])
    np.testing.assert_allclose(health(faults, 9.0).aircraft, [0.6, 0.0, 0.64])  # thrust ~ speed^2
