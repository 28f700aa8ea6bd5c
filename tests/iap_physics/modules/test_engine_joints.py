# SPDX-License-Identifier: BSD-3-Clause
"""Joints of modules in an engine: when bodies touch again, which hold together, and what a joint's wrench is."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from iap_description.math import so3
from iap_description.vehicles.latching import Hold, LatchCommand
from iap_physics.engines.engine import JOINT_FORCE
from iap_physics.modules.engine_joints import EngineJoints, held_together

CATCH = 30.0  # force of a latch that is not locked [N]


class Engine:
    """Notes what is asked of it; its bodies are a row of modules, half a metre apart."""

    def __init__(self) -> None:
        self.x = np.zeros((1, 3, 13))
        self.x[0, :, 0], self.x[..., 6] = (0.0, 0.5, 1.0), 1.0
        self.passing: list[tuple[int, int, bool]] = []
        self.added: list[tuple[Any, ...]] = []
        self.removed: list[int] = []

    def state(self) -> np.ndarray:
        return self.x

    def let_pass(self, a: int, b: int, *, passes: bool) -> None:
        self.passing.append((a, b, passes))

    def add_joint(self, a: int, b: int, p_A: Any, p_B: Any, **how: Any) -> int:
        self.added.append((a, b, p_A, p_B, how))
        return len(self.added) - 1

    def remove_joint(self, handle: int) -> None:
        self.removed.append(handle)

    def joint_wrench(self, handle: int) -> np.ndarray:
        return np.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0])


@pytest.fixture
def made():
    engine = Engine()
    rows = [SimpleNamespace(rows=slice(i, i + 1)) for i in range(3)]
    joint = {
        f"j{i + 1}": SimpleNamespace(modules=(i, i + 1), d_ab_S=(0.5, 0.0, 0.0)) for i in (0, 1)
    }
    plant: Any = SimpleNamespace(engine=engine, propulsion=rows)
    return engine, EngineJoints(plant, joint, {"j2"}, CATCH)


def test_a_latch_catches_with_its_force_locks_with_a_joints_and_is_held_halfway(made):
    engine, joints = made
    joints.obey("j1", LatchCommand.CATCH)
    joints.obey("j1", LatchCommand.LOCK)
    (a, b, p_A, p_B, how), (*_, locked) = engine.added
    assert (a, b) == (0, 1) and how["type"] == "fixed" and engine.removed == [0]
    np.testing.assert_allclose((p_A, p_B), ((0.25, 0.0, 0.0), (-0.25, 0.0, 0.0)))
    assert how["max_force"] == CATCH and locked["max_force"] == JOINT_FORCE == 1e5
    assert engine.passing == [(0, 1, True)] * 2


def test_a_joint_that_closes_a_loop_holds_modules_where_they_are(made):
    engine, joints = made
    engine.x[0, 2, :3] = 1.02, 0.01, 0.0
    engine.x[0, 2, 3:7] = so3.quaternion_exp(np.array([0.0, 0.0, 0.1]))
    joints.hold("j2")
    *_, p_A, p_B, how = engine.added[0]
    place_W = np.array([0.75, 0.0, 0.0])
    np.testing.assert_allclose(p_A, (0.25, 0.0, 0.0))
    np.testing.assert_allclose(
        engine.x[0, 2, :3] + so3.rotate(engine.x[0, 2, 3:7], p_B), place_W, atol=1e-12
    )
    np.testing.assert_allclose(how["q_AB"], engine.x[0, 2, 3:7], atol=1e-12)


def test_modules_that_have_parted_touch_again_a_centimetre_apart(made):
    engine, joints = made
    joints.obey("j1", LatchCommand.CATCH)
    joints.obey("j1", LatchCommand.RELEASE)
    engine.passing.clear()
    for distance, touches in ((0.5, False), (0.5095, False), (0.5105, True)):
        engine.x[0, 1, 0] = distance
        joints.part_touching()
        assert (engine.passing == [(0, 1, False)]) == touches
    joints.part_touching()
    assert len(engine.passing) == 1  # once


def test_holds_are_followed_by_what_lacks_to_them(made):
    engine, joints = made
    joints.follow({"j1": Hold.CAUGHT})
    joints.follow({"j1": Hold.CAUGHT})
    assert len(engine.added) == 1
    joints.follow({"j1": Hold.LOCKED})
    assert len(engine.added) == 2 and engine.removed == [0]
    joints.follow({"j1": Hold.CAUGHT})
    assert engine.removed == [0, 1] and engine.added[-1][-1]["max_force"] == CATCH
    joints.follow({"j1": Hold.OPEN})
    assert engine.removed == [0, 1, 2] and joints.structure_of(0) == {0}


def test_clearing_opens_all_latches_and_lets_all_touch(made):
    engine, joints = made
    joints.hold("j1")
    joints.hold("j2")
    assert joints.structure_of(2) == {0, 1, 2} and joints.names == {"j1", "j2"}
    joints.clear()
    assert sorted(engine.removed) == [0, 1] and joints.structure_of(2) == {2}
    assert engine.passing[-2:] == [(0, 1, False), (1, 2, False)]


def test_the_wrench_on_the_second_module_is_opposite_along_the_axes_of_the_first(made):
    engine, joints = made
    engine.x[0, 0, 3:7] = so3.quaternion_exp(np.array([0.0, 0.0, np.pi / 2.0]))
    joints.hold("j1")
    np.testing.assert_allclose(
        joints.wrenches_S()["j1"], (-2.0, 1.0, -3.0, -5.0, 4.0, -6.0), atol=1e-12
    )


def test_modules_hold_together_over_any_number_of_joints():
    pairs = [(0, 1), (3, 2), (1, 2), (5, 6)]
    assert held_together(0, pairs) == held_together(3, pairs) == {0, 1, 2, 3}
    assert held_together(4, pairs) == {4} and held_together(6, pairs) == {5, 6}
