# SPDX-License-Identifier: BSD-3-Clause
"""The coordinator: missions of modules that go where their references are, roles, references, and bad input."""

from typing import Any

import numpy as np
import pytest
from support.module_joints import SIZE, chain, lift, spec_of, told

from iap_control.modules.coordinator import Coordinator
from iap_control.modules.exchange import JointState, LatchOrder, ModuleRole
from iap_control.modules.follower import RoleControl
from iap_control.modules.joint_states import STATES, joint_states
from iap_description.arrays import Array
from iap_description.errors import BadInput
from iap_description.math import so3
from iap_description.vehicles.latching import LatchCommand

DT = 1.0 / 40.0
NAMES = ("m1", "m2", "m3", "m4")
TWO = {"j": {"leader": "m1", "face": "+x", "follower": "m2"}}
LINE = {**TWO, "k": {"leader": "m2", "face": "+x", "follower": "m3"}}
SQUARE = {
    "a": {"leader": "m1", "face": "+x", "follower": "m2"},
    "b": {"leader": "m1", "face": "+y", "follower": "m3"},
    "c": {"leader": "m2", "face": "+y", "follower": "m4"},
    "d": {"leader": "m3", "face": "+x", "follower": "m4"},
}
ALL_FACES = ["+x", "-x", "+y", "-y"]


def joined(joints: dict[str, Any], **changes: Any) -> dict[str, Any]:
    """Joints that hold from the start."""
    return {
        name: {**joint, "joined": True, **changes.get(name, {})} for name, joint in joints.items()
    }


class Fleet:
    """Modules that are where their references are, with a coordinator."""

    def __init__(self, places: Array, joints: dict[str, Any], **keys: Any) -> None:
        self.own = np.array(places)
        names = NAMES[: len(places)]
        self.coordinator = Coordinator(spec_of(joints, **keys), names, lift(len(names)))
        self.t, self.orders = 0.0, list[tuple[float, LatchOrder]]()
        self.rows = told(0.0, self.own).nominal
        self.coordinator.put_rows(0.0, self.rows.copy(), self.rows)

    def told(self) -> Any:  # noqa: ANN401 - `ModuleReports`
        """Their present statuses."""
        rows = self.rows[:, :13].copy()
        now = told(self.t, self.own)
        return now._replace(estimates=rows, shared=rows.copy())

    def fly(self, seconds: float) -> None:
        """Let the coordinator go on."""
        for _ in range(round(seconds / DT)):
            self.orders += [(self.t, o) for o in self.coordinator.update(self.told())]
            self.t += DT
            self.coordinator.put_rows(self.t, told(self.t, self.own).nominal, self.rows)


@pytest.mark.slow
def test_three_modules_dock_one_after_the_other_and_part() -> None:
    places = [[0.0, 0.0, 1.0], [1.5, 0.3, 1.2], [3.0, -0.2, 0.9]]
    mission = [{"join": "j"}, {"join": "k"}, {"hover": 2.0}, {"part": "j"}, {"part": "k"}]
    fleet = Fleet(np.array(places), LINE, mission=mission)
    fleet.fly(60.0)
    assert fleet.coordinator.mission.is_done
    assert [(o.joint, o.latching) for _, o in fleet.orders] == [
        ("j", LatchCommand.CATCH),
        ("j", LatchCommand.LOCK),
        ("k", LatchCommand.CATCH),
        ("k", LatchCommand.LOCK),
        ("j", LatchCommand.RELEASE),  # m2 takes m3 along
        ("k", LatchCommand.RELEASE),
    ]
    states = [e.state for e in fleet.coordinator.events if e.joint == "j"]
    assert states == [
        JointState.ALIGNMENT,
        JointState.APPROACH,
        JointState.ASSEMBLY,
        JointState.JOINED,
        JointState.SEPARATION,
        JointState.APART,
    ]
    apart = np.diff(fleet.rows[:, 0])
    assert apart.min() > 1.2
    np.testing.assert_allclose(fleet.rows[0, :3], places[0], atol=1e-9)


