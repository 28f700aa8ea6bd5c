# SPDX-License-Identifier: BSD-3-Clause
"""Followers that dock: by coordinators of many worlds, by a policy in a flight, and their steps."""

from types import SimpleNamespace

import numpy as np
import pytest
from support.touch_places import state

from iap_description.errors import BadInput
from iap_description.signals import Reference
from iap_description.states import Level
from iap_learning.policies.policy import Policy
from iap_learning.tasks.kinds.module_docking import episodes as many
from iap_learning.tasks.kinds.module_docking.episodes import ModuleDockingEpisodes, Script
from iap_learning.tasks.kinds.module_docking.kind import PolicyGuide
from iap_learning.tasks.kinds.module_docking.latch import latch_of
from iap_learning.tasks.kinds.registry import make_task
from iap_physics.engines.engine import RUNNING
from iap_simulation.scenario.resolving import resolved
from iap_simulation.tasks.outcomes import ARRIVED
from iap_simulation.vehicles.vehicle import Vehicle


class Side:
    """Worlds of one of both modules."""

    def __init__(self, number):
        self.measured = np.full((3, 13), float(number))
        self.timeline = SimpleNamespace(row=lambda k: np.full(20, 10.0 * number + k))


class Coordinated:
    """A coordinator that notes its reports, and moves references by its own number."""

    def __init__(self, number):
        self.number, self.reports = number, []

    def update(self, reports):
        self.reports.append(reports)

    def put_rows(self, t, nominal, out):
        out[:] = nominal + self.number + t


def pairs(follower=1):
    made, both = [], [Side(1), Side(2)]

    def coordinator():
        made.append(Coordinated(100 * (len(made) + 1)))
        return made[-1]

    shared = np.full((3, 13), 7.0), np.full((3, 13), 8.0)  # of leader and follower
    return SimpleNamespace(
        both=both, follower=both[follower], seeds=np.arange(3), shared=shared, times=np.array([0.5, 1.5, 2.5]),
        coordinator=coordinator,
    ), made  # fmt: skip


@pytest.mark.parametrize(
    ("follower", "seen", "own"), [(1, [7.0, 8.0], 20.0), (0, [8.0, 7.0], 10.0)]
)
def test_every_world_that_runs_has_a_coordinator_of_its_own(follower, seen, own):
    both, made = pairs(follower)
    script = Script(both)
    assert (script.references(0.0).rows[:, 0] == own).all()
    script.coordinate(np.array([RUNNING, ARRIVED, RUNNING]))
    assert len(made) == 2
    report = made[1].reports[0]
    assert report.t == 2.5 and report.command_times.tolist() == [2.5, 2.5]
    assert report.estimates[:, 0].tolist() == [1.0, 2.0] and report.shared[:, 0].tolist() == seen
    assert not report.external_P.any() and report.joint_S == {}
    rows = script.references(0.1).rows
    first, last = own + 100.5, own + 202.5
    np.testing.assert_allclose(rows[:, 0], [1.1 * first, own + 0.1 * own, 1.1 * last])
    np.testing.assert_allclose(rows[:, 7], [first, own, last])
    script.reset([0])
    script.coordinate(np.array([RUNNING, ARRIVED, RUNNING]))
    assert len(made) == 3 and len(made[1].reports) == 2 and len(made[2].reports) == 1


def stepped(**more):
    flown = []
    follower = SimpleNamespace(
        advance=lambda references=None: flown.append(("follower", references)),
        state=np.zeros((2, 1, 13)),
    )
    leader = SimpleNamespace(
        advance=lambda: flown.append(("leader",)), timeline=SimpleNamespace(row=lambda k: np.arange(20.0)),
        state=np.ones((2, 1, 13)),
    )  # fmt: skip
    worlds = SimpleNamespace(
        every=2,
        follower=follower,
        leader=leader,
        scenario=SimpleNamespace(dt=0.01),
        shared=("l", "f"),
    )
    made = SimpleNamespace(
        worlds=worlds, task=SimpleNamespace(repeat=6, action=SimpleNamespace(kind="velocity")), count=2, flown=flown,
        outcome=np.zeros(2, int), _end_coordination_period=lambda: flown.append(("end",)),
        _known=np.array([[0.1, 0.2]] * 2),
    )  # fmt: skip
    for key, each in more.items():
        setattr(made, key, each)
    return made


