# SPDX-License-Identifier: BSD-3-Clause
"""Platforms with an arm in the closed loop, which holds its arm or moves it."""

import numpy as np
import pytest
from contact_engines import NAMES
from flying import Loop, scenario_of

from iap_description.errors import BadInput, RenamedKey
from iap_io.runs.run_folder import load_run
from iap_simulation.runs.run import record
from iap_simulation.scenario.resolving import Options, resolve
from iap_simulation.simulation.simulation import Simulation

HEAVY = {f"platform.arm.links.{i}.mass": m for i, m in enumerate((0.30, 0.24, 0.20))}
SWING = "arm_hover_swing"


@pytest.mark.slow
@pytest.mark.parametrize("platform", ["f450_arm", "m100_arm"])
@pytest.mark.parametrize("engine", NAMES)
def test_a_platform_hovers_to_half_a_millimetre_while_it_holds_its_arm(engine, platform):
    duration = "reference.duration=3.0"
    loop = Loop.of(scenario_of("hover", duration, engine=engine, platform=platform))
    (flight,) = loop.fly()
    assert flight.position_rmse < 5e-4
    home = loop.scenario.vehicles[0].platform.arm.home_pose
    np.testing.assert_allclose(loop.plant.engine.arms[0].q, home, atol=2e-3)  # torques hold it


def swung(engine="pybullet", **settings):
    """RMS distance [m] of a hovering platform from its place while its arm swings, from 4 s on, and q2's travel."""
    errors, travel = [], []
    keys = {"engine.name": engine, "reference.duration": 6.0, "metrics.window": [4.0, 6.0]}
    with Simulation.of(SWING, settings={**keys, **settings}) as simulation:
        while not simulation.is_done:
            x = simulation.step()
            if simulation.t > 4.0:
                errors.append(x[0, :3] - [0.0, 0.0, 1.5])
                travel.append(simulation.plant.arm(0).q[1])
    return float(np.sqrt((np.array(errors) ** 2).sum(axis=1).mean())), float(np.ptp(travel))


@pytest.mark.slow
@pytest.mark.parametrize("engine", NAMES)
def test_an_arm_that_swings_hardly_moves_a_platform_that_feeds_it_forward(engine):
    known, travel = swung(engine)
    assert travel > 1.95 * 0.8
    assert known < 3e-3  # bar: 10 mm


@pytest.mark.slow
def test_each_part_of_what_the_controller_knows_counts():
    unknown, of_com, all_of_it = (
        swung(**{"arm.feed_forward": how})[0] for how in ("none", "com", "inertia")
    )
    assert 25e-3 > unknown > 1.5 * of_com > 3.0 * all_of_it
    heavy = swung(**HEAVY)[0]
    assert all_of_it < heavy < 5e-3  # bar: 15 mm


@pytest.mark.slow
def test_a_flight_with_an_arm_is_recorded_and_metrics_and_begins_anew_bit_for_bit(tmp_path):
    settings = {"reference.duration": 2.0, "metrics.window": None, "arm.motion.ease": 1.0}
    result = record(SWING, folder=tmp_path / "run", settings=settings)
    columns = load_run(tmp_path / "run").vehicles[0].columns
    with Simulation.of(SWING, settings=settings) as simulation:
        motors, seen = simulation.plant.arm(0), []
        for _ in range(200):
            simulation.step()
        snapshot = simulation.snapshot()

        def rest():
            out = []
            while not simulation.is_done:
                x = simulation.step()
                out.append(np.concatenate([x.ravel(), motors.q, motors.v, motors.efforts]))
            return np.array(out)

        first = rest()
        simulation.restore(snapshot)
        np.testing.assert_array_equal(rest(), first)
        simulation.reset()
        for _ in range(200):
            simulation.step()
            seen.append(motors.q.copy())
        np.testing.assert_array_equal(rest(), first)
    np.testing.assert_array_equal(columns.arm.q[1:201], seen)
    np.testing.assert_array_equal(columns.arm.efforts[201:], first[:, -3:])
    assert np.abs(columns.arm.target[:, 0, 1]).max() > 0.5
    arm = result.metrics["arm"]
    assert 0.0 < arm["base_rmse_m"] < 0.01
    assert arm["clipped_commands"] == {"q1": 0, "q2": 0, "q3": 0}


@pytest.mark.slow
def test_commands_beyond_limits_are_clipped_and_counted_and_a_program_may_move_the_arm():
    settings = {
        "reference.duration": 1.0,
        "metrics.window": None,
        "arm.motion": {"type": "external"},
    }
    with Simulation.of(SWING, settings=settings) as simulation:
        simulation.command_arm([0.2, 5.0, 0.0], torque=[0.0, 0.1, 0.0])
        while not simulation.is_done:
            simulation.step()
        motors = simulation.plant.arm(0)
        assert (motors.clipped > 0).tolist() == [False, True, False]
        np.testing.assert_allclose(motors.q[:2], [0.2, 2.9], atol=0.1)
        clipped = simulation.task.metrics(simulation.plant)["clipped_commands"]
        assert clipped["q2"] == motors.clipped[1]


@pytest.mark.slow
@pytest.mark.parametrize("engine", NAMES)
def test_the_end_effector_of_bodies_follows_the_published_path_to_two_millimetres(engine):
    """From near its beginning, whose error fades within some seconds; bar: 15 mm."""
    near = {
        "metrics.window": [8.0, 10.0],
        "reference.position": [3.4, 1.6, 2.3],
        "engine.name": engine,
    }
    with Simulation.of("arm_path_bodies", settings=near, duration=10.0) as simulation:
        simulation.fly()
        metrics = simulation.task.metrics(simulation.plant)
    assert metrics["tip_rmse_m"] < 2e-3
    assert (
        metrics["base_rmse_m"] < 5e-3
    )  # from where the guide wants the platform, not from the scenario's reference
    assert not any(metrics["clipped_commands"].values())


def test_bodies_in_place_of_an_identified_plant_keep_path_start_and_law():
    by_old = ("plant=multibody", "control.slope=[2.0, 2.0, 2.0, 2.0]", "arm.holding=false")
    with pytest.warns(RenamedKey, match="arm_path_bodies"):
        vehicle = resolve("arm_path", Options(assignments=by_old))[0].vehicles[0]
    by_new = ("arm.motion.control.slope=[2.0, 2.0, 2.0, 2.0]", "arm.holding=false")
    assert vehicle == resolve("arm_path_bodies", Options(assignments=by_new))[0].vehicles[0]
    np.testing.assert_allclose(vehicle.platform.arm.home, [np.pi / 4, np.pi / 4, 0.0])
    with pytest.raises(BadInput, match=r"control\.slop'?\b"):
        resolve("arm_path_bodies", Options(assignments=("arm.motion.control.slop=1.0",)))


def test_a_motion_without_an_arm_is_refused_by_its_key():
    with pytest.raises(BadInput, match="key 'arm.motion': platform f450 has no arm"):
        Simulation.of(SWING, platform="f450")
