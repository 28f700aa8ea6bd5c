# SPDX-License-Identifier: BSD-3-Clause
"""Grippers of many worlds and of one, on arms and objects that a test puts where it wants."""

from types import SimpleNamespace

import numpy as np
import pytest

from iap_description.errors import BadInput
from iap_description.geometry.shapes import Surface
from iap_description.math import so3
from iap_description.vehicles.assembly import Assembly
from iap_description.vehicles.gripper import GripperSpec
from iap_description.vehicles.platform import load_platform
from iap_description.vehicles.serial_chain import tip_pose
from iap_description.world.objects import Box
from iap_description.world.world import World
from iap_physics.arm.arm_commands import ArmCommands, GripperCommands, JointTrajectory
from iap_physics.arm.batch_grippers import BatchGrippers
from iap_physics.arm.gripper import Gripper, known_load
from iap_physics.engines.engine import DIVERGED, RUNNING

ARM = Assembly.of(load_platform("m100_gripper")).arm
HOME = np.array(ARM.record.home_pose)
POINT = np.array([0.0, 0.0, 0.04])
SPEC = {"object": "box", "point": tuple(POINT), "close": 0.1, "open": 0.4, "reach": 0.03}
SPEC |= {"max_force": 20.0, "known_load": True, "target": (0.0, 0.0, 0.0)}
DT = 0.05
SIZE = (0.08, 0.1, 0.12)


def box(mass=0.2):
    surface = Surface(friction=0.5, restitution=0.0)
    return Box(type="box", size=SIZE, position=(0.0, 0.0, 0.0), surface=surface, mass=mass)


WORLD = World(objects={"post": box(None), "box": box()})


class Bench:
    """A world: the second of two vehicles has an arm at home, and the box is below its tip by a gap [m]."""

    def __init__(self, gap):
        self.q_WB = so3.quaternion_exp(np.array([0.1, -0.2, 0.7]))
        self.x = np.zeros((2, 13))
        self.x[:, 6], self.x[1, :3], self.x[1, 3:7] = 1.0, (1.0, 2.0, 3.0), self.q_WB
        self.tip, self.R = tip_pose(
            ARM.chain, self.x[1, :3], so3.matrix_from_quaternion(self.q_WB), HOME
        )
        self.item = np.zeros(13)
        self.item[3:7] = so3.quaternion_exp(np.array([0.0, 0.4, 0.0]))
        self.arms = {1: SimpleNamespace(arm=ARM, q=HOME)}
        self.grips, self.removed = [], []
        self.put(gap)

    def put(self, gap):
        self.item[:3] = self.tip - [0.0, 0.0, gap] - so3.rotate(self.item[3:7], POINT)

    def state(self):
        return self.x[None]

    def object_states(self):
        return np.stack([np.full(13, 9.0), self.item])

    def grip(self, *how):
        self.grips.append(how)
        return 7

    def remove_joint(self, handle):
        self.removed.append(handle)

    def joint_wrench(self, handle):
        return np.array([0.0, 3.0, 4.0, 9.0, 9.0, 9.0]) if handle == 7 else None


def benches_of(*gaps, **keys):
    """Worlds as a batch has them, whose grippers have some other keys."""
    each = [Bench(gap) for gap in gaps]
    batch = SimpleNamespace(
        each=each, status=np.full(len(each), RUNNING), step_counts=np.zeros(len(each), dtype=int),
        arm_batches={1: SimpleNamespace(arm=ARM, q=np.tile(HOME, (len(each), 1)))},
        state=lambda: np.stack([one.x for one in each]), world=lambda number: each[number],
        object_points=lambda item, point: np.stack(
            [one.item[:3] + so3.rotate(one.item[3:7], point) for one in each]
        ),
    )  # fmt: skip
    grippers = BatchGrippers.of(GripperSpec(**SPEC | keys), batch, WORLD, [0, 1], DT)
    grippers.reset(batch.state(), np.arange(len(each)))
    return grippers, batch


def period(grippers, batch, *times):
    batch.step_counts[:] = np.round(np.array(times) / DT)
    grippers.begin_period(0, 0.0)
    return grippers.holds.tolist()


