# SPDX-License-Identifier: BSD-3-Clause
"""A plant of pairs that dock: far apart both fly as each alone in the closed form."""

import numpy as np
import pytest
from docking_pairs import start
from flying import gains_of

from iap_description.errors import BadInput, IapError
from iap_description.states import P, V
from iap_physics.batch.threads import Threads
from iap_physics.build import build_plant
from iap_physics.docking.pair_flight import pair_plant
from iap_physics.engines.closed_form import ClosedFormEngine
from iap_physics.latching.kernel import CAUGHT, OPEN, SPENT
from iap_physics.plant.part import PlantPart
from iap_physics.propulsion.deviation import Deviation
from iap_simulation.docking.ports import mechanism_of
from iap_simulation.flights.flight import Flight
from iap_simulation.scenario.resolving import resolved

APART = {"vehicles.1.reference.position": [0.0, -8.0, 5.0]}
RATES = np.array([[[0.3, -0.2, 0.1]], [[-0.1, 0.4, 0.2]]])  # [rad/s]
THRUST = 15.0  # [N]


def pair_of(**settings):
    """A plant of pairs in two worlds, and the specification of both vehicles."""
    scenario = resolved("docking", {**APART, **settings}, {})[0]
    spec = Flight.of(scenario).spec
    return pair_plant(spec, mechanism_of(scenario, scenario.docking), 2, Threads())[0], spec


@pytest.mark.parametrize(
    "settings", [{}, {"wind.speed": 3.0, "drag": "on", "vehicles.0.model_error.delay": 0.01}]
)
def test_far_apart_both_fly_as_each_alone(settings):
    pair, spec = pair_of(**settings)
    alone = [
        build_plant(
            spec.model_copy(update={"vehicles": (vehicle,), "latches": {}}), ClosedFormEngine()
        )
        for vehicle in spec.vehicles
    ]
    for _ in range(60):
        for i, plant in enumerate(alone):
            rates = np.repeat(RATES[i : i + 1], 2, axis=0)
            pair.propulsion[i].command_rates(np.full((2, 1), THRUST), rates)
            plant.propulsion[0].command_rates(np.full((1, 1), THRUST), rates[:1])
            plant.advance()
        pair.advance()
    np.testing.assert_array_equal(pair.engine.state()[0], pair.engine.state()[1])
    for i, plant in enumerate(alone):
        np.testing.assert_allclose(pair.state(i)[0], plant.state()[0], rtol=0.0, atol=1e-12)
        rpm = pair.propulsion[i].rpm[0]
        np.testing.assert_allclose(rpm, plant.propulsion[0].rpm[0], rtol=1e-12)
    assert np.abs(pair.state(0)[0, 0, P] - spec.start[0, 0, P]).max() > 0.01


class Push(PlantPart):
    """A part that acts within a step."""

    def before_step(self, x, wrenches, t, dt):
        wrenches[0, 0] += 1.0


def test_a_part_that_acts_within_steps_has_no_place_in_it():
    with pytest.raises(IapError, match="a part acts in their steps"):
        pair_of()[0].attach(Push())


def test_autopilots_of_different_rates_are_refused():
    with pytest.raises(BadInput, match="both autopilots have one rate_hz"):
        pair_of(**{"vehicles.0.control.gains.autopilot.rate_hz": 500.0})


def test_autopilots_with_a_rate_loop_are_refused():
    px4 = gains_of("px4").autopilot.model_dump()
    with pytest.raises(BadInput, match="autopilots have no rate_loop in worlds side by side"):
        pair_of(**{f"vehicles.{i}.control.gains.autopilot": px4 for i in range(2)})


def test_a_world_may_hold_a_pair_of_its_own_in_any_lane():
    scenario = resolved("docking", APART, {})[0]
    spec, worlds = Flight.of(scenario).spec, 18  # more than a block has lanes
    plant, flight = pair_plant(spec, mechanism_of(scenario, scenario.docking), worlds, Threads())
    airframes = []
    for vehicle, factor in zip(spec.vehicles, (1.0, 2.0), strict=True):
        heavier = vehicle.model_copy(update={"deviation": Deviation(mass=factor)})
        airframes.append(heavier.airframe(heavier.assembly))
    plant.deviate(17, airframes, spec.wind, spec.world)
    for i in range(2):
        plant.propulsion[i].command_rates(np.full((worlds, 1), THRUST), np.zeros((worlds, 1, 3)))
    plant.advance()
    up = np.array([plant.state(i)[:, 0, 9] for i in range(2)])
    assert np.ptp(up[0]) == 0.0 and np.ptp(up[1, :17]) == 0.0 and up[1, 17] < up[1, 0] - 1e-6
    bodies = flight._between.bodies
    mass = [vehicle.assembly.bodies[0].mass for vehicle in spec.vehicles]
    np.testing.assert_allclose(bodies.mass[0], mass)
    np.testing.assert_allclose(bodies.mass[17], [mass[0], 2.0 * mass[1]])
    np.testing.assert_allclose(bodies.J[17, 1], 2.0 * bodies.J[0, 1])
    np.testing.assert_allclose(bodies.J_inv[17, 1] @ bodies.J[17, 1], np.eye(3), atol=1e-12)


@pytest.mark.parametrize("phase", [CAUGHT, SPENT])
def test_beyond_the_reach_of_both_ports_a_latch_opens_and_contact_is_forgotten(phase):
    scenario = resolved("docking", APART, {})[0]
    x, ports = start(depth=0.116)[0], mechanism_of(scenario, scenario.docking)
    away = float(np.linalg.norm(x[0, P] - x[1, P]))
    for reach, is_near in ((away + 0.01, True), (away - 0.01, False)):
        plant, flight = pair_plant(
            Flight.of(scenario).spec, ports._replace(reach=reach), 2, Threads()
        )
        pairs = flight.pairs
        pairs.x[:], pairs.phase[:], pairs.contact[:], pairs.touches[:] = x, phase, 7.0, True
        plant.advance()
        assert ((pairs.phase == OPEN) == (not is_near)).all()
        assert (pairs.contact[:, 0] != 7.0).all()
        if not is_near:
            assert not pairs.contact.any() and not pairs.touches.any()


def test_the_mean_contact_of_a_period_is_what_changes_the_motion_across_the_thrust():
    scenario = resolved("docking", APART, {})[0]
    spec = Flight.of(scenario).spec
    plant, flight = pair_plant(spec, mechanism_of(scenario, scenario.docking), 2, Threads())
    x = start(depth=0.116, speed=0.2)[0]
    flight.pairs.x[:], flight.pairs.phase[1] = x, CAUGHT
    plant.advance()
    assert flight.pairs.touches[1]
    change = flight.pairs.x[1, :, V] - x[:, V]
    mass = [vehicle.assembly.bodies[0].mass for vehicle in spec.vehicles]
    force = flight.pairs.contact[1, 1]
    assert abs(force) > 0.1
    period = plant.t
    np.testing.assert_allclose(
        np.multiply(mass, change[:, 1]) / period, [-force, force], rtol=0.02
    )
