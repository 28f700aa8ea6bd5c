# SPDX-License-Identifier: BSD-3-Clause
"""A policy that touches: what its interface is shown at each instant, and what it answers."""

from types import SimpleNamespace

import numpy as np
import pytest

from iap_description.states import Level
from iap_learning.tasks.kinds.registry import kind_of, make_task
from iap_learning.tasks.senses import Sense, Senses
from iap_learning.tasks.touch_interface import TouchInterface
from iap_learning.tasks.touch_policy import FIRST, TouchPolicy
from iap_simulation.batch.references import References

REFERENCE, RPM = np.arange(22.0), np.full((3, 4), 5000.0)
WRENCH, OBJECTS, PHASES = np.arange(6.0), np.ones((3, 13)), np.array([2, 0])


class Interface(TouchInterface):
    """Notes what it is told, in turn; actions are the x and y of references, at a level of velocities."""

    def __init__(self):
        self.told, self.worlds = [], []

    of = reset = None

    def begin(self, worlds, x):
        self.told.append(("begin", worlds.tolist(), x[:, 0].tolist()))

    def look_at_objects(self, objects):
        self.told.append(("objects", objects.shape))

    def look_at_latches(self, phases):
        self.told.append(("phases", phases.tolist()))

    def measure(self, x, wrenches_W):
        self.told.append(("measure", x[:, 0].tolist(), wrenches_W.tolist()))

    def inputs(self, x, action):
        self.told.append(("inputs", x[:, 0].tolist(), action.tolist()))
        return x[:, :2]

    def references(self, worlds, values):
        self.told.append("references")
        self.worlds.append((worlds.state, worlds.rpm, worlds.goal))
        rows = worlds.goal.copy()
        rows[:, :2] = values
        return References.of(rows, Level.VELOCITY, np.full((1, 6), 4.0))


@pytest.fixture
def flown() -> TouchPolicy:
    """A policy that acts every second period, by ten times and minus one tenth of the first two numbers of a state."""
    made = object.__new__(TouchPolicy)
    vars(made).update(
        _interface=Interface(), _repeat=2, _period=-1, _world=SimpleNamespace(), _action=np.zeros((1, 2)),
        _policy=lambda seen: seen * np.float32([10.0, -0.1]), _scale=SimpleNamespace(apply=lambda each: 3.0 * each),
        _observer=lambda inputs, which, worlds: inputs if which is FIRST else None,
        _converted=lambda values, inputs, worlds: values,
    )  # fmt: skip
    return made


def bodies(x: float) -> np.ndarray:
    """Two bodies, of which the first one is the platform's."""
    rows = np.full((2, 13), 70.0)
    rows[0, :2] = x, 1.0
    return rows


def test_at_its_first_instant_it_looks_and_begins_and_measures_only_from_the_next_on(
    flown,
) -> None:
    senses, zeros = Senses(WRENCH, OBJECTS, PHASES), [[0.0, 0.0]]
    looks = [("objects", (1, 3, 13)), ("phases", [[2, 0]])]
    interface = flown._interface
    for k, x in enumerate((0.01, 0.2, 0.03)):
        made = flown(k, bodies(x), RPM, REFERENCE, senses)
        row = made.row
        assert made.level is Level.VELOCITY and made.wrench_P.tolist() == [4.0] * 6
        acted = 0.01 if k < 2 else 0.03
        np.testing.assert_allclose(row[:2], [3.0 * 10.0 * acted, 3.0 * -0.1], rtol=1e-6)
        np.testing.assert_array_equal(row[2:], REFERENCE[2:])
    first, second, third = ([[0.01]], [[0.2]], [[0.03]])
    measured = [("measure", each[0], [WRENCH.tolist()]) for each in (first, second, third)]
    begins, acts = ("begin", [0], [0.01]), ("inputs", [0.01], zeros)
    *told, (name, at, before), last = interface.told
    assert told == [
        *looks, begins, acts, "references", *looks, measured[1], "references", *looks, measured[2],
    ]  # fmt: skip
    assert (name, at, last) == ("inputs", [0.03], "references")
    np.testing.assert_allclose(before, [[0.1, -0.1]], rtol=1e-6)  # the action before
    state, rpm, goal = interface.worlds[2]
    np.testing.assert_array_equal(state, bodies(0.03)[None])
    np.testing.assert_array_equal(rpm, RPM[None])
    np.testing.assert_array_equal(goal, REFERENCE[None])


def test_its_actions_are_as_large_as_one_at_most_and_it_looks_at_nothing_that_is_not_given(
    flown,
) -> None:
    row = flown(0, bodies(-4.0), RPM, REFERENCE, Senses(WRENCH)).row
    np.testing.assert_allclose(row[:2], [-3.0, 3.0 * -0.1], rtol=1e-6)
    assert [each[0] for each in flown._interface.told[:2]] == ["begin", "inputs"]
    assert flown.lacks(7, 3) == flown.inputs == ()


@pytest.mark.parametrize(
    "name",
    ["wall_push", "slide_along_wall", "peg_in_hole", "push_door", "turn_valve", "push_object", "perch_on_wall",
     "arm_pick"],
)  # fmt: skip
def test_all_kinds_that_touch_have_policies_fly_by_their_interface(name: str) -> None:
    kind = kind_of(make_task(name))
    (interface,) = kind.flying_policy.args
    assert kind.policy_agent.args == (interface,)
    assert issubclass(interface, TouchInterface) and Sense.WRENCH in interface.ASKS_FOR
    assert kind.single_run.by_policy == interface.NEEDS
