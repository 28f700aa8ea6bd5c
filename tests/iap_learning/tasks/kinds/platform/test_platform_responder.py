# SPDX-License-Identifier: BSD-3-Clause
"""Answers to messages of one platform: those of one process bit for bit, in whatever order messages come."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from linear_policies import linear_policy

from iap_description.signals import Reference
from iap_description.states import Command
from iap_learning.learned_agents import flies_by_references, platform_policy
from iap_learning.tasks.kinds.platform.platform_responder import PlatformResponder
from iap_learning.tasks.kinds.registry import make_episodes
from iap_simulation.scenario.resolving import Options, resolve
from iap_simulation.scenario.scenario import Scenario
from iap_simulation.simulation.simulation import Simulation

THRUSTS = {"task": "hold_rotor_thrust", "platform": "f450"}
ORDERS = ("ISR", "RSI", "SRI")  # of image, state and reference


def scenario_of(kind: str, folder: Path) -> Scenario:
    """A flight by images and references, or by commands of rotors."""
    if kind == "navigate":
        return resolve("navigate", Options(engine="closed_form", seed=7))[0]
    path = str(folder / "policy.npz")
    linear_policy(make_episodes(THRUSTS["task"], 1), gains={}, drawn=0.05).save(path)
    given = Options(
        engine="closed_form",
        seed=7,
        platform=THRUSTS["platform"],
        assignments=(f"policy={path}", "draw.position=0.2"),
    )
    return resolve("hover", given)[0]


class Messages:
    """A simulation without a pilot, flown by the answers to its messages."""

    def __init__(self, scenario: Scenario) -> None:
        self.responder = PlatformResponder(platform_policy(scenario))
        self.simulation = Simulation.of(scenario.model_copy(update={"policy": None}))
        self.answers: list[Any] = []

    def step(self, order: str) -> None:
        """Say all of the present instant in some order, and fly what is answered."""
        simulation, responder = self.simulation, self.responder
        plant, k = simulation.plant, simulation.loop.k
        vehicle, stamp = simulation.loop.vehicles[0], k * 5_000_000
        answers: list[Any] = []
        for part in order:
            if part == "S":
                rpm = plant.propulsion[0].rpm[0].copy()
                answers.append(responder.take_state(stamp, k, plant.state(0)[0].copy(), rpm))
            elif part == "R":
                row = vehicle.reference(k).row.copy()
                answers.append(responder.take_reference(stamp, row))
            else:
                answers += [responder.take_reading(each) for each in simulation.readings]
        (answer,) = (each for each in answers if each is not None)
        self.answers.append(answer)
        if isinstance(answer, Reference):
            x, contact_W = plant.state(0)[0], plant.contact_wrench(0)
            answer = vehicle.command(plant.t, x, contact_W, answer)
        simulation.step(answer)


@pytest.mark.parametrize("kind", ["navigate", "rotor_thrust"])
def test_messages_fly_what_one_process_flies_bit_for_bit(kind: str, tmp_path: Path) -> None:
    scenario = scenario_of(kind, tmp_path)
    assert flies_by_references(scenario) == (kind == "navigate")
    messages = Messages(scenario)
    with Simulation.of(scenario) as alone, messages.simulation as other:
        for n in range(90):
            messages.step(ORDERS[n % 3])
            alone.step()
            np.testing.assert_array_equal(other.state, alone.state)
        assert np.abs(alone.state[0, 7:10]).max() > 0.02
        assert messages.responder.answered == 90
        wanted = Reference if kind == "navigate" else Command
        assert all(isinstance(each, wanted) for each in messages.answers)


def test_what_comes_again_gets_the_same_answer_and_an_earlier_state_begins_anew() -> None:
    scenario = resolve("navigate", Options(engine="closed_form", seed=7))[0]
    messages = Messages(scenario)
    with messages.simulation as simulation:
        row, x = simulation.loop.vehicles[0].reference(0).row, simulation.state.copy()
        messages.step("ISR")
        assert messages.responder.take_reference(0, row.copy()) is None
        again = messages.responder.take_state(0, 0, x, np.zeros((1, 4)))
        assert again is messages.answers[0]
        assert messages.responder.answered == 1
        first = messages.answers[0].row.copy()
        for _ in range(12):
            messages.step("ISR")
        simulation.reset()
        messages.step("ISR")
        assert messages.responder.stamp == 0
        np.testing.assert_array_equal(messages.answers[-1].row, first)


def test_an_image_of_the_same_period_will_do() -> None:
    """Late images, as where time does not wait."""
    scenario = resolve("navigate", Options(engine="closed_form", seed=7))[0]
    messages = Messages(scenario)
    responder = messages.responder
    with messages.simulation as simulation:
        (image,) = simulation.readings
        x, rpm = simulation.plant.state(0)[0].copy(), simulation.plant.propulsion[0].rpm[0]
        row = simulation.loop.vehicles[0].reference(0).row
        for k in range(2):
            assert responder.take_reference(k * 5_000_000, row.copy()) is None
            assert responder.take_state(k * 5_000_000, k, x, rpm.copy()) is None
        assert responder.take_reading(image) is not None
        assert responder.sequence == 1
