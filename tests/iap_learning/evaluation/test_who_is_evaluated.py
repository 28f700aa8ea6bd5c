# SPDX-License-Identifier: BSD-3-Clause
"""Agents and tasks of an evaluation by the words of a user, baselines, single runs and films."""

from types import SimpleNamespace

import numpy as np
import pytest

from iap_description.errors import BadInput
from iap_learning.evaluation import baselines, engines, video
from iap_learning.evaluation.baselines import Score, random_policy, score, zero
from iap_learning.evaluation.flyers import is_agent_file
from iap_learning.evaluation.subjects import base_of, preset_of, subject_of
from iap_learning.tasks.kinds.registry import make_task


@pytest.mark.parametrize(
    ("task", "preset", "name"),
    [
        ("docking", None, "docking"),
        ("docking", "nominal", "docking"),
        ("docking", "hard", "docking_hard"),
    ],
)
def test_a_preset_of_a_task_is_a_task_of_its_own(task, preset, name):
    assert preset_of(task, preset) == name
    assert base_of(name) == task
    assert base_of("navigate_moving") == "navigate" and base_of("hold_velocity") == "hold"
    assert base_of("hold") == "hold"


def test_a_preset_that_there_is_not_is_refused_with_those_that_there_are():
    with pytest.raises(
        BadInput, match="^--preset soft: task 'docking' has nominal, depth, hard, printed$"
    ):
        preset_of("docking", "soft")
    with pytest.raises(BadInput, match="^--preset soft: task 'land' has nominal$"):
        subject_of("land", None, "soft")


def test_a_task_without_a_policy_is_refused_with_the_way_to_fly_it():
    with pytest.raises(
        BadInput, match="^task 'land' has no shipped policy: 'iap evaluate WHO --task land' flies"
    ):
        subject_of("land", None, None)


def test_a_baseline_flies_the_task_that_is_asked_for():
    found = subject_of("zero", "docking", "hard", {"seconds": 3.0})
    assert found.task.name == "docking_hard" and found.task.seconds == 3.0
    assert found.flyer.name == "zero" and found.policy is None
    with pytest.raises(BadInput, match="^evaluate zero: --task is missing .tasks: .*docking, "):
        subject_of("zero", None, None)


def test_a_policy_flies_its_own_task_or_the_one_that_is_asked_for():
    own = subject_of("module_docking", None, None)
    assert own.task.name == "module_docking" and own.policy is not None
    assert own.flyer.name == own.policy.name and own.flyer.flies_alone
    other = subject_of("docking", None, "hard", {"seconds": 4.0})
    assert other.task.name == "docking_hard" and other.task.seconds == 4.0
    assert subject_of("hold", "land", None).task.name == "land"


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("dockin", "^no policy 'dockin', nor task or baseline: .*docking.* .or an .npz file.$"),
        ("nothing.npz", "nothing.npz"),
        ("nothing.yaml", "nothing.yaml"),
    ],
)
def test_a_name_of_nobody_is_refused(name, why):
    with pytest.raises(BadInput, match=why):
        subject_of(name, "hold", None)


def test_a_file_of_another_kind_is_no_policy(tmp_path):
    path = tmp_path / "notes.txt"
    path.write_text("x")
    with pytest.raises(
        BadInput,
        match=r"notes.txt: no policy of this suite, whose files end in \.npz: 'iap train'",
    ):
        subject_of(str(path), None, None)
    assert is_agent_file("a.yaml") and is_agent_file("a.yml") and not is_agent_file("a.npz")


# baselines


class Flown:
    """Episodes of two worlds, of which the first ends after one step and the other after three."""

    count, size, dt = 2, 3, 0.5

    def __init__(self):
        self.steps, self.returns, self.given = np.zeros(2, int), np.zeros(2), []

    def observe(self):
        return "seen"

    def step(self, actions):
        self.given.append(actions)
        self.steps += 1
        self.returns += [1.0, 2.0]
        ends = self.steps == [1, 3]
        return SimpleNamespace(
            observation="seen",
            terminated=ends,
            truncated=np.zeros(2, bool),
            success=self.steps == [1, 4],
        )


def test_a_score_is_that_of_each_world_at_its_own_end():
    episodes = Flown()
    found = score(episodes, zero)
    assert found.returns.tolist() == [1.0, 6.0] and found.success.tolist() == [True, False]
    assert found.seconds.tolist() == [0.5, 1.5]
    assert (
        len(episodes.given) == 3
        and not np.any(episodes.given)
        and episodes.given[0].shape == (2, 3)
    )
    row = found.row
    assert row["return"] == 3.5 and row["success_rate"] == 0.5 and row["time_mean_s"] == 1.0
    assert 0.0 < row["success_low"] < 0.5 < row["success_high"] < 1.0