def test_what_is_near_is_taken_from_the_closing_on_in_each_worlds_own_time():
    grippers, batch = benches_of(0.029, 0.031, 0.029, 0.029)
    assert grippers.vehicle == 1
    assert period(grippers, batch, 0.1, 0.1, 0.05, 0.4) == [True, False, False, False]
    assert period(grippers, batch, 0.1, 0.1, 0.1, 0.4) == [True, False, True, False]
    assert [len(one.grips) for one in batch.each] == [1, 0, 1, 0]
    loads = grippers.known_loads
    assert loads[0].mass == 0.2 and loads[1] is None
    assert period(grippers, batch, 0.4, 0.1, 0.35, 0.4) == [False, False, True, False]
    assert batch.each[0].removed == [7] and batch.each[2].removed == []


def test_what_is_pulled_out_is_lost_for_good_until_a_reset_and_ended_worlds_stay():
    grippers, batch = benches_of(0.0, 0.0)
    batch.status[1] = DIVERGED
    assert period(grippers, batch, 0.1, 0.1) == [True, False]
    batch.each[0].put(0.04)
    assert period(grippers, batch, 0.15, 0.15) == [False, False]
    batch.each[0].put(0.0)
    assert period(grippers, batch, 0.2, 0.2) == [False, False]
    grippers.reset(batch.state(), np.array([0]))
    assert period(grippers, batch, 0.2, 0.2) == [True, False]
    grippers.reset(batch.state(), np.array([0]))
    assert grippers.holds.tolist() == [False, False]


def test_a_gripper_by_commands_takes_lets_go_and_after_it_has_opened_takes_what_it_lost():
    grippers, batch = benches_of(0.0, 0.0, close=None, open=None)
    assert period(grippers, batch, 0.0, 0.0) == [False, False]
    grippers.closes[:] = True, False
    assert period(grippers, batch, 0.1, 0.1) == [True, False]
    assert grippers.borne.tolist() == [5.0, 0.0]
    batch.each[0].put(0.04)
    assert period(grippers, batch, 0.2, 0.2) == [False, False]
    assert grippers.grippers[0].lost and grippers.borne.tolist() == [0.0, 0.0]
    batch.each[0].put(0.0)
    assert period(grippers, batch, 0.3, 0.3) == [False, False]
    grippers.closes[0] = False
    assert period(grippers, batch, 0.4, 0.4) == [False, False]
    grippers.closes[0] = True
    assert period(grippers, batch, 0.5, 0.5) == [True, False]
    assert not grippers.grippers[0].lost
    grippers.closes[0] = False
    assert period(grippers, batch, 0.6, 0.6) == [False, False]
    assert not grippers.grippers[0].lost and batch.each[0].removed == [7, 7]
    grippers.reset(batch.state(), np.arange(2))
    assert not grippers.closes.any()


def test_a_world_of_its_own_has_a_load_of_its_own():
    grippers, batch = benches_of(0.0, 0.0)
    grippers.set_world(1, World(objects={"post": box(None), "box": box(0.3)}))
    period(grippers, batch, 0.2, 0.2)
    assert [load.mass for load in grippers.known_loads] == [0.2, 0.3]


@pytest.mark.parametrize(
    ("close", "end", "why"),
    [(None, 1.0, "a time like 'close'"), (1.0, None, "a time like"), (1.0, 1.0, "must be later")],
)
def test_a_gripper_has_both_times_or_none(close, end, why):
    with pytest.raises(ValueError, match=why):
        GripperSpec(**SPEC | {"close": close, "open": end})
    assert not GripperSpec(**SPEC | {"close": None, "open": None}).closes_at(0.2)


def test_commands_to_a_gripper_count_from_their_states_on():
    commands = GripperCommands()
    assert not commands.closes
    for number, k, closes in ((3, 3, True), (2, 5, False), (5, 5, False), (5, 5, True)):
        commands.offer(number, k, closes=closes)
        assert commands.closes == (number != 5 or closes) and commands.newest == max(number, 3)
    with pytest.raises(BadInput, match="later than the present state"):
        commands.offer(6, 5, closes=False)
    commands.reset()
    assert not commands.closes and commands.newest == -1


def test_without_an_arm_there_is_no_gripper():
    spec = GripperSpec(**SPEC)
    with pytest.raises(BadInput, match="key 'gripper': no vehicle has an arm in this engine"):
        BatchGrippers.of(spec, SimpleNamespace(arm_batches={}), WORLD, [0], DT)
    with pytest.raises(BadInput, match="key 'gripper': no vehicle has an arm in this engine"):
        Gripper.of(spec, SimpleNamespace(arms={}), WORLD, [0])
    with pytest.raises(BadInput, match="no object 'post' of the world that moves freely"):
        Gripper(None, GripperSpec(**SPEC | {"object": "post"}), WORLD, 0, 0)


