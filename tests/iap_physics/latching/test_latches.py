# SPDX-License-Identifier: BSD-3-Clause
"""Latches: what they catch, what they do to momenta and forces, and when they let go."""

import numpy as np
import pytest
from contact_engines import NAMES
from docking_pairs import LATCH, assemblies, engine, latch, momentum, platform, start

from iap_description.errors import BadInput
from iap_description.states import V, W
from iap_physics.engines.closed_form import ClosedFormEngine
from iap_physics.latching.latches import Latches, Phase
from iap_physics.plant.plant_spec import PlantSpec
from iap_simulation.flights.plant_spec import plant_spec
from iap_simulation.scenario.resolving import Options, resolve

DT = 1e-3


@pytest.fixture(params=NAMES)
def name(request):
    return request.param


class World:
    """Two aircraft without shapes or rotors, and a latch between them."""

    def __init__(self, name, x, **changes):
        self.engine = engine(name, x, shapes=False)
        ports = [platform().ports] * 2
        self.latches = Latches(self.engine, {"dock": latch(**changes)}, assemblies(), ports)
        self.steps = 0

    def step(self, count, pull=0.0):
        """Some steps in which the chaser is pulled back and the target forth [N]; largest force of the latch."""
        largest = 0.0
        for _ in range(count):
            wrenches = np.zeros((1, 2, 6))
            wrenches[0, 0, 1], wrenches[0, 1, 1] = pull, -pull
            before, t = self.x.copy(), self.steps * DT
            self.latches.before_step(before, wrenches[0], t, DT)
            self.engine.apply(wrenches)
            self.engine.step(DT)
            self.steps += 1
            self.latches.end_step(before, self.steps * DT)
            largest = max(largest, np.linalg.norm(self.latches.wrench("dock")[:3]))
        return largest

    @property
    def x(self):
        return self.engine.state()[0]

    @property
    def phase(self):
        return self.latches.phase("dock")

    @property
    def events(self):
        return [event.what for event in self.latches.events]


@pytest.mark.parametrize(
    ("where", "catches"),
    [
        ({"depth": 0.1151}, True),
        ({"depth": 0.1149}, False),
        ({"depth": 0.12, "aside": (0.014, 0.014)}, True),
        ({"depth": 0.12, "aside": (0.015, 0.015)}, False),
        ({"depth": 0.12, "speed": 0.49}, True),
        ({"depth": 0.12, "speed": 0.51}, False),
        ({"depth": 0.12, "speed": -0.51}, False),
    ],
)
def test_it_catches_what_is_deep_central_and_slow_enough(where, catches):
    world = World("mujoco", start(**where))
    world.step(1)
    assert (world.phase != Phase.OPEN) == catches


@pytest.mark.parametrize(("degrees", "catches"), [(10.5, True), (11.5, False)])
def test_it_catches_what_is_straight_enough(degrees, catches):
    x = start(depth=0.12, turn=(np.deg2rad(degrees), 0.0, 0.0))
    world = World("mujoco", x)
    world.step(1)
    assert (world.phase != Phase.OPEN) == catches


def test_momentum_is_conserved_from_the_catch_to_the_locked_flight(name):
    x = start(depth=0.116, aside=(0.004, -0.003), speed=0.4, turn=(0.03, 0.02, -0.05))
    x[0, 1, W] = (0.1, -0.2, 0.15)
    world = World(name, x)
    before = momentum(world.x)
    largest = world.step(400)
    assert world.events == ["caught", "locked"]
    np.testing.assert_allclose(momentum(world.x)[:3], before[:3], atol=1e-9)
    np.testing.assert_allclose(momentum(world.x)[3:], before[3:], atol=5e-3)
    np.testing.assert_allclose(world.x[0, W], world.x[1, W], atol=1e-3)
    # never more than the damper's force at the speed at which it was caught
    assert largest < LATCH["damping"] * 0.45


