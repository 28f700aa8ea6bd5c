# SPDX-License-Identifier: BSD-3-Clause
"""Arguments of launch files: what is refused, what they become, and the scenario that they name."""

import pytest

from iap_bringup.launching import launch_arguments
from iap_bringup.launching.launch_arguments import (
    PARAMETERS,
    by_stick,
    flight_parameters,
    localized,
    number,
    refuse_misspelt,
    resolve_flight,
    simulation_namespace,
)
from iap_description.errors import BadInput
from iap_io.runs.run_folder import CONFIG

FLIGHT = {"scenario": "hover", "set": "", "seed": "-1", "duration": "0"}


@pytest.mark.parametrize(
    ("text", "name"), [("", ""), ("/", ""), ("a", "/a"), ("/a/b_2/", "/a/b_2"), ("_x/y", "/_x/y")]
)
def test_a_namespace_is_absolute_or_empty(text, name):
    assert simulation_namespace(text) == name


@pytest.mark.parametrize("text", ["2a", "a/2", "a-b", "a//b", "ä", "a b"])
def test_what_is_no_name_in_ros_is_no_namespace(text):
    with pytest.raises(BadInput, match=rf"^namespace:={text}: letters, digits and _ are expected"):
        simulation_namespace(text)


def test_numbers_are_of_their_kind_or_refused_by_their_name():
    given = {"seed": "7", "duration": "2.5"}
    assert number(given, "seed", int) == 7 and number(given, "duration", float) == 2.5
    for name, text, kind in (("seed", "2.5", int), ("duration", "x", float)):
        with pytest.raises(BadInput, match=rf"^{name}:={text}: a number is expected$"):
            number({name: text}, name, kind)


def test_a_misspelt_argument_is_refused_and_words_that_are_none_are_not():
    refuse_misspelt(["scenaro", "scenario:=x", "quite_another:=1"], ["scenario", "seed"])
    with pytest.raises(BadInput, match=r"^scenaro:=x: no such argument; is scenario:= meant\?$"):
        refuse_misspelt(["seed:=1", "scenaro:=x"], ["scenario", "seed"])


def test_arguments_become_parameters_of_a_flight():
    found = flight_parameters({**FLIGHT, "set": "a=1;b=2", "seed": "4", "platform": "f450"})
    assert set(found) == set(PARAMETERS)
    assert (found["seed"], found["duration"], found["platform"]) == (4, 0.0, "f450")
    assert found["assignments"] == ["a=1", "b=2"] and found["topic"] == ""
    with pytest.raises(
        BadInput, match=r"^scenario:=spiral: a bag is flown in place of a scenario$"
    ):
        flight_parameters({**FLIGHT, "bag": "x.bag", "scenario": "spiral"})
    assert flight_parameters({**FLIGHT, "bag": "x.bag"})["bag"] == "x.bag"


def test_a_stick_of_a_tip_leaves_out_what_was_recorded():
    assert by_stick({"tip": "true", "vehicle": "iap", "set": "a=1"}) == {
        "by_hand": "", "scenario": "arm_teleop", "set": "a=1;arm.motion.demands=[]",
    }  # fmt: skip
    assert by_stick({"tip": "true", "vehicle": "iap", "scenario": "x"}) == {
        "by_hand": "", "scenario": "x", "set": "arm.motion.demands=[]",
    }  # fmt: skip
    assert by_stick({"tip": "false", "vehicle": "v", "scenario": "x", "set": "a=1"}) == {
        "by_hand": "v", "scenario": "x", "set": "a=1",
    }  # fmt: skip


def test_a_flight_has_the_seed_and_the_duration_that_it_is_given(monkeypatch):
    asked = []
    monkeypatch.setattr(
        launch_arguments, "resolve", lambda name, options: asked.append((name, options)) or "run"
    )
    monkeypatch.setattr(
        launch_arguments,
        "resolve_replay",
        lambda keys, options: asked.append((keys, options)) or "bag",
    )
    flight = {name: default for name, (default, _) in PARAMETERS.items()}
    assert resolve_flight(flight) == "run"
    assert asked[0][0] == "hover" and asked[0][1].seed is None and asked[0][1].duration is None
    assert asked[0][1].assignments == () and asked[0][1].platform is None
    given = {
        "seed": 0,
        "duration": 2.0,
        "assignments": ["a=1", ""],
        "gains": "soft",
        "bag": "x.bag",
    }
    assert resolve_flight({**flight, **given, "topic": "/t"}) == "bag"
    keys, options = asked[1]
    assert keys == {"path": "x.bag", "topic": "/t", "actual_topic": None, "convention": None}
    assert (options.seed, options.duration, options.gains) == (0, 2.0, "soft")
    assert options.assignments == ("a=1",)


def test_a_vehicle_that_localises_is_the_first_or_the_one_that_is_named(tmp_path):
    given = {
        "scenario": "two_platforms", "platform": "", "sensors": "", "scene": "", "run": "", "set": "", "vehicle": "",
    }  # fmt: skip
    scenario, first = localized(given)
    names = [each.name for each in scenario.vehicles]
    assert first.name == names[0] and len(names) == 2
    assert localized({**given, "vehicle": names[1]})[1].name == names[1]
    with pytest.raises(BadInput, match=rf"^vehicle:=x: two_platforms has {', '.join(names)}$"):
        localized({**given, "vehicle": "x"})
    with pytest.raises(BadInput, match=rf"^run:={tmp_path}: no run folder$"):
        localized({**given, "run": str(tmp_path)})
    (tmp_path / CONFIG).write_text("extends: hover\ndescription: Mine.\n")
    assert len(localized({**given, "run": str(tmp_path)})[0].vehicles) == 1
