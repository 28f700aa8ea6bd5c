# SPDX-License-Identifier: BSD-3-Clause
"""When a plant calls its parts, what it asks them, and what it says where it has none."""

from types import SimpleNamespace

import numpy as np
import pytest
from flying import GRAVITY, gains_of, plant_of

from iap_description.arrays import Array
from iap_description.errors import BadInput, FlightFailed, IapError
from iap_description.math.random_streams import stream
from iap_description.states import Command, Mode
from iap_description.vehicles.assembly import Assembly
from iap_description.vehicles.platform import load_platform
from iap_description.world.world import World
from iap_physics.air.batch_air import Air
from iap_physics.air.wind import Wind
from iap_physics.engines.closed_form import ClosedFormEngine
from iap_physics.plant.part import PlantPart, overriding
from iap_physics.plant.period_flight import (
    DEFAULT_OPTIONS,
    IdentifiedFlight,
    PlantOptions,
    SteppedFlight,
)
from iap_physics.plant.plant import Plant
from iap_physics.plant.rates import LoopRates
from iap_physics.propulsion.deviation import NO_DEVIATION, Deviation
from iap_physics.propulsion.propulsion import Airframe, propulsion_of

F450 = load_platform("f450")
MASS = Assembly.of(F450).mass


class Diary(PlantPart):
    """Notes when it is called, and with which times."""

    def __init__(self) -> None:
        self.calls: list[tuple] = []

    def reset(self, x, worlds) -> None:
        self.calls.append(("reset", worlds.tolist()))

    def begin_period(self, k, t) -> None:
        self.calls.append(("period", k, round(t, 9)))

    def write(self, folder) -> None:
        self.calls.append(("write", folder))

    def close(self) -> None:
        self.calls.append(("close",))


class Looking(Diary):
    """Acts and looks between steps."""

    def begin_step(self, x, t) -> None:
        self.calls.append(("begin", round(t, 9)))

    def after_step(self, x) -> None:
        self.calls.append(("after", x[0, 0, 2]))


class Acting(Diary):
    """Acts within steps: pushes up by twice the weight."""

    def before_step(self, x, wrenches, t, dt) -> None:
        self.calls.append(("before", round(t, 9), dt))
        wrenches[0, 2] += 2.0 * MASS * GRAVITY

    def end_step(self, before, t) -> None:
        self.calls.append(("end", round(t, 9), before[0, 9]))

    def end_period(self) -> None:
        self.calls.append(("ended",))


class Pushing(PlantPart):
    """Pushes by a force for each second of its world's time, and by the place of the vehicle."""

    def __init__(self) -> None:
        self.seen: list[Array] = []

    def add_wrenches(self, times, x, out) -> None:
        self.seen.append(times.copy())
        out[:, 0, 0] += 1.0 + times


def flying(*parts, batch=1, deviation=NO_DEVIATION, options=DEFAULT_OPTIONS):
    """A quadrotor with rotors that stand still, at 4 physics steps a control period of 1/50 s."""
    engine = ClosedFormEngine(batch=batch)
    engine.load(World(), [Assembly.of(F450)])
    airframe = Airframe(Assembly.of(F450), F450.fleet, gains_of().autopilot, deviation)
    rngs = [stream(1, "gusts")] * batch
    rates = LoopRates(physics_hz=200.0, control_hz=50.0)
    propulsion = propulsion_of([airframe], batch, physics_hz=200.0)
    return Plant(engine, propulsion, Air(Wind(), rngs), rates, parts, options)


def test_parts_that_look_are_called_step_by_step_and_others_once_a_period():
    quiet, looking = Diary(), Looking()
    plant = flying(quiet, looking)
    plant.advance()
    plant.advance()
    assert quiet.calls == [("period", 0, 0.0), ("period", 1, 0.02)]
    names = [call[0] for call in looking.calls]
    assert names == ["period", *["begin", "after"] * 4] * 2
    times = [call[1] for call in looking.calls if call[0] == "begin"]
    assert times == [round(0.005 * k, 9) for k in range(8)]
    heights = [call[1] for call in looking.calls if call[0] == "after"]
    assert np.all(np.diff(heights) < 0.0)  # it falls
    assert plant.t == pytest.approx(0.04) and plant.ticks.tolist() == [8]


