# SPDX-License-Identifier: BSD-3-Clause
"""Free flight of the study: how platforms tumble, and what they conserve."""

import numpy as np
import pytest

from iap_bringup.experiments import (
    convergence,
)
from iap_bringup.experiments.convergence import fly, invariants, tumbling
from iap_description.math import so3
from iap_description.states import P, Q, V, W
from iap_description.vehicles.assembly import Assembly
from iap_description.vehicles.platform import load_platform
from iap_physics.engines.closed_form import ClosedFormEngine


def quiet(_):
    """Tell nobody."""


def test_every_body_tumbles_about_its_own_axis():
    assembly = Assembly.of(load_platform("three_star"))
    x = tumbling(assembly)
    assert (np.linalg.norm(x[:, W], axis=1) > 3.0).all()
    turns = so3.rotate(so3.conjugate(x[1:, Q]), x[1:, W])
    assert len({tuple(turn.round(2)) for turn in turns}) == 3
    assert len({tuple(row[Q].round(3)) for row in x}) == 4
    assert x[0, P] == pytest.approx([0.0, 0.0, 50.0]) and x[0, V] == pytest.approx(
        [1.0, -0.5, 2.0]
    )


def test_energy_and_momenta_are_those_of_a_turning_and_flying_platform():
    """All bodies turn as one about the CoM, which moves at 2 m/s."""
    assembly = Assembly.of(load_platform("three_star"))
    x, w, v = tumbling(assembly), np.array([0.0, 0.0, 3.0]), np.array([0.0, 2.0, 0.0])
    masses = np.array([body.mass for body in assembly.bodies])
    middle = masses @ x[:, P] / masses.sum()
    x[:, Q], x[:, W] = [0.0, 0.0, 0.0, 1.0], w
    x[:, V] = v + np.cross(w, x[:, P] - middle)
    found = invariants(assembly, x, gravity=9.81)
    about = sum(
        body.inertia[2, 2] + body.mass * ((row[P] - middle)[:2] ** 2).sum()
        for body, row in zip(assembly.bodies, x, strict=True)
    )
    assert found.linear == pytest.approx(masses.sum() * v)
    assert found.angular[2] == pytest.approx(3.0 * about)
    assert found.kinetic == pytest.approx(0.5 * masses.sum() * 4.0 + 0.5 * about * 9.0)
    assert found.potential == pytest.approx(9.81 * masses.sum() * middle[2])


def test_free_flight_converges_by_its_order_and_conserves_what_must_be(monkeypatch):
    monkeypatch.setattr(convergence, "RATES", (100, 200))
    monkeypatch.setattr(convergence, "DURATION", 0.4)
    monkeypatch.setattr(convergence, "is_installed", lambda name: False)
    first, second = convergence.free_flight_convergence()
    assert (first.engine, first.rate_hz, second.rate_hz) == ("closed_form", 100, 200)
    assert first.order is None and second.order == pytest.approx(2.0, abs=0.4)
    assert 0.0 < second.position_error_m < first.position_error_m < 1e-2
    for row in (first, second):
        assert row.linear_momentum_drift < 1e-9 and row.energy_drift < 1e-2
        assert row.angular_momentum_drift < 1e-2


def test_a_platform_without_loads_and_weight_flies_straight(monkeypatch):
    monkeypatch.setattr(convergence, "DURATION", 0.2)
    assembly, engine = Assembly.of(load_platform("three_star")), ClosedFormEngine()
    masses = np.array([body.mass for body in assembly.bodies])
    ways = {}
    for loaded in (False, True):
        x = fly(engine, assembly, 100, loaded=loaded)
        assert x.shape == (21, 4, 13)
        middle = np.einsum("b,kbi->ki", masses, x[..., P]) / masses.sum()
        speed = np.einsum("b,bi->i", masses, x[0, :, V]) / masses.sum()
        ways[loaded] = middle - middle[0] - np.linspace(0.0, 0.2, 21)[:, None] * speed
    assert np.abs(ways[False]).max() < 1e-6
    assert -0.5 * 9.81 * 0.04 * 0.95 < ways[True][-1, 2] < -0.5 * 9.81 * 0.04 * 0.4


def test_loads_are_of_the_size_of_the_weight_and_on_all_bodies():
    assembly = Assembly.of(load_platform("three_star"))
    loads, none = convergence.Loads.on(assembly), convergence.Loads.none(assembly)
    share = assembly.mass * 9.81 / 3
    assert loads.mean[1:, 2] == pytest.approx(0.3 * share) and loads.amplitude[
        1:, 2
    ] == pytest.approx(0.15 * share)
    assert not loads.mean[0].any() and not any(each.any() for each in none)
    own = [np.diag(body.inertia) for body in assembly.bodies]
    np.testing.assert_allclose(loads.amplitude[1:, 3:], own[1:])
    np.testing.assert_allclose(loads.amplitude[0, 3:], 4.0 * own[0])
    assert loads.rate[1:, 2] == pytest.approx(4.0) and loads.rate[:, 3:] == pytest.approx(5.0)
    assert loads.phase[2, 3] == 7.0


def test_a_drift_is_the_largest_change_relative_to_the_start():
    v = np.array([[3.0, 4.0, 0.0], [3.0, 4.0, 1.0], [3.0, 4.0, 0.5]])
    assert convergence._drift(v) == pytest.approx(0.2)
