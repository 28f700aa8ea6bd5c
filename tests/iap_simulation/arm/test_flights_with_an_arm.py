# SPDX-License-Identifier: BSD-3-Clause
"""Flights of a platform with an arm: held, swung, picking, writing, and flown by hand."""

import numpy as np
import pytest
from contact_engines import NAMES
from flying import Loop, scenario_of

from iap_description.errors import BadInput, RenamedKey
from iap_description.math import so3
from iap_description.states import P, Q
from iap_description.vehicles.serial_chain import tip_pose
from iap_io.runs.run_folder import load_run
from iap_simulation.runs.run import record
from iap_simulation.scenario.resolving import Options, resolve
from iap_simulation.simulation.simulation import Simulation

HEAVY = {f"platform.arm.links.{i}.mass": m for i, m in enumerate((0.30, 0.24, 0.20))}
SWING = "arm_hover_swing"
DEMANDS = [
    {"t": 0.2, "velocity": [0.4, 0.0, 0.0], "turn_deg": 0.0},
    {"t": 1.2, "velocity": [0.0, 0.0, 0.0], "turn_deg": 0.0},
    {"t": 2.0, "velocity": [0.0, 0.3, -0.2], "turn_deg": 0.0},
    {"t": 3.0, "velocity": [0.0, 0.0, 0.0], "turn_deg": 0.0},
]
MOVED = np.array([0.4, 0.3, -0.2])  # speed times time: ramps up and down are alike
STILL = {"by": [0.0, 0.0, 0.0], "turn_deg": [0.0, 0.0, 0.0]}
STROKE = {"seconds": 2.0, "by": [0.0, 0.1, 0.0], "turn_deg": [0.0, 0.0, 0.0]}
SHORT = {  # from 15 mm before the wall
    "reference.position": [-2.22, 0.0, 2.3],
    "reference.moves": [{"seconds": 2.5, **STILL}, STROKE],
    "start.lead_in": 0.0,
    "push.at": 0.2,
    "push.ramp": 0.2,
    "metrics.after_contact": 1.5,
}


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


@pytest.mark.slow
@pytest.mark.parametrize("engine", NAMES[:1])
def test_a_box_is_taken_carried_and_set_down(engine):
    with Simulation.of("arm_pick", settings={"engine.name": engine}, seed=4) as simulation:
        simulation.fly()
        metrics = simulation.task.metrics(simulation.plant)
    assert metrics["picked"] and metrics["place_error_m"] < 0.02
    assert metrics["base_rmse_m"] < 0.03 and metrics["base_max_m"] < 0.06


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"gripper.object": "table"}, "no object 'table' of the world that moves freely"),
        ({"gripper.open": 3.0}, "key 'open': must be later than 'close'"),
        ({"engine.name": "closed_form"}, "engine 'closed_form': cannot build arms"),
    ],
)
def test_what_a_gripper_cannot_do_is_refused(settings, said):
    with pytest.raises(BadInput, match=said):
        Simulation.of("arm_pick", settings=settings)


@pytest.mark.slow
def test_the_end_effector_arrives_where_the_stick_took_it() -> None:
    settings = {"arm.motion.demands": DEMANDS, "reference.duration": 5.5, "metrics.window": None}
    with Simulation.of("arm_teleop", settings=settings) as simulation:
        motors, control = simulation.plant.arm(0), simulation.loop.vehicles[0].arm
        assert motors is not None
        assert control is not None
        chain, tips, joints, errors = motors.arm.chain, [], [], []
        while not simulation.is_done:
            x = simulation.step()[0]
            tips.append(tip_pose(chain, x[P], so3.matrix_from_quaternion(x[Q]), motors.q)[0])
            joints.append(motors.q.copy())
            errors.append(tips[-1] - control.tip_reference(simulation.t))
    np.testing.assert_allclose(tips[-1] - tips[0], MOVED, atol=5e-3)
    assert np.linalg.norm(errors, axis=1).max() < 0.08
    low, high = motors.arm.record.limits
    middle = np.abs(np.array(joints) - 0.5 * (low + high))[:, 1]
    assert middle[-1] < 0.5 * middle[0]  # the elbow leaves its stop meanwhile
    assert (motors.clipped + control.clipped == 0).all()


@pytest.mark.slow
def test_the_tip_of_an_arm_holds_its_force_and_its_path_on_a_wall(tmp_path):
    """Bars: 0.2 N, 3 mm."""
    metrics = record("arm_write_tip", folder=tmp_path / "run", settings=SHORT).metrics
    assert metrics["contact_losses"] == 0 and metrics["outcome"] == "completed"
    assert metrics["force_rmse_n"][0] < 0.2
    assert 0.0 < metrics["tip_path_rmse_m"] < 3e-3


def test_errors_of_a_led_platform_are_from_where_it_should_be_at_that_instant():
    """Its reference moves on with every control instant: at 0.3 m/s by 1.5 mm."""
    keys = {"metrics.window": [1.0, 2.0], "reference.duration": 2.5}
    with Simulation.of("arm_teleop", settings=keys) as simulation:
        (vehicle,) = simulation.loop.vehicles
        places, references, last = [], [], None
        while simulation.t < 2.0 - 1e-9:
            simulation.step()
            if last is not None and 1.0 <= last[0] <= 2.0:
                places.append(last[1])
                references.append(vehicle.arm.led[:3].copy())
            last = (simulation.t, simulation.state_of("iap")[0, :3].copy())
        found = simulation.task.metrics(simulation.plant)
    off = np.linalg.norm(np.array(places) - references, axis=1)
    assert np.linalg.norm(references[-1] - references[0]) > 0.1
    assert found["base_rmse_m"] == pytest.approx(np.sqrt(np.mean(off**2)), rel=2e-2)
