# SPDX-License-Identifier: BSD-3-Clause
"""Agents and the pace of the loop."""

import math
from importlib.metadata import EntryPoint
from pathlib import Path

import numpy as np
import pytest

from iap_description.errors import BadInput
from iap_description.signals import Reference
from iap_io.ros.statistics import RecentValues
from iap_physics.nodes.metronome import Metronome
from iap_simulation.loop import agents
from iap_simulation.loop.agents import AGENTS, GUIDANCE, POLICY, SCRIPT, registered
from iap_simulation.loop.closed_loop import ClosedLoop
from iap_simulation.simulation.simulation import Simulation

CLOSED_FORM = {"engine.name": "closed_form"}
CLIMB = '''
from iap_description.states import Command, Mode


class Climb:
    """Pushes its only vehicle up, whatever its reference."""

    def __init__(self, scenario, vehicles):
        self._vehicle = vehicles[0]

    def command(self, k, plant, references):
        out = Command.zeros(self._vehicle.model.count, Mode.ATTITUDE_THRUST)
        out.thrust[:] = 1.2 * self._vehicle.hover_thrust
        out.q_WB[:] = plant.state(0)[0, 1:, 3:7]
        return {0: out}


class NoAgent:
    """Commands nothing."""
'''
PERIOD = 0.005


@pytest.mark.parametrize("group", [AGENTS, GUIDANCE])
def test_every_registered_agent_loads(group):
    entries = registered(group)
    assert POLICY in entries
    assert all(callable(entry.load()) for entry in entries.values())


def test_the_packages_register_what_their_setups_say():
    assert set(registered(AGENTS)) == {POLICY, SCRIPT}
    assert set(registered(GUIDANCE)) == {POLICY}


def test_an_unknown_name_is_refused_with_the_key_and_those_that_there_are():
    with pytest.raises(BadInput, match="key 'policy': no policy 'nobody'") as refused:
        Simulation.of("hover", settings={**CLOSED_FORM, "policy": "nobody"})
    line = str(refused.value)
    assert "\n" not in line
    assert all(name in line for name in ("hold_velocity", SCRIPT, "module:Class"))


def test_without_learned_policies_the_registered_agents_are_named(monkeypatch):
    script = EntryPoint(SCRIPT, "iap_simulation.docking.pair_pilot:scripted", AGENTS)
    monkeypatch.setattr(agents, "registered", lambda group: {SCRIPT: script})
    with pytest.raises(
        BadInput, match="key 'policy': unknown name 'nobody'.*script .or module:Class"
    ):
        Simulation.of("hover", settings={**CLOSED_FORM, "policy": "nobody"})


@pytest.fixture
def own_module(tmp_path, monkeypatch) -> Path:
    monkeypatch.syspath_prepend(tmp_path)
    path = tmp_path / "climbing.py"
    path.write_text(CLIMB, encoding="utf-8")
    return path


@pytest.mark.usefixtures("own_module")
def test_an_agent_of_a_users_own_commands_the_vehicle():
    settings = {**CLOSED_FORM, "policy": "climbing:Climb"}
    with Simulation.of("hover", settings=settings) as simulation:
        z = simulation.state[0, 2]
        for _ in range(100):
            simulation.step()
        assert simulation.participants.policy == {"name": "climbing:Climb"}
        assert simulation.state[0, 2] - z == pytest.approx(0.5 * 0.2 * 9.81 * 0.5**2, rel=0.1)


@pytest.mark.usefixtures("own_module")
@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("climbing:NoAgent", "key 'policy': class 'climbing:NoAgent' has no method 'command'"),
    ],
)
def test_a_class_that_is_no_agent_is_refused(name, words):
    with pytest.raises(BadInput, match=words):
        Simulation.of("hover", settings={**CLOSED_FORM, "policy": name})


class Hover:
    """An agent, guidance and observer that a program puts into a loop itself."""

    def __init__(self, end):
        self.instants, self._end = [], end

    def refer(self, k, plant, references):
        row = references[0].row.copy()
        row[2] += 0.1
        references[0] = Reference(row, references[0].level)

    def record(self, vehicle, step):
        self.instants.append((step.k, step.reference.row[2]))

    @property
    def is_over(self):
        return len(self.instants) >= self._end

    def observe(self, plant):
        assert plant.t > 0.0


def test_one_part_may_guide_observe_and_end_a_flight():
    with Simulation.of("hover", settings=CLOSED_FORM) as simulation:
        plant, vehicles = simulation.plant, simulation.loop.vehicles
        height, part = vehicles[0].reference(0).row[2], Hover(20)
        ClosedLoop(plant, vehicles, guidance=[part], observers=[part]).fly(lambda t: None)
    k, z = zip(*part.instants, strict=True)
    assert k == tuple(range(20))
    np.testing.assert_allclose(z, height + 0.1)


class Wall:
    def __init__(self):
        self.now = 100.0

    def __call__(self):
        return self.now


@pytest.fixture
def wall():
    return Wall()


def beats(metronome, wall, duration, ready=lambda: True):
    count, end = 0, wall.now + duration
    while wall.now < end:
        wall.now += 0.5 * PERIOD
        count += metronome.beat(ready=ready())
    return count


def test_it_keeps_the_rate(wall):
    metronome = Metronome(PERIOD, wall)
    assert not metronome.beat(ready=True)
    assert beats(metronome, wall, 10.0) == pytest.approx(2000, abs=1)
    assert metronome.missed == 0


def test_a_command_on_its_way_is_waited_for_but_not_for_longer_than_a_period(wall):
    metronome = Metronome(PERIOD, wall)
    metronome.beat(ready=True)
    wall.now += 1.2 * PERIOD
    assert not metronome.beat(ready=False)
    assert metronome.beat(ready=True)
    wall.now += 1.9 * PERIOD
    assert metronome.beat(ready=False)


def test_a_lag_is_made_up_for_as_fast_as_commands_come(wall):
    metronome = Metronome(PERIOD, wall)
    metronome.beat(ready=True)
    wall.now += 10.5 * PERIOD
    count = 0
    while metronome.beat(ready=True):
        wall.now += 0.1 * PERIOD
        count += 1
    assert count >= 10
    assert metronome.missed == pytest.approx(9, abs=1)


def test_after_a_long_stop_time_goes_on_from_there(wall):
    metronome = Metronome(PERIOD, wall)
    metronome.beat(ready=True)
    wall.now += 60.0
    assert metronome.beat(ready=True)
    assert beats(metronome, wall, 1.0) == pytest.approx(200, abs=1)


def test_a_pause_is_not_made_up_for(wall):
    metronome = Metronome(PERIOD, wall)
    metronome.beat(ready=True)
    metronome.stop()
    wall.now += 0.1
    assert not metronome.beat(ready=True)
    assert beats(metronome, wall, 1.0) == pytest.approx(200, abs=1)


def test_percentiles_are_of_the_last_values():
    window = RecentValues(length=10)
    assert math.isnan(window.percentile(50))
    for value in range(100):
        window.add(value)
    assert window.percentile(0) == 90.0
    assert window.percentile(50) == 94.5
