# SPDX-License-Identifier: BSD-3-Clause
"""The camera that looks on: where it stands, when it draws anew, and modes that there are not."""

from types import SimpleNamespace

import numpy as np
import pytest

from iap_description.errors import BadInput
from iap_description.math import so3
from iap_description.states import Q
from iap_learning.environments import camera
from iap_learning.environments.camera import WorldCamera, not_drawn
from iap_learning.environments.task_env import TaskEnv, TaskVectorEnv, check_render_mode
from iap_learning.tasks.episodes import CameraPlacement
from iap_learning.tasks.kinds.registry import agent_of, make_episodes
from iap_simulation.scenario.randomization import placed_world
from iap_simulation.scenario.resolving import resolved
from iap_simulation.tasks.outcomes import TIME_IS_UP


class Drawer:
    """A renderer that is closed once."""

    made: list = []  # noqa: RUF012 - of one test

    def __init__(self, name):
        self.name, self.closed = name, 0
        Drawer.made.append(self)

    def close(self):
        self.closed += 1


class Shots:
    """Cameras that say what they are shown."""

    def __init__(self, rig, cameras, renderer):
        self.rig, self.cameras, self.renderer = rig, cameras, renderer

    def shoot(self, cameras, t, state):
        assert len(cameras) == 1
        return [SimpleNamespace(pixels=(t, state.rows if hasattr(state, "rows") else state[0]))]


@pytest.fixture
def episodes(monkeypatch):
    Drawer.made.clear()
    monkeypatch.setattr(camera, "make_renderer", Drawer)
    monkeypatch.setattr(camera, "MountedCameras", Shots)
    monkeypatch.setattr(camera, "np", SimpleNamespace(array=lambda pixels: pixels, uint8=np.uint8))
    scenario = resolved("hover", {}, {})[0]
    worlds = SimpleNamespace(
        scenario=scenario,
        times=np.array([0.5, 1.5]),
        state=np.arange(26.0).reshape(2, 1, 13),
        tilt=np.zeros((2, 1, 4)),
        objects=SimpleNamespace(states=lambda which: np.zeros((len(which), 0, 13))),
    )
    place = CameraPlacement(np.array([0.0, 0.0, 2.0]), np.array([0.5, 4.0, 0.5]))
    return SimpleNamespace(
        viewpoint=place,
        worlds=worlds,
        episode_seeds=np.array([7, 8]),
        task=SimpleNamespace(name="t"),
    )


def test_it_stands_behind_and_above_the_start_and_looks_at_the_goal(episodes):
    """From (-3.5, 0, 3.5) to (0.5, 4, 0.5): 45 deg to the left and 27.9 deg down."""
    onlooker = WorldCamera(episodes)
    t, rows = onlooker.picture(1)
    assert t == 1.5
    np.testing.assert_array_equal(rows, episodes.worlds.state[1])
    (mounted,) = onlooker._cameras.cameras
    assert (mounted.camera.spec.width, mounted.camera.spec.height) == (480, 360)
    np.testing.assert_allclose(mounted.mount.p_BS_B, [-3.5, 0.0, 3.5])
    ahead = so3.rotate(mounted.mount.q_BS, np.array([1.0, 0.0, 0.0]))
    np.testing.assert_allclose(ahead, np.array([4.0, 4.0, -3.0]) / np.sqrt(41.0), atol=1e-9)


def test_what_is_drawn_with_stays_until_it_is_given_back(episodes):
    onlooker = WorldCamera(episodes)
    onlooker.close()  # nothing has been made yet
    onlooker.picture(0)
    onlooker.picture(1)
    assert len(Drawer.made) == 1 and Drawer.made[0].closed == 0
    onlooker.close()
    onlooker.close()
    assert Drawer.made[0].closed == 1
    onlooker.picture(0)
    assert len(Drawer.made) == 2


def test_obstacles_of_another_seed_are_drawn_anew(episodes, monkeypatch):
    real = camera.placed_world
    monkeypatch.setattr(
        camera, "placed_world", lambda scenario: real(scenario).with_objects(moving=False)
    )
    onlooker = WorldCamera(episodes)
    for world in (0, 0, 1, 1):
        onlooker.picture(world)
    assert [each.closed for each in Drawer.made] == [1, 0]


@pytest.fixture
def states(monkeypatch):
    """States of which pictures are taken."""
    taken = []

    class Witness(Shots):
        def shoot(self, cameras, t, state):
            taken.append(state)
            return [SimpleNamespace(pixels=np.zeros((1, 1, 3)))]

    monkeypatch.setattr(camera, "make_renderer", Drawer)
    monkeypatch.setattr(camera, "MountedCameras", Witness)
    return taken