def test_references_do_not_jump_but_by_the_press_at_the_lock() -> None:
    fleet = Fleet(np.array([[0.0, 0.0, 1.0], [1.5, 0.0, 1.0]]), TWO, mission=[{"join": "j"}])
    jumps = []
    for _ in range(800):
        before = fleet.rows[:, :3].copy()
        fleet.fly(DT)
        jumps.append(np.abs(fleet.rows[:, :3] - before).max(axis=1))
    assert fleet.coordinator.machines["j"].state == JointState.JOINED
    assert np.max(jumps, axis=0)[0] < 1e-9
    assert np.max(jumps, axis=0)[1] < 0.05
    np.testing.assert_allclose(fleet.rows[1, :3], [SIZE, 0.0, 1.0], atol=1e-9)
    assert fleet.coordinator.roles == [ModuleRole.LEADER, ModuleRole.FOLLOWER]
    events = fleet.coordinator.events
    assert [each.state for each in events] == [
        JointState.ALIGNMENT,
        JointState.APPROACH,
        JointState.ASSEMBLY,
        JointState.JOINED,
    ]
    assert [each.t for each in events] == sorted({each.t for each in events})


def test_a_follower_on_its_way_goes_on_between_the_instants_of_coordination() -> None:
    """References at 200 Hz: each is where the velocity has led since the last instant of 40 Hz."""
    fleet = Fleet(np.array([[0.0, 0.0, 1.0], [2.5, 0.0, 1.0]]), TWO, mission=[{"join": "j"}])
    fleet.fly(2.0)
    rows, nominal = fleet.rows.copy(), told(fleet.t, fleet.own).nominal
    speed = fleet.rows[1, 7]
    assert speed < -0.1
    for ahead in (0.005, 0.02):
        fleet.coordinator.put_rows(fleet.t + ahead, nominal, rows)
        assert rows[1, 0] - fleet.rows[1, 0] == pytest.approx(ahead * speed)


def test_modules_whose_joints_measure_dock_before_these_have_measured_anything() -> None:
    places = np.array([[0.0, 0.0, 1.0], [0.8, 0.0, 1.0]])
    fleet = Fleet(places, TWO, mission=[{"join": "j"}], wrench_source="joint")
    fleet.fly(15.0)
    assert fleet.coordinator.machines["j"].state == JointState.JOINED
    assert not fleet.coordinator.feed_forward.wrenches_P.any()


def test_the_leader_is_the_middle_and_leads_on_where_one_of_the_others_parts() -> None:
    places = np.array([[SIZE * i, 0.0, 1.0] for i in range(3)])
    fleet = Fleet(places, joined(LINE), mission=[{"part": "k"}])
    roles = fleet.coordinator.roles
    assert roles == [ModuleRole.FOLLOWER, ModuleRole.LEADER, ModuleRole.FOLLOWER]
    fleet.fly(1.0)
    assert fleet.coordinator.roles == [
        ModuleRole.FOLLOWER,
        ModuleRole.LEADER,
        ModuleRole.SEPARATED,
    ]


def test_members_keep_their_places_when_the_structure_turns() -> None:
    places = np.array([[SIZE * i, 0.0, 1.0] for i in range(3)])
    fleet = Fleet(places, joined(LINE))
    nominal = told(0.0, places).nominal
    q = so3.quaternion_exp(np.array([0.0, 0.0, 0.5]))
    nominal[:, 3:7] = q
    rows = np.zeros_like(nominal)
    fleet.coordinator.put_rows(0.0, nominal, rows)
    arm = so3.rotate(q, np.array([SIZE, 0.0, 0.0]))
    np.testing.assert_allclose(rows[2, :3] - rows[1, :3], arm, atol=1e-12)
    np.testing.assert_allclose(rows[0, :3] - rows[1, :3], -arm, atol=1e-12)


def test_a_released_module_stays_where_it_thinks_it_is() -> None:
    places = np.array([[0.0, 0.0, 1.0], [SIZE, 0.0, 1.0]])
    fleet = Fleet(places, joined(TWO), mission=[{"part": "j"}], wind_time=0.0)
    bias = np.array([0.03, -0.02, 0.01])
    for _ in range(30):
        fleet.rows[1, :3] = places[1] + bias
        now = fleet.told()
        now.shared[1, :3] = places[1]
        now.external_P[1, 1] = 0.5
        fleet.orders += [(fleet.t, o) for o in fleet.coordinator.update(now)]
        fleet.t += DT
        if fleet.orders:
            break
    assert fleet.orders[0][1].latching == LatchCommand.RELEASE
    assert not fleet.coordinator.feed_forward.wrenches_P.any()
    rows = now.nominal.copy()
    fleet.coordinator.put_rows(fleet.t, now.nominal, rows)
    np.testing.assert_allclose(rows[1, :3], places[1] + bias, atol=0.005)


