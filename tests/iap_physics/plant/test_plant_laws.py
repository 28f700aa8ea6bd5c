# SPDX-License-Identifier: BSD-3-Clause
"""What a plant notes, refuses, delays and adds, from numbers worked out by hand."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from iap_description.errors import BadInput, FlightFailed
from iap_description.math import so3
from iap_description.states import Command, Mode
from iap_description.vehicles.faults import LateCommands
from iap_description.world.obstacles import Obstacles
from iap_physics.air import drag, wind
from iap_physics.air.wind import GustParameters, Wind
from iap_physics.arm.arm_commands import ArmCommands, JointTrajectory
from iap_physics.docking import contact as probe_contact
from iap_physics.engines import joints as engine_joints
from iap_physics.engines.engine import OBJECT, WORLD
from iap_physics.engines.mujoco import points as mujoco_points
from iap_physics.engines.mujoco.points import ContactPoints
from iap_physics.measured.state_noise import StateNoise, late_periods
from iap_physics.modules.proximity import ModuleProximity
from iap_physics.plant.disturbances import Disturbance, add_disturbances
from iap_physics.plant.rates import LoopRates
from iap_physics.plant.touchdowns import Touchdown
from iap_physics.propulsion.last_command import CommandDelay, LastCommand
from iap_physics.session import command_buffer
from iap_physics.session.command_buffer import CommandBuffer
from iap_physics.session.flight_monitor import FlightMonitor, is_upside_down
from iap_physics.session.placement import moved

LEVEL = np.array([0.0, 0.0, 0.0, 1.0])


def plain(compiled: Any) -> Any:
    """The Python function that is compiled."""
    return compiled.py_func


def row(
    place: Any = (0.0, 0.0, 0.0), turn: Any = (0.0, 0.0, 0.0), v: Any = 0.0, w: Any = 0.0
) -> np.ndarray:
    x = np.zeros(13)
    x[:3], x[3:7], x[7:10], x[10:] = place, so3.quaternion_exp(np.array(turn, float)), v, w
    return x


# the monitor of a flight


class Trees(Obstacles):
    """Obstacles without any."""

    def hulls(self) -> Any:
        """None."""
        return ()


def touch(a: int, b: int, distance: float = -0.001) -> Any:
    return SimpleNamespace(body_a=a, body_b=b, distance=distance)


def plant(*contacts: Any, t: float = 1.0, pushes: Any = (), rows: Any = None) -> Any:
    """Two vehicles of two bodies each: rows 0, 1 and 2, 3."""
    state = row() if rows is None else rows
    return SimpleNamespace(
        t=t, engine=SimpleNamespace(contacts=lambda: contacts), state=lambda i: state[None, None],
        vehicle_of=lambda body: body // 2, contact_wrench=lambda i: np.array(pushes or [0.0]),
        propulsion=[SimpleNamespace(rows=slice(0, 2)), SimpleNamespace(rows=slice(2, 4))],
    )  # fmt: skip


def vehicle(name: str, **keys: Any) -> Any:
    bodies = [SimpleNamespace(name="base"), SimpleNamespace(name="drone_1")]
    values = {
        "may_land": False,
        "lost_after": None,
        "push_hold": None,
        "assembly": SimpleNamespace(bodies=bodies),
    }
    return SimpleNamespace(name=name, **{**values, **keys})


def monitor(latches: Any = None, **keys: Any) -> FlightMonitor:
    objects = {"wall": SimpleNamespace(), "trees": Trees.model_construct()}
    spec = SimpleNamespace(
        vehicles=[vehicle("one", **keys), vehicle("two")], latches=latches or {}, dt=0.5,
        world=SimpleNamespace(objects=objects),
    )  # fmt: skip
    return FlightMonitor(spec)  # type: ignore[arg-type]


def test_two_vehicles_collide_once_a_pair_and_only_where_they_overlap() -> None:
    watch = monitor()
    watch.check_flight(plant(touch(0, 2, 0.001)))
    assert watch.collision_records == []
    for t in (1.0, 2.0):
        watch.check_flight(plant(touch(0, 2), touch(OBJECT, OBJECT - 1), t=t))
    assert watch.collision_records == [{"t_s": 1.0, "vehicles": ["one", "two"]}]


def test_those_that_a_latch_or_a_structure_holds_together_may_touch() -> None:
    latched = monitor({"l": SimpleNamespace(probe="one/probe", socket="two/socket")})
    held = monitor()
    held.structure_of = lambda i: {0, 1}
    apart = monitor()
    apart.structure_of = lambda i: {i}
    for watch, count in ((latched, 0), (held, 0), (apart, 1)):
        watch.check_flight(plant(touch(1, 2)))
        assert len(watch.collisions) == count


@pytest.mark.parametrize(
    ("contact", "keys", "words"),
    [
        (touch(3, 2), {}, "base and drone_1 of two have collided"),
        (touch(WORLD, 0), {}, "one hit the ground"),
        (touch(0, WORLD), {"may_land": True}, None),
        (touch(0, OBJECT), {}, None),  # the central body may push
        (touch(1, OBJECT), {}, "an aircraft of one hit an object"),
        (touch(0, OBJECT - 1), {}, "one hit an obstacle"),
        (touch(0, WORLD, 0.001), {}, None),
    ],
)
def test_a_touch_ends_the_flight_of_who_must_not(
    contact: Any, keys: dict, words: str | None
) -> None:
    watch = monitor(**keys)
    if words is None:
        watch.check_flight(plant(contact))
        return
    with pytest.raises(FlightFailed, match=words) as failed:
        watch.check_flight(plant(contact))
    assert (failed.value.outcome, failed.value.t) == ("crashed", 1.0)
    assert (len(watch.collisions) == 1) == ("have collided" in words)


def test_who_comes_down_in_an_emergency_may_touch_the_ground() -> None:
    watch = monitor()
    watch.landing.add(0)
    watch.check_flight(plant(touch(0, WORLD)))
    assert watch.landed == {0}
    with pytest.raises(FlightFailed, match="two hit the ground"):
        watch.check_flight(plant(touch(2, WORLD)))


def test_a_platform_beyond_a_right_angle_is_upside_down() -> None:
    for axis in (0, 1):
        for degrees, expected in ((89.0, False), (91.0, True)):
            assert (
                bool(is_upside_down(row(turn=np.radians(degrees) * np.eye(3)[axis]))) == expected
            )
    assert not is_upside_down(row(turn=[0.0, 0.0, 3.0]))
    with pytest.raises(FlightFailed, match="one is upside down"):
        monitor().check_flight(plant(rows=row(turn=[2.0, 0.0, 0.0])))


@pytest.mark.parametrize(
    ("touched", "hold", "since", "is_lost"),
    [
        (0, 1.0, 9.0, False),
        (1, 1.0, 2.0, False),
        (1, 1.0, 2.1, True),
        (2, 1.0, 9.0, False),
        (1, None, 2.1, True),
    ],
)
def test_a_push_that_has_lost_its_contact_for_good_has_failed(
    touched: int, hold: float | None, since: float, is_lost: bool
) -> None:
    """Each touch lasts for half a second; one whole second of contact is enough."""
    watch = monitor(lost_after=2.0, push_hold=hold)
    for k in range(touched):
        watch.check_flight(plant(t=0.5 * k, pushes=[0.0, 3.0]))
    last = plant(t=0.5 * max(touched - 1, 0) + since)
    if not is_lost:
        watch.check_flight(last)
        return
    with pytest.raises(FlightFailed, match="one lost its contact") as failed:
        watch.check_flight(last)
    assert failed.value.outcome == "contact_lost"


# vehicles that are put elsewhere


def test_a_vehicle_is_moved_as_one_rigid_body() -> None:
    x = np.stack(
        [
            row([1.0, 2.0, 3.0], v=[1.0, 0.0, 0.0]),
            row([2.0, 2.0, 3.0], v=[0.0, 1.0, 0.0], w=[1.0, 0.0, 0.0]),
        ]
    )
    yaw = so3.quaternion_exp(np.array([0.0, 0.0, np.pi / 2]))
    turned = moved(x, np.concatenate([[5.0, 6.0, 7.0], yaw]), None)
    np.testing.assert_allclose(turned[:, :3], [[5.0, 6.0, 7.0], [5.0, 7.0, 7.0]], atol=1e-12)
    np.testing.assert_allclose(turned[:, 7:10], [[0.0, 1.0, 0.0], [-1.0, 0.0, 0.0]], atol=1e-12)
    np.testing.assert_allclose(turned[1, 10:], [0.0, 1.0, 0.0], atol=1e-12)
    pushed = moved(x, None, np.array([1.0, 1.0, 0.0, 0.0, 0.0, 2.0]))
    np.testing.assert_allclose(pushed[:, 7:], [[1, 1, 0, 0, 0, 2], [1, 3, 0, 0, 0, 2]])
    np.testing.assert_array_equal(pushed[:, :7], x[:, :7])


# touchdowns


def test_a_touchdown_has_the_speed_before_it_the_mean_force_and_the_height_of_the_cut() -> None:
    one = Touchdown(clearance=0.2, hover=20.0, forces=np.zeros(4))

    def note(step: int, force: float, thrust: float, fall: float, height: float = 0.2) -> None:
        one.note(step, row([0.0, 0.0, height], v=[0.0, 0.0, -fall]), force, thrust, 3)

    note(0, 0.0, 20.0, 0.5)
    note(1, 40.0, 20.0, 0.1)
    assert (one.touch_speed, one.force) == (0.5, 10.0)
    note(2, 80.0, 20.0, 0.9)
    note(3, 0.0, 6.1, 0.9)
    note(4, 10.0, 6.1, 0.0)  # a bounce within three steps is no other touch
    assert (one.touch_speed, one.force, one.cut_height) == (0.5, 32.5, None)
    note(5, 10.0, 5.9, 0.01, height=0.25)
    assert one.cut_height == pytest.approx(0.05) and one.stands
    note(6, 10.0, 5.9, 0.021, height=0.2)
    assert one.cut_height == pytest.approx(0.05) and not one.stands
    for step in range(7, 10):
        note(step, 0.0, 5.9, 0.01)
    assert not one.stands
    note(10, 5.0, 20.0, 0.0)
    assert one.touch_speed == 0.5 and one.cut_height is None  # slower than the first
    assert one.record == {
        "touch_speed_mps": 0.5,
        "force_n": 32.5,
        "cut_height_m": None,
        "stands": False,
    }
    one.leave(row(v=[0.0, 0.0, -0.7]))
    assert one.flies and one.fall == 0.7 and not one.forces.any()
    one.clear()
    assert one.record["touch_speed_mps"] is None and not one.flies


# commands of arms


def test_a_trajectory_is_cubic_between_its_points_and_rests_beyond_them() -> None:
    points = np.array([[[0.0], [1.0], [4.0]], [[2.0], [-1.0], [8.0]]])
    path = JointTrajectory(np.array([1.0, 3.0]), points)
    for t in (1.0, 1.5, 2.0, 2.9):
        s = t - 1.0
        # q(0) = 0, q'(0) = 1, q(2) = 2, q'(2) = -1
        coefficients = np.linalg.solve([[4.0, 8.0], [4.0, 12.0]], [2.0 - 2.0, -1.0 - 1.0])
        q = s + coefficients @ [s**2, s**3]
        rate = 1.0 + coefficients @ [2.0 * s, 3.0 * s**2]
        np.testing.assert_allclose(path.at(t)[:, 0], [q, rate, 4.0 + 2.0 * s], atol=1e-12)
    np.testing.assert_allclose(path.at(0.5)[:, 0], [0.0, 0.0, 4.0])
    np.testing.assert_allclose(path.at(3.0)[:, 0], [2.0, -1.0, 8.0])
    np.testing.assert_allclose(path.at(3.1)[:, 0], [2.0, 0.0, 8.0])
    alone = JointTrajectory(np.array([1.0]), points[:1])
    np.testing.assert_allclose(
        [alone.at(0.0)[1, 0], alone.at(5.0)[1, 0]], [1.0, 1.0]
    )  # a velocity goes on


def test_the_newest_command_of_an_arm_counts_and_none_of_the_future() -> None:
    commands, (old, new) = (
        ArmCommands(),
        (JointTrajectory(np.array([0.0]), np.full((1, 3, 1), value)) for value in (1.0, 2.0)),
    )
    assert commands.target(0.0) is None and commands.newest == -1
    commands.offer(5, 5, new)
    commands.offer(4, 6, old)
    assert commands.target(0.0)[0, 0] == 2.0 and commands.newest == 5  # type: ignore[index]
    commands.offer(5, 6, old)
    assert commands.target(0.0)[0, 0] == 1.0  # type: ignore[index]
    with pytest.raises(BadInput, match="later than the present state"):
        commands.offer(7, 6, new)


# delays


def test_commands_act_whole_periods_later_in_each_world_of_its_own() -> None:
    acting = LastCommand(
        np.zeros((2, 1), np.int64),
        *(np.zeros((2, 1, *shape)) for shape in ((), (4,), (3,), (4,), (4,))),
    )
    delay = CommandDelay(acting)
    delay.set_periods(1, 2)
    seen = []
    for k in range(1, 6):
        delay.latest.thrust[:] = float(k)
        delay.apply_due()
        seen.append(acting.thrust[:, 0].tolist())
    assert seen == [[1.0, 0.0], [2.0, 0.0], [3.0, 1.0], [4.0, 2.0], [5.0, 3.0]]
    delay.reset(np.array([1]))
    delay.apply_due()
    assert acting.thrust[:, 0].tolist() == [5.0, 3.0]
    assert acting.of_aircraft(0).rpm.shape == (2, 1, 4)


def test_a_longer_delay_of_one_world_leaves_what_is_on_its_way_in_another() -> None:
    acting = LastCommand(
        np.zeros((2, 1), np.int64),
        *(np.zeros((2, 1, *shape)) for shape in ((), (4,), (3,), (4,), (4,))),
    )
    delay, seen = CommandDelay(acting), []
    delay.set_periods(1, 2)
    for k in range(1, 12):
        if k == 5:
            delay.set_periods(0, 4)
        delay.latest.thrust[:] = float(k)
        delay.apply_due()
        seen.append(acting.thrust[:, 0].tolist())
    assert [other for _, other in seen] == [0.0, 0.0, *range(1, 10)]
    assert [late for late, _ in seen[-4:]] == [4.0, 5.0, 6.0, 7.0]


def test_latencies_are_whole_periods_drawn_around_their_middle() -> None:
    noise = StateNoise(
        position=0.0,
        attitude_deg=0.0,
        velocity=0.0,
        rate_deg=0.0,
        latency=0.05,
        latency_spread=0.02,
    )
    drawn = {late_periods(noise, np.random.default_rng(k), 0.005) for k in range(300)}
    assert drawn == set(range(6, 15))
    assert (
        late_periods(
            noise.model_copy(update={"latency_spread": 0.0}), np.random.default_rng(0), 0.005
        )
        == 10
    )
    for latency, is_allowed in ((1.0, True), (1.001, False)):
        values = {
            "position": 0.0,
            "attitude_deg": 0.0,
            "velocity": 0.0,
            "rate_deg": 0.0,
            "latency": latency,
        }
        if is_allowed:
            StateNoise(**values)
        else:
            with pytest.raises(ValueError, match="latency"):
                StateNoise(**values)


def test_commands_are_counted_as_in_time_late_or_lost() -> None:
    begun: list[Any] = []
    hold: Any = SimpleNamespace(begin=begun.append)
    buffer = CommandBuffer("iap", 1, hold)

    def offer(number: int, k: int, mode: Mode = Mode.RPM) -> None:
        def fill(command: Command) -> None:
            command.mode, command.thrust[:] = mode, number

        buffer.offer(number, k, fill)

    offer(0, 0)
    command = buffer.next_command(np.zeros(13), is_stale=False)
    assert command is not None and command.thrust[0] == 0.0
    assert buffer.next_command(np.zeros(13), is_stale=False) is None  # nothing new
    offer(3, 4)
    offer(2, 4)  # overtaken
    assert vars(buffer.counts) == {"taken": 1, "late": 3, "lost": 0, "holds": 0}
    for number, k, mode, words in (
        (6, 5, Mode.RPM, "later than the present state"),
        (5, 5, Mode.WRENCH, "wrench"),
    ):
        with pytest.raises(BadInput, match=words):
            offer(number, k, mode)
    assert buffer.newest == 3


# disturbances, rates and air


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


# contact


def pushed(overlap: float, v: Any, friction: float = 0.5, mass: float = 2.0) -> np.ndarray:
    """Wrenches of a probe's touch from below, 0.1 m ahead of its CoM, on a socket that cannot yield."""
    inverse = SimpleNamespace(inverse_mass=1.0 / mass)
    mechanism: Any = SimpleNamespace(stiffness=1000.0, damping=10.0, friction=friction)
    spot: Any = SimpleNamespace(overlap=overlap, normal=(0.0, 0.0, 1.0), place=(0.1, 0.0, 0.0))
    out, mobility = np.zeros((2, 6)), probe_contact.mobility_at
    probe_contact.mobility_at = lambda x, place, n, m: m.inverse_mass  # type: ignore[assignment]
    try:
        still = SimpleNamespace(inverse_mass=0.0)
        assert plain(probe_contact._push)(
            row(v=v), row(), inverse, still, mechanism, 0.001, spot, out
        ) == (overlap > 0.0)
    finally:
        probe_contact.mobility_at = mobility
    return out