def test_a_door_is_drawn_where_it_has_been_pushed(states):
    """The state of the picture has the engine's angle, of each world its own."""
    pytest.importorskip("mujoco")
    episodes = make_episodes("push_door", 2)
    episodes.reset(seeds=[3, 4])
    agent = agent_of("swing", episodes)
    for _ in range(250):
        episodes.step(agent())
    onlooker = WorldCamera(episodes)
    angles = episodes.worlds.object_angles("door")
    assert (angles > np.deg2rad(5.0)).all() and abs(angles[0] - angles[1]) > np.deg2rad(0.1)
    hinge = episodes.worlds.scenario.world.objects["door"].hinge
    for world, angle in enumerate(angles):
        onlooker.picture(world)
        placed = placed_world(episodes.worlds.world(world)).objects["door"]
        row = states[-1].objects[list(episodes.worlds.scenario.world.objects).index("door")]
        assert hinge.angle(placed.q_WO, row[Q]) == pytest.approx(angle, abs=1e-9)


def test_a_prescribed_motion_is_drawn_at_its_time(states):
    """Objects that move by time alone stand in the picture where the world of the seed has them then."""
    episodes = make_episodes("navigate_moving", 2)
    episodes.reset(seeds=[3, 4])
    for _ in range(20):
        episodes.step(np.zeros((2, episodes.size)))
    WorldCamera(episodes).picture(1)
    t, placed = float(episodes.worlds.times[1]), placed_world(episodes.worlds.world(1))
    np.testing.assert_allclose(states[0].objects, placed.object_states(t), atol=1e-12)
    assert t > 0.3 and not np.array_equal(placed.object_states(t), placed.object_states(0.0))


def test_a_task_without_a_viewpoint_has_no_pictures(episodes):
    episodes.viewpoint = None
    assert not_drawn(episodes) == "task 't' has no bodies to be drawn"
    with pytest.raises(BadInput, match="^pictures: task 't' has no bodies to be drawn$"):
        WorldCamera(episodes).picture(0)
    with pytest.raises(
        BadInput, match="^render_mode 'rgb_array': task 't' has no bodies to be drawn$"
    ):
        check_render_mode("rgb_array", episodes)
    check_render_mode(None, episodes)


def test_a_mode_that_there_is_not_is_refused_with_those_that_there_are(episodes):
    check_render_mode("rgb_array", episodes)
    with pytest.raises(BadInput, match="^render_mode 'human': choose rgb_array$"):
        check_render_mode("human", episodes)


def test_without_a_mode_nothing_is_drawn_and_the_end_of_an_episode_is_told():
    env = TaskEnv("hold", settings={"seconds": 0.08})
    env.reset(seed=3)
    assert env.render() is None and env.metadata["render_fps"] == 50
    zero = np.zeros(env.action_space.shape)
    *_, info = env.step(zero)
    assert set(info) == {"success"}
    for _ in range(3):
        _, reward, terminated, truncated, info = env.step(zero)
    assert truncated and not terminated and isinstance(reward, float)
    assert info["outcome"] == "time" and info["seconds"] == pytest.approx(0.08)
    assert info["distance"] == pytest.approx(float(env.episodes.report()["distance"][0]))
    with pytest.raises(BadInput, match=r"^action: has shape \(3,\); \(4,\) is expected$"):
        env.step(np.zeros(3))
    env.close()


def test_worlds_whose_episodes_end_begin_the_next_ones_in_the_same_step():
    env = TaskVectorEnv("hold", 2, settings={"seconds": 0.04})
    first, info = env.reset(seed=[4, None])
    assert info["seed"][0] == 4 and env.render() is None
    zero = np.zeros((2, 4))
    _, _, _, truncated, info = env.step(zero)
    assert not truncated.any() and set(info) == {"success", "_success"}
    seen, _, terminated, truncated, info = env.step(zero)
    assert truncated.all() and not terminated.any()
    final = info["final_info"]
    assert final["outcome"].tolist() == ["time"] * 2 and final[
        "seconds"
    ].tolist() == pytest.approx([0.04] * 2)
    assert final["seed"][0] == 4 and final["_return"].all() and info["_final_obs"].all()
    assert not np.array_equal(info["final_obs"][0], seen[0]) and first.shape == seen.shape
    assert env.episodes.steps.tolist() == [0, 0] and not (env.episodes.outcome == TIME_IS_UP).any()
    with pytest.raises(BadInput, match="^reset: 2 seeds are expected, got 3$"):
        env.reset(seed=[1, 2, 3])
    env.close()
