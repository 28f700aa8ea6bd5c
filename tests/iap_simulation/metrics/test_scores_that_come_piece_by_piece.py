# SPDX-License-Identifier: BSD-3-Clause
"""Scores of estimates, of measured wrenches and of integrals, whole or piece by piece, by hand."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from flying import scenario_of

from iap_control.modules.exchange import JointState, ModuleRole
from iap_description.math import so3
from iap_description.signals import ForceMode
from iap_description.states import REF_P, REF_Q, P, Q
from iap_io.runs.run_meta import WrenchTrack
from iap_simulation.flights import plant_spec
from iap_simulation.metrics import contact, metrics
from iap_simulation.metrics.measured_wrench import MeasuredWrenchScores, wrenches_at
from iap_simulation.metrics.vehicle import EstimateScore
from iap_simulation.modules.coordination import coordination_spec
from iap_simulation.modules.monitor import CoordinatedModules
from iap_simulation.modules.record import error_of
from iap_simulation.vehicles.vehicle import vehicles_of

# estimates


def test_an_estimate_is_judged_by_its_errors_and_the_way_that_was_flown() -> None:
    """Errors of 3, 4 and 0 m, and of 5 m at the end of a way of 20 m; turns of 0.1 and 0.3 rad."""
    x, estimates = np.zeros((5, 13)), np.zeros((5, 13))
    x[:, Q.stop - 1] = estimates[:, Q.stop - 1] = 1.0
    x[:, 0] = [0.0, 5.0, 9.0, 10.0, 20.0]
    estimates[:, P] = x[:, P]
    estimates[0, 1], estimates[1, 2], estimates[4, 0] = 3.0, -4.0, 25.0
    for k, turn in ((1, 0.1), (4, -0.3)):
        estimates[k, Q] = so3.quaternion_exp(np.array([0.0, turn, 0.0]))
    estimates[2, 3] = np.nan  # was not estimated
    for pieces in (
        [slice(0, 5)],
        [slice(0, 1), slice(1, 3), slice(3, 5)],
        [slice(2, 3), slice(0, 5)],
    ):
        score = EstimateScore()
        for piece in pieces:
            score.add(estimates[piece], x[piece])
        found = score.metrics()
        assert found["ate_rmse_m"] == pytest.approx(np.sqrt((9 + 16 + 0 + 25) / 4))
        assert (found["ate_max_m"], found["drift_percent"]) == (5.0, pytest.approx(25.0))
        assert found["attitude_rmse_deg"] == pytest.approx(np.degrees(np.sqrt(0.1 / 4)))
    none = EstimateScore()
    none.add(estimates[2:3], x[2:3])
    assert set(none.metrics().values()) == {None} and list(none.metrics()) == list(found)
    still = EstimateScore()
    still.add(estimates[:1], x[:1])
    assert still.metrics()["drift_percent"] is None


# wrenches


def test_wrenches_between_samples_are_on_straight_lines_axis_by_axis() -> None:
    t, w = np.array([0.0, 2.0]), np.array([np.zeros(6), np.arange(2.0, 8.0)])
    np.testing.assert_allclose(wrenches_at(np.array([0.5, 2.0]), t, w), [w[1] / 4, w[1]])
    assert wrenches_at(np.zeros(0), t, w).shape == (0, 6)


def test_measured_wrenches_are_compared_once_at_their_own_times() -> None:
    """The filtered force of x is 10 t, the estimated torque of z -t; 1 N and 2 N m more were measured."""
    times = np.array([-1.0, 0.0, 0.25, 0.3, 0.65, 0.9, 1.5])
    measured = np.zeros((7, 6))
    measured[:, 0], measured[:, 5] = 10.0 * times + 1.0, -times + 2.0
    t = 0.1 * np.arange(11)
    wrenches = np.zeros((11, 4, 6))
    wrenches[:, contact.FILTERED, 0], wrenches[:, contact.ESTIMATED, 5] = 10.0 * t, -t
    estimated = np.sqrt(np.mean((10.0 * times[1:-1] + 1.0) ** 2))
    for pieces in ([slice(0, 11)], [slice(0, 3), slice(3, 4), slice(4, 7), slice(7, 11)]):
        scores = MeasuredWrenchScores(WrenchTrack(times, measured))
        for piece in pieces:
            c: Any = SimpleNamespace(t=t[piece])
            record: Any = SimpleNamespace(wrenches=wrenches[piece])
            scores.add(c, record)
        found = scores.metrics()
        np.testing.assert_allclose(found["contact_force_rmse_n"], [1.0, 0.0, 0.0], atol=1e-12)
        np.testing.assert_allclose(found["estimated_torque_rmse_nm"], [0.0, 0.0, 2.0], atol=1e-12)
        np.testing.assert_allclose(found["estimated_force_rmse_n"], [estimated, 0.0, 0.0])
        assert len(found) == 4


def test_integrals_that_grow_against_each_other_are_in_balance() -> None:
    """Over the last 2 s: pose +4 and wrench -3 N in x, +1 and +1 in y, nothing in z, and wrench alone about z."""
    t, shares = np.arange(6.0), np.zeros((6, 2, 6))
    shares[3, 0, :3], shares[3, 1, :3] = [1.0, 2.0, 3.0], [5.0, 6.0, 7.0]
    shares[5] = shares[3]
    shares[5, 0, :2] += [4.0, 1.0]
    shares[5, 1, :2] += [-3.0, 1.0]
    shares[5, 1, 5] += 0.5
    record: Any = SimpleNamespace(integrals=shares, mode=np.full(6, ForceMode.PAPER))
    found = contact._integrals(t, record, 2.0)
    np.testing.assert_allclose(found["pose_integral"], [5.0, 3.0, 3.0, 0.0, 0.0, 0.0])
    np.testing.assert_allclose(found["wrench_integral"], [2.0, 7.0, 7.0, 0.0, 0.0, 0.5])
    np.testing.assert_allclose(found["integral_imbalance"], [0.25, 2.0, *[np.nan] * 3, 1.0])
    record.mode = np.array([ForceMode.PAPER] * 5 + [0])
    assert np.isnan(contact._integrals(t, record, 2.0)["integral_imbalance"]).all()


def test_a_growth_of_a_ten_thousandth_a_second_is_none() -> None:
    for growth, grows in ((1.9e-4, False), (2.1e-4, True)):
        shares = np.zeros((3, 2, 6))
        shares[2, 0, 0] = growth
        record: Any = SimpleNamespace(integrals=shares, mode=np.full(3, ForceMode.PAPER))
        found = contact._integrals(np.arange(3.0), record, 2.0)["integral_imbalance"]
        assert np.isfinite(found[0]) == grows


def test_a_fault_that_nobody_can_know_of_is_not_known() -> None:
    class Late:
        at = 2.0

        def __str__(self) -> str:
            return "commands late"

    vehicle: Any = SimpleNamespace(name="a", faults=(Late(),), losses=())
    (entry,) = metrics.struck([vehicle], 2.0)
    assert entry == {"t_s": 2.0, "vehicle": "a", "fault": "commands late", "known": False}


# plants and modules


def test_a_plant_has_what_its_vehicle_s_keys_say() -> None:
    scenario = scenario_of("hover")
    (spec,), (vehicle,) = scenario.vehicles, vehicles_of(scenario)
    made = plant_spec._vehicle(scenario, spec, vehicle)
    assert not made.flies_on_estimate and not made.joints_in_step
    assert (made.state_noise, made.wrench_filter, made.lost_after, made.push_hold) == (None,) * 4
    source = spec.control.model_copy(update={"state_source": "vio"})
    other = spec.model_copy(update={"control": source})
    assert plant_spec._vehicle(scenario, other, vehicle).flies_on_estimate
    noise = spec.state_noise.model_copy(update={"position": 0.01})
    other = spec.model_copy(update={"state_noise": noise})
    assert plant_spec._vehicle(scenario, other, vehicle).state_noise == noise


def test_a_coordinator_counts_by_the_steps_of_physics_and_modules_by_their_own_weights() -> None:
    scenario = scenario_of("module_docking", engine="mujoco")
    spec = coordination_spec(scenario)
    assert spec.time_step == 1.0 / scenario.rates.physics_hz
    assert spec.control_hz == scenario.rates.control_hz
    vehicles = vehicles_of(scenario)
    assert [each.name for each in spec.vehicles] == [each.name for each in vehicles]
    for each, vehicle in zip(spec.vehicles, vehicles, strict=True):
        assert each.weight == pytest.approx(vehicle.model.inertia.mass * scenario.world.gravity)
        np.testing.assert_allclose(each.start, vehicle.start[0])
        np.testing.assert_allclose(np.sum(each.rotors, axis=0), 0.0, atol=1e-12)
        assert len(each.rotors) == 4


def test_a_module_s_error_is_that_of_its_estimate_without_noise() -> None:
    x, row = np.zeros(13), np.zeros(20)
    x[P], x[Q] = [1.0, 2.0, 3.0], so3.quaternion_exp(np.array([0.0, 0.0, 0.5]))
    row[REF_P], row[REF_Q] = [0.5, 2.5, 3.0], so3.quaternion_exp(np.array([0.0, 0.0, 0.2]))
    found = error_of(x, np.array([0.1, 0.2, 0.3]), row)
    np.testing.assert_allclose(found, [0.6, -0.3, 0.3, 0.0, 0.0, 0.3])


def test_modules_are_seen_once_the_coordinator_has_been_at_work() -> None:
    states = {
        name: SimpleNamespace(state=state)
        for name, state in zip("jk", (JointState.JOINED, JointState.APART), strict=True)
    }
    roles, forward = list(ModuleRole)[:2], np.full((2, 6), 3.0)
    rows = np.zeros((2, 20))
    rows[:, REF_Q.stop - 1], rows[1, 0] = 1.0, 2.0
    modules: Any = SimpleNamespace(
        coordinator=SimpleNamespace(machines=states, roles=roles, feed_forward=SimpleNamespace(wrenches_P=forward)),
        joints=SimpleNamespace(wrenches_S=lambda: {"j": np.arange(6.0)}),
        rows=rows, external_P=np.ones((2, 6)), is_due=False,
    )  # fmt: skip
    x = np.zeros((2, 1, 2, 13))
    x[..., 6], x[1, 0, 0, 0], x[:, 0, 1, :3] = 1.0, 5.0, 77.0
    plant: Any = SimpleNamespace(t=0.7, state=lambda i: x[i])
    vehicles: Any = [SimpleNamespace(position_bias=np.full(3, each)) for each in (0.0, 0.5)]
    seen = CoordinatedModules(modules, vehicles)
    assert seen.instant(plant) is None
    modules.is_due = True
    instant = seen.instant(plant)
    assert instant is not None and instant.t == 0.7 and instant.roles == roles
    assert instant.states == [JointState.JOINED, JointState.APART]
    np.testing.assert_array_equal(instant.joint_wrenches, [np.arange(6.0), np.zeros(6)])
    np.testing.assert_allclose(instant.errors, [np.zeros(6), [3.5, 0.5, 0.5, 0.0, 0.0, 0.0]])
    assert instant.feed_forward is forward and (instant.external == 1.0).all()


def test_held_errors_are_the_largest_of_free_axes_and_the_tip_s_across_the_force() -> None:
    scores = contact._SteadyScores(0.5, SimpleNamespace())
    assert set(scores.held_errors().values()) == {None}
    scores._held.add(np.array([[0.4, 0.2, 0.3, 5.0, 6.0, 7.0]]))
    scores._axes = np.array([1, 0, 0, 0, 0, 1], np.uint8)
    found = scores.held_errors()
    assert (found["held_position_rmse_m"], found["held_attitude_rmse_deg"]) == (0.3, 6.0)
    assert found["tip_path_rmse_m"] is None
    scores._tip.add(np.array([[12.0, 3.0, 4.0]]))
    assert scores.held_errors()["tip_path_rmse_m"] == pytest.approx(5.0)


def test_a_plant_is_of_the_vehicles_that_there_are(monkeypatch) -> None:
    scenario = scenario_of("hover")
    made, asked = vehicles_of(scenario), []

    def make(of: Any) -> Any:
        asked.append(of)
        return made

    monkeypatch.setattr(plant_spec, "vehicles_of", make)
    first = plant_spec.plant_spec(scenario, made)
    assert not asked
    assert plant_spec.plant_spec(scenario) == first and asked == [scenario]
    assert (first.seed, first.engine) == (scenario.seed, scenario.engine.name)
