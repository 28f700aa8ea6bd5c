# SPDX-License-Identifier: BSD-3-Clause
"""Steps of perches and pushes, which come to their walls by velocities, and of modules that dock."""

from types import SimpleNamespace

import numpy as np
import pytest
from support.touch_places import line, state

from iap_control.modules.exchange import JointState
from iap_description.errors import BadInput
from iap_learning.tasks.kinds.module_docking import kind as docking
from iap_learning.tasks.kinds.module_docking.latch import latch_of
from iap_learning.tasks.kinds.perch_on_wall import episodes as perch
from iap_learning.tasks.kinds.perch_on_wall.counts import PerchCounts, PerchRules
from iap_learning.tasks.kinds.registry import make_task
from iap_learning.tasks.kinds.wall_push import episodes as push
from iap_learning.tasks.kinds.wall_push.counts import PushCounts, PushRules
from iap_physics.latching.kernel import CAUGHT, LOCKED, OPEN
from iap_simulation.scenario.resolving import resolved
from iap_simulation.tasks.outcomes import ARRIVED, BOUNCED, RUNNING, TIME_IS_UP

DT = 0.01


def coming(**more):
    """Episodes of two worlds, as far as their methods look at them."""
    x = np.array(
        [[state((1.0, 2.0, 3.0), np.pi / 2, (0.1, 0.5, 0.3))], [state((1.3, 2.2, 3.4), np.pi / 2)]]
    )
    x[0, 0, 10:13] = 0.0, 0.0, 2.0
    wrenches = np.array([[3.0, -4.0, 0.0, 0, 0, 0], [0.0, -12.0, 0.0, 0, 0, 0]])
    worlds = SimpleNamespace(scenario=SimpleNamespace(dt=DT), state=x, contact_wrenches=wrenches)
    measured = []
    made = SimpleNamespace(
        count=2, worlds=worlds, status=np.zeros(2, np.int64), line=line(), _action=np.full((2, 1), 0.5),
        measured=measured, interface=SimpleNamespace(measure=lambda *each: measured.append(each)),
    )  # fmt: skip
    made.task = SimpleNamespace(latch="patch", reward=SimpleNamespace())
    for key, each in more.items():
        setattr(made, key, each)
    return made


def check_measured(made, periods):
    """Check that states and wrenches of each of some periods have been measured."""
    assert len(made.measured) == periods
    for x, wrenches_W in made.measured:
        np.testing.assert_array_equal(x, made.worlds.state[:, 0])
        assert wrenches_W is made.worlds.contact_wrenches


def test_a_period_of_a_push_adds_up_what_is_missing_and_what_is_far_too_much():
    """5 N are wanted: 4 N miss one, 12 N are beyond twice that by two."""
    rules = PushRules(5.0, 1.0, 20.0, 1, 0.05, 2, 5, 0.5)
    made = coming(
        _rules=rules, _counts=PushCounts.of(2), _force_sum=np.zeros(2), _over_sum=np.zeros(2),
        _missing=np.zeros(2), _has_touched=np.zeros(2, bool),
    )  # fmt: skip
    made.task.sensor = SimpleNamespace(touch=10.0)
    for _ in range(2):
        push.WallPushEpisodes._look(made)
    np.testing.assert_allclose(made._force_sum, [0.02, 0.1])
    np.testing.assert_allclose(made._over_sum, [0.0, 0.04])
    np.testing.assert_allclose(made._missing, [0.0, -0.14])  # 7 N too many since the touch
    check_measured(made, 2)
    np.testing.assert_allclose(made._counts.contact.peak, [4.0, 12.0])
    np.testing.assert_allclose(made._counts.place[1], [-0.3, 0.4], atol=1e-12)
    made.task.reward = SimpleNamespace(error=-2.0, peak=-10.0)
    np.testing.assert_allclose(push.WallPushEpisodes._progress(made), [-0.04, -0.2 - 0.4])
    np.testing.assert_allclose(push.WallPushEpisodes._progress(made), 0.0)


class Latched:
    """Latches of a world that have done something."""

    def __init__(self, *events):
        face = SimpleNamespace(slip=0.3, least_speed=0.12)
        latch = SimpleNamespace(radius=0.05, face=face)
        self.events = list(events)
        self.working = [
            SimpleNamespace(name=name, latch=latch, face=face) for name in ("other", "patch")
        ]


def event(what, closing, latch="patch"):
    probe = SimpleNamespace(closing=closing, radius=0.0)
    return SimpleNamespace(latch=latch, what=what, probe=probe, slip=0.0)