def test_relative_motion_dies_down_as_the_damper_says(name):
    world = World(name, start(depth=0.116, speed=0.4))
    reduced = (
        0.5 * 2.0
    )  # both weigh 2 kg; that 30 mm below the CoMs both turn a little lightens them
    time_constant = reduced / LATCH["damping"]
    world.step(round(time_constant / DT))
    left = (world.x[1, V] - world.x[0, V])[1]
    assert 0.25 * 0.4 < left < 0.4 * np.exp(-1.0) * 1.1


def test_a_lock_holds_what_it_bears_and_gives_way_to_more(name):
    world = World(name, start(depth=0.116), max_force=30.0)
    world.step(20)
    assert world.phase == Phase.LOCKED
    world.step(300, pull=29.0)
    assert world.phase == Phase.LOCKED
    assert np.linalg.norm(world.latches.wrench("dock")[:3]) == pytest.approx(29.0, rel=0.03)
    world.step(5, pull=33.0)
    assert world.events[-1] == "broken"
    world.step(300, pull=33.0)
    assert world.phase == Phase.OPEN  # and far away
    assert world.x[0, 1] - world.x[1, 1] > 1.0


def test_released_it_catches_nothing_before_the_probe_has_left_it(name):
    world = World(name, start(depth=0.116))
    world.step(20)
    world.latches.release("dock", 0.02)
    assert world.events[-1] == "released"
    world.step(20)
    assert world.phase == Phase.SPENT
    world.step(200, pull=1.0)  # 20 mm apart
    assert world.phase == Phase.OPEN
    world.step(800, pull=-1.0)
    assert world.events.count("caught") == 2


def test_it_opens_at_its_time(name):
    world = World(name, start(depth=0.116), release=0.05)
    world.step(49)
    assert world.phase == Phase.LOCKED
    world.step(3)
    assert world.events == ["caught", "locked", "released"]


def test_after_its_time_it_catches_nothing_any_more(name):
    world = World(name, start(depth=0.1, speed=0.2), release=0.05)
    world.step(90)
    assert world.phase == Phase.OPEN
    assert world.events == []


def test_a_probe_that_leaves_is_lost_by_a_weak_damper(name):
    world = World(name, start(depth=0.1151, speed=-0.3), damping=1.0)
    world.step(60)
    assert world.events == ["caught", "lost"]


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"latches.dock.probe": "tanker/probe"}, "no vehicle 'tanker' .here: target, chaser"),
        ({"latches.dock.probe": "chaser/nose"}, "no port 'nose' .ports: probe, socket"),
        ({"latches.dock.probe": "chaser/socket"}, "'chaser/socket' is no probe"),
        ({"latches.dock.socket": "chaser/socket"}, "does not dock with itself"),
        ({"latches.dock.socket": "socket"}, "latches.dock.socket"),
        ({"latches.dock.depth": -1.0}, "latches.dock.depth"),
        ({"engine.name": "closed_form"}, "closed_form has no contact"),
        ({"docking.latch": "hook"}, "no latch 'hook'"),
        ({"docking": "null", "policy": "script"}, "needs the key 'docking'"),
        ({"vehicles.0.platform": "three_star"}, "vehicles.0.platform"),
    ],
)
def test_impossible_latches_are_refused_by_their_key(changes, fault):
    sets = tuple(f"{key}={value}" for key, value in changes.items())
    with pytest.raises(BadInput, match=fault):
        resolve("docking", Options(assignments=sets))


def test_an_unknown_latch_is_refused_by_name():
    world = World("mujoco", start())
    with pytest.raises(BadInput, match="no latch 'hook' .latches: dock"):
        world.latches.release("hook", 0.0)


def test_a_batch_has_no_latches():
    with pytest.raises(BadInput, match="no batch"):
        Latches(ClosedFormEngine(batch=2), {"dock": latch()}, assemblies(), [platform().ports] * 2)


def test_latches_survive_a_plants_yaml():
    spec = plant_spec(resolve("docking", Options())[0])
    assert PlantSpec.read(spec.yaml(), source="yaml") == spec
    assert spec.latches["dock"].depth == LATCH["depth"]
