# SPDX-License-Identifier: BSD-3-Clause
"""What seeds draw, how flights on lost estimates end, and figures of arms, wrenches and fits, worked out by hand."""

import math
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from flying import scenario_of

from iap_control.controllers.estimate_failsafe import Failsafe, reason_of
from iap_description.errors import BadInput, FlightFailed
from iap_description.math import so3
from iap_description.signals import EstimateHealth
from iap_description.states import REF_P, REF_Q
from iap_description.world.world import World
from iap_simulation.arm.path_monitor import errors as path_errors
from iap_simulation.arm.stability import sampled
from iap_simulation.batch.starts import give_seeds, seed_array
from iap_simulation.docking.monitor import DockingMonitor
from iap_simulation.docking.outcome import START
from iap_simulation.identification.rotorcraft.estimate import (
    BLOCK,
    block_scatter,
    estimate,
    regression,
)
from iap_simulation.identification.rotorcraft.rotorcraft import drag
from iap_simulation.identification.rotorcraft.thrust import _line_regressors
from iap_simulation.loop.estimate_monitor import (
    LOOK_EVERY,
    EstimateGuidance,
    EstimateMonitor,
    TouchSpeed,
)
from iap_simulation.metrics.measured_wrench import MeasuredWrenchScores, wrenches_at
from iap_simulation.scenario import randomization
from iap_simulation.scenario.scenario import Scenario
from iap_simulation.tasks.outcomes import ARRIVED, NOT_CALM, TOO_FORCEFUL

# draws: every number is 0.5, wherever it comes from


@pytest.fixture
def halves(monkeypatch: pytest.MonkeyPatch) -> dict[str, int]:
    """Streams of dice that all show 0.5, with how many of each were asked for."""
    asked: dict[str, int] = {}

    def uniform(seed: Any, name: str, count: int) -> np.ndarray:
        asked[name] = count
        return np.full(count, 0.5)

    def uniforms(seeds: Any, name: str, count: int) -> np.ndarray:
        asked[name] = count
        return np.full((len(seeds), count), 0.5)

    monkeypatch.setattr(randomization, "uniform", uniform)
    monkeypatch.setattr(randomization, "uniforms", uniforms)
    return asked


NOTHING = {
    "position": (0.0, 0.0, 0.0), "attitude_deg": 0.0, "mass": 0.0, "inertia": 0.0, "com": 0.0, "drag": 0.0,
    "thrust": 0.0,
    "rotor_lag": 0.0, "delay": 0.0, "force": 0.0, "torque": 0.0, "wind_speed": 0.0, "wind_direction_deg": 0.0,
    "friction": 0.0, "joints_deg": 0.0,
}  # fmt: skip
ERROR = {
    "mass": 1.1, "inertia": 0.9, "com": (0.01, 0.0, -0.02), "drag": 2.0, "thrust": 1.0, "rotor_lag": 1.5, "delay": 0.01,
    "force": (1.0, 2.0, 3.0), "torque": (0.1, 0.0, 0.0),
}  # fmt: skip


def drawing(**draw: Any) -> Any:
    return SimpleNamespace(seed=7, draw=SimpleNamespace(**{**NOTHING, **draw}))


def vehicle(**keys: Any) -> Any:
    values = {
        "name": "iap", "start": SimpleNamespace(fixed=False), "model_error": SimpleNamespace(**ERROR),
        "platform": SimpleNamespace(count=3),
    }  # fmt: skip
    return SimpleNamespace(**{**values, **keys})