def test_what_a_latch_has_done_is_noted_with_the_speed_of_its_first_event():
    counts, endings = PerchCounts.of(3), np.zeros(3, np.int64)
    latches = Latched(event("lost", 0.9, "other"), event("caught", 0.3), event("lost", 0.7))
    perch.note(latches, "patch", 1, endings, counts)
    assert endings.tolist() == [RUNNING, BOUNCED, RUNNING] and counts.closing[1] == 0.3
    perch.note(Latched(event("lost", 0.9, "other")), "patch", 2, endings, counts)
    assert np.isnan(counts.closing[[0, 2]]).all() and endings[2] == RUNNING


def perched(phases=(OPEN, LOCKED), **more):
    """Perches by the second one of two latches, of which the interface knows the ranges by the states of the bodies."""
    made = coming(
        _rules=PerchRules(80.0, 3, 9), _counts=PerchCounts.of(2), _number=1, _least=np.array([0.6, 0.6]),
        _before_least=np.array([0.8, 0.3]), _sums=np.zeros((2, 2)),
        _phase_numbers=np.array([[CAUGHT, phases[0]], [OPEN, phases[1]]]), seen=[],
    )  # fmt: skip
    made.interface.ranges = lambda x: np.column_stack([x[:, 1] - [1.3, 1.9], [7.0, 7.0]])
    made.interface.look_at_latches = lambda each: made.seen.append((each, len(made.measured)))
    latched = [Latched(event("caught", 0.4)), Latched()]
    made.latches = lambda world: latched[world]
    for key, each in more.items():
        setattr(made, key, each)
    return made


def test_a_period_of_a_perch_counts_force_until_it_is_locked_and_time_from_then_on():
    """Patches are 0.7 and 0.3 m off."""
    made = perched()
    perch.PerchEpisodes._look(made)
    np.testing.assert_allclose(made._sums, [[0.0, DT], [5.0 * DT, 0.0]])
    np.testing.assert_allclose(made._least, [0.6, 0.3])
    check_measured(made, 1)
    ((phases, measured),) = made.seen
    assert phases is made._phase_numbers and measured == 0  # it looks before it measures
    assert made._counts.closing[0] == 0.4 and made._counts.held.tolist() == [0, 1]
    made.task.reward = SimpleNamespace(approach=2.0, hold=10.0, force=-1.0, time=-0.5)
    made.dt = 0.2
    reward = perch.PerchEpisodes._progress(made)
    np.testing.assert_allclose(reward, [2.0 * 0.2 - 0.05 - 0.1, 10.0 * DT - 0.1])
    np.testing.assert_allclose(made._before_least, [0.6, 0.3])
    assert not made._sums.any()
    made._least = np.array([-0.1, 0.2])
    np.testing.assert_allclose(perch.PerchEpisodes._progress(made), [1.1, 0.1])
    assert made._before_least.tolist() == [0.0, 0.2]


def test_a_perch_that_is_over_notes_nothing_more():
    made = perched()
    made._counts.contact.outcome[0] = TIME_IS_UP
    perch.PerchEpisodes._look(made)
    assert np.isnan(made._counts.closing).all()


def test_an_oracle_of_a_perch_knows_the_true_ranges_and_the_least_speed():
    made = perched()
    made.interface.inputs_of = lambda *each: each
    x, action, ranges = perch.PerchEpisodes.true_inputs.fget(made)
    np.testing.assert_array_equal(x, made.worlds.state[:, 0])
    np.testing.assert_allclose(ranges, [[0.7, 7.0], [0.3, 7.0]])
    assert action is made._action
    assert perch.PerchEpisodes.least_speed(made, 0) == 0.12


# modules that dock


FUNNEL = {
    "sideways": 2.0, "along": 1.5, "turn": 3.0, "cruise": 0.4, "touch": 0.05, "in_line": 0.01, "slope": 0.5,
    "ahead": 0.2,
}  # fmt: skip


def funnel(filtered, v=(0.0, 0.0, 0.0)):
    """Values of a follower before the face +x of a leader that is turned by a quarter."""
    leader = np.array([state((0.0, 0.0, 0.0), np.pi / 2)])
    follower = np.array([state((0.0, 0.5, 0.0), np.pi / 2, v)])
    episodes = SimpleNamespace(
        count=1, size=4, dt=0.05, limit=9, filtered=np.array([filtered]),
        latch=SimpleNamespace(normal_L=np.array([1.0, 0.0, 0.0])), worlds=SimpleNamespace(shared=(leader, follower)),
    )  # fmt: skip
    keys = {"description": "x", "guide": "funnel", "funnel": FUNNEL, "noise": 0.0}
    return docking.FunnelAgent(
        docking.FunnelAgentSettings.model_validate(keys), episodes
    ).values()[0]


