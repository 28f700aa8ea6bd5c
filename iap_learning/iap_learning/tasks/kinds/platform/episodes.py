# SPDX-License-Identifier: BSD-3-Clause
"""Tasks of one platform in many worlds."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from iap_description.arrays import Array, Booleans, Integers
from iap_description.states import P
from iap_learning.policies.layout import TermLayout
from iap_learning.tasks.depth_camera import DepthCamera
from iap_learning.tasks.episodes import CameraPlacement, Episodes, Observations
from iap_learning.tasks.kinds.platform.assessment import StepInputs, assess
from iap_learning.tasks.kinds.platform.clearance import Clearance
from iap_learning.tasks.kinds.platform.history import History
from iap_learning.tasks.kinds.platform.image_memory import ImageMemory
from iap_learning.tasks.kinds.platform.inertial import means_of
from iap_learning.tasks.kinds.platform.observation_checks import check_in_worlds
from iap_learning.tasks.kinds.platform.observations import NO_PARTS, ObservationInputs
from iap_learning.tasks.kinds.platform.observer import Observer
from iap_learning.tasks.kinds.platform.outcome import EpisodeCounts, Rules, begin
from iap_learning.tasks.kinds.platform.rewards import RewardTerms
from iap_learning.tasks.kinds.platform.task import ESTIMATED, PlatformTask
from iap_learning.tasks.kinds.platform.term_table import INERTIAL_TERMS
from iap_learning.tasks.terms import TermWorld
from iap_learning.tasks.user_functions import UserFunctions
from iap_learning.tasks.user_inputs import TermInputs, WorldArrays
from iap_learning.tasks.user_quantities import TermsInWorlds, UserQuantities
from iap_simulation.batch.actions import act, action_size
from iap_simulation.batch.worlds import Worlds


class PlatformEpisodes(Episodes[PlatformTask, Worlds]):
    """A task of one platform in B worlds.

    Args:
        task: what is to be done.
        worlds: B.
        scenario: values of the scenario's keys by their dotted paths, over those of the task.
        platform: that flies, in place of the task's.
        threads: that share the worlds; no result depends on how many.

    Attributes:
        observer: makes the terms.
        camera: takes the depth images, whose numbers follow the terms; None where there are none.

    Raises:
        BadInput: the scenario cannot be flown side by side, or anything unknown or impossible in it.
    """

    def __init__(
        self,
        task: PlatformTask,
        worlds: int,
        *,
        scenario: Mapping[str, Any] | None = None,
        platform: str | None = None,
        threads: int = 1,
    ) -> None:
        flying = Worlds.of(
            task.scenario,
            worlds,
            settings={**task.settings, **(scenario or {})},
            threads=threads,
            platform=platform or task.platform,
        )
        action, aircraft = task.action, flying.rpm.shape[1]
        columns = action_size(action.kind, aircraft)
        super().__init__(task, flying, action.scale(columns // action.columns))
        self.observer = Observer(task.observation, aircraft=aircraft, actions=self.size)
        check_in_worlds(task, flying)
        example = TermInputs.at_rest(aircraft, self.size)
        self._user = UserQuantities(task.name, task.own_quantities, worlds, example)
        world = TermWorld((), example, self.size)
        self.functions = UserFunctions(task, world, columns=columns, worlds=worlds)
        self._term_values = np.empty((worlds, self.observer.size), np.float32)
        self._history = History(worlds, task.history, self.observer.size)
        self._has_imu = any(name in task.observation for name in INERTIAL_TERMS)
        self.camera = None
        if task.depth is not None:
            self.camera = DepthCamera(task.depth, self.worlds)
            self._images = ImageMemory(worlds, task.image_ages, self.camera.size)
        self._clearance = Clearance(self.worlds) if task.minds_obstacles else None
        self._no_obstacles = np.full(worlds, np.inf)
        names = self._user.names
        self._rules = Rules.of(task, self.dt, names)
        self._terms = RewardTerms.of(task.reward, names)
        self._last = self._last_goals() if task.goal == "last" else None
        self._results = EpisodeCounts.of(worlds)._replace(steps=self.steps, outcome=self.outcome)
        self._begin(np.arange(worlds))

    @property
    def layout(self) -> TermLayout:
        """Terms of an observation with their sizes and scales."""
        pixels = () if self.camera is None else self._images.layout(self.camera.term)
        return (*self._history.layout(self.observer.layout), *pixels)

    @property
    def status(self) -> Integers:
        """(B,) of the worlds."""
        return self.worlds.status

    def report(self) -> dict[str, Array]:
        """Further results of the episodes, (B,) each: distances of the platforms' origins from their goals [m]."""
        return {"distance": self._results.distance.copy()}

    @property
    def goal(self) -> Array:
        """(3,) place at which the scenario's references end [m]."""
        return self.worlds.timeline.goal[P]

    @property
    def viewpoint(self) -> CameraPlacement:
        """Place of a camera."""
        return CameraPlacement(self.worlds.timeline.row(0)[P], self.goal)

    def _begin(self, indices: Integers) -> None:
        super()._begin(indices)
        begin(indices, self._inputs(), self._results)
        self._user.begin(indices)
        if self._history.steps > 1:
            self._history.begin(indices, self.observer(self._known_inputs(), indices))

    def _fly(self, values: Array) -> None:
        act(self.task.action.kind, values, self.worlds, self.task.repeat)

    def _fly_scripted(self) -> None:
        if self.worlds.flies_at_once:
            self.worlds.fly(self.task.repeat)
            return
        for _ in range(self.task.repeat):
            self.worlds.advance()

    def observe(self, indices: Integers | None = None) -> Observations:
        """Observations (B, n) of the worlds' present states, or (indices, n) of some worlds."""
        now = self.observer(self._known_inputs(), indices, self._user.unsound)
        terms = self._history(now, indices)
        if self.camera is None:
            return terms
        which = np.arange(self.count) if indices is None else indices
        starting = which[self.steps[which] == 0]
        if starting.size:
            self._images.begin(starting, self.camera(starting))
        return np.hstack([terms, self._images(which)])

    def _step_observation(self) -> Observations:
        terms = self._history(self._term_values)
        if self.camera is None:
            return terms
        self._images.add(self.camera())
        return np.hstack([terms, self._images()])

    def _success(self) -> Booleans:
        return self._results.success.copy()

    def _inputs(self) -> ObservationInputs:
        worlds = self.worlds
        return ObservationInputs(worlds.state, *self._goals(), worlds.rpm, self._action)

    def _true_arrays(self) -> WorldArrays:
        return self._inputs().arrays

    def _known_arrays(self) -> WorldArrays:
        return self._known_inputs().arrays

    def _known_inputs(self) -> ObservationInputs:
        """Inputs of observations: the truth, or what is measured or estimated in its place."""
        inputs, worlds = self._inputs(), self.worlds
        if self.task.observed == ESTIMATED:
            inputs = inputs._replace(x=worlds.known_states().copy())
        elif self.task.observed == "measured":
            x = inputs.x.copy()
            x[:, 0] = worlds.measured
            inputs = inputs._replace(x=x)
        if not self._has_imu:
            return inputs
        means, has_flown = np.zeros((self.count, 6)), self.steps > 0
        if has_flown.any():  # before, nothing has been measured
            means[has_flown] = means_of(*(each[has_flown, 0] for each in worlds.imu[:2]))
        return inputs._replace(imu=means)

    def _user_terms(self) -> TermsInWorlds:
        """Terms of the user's own with the worlds that they get, but for those of the key `own`."""
        true = self._true_arrays()
        yield from ((term, true) for term in self._user.terms)
        known = self._known_arrays()
        yield from ((placed.term, known) for placed in self.observer.user_terms)

    def _last_goals(self) -> tuple[Array, Integers]:
        return self.worlds.timeline.goal[None], np.zeros(self.count, dtype=np.int64)

    def _goals(self) -> tuple[Array, Integers]:
        """Reference rows (K, 19 + N), and the row of each world's goal (B,)."""
        return self._last if self._last is not None else self.worlds.reference_rows()

    def _assess(self) -> Array:
        """Count, reward and observe a step in one compiled pass over all worlds."""
        clearance = self._no_obstacles if self._clearance is None else self._clearance()
        inputs, status, user = self._inputs(), self.worlds.status, self._user
        reward = np.empty(self.count)
        out = np.empty((self.count, self.observer.size), np.float32)
        is_apart = self._has_imu or self.task.observed != "truth"
        parts = NO_PARTS if is_apart else self.observer.parts
        task = (self._terms, self._rules, parts)

        def work(first: int, end: int) -> None:
            fates = status
            if user.is_needed or self.observer.user_terms:
                which = np.arange(first, end)
                user.fill(which, inputs.arrays)
                self.observer.fill_user_terms(which, inputs, out[first:end], user.unsound)
                fates = user.fates(status)
            step = StepInputs(self._before, clearance, fates, user.values)
            assess(first, end, inputs, step, task, self._results, reward, out)

        self.worlds.threads.run(work, self.count)
        if is_apart:
            out = self.observer(self._known_inputs(), None, user.unsound)
        if user.is_needed or self.observer.user_terms:
            user.warn(self.episode_seeds, self._user_terms)
        self._history.add(out)
        self._term_values = out
        return reward
