# SPDX-License-Identifier: BSD-3-Clause
"""Measurements of the pilot of a docking pair, the least force of a touch, and the one whom an agent follows."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from flying import scenario_of

from iap_description.vehicles.latch import PortFrame
from iap_physics.latching.latches import Phase
from iap_simulation.docking import pair_pilot
from iap_simulation.docking.pair_pilot import DockingPilot, PairMeasurement, ScriptPilot
from iap_simulation.docking.ports import is_held, port_frames


def sensed(phase: Phase = Phase.OPEN, forces: tuple[float, float] = (0.0, 0.0)) -> PairMeasurement:
    rows, wrenches = np.zeros((2, 13)), np.zeros((2, 6))
    rows[:, 6], wrenches[:, 1], wrenches[:, 4] = 1.0, forces, 9.0
    return PairMeasurement(rows, wrenches, phase)


def test_a_latch_holds_what_it_has_caught_or_locked() -> None:
    held = {phase: is_held(phase) for phase in Phase}
    assert [phase for phase, holds in held.items() if holds] == [Phase.CAUGHT, Phase.LOCKED]
    assert [sensed(phase).latched for phase in Phase] == list(held.values())


def test_the_chaser_s_wrench_is_turned_into_the_world_by_its_own_attitude() -> None:
    pair = sensed()
    pair.rows[0, 3:7] = [1.0, 0.0, 0.0, 0.0]  # the target lies upside down
    pair.rows[1, 3:7] = [0.0, 0.0, np.sqrt(0.5), np.sqrt(0.5)]  # yawed by 90 deg: x looks along y
    pair.wrenches_P[:] = [[9.0] * 6, [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]]
    np.testing.assert_allclose(pair.wrench_W, [-2.0, 1.0, 3.0, -5.0, 4.0, 6.0])


@pytest.mark.parametrize(
    ("phase", "forces", "links"),
    [
        (Phase.OPEN, (0.0, 0.0), (False, False, False)),
        (Phase.OPEN, (0.49, 0.49), (False, False, False)),
        (Phase.OPEN, (0.51, 0.0), (True, False, False)),
        (Phase.CAUGHT, (0.0, 0.51), (True, True, False)),
        (Phase.LOCKED, (0.0, 0.0), (False, True, True)),
    ],
)
def test_the_script_is_told_of_touches_of_half_a_newton_and_of_the_latch(
    phase: Phase, forces: tuple[float, float], links: tuple[bool, ...], monkeypatch
) -> None:
    told = []

    def script_command(rows, said, laws, memory, out) -> None:
        told.append(tuple(said))
        out[:] = [[1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0]]

    monkeypatch.setattr(pair_pilot, "script_command", script_command)
    laws: Any = None
    pilot = ScriptPilot(laws)
    np.testing.assert_array_equal(pilot(0, sensed(phase, forces)), [[1, 2, 3, 4], [5, 6, 7, 8]])
    assert told == [links] and pilot.info == {"name": "script"}


def test_an_agent_of_a_pair_commands_both_and_follows_the_target() -> None:
    scenario = scenario_of("docking", engine="mujoco")
    pair: Any = SimpleNamespace(info={"name": "own"}, inputs=())
    agent = DockingPilot(scenario, list(scenario.vehicles), pair)
    names = [vehicle.name for vehicle in scenario.vehicles]
    ((_, latch),) = scenario.latches.items()
    assert [names[i] for i in agent.followers] == [latch.socket.split("/")[0]]
    assert (agent.task, agent.sinks, agent.info) == (None, (), {"name": "own"})


def test_frames_of_ports_are_on_their_vehicles_and_a_face_is_one_too() -> None:
    scenario = scenario_of("docking", engine="mujoco")
    ((_, latch),) = scenario.latches.items()
    platforms = {vehicle.name: vehicle.platform for vehicle in scenario.vehicles}
    for path, frame in zip((latch.probe, latch.socket), port_frames(scenario, latch), strict=True):
        vehicle, port = path.split("/")
        own = PortFrame.of(platforms[vehicle].ends[port], np.zeros(3))
        np.testing.assert_array_equal(frame.position, own.position)
        np.testing.assert_array_equal(frame.axis, own.axis)
    face = latch.model_copy(update={"socket": "wall"})
    (_, frame), plain = port_frames(scenario, face), PortFrame.of_face()
    np.testing.assert_array_equal(np.concatenate(frame), np.concatenate(plain))


def test_a_pilot_measures_target_and_chaser_in_its_own_order() -> None:
    scenario = scenario_of("docking", engine="mujoco")
    felt = list[Any]()

    def vehicle(bias: float) -> Any:
        sensor = SimpleNamespace(raw_P=np.full(6, bias))
        return SimpleNamespace(
            known_state=lambda x: x + 8.0 * bias, measured=lambda x: x[0] + bias,
            feel=lambda *given: felt.append(given),
            interaction=SimpleNamespace(sensor=sensor),
        )  # fmt: skip

    asked = list[Any]()

    def pair(k: int, sensed: PairMeasurement) -> np.ndarray:
        asked.append(sensed)
        return np.arange(8.0).reshape(2, 4)

    vehicles: Any = [vehicle(0.5), vehicle(0.25)]
    pilot: Any = pair
    agent = DockingPilot(scenario, vehicles, pilot)
    x = np.arange(52.0).reshape(2, 1, 2, 13)
    latches = SimpleNamespace(phase=lambda name: (name, Phase.CAUGHT))
    plant: Any = SimpleNamespace(
        t=1.5, state=lambda i: x[i], contact_wrench=lambda i: f"wrench {i}", part=lambda _: latches
    )
    references: Any = ["reference 0", "reference 1"]
    commands = agent.command(3, plant, references)
    (sensed,) = asked
    numbers = agent._numbers
    for n, i in enumerate(numbers):
        known = x[i, 0] + (4.0, 2.0)[i]  # the estimate on which the vehicle flies
        np.testing.assert_array_equal(sensed.rows[n], known[0] + (0.5, 0.25)[i])
        assert (sensed.wrenches_P[n] == (0.5, 0.25)[i]).all()
        t, state, row, wrench, reference = felt[n]
        assert (t, wrench, reference) == (1.5, f"wrench {i}", f"reference {i}")
        np.testing.assert_array_equal(state, known)
        np.testing.assert_array_equal(row, sensed.rows[n])
        assert commands[i].thrust[0] == 4.0 * n
        np.testing.assert_array_equal(commands[i].w_WB_B[0], 4.0 * n + np.array([1.0, 2.0, 3.0]))
    assert sensed.phase == (scenario.docking.latch, Phase.CAUGHT)