def test_a_start_is_displaced_per_axis_and_turned_in_the_body(halves: dict) -> None:
    row = np.zeros(22)
    row[REF_P], row[REF_Q] = [1.0, 2.0, 3.0], so3.quaternion_exp(np.array([0.0, 0.0, 1.0]))
    scenario = drawing(position=(0.2, 0.4, 0.0), attitude_deg=(10.0, 0.0, 20.0))
    out = randomization.drawn_start(row, scenario, vehicle())
    np.testing.assert_allclose(out[REF_P], [1.1, 2.2, 3.0])
    turn = so3.quaternion_exp(np.radians([5.0, 0.0, 10.0]))
    np.testing.assert_allclose(out[REF_Q], so3.multiply(row[REF_Q], turn))
    held = randomization.drawn_start(row, scenario, vehicle(start=SimpleNamespace(fixed=True)))
    np.testing.assert_allclose(held[REF_P], row[REF_P])
    np.testing.assert_allclose(held[REF_Q], out[REF_Q])
    assert halves == {"iap/start": 6}


def test_without_draws_a_vehicle_deviates_by_its_model_error_alone(halves: dict) -> None:
    made = randomization.drawn_deviation(drawing(), vehicle())
    assert (made.mass, made.inertia, made.com, made.drag) == (1.1, 0.9, (0.01, 0.0, -0.02), 2.0)
    assert (made.thrust, made.rotor_lag, made.delay) == ((), (1.5, 1.5, 1.5), 0.01)
    assert (made.force, made.torque) == ((1.0, 2.0, 3.0), (0.1, 0.0, 0.0))
    assert not halves  # nothing is drawn


def test_draws_are_factors_on_sizes_and_offsets_on_vectors_and_delays(halves: dict) -> None:
    wide = {
        "mass": 0.2,
        "inertia": 0.4,
        "com": 0.02,
        "drag": 0.1,
        "thrust": 0.1,
        "rotor_lag": 0.2,
        "delay": 0.03,
        "force": 2.0,
        "torque": 0.2,
    }
    made = randomization.drawn_deviation(drawing(**wide), vehicle())
    assert (made.mass, made.inertia, made.drag) == pytest.approx(
        (1.1 * 1.1, 0.9 * 1.2, 2.0 * 1.05)
    )
    assert made.com == pytest.approx((0.02, 0.01, -0.01)) and made.thrust == pytest.approx(
        (1.05,) * 3
    )
    assert made.rotor_lag == pytest.approx((1.65,) * 3) and made.delay == pytest.approx(0.025)
    assert made.force == pytest.approx((2.0, 3.0, 4.0)) and made.torque == pytest.approx(
        (0.2, 0.1, 0.1)
    )
    assert halves == {
        **{f"iap/{name}": 1 for name in ("mass", "inertia", "drag", "delay")},
        **{f"iap/{name}": 3 for name in ("com", "thrust", "rotor_lag", "force", "torque")},
    }
    coms = randomization.drawn_coms(np.array([1, 2]), drawing(com=0.02), vehicle())
    np.testing.assert_allclose(coms, [[0.02, 0.01, -0.01]] * 2)
    np.testing.assert_allclose(
        randomization.drawn_coms(np.array([1]), drawing(), vehicle()), [ERROR["com"]]
    )


def test_wind_friction_and_seeds_of_obstacles_are_drawn(halves: dict) -> None:
    from iap_physics.air.wind import Wind

    scenario = drawing(wind_speed=0.4, wind_direction_deg=30.0, friction=0.2)
    scenario.wind = Wind(speed=5.0, direction_deg=10.0)
    drawn = randomization.drawn_wind(scenario)
    assert (drawn.speed, drawn.direction_deg) == pytest.approx((6.0, 25.0))
    assert randomization.friction_factor(scenario) == pytest.approx(1.1)
    assert randomization._obstacle_seed(7, "trees") == round(1.5 * 2**30)
    still = drawing()
    still.wind = scenario.wind
    assert (
        randomization.drawn_wind(still) is scenario.wind
        and randomization.friction_factor(still) == 1.0
    )
    assert {"wind", "friction", "obstacles/trees"} <= set(halves)