def test_random_actions_are_drawn_anew_in_each_step_and_are_those_of_their_seed():
    policy, again = random_policy(4), random_policy(4)
    first, second = policy(Flown()), policy(Flown())
    assert (
        first.shape == (2, 3) and np.abs(first).max() <= 1.0 and not np.array_equal(first, second)
    )
    np.testing.assert_array_equal(again(Flown()), first)


def test_baselines_fly_equal_worlds_one_after_the_other(monkeypatch):
    flown, reset = [], []
    episodes = SimpleNamespace(task="task", reset=lambda seeds: reset.append(list(seeds)))
    monkeypatch.setattr(baselines, "make_episodes", lambda task, worlds: episodes)
    agent = SimpleNamespace(misfit=lambda episodes: None)
    agents = {"potential_field": agent}
    monkeypatch.setattr(baselines, "agent_of", lambda name, episodes: lambda: name)
    monkeypatch.setattr(baselines, "kind_of", lambda task: SimpleNamespace(agents=agents))
    monkeypatch.setattr(
        baselines, "score", lambda episodes, policy: flown.append(policy) or len(flown)
    )
    found = baselines.baselines("hold", 3, seed=5)
    assert found == {"zero": 1, "random": 2, "controller": 3, "potential_field": 4}
    assert reset == [[5, 6, 7]] * 4
    assert flown[3](episodes) == "potential_field" and flown[2](episodes) is None
    agent.misfit = lambda episodes: "it sees nothing"
    assert list(baselines.baselines("hold", 3)) == ["zero", "random", "controller"]
    assert isinstance(Score(*np.zeros((3, 1))).row["return"], float)


# single runs


def test_a_single_run_of_a_task_is_flown_and_recorded_for_as_long_as_its_episodes(monkeypatch):
    asked = []
    monkeypatch.setattr(
        engines, "record", lambda *each, **keys: asked.append((each, keys)) or "run"
    )
    flyer = SimpleNamespace(flies_alone=True, policy="", name="x")
    task = make_task("hold")
    assert engines.record_episode(task, flyer, "closed_form", 3, "folder") == "run"
    ((scenario,), keys) = asked[0]
    assert scenario == "hover" and keys["seed"] == 3 and keys["engine"] == "closed_form"
    assert (
        keys["duration"] == task.seconds
        and keys["platform"] is None
        and keys["folder"] == "folder"
    )
    assert keys["settings"]["policy"] is None
    engines.record_episode(make_task("land"), flyer, "closed_form", 3, "folder")
    assert "duration" not in asked[1][1]


def test_a_flight_that_stands_for_an_episode_is_of_its_seed_and_engine(monkeypatch):
    monkeypatch.setattr(engines.Flight, "of", staticmethod(lambda scenario: scenario))
    flyer = SimpleNamespace(flies_alone=True, policy="", name="x")
    scenario = engines.episode_flight(make_task("hold"), flyer, "closed_form", 11)
    assert (
        scenario.seed == 11 and scenario.engine.name == "closed_form" and scenario.policy is None
    )
    with pytest.raises(BadInput, match="task 'arm_reach', with --engine: .* no part 'single_run'"):
        engines.episode_flight(make_task("arm_reach"), flyer, "closed_form", 11)


# films


@pytest.mark.parametrize(("dt", "every"), [(0.02, 2), (0.05, 1), (0.005, 7)])
def test_a_film_has_at_most_thirty_pictures_a_second_in_its_own_time(monkeypatch, dt, every):
    shot, films = [], []

    class Episodes:
        def __init__(self):
            self.dt, self.steps = dt, np.zeros(1, int)

        def reset(self, seeds):
            shot.append(seeds)
            self.steps[:] = 0
            return "seen"

        def step(self, actions):
            assert actions == "act"
            self.steps += 1
            over = self.steps == 2 * every + 1
            return SimpleNamespace(
                observation="seen", terminated=over, truncated=np.zeros(1, bool)
            )

    class Film:
        def __init__(self, path, rate, size):
            self.rate, self.size, self.count = rate, size, 0
            films.append(self)

        def __enter__(self):
            return self

        def __exit__(self, *_):
            pass

        def write(self, picture):
            assert picture == "picture"
            self.count += 1

    closed = []
    eye = SimpleNamespace(picture=lambda world: "picture", close=lambda: closed.append(1))
    monkeypatch.setattr(video, "make_episodes", lambda task, worlds: Episodes())
    monkeypatch.setattr(video, "WorldCamera", lambda episodes: eye)
    monkeypatch.setattr(video, "VideoFile", Film)
    flyer = SimpleNamespace(acting=lambda episodes: lambda observation: "act")
    assert video.write_video("film.mp4", None, flyer, [3, 4]) == 2 * 3
    assert shot == [[3], [4]] and closed == [1]
    assert films[0].rate == pytest.approx(1.0 / (every * dt)) and films[0].rate <= 30.1
    assert films[0].size == (480, 360)