def test_a_square_is_closed_where_that_is_announced() -> None:
    places = np.array([[0.0, 0.0, 1.0], [SIZE, 0.0, 1.0], [0.0, SIZE, 1.0], [SIZE, SIZE, 1.0]])
    tree = {**joined({k: v for k, v in SQUARE.items() if k != "d"}), "d": SQUARE["d"]}
    silent = Fleet(places, tree, faces=ALL_FACES)
    with pytest.raises(BadInput, match="key 'closes' does not announce a closed loop"):
        silent.coordinator.join("d", silent.told())
    with pytest.raises(BadInput, match="mission.0': join 'd': it closes a loop of joints"):
        spec_of(tree, mission=[{"join": "d"}], faces=ALL_FACES)
    tree["d"] = {**SQUARE["d"], "closes": True}
    fleet = Fleet(places, tree, faces=ALL_FACES, mission=[{"join": "d"}])
    fleet.fly(3.0)
    assert fleet.coordinator.machines["d"].state == JointState.JOINED
    assert len(fleet.coordinator.structures[0].joints) == 4


def test_a_loop_beyond_the_drogue_is_refused() -> None:
    places = np.array([[0.0, 0.0, 1.0], [SIZE, 0.0, 1.0], [0.0, SIZE, 1.0], [SIZE, SIZE, 1.0]])
    tree = joined({k: v for k, v in SQUARE.items() if k != "d"})
    tree["d"] = {**SQUARE["d"], "closes": True}
    fleet = Fleet(places, tree, faces=ALL_FACES)
    now = fleet.told()
    now.shared[3, 0] += 0.1
    with pytest.raises(BadInput, match="a gap of 0.100 m is beyond the drogue's 0.07 m"):
        fleet.coordinator.join("d", now)
    now.shared[3, 0] -= 0.1
    now.shared[3, 3:7] = so3.quaternion_exp(np.array([0.0, 0.4, 0.0]))
    with pytest.raises(BadInput, match="an angle of 0.400 rad is beyond"):
        fleet.coordinator.join("d", now)


def test_an_emergency_ends_the_mission() -> None:
    places = np.array([[0.0, 0.0, 1.0], [SIZE, 0.0, 1.0]])
    mission = [{"hover": 1.0}, {"part": "j"}]
    fleet = Fleet(places, joined(TWO), mission=mission)
    orders = fleet.coordinator.abort("j", fleet.told(), "a rotor stands still")
    assert orders == [LatchOrder("j", LatchCommand.RELEASE)]
    fleet.fly(12.0)
    assert fleet.coordinator.failure == "a rotor stands still"
    told = joint_states(fleet.coordinator)
    machines = fleet.coordinator.machines.values()
    assert told.failed.tolist() == [machine.failure is not None for machine in machines]
    assert sum(told.failed) == 1
    assert [STATES[each] for each in told.states] == [machine.state for machine in machines]
    assert fleet.coordinator.mission.is_given_up
    assert fleet.rows[1, 0] == pytest.approx(SIZE + 1.5, abs=0.02)


@pytest.mark.parametrize(
    ("joints", "match"),
    [
        ({"j": {**TWO["j"], "leader": "m9"}}, "joints.j.leader': no module 'm9'"),
        (
            {**TWO, "k": {"leader": "m2", "face": "-x", "follower": "m1"}},
            "of two leaders neither would follow",
        ),
        ({**TWO, "k": {"leader": "m1", "face": "+x", "follower": "m3"}}, "belongs to joint 'j'"),
        ({"j": {**TWO["j"], "face": "+y"}}, "'m1' has no latch at \\+y"),
        ({"j": {**TWO["j"], "follower": "m1"}}, "'m1' cannot be joined to itself"),
    ],
)
def test_joints_that_do_not_fit_are_refused(joints: dict[str, Any], match: str) -> None:
    with pytest.raises(BadInput, match=match):
        Coordinator(spec_of(joints), NAMES, lift(4))


