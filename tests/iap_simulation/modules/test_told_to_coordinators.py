# SPDX-License-Identifier: BSD-3-Clause
"""What modules in the loop tell their coordinator: wrenches of observers, last commands, and when it is at work."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from iap_description.signals import Reference
from iap_description.states import Command, Level, Mode
from iap_simulation.modules.in_flight import ModulesInFlight
from iap_simulation.simulation.simulation import Simulation

PERFECT = {"vehicles.*.sensors": "none", "vehicles.*.control.state_source": "truth"}


@pytest.fixture
def modules() -> Any:
    with Simulation.of("module_docking", engine="mujoco", settings=PERFECT) as simulation:
        assert isinstance(simulation.modules, ModulesInFlight)
        yield simulation.modules


def commanded(rpm: float, tilt: float = 0.0) -> Any:
    command = Command.zeros(1, Mode.RPM)
    command.rpm[:], command.tilt[:] = rpm, tilt
    return SimpleNamespace(command=command)


def test_an_observer_sees_what_rotors_were_commanded_at_the_instant_before(modules) -> None:
    seen: list[Any] = []

    def observer(measured: Any, thrusts: Any, tilts: Any) -> np.ndarray:
        seen.append((measured, thrusts.copy(), tilts.copy()))
        return np.full(6, float(len(seen)))

    modules._observers[1] = observer
    modules._vehicles[1].known_state(modules._plant.state(1)[0])
    modules.record(1, commanded(100.0, 0.25))
    assert not seen and not modules.external_P.any()
    modules._k = 1
    modules.record(1, commanded(300.0))
    modules.record(1, commanded(300.0))
    c_f = modules._vehicles[1].model.fleet[0].rotor.c_f
    (_, first, tilts), (_, second, level) = seen
    np.testing.assert_allclose(first, np.full(4, c_f * 1e4))
    np.testing.assert_allclose(second, np.full(4, c_f * 9e4))
    assert (tilts == 0.25).all() and not level.any()
    np.testing.assert_array_equal(modules.external_P, [np.zeros(6), np.full(6, 2.0)])
    assert [each[0] for each in modules._wrenches[1]] == [0.0, 1.0, 2.0]
    assert (
        modules._wrenches[1].maxlen
        == modules._every
        == round(200.0 / modules.coordinator.spec.rate)
    )


def test_a_controller_that_falls_silent_leaves_its_last_command(modules) -> None:
    modules._silent = {1: 0.5}
    plant = modules._plant = SimpleNamespace(t=0.25)
    first, second = commanded(100.0).command, commanded(200.0).command
    modules._note_command(0, first)
    modules._note_command(1, first)
    assert modules.command(0, modules._plant, []) == {}
    np.testing.assert_array_equal(modules._commanded_at, [0.25, 0.25])
    first.rpm[:] = 7.0  # a controller writes its next one there
    plant.t = 0.5
    for i in (0, 1):
        modules._note_command(i, second)
    np.testing.assert_array_equal(modules._commanded_at, [0.5, 0.25])
    held = modules.command(0, modules._plant, [])
    assert list(held) == [1] and (held[1].rpm == 100.0).all()


def test_a_coordinator_is_at_work_at_its_own_rate_and_its_rows_take_the_place_of_references(
    modules,
) -> None:
    worked, every = [], modules._every
    modules._coordinate = lambda: worked.append(modules._k)
    modules.policy = None
    rows = [vehicle.timeline.row(0) for vehicle in modules._vehicles]
    for k in range(2 * every + 1):
        references = [Reference(row + 0.0, Level.POSE, np.full(6, 1.0)) for row in rows]
        modules.refer(k, modules._plant, references)
        assert modules.is_due == (k % every == 0)
    assert worked == [0, every, 2 * every]
    for i, reference in enumerate(references):
        np.testing.assert_array_equal(reference.row, modules.rows[i])
        assert reference.level == Level.POSE and (reference.wrench_P == 1.0).all()


def test_states_are_shared_without_the_biases_of_their_estimates(modules) -> None:
    modules._vehicles = [SimpleNamespace(position_bias=np.full(3, each)) for each in (0.5, -1.0)]
    modules._estimates[:] = 2.0
    shared = modules._shared()
    assert (shared[:, :3] == [[1.5], [3.0]]).all() and (shared[:, 3:] == 2.0).all()
    assert (modules._estimates == 2.0).all()