def test_a_follower_in_line_closes_in_to_the_speed_of_the_touch_and_turns_back():
    """The leader's x axis is y of the world: the follower goes against it."""
    at = [0.1, 0.0, 0.0, 0.0, 0.0, 0.2]
    np.testing.assert_allclose(funnel(at), [0.0, -(0.15 + 0.05), 0.0, -0.6], atol=1e-12)
    np.testing.assert_allclose(funnel([0.9, *at[1:]])[1], -0.4)
    np.testing.assert_allclose(funnel(at, v=(0.0, -0.1, 0.0))[1], -(1.5 * 0.08 + 0.05))


def test_a_follower_off_the_axis_goes_back_to_it_and_waits_where_the_funnel_is_as_narrow():
    """Off by 5 cm, the funnel begins at (0.05 - 0.01) / 0.5 = 8 cm; further off it is no faster than it cruises."""
    np.testing.assert_allclose(
        funnel([0.1, 0.03, 0.04, 0.0, 0.0, 0.0]), [0.06, -1.5 * 0.02, -0.08, 0.0], atol=1e-12
    )
    away = funnel([0.1, 3.0, 4.0, 0.0, 0.0, 0.0])
    np.testing.assert_allclose(away, [0.24, 0.4, -0.32, 0.0], atol=1e-12)


def docked(name="module_docking"):
    """An episode of modules in an engine, whose joint is set by hand."""
    task = make_task(name)
    spec = resolved(task.scenario, task.settings, {})[0].modules
    ((joint, about),) = spec.joints.items()
    machine = SimpleNamespace(holds=False, state=JointState.APPROACH)
    coordinator = SimpleNamespace(
        joints={joint: SimpleNamespace(modules=(1, 0))}, machines={joint: machine}, spec=spec
    )
    latch = latch_of(spec, about)
    at_face = latch.home_L + 0.1 * latch.normal_L
    rows = {
        1: state((0.0, 0.0, 1.0)),
        0: state((*(at_face + [0.0, 0.0, 1.0]),), 0.0, tuple(-0.07 * latch.normal_L)),
    }
    simulation = SimpleNamespace(
        modules=SimpleNamespace(coordinator=coordinator), t=1.0,
        plant=SimpleNamespace(state=lambda i: rows[i][None, None]),
    )  # fmt: skip
    episode = docking.ModuleDockingEngineEpisode(simulation, task)
    return episode, machine, simulation, rows


def test_a_docking_in_an_engine_is_measured_until_the_catch_and_over_once_it_is_joined():
    episode, machine, simulation, rows = docked()
    episode.observe()
    assert episode.outcome == RUNNING and np.isnan(episode.measures["time"])
    assert episode.measures["closing_speed"] == pytest.approx(0.07)
    assert episode.measures["offset"] == pytest.approx(0.0)
    machine.holds, simulation.t = True, 2.5
    rows[0][7:10] = 9.0
    episode.observe()
    assert episode.measures == pytest.approx({"time": 2.5, "closing_speed": 0.07, "offset": 0.0})
    machine.state, simulation.t = JointState.JOINED, 4.0
    episode.observe()
    assert episode.outcome == ARRIVED and episode.measures["time"] == 2.5
    machine.state = JointState.EMERGENCY
    episode.observe()
    assert episode.outcome == ARRIVED


def test_a_docking_that_is_given_up_is_a_failure():
    episode, machine, _, _ = docked()
    machine.state = JointState.EMERGENCY
    episode.observe()
    assert episode.outcome not in (RUNNING, ARRIVED)


@pytest.mark.parametrize("joints", [{}, {"a": 1, "b": 2}])
def test_a_scenario_that_docks_no_two_modules_is_refused(joints):
    task = make_task("module_docking")
    coordinator = SimpleNamespace(joints=joints)
    for modules in (None, SimpleNamespace(coordinator=coordinator)):
        with pytest.raises(BadInput, match="^scenario 'module_docking' docks no two modules$"):
            docking.ModuleDockingEngineEpisode(SimpleNamespace(modules=modules), task)
