# SPDX-License-Identifier: BSD-3-Clause
"""Modules that are lost: who leads then, what references do, and what the others bear."""

import numpy as np
import pytest
from support.module_joints import ARM, SIZE, STIFFNESS, WEIGHT, chain, lift, spec_of, square, told

from iap_control.modules.bearing import Lift, evened, shares
from iap_control.modules.coordinator import Coordinator
from iap_control.modules.exchange import ModuleReports, ModuleRole
from iap_control.modules.feed_forward import FeedForward
from iap_control.modules.joint_wrench import moved_to, potential
from iap_control.modules.losses import LossMonitor
from iap_control.modules.structure import Structure, structures
from iap_description.arrays import Array
from iap_description.errors import BadInput
from iap_description.math import so3

DOWN = np.array([0.0, 0.0, -WEIGHT])
LINE = {
    f"j{i}": {"leader": f"m{i}", "face": "+x", "follower": f"m{i + 1}", "joined": True}
    for i in (1, 2)
}
PLACES = np.array([[SIZE * i, 0.0, 1.0] for i in range(3)])


def line(**keys: object) -> Coordinator:
    """Coordinator of three in a chain, without patience."""
    return Coordinator(spec_of(LINE, lost_after=0.05, **keys), ("m1", "m2", "m3"), lift(3))


def silent(t: float, since: float) -> ModuleReports:
    """Statuses of three modules whose middle one has had no command since a time [s]."""
    return told(t, PLACES, command_times=np.array([t, since, t]))


def lost_of(count: int, lost: int) -> Structure:
    """A chain with a module that is lost."""
    return Structure.of(chain(count), 0, {lost})


@pytest.mark.parametrize("count", [2, 3, 4, 8])
def test_the_nearest_that_obeys_leads(count: int) -> None:
    middle = (count - 1) // 2
    assert lost_of(count, middle).leader in (middle - 1, middle + 1)
    assert Structure.of(chain(count), 0, range(count)).leader == middle


def test_late_is_who_is_behind_the_others() -> None:
    losses = LossMonitor({}, 0.05)
    assert losses.update(1.0, [0.98, 0.98, 0.98]) == []
    assert losses.update(1.0, [1.0, 0.98, 1.0]) == []
    assert losses.update(1.025, [1.025, 0.98, 1.025]) == []
    assert losses.update(1.03, [1.03, 0.98, 1.03]) == [1]
    assert losses.update(2.0, [2.0, 2.0, 2.0]) == []
    assert losses.modules == {1}


def test_after_a_silence_of_all_nobody_is_late_yet() -> None:
    losses = LossMonitor({}, 0.05)
    assert losses.update(1.0, [1.0, 1.0]) == []
    assert losses.update(3.0, [1.0, 1.0]) == []
    assert losses.update(3.0, [3.0, 1.0]) == []  # the other one's command is on its way
    assert losses.update(3.025, [3.02, 3.0]) == []
    losses = LossMonitor({}, 0.05)
    losses.update(3.0, [3.0, 1.0])
    losses.update(3.025, [3.025, 1.0])
    assert losses.update(3.05, [3.05, 1.0]) == [1]


def test_a_neighbour_leads_without_a_step_of_references() -> None:
    coordinator = line()
    rows = np.zeros((3, 20))
    nominal = told(0.0, PLACES).nominal
    nominal[0, :3] += [0.1, -0.2, 0.3]  # what m1 would track alone is elsewhere
    coordinator.update(silent(1.0, 1.0)._replace(nominal=nominal))
    coordinator.put_rows(1.0, nominal, rows)
    before = rows.copy()
    for t in (1.025, 1.05):
        coordinator.update(silent(t, 1.0)._replace(nominal=nominal))
    assert coordinator.roles == [ModuleRole.LEADER, ModuleRole.FOLLOWER, ModuleRole.FOLLOWER]
    assert [str(each) for each in coordinator.losses] == ["module 'm2': lost, 'm1' leads"]
    coordinator.put_rows(1.05, nominal, rows)
    np.testing.assert_allclose(rows, before, atol=1e-12)
    nominal[1] += 5.0  # the reference of the lost one counts no more
    coordinator.put_rows(1.05, nominal, rows)
    np.testing.assert_allclose(rows[:, :3], before[:, :3], atol=1e-12)