def test_sensors_see_a_displaced_object_where_it_is_touched() -> None:
    drawn = scenario_of("wall_push", "draw.object_position=[0.05, 0.0, 0.0]", engine="mujoco")
    seen, touched = (
        np.array(world(drawn).objects["wall"].position)
        for world in (randomization.placed_world, randomization.drawn_world)
    )
    shift = seen - drawn.world.objects["wall"].position
    np.testing.assert_array_equal(seen, touched)
    assert 0.0 < abs(shift[0]) <= 0.05 and not shift[1:].any()
    still = scenario_of("wall_push", engine="mujoco")
    assert randomization.placed_world(still) is still.world


def test_an_object_is_turned_about_the_angles_that_are_drawn_alone() -> None:
    drawn = scenario_of("wall_push", "draw.object_rpy_deg=[0.0, 0.0, 8.0]", engine="mujoco")
    wall = randomization.drawn_world(drawn).objects["wall"]
    there = drawn.world.objects["wall"]
    turn = np.subtract(wall.rpy_deg, there.rpy_deg)
    assert 0.0 < abs(turn[2]) <= 8.0 and not turn[:2].any()
    assert wall.position == there.position


def test_a_lever_stays_where_it_is_on_the_door_that_a_seed_moves() -> None:
    surface = {"friction": 0.5, "restitution": 0.0}
    common = {"type": "box", "surface": surface, "mass": 1.0}
    limits, bolt = {"limits_deg": [0.0, 40.0]}, {"stiffness": 1e4, "strength": 50.0}
    latch = {"lever": "lever", "release_deg": 20.0, **bolt}
    door = {**common, "position": [1.0, 2.0, 1.5], "size": [0.04, 0.8, 2.0]}
    lever = {**common, "position": [1.1, 2.3, 1.4], "rpy_deg": [30.0, 0, 0], "size": [0.02] * 3}
    objects = {
        "lever": {**lever, "hinge": {**limits, "carrier": "door"}},
        "door": {**door, "hinge": {**limits, "latch": latch}},
    }
    draws = {"object_position": [0.1, 0.2, 0.3], "object_rpy_deg": [5.0, 0.0, 9.0]}
    scenario = scenario_of("hover", engine="mujoco")
    there = World.model_validate({"objects": objects})
    draw = scenario.draw.model_copy(update={**draws, "hinge_release": 0.5})
    drawn = randomization.drawn_world(scenario.model_copy(update={"world": there, "draw": draw}))

    def on_door(world: World) -> tuple[Any, Any]:
        door, lever = world.objects["door"], world.objects["lever"]
        back = so3.conjugate(door.q_WO)
        way = so3.rotate(back, np.subtract(lever.position, door.position))
        return way, so3.matrix_from_quaternion(so3.multiply(back, lever.q_WO))

    for here, before in zip(on_door(drawn), on_door(there), strict=True):
        np.testing.assert_allclose(here, before, atol=1e-12)
    assert drawn.objects["door"].position != there.objects["door"].position
    hinge = drawn.objects["door"].hinge
    assert hinge is not None and hinge.latch is not None
    assert 10.0 <= hinge.latch.release_deg <= 30.0 and hinge.latch.release_deg != 20.0


def test_loose_objects_alone_lie_where_each_seed_draws_them() -> None:
    scenario = scenario_of("arm_pick", "draw.loose_position=[0.1, 0.2, 0.0]", engine="mujoco")
    there = scenario.world.objects
    places = [
        randomization.placed_world(scenario.model_copy(update={"seed": seed})).objects
        for seed in range(20)
    ]
    assert all(each["table"] is there["table"] for each in places)
    shifts = [np.subtract(each["box"].position, there["box"].position) for each in places]
    assert (np.abs(shifts) <= [0.1, 0.2, 0.0]).all()
    assert (np.ptp(shifts, axis=0)[:2] > [0.1, 0.2]).all()


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_a_release_that_may_be_drawn_beyond_what_the_lever_reaches_is_refused(sign: float) -> None:
    common = {"type": "box", "size": [0.02] * 3, "surface": {"friction": 0.5, "restitution": 0.0}}
    latch = {"lever": "lever", "release_deg": 30.0 * sign, "stiffness": 1e4, "strength": 50.0}
    hinge = {"limits_deg": [-40.0, 40.0]}
    objects = {
        "lever": {**common, "mass": 1.0, "position": [1.0, 0.0, 1.0], "hinge": hinge},
        "door": {**common, "mass": 1.0, "position": [2.0, 0.0, 1.0]},
    }
    objects["door"]["hinge"] = {**hinge, "latch": latch}
    tree = scenario_of("hover", engine="mujoco").model_dump(mode="json")
    tree["world"]["objects"] = objects
    tree["draw"]["hinge_release"] = 0.3  # up to 39 deg
    assert Scenario.model_validate(tree).draw.hinge_release == 0.3
    tree["draw"]["hinge_release"] = 0.35  # 40.5 deg
    with pytest.raises(ValueError, match=r"'draw.hinge_release': 0.35 draws .* up to -?40.5"):
        Scenario.model_validate(tree)