def test_a_touch_pushes_by_overlap_and_rate_and_rubs_within_its_cone() -> None:
    damper = 0.001 * 1000.0 + 10.0
    easing = 1.0 + 0.001 * damper / 2.0
    f = (1000.0 * 0.01 + damper * 0.2) / easing
    out = pushed(0.01, [0.0, 3.0, -0.2])
    np.testing.assert_allclose(out[0], [0.0, -0.5 * f, f, 0.0, -0.1 * f, -0.05 * f])
    np.testing.assert_allclose(out[1, :3], -out[0, :3])
    slow = pushed(0.01, [0.0, 1e-4, 0.0])
    assert slow[0, 1] == pytest.approx(
        -0.5 * 1e-4 / (0.001 / 2.0)
    )  # friction stops it within two steps, no more
    assert not pushed(0.0, [0.0, 0.0, -1.0]).any()
    assert not pushed(0.001, [0.0, 0.0, 1.0]).any()  # what parts is not pulled back


def test_contact_points_lie_on_the_first_body_and_push_both() -> None:
    points = ContactPoints(
        np.array([[1, 2], [0, 1], [3, 3]]), np.array([[1.0, 2.0, 3.0], [1.0, 0.0, 0.0], [9.0, 9.0, 9.0]]),
        np.array([[0.0, 0.0, 1.0]] * 3), np.array([-0.2, 0.1, 0.0]),
        np.array([[0.0, 0.0, 5.0], [1.0, 0.0, 0.0], [7.0, 7.0, 7.0]]),
    )  # fmt: skip
    made: Any = SimpleNamespace(owners=np.array([-1, 0, 1, 0]), vehicles=np.array([-1, 0, 1, 0]))
    first, second, _ = points.listed(made)
    assert (first.body_a, first.body_b, first.distance) == (0, 1, -0.2)
    np.testing.assert_allclose(
        [first.position_W, second.position_W], [[1.0, 2.0, 2.9], [1.0, 0.0, 0.05]]
    )
    assert (first.normal_W, first.force_W) == ((0.0, 0.0, 1.0), (0.0, 0.0, 5.0))
    wrench = np.zeros(6)
    plain(mujoco_points._add_up)(
        points, made.vehicles, made.owners, 0, np.array([1.0, 1.0, 0.0]), wrench
    )
    np.testing.assert_allclose(wrench, [-1.0, 0.0, 5.0, 5.0, 0.0, -1.0])


