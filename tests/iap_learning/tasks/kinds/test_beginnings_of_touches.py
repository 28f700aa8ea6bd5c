# SPDX-License-Identifier: BSD-3-Clause
"""Beginnings of episodes of tasks that touch: draws, sensors and sums of the worlds that begin alone."""

from types import SimpleNamespace

import numpy as np
import pytest
from support.touch_places import line, state

from iap_learning.tasks import push_line
from iap_learning.tasks.episodes import Episodes
from iap_learning.tasks.kinds.hinge_turn.episodes import TurnEpisodes
from iap_learning.tasks.kinds.hinge_turn.interface import TurnInterface
from iap_learning.tasks.kinds.peg_in_hole.episodes import PegEpisodes
from iap_learning.tasks.kinds.peg_in_hole.interface import PegInterface
from iap_learning.tasks.kinds.perch_on_wall import interface as perch
from iap_learning.tasks.kinds.perch_on_wall.episodes import PerchEpisodes
from iap_learning.tasks.kinds.push_object.episodes import ShoveEpisodes
from iap_learning.tasks.kinds.push_object.interface import ShoveInterface
from iap_learning.tasks.kinds.slide_along_wall import kind as slide
from iap_learning.tasks.kinds.wall_push.episodes import WallPushEpisodes
from iap_learning.tasks.kinds.wall_push.interface import PushInterface
from iap_learning.tasks.push_line import PushLine
from iap_learning.tasks.tip_episodes import TipEpisodes
from iap_learning.tasks.touch_episodes import TouchEpisodes
from iap_learning.tasks.touch_interface import TipInterface
from iap_physics.latching.kernel import CAUGHT, LOCKED, OPEN

BEGIN = np.array([0, 2])  # of three worlds
SEEDS = np.array([50, 60, 70])
X = np.array([[state((1.0, 2.0 + 0.1 * i, 3.0), np.pi / 2, (9.0, 0.2, 9.0))] for i in range(3)])
OBJECTS = np.arange(3.0 * 2 * 13).reshape(3, 2, 13)
ANEW = [("reset", [0, 2], [50, 70])]


class Told:
    """Notes how each of its methods is called, in turn."""

    def __init__(self, **parts):
        self.calls = []
        vars(self).update(parts)

    def __getattr__(self, name):
        return lambda *values: self.calls.append((name, *(np.asarray(v).tolist() for v in values)))


def begun(kind, base, monkeypatch, **parts):
    """Episodes of three worlds whose first and last begin, and which of them the base was told of."""
    bare = kind in (TouchEpisodes, TipEpisodes)
    made, told = object.__new__(PegEpisodes if bare else kind), []
    monkeypatch.setattr(base, "_begin", lambda _, indices: told.append(indices.tolist()))
    worlds = SimpleNamespace(
        seeds=SEEDS, state=X, object_states=OBJECTS, world=lambda i: f"world {i}"
    )
    vars(made).update(worlds=worlds, **parts)
    kind._begin(made, BEGIN)
    assert told == [[0, 2]]
    return made


def anew(kind, **parts):
    """An interface of three worlds whose first and last begin anew."""
    made = object.__new__(kind)
    vars(made).update(_sensors=Told(), reference=Told(), **parts)
    made.reset(BEGIN, SEEDS[BEGIN])
    return made


def test_touches_forget_counts_and_begin_anew_at_their_interface_by_their_seeds(monkeypatch):
    made = begun(TouchEpisodes, Episodes, monkeypatch, _counts=Told(), interface=Told())
    assert made._counts.calls == [("reset", [0, 2])]
    assert made.interface.calls == ANEW


def test_tips_forget_forces_and_the_best(monkeypatch):
    sums = {key: np.ones(3) for key in ("_force_sum", "_best")}
    made = begun(TipEpisodes, TouchEpisodes, monkeypatch, **sums)
    assert made._force_sum.tolist() == made._best.tolist() == [0.0, 1.0, 0.0]


def placed(world):
    """A world whose wall is further away by its number."""
    wall = SimpleNamespace(position=np.array([float(world[-1]) - 0.5, 9.0, 9.0]))
    return SimpleNamespace(objects={"wall": wall})


STILL = np.array([0.0, 0.0, 0.0, 1.0])
LINE = PushLine(
    5.0, np.eye(3), np.zeros(3), np.zeros(3), STILL, np.zeros(3), np.array([1.0, 0, 0])
)
WALL = {"line": LINE, "task": SimpleNamespace(wall="wall")}


def test_a_push_forgets_its_sums(monkeypatch):
    monkeypatch.setattr(push_line, "placed_world", placed)
    sums = {key: np.ones(3) for key in ("_force_sum", "_over_sum", "_missing", "_has_touched")}
    made = begun(WallPushEpisodes, TouchEpisodes, monkeypatch, **sums, **WALL, _nearer=np.ones(3))
    for key in sums:
        assert getattr(made, key).tolist() == [0.0, 1.0, 0.0]
    assert made._nearer == pytest.approx([1.5, 1.0, -0.5])


def test_an_interface_of_tips_draws_errors_anew_and_leads_from_the_start():
    made = anew(PegInterface)
    assert PegInterface.reset is TipInterface.reset
    assert made._sensors.calls == ANEW
    assert made.reference.calls == [("reset", [0, 2])]