def test_a_joint_that_may_be_drawn_beyond_its_limits_is_refused() -> None:
    arm: Any = SimpleNamespace(
        joints=[SimpleNamespace(name="elbow")],
        home_pose=np.radians([80.0]),
        limits=np.radians([[-90.0], [90.0]]),
    )
    randomization._check_joints(arm, 9.9)
    with pytest.raises(BadInput, match=r"elbow at 90.1 deg is beyond its limits, -90.0 to 90.0"):
        randomization._check_joints(arm, 10.1)


def test_seeds_are_numbers_of_63_bits() -> None:
    assert seed_array([0, 2**63 - 1]).tolist() == [0, 2**63 - 1]
    for wrong in (-1, 2**63):
        with pytest.raises(BadInput, match=f"seed {wrong}: from 0 to {2**63 - 1}"):
            seed_array([3, wrong])
    seeds = np.arange(4)
    give_seeds(seeds, np.array([3, 1]), [8, 9])
    assert seeds.tolist() == [0, 9, 2, 8]
    with pytest.raises(BadInput, match="2 seeds are expected, got 1"):
        give_seeds(seeds, np.array([3, 1]), [8])


# lost estimates

LIMITS = Failsafe(blind=2.0, deviation=1.0, silence=0.5, action="land", descent=0.4)


@pytest.mark.parametrize(
    ("health", "reason"),
    [
        (EstimateHealth(9, 2.0, 1.0, 0.5, 0), ""), (EstimateHealth(9, 2.1, 9.0, 9.0, 0), "nothing seen for 2.1 s"),
        (EstimateHealth(9, 2.0, 1.01, 9.0, 0), "uncertain by 1.01 m"),
        (EstimateHealth(9, 2.0, 1.0, 0.6, 0), "no update for 0.6 s"),
        (EstimateHealth(0, 0.0, math.nan, 0.0, 9), ""),
    ],
)  # fmt: skip
def test_an_estimate_is_lost_beyond_a_limit_by_the_first_reason(
    health: EstimateHealth, reason: str
) -> None:
    assert reason_of(health, LIMITS) == reason


def row(place: Any = (0.0, 0.0, 0.0), v: Any = 0.0) -> np.ndarray:
    x = np.zeros((1, 13))
    x[0, :3], x[0, 6], x[0, 7:10] = place, 1.0, v
    return x


def test_the_highest_speed_of_late_judges_a_touch() -> None:
    for speed, outcome in ((0.99, "lost"), (1.01, "crashed")):
        touch = TouchSpeed()
        assert touch.speed == 0.0
        touch.note(row(v=[9.0, 0.0, 0.0])[0])
        for k in range(20):
            touch.note(row(v=[0.0, 0.0, speed if k == 3 else 0.1])[0])
        assert touch.speed == pytest.approx(speed) and touch.outcome == outcome


class Navigator:
    """An estimator whose health is set."""

    def __init__(self) -> None:
        self.looks: list[float] = []
        self.blind = 0.0

    def health(self, t: float) -> EstimateHealth:
        self.looks.append(t)
        return EstimateHealth(9, self.blind, 0.1, 0.0, 0)