def test_a_structure_stays_where_it_is_though_its_new_leader_thinks_otherwise() -> None:
    """References are where the new leader thinks that it is, and no module that obeys pushes otherwise than before."""
    coordinator, rows = line(), np.zeros((3, 20))
    off = np.array([[0.03, -0.02, 0.04], [0.0, 0.0, 0.0], [-0.01, 0.05, 0.02]])
    yaw = so3.quaternion_exp(np.array([0.0, 0.0, 0.3]))
    reports = silent(1.0, 1.0)
    reports.estimates[:, :3] += off
    reports.estimates[:, 3:7] = reports.nominal[:, 3:7] = yaw
    reports.estimates[:, :3] = so3.rotate(yaw, reports.estimates[:, :3])
    reports.nominal[:, :3] = so3.rotate(yaw, PLACES)

    def pushes() -> Array:
        coordinator.put_rows(1.0, reports.nominal, rows)
        errors_P = so3.rotate(so3.conjugate(yaw), rows[:, :3] - reports.estimates[:, :3])
        return np.array(STIFFNESS) * errors_P + coordinator.feed_forward.wrenches_P[:, :3]

    coordinator.update(reports)
    before = pushes()
    for t in (1.025, 1.05):
        times = np.array([t, 1.0, t])
        coordinator.update(reports._replace(t=t, command_times=times))
    assert coordinator.roles[0] == ModuleRole.LEADER
    np.testing.assert_allclose(pushes()[[0, 2]], before[[0, 2]], atol=1e-12)
    np.testing.assert_allclose(rows[0, :3], reports.estimates[0, :3], atol=1e-12)


def test_references_go_on_as_they_were_where_a_follower_is_lost() -> None:
    coordinator, rows = line(), np.zeros((3, 20))
    reports = silent(1.0, 1.0)
    reports.estimates[:, :3] += [0.03, -0.02, 0.04]
    coordinator.update(reports)
    coordinator.put_rows(1.0, reports.nominal, rows)
    before = rows.copy()
    for t in (1.025, 1.05):
        coordinator.update(reports._replace(t=t, command_times=np.array([1.0, t, t])))
    assert [str(each) for each in coordinator.losses] == ["module 'm1': lost, 'm2' leads"]
    coordinator.put_rows(1.05, reports.nominal, rows)
    np.testing.assert_allclose(rows[1:], before[1:], atol=1e-12)


def test_feed_forward_waits_while_a_wrench_is_not_known() -> None:
    coordinator, felt_P = line(), np.zeros((3, 6))
    felt_P[0, 0] = 1.0
    felt_P[2] = np.nan
    coordinator.update(told(1.0, PLACES, external_P=felt_P))
    assert not coordinator.feed_forward.wrenches_P.any()
    felt_P[2] = 0.0
    coordinator.update(told(1.025, PLACES, external_P=felt_P))
    assert coordinator.feed_forward.wrenches_P.any()


def test_a_docking_with_a_lost_module_ends() -> None:
    joints = {"j1": {**LINE["j1"], "joined": False}}
    spec = spec_of(joints, mission=[{"join": "j1"}], lost_after=0.05)
    coordinator = Coordinator(spec, ("m1", "m2"), lift(2))
    places = np.array([[0.0, 0.0, 1.0], [1.5, 0.0, 1.0]])
    for t in (0.0, 0.025, 0.05):
        coordinator.update(told(t, places, command_times=np.array([t, 0.0])))
    assert coordinator.failure == "joint 'j1': 'm2' is lost"


@pytest.mark.parametrize(("count", "lost"), [(3, 1), (4, 1), (5, 2), (4, 3)])
def test_shares_sum_up_to_what_is_borne(count: int, lost: int) -> None:
    structure, wrench_S = lost_of(count, lost), np.array([1.0, 2.0, 40.0, 0.3, -5.0, 0.7])
    borne = shares(structure, wrench_S, lift(count))
    np.testing.assert_allclose(
        moved_to(borne, structure.offsets_S).sum(axis=0), wrench_S, atol=1e-9
    )
    np.testing.assert_array_equal(borne[lost], 0.0)


@pytest.mark.parametrize(("count", "lost", "least"), [(3, 1, 1.5), (4, 1, 1.473), (5, 2, 1.25)])
def test_a_weight_is_borne_with_least_largest_thrusts(count: int, lost: int, least: float) -> None:
    structure = lost_of(count, lost)
    weight_S = np.concatenate([DOWN, np.cross(structure.offset_S(lost), DOWN)])
    borne = shares(structure, -weight_S, lift(count))[structure.obeys]
    rotors = 0.25 * (WEIGHT + borne[:, 2] + np.abs(borne[:, 3:5]).sum(axis=1) / ARM)
    assert (
        0.999 < rotors.max() / (0.25 * WEIGHT * least) < 1.03
    )  # the optimum is a linear program's


