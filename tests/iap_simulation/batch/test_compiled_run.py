# SPDX-License-Identifier: BSD-3-Clause
"""The compiled run: the same bits as the loop in Python, also of flights that fail."""

import dataclasses

import numpy as np
import pytest

from iap_control.controllers.controller import PlatformController
from iap_description.errors import FlightFailed
from iap_description.states import Mode
from iap_io.runs.columns import Columns
from iap_simulation.batch.compiled_run import CompiledRun
from iap_simulation.flights.flight import Flight
from iap_simulation.loop.closed_loop import PROGRESS_STEPS
from iap_simulation.runs.run import record
from iap_simulation.scenario.resolving import resolved
from iap_simulation.simulation.simulation import Simulation

DURATION = 1.3  # no whole number of compiled runs [s]
ROWS = 400  # that are kept at most
GUSTS = {"wind.speed": 3.0, "wind.turbulence": 8.0}


class OneByOne:
    """Keeps every control step of a vehicle; a loop with it flies one period after another."""

    def __init__(self, simulation):
        self.count = 0
        self.table = Columns.zeros(ROWS, simulation._flight.meta.vehicles[0])

    def record(self, vehicle, step):
        assert vehicle == 0
        self.table.put(self.count, step)
        self.count += 1


class AtOnce(OneByOne):
    """The same for a loop that may be left to the compiled run; counts its steps."""

    compiled_steps = 0

    def record_rows(self, vehicle, rows):
        assert vehicle == 0
        self.table.put_rows(self.count, rows)
        self.count += len(rows.k)
        self.compiled_steps += len(rows.k)


def nothing(simulation):
    """Leave a simulation as it is."""


def flown(kind, scenario="figure_eight", prepare=nothing, then=0, midway=nothing, **options):
    """A flight seen by an observer of a kind: observer, its rows, end, and states afterwards."""
    settings = {"engine.name": "closed_form", **options.pop("settings", {})}
    ready = resolved(scenario, settings, {"duration": DURATION, **options})[0]
    with Simulation(Flight.of(ready)) as simulation:
        seen, end = kind(simulation), ""
        simulation.begin(observers=[seen])
        prepare(simulation)
        try:
            simulation.fly(lambda t: midway(simulation) if t > 0.2 else None)
        except FlightFailed as error:
            end = f"{error.outcome}: {error} ({simulation.loop.k}, {simulation.t:.6f})"
        after = [] if end else [simulation.step() for _ in range(then)]
        return seen, seen.table.rows(slice(seen.count)), end, np.array([*after, simulation.state])


def assert_equal_flights(**options):
    """Fly both ways and compare every bit; returns what the compiled run gave."""
    _, rows, end, after = flown(OneByOne, **options)
    seen, found, found_end, found_after = flown(AtOnce, **options)
    for field in dataclasses.fields(Columns):
        one, other = getattr(rows, field.name), getattr(found, field.name)
        if isinstance(one, np.ndarray):
            np.testing.assert_array_equal(other, one, err_msg=field.name)
    assert found_end == end
    np.testing.assert_array_equal(found_after, after)
    return seen, found, end


@pytest.mark.parametrize("platform", ["three_star", "two_line", "f450", "tilt_3"])
def test_a_compiled_flight_is_the_flight_one_period_after_another(platform):
    seen, rows, end = assert_equal_flights(platform=platform, settings=GUSTS, seed=3)
    assert not end
    count = round(200 * DURATION) + 1
    assert len(rows.k) == count
    assert seen.compiled_steps == count - 1 - (count - 2) // PROGRESS_STEPS - 1
    assert rows.mode[0] == (Mode.RPM if platform in ("f450", "tilt_3") else Mode.ATTITUDE_THRUST)


def test_steps_after_a_flight_go_on_from_what_its_controller_remembers():
    heavy = {"model_error.mass": 0.1}  # so that integrals are not zero
    assert_equal_flights(scenario="hover", settings=heavy, then=60)


def test_a_flight_that_is_begun_step_by_step_keeps_its_controller():
    def prepare(simulation):
        for _ in range(7):
            simulation.step()

    seen, _, _ = assert_equal_flights(prepare=prepare)
    assert seen.compiled_steps == 0