def test_an_estimators_health_is_looked_at_every_twenty_steps_and_a_loss_ends_the_flight() -> None:
    navigator = Navigator()
    monitor = EstimateMonitor("iap", navigator, LIMITS)  # type: ignore[arg-type]
    nominal: Any = SimpleNamespace(row=np.zeros(22))
    for k in range(41):
        navigator.blind = 3.0 if k >= 30 else 0.0
        reference = monitor.reference(
            0.01 * k, row(), row([0.1 * k, 0.0, 2.0], v=[0.3, 0.0, 0.0]), nominal
        )
        assert (reference is nominal) == (k < 40)
    assert navigator.looks == pytest.approx([0.0, 0.2, 0.4]) and LOOK_EVERY == 20
    assert (
        monitor.events == [(pytest.approx(0.4), "estimate lost, nothing seen for 3.0 s")]
        and monitor.is_landing
    )
    with pytest.raises(
        FlightFailed, match="iap: estimate lost at 0.40 s, nothing seen for 3.0 s"
    ) as failed:
        monitor.end(9.0)
    assert (failed.value.outcome, failed.value.t) == ("lost", 9.0)
    with pytest.raises(FlightFailed, match=r"came down at 0.30 m/s, 0.50 m from there") as failed:
        monitor.touch(5.0, row([4.3, -0.4, 0.0]))
    assert failed.value.outcome == "lost"
    sound = EstimateMonitor("iap", Navigator(), LIMITS)  # type: ignore[arg-type]
    sound.end(9.0)
    assert sound.events == [] and not sound.is_landing


def test_estimates_are_passed_on_and_guided_where_they_are_watched() -> None:
    passed: dict[int, Any] = {}
    plant: Any = SimpleNamespace(
        t=1.5, state=lambda i: row([float(i), 0.0, 0.0])[None], set_estimate=passed.__setitem__
    )
    estimators = {
        i: SimpleNamespace(state=lambda t, i=i: row([10.0 * t + i, 0.0, 0.0])) for i in (0, 1)
    }
    calls: list[Any] = []

    def reference(t: float, estimate: Any, true: Any, nominal: Any) -> str:
        calls.append((t, estimate[0, 0], true[0, 0], nominal))
        return "guided"

    vehicles: Any = [SimpleNamespace(estimate=None) for _ in range(3)]
    ended: list[float] = []
    touched: list[Any] = []
    watched: Any = SimpleNamespace(
        reference=reference,
        is_landing=True,
        end=ended.append,
        touch=lambda t, x: touched.append((t, x[0, 0])),
    )
    flight: Any = SimpleNamespace(landing=None, landed={1}, check_flight=lambda plant: None)
    guidance = EstimateGuidance(vehicles, estimators, {1: watched}, flight)  # type: ignore[arg-type]
    references: Any = ["a", "b", "c"]
    guidance.refer(0, plant, references)
    assert references == ["a", "guided", "c"] and calls == [(1.5, 16.0, 1.0, "b")]
    assert [passed[i][0, 0] for i in (0, 1)] == [15.0, 16.0] and 2 not in passed
    assert vehicles[0].estimate is passed[0] and vehicles[2].estimate is None
    guidance.check_flight(plant)
    guidance.end_flight(7.0)
    assert (flight.landing, touched, ended) == ({1}, [(1.5, 1.0)], [7.0])


# dockings


