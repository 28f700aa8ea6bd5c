# SPDX-License-Identifier: BSD-3-Clause
"""Whole periods of many MuJoCo worlds: parts that act in their steps, worlds of their own, and drag."""

import numpy as np
import pytest
from flying import gains_of

from iap_description.math.random_streams import stream
from iap_description.states import Command
from iap_description.vehicles.assembly import Assembly
from iap_description.vehicles.faults import BatteryFault, LateCommands
from iap_description.vehicles.platform import load_platform
from iap_description.world.world import World
from iap_physics.air.batch_air import Air
from iap_physics.air.wind import Wind
from iap_physics.engines.closed_form import ClosedFormEngine
from iap_physics.engines.make import is_installed
from iap_physics.plant.native_flight import NO_DRAG, NativeFlight
from iap_physics.plant.part import PlantPart
from iap_physics.plant.plant import Plant
from iap_physics.plant.plant_faults import PlantFaults
from iap_physics.plant.rates import LoopRates
from iap_physics.propulsion.deviation import Deviation
from iap_physics.propulsion.propulsion import Airframe, propulsion_of

needs_mujoco = pytest.mark.skipif(not is_installed("mujoco"), reason="without mujoco")
if is_installed("mujoco"):
    from iap_physics.engines.mujoco.worlds import MuJoCoWorlds
    from iap_physics.plant.contact_flight import ContactFlight

F450 = load_platform("f450")
MASS = Assembly.of(F450).mass
WEIGHTLESS = World(gravity=0.0, ground=False)
STEPS, DT = 4, 0.005
STILL = Wind()


def airframe_of(**deviation):
    deviation = Deviation(**deviation)
    assembly = deviation.assembly(Assembly.of(F450))
    return Airframe(assembly, F450.fleet, gains_of().autopilot, deviation)


def flying(*parts, batch=3, has_drag=False, wind=STILL):
    """Quadrotors without weight, whose rotors stand still, at 4 steps a period."""
    engine, airframe = MuJoCoWorlds(batch=batch, raises=False), airframe_of()
    engine.load(WEIGHTLESS, [airframe.assembly])
    rates = LoopRates(physics_hz=200.0, control_hz=50.0)
    air = Air(wind, [stream(1, "gusts")] * batch, has_drag=has_drag)
    return Plant(engine, propulsion_of([airframe], batch, physics_hz=200.0), air, rates, parts)


class Pushing(PlantPart):
    """Pushes the worlds along x by their number in each step, and notes times."""

    def __init__(self):
        self.began, self.ended, self.before = [], [], []

    def before_steps(self, x, wrenches, times, dt):
        assert not wrenches.any() and dt == DT
        self.began.append(times.copy())
        wrenches[:, 0, 0] += np.arange(len(x))

    def end_steps(self, before, times):
        self.before.append(before[:, 0, 7].copy())
        self.ended.append(times.copy())


@needs_mujoco
def test_parts_of_many_worlds_act_in_each_of_their_steps():
    part = Pushing()
    plant = flying(part)
    plant.ticks[:] = 0, 10, 20
    plant.advance()
    starts = DT * (np.array([0, 10, 20]) + np.arange(STEPS)[:, None])
    np.testing.assert_allclose(part.began, starts)
    np.testing.assert_allclose(part.ended, starts + DT)
    rates = DT * np.arange(3) / MASS
    np.testing.assert_allclose(part.before, np.arange(STEPS)[:, None] * rates, atol=1e-12)
    np.testing.assert_allclose(plant.state()[:, 0, 7], STEPS * rates)
    assert plant.ticks.tolist() == [4, 14, 24] and plant.engine.t == pytest.approx(STEPS * DT)
    assert isinstance(plant._flight, ContactFlight)


@needs_mujoco
def test_a_world_may_hold_a_heavier_vehicle_with_weaker_rotors_and_a_wind_of_its_own():
    plant = flying(has_drag=True)
    plant.deviate(
        1, [airframe_of(mass=2.0, force=(0.0, 1.0, 0.0), drag=2.0)], Wind(speed=3.0), WEIGHTLESS
    )
    plant.reset(plant.state().copy(), [np.full((1, 4), 3000.0)], None)
    plant.advance()
    v = plant.state()[:, 0, 7:10]
    np.testing.assert_array_equal(v[0], v[2])
    assert v[1, 2] == pytest.approx(0.5 * v[0, 2], rel=1e-2)  # of rotors that run on alike
    assert v[1, 1] == pytest.approx(STEPS * DT * 1.0 / (2.0 * MASS), rel=1e-2)
    drag = Assembly.of(F450).bodies[0].drag
    push = 2.0 * (3.0 * drag.linear[0] + 9.0 * drag.quadratic[0])
    assert v[1, 0] == pytest.approx(STEPS * DT * push / (2.0 * MASS), rel=1e-2) and v[0, 0] == 0.0