def test_a_script_guides_followers_between_two_instants_of_coordination():
    coordinated = []
    script = SimpleNamespace(
        coordinate=lambda outcome: coordinated.append(outcome), references=lambda elapsed: elapsed
    )
    made = stepped(_script=script)
    ModuleDockingEpisodes._fly_scripted(made)
    period = [("follower", 0.0), ("follower", 0.01), ("end",)]
    assert made.flown == period * 3 and len(coordinated) == 3


def test_actions_are_held_between_two_instants_of_coordination(monkeypatch):
    acted = []
    monkeypatch.setattr(many, "act", lambda *each: acted.append(each))
    made = stepped()
    ModuleDockingEpisodes._fly(made, "values")
    assert acted == [("velocity", "values", made.worlds.follower, 2)] * 3
    assert made.flown == [("end",)] * 3
    report = ModuleDockingEpisodes.report(made)
    assert report["closing_speed"].tolist() == [0.1, 0.1] and report["offset"].tolist() == [
        0.2,
        0.2,
    ]
    place = ModuleDockingEpisodes.viewpoint.fget(made)
    assert [each.tolist() for each in place] == [[0.0, 1.0, 2.0]] * 2
    leader, follower = ModuleDockingEpisodes._truth.fget(made)
    assert leader.all() and not follower.any() and leader.shape == (2, 13)


# a policy


@pytest.fixture(scope="module")
def scenario():
    task = make_task("module_docking")
    return resolved(task.scenario, task.settings, {})[0]


@pytest.fixture(scope="module")
def vehicles(scenario):
    return [Vehicle.of(scenario, each) for each in scenario.vehicles]


def test_a_policy_guides_the_follower_by_what_its_latch_goes_by(scenario, vehicles, monkeypatch):
    task = make_task("module_docking")
    guide = PolicyGuide(Policy.load("module_docking"), task, scenario, vehicles)
    assert guide.info["name"] == "module_docking"
    seen = []

    def policy(observation):
        seen.append(observation.copy())
        return np.array([[0.5, -9.0, 0.0, 0.25]], np.float32)

    monkeypatch.setattr(guide, "_policy", policy)
    ((_, joint),) = scenario.modules.joints.items()
    names = [vehicle.name for vehicle in vehicles]
    leader, follower = names.index(joint.leader), names.index(joint.follower)
    latch = latch_of(scenario.modules, joint)
    shared = np.zeros((2, 13))
    shared[leader] = state((0.0, 0.0, 1.0))
    shared[follower] = state((*(latch.home_L + [0.2, 0.0, 1.0]),))
    bodies = {leader: shared[leader][None, None], follower: shared[follower][None, None]}
    plant = SimpleNamespace(
        state=lambda i: bodies[i], propulsion=[SimpleNamespace(rpm=np.zeros((1, 1, 4)))] * 2
    )
    reference = Reference(np.zeros(20))
    step = guide._repeat
    outputs = [
        guide.reference(k, shared, plant, reference, is_due=k % 5 == 3)
        for k in range(3, 2 * step + 4)
    ]
    assert len(seen) == 3  # at the first instant and after every step
    assert outputs[0].level == Level.POSE
    scale, action = guide._scale, np.array([0.5, -1.0, 0.0, 0.25])
    np.testing.assert_allclose(outputs[0].row[7:10], scale.apply(action)[:3], atol=1e-12)
    columns, first = {}, 0
    for name, size, divisor in guide._observer.layout:
        columns[name], first = (slice(first, first + size), divisor), first + size
    at, divisor = columns["action"]
    assert not seen[0][0, at].any()
    np.testing.assert_allclose(seen[1][0, at] * divisor, action, atol=1e-6)
    if "filtered_offset" in columns:
        at, divisor = columns["filtered_offset"]
        np.testing.assert_allclose(seen[0][0, at] * divisor, [0.2, 0.0, 0.0], atol=1e-6)


def test_a_policy_docks_modules_by_one_joint_alone(scenario, vehicles):
    task, policy = make_task("module_docking"), Policy.load("module_docking")
    for modules in (None, SimpleNamespace(joints={"a": 1, "b": 2})):
        other = SimpleNamespace(modules=modules, policy="mine")
        with pytest.raises(BadInput, match="'mine' docks modules by one joint alone$"):
            PolicyGuide(policy, task, other, vehicles)