@pytest.mark.parametrize(("gap", "holds"), [(0.029, True), (0.031, False)])
def test_a_gripper_takes_within_its_reach_and_times_and_fixes_the_object_as_it_is(gap, holds):
    bench = Bench(gap)
    gripper = Gripper.of(GripperSpec(**SPEC), bench, WORLD, [0, 1])
    gripper.begin_period(0, 0.09)
    assert not gripper.holds
    gripper.begin_period(0, 0.1)
    assert gripper.holds == gripper.taken == holds
    if not holds:
        return
    ((number, vehicle, in_item, in_link, q_OL, force),) = bench.grips
    assert (number, vehicle, force) == (1, 1, 20.0)
    item, origin = bench.item, bench.tip - bench.R @ ARM.chain.tip
    np.testing.assert_allclose(item[:3] + so3.rotate(item[3:7], in_item), bench.tip)
    np.testing.assert_allclose(origin + bench.R @ in_link, bench.tip)
    R_O = so3.matrix_from_quaternion(item[3:7])
    np.testing.assert_allclose(R_O @ so3.matrix_from_quaternion(q_OL), bench.R, atol=1e-12)
    np.testing.assert_allclose(origin + bench.R @ gripper.load.com, item[:3], atol=1e-12)
    x, y, z = SIZE
    J = 0.2 / 12.0 * np.diag([y * y + z * z, x * x + z * z, x * x + y * y])
    own = bench.R.T @ R_O
    np.testing.assert_allclose(gripper.load.inertia, own @ J @ own.T, rtol=1e-6, atol=1e-9)
    gripper.begin_period(0, 0.39)
    assert gripper.holds
    gripper.begin_period(0, 0.4)
    assert not gripper.holds and not gripper.lost and gripper.load is None and bench.removed == [7]
    gripper.begin_period(0, 0.41)
    assert not gripper.holds


def test_controllers_know_of_a_load_where_they_are_told_and_it_is_their_vehicles():
    bench = Bench(0.0)
    for is_known in (True, False):
        gripper = Gripper.of(GripperSpec(**SPEC | {"known_load": is_known}), bench, WORLD, [0, 1])
        gripper.begin_period(0, 0.2)
        plant = SimpleNamespace(part=lambda kind, own=gripper: own)
        assert known_load(plant, 1) is (gripper.load if is_known else None)
        assert known_load(plant, 0) is None
    assert known_load(SimpleNamespace(part=lambda kind: None), 1) is None


def trajectory(*times):
    points = np.arange(6.0 * len(times)).reshape(len(times), 3, 2) + 1.0
    return JointTrajectory(np.array(times), points)


def test_before_the_first_point_and_behind_the_last_joints_rest_unless_it_is_the_only_one():
    both = trajectory(1.0, 2.0)
    np.testing.assert_array_equal(both.at(0.5), [[1.0, 2.0], [0.0, 0.0], [5.0, 6.0]])
    np.testing.assert_array_equal(both.at(1.0), both.points[0])
    np.testing.assert_array_equal(both.at(2.0), both.points[1])
    np.testing.assert_array_equal(both.at(2.5), [[7.0, 8.0], [0.0, 0.0], [11.0, 12.0]])
    assert both.points[0, 1].tolist() == [3.0, 4.0]  # which are kept as they came
    only = trajectory(1.0)
    for t in (0.5, 1.0, 2.0):
        np.testing.assert_array_equal(only.at(t), only.points[0])


def test_a_command_of_the_future_is_refused_and_an_older_one_is_left_out():
    commands = ArmCommands()
    assert commands.target(0.0) is None and commands.newest == -1
    for number, k, newest in ((3, 3, 3), (2, 5, 3), (3, 5, 3), (5, 5, 5)):
        commands.offer(number, k, trajectory(float(number) + 0.1 * k))
        assert commands.newest == newest
    assert commands._trajectory.t[0] == 5.5
    with pytest.raises(BadInput, match="later than the present state"):
        commands.offer(6, 5, trajectory(6.0))
    commands.reset()
    assert commands.target(0.0) is None and commands.newest == -1
