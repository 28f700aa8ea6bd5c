# SPDX-License-Identifier: BSD-3-Clause
"""Rates that divide each other, delays of a period at least, wrenches for a while, and kinds of commands."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from iap_description.config.record import validate
from iap_description.errors import BadInput
from iap_description.signals import Command
from iap_description.states import Mode
from iap_description.vehicles.faults import LateCommands
from iap_physics.plant.command_check import check_mode
from iap_physics.plant.disturbances import Disturbance, Disturbances, add_disturbances
from iap_physics.plant.rates import LoopRates


def rates(physics_hz: float = 1000.0, control_hz: float = 200.0) -> LoopRates:
    return validate(LoopRates, {"physics_hz": physics_hz, "control_hz": control_hz}, source="test")


def test_physics_is_a_whole_multiple_of_control() -> None:
    assert rates().substeps == 5 and rates(200.0).substeps == 1 and rates(1.0, 1.0).substeps == 1
    assert rates(1e6, 1000.0).substeps == 1000
    for physics, control in ((1000.0, 300.0), (200.0, 400.0), (1.01e6, 1000.0), (10.0, 0.5)):
        with pytest.raises(BadInput):
            rates(physics, control)


def test_an_autopilot_has_a_rate_that_divides_that_of_the_physics() -> None:
    for rate in (None, 1000.0, 500.0, 250.0):
        gains: Any = SimpleNamespace(rate_hz=rate)
        rates().check_autopilot(gains, "gains")
    for rate in (2000.0, 300.0):
        with pytest.raises(ValueError, match=rf"^key 'gains\.rate_hz': {rate} does not divide"):
            rates().check_autopilot(SimpleNamespace(rate_hz=rate), "gains")  # type: ignore[arg-type]


def test_commands_are_late_by_a_control_period_at_least() -> None:
    def late(seconds: float) -> LateCommands:
        fields = {name: None for name in LateCommands.model_fields}
        return LateCommands.model_construct(**{**fields, "commands_late": seconds})

    rates().check_delays([late(0.0026), late(0.1)], "faults")
    with pytest.raises(
        ValueError, match=r"^key 'faults\.1\.commands_late': 0\.0024 s is no control"
    ):
        rates().check_delays([late(0.0026), late(0.0024)], "faults")


def disturbance(at: float, until: float, x: float) -> Disturbance:
    keys = {"at": at, "until": until, "force": [x, 0.0, 0.0], "torque": [0.0, 0.0, -x]}
    return validate(Disturbance, keys, source="test")


def test_a_disturbance_acts_from_its_begin_to_before_its_end_and_several_add_up() -> None:
    both = [disturbance(1.0, 2.0, 3.0), disturbance(1.5, 3.0, 10.0)]
    for t, x in ((0.99, 0.0), (1.0, 3.0), (1.5, 13.0), (1.99, 13.0), (2.0, 10.0), (3.0, 0.0)):
        out = np.ones(6)
        add_disturbances(both, t, out)
        np.testing.assert_array_equal(out, [1.0 + x, 1.0, 1.0, 1.0, 1.0, 1.0 - x])
    with pytest.raises(BadInput, match=r"'until': 1\.0 is not after 'at', 1\.0"):
        disturbance(1.0, 1.0, 3.0)


def test_each_vehicle_of_each_world_has_its_own_at_the_worlds_time() -> None:
    out = np.zeros((2, 2, 6))
    part = Disturbances([[disturbance(0.0, 1.0, 2.0)], [disturbance(0.5, 2.0, 5.0)]])
    part.add_wrenches(np.array([0.2, 1.5]), np.zeros((2, 2, 13)), out)
    np.testing.assert_array_equal(out[..., 0], [[2.0, 0.0], [0.0, 5.0]])


@pytest.mark.parametrize(
    ("mode", "takes_velocity", "said"),
    [
        (Mode.WRENCH, False, "command/wrench"),
        (Mode.WRENCH, True, "command/wrench"),
        (Mode.VELOCITY, False, "velocities are for a plant identified from logs"),
        (Mode.RPM, True, "takes velocities"),
        (Mode.ATTITUDE_THRUST, True, "takes velocities"),
        (Mode.RPM, False, None),
        (Mode.RATE_THRUST, False, None),
        (Mode.VELOCITY, True, None),
    ],
)
def test_a_plant_takes_commands_of_its_kinds(mode, takes_velocity, said) -> None:
    command = Command.zeros(1, mode)
    if said is None:
        check_mode(command, takes_velocity=takes_velocity)
        return
    with pytest.raises(BadInput, match=f"^command: .*{said}"):
        check_mode(command, takes_velocity=takes_velocity)
