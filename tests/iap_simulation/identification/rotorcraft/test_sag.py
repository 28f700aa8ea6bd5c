# SPDX-License-Identifier: BSD-3-Clause
"""Thrust by a battery's voltage: its power is found in hover and in manoeuvres, or refused with the reason."""

from dataclasses import replace

import numpy as np
import pytest

from iap_description.earth import GRAVITY
from iap_simulation.identification.rotorcraft.estimate import Parameter
from iap_simulation.identification.rotorcraft.flight_table import FlightTable
from iap_simulation.identification.rotorcraft.sag import NAME, sag
from iap_simulation.identification.rotorcraft.thrust import Thrust, ThrustCurve

DT, SECONDS = 0.02, 120.0
T = DT * np.arange(round(SECONDS / DT))
CURVE = ThrustCurve(0.5, 1.8)
FIT = Thrust(CURVE, None, {"thrust exponent": Parameter(1.8, 0.05, "", "")}, {})


def flown(power, volts, climb=0.0, noise=0.2):
    """A table and commands of a vehicle that carries its weight, moving up and down, as its voltage falls."""
    rng = np.random.default_rng(2)
    f = GRAVITY + climb * np.sin(0.7 * T)
    levels = np.linspace(0.05, 1.5, 4000)
    thrust = f / (volts / volts.mean()) ** power
    n = np.interp(thrust, CURVE.per_mass(levels), levels)[:, None]
    rows = dict.fromkeys(("q", "w", "v", "p", "torque", "thrust", "instruments", "q_setpoint"))
    force = np.column_stack([0.0 * f, 0.0 * f, f + rng.normal(0.0, noise, len(f))])
    table = FlightTable("a", T, **rows, f=force, motors=np.minimum(n, 0.99), input_rate=50.0, rate=50.0,
                        exponent=None, voltage=volts)  # fmt: skip
    return table, n


@pytest.mark.parametrize("climb", [0.0, 2.0], ids=["hover", "up and down"])
@pytest.mark.parametrize("power", [0.0, 1.0, 2.0])
def test_the_power_of_the_voltage_is_within_its_interval(power, climb):
    table, n = flown(power, np.linspace(16.6, 14.0, len(T)), climb)
    found, refused = sag(table, n, FIT)
    assert not refused
    assert abs(found[NAME].value - power) <= found[NAME].half_width
    assert found[NAME].half_width < 0.3


def test_an_exponent_that_is_not_known_widens_the_interval():
    table, n = flown(2.0, np.linspace(16.6, 14.0, len(T)))
    narrow = sag(table, n, FIT)[0][NAME].half_width
    wide = sag(table, n, replace(FIT, estimates={}))[0][NAME].half_width
    assert wide == pytest.approx(2.0 * 0.35 / 1.8, rel=0.05) and wide > 2.0 * narrow


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"voltage": None}, "no voltage"),
        ({"f": None}, "no accelerometer"),
        ({"voltage": np.linspace(16.0, 15.0, len(T))}, "voltage changes by 6 % alone"),
        ({"motors": np.ones((len(T), 4))}, "a motor is at its end for 100 % of the time"),
    ],
)
def test_what_the_log_does_not_tell_is_refused_with_its_reason(changes, reason):
    table, n = flown(1.0, np.linspace(16.6, 14.0, len(T)))
    assert sag(replace(table, **changes), n, FIT) == ({}, {NAME: reason})


def test_manoeuvres_that_hide_it_are_refused():
    table, n = flown(1.0, np.linspace(16.6, 14.0, len(T)))
    drifts = GRAVITY * np.cumsum(np.random.default_rng(3).normal(0.0, 0.02, len(T)))[:, None]
    found, refused = sag(replace(table, f=table.f + drifts * [0.0, 0.0, 1.0]), n, FIT)
    assert not found and refused[NAME].endswith("of the voltage: manoeuvres hide it")
