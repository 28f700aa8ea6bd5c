# SPDX-License-Identifier: BSD-3-Clause
"""Answers to messages of a pair: those of one process bit for bit, once for each instant, anew after a reset."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from linear_policies import docking_policy

from iap_description.states import Command, Mode
from iap_learning.learned_agents import pair_pilot
from iap_learning.policies.scenario_policies import periods
from iap_learning.tasks.kinds.docking.policy_pair import PairInput, PairResponder
from iap_learning.tasks.kinds.registry import make_episodes
from iap_physics.engines.make import make_engine
from iap_physics.latching.latches import Latches, Phase
from iap_physics.session.session import Session
from iap_simulation.docking.pair_pilot import PairMeasurement
from iap_simulation.docking.ports import pair_of
from iap_simulation.flights.plant_spec import plant_spec
from iap_simulation.scenario.resolving import Options, resolve
from iap_simulation.scenario.scenario import Scenario
from iap_simulation.simulation.simulation import Simulation
from iap_simulation.vehicles.vehicle import Vehicle

PERIOD = 5_000_000  # [ns]


@pytest.fixture(params=["script", "learned"])
def scenario(request: pytest.FixtureRequest, tmp_path: Path) -> Scenario:
    policy = request.param
    if policy == "learned":
        policy = str(tmp_path / "policy.npz")
        docking_policy(make_episodes("docking", 1)).save(policy)
    given = Options(seed=4, engine="mujoco", assignments=(f"policy={policy}",))
    return resolve("docking_hard" if policy == "script" else "docking", given)[0]


class Messages:
    """A plant's side of the topics, and the answers of a responder."""

    def __init__(self, scenario: Scenario) -> None:
        spec = plant_spec(scenario)
        self.session = Session(spec, make_engine(spec.engine), timeout=None)
        self.responder = PairResponder(pair_pilot(scenario))
        self.numbers, self.latch = pair_of(scenario)
        self.answers: list[np.ndarray] = []

    def publish(self) -> None:
        """Say all of the present state, wrenches and latches first, as physics_node does."""
        session, k = self.session, self.session.k
        latches = session.plant.part(Latches)
        assert latches is not None
        self.take(PairInput.PHASE, k, latches.phase(self.latch))
        for n, i in enumerate(self.numbers):
            sensor = session.sensors[i]
            assert sensor is not None
            self.take(PairInput(PairInput.TARGET_WRENCH + n), 0, sensor.raw_P.copy())
            self.take(PairInput(n), k, session.measured[i].copy())

    def take(self, source: PairInput, k: int, part: object) -> None:
        answer = self.responder.take(source, self.session.k * PERIOD, k, part)
        if answer is not None:
            self.answers.append(answer.copy())

    def advance(self) -> None:
        for i, row in zip(self.numbers, self.answers[-1], strict=True):
            command = Command.zeros(1, Mode.RATE_THRUST)
            command.thrust[0], command.w_WB_B[0] = row[0], row[1:]
            self.session.offer(i, self.session.t, lambda own, c=command: _fill(own, c))
        self.session.advance()


def _fill(own: Command, command: Command) -> None:
    own.mode = command.mode
    own.thrust[:], own.w_WB_B[:] = command.thrust, command.w_WB_B


def test_an_instant_is_answered_once_by_what_the_pilot_says_of_all_its_parts() -> None:
    asked = []

    class Pilot:
        info: Mapping[str, Any] = {}
        inputs = ()

        def lacks(self, stamp: int, k: int) -> Sequence[str]:  # noqa: ARG002 - of those who see
            return ()

        def __call__(self, k: int, sensed: PairMeasurement) -> np.ndarray:
            asked.append((k, sensed))
            return np.full((2, 4), float(len(asked)))

    responder = PairResponder(Pilot)
    rows, wrenches = np.arange(26.0).reshape(2, 13), np.arange(12.0).reshape(2, 6)

    def tell(k: int) -> list[np.ndarray | None]:
        parts = {
            PairInput.PHASE: Phase.OPEN, PairInput.TARGET_WRENCH: wrenches[0], PairInput.CHASER_WRENCH: wrenches[1],
            PairInput.CHASER: rows[1], PairInput.TARGET: rows[0],
        }  # fmt: skip
        return [responder.take(each, k * PERIOD, k, part) for each, part in parts.items()]

    *before, answer = tell(0)
    assert before == [None] * 4
    np.testing.assert_array_equal(answer, 1.0)
    (k, sensed), *_ = asked
    assert (k, sensed.phase) == (0, Phase.OPEN)
    np.testing.assert_array_equal(sensed.rows, rows)
    np.testing.assert_array_equal(sensed.wrenches_P, wrenches)
    np.testing.assert_array_equal(tell(1)[-1], 2.0)
    np.testing.assert_array_equal(tell(1)[-1], 2.0)  # again, and nobody is asked
    assert len(asked) == responder.answered == 2


@pytest.mark.parametrize("scenario", ["learned"], indirect=True)
def test_a_policy_acts_at_the_first_instant_and_a_missed_one_puts_off_no_action(
    scenario: Scenario, monkeypatch: pytest.MonkeyPatch
) -> None:
    pilot, acted = pair_pilot(scenario)(), []
    (target, chaser), _ = pair_of(scenario)
    starts = [Vehicle.of(scenario, scenario.vehicles[i]).start[0] for i in (target, chaser)]
    sensed = PairMeasurement(np.stack(starts), np.zeros((2, 6)), Phase.OPEN)
    policy = pilot._policy
    step = periods(policy, scenario)
    monkeypatch.setattr(pilot, "_policy", lambda seen: acted.append(k) or policy(seen))
    for k in (0, 1, step - 1, step, 2 * step + 1, 3 * step - 1, 3 * step):
        pilot(k, sensed)
    assert step > 2 and acted == [0, step, 2 * step + 1, 3 * step]


@pytest.mark.slow
def test_answers_to_messages_fly_what_one_process_flies_bit_for_bit(scenario: Scenario) -> None:
    messages = Messages(scenario)
    with Simulation.of(scenario) as simulation:
        while not simulation.is_done:
            messages.publish()
            messages.advance()
            simulation.step()
            for i in messages.numbers:
                np.testing.assert_array_equal(
                    messages.session.plant.state(i)[0], simulation.plant.state(i)[0]
                )
        task = simulation.task
        assert task is not None
        assert task.docked  # so that the latch's phase mattered


def test_an_instant_that_comes_again_is_answered_alike_and_advances_nothing(
    scenario: Scenario,
) -> None:
    once, twice = Messages(scenario), Messages(scenario)
    for _ in range(20):
        for each, times in ((once, 1), (twice, 3)):
            for _ in range(times):
                each.publish()
            each.advance()
    assert len(twice.answers) == 60
    np.testing.assert_array_equal(twice.answers[::3], once.answers)
    np.testing.assert_array_equal(twice.answers[2::3], once.answers)


def test_after_a_reset_of_time_it_flies_anew(scenario: Scenario) -> None:
    messages = Messages(scenario)
    for _ in range(30):
        messages.publish()
        messages.advance()
    messages.session.reset()
    for _ in range(30):
        messages.publish()
        messages.advance()
    np.testing.assert_array_equal(messages.answers[:30], messages.answers[30:])
