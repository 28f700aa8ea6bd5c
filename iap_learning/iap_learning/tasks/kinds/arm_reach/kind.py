# SPDX-License-Identifier: BSD-3-Clause
"""Reaching of targets as a kind of tasks: episodes in many worlds, and the hand-written agent.

Its plant is in no engine.
"""

from collections.abc import Mapping
from typing import Any, Literal

import numpy as np

from iap_control.arm.tip_velocities import heading_twist, velocity_row
from iap_control.laws.end_effector import EndEffectorGains, EndEffectorLaw, Four
from iap_description.arrays import Array, Integers
from iap_description.config.values import Flag, Positive
from iap_description.errors import BadInput
from iap_description.math import so3
from iap_description.math.kernels import yaw_of
from iap_description.math.random_streams import uniforms
from iap_description.states import REF_FIXED, REF_P, STATE_SIZE, P, Q
from iap_description.vehicles.joint_limits import BASE
from iap_learning.policies.layout import TermLayout
from iap_learning.tasks.agents import AgentSettings, ScriptedAgent
from iap_learning.tasks.episodes import Episodes, Observations
from iap_learning.tasks.kind import TaskKind
from iap_learning.tasks.kinds.arm_reach.observations import (
    TERMS,
    ArmInputs,
    Tips,
    rest_of,
    state_rows,
)
from iap_learning.tasks.kinds.arm_reach.rewards import ArmReachWeights, Ends, measure, reward_step
from iap_learning.tasks.kinds.arm_reach.task import ArmReachTask
from iap_learning.tasks.user_functions import UserFunctions
from iap_learning.tasks.user_inputs import WorldArrays, resting
from iap_simulation.arm.worlds import ArmWorlds


class ReachLaw:
    """Commands of all worlds, as `iap_control.arm.tip_velocities` has those of one.

    Args:
        worlds: that fly.
        gains: of the law.
        inverts: whether velocities become the commands at which the plant holds them.

    Raises:
        BadInput: it weighs another number of velocities.
    """

    def __init__(self, worlds: ArmWorlds, gains: EndEffectorGains, *, inverts: bool) -> None:
        self._worlds, self._inverts = worlds, inverts
        self._law = EndEffectorLaw(worlds.arm, gains)
        self._x, self._row = np.zeros(STATE_SIZE), np.zeros(REF_FIXED)

    def __call__(self, targets: Array) -> Array:
        """(B, 7) velocity commands for end effectors that shall rest at targets (B, 3) with a heading of zero.

        Raises:
            SingularPose: platform and arm of a world cannot move it in every direction.
        """
        plants, model = self._worlds.plants, self._worlds.model
        out, at_rest = np.zeros_like(plants.v), np.zeros(4)
        for b, target in enumerate(targets):
            pose, q = plants.pose[b], plants.q[b]
            self._x[P], self._x[Q] = pose[:3], so3.quaternion_exp(np.array([0.0, 0.0, pose[3]]))
            r_d = np.append(target, 0.0)
            v = self._law(r_d, at_rest, pose[:3], yaw_of(self._x[Q]), q)
            velocity_row(self._row, self._x, v)  # and back, as by the messages of a single flight
            v[:BASE] = heading_twist(self._row, self._x[Q])[[0, 1, 2, 5]]
            out[b] = model.held_command(q, v) if self._inverts else v
        return out


TARGET = "arm_reach/target"  # name of the stream of an episode's target


