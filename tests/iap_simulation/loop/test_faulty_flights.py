# SPDX-License-Identifier: BSD-3-Clause
"""Flights with faults: how far they are thrown off, what is told when, and that the same flight comes again."""

import json

import numpy as np
import pytest
from flying import fly_scenario, scenario_of

from iap_description.errors import BadInput, FlightFailed
from iap_simulation.flights.flight import Flight
from iap_simulation.runs.recorded_flight import RunOptions
from iap_simulation.runs.run import execute, record
from iap_simulation.scenario.resolving import Options, resolve
from iap_simulation.simulation.simulation import Simulation

WEAK = {"at": 0.3, "aircraft": 1, "rotor": 1, "thrust": 0.6}
LATE = {"at": 0.2, "commands_late": 0.02, "for": 0.3}
SAGGING = {"at": 0.1, "aircraft": 2, "battery": 0.9, "over": 0.5, "known": True}
LOST = {"at": 0.3, "aircraft": 2, "motors": "off", "known": True}


def errors(flown):
    """Distance [m] and angle [deg] from the reference at every control instant."""
    position = np.linalg.norm(flown.position_error, axis=1)
    return position, np.linalg.norm(flown.attitude_error_deg, axis=1)


def faults(*trees):
    return f"faults={json.dumps(trees)}"


@pytest.mark.slow
def test_a_hovering_three_star_outlives_a_rotor_that_it_does_not_know_is_weak():
    flown = fly_scenario("rotor_weakens", engine="pybullet")[0]
    position, attitude = errors(flown)
    before, after = flown.t < 5.0, flown.t >= 8.0
    assert position[before].max() < 1e-6
    assert position.max() > 0.01  # it is felt [m]
    assert position.max() < 0.05
    assert attitude[after].max() < 3.0
    assert position[-1] < 1e-3 and attitude[-1] < 0.05


@pytest.mark.slow
def test_who_knows_of_a_weak_rotor_flies_closer():
    worst = []
    for known in (False, True):
        weak = faults({**WEAK, "at": 1.0, "known": known})
        worst.append(max(errors(fly_scenario("hover", weak, duration=5.0)[0])[0]))
    assert worst[1] < 0.5 * worst[0]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("scenario", "at"), [("hover", 5.0), ("aircraft_lost", 8.0)], ids=["hover", "figure_eight"]
)
def test_star_6_flies_on_without_one_of_its_aircraft(scenario, at):
    lost = faults({**LOST, "at": at})
    flown = fly_scenario(scenario, lost, platform="star_6", engine="pybullet", duration=at + 12.0)[
        0
    ]
    position, attitude = errors(flown)
    assert flown.rpm[-1, 1].max() < 1.0
    assert flown.thrust[flown.t >= at, 1].max() == 0.0
    since, after = flown.t >= at, flown.t >= at + 3.0
    assert position[since].max() < 0.5 and attitude[since].max() < 10.0
    assert position[after].max() < 0.05 and attitude[after].max() < 2.0


@pytest.mark.slow
def test_star_6_is_thrown_off_further_when_its_controller_does_not_know():
    """Compare knowledge of a fault with none; the plant loses nothing."""
    at_worst = []
    for known in (True, False):
        lost = faults({**LOST, "at": 1.0, "known": known})
        flown = fly_scenario("hover", lost, platform="star_6", duration=1.6)[0]
        at_worst.append(max(errors(flown)[1]))
    assert at_worst[1] > 20.0 * at_worst[0]


@pytest.mark.slow
def test_star_4_says_before_it_comes_down_that_it_will(tmp_path):
    said = []
    scenario, tree = resolve(
        "hover", Options(platform="star_4", assignments=(faults({**LOST, "at": 1.0}),))
    )
    result = execute(Flight.of(scenario), tmp_path, tree, RunOptions(say=said.append))
    assert result.metrics["outcome"] == "crashed"
    struck, warned = said
    assert not struck.is_warning and "motors of aircraft 2 stopped" in struck.text
    assert warned.is_warning and "36.8 of the 36.0 N" in warned.text
    assert warned.t == 1.0 < result.metrics["duration_s"] - 0.5
    (entry,) = result.metrics["faults"]
    assert (entry["t_s"], entry["vehicle"], entry["known"]) == (1.0, "iap", True)
    assert entry["can_carry"] is False and entry["hover_load"] > 1.0


def test_what_struck_is_in_the_metrics_and_what_did_not_come_to_it_is_not(tmp_path):
    settings = {"faults": [WEAK, {**LOST, "at": 0.9}], "engine.name": "closed_form"}
    metrics = record("hover", folder=tmp_path / "all", settings=settings, duration=1.0).metrics
    assert [each["t_s"] for each in metrics["faults"]] == [0.3, 0.9]
    assert "hover_load" not in metrics["faults"][0]
    without = record("hover", folder=tmp_path / "none", duration=0.2).metrics
    assert "faults" not in without