# starts


def test_attitudes_of_a_start_are_made_units_unless_they_are_none() -> None:
    make_units = plain(engine_joints._make_units)
    x = np.zeros((1, 2, 13))
    x[..., 3:7] = so3.quaternion_exp(np.array([0.1, -0.4, 0.2]))
    x[0, 1, 3:7] *= 1.0 + 5e-7
    assert make_units(x, 1e-6)
    np.testing.assert_allclose(np.linalg.norm(x[..., 3:7], axis=-1), 1.0, atol=1e-15)
    x[0, 1, 3:7] *= 1.0 + 2e-6
    assert not make_units(x, 1e-6)


def test_the_tilt_of_a_joint_is_that_of_its_childs_axis() -> None:
    joint: Any = SimpleNamespace(q_PJ=so3.quaternion_exp(np.array([0.2, 0.0, 0.0])))
    parent = row(turn=[0.0, 0.3, 0.0])
    child = row()
    child[3:7] = so3.multiply(
        so3.multiply(parent[3:7], joint.q_PJ), so3.quaternion_exp(np.array([0.0, 0.7, 0.0]))
    )
    assert engine_joints.tilt_of(joint, parent, child) == pytest.approx(0.7)
    child[3:7] = so3.multiply(child[3:7], so3.quaternion_exp(np.array([0.0, 0.0, 1.0])))
    assert engine_joints.tilt_of(joint, parent, child) == pytest.approx(0.7)


# the fail-safe


def test_vectors_are_shortened_to_a_length_and_turns_lead_from_upright_to_them() -> None:
    np.testing.assert_allclose(
        command_buffer._shortened(np.array([[3.0, 4.0, 0.0], [0.3, 0.4, 0.0]]), 2.5),
        [[1.5, 2.0, 0.0], [0.3, 0.4, 0.0]],
    )
    f = np.array([[3.0, -1.0, 5.0], [0.0, 0.0, 2.0]])
    q = command_buffer._turns_to(f)
    np.testing.assert_allclose(
        so3.matrix_from_quaternion(q)[:, :, 2], f / np.linalg.norm(f, axis=1, keepdims=True)
    )
    np.testing.assert_allclose(q[:, 2], 0.0)
    line = command_buffer._line_through(
        np.array([[1.0, 0.0, 2.0], [2.0, 1.0, 2.0], [4.0, 3.0, 2.0]])
    )
    np.testing.assert_allclose(np.abs(line), [np.sqrt(0.5), np.sqrt(0.5), 0.0], atol=1e-12)
    for points in ([[0.0, 0.0, 0.0]], [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]):
        assert not command_buffer._line_through(np.array(points)).any()