class ArmReachEpisodes(Episodes[ArmReachTask, ArmWorlds]):
    """A task of reaching targets in B worlds.

    Args:
        task: what is to be done.
        worlds: B.
        scenario: values of the scenario's keys by their dotted paths, over those of the task.
        platform: none can be chosen: the scenario's plant and platform fly.
        threads: the plants are not shared by threads.

    Attributes:
        targets: (B, 3) where the end effectors are to be [m].

    Raises:
        BadInput: a platform, a scenario of no identified plant, or anything unknown or impossible in it.
    """

    def __init__(
        self,
        task: ArmReachTask,
        worlds: int,
        *,
        scenario: Mapping[str, Any] | None = None,
        platform: str | None = None,
        threads: int = 1,  # noqa: ARG002 - as of all kinds
    ) -> None:
        if platform is not None:
            raise BadInput(
                f"platform '{platform}': task '{task.name}' flies the scenario's plant and arm"
            )
        settings = {**task.settings, **(scenario or {})}
        flying = ArmWorlds.of(task.scenario, worlds, settings=settings)
        super().__init__(task, flying, task.action.scale())
        self._observer = TERMS.observer(task.observation, self.size, rest_of(self.size))
        self.functions = UserFunctions.of(task, self._observer, task.action.columns, worlds)
        self._rules = ArmReachWeights.of(task, self.dt), Ends.of(task, self.dt)
        self._law = ReachLaw(
            flying, flying.motion.control, inverts=flying.identified.static_inverse
        )
        self.targets, self._tips = np.zeros((worlds, 3)), Tips.empty(worlds)
        self._distance, self._kept = np.zeros(worlds), np.zeros(worlds, dtype=np.int64)
        self._begin(np.arange(worlds))

    @property
    def platform(self) -> str:
        """Name of the arm on its plant."""
        return f"{self.worlds.arm.name} on {self.worlds.identified.file}"

    @property
    def layout(self) -> TermLayout:
        """Terms of an observation with their sizes and scales."""
        return self._observer.layout

    @property
    def status(self) -> Integers:
        """(B,) of the worlds."""
        return self.worlds.status

    @property
    def viewpoint(self) -> None:
        """None: an identified plant has no bodies to be drawn."""

    def report(self) -> dict[str, Array]:
        """Further results of the episodes, (B,) each: distances of the end effectors from their targets [m]."""
        return {"distance": self._distance.copy()}

    def _begin(self, indices: Integers) -> None:
        """Draw the targets of worlds that stand at their start, and forget their last episodes."""
        super()._begin(indices)
        self._kept[indices] = 0
        self.targets[indices] = 0.0
        self._look(indices)
        c, s = (f(self.worlds.plants.pose[indices, 3]) for f in (np.cos, np.sin))
        x, y, z = self._tips.p_PE_H[indices].T
        starts = self.worlds.plants.pose[indices, :3] + np.stack(
            [c * x - s * y, s * x + c * y, z], 1
        )
        low, high = np.array(self.task.target.low), np.array(self.task.target.high)
        dice = uniforms(self.worlds.seeds[indices], TARGET, 3)
        self.targets[indices] = starts + 0.5 * (low + high) + 0.5 * (high - low) * dice
        self._look(indices)
        measure(indices, self._tips, self._distance)

    def _look(self, indices: Integers) -> None:
        self._tips.look(indices, self.worlds.plants, self.worlds.chain, self.targets)

    def _fly(self, values: Array) -> None:
        for _ in range(self.task.repeat):
            self.worlds.fly(values)

    def _fly_scripted(self) -> None:
        """Fly by the scenario's law (27), its speeds as it asks for them."""
        for _ in range(self.task.repeat):
            self.worlds.fly(self._law(self.targets))

    def _assess(self) -> Array:
        self._look(np.arange(self.count))
        reward = np.empty(self.count)
        reward_step(
            (self._action, self._before),
            self._tips,
            self._distance,
            self.worlds.cut,
            self._rules,
            self.worlds.status,
            (self.steps, self._kept, self.outcome),
            reward,
        )
        return reward

    def observe(self, indices: Integers | None = None) -> Observations:
        """Observations (B, n) of the worlds' present states, or (indices, n) of some worlds."""
        which = np.arange(self.count) if indices is None else np.asarray(indices)
        inputs, unsound = self._term_inputs(), self.unsound
        return self._observer(inputs, which, self._known_arrays, unsound)

    def _term_inputs(self) -> ArmInputs:
        return ArmInputs(self._tips, self.worlds.plants, self._action)

    def _true_arrays(self) -> WorldArrays:
        goals = resting(self.count, REF_FIXED)
        goals[:, REF_P] = self.targets
        x, every = state_rows(self.worlds.plants)[:, None], np.arange(self.count)
        return WorldArrays(x, goals, every, np.zeros((self.count, 0, 4)), self._action)


class KinematicSettings(AgentSettings):
    """Gains of the agent; what is not named here is the scenario's.

    Attributes:
        slope: K_1 [1/s].
        speed: K_2 [m/s], [rad/s].
        weights: of the velocities.
        static_inverse: whether velocities become the commands at which the plant holds them.
    """

    guide: Literal["kinematic"]
    slope: Four
    speed: Four
    weights: tuple[Positive, ...]
    static_inverse: Flag


class KinematicAgent(ScriptedAgent[KinematicSettings, ArmReachEpisodes]):
    """The kinematic law (27) with gains of its own; it knows the whole state and the plant's model."""

    SETTINGS = KinematicSettings
    TASKS = "moves an end effector"

    def __init__(self, settings: KinematicSettings, episodes: ArmReachEpisodes) -> None:
        keys = settings.model_dump(exclude={*AgentSettings.model_fields, "static_inverse"})
        gains = episodes.worlds.motion.control.model_copy(update=keys)
        self._law = ReachLaw(episodes.worlds, gains, inverts=settings.static_inverse)
        super().__init__(settings, episodes)

    def values(self) -> Array:
        """(B, 7) velocities of platform and joints at the present instant."""
        return self._law(self.episodes.targets)


ARM_REACH = TaskKind(
    name="arm_reach",
    task=ArmReachTask,
    episodes=ArmReachEpisodes,
    agents={"kinematic": KinematicAgent},
)