def test_an_interface_of_turns_heads_as_at_the_start():
    made = anew(TurnInterface, _heading=np.full(3, 0.4))
    assert made._heading.tolist() == [0.0, 0.4, 0.0]
    assert made._sensors.calls == ANEW and made.reference.calls == [("reset", [0, 2])]


def test_an_interface_of_shoves_draws_the_errors_of_its_eyes_too():
    made = anew(ShoveInterface, _eyes=Told(), goals=Told(), _task="task")
    assert made._eyes.calls == made._sensors.calls == ANEW
    assert made.reference.calls == [("reset", [0, 2])]
    made.draw(2, SimpleNamespace(seed=70))
    assert made.goals.calls == [("draw", 2, "task", 70)]


def test_an_interface_of_pushes_forgets_what_it_has_counted():
    made = anew(PushInterface, integral=np.ones(3), largest=np.ones(3))
    assert made._sensors.calls == ANEW
    assert made.integral.tolist() == made.largest.tolist() == [0.0, 1.0, 0.0]


def test_an_interface_of_perches_draws_errors_anew():
    assert anew(perch.PerchInterface)._sensors.calls == ANEW


def test_a_peg_draws_the_holes_of_the_worlds_and_forgets_its_largest_force(monkeypatch):
    parts = {"holes": Told(), "task": SimpleNamespace(hole="funnel"), "_peak": np.full(3, 7.0)}
    made = begun(PegEpisodes, TipEpisodes, monkeypatch, **parts)
    assert made._peak.tolist() == [0.0, 7.0, 0.0]
    assert made.holes.calls == [("draw", 0, "funnel", "world 0"), ("draw", 2, "funnel", "world 2")]


def test_a_slide_begins_with_a_wall_as_much_nearer_as_its_world_has_it(monkeypatch):
    monkeypatch.setattr(push_line, "placed_world", placed)
    made = begun(slide.SlideEpisodes, TipEpisodes, monkeypatch, **WALL, _nearer=np.full(3, 7.0))
    assert made._nearer == pytest.approx([1.5, 7.0, -0.5])


def test_a_turn_draws_the_hinges_of_the_worlds(monkeypatch):
    parts = {"arc": Told(), "task": SimpleNamespace(turned="door")}
    made = begun(TurnEpisodes, TipEpisodes, monkeypatch, **parts)
    assert made.arc.calls == [("draw", 0, "door", "world 0"), ("draw", 2, "door", "world 2")]


def test_a_shove_begins_with_the_goals_of_its_worlds_and_sees_its_objects(monkeypatch):
    goals = SimpleNamespace(ways=np.full((3, 2), 9.0))
    drawn = {"world 0": [3.0, 4.0], "world 2": [0.0, 2.0]}
    interface = Told(draw=lambda world, scenario: goals.ways.__setitem__(world, drawn[scenario]))
    parts = {"goals": goals, "interface": interface, "_best": np.full(3, 7.0)}
    made = begun(ShoveEpisodes, TipEpisodes, monkeypatch, **parts)
    assert goals.ways.tolist() == [[3.0, 4.0], [9.0, 9.0], [0.0, 2.0]]
    assert made._best.tolist() == [-5.0, 7.0, -2.0]
    seen = [("look_at_objects", OBJECTS.tolist()), ("begin", [0, 2], X[:, 0].tolist())]
    assert interface.calls == seen


def test_a_perch_begins_as_far_off_as_its_world_has_the_wall(monkeypatch):
    """Along y, from (1, 2, 3) on; the tips are 0.5 m ahead of the platforms, which come at 0.2 m/s."""

    def placed(world):
        wall = SimpleNamespace(position=(9.0, float(world[-1]) + 6.0, 9.0))
        return SimpleNamespace(objects={"wall": wall})

    monkeypatch.setattr(perch, "placed_world", placed)
    phases = np.array([[CAUGHT, OPEN], [OPEN, CAUGHT], [OPEN, LOCKED]])
    monkeypatch.setattr(PerchEpisodes, "_phase_numbers", phases)
    interface = object.__new__(perch.PerchInterface)
    parts = {"line": line(), "_wall": "wall", "_number": 1, "_begins": np.full(3, 7.0)}
    vars(interface).update(_sensors=Told(known=np.full((3, 2), -1.0)), **parts)
    old = {key: np.full(3, 7.0) for key in ("_least", "_before_least")}
    sums = np.ones((2, 3))
    made = begun(PerchEpisodes, TouchEpisodes, monkeypatch, interface=interface, _sums=sums, **old)
    assert interface._begins == pytest.approx([4.0, 7.0, 6.0])
    assert interface._is_held.tolist() == [False, True, True]
    np.testing.assert_allclose(interface._sensors.known, [[3.5, 0.2], [-1.0] * 2, [5.3, 0.2]])
    np.testing.assert_allclose(made._least, [3.5, 7.0, 5.3])
    np.testing.assert_allclose(made._before_least, [3.5, 7.0, 5.3])
    np.testing.assert_array_equal(made._sums, [[0.0, 1.0, 0.0]] * 2)