def test_the_middle_of_five_is_borne_evenly() -> None:
    feed_forward = FeedForward(lift(5), 0.2, "default", limit=1.0)
    feed_forward.bear(lost_of(5, 2), 2, DOWN)
    np.testing.assert_allclose(feed_forward.wrenches_P[[0, 1, 3, 4], 2], WEIGHT / 4)
    alone = structures({}, range(5), {2})[2]
    feed_forward.bear(alone, 2, DOWN)
    np.testing.assert_allclose(feed_forward.wrenches_P, 0.0, atol=1e-12)


def least_shares(structure: Structure, wrench_S: Array) -> Array:
    """Shares of least norm: what `evened` takes away of modules that feel all of it in one place."""
    laplacian = structure.incidence @ structure.incidence.T
    alone = np.zeros((len(structure.modules), 6))
    first = int(np.argmax(structure.obeys))
    alone[first], alone[int(np.argmin(structure.obeys))] = -wrench_S, wrench_S
    left = laplacian @ evened(structure, np.linalg.pinv(laplacian) @ alone, ARM)
    borne = np.where(structure.obeys[:, None], left - alone, 0.0)
    return moved_to(borne, -structure.offsets_S)


def felt_by(structure: Structure, borne: Array) -> Array:
    """(n, 6) W_ext of modules that bear wrenches (n, 6) for lost ones, at rest, in halves where several are lost."""
    felt = -borne
    share = moved_to(borne, structure.offsets_S).sum(axis=0) / (~structure.obeys).sum()
    felt[~structure.obeys] = moved_to(
        np.tile(share, (1, 1)), -structure.offsets_S[~structure.obeys]
    )
    return felt


@pytest.mark.parametrize("joints", [chain(4), square()])
def test_feed_forward_rests_where_all_bear_their_share_and_only_there(joints: dict) -> None:  # type: ignore[type-arg]
    structure = Structure.of(joints, 0, {1})
    borne = least_shares(structure, np.array([0.0, 0.0, 40.0, 0.0, -5.0, 0.0]))
    y = evened(structure, potential(structure, felt_by(structure, borne)), ARM)
    np.testing.assert_allclose(y - y[0], 0.0, atol=1e-9)
    unequal = borne.copy()
    unequal[0, 2] += 1.0
    unequal[2, 2] -= 1.0
    y = evened(structure, potential(structure, felt_by(structure, unequal)), ARM)
    assert np.abs(y - y[0]).max() > 0.1


def test_those_that_are_joined_to_stopped_motors_bear_the_weight() -> None:
    coordinator = line(faults=[{"module": "m2", "at": 1.0, "kind": "motors"}])
    coordinator.update(told(0.9, PLACES))
    assert not coordinator.feed_forward.wrenches_P.any()
    coordinator.update(told(1.0, PLACES))
    np.testing.assert_allclose(coordinator.feed_forward.wrenches_P[[0, 2], 2], WEIGHT / 2)
    coordinator.update(told(1.025, PLACES, external_P=np.eye(3, 6)))
    np.testing.assert_allclose(coordinator.feed_forward.wrenches_P[[0, 2], 0], 0.0, atol=1e-12)


def test_a_fault_of_no_module_is_refused() -> None:
    with pytest.raises(BadInput, match="key 'modules.faults.0.module': no module 'm9'"):
        line(faults=[{"module": "m9", "at": 1.0, "kind": "motors"}])


def test_the_lever_of_a_thrust_is_the_root_of_the_mean_square_along_x_and_y():
    both = Lift.of(
        [1.0, 2.0], [[(0.1, 0.2), (-0.1, -0.2)], [(0.3, 0.0), (-0.3, 0.4)]], [STIFFNESS] * 2
    )
    squares = [0.01, 0.04, 0.01, 0.04, 0.09, 0.0, 0.09, 0.16]
    assert both.lever == pytest.approx(np.sqrt(np.mean(squares)))
    second = both.among([1])
    assert second.weights.tolist() == [2.0] and second.rotors.shape == (1, 2, 2)
    assert second.lever == pytest.approx(np.sqrt(np.mean(squares[4:])))
