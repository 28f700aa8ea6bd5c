# SPDX-License-Identifier: BSD-3-Clause
"""Beginnings of episodes of tasks that touch: draws, sensors and sums of the worlds that begin alone."""

from types import SimpleNamespace

import numpy as np
import pytest

from iap_learning.tasks.kinds.hinge_turn.episodes import TurnEpisodes
from iap_learning.tasks.kinds.peg_in_hole.episodes import PegEpisodes
from iap_learning.tasks.kinds.perch_on_wall import episodes as perch
from iap_learning.tasks.kinds.push_object.episodes import ShoveEpisodes
from iap_learning.tasks.kinds.slide_along_wall import kind as slide
from iap_learning.tasks.kinds.wall_push.episodes import WallPushEpisodes
from iap_learning.tasks.tip_episodes import TipEpisodes
from iap_learning.tasks.touch_episodes import TouchEpisodes

BEGIN = np.array([0, 2])  # of three worlds
SEEDS = np.array([50, 60, 70])


class Told:
    """Notes how each of its methods is called, in turn."""

    def __init__(self, **parts):
        self.calls = []
        vars(self).update(parts)

    def __getattr__(self, name):
        return lambda *values: self.calls.append((name, *(np.asarray(v).tolist() for v in values)))


def begun(kind, base, monkeypatch, **parts):
    """Episodes of three worlds whose first and last begin, and which of them the base was told of."""
    made, told = object.__new__(PegEpisodes if kind is TipEpisodes else kind), []
    monkeypatch.setattr(base, "_begin", lambda _, indices: told.append(indices.tolist()))
    worlds = SimpleNamespace(seeds=SEEDS, world=lambda i: f"world {i}")
    vars(made).update(worlds=worlds, **parts)
    kind._begin(made, BEGIN)
    assert told == [[0, 2]]
    return made


def test_tips_forget_counts_forces_and_the_best_and_are_led_from_the_start(monkeypatch):
    parts = {key: Told() for key in ("_counts", "_sensors", "_reference")}
    sums = {key: np.ones(3) for key in ("_force_sum", "_best")}
    made = begun(TipEpisodes, TouchEpisodes, monkeypatch, **parts, **sums)
    assert made._counts.calls == made._reference.calls == [("reset", [0, 2])]
    assert made._sensors.calls == [("reset", [0, 2], [50, 70])]
    assert made._force_sum.tolist() == made._best.tolist() == [0.0, 1.0, 0.0]


def test_a_push_forgets_its_counts_measurements_and_sums(monkeypatch):
    parts = {key: Told() for key in ("_counts", "_measurements")}
    sums = {key: np.ones(3) for key in ("_force_sum", "_over_sum")}
    made = begun(WallPushEpisodes, TouchEpisodes, monkeypatch, **parts, **sums)
    assert made._counts.calls == [("reset", [0, 2])]
    assert made._measurements.calls == [("reset", [0, 2], [50, 70])]
    assert made._force_sum.tolist() == made._over_sum.tolist() == [0.0, 1.0, 0.0]


def test_a_peg_draws_the_holes_of_the_worlds(monkeypatch):
    parts = {"holes": Told(), "task": SimpleNamespace(hole="funnel")}
    made = begun(PegEpisodes, TipEpisodes, monkeypatch, **parts)
    assert made.holes.calls == [("draw", 0, "funnel", "world 0"), ("draw", 2, "funnel", "world 2")]


def test_a_slide_begins_with_a_wall_as_much_nearer_as_its_world_has_it(monkeypatch):
    def placed(world):
        wall = SimpleNamespace(position=np.array([float(world[-1]) - 0.5, 9.0, 9.0]))
        return SimpleNamespace(objects={"wall": wall})

    monkeypatch.setattr(slide, "placed_world", placed)
    line = SimpleNamespace(wall=np.array([1.0, 0.0, 0.0]), axes=np.eye(3))
    parts = {"line": line, "task": SimpleNamespace(wall="wall"), "_early": np.full(3, 7.0)}
    made = begun(slide.SlideEpisodes, TipEpisodes, monkeypatch, **parts)
    assert made._early == pytest.approx([1.5, 7.0, -0.5])


def test_a_turn_draws_the_hinges_of_the_worlds_and_heads_as_before(monkeypatch):
    parts = {"arc": Told(), "task": SimpleNamespace(turned="door"), "_heading": np.full(3, 0.4)}
    made = begun(TurnEpisodes, TipEpisodes, monkeypatch, **parts)
    assert made.arc.calls == [("draw", 0, "door", "world 0"), ("draw", 2, "door", "world 2")]
    assert made._heading.tolist() == [0.0, 0.4, 0.0]


def test_a_shove_draws_goals_by_seeds_and_knows_where_its_objects_are(monkeypatch):
    poses = np.arange(9.0).reshape(3, 3)
    goals = Told(
        ways=np.array([[3.0, 4.0], [9.0, 9.0], [0.0, 2.0]]), poses=lambda objects: objects
    )
    eyes = Told(known=np.full((3, 3), -1.0))
    monkeypatch.setattr(ShoveEpisodes, "_objects", poses)
    parts = {"goals": goals, "_eyes": eyes, "_best": np.full(3, 7.0), "task": "task"}
    made = begun(ShoveEpisodes, TipEpisodes, monkeypatch, **parts)
    assert eyes.calls == [("reset", [0, 2], [50, 70])]
    assert goals.calls == [("draw", 0, "task", 50), ("draw", 2, "task", 70)]
    assert made._best.tolist() == [-5.0, 7.0, -2.0]
    np.testing.assert_array_equal(eyes.known, [poses[0], [-1.0] * 3, poses[2]])


def test_a_perch_begins_as_far_off_as_its_world_has_the_wall(monkeypatch):
    def placed(world):
        wall = SimpleNamespace(position=(float(world[-1]) + 4.0, 9.0, 9.0))
        return SimpleNamespace(objects={"wall": wall})

    true = np.array([[3.0, 0.1], [4.0, 0.2], [5.0, 0.3]])
    monkeypatch.setattr(perch, "placed_world", placed)
    monkeypatch.setattr(perch.PerchEpisodes, "_true", true)
    line = SimpleNamespace(start=np.array([1.0, 9.0, 0.0]), axes=np.eye(3))
    old = {key: np.full(3, 7.0) for key in ("_begins", "_least", "_before_least")}
    parts = {"_counts": Told(), "_sensors": Told(known=np.zeros((3, 2))), "_sums": np.ones((2, 3))}
    made = begun(
        perch.PerchEpisodes, TouchEpisodes, monkeypatch, line=line, _wall="wall", **old, **parts
    )
    assert made._counts.calls == [("reset", [0, 2])]
    assert made._sensors.calls == [("reset", [0, 2], [50, 70])]
    assert made._begins == pytest.approx([3.0, 7.0, 5.0])
    np.testing.assert_array_equal(made._sensors.known, [true[0], [0.0, 0.0], true[2]])
    assert made._least.tolist() == made._before_least.tolist() == [3.0, 7.0, 5.0]
    np.testing.assert_array_equal(made._sums, [[0.0, 1.0, 0.0]] * 2)