def test_parts_that_act_within_steps_change_their_wrenches():
    acting, looking = Acting(), Looking()
    plant = flying(acting, looking)
    plant.advance()
    plant.advance()
    assert [call[0] for call in acting.calls] == ["period", *["before", "end"] * 4, "ended"] * 2
    assert [call[0] for call in looking.calls] == ["period", *["begin", "after"] * 4] * 2
    begins = [call[1] for call in acting.calls if call[0] == "before"]
    assert begins == [round(0.005 * k, 9) for k in range(8)]
    assert [call[1] for call in looking.calls if call[0] == "begin"] == begins
    ends = [call[1:] for call in acting.calls if call[0] == "end"]
    np.testing.assert_allclose(ends, [(0.005 * (k + 1), 0.005 * k * GRAVITY) for k in range(8)])
    assert {call[2] for call in acting.calls if call[0] == "before"} == {0.005}
    np.testing.assert_allclose(plant.state()[0, 0, 9], 0.04 * GRAVITY)


@pytest.mark.parametrize("parts", [(), (Acting(),)])
def test_wrenches_of_parts_act_for_a_period_on_top_of_a_deviations(parts):
    pushing = Pushing()
    plant = flying(pushing, *parts, deviation=Deviation(force=(0.0, 0.5, 0.0)))
    for _ in range(2):
        plant.advance()
    assert np.ravel(pushing.seen).tolist() == pytest.approx([0.0, 0.02])
    v = plant.state()[0, 0, 7:9] * MASS / 0.02
    np.testing.assert_allclose(v, [1.0 + 1.02, 2 * 0.5], rtol=1e-9)


def test_a_part_that_is_attached_acts_from_the_next_period_on():
    plant = flying()
    assert plant.is_steady and plant.free_flight is not None
    plant.advance()
    late = Acting()
    plant.attach(late)
    assert plant.parts == (late,) and not plant.is_steady and plant.free_flight is None
    plant.advance()
    assert late.calls[0] == ("period", 1, 0.02)
    assert plant.part(Acting) is late is plant.part(Diary) and plant.part(Looking) is None


def test_parts_are_reset_written_and_closed_with_the_plant(tmp_path):
    parts = Diary(), Looking()
    plant = flying(*parts, batch=3)
    rows = plant.state()[[0, 0]].copy()
    plant.ticks[:] = 5
    plant.reset(rows, [np.full((1, 4), 100.0)], None, [2, 0], tilt=None)
    plant.write(tmp_path)
    plant.close()
    for part in parts:
        assert part.calls == [("reset", [2, 0]), ("write", tmp_path), ("close",)]
    assert plant.ticks.tolist() == [0, 5, 0]
    np.testing.assert_allclose(plant.times, [0.0, 0.025, 0.0])
    assert plant.propulsion[0].rpm[:, 0, 0].tolist() == [100.0, 0.0, 100.0]
    plant.reset(rows[:0], [np.full((1, 4), 100.0)], None, [])
    assert len(parts[0].calls) == 3


def test_without_parts_nothing_touches_lands_or_has_an_arm():
    plant = flying(batch=2)
    assert plant.contact_wrench().tolist() == [0.0] * 6
    assert plant.contact_wrenches(0).shape == (2, 6) and not plant.contact_wrenches(0).any()
    assert plant.landings == {} and plant.arm(0) is None


def test_a_command_that_a_part_keeps_does_not_act_and_one_on_board_overtakes_delays():
    keeping = SimpleNamespace(asked=[], answer=True)

    class Keeping(PlantPart):
        def postpones(self, vehicle, command, k, t, *, on_board):
            keeping.asked.append((vehicle, k, round(t, 9), on_board))
            return keeping.answer

    plant, command = (
        flying(Keeping(), deviation=Deviation(delay=0.04)),
        Command.zeros(1, Mode.RATE_THRUST),
    )
    plant.advance()
    command.thrust[:] = 7.0
    plant.command(0, command)
    orders, latest = plant.propulsion[0].command, plant.propulsion[0]._latest
    assert latest.thrust.tolist() == [[0.0]]
    keeping.answer = False
    plant.command(0, command)
    assert latest.thrust.tolist() == [[7.0]] and orders.thrust.tolist() == [[0.0]]
    plant.command(0, command, on_board=True)
    assert orders.thrust.tolist() == [[7.0]]
    assert keeping.asked == [(0, 1, 0.02, False), (0, 1, 0.02, False), (0, 1, 0.02, True)]


