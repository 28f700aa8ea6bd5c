# SPDX-License-Identifier: BSD-3-Clause
"""Disturbances, rates, drag, gusts and the air between modules, by numbers worked out by hand."""

from types import SimpleNamespace

import numpy as np
import pytest
from state_rows import plain

from iap_description.math import so3
from iap_description.vehicles.faults import LateCommands
from iap_physics.air import drag, wind
from iap_physics.air.wind import GustParameters, Wind
from iap_physics.modules.proximity import ModuleProximity
from iap_physics.plant.disturbances import Disturbance, add_disturbances
from iap_physics.plant.rates import LoopRates


def test_a_disturbance_acts_from_its_begin_to_before_its_end() -> None:
    one = Disturbance(at=1.0, until=2.0, force=(1.0, 2.0, 3.0), torque=(4.0, 5.0, 6.0))
    for t, acts in ((0.999, False), (1.0, True), (1.999, True), (2.0, False)):
        out = np.ones(6)
        add_disturbances([one, one], t, out)
        np.testing.assert_array_equal(out, 1.0 + 2.0 * acts * np.arange(1.0, 7.0))
    with pytest.raises(ValueError, match="key 'until': 1.0 is not after 'at', 1.0"):
        Disturbance(at=1.0, until=1.0, force=(0.0,) * 3, torque=(0.0,) * 3)


def test_physics_is_a_whole_multiple_of_control_and_of_the_autopilot() -> None:
    rates = LoopRates(physics_hz=1000.0, control_hz=200.0)
    assert rates.substeps == 5
    for physics, control in ((1000.0, 300.0), (200.0, 400.0)):
        with pytest.raises(ValueError, match="not a whole multiple"):
            LoopRates(physics_hz=physics, control_hz=control)
    rates.check_autopilot(SimpleNamespace(rate_hz=500.0), "a")  # type: ignore[arg-type]
    rates.check_autopilot(SimpleNamespace(rate_hz=None), "a")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="key 'a.rate_hz': 300.0 does not divide"):
        rates.check_autopilot(SimpleNamespace(rate_hz=300.0), "a")  # type: ignore[arg-type]
    for late, is_late in ((0.0024, False), (0.0026, True)):
        faults = [LateCommands(at=0.0, commands_late=late)]
        if is_late:
            rates.check_delays(faults, "f")
        else:
            with pytest.raises(
                ValueError,
                match="key 'f.0.commands_late': 0.0024 s is no control period of 0.005 s",
            ):
                rates.check_delays(faults, "f")


def test_drag_is_linear_and_quadratic_per_axis_of_the_body() -> None:
    q = tuple(so3.quaternion_exp(np.array([0.0, 0.0, np.pi / 2])).tolist())
    force = plain(drag.drag_force)(q, (0.0, 4.0, 3.0), (0.1, 0.2, 0.3), (0.01, 0.02, 0.03))
    np.testing.assert_allclose(
        force, [0.0, -(0.1 + 0.01 * 5.0) * 4.0, -(0.3 + 0.03 * 5.0) * 3.0], atol=1e-12
    )


def test_gusts_have_the_sizes_and_times_of_the_standard() -> None:
    """MIL-F-8785C at 100 ft: L_w = 100 ft, L_u = 100 / 0.2593^1.2 ft, sigma_u = sigma_w / 0.2593^0.4."""
    made = GustParameters.of(Wind(speed=5.0, direction_deg=90.0, turbulence=7.7, altitude=30.48))
    shape = 0.177 + 0.0823
    np.testing.assert_allclose(made.along, [0.0, 1.0], atol=1e-12)
    assert made[1:] == pytest.approx(
        (0.77 / shape**0.4, 0.77, 30.48 / shape**1.2 / 5.0, 30.48 / 5.0)
    )
    low = GustParameters.of(Wind(speed=5.0, turbulence=7.7, altitude=1.0))
    assert low.time_w == pytest.approx(3.048 / 5.0)  # as at ten feet
    with pytest.raises(ValueError, match="key 'turbulence'"):
        Wind(turbulence=1.0)
    np.testing.assert_allclose(
        Wind(speed=2.0, direction_deg=30.0).mean_W, [np.sqrt(3.0), 1.0, 0.0]
    )


def test_a_step_of_a_gusts_filters_keeps_their_variances() -> None:
    """P = [[1, 1/2], [1/2, 1/2]] = Phi P Phi' + Q, with Phi = exp(-s) [[1, 0], [s, 1]]."""
    for s in (0.01, 0.7):
        step = plain(wind._second_order)
        F = np.array([step(*each, 0.0, 0.0, s) for each in ((1.0, 0.0), (0.0, 1.0))]).T
        np.testing.assert_allclose(F, np.exp(-s) * np.array([[1.0, 0.0], [s, 1.0]]))
        G = np.array([step(0.0, 0.0, *each, s) for each in ((1.0, 0.0), (0.0, 1.0))]).T
        P = np.array([[1.0, 0.5], [0.5, 0.5]])
        np.testing.assert_allclose(F @ P @ F.T + G @ G.T, P, atol=1e-12)
        first = plain(wind._first_order)
        assert first(1.0, 0.0, s) ** 2 + first(0.0, 1.0, s) ** 2 == pytest.approx(1.0)


def test_air_pushes_modules_apart_and_down_most_at_its_length() -> None:
    air = ModuleProximity(SimpleNamespace(length=0.2, push=3.0, sink=2.0), [(0, 1)], [0.5])  # type: ignore[arg-type]
    for gap, share in ((0.0, 0.0), (0.2, 1.0), (0.4, 2.0 / np.e), (-0.1, 0.0)):
        x, out = np.zeros((1, 2, 13)), np.ones((1, 2, 6))
        x[0, 1, 1] = 0.5 + gap
        air.add_wrenches(np.zeros(1), x, out)
        np.testing.assert_allclose(
            out[0, :, :3] - 1.0,
            [[0, -3.0 * share, -2.0 * share], [0, 3.0 * share, -2.0 * share]],
            atol=1e-12,
        )
        np.testing.assert_array_equal(out[0, :, 3:], np.ones((2, 3)))