@needs_mujoco
def test_rotors_of_a_world_may_be_weaker_than_those_of_all():
    plant = flying()
    plant.deviate(2, [airframe_of(thrust=(0.5,))], Wind(), WEIGHTLESS)
    plant.reset(plant.state().copy(), [np.full((1, 4), 3000.0)], None)
    plant.advance()
    up = plant.state()[:, 0, 9]
    assert up[0] == up[1] == pytest.approx(2.0 * up[2], rel=1e-9)


@needs_mujoco
def test_only_worlds_of_mujoco_fly_so():
    plant = flying()
    given = (plant.propulsion, plant._external_W, None, DT)
    assert ContactFlight.of(ClosedFormEngine(), *given) is None
    assert ContactFlight.of(plant.engine, *given) is not None


def test_an_engine_without_compiled_steps_is_flown_step_by_step():
    assert NativeFlight.of(ClosedFormEngine(), [], None, DT) is None
    assert NO_DRAG.linear.shape == NO_DRAG.quadratic.shape == (0, 3)


def test_a_fault_may_be_added_in_flight_beside_the_others():
    (propulsion,) = propulsion_of([airframe_of()], 1, physics_hz=200.0)
    faults = PlantFaults(0, [], propulsion, 50.0)
    faults.begin_period(0, 0.0)
    assert propulsion.weakened == 0
    faults.add(BatteryFault(at=0.0, aircraft=1, battery=0.8, over=0.1))
    faults.begin_period(0, 1.0)
    assert propulsion.weakened == 1
    assert propulsion.rotors.records["speed_share"].max() == pytest.approx(0.8)
    command = Command.zeros(1)
    assert not faults.postpones(0, command, 3, 0.06, on_board=False)
    faults.add(LateCommands(at=0.0, commands_late=0.04, **{"for": 1.0}))
    assert faults.postpones(0, command, 3, 0.06, on_board=False)
    assert not faults.postpones(1, command, 3, 0.06, on_board=False)
    assert not faults.postpones(0, command, 3, 0.06, on_board=True)


class Leading(PlantPart):
    """Acts before steps only."""

    def __init__(self):
        self.times = []

    def begin_step(self, x, t):
        self.times.append(round(t, 9))


class Following(PlantPart):
    """Looks at steps that have ended only, and needs these one by one."""

    def __init__(self):
        self.times = []

    def end_step(self, before, t):
        self.times.append(round(t, 9))


@pytest.mark.parametrize("make", [Leading, Following])
def test_one_thing_that_a_part_does_is_enough_to_be_called_in_every_step(make):
    part, engine = make(), ClosedFormEngine()
    engine.load(WEIGHTLESS, [Assembly.of(F450)])
    rates, air = LoopRates(physics_hz=200.0, control_hz=50.0), Air(STILL, [stream(1, "gusts")])
    propulsion = propulsion_of([airframe_of()], 1, physics_hz=200.0)
    plant = Plant(engine, propulsion, air, rates, [part])
    for _ in range(2):
        plant.advance()
    shift = 0 if make is Leading else 1
    assert part.times == [round(DT * (k + shift), 9) for k in range(8)]
    assert plant.free_flight is None and not plant.is_steady


def test_drag_is_the_same_in_single_steps_and_in_whole_periods():
    found = []
    for parts in ([], [Following()]):
        engine = ClosedFormEngine()
        engine.load(WEIGHTLESS, [Assembly.of(F450)])
        rates = LoopRates(physics_hz=200.0, control_hz=50.0)
        air = Air(Wind(speed=4.0), [stream(1, "gusts")], has_drag=True)
        propulsion = propulsion_of([airframe_of()], 1, physics_hz=200.0)
        plant = Plant(engine, propulsion, air, rates, parts)
        plant.advance()
        found.append(plant.state()[0, 0].copy())
    np.testing.assert_allclose(*found, atol=1e-12)
    assert found[0][7] > 0.0