@pytest.mark.parametrize(
    ("outcome", "progress", "words"),
    [
        (ARRIVED, {}, None), (TOO_FORCEFUL, {"force_peak": 61.0}, "a force of 61 N is more than the 30 N"),
        (NOT_CALM, {"force_peak": 30.0}, "latch 'l' was not locked within 10 s"),
        (NOT_CALM, {"lock": 3.0}, "not calm for 3 s within 6 s"),
    ],
)  # fmt: skip
def test_a_docking_that_failed_says_why(outcome: int, progress: dict, words: str | None) -> None:
    monitor = DockingMonitor.__new__(DockingMonitor)
    monitor._success = SimpleNamespace(peak_force=30.0, within=10.0, calm_time=3.0, settle=6.0)  # type: ignore[assignment]
    monitor._latch, monitor.outcome, monitor.progress = "l", outcome, START._replace(**progress)
    monitor._last_lock = math.nan
    assert monitor.failure is None if words is None else words in str(monitor.failure)


# figures


def test_errors_of_an_end_effector_are_by_axis_and_around_the_circle() -> None:
    e = np.array([[3.0, 4.0, 0.0, 0.1], [0.0, 0.0, 1.0, 2.0 * np.pi - 0.1]])
    figures = path_errors(e)
    assert (
        figures["position_rmse_m"] == pytest.approx(math.sqrt(13.0))
        and figures["position_max_m"] == 5.0
    )
    assert figures["position_rmse_xyz_m"] == pytest.approx(
        [math.sqrt(4.5), math.sqrt(8.0), math.sqrt(0.5)]
    )
    assert figures["heading_rmse_rad"] == pytest.approx(0.1)
    assert set(path_errors(e[:0]).values()) == {None} and list(path_errors(e[:0])) == list(figures)


def test_a_zero_order_hold_command_acts_over_its_period() -> None:
    """x' = a x + b x_held: x(T) = (e^(a T) + b (e^(a T) - 1) / a) x(0)."""
    grown = sampled(np.array([[-2.0]]), np.array([[-3.0]]), 0.1)
    assert grown[0, 0] == pytest.approx(np.exp(-0.2) - 3.0 * (np.exp(-0.2) - 1.0) / -2.0)


def test_simulated_wrenches_are_compared_where_others_were_measured_whatever_the_pieces() -> None:
    t = np.arange(0.0, 1.01, 0.1)
    simulated = np.zeros((len(t), 4, 6))
    simulated[:, 1] = np.outer(t, np.arange(6.0))
    simulated[:, 2] = 1.0
    at = np.array([-0.5, 0.05, 0.55, 0.95, 1.5])
    track: Any = SimpleNamespace(t=at, wrenches=np.outer(at, np.arange(6.0)) + 0.5)
    np.testing.assert_allclose(
        wrenches_at(at[1:4], t, simulated[:, 1]), np.outer(at[1:4], np.arange(6.0))
    )
    for edges in ([0, 11], [0, 1, 6, 11]):
        scores = MeasuredWrenchScores(track)
        for a, b in zip(edges[:-1], edges[1:], strict=True):
            scores.add(SimpleNamespace(t=t[a:b]), SimpleNamespace(wrenches=simulated[a:b]))  # type: ignore[arg-type]
        figures = scores.metrics()
        np.testing.assert_allclose(
            [*figures["contact_force_rmse_n"], *figures["contact_torque_rmse_nm"]], 0.5
        )
        off = 1.0 - 0.5 - np.outer(at[1:4], np.arange(6.0))
        expected = np.sqrt(np.mean(off**2, axis=0))
        np.testing.assert_allclose(
            [*figures["estimated_force_rmse_n"], *figures["estimated_torque_rmse_nm"]], expected
        )


# regressions


def test_a_line_is_found_with_the_scatter_of_blocks() -> None:
    widths = []
    for seed in range(12):
        rng = np.random.default_rng(seed)
        A = np.column_stack([rng.normal(size=4000), 100.0 * np.ones(4000)])
        fit = regression(A, A @ [2.0, 0.03] + 0.1 * rng.normal(size=4000), 0.01)
        np.testing.assert_allclose(fit.values, [2.0, 0.03], atol=0.01)
        assert fit.share == pytest.approx(4.0 / 4.01, abs=0.002)
        np.testing.assert_allclose(fit.residuals.std(), 0.1, rtol=0.05)
        widths.append(fit.half_width(np.array([1.0, 0.0])))
    assert np.mean(widths) == pytest.approx(1.96 * 0.1 / np.sqrt(4000.0), rel=0.2)
    assert BLOCK == 2.0
    scores = np.ones((5, 1))
    assert block_scatter(scores, 1.0)[0, 0] == 4.0 + 4.0 + 1.0
    assert block_scatter(scores, 3.0)[0, 0] == 5.0  # a row at least


