# SPDX-License-Identifier: BSD-3-Clause
"""Logs and sweeps that cannot be meant: times that count, motors in other units, gaps, bounds and seeds."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from iap_description.errors import BadInput
from iap_io.flight_logs import flight_log as names
from iap_io.flight_logs.flight_log import UNITS, FlightLog, Signal
from iap_simulation.identification.rotorcraft.log_checks import _check_motors
from iap_simulation.identification.settings import _in_order
from iap_simulation.identification.time_base import FEWEST_COUNTED, _check_counting
from iap_simulation.open_loop.log_commands import MotorCommands
from iap_simulation.scenario.resolving import Options
from iap_simulation.sweeps.study import Axis, Study


@pytest.mark.parametrize("first", [0.0, 1.0])
def test_times_that_count_samples_are_no_seconds(first: float) -> None:
    t = first + np.arange(float(FEWEST_COUNTED))
    said = rf"^log\.csv: its times {first:g}, {first + 1:g}, {first + 2:g} \.\.\. count samples"
    with pytest.raises(BadInput, match=said):
        _check_counting("log.csv", t)
    _check_counting("log.csv", 0.99 * t)
    _check_counting("log.csv", t[:-1])
    _check_counting("log.csv", t + 5.0)


@pytest.mark.parametrize(
    ("largest", "unit"),
    [(1.4, None), (1.6, "percent"), (100.0, "percent"), (2000.0, "PWM us"), (5e3, "rpm")],
)
def test_motors_go_from_zero_to_one_in_flight(largest: float, unit: str | None) -> None:
    t = np.arange(1000) / 100.0
    values = np.full((1000, 4), 9e9)  # on the ground, which does not count
    values[200:801] = largest
    motors = Signal(t, values, "actuator_motors", UNITS[names.MOTORS])
    log = FlightLog(Path("log.ulg"), "ULog", "PX4", {names.MOTORS: motors})
    if unit is None:
        _check_motors(log, motors, (2.0, 8.0))
        return
    said = (
        rf"^log\.ulg: motors \(actuator_motors\) come to {largest:.4g}, .* are they in {unit}\?$"
    )
    with pytest.raises(BadInput, match=said):
        _check_motors(log, motors, (2.0, 8.0))


def test_a_log_without_motors_has_none_in_another_unit() -> None:
    log: Any = None
    _check_motors(log, None, (0.0, 1.0))


def test_bounds_are_a_lower_and_a_higher_one() -> None:
    assert _in_order((1.0, 1.1)) == (1.0, 1.1)
    for bounds in ((1.0, 1.0), (2.0, 1.0), (np.nan, 1.0), (1.0, np.nan)):
        with pytest.raises(ValueError, match="^expected the lower bound first, and a higher one$"):
            _in_order(bounds)


def study(**changes: Any) -> Study:
    return Study("hover", **changes)


def test_a_study_has_a_seed_and_keys_that_come_once() -> None:
    assert study(seeds=3, axes=(Axis.of("wind.speed=0,1"),)).runs == 6
    with pytest.raises(BadInput, match=r"^--vary wind\.speed: comes twice$"):
        study(axes=(Axis.of("wind.speed=0,1"), Axis.of("wind.speed=2,3")))
    for records, option in ((False, "--seeds"), (True, "--count")):
        with pytest.raises(BadInput, match=f"^{option} 0: at least one is expected$"):
            study(seeds=0, records=records)
    with pytest.raises(BadInput, match=r"^--seed -1: a number from 0 to 2\^63 - 1 is expected$"):
        study(options=Options().model_copy(update={"seed": -1}))


def test_a_log_without_motors_flies_no_motors() -> None:
    log: Any = SimpleNamespace(path="flight.ulg", missing={names.MOTORS: "instance 3 alone"})
    table: Any = SimpleNamespace(motors=None)
    vehicle: Any = None
    with pytest.raises(BadInput, match=r"^flight\.ulg: no motors \(instance 3 alone\)$"):
        MotorCommands.of(log, table, vehicle)
    log.missing = {}
    with pytest.raises(BadInput, match=r"^flight\.ulg: no motors \(not logged\)$"):
        MotorCommands.of(log, table, vehicle)