def test_gains_that_are_changed_before_the_flight_count():
    def soften(simulation):
        controller = simulation.loop.vehicles[0].controller
        gains = controller.gains
        controller.set_gains(gains.model_copy(update={"kP": tuple(0.5 * k for k in gains.kP)}))

    _, soft, _ = assert_equal_flights(scenario="hover", prepare=soften, settings=GUSTS)
    _, stiff, _ = assert_equal_flights(scenario="hover", settings=GUSTS)
    assert not np.array_equal(soft.x, stiff.x)


def test_a_second_flight_after_a_reset_is_the_first_one_again():
    settings = {"engine.name": "closed_form", **GUSTS}
    with Simulation.of("figure_eight", settings=settings, duration=DURATION) as simulation:
        simulation.fly()
        first = simulation.state
        simulation.reset()
        simulation.fly()
        np.testing.assert_array_equal(simulation.state, first)
        further = simulation.step()
        simulation.reset(seed=5)
        simulation.fly()
        assert not np.array_equal(simulation.state, first)
    with Simulation.of("figure_eight", settings=settings, duration=DURATION) as simulation:
        simulation.fly()
        kept = simulation.snapshot()
        np.testing.assert_array_equal(simulation.step(), further)
        simulation.restore(kept)
        np.testing.assert_array_equal(simulation.step(), further)


BROKEN = {
    "far": lambda x: x.__setitem__((0, slice(7, 10)), [0.0, 900.0, 0.0]),
    "upside down": lambda x: x.__setitem__((slice(None), slice(10, 13)), [60.0, 0.0, 0.0]),
    "no command": lambda x: x.__setitem__((0, 2), np.nan),
    "no number": lambda x: x.__setitem__((0, slice(10, 13)), [1e160, 0.0, 1e160]),
}


@pytest.mark.parametrize(
    ("how", "outcome"),
    [
        ("far", "diverged"),
        ("upside down", "crashed"),
        ("no number", "diverged"),
        ("no command", "invalid_command"),
    ],
)
def test_a_flight_that_fails_in_the_compiled_run_ends_at_the_same_instant_in_the_same_words(
    how, outcome
):
    def break_it(simulation):
        BROKEN[how](simulation.plant.engine.state()[0])

    seen, rows, end = assert_equal_flights(scenario="hover", midway=break_it)
    assert end.startswith(outcome)
    assert PROGRESS_STEPS + 1 < len(rows.k) < 200 * DURATION
    assert seen.compiled_steps == len(rows.k) - 2


PUSHED = {"at": 0.2, "until": 0.4, "force": [1.0, 0.0, 0.0], "torque": [0.0, 0.0, 0.0]}


@pytest.mark.parametrize(
    "options",
    [
        {"settings": {"state_noise.position": 0.001}},
        {"settings": {"model_error.delay": 0.005}},
        {"settings": {"disturbances": [PUSHED]}},
        {"sensors": "imu"},
    ],
)
def test_what_the_compiled_loop_does_not_have_is_flown_one_by_one(options):
    seen, _, _ = assert_equal_flights(scenario="hover", **options)
    assert seen.compiled_steps == 0


@pytest.mark.parametrize("part", ["interaction", "lever", "arm", "push"])
def test_a_vehicle_with_more_than_motion_control_has_no_compiled_run(part):
    ready = resolved("hover", {"engine.name": "closed_form"}, {"duration": DURATION})[0]
    with Simulation(Flight.of(ready)) as simulation:
        (vehicle,) = simulation.loop.vehicles
        setattr(vehicle, part, object())
        assert CompiledRun.of(simulation.plant, vehicle) is None
        setattr(vehicle, part, None)
        assert CompiledRun.of(simulation.plant, vehicle) is not None


@pytest.mark.parametrize("is_compiled", [True, False])
def test_without_the_compiled_run_the_controller_is_called_in_every_period(
    is_compiled, tmp_path, monkeypatch
):
    calls, call = [], PlatformController.__call__

    def counted(controller, *arguments):
        calls.append(arguments)
        return call(controller, *arguments)

    monkeypatch.setattr(PlatformController, "__call__", counted)
    settings = {"engine.name": "closed_form", "compiled": is_compiled}
    run = record("hover", folder=tmp_path / "run", settings=settings, duration=DURATION)
    instants = round(200 * DURATION) + 1
    if is_compiled:
        assert len(calls) <= instants // PROGRESS_STEPS + 2
        assert run.metrics["compiled_fraction"] == pytest.approx(1.0, abs=0.03)
    else:
        assert len(calls) == instants
        assert "compiled_fraction" not in run.metrics