@pytest.mark.parametrize(
    ("joints", "mission", "match"),
    [
        (joined(TWO), [{"join": "j"}], "mission.0': join 'j': it is joined already then"),
        (TWO, [{"join": "j"}, {"join": "j"}], "mission.1': join 'j': it is joined already then"),
        (TWO, [{"part": "j"}], "mission.0': part 'j': it is not joined then"),
    ],
)
def test_missions_that_make_no_sense_are_refused(
    joints: dict[str, Any], mission: list[Any], match: str
) -> None:
    with pytest.raises(BadInput, match=match):
        spec_of(joints, mission=mission)
    spec_of(TWO, mission=[{"join": "j"}, {"part": "j"}, {"join": "j"}])


@pytest.mark.parametrize(
    ("off", "turn", "match"),
    [
        ((0.08, 0.0, 0.0), 0.0, "joint 'j': a gap of 0.080 m is beyond the drogue's 0.07 m"),
        ((-0.08, 0.0, 0.0), 0.0, "joint 'j': a gap of 0.080 m is beyond the drogue's 0.07 m"),
        ((0.0, 0.09, 0.0), 0.0, "joint 'j': an offset of 0.090 m is beyond the drogue's 0.07 m"),
        ((0.0, 0.0, 0.0), 0.5, "joint 'j': an angle of 0.500 rad is beyond the drogue's 0.35 rad"),
    ],
)
def test_modules_that_are_joined_from_the_start_stand_where_their_joint_holds_them(
    off: tuple[float, float, float], turn: float, match: str
) -> None:
    rows = np.zeros((2, 13))
    rows[:, 6] = 1.0
    rows[1, :3] = [SIZE, 0.0, 0.0]
    coordinator = Coordinator(spec_of(joined(TWO)), NAMES[:2], lift(2))
    coordinator.check_start(rows)
    rows[1, :3] += off
    rows[1, 3:7] = so3.quaternion_exp(np.array([0.0, 0.0, turn]))
    with pytest.raises(BadInput, match=match):
        coordinator.check_start(rows)
    Coordinator(spec_of(TWO), NAMES[:2], lift(2)).check_start(rows)


def test_orders_that_make_no_sense_are_refused() -> None:
    places = np.array([[0.0, 0.0, 1.0], [1.5, 0.0, 1.0], [3.0, 0.0, 1.0]])
    fleet = Fleet(places, LINE)
    now = fleet.told()
    fleet.coordinator.join("j", now)
    with pytest.raises(BadInput, match="joint 'k': 'j' is in alignment, one at a time"):
        fleet.coordinator.join("k", now)
    with pytest.raises(BadInput, match="join 'j': it is alignment, not apart"):
        fleet.coordinator.join("j", now)
    with pytest.raises(BadInput, match="no joint 'x' \\(joints: j, k\\)"):
        fleet.coordinator.part("x", now)
    for name in ("x", ""):
        with pytest.raises(BadInput, match=f"mission.0': no joint '{name}'"):
            spec_of(TWO, [{"join": name}])


def test_a_loop_from_the_start_must_be_announced() -> None:
    with pytest.raises(BadInput, match="a, b, c, d close a loop"):
        Coordinator(spec_of(joined(SQUARE), faces=ALL_FACES), NAMES, lift(4))
    announced = joined(SQUARE, d={"closes": True})
    assert len(Coordinator(spec_of(announced, faces=ALL_FACES), NAMES, lift(4)).structures) == 1


def test_chains_of_the_tests_are_those_of_settings() -> None:
    made = Coordinator(spec_of(joined(LINE)), NAMES[:3], lift(3)).structures[0]
    assert made.joints == ("j", "k")
    np.testing.assert_allclose(made.offsets_S[:, 0], [-SIZE, 0.0, SIZE])
    assert len(chain(3)) == 2


def test_a_law_that_takes_no_feed_forward_flies_no_module() -> None:
    with pytest.raises(BadInput, match="key 'modules': 'm1' is flown by a law that takes no feed"):
        RoleControl.of("m1", None, replaces=True)  # type: ignore[arg-type]
