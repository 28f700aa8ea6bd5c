# SPDX-License-Identifier: BSD-3-Clause
"""A scenario stepped from Python flies what a recorded flight flies; resets and snapshots lead to the same states."""

import weakref

import numpy as np
import pytest
from flying import fly_scenario

from iap_description.errors import BadInput, FlightFailed, IapError
from iap_description.states import Command, Mode
from iap_simulation.simulation.simulation import Simulation

ENGINES = ["closed_form", "pybullet"]


def stepped(simulation: Simulation, steps: int) -> np.ndarray:
    return np.array([simulation.step() for _ in range(steps)])


@pytest.mark.parametrize("engine", ENGINES)
def test_stepping_flies_the_states_of_a_whole_flight(engine):
    settings = {"engine.name": engine, "wind.speed": 3.0, "wind.turbulence": 0.2}
    wind = [f"{key}={value}" for key, value in settings.items()]
    flown = fly_scenario("figure_eight", *wind, engine=engine, duration=1.0, seed=5)[0]
    with Simulation.of("figure_eight", settings=settings, duration=1.0, seed=5) as simulation:
        states = [simulation.state]
        while not simulation.is_done:
            states.append(simulation.step())
        assert simulation.t == pytest.approx(1.0)
    np.testing.assert_array_equal(np.array(states), flown.x)


def test_a_reset_with_a_seed_is_a_fresh_simulation_of_it():
    options = {"settings": {"draw.position": 0.1, "state_noise.position": 0.01}, "duration": 1.0}
    with Simulation.of("hover", seed=7, **options) as fresh:
        start, wanted = fresh.state, stepped(fresh, 40)
    with Simulation.of("hover", seed=1, **options) as simulation:
        other = stepped(simulation, 40)
        for _ in range(2):  # from another seed, and from the same
            np.testing.assert_array_equal(simulation.reset(seed=7), start)
            np.testing.assert_array_equal(stepped(simulation, 40), wanted)
        assert np.abs(other - wanted).max() > 1e-3


@pytest.mark.parametrize("engine", ENGINES)
def test_a_restored_snapshot_goes_on_as_the_flight_did(engine):
    settings = {"engine.name": engine, "wind.speed": 3.0, "wind.turbulence": 0.3}
    with Simulation.of("figure_eight", settings=settings, sensors="imu,uwb") as simulation:
        stepped(simulation, 20)
        snapshot = simulation.snapshot()
        first, readings = stepped(simulation, 30), simulation.readings
        for _ in range(2):
            simulation.restore(snapshot)
            np.testing.assert_array_equal(stepped(simulation, 30), first)
            assert repr(simulation.readings) == repr(readings)


def test_a_snapshot_is_not_another_simulations():
    with Simulation.of("hover") as one, Simulation.of("hover") as other, pytest.raises(IapError):
        other.restore(one.snapshot())


def test_readings_are_those_since_the_last_step():
    with Simulation.of("hover", sensors="imu") as simulation:
        simulation.step()
        assert {each.t for each in simulation.readings} == {simulation.t}
        assert len(simulation.readings) >= 4  # of three aircraft and the centre


def test_a_flight_keeps_no_reading():
    """An hour with cameras needs no more memory than a minute."""

    class Seen:
        def __init__(self):
            self.alive = []

        def receive(self, reading):
            self.alive.append(weakref.ref(reading))

    seen = Seen()
    with Simulation.of("hover", sensors="imu", duration=0.5) as simulation:
        simulation.begin(sinks=[seen])
        simulation.fly()
        assert len(seen.alive) > 400
        assert sum(each() is not None for each in seen.alive) <= 8
        assert simulation.readings == []
        simulation.reset()
        simulation.step()
        assert simulation.readings


def test_a_command_of_ones_own_takes_the_controllers_place():
    with Simulation.of(
        "hover", platform="f450", settings={"engine.name": "closed_form"}
    ) as simulation:
        still = Command.zeros(1)
        still.mode = Mode.RPM  # rotors stand still, so it falls
        for _ in range(60):
            state = simulation.step(still)
        assert state[0, 9] < -1.0  # [m/s]


def test_a_crash_ends_the_simulation():
    with Simulation.of("hover") as simulation, pytest.raises(FlightFailed, match="ground|upside"):
        fall = Command.zeros(3)
        fall.mode = Mode.RPM
        for _ in range(400):
            simulation.step(fall)


def test_unknown_names_are_refused():
    with pytest.raises(BadInput, match="unknown option 'color'"):
        Simulation.of("hover", color="red")
    with pytest.raises(BadInput, match="wind.spede"):
        Simulation.of("hover", settings={"wind.spede": 3.0})
    with Simulation.of("two_platforms") as simulation:
        with pytest.raises(BadInput, match="no vehicle 'solo'"):
            simulation.step({"solo": Command.zeros(3)})
        with pytest.raises(BadInput, match="whose command"):
            simulation.step(Command.zeros(3))