def test_the_thrust_of_a_weak_rotor_is_judged_as_weak(tmp_path):
    weak = [{**WEAK, "at": 0.0, "rotor": r, "thrust": 0.0} for r in (1, 2, 3, 4)]
    weak += [{**each, "aircraft": a} for each in weak for a in (2, 3)]
    settings = {"faults": weak, "engine.name": "closed_form"}
    metrics = record("hover", folder=tmp_path / "run", settings=settings, duration=0.1).metrics
    assert metrics["thrust_max_n"] == 0.0


ALL = {"faults": [WEAK, LATE, SAGGING], "engine.name": "closed_form"}


def stepped(simulation, steps):
    return np.array([simulation.step() for _ in range(steps)])


@pytest.mark.parametrize("engine", ["closed_form", "pybullet"])
def test_a_snapshot_before_and_amid_faults_leads_on_as_the_flight_did(engine):
    settings = {**ALL, "engine.name": engine}
    with Simulation.of("hover", settings=settings, duration=2.0) as simulation:
        for _ in range(3):  # at 0.1 s, 0.25 s with commands on their way, 0.4 s
            stepped(simulation, 20 if simulation.t == 0.0 else 30)
            snapshot = simulation.snapshot()
            first = stepped(simulation, 60)
            simulation.restore(snapshot)
            np.testing.assert_array_equal(stepped(simulation, 60), first)
            simulation.restore(snapshot)


def test_a_reset_starts_faults_anew_and_the_same_seed_gives_the_same_bits():
    with Simulation.of("hover", settings=ALL, duration=2.0) as simulation:
        first = stepped(simulation, 120)
        simulation.reset()
        np.testing.assert_array_equal(stepped(simulation, 120), first)
        simulation.reset(seed=simulation.scenario.seed + 1)
    with Simulation.of("hover", settings=ALL, duration=2.0) as other:
        np.testing.assert_array_equal(stepped(other, 120), first)
    with Simulation.of("hover", settings={"engine.name": "closed_form"}, duration=2.0) as sound:
        states = stepped(sound, 120)
    assert np.abs(states - first).max() > 1e-4  # and they do something
    np.testing.assert_array_equal(states[:19], first[:19])


def test_after_a_reset_the_controller_has_all_its_aircraft_again():
    settings = {"faults": [LOST], "engine.name": "closed_form"}
    with Simulation.of("hover", settings=settings, platform="star_6", duration=2.0) as simulation:
        allocator = simulation.loop.vehicles[0].controller.allocator
        stepped(simulation, 80)
        assert allocator.command.thrust[1] == 0.0
        simulation.reset()
        stepped(simulation, 10)
        assert allocator.command.thrust[1] > 15.0


def test_a_vehicle_of_several_has_its_own_faults():
    both = scenario_of("two_platforms", faults(WEAK).replace("faults=", "vehicles.1.faults="))
    assert [len(vehicle.faults) for vehicle in both.vehicles] == [0, 1]


@pytest.mark.parametrize(
    ("tree", "words"),
    [
        (
            {**WEAK, "at": 50.0},
            r"key 'faults\.0\.at': 50 s, but the flight ends at 13 s",
        ),
        ({**WEAK, "aircraft": 4}, r"key 'faults\.0\.aircraft': there are 3, not 4"),
        ({**WEAK, "rotor": 5}, r"faults\.0\.rotor"),
        ({**WEAK, "thrust": -0.1}, r"faults\.0\.thrust"),
        ({**SAGGING, "battery": 1.5}, r"faults\.0\.battery"),
        (
            {"at": 1.0, "sensor": "lidar", "output": "silent"},
            r"faults\.0\.sensor': 'lidar' is not flown",
        ),
        (
            {"at": 1.0, "commands_late": 0.001},
            r"faults\.0\.commands_late': 0.001 s is no control period",
        ),
        ({"at": 1.0, "wings": 2}, r"faults\.0'.* has one of the keys"),
    ],
)
def test_faults_that_cannot_be_are_refused_by_one_line_with_the_key(tree, words):
    with pytest.raises(BadInput, match=words) as refused:
        Flight.of(scenario_of("hover", faults(tree)))
    assert "\n" not in str(refused.value)


def test_the_same_twice_is_refused():
    with pytest.raises(
        BadInput, match=r"key 'faults\.1': faults\.0 has struck rotor 1 of aircraft 1"
    ):
        scenario_of("hover", faults(WEAK, {**WEAK, "at": 0.8, "thrust": 0.5}))


def test_a_law_that_takes_no_faults_is_refused(tmp_path, monkeypatch):
    (tmp_path / "deaf.py").write_text(
        "class Law:\n"
        "    def __init__(self, model, gains, *, dt, yaw_mode): pass\n"
        "    def __call__(self, *_): pass\n"
        "    def reset(self): pass\n"
        "    def set_gains(self, gains): pass\n"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    scenario = scenario_of("hover", "control.law=deaf:Law", faults(SAGGING))
    with pytest.raises(BadInput, match="key 'faults': .* set_model; Law has none"):
        Flight.of(scenario)


@pytest.mark.slow
def test_a_flight_that_comes_down_says_why():
    lost = faults({**LOST, "at": 0.1})
    with pytest.raises(FlightFailed):
        fly_scenario("hover", lost, platform="star_4", engine="pybullet", duration=4.0)