def test_a_command_counts_in_the_worlds_that_it_is_for():
    plant, command = flying(batch=3), Command.zeros(1, Mode.RATE_THRUST)
    command.thrust[:] = 7.0
    plant.command(0, command, worlds=np.array([True, False, True]))
    assert plant.propulsion[0].command.thrust[:, 0].tolist() == [7.0, 0.0, 7.0]
    command.thrust[:] = np.nan
    plant.command(0, command, worlds=np.array([False, False, True]))
    assert plant.propulsion[0].command.thrust[:, 0].tolist() == [7.0, 0.0, 7.0]
    assert plant.status.tolist()[:2] == [0, 0] and plant.status[2] != 0


def test_targets_of_an_arm_that_are_no_numbers_end_the_flight():
    plant = flying()
    taken = []
    plant.engine.arms = {0: SimpleNamespace(command=lambda *target: taken.append(target))}
    plant.command_arm(0, np.ones((3, 2)))
    assert np.array(taken).shape == (1, 3, 2)
    with pytest.raises(FlightFailed, match="the command to the arm is not finite") as caught:
        plant.command_arm(0, np.array([[np.inf], [0.0], [0.0]]))
    assert caught.value.outcome == "invalid_command" and len(taken) == 1


def test_a_wind_blows_from_the_next_period_on_unless_it_has_gusts():
    plant = flying()
    with pytest.raises(BadInput, match="gusts begin with a flight"):
        plant.blow(Wind(speed=3.0, turbulence=1.0))
    plant.advance()
    plant.blow(Wind(speed=3.0))
    assert plant.air.now_W.tolist() == [[3.0, 0.0, 0.0]] and plant.air.has_drag
    plant.advance()
    assert plant.state()[0, 0, 7] > 0.0
    gusty = plant_of("f450", wind=Wind(speed=1.0, turbulence=1.0), has_drag=True)
    gusty.blow(Wind(speed=2.0, turbulence=1.0))


def test_worlds_of_their_own_need_a_flight_that_takes_them():
    airframe = Airframe(Assembly.of(F450), F450.fleet, gains_of().autopilot)
    with pytest.raises(BadInput, match="worlds with vehicles of their own need the closed form"):
        flying(Acting()).deviate(0, [airframe], Wind(), World())
    plant = flying(batch=2)
    pushed = Airframe(*airframe.__dict__.values())
    pushed.__dict__["deviation"] = Deviation(force=(0.0, 3.0, 0.0))
    plant.deviate(1, [pushed], Wind(speed=2.0), World())
    assert plant.air.now_W.tolist() == [[0.0, 0.0, 0.0], [2.0, 0.0, 0.0]]
    plant.advance()
    v = plant.state()[:, 0, 8] * MASS / 0.02
    np.testing.assert_allclose(v, [0.0, 3.0], atol=1e-9)


def test_rows_belong_to_the_vehicle_that_ends_behind_them():
    plant = flying()
    plant.propulsion = [SimpleNamespace(rows=slice(0, 4)), SimpleNamespace(rows=slice(4, 5))]
    assert [plant.vehicle_of(row) for row in range(5)] == [0, 0, 0, 0, 1]


def test_a_flight_of_whole_periods_has_no_place_for_parts_that_act_in_steps():
    own = SimpleNamespace(advance=lambda inputs, steps: None)
    flying(options=PlantOptions(flight=own))
    for acting in (Acting(),):
        with pytest.raises(IapError, match="its flight takes whole periods"):
            flying(acting, options=PlantOptions(flight=own))
    with pytest.raises(BadInput, match="^precision .float32. needs the closed form"):
        flying(Acting(), options=PlantOptions(precision="float32"))
    assert overriding((Diary(), Looking(), PlantPart()), "after_step")[0].calls == []
    assert len(overriding((Diary(), Looking(), PlantPart()), "begin_period")) == 2


def test_an_identified_plant_takes_all_steps_of_a_period():
    steps = []
    flight = IdentifiedFlight(SimpleNamespace(step=steps.append), 0.005)
    inputs = SimpleNamespace(ticks=np.array([3]))
    flight.advance(inputs, 4)
    assert steps == [0.005] * 4 and inputs.ticks.tolist() == [7]


def test_worlds_that_have_ended_do_not_age():
    plant = flying(Looking(), batch=2)
    plant.engine.status[1] = 1
    plant.advance()
    assert plant.ticks.tolist() == [4, 0]
    assert not isinstance(plant._flight, SteppedFlight)