def test_instruments_leave_out_what_moves_with_the_disturbance() -> None:
    rng = np.random.default_rng(6)
    moves, gust = rng.normal(size=(2, 20_000))
    x = moves + gust
    y = 3.0 * x - 2.0 * gust
    assert regression(x[:, None], y, 0.01).values[0] == pytest.approx(2.0, abs=0.1)
    assert regression(x[:, None], y, 0.01, moves[:, None]).values[0] == pytest.approx(3.0, abs=0.1)


def test_an_interval_is_never_narrower_than_a_hundredth() -> None:
    assert (
        estimate(-5.0, 0.01, "u", "m")[:2] == (-5.0, 0.05)
        and estimate(-5.0, 0.06, "u", "m").half_width == 0.06
    )


def flight(speed: float, slope: float, offset: float = 0.0, noise: float = 1e-3) -> Any:
    """A vehicle that is yawed by 90 deg and swings along x of its body."""
    t = np.arange(0.0, 60.0, 0.02)
    v_B = np.zeros((len(t), 3))
    v_B[:, 0] = speed * np.sin(0.7 * t)
    q = np.tile(so3.quaternion_exp(np.array([0.0, 0.0, np.pi / 2])), (len(t), 1))
    f = np.zeros((len(t), 3))
    f[:, 0] = -slope * v_B[:, 0] + offset + noise * np.random.default_rng(1).normal(size=len(t))
    f[:, 1] = 0.1 * np.random.default_rng(2).normal(size=len(t))
    return SimpleNamespace(t=t, v=so3.rotate(q, v_B), q=q, f=f, dt=0.02, level_instruments=None)


def test_drag_is_the_slope_of_force_against_speed_where_it_is_fast_enough() -> None:
    fit = drag(flight(5.0, 0.3, offset=0.2))
    assert fit.coefficients[0] == pytest.approx(0.3, abs=1e-3) and fit.constants[
        0
    ] == pytest.approx(0.2, abs=0.02)
    assert (
        fit.estimates["drag x"].value == pytest.approx(0.3, abs=1e-3)
        and fit.estimates["drag x"].half_width == 0.02
    )
    assert "0.0 m/s that way" in fit.refusals["drag y"]
    assert drag(flight(1.99, 0.3)).refusals["drag x"].startswith("at most 2.0 m/s")
    assert "which is none" in drag(flight(5.0, -0.03)).refusals["drag x"]
    assert drag(flight(5.0, -0.01)).estimates["drag x"].value == 0.0
    assert "hide it" in drag(flight(5.0, 0.02, noise=8.0)).refusals["drag x"]
    for key, words in (("v", "no velocity"), ("f", "no accelerometer")):
        table = flight(5.0, 0.3)
        setattr(table, key, None)
        assert drag(table).refusals == {"drag x": words, "drag y": words}


def test_the_inflow_of_rotors_is_the_velocity_against_their_axes() -> None:
    q = np.tile(so3.quaternion_exp(np.array([np.pi / 2, 0.0, 0.0])), (2, 1))  # z looks along -y
    table: Any = SimpleNamespace(
        t=np.zeros(2), q=q, v=np.array([[0.0, 3.0, 0.0], [5.0, -2.0, 1.0]])
    )
    np.testing.assert_allclose(_line_regressors(table), [[1.0, 3.0], [1.0, -2.0]], atol=1e-12)
    table.v = None
    np.testing.assert_allclose(_line_regressors(table), [[1.0, 0.0]] * 2)
