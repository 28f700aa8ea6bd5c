# SPDX-License-Identifier: BSD-3-Clause
"""A kind of tasks by its parts, and its episode in an engine."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from iap_description.arrays import Array
from iap_description.errors import BadInput
from iap_description.signals import Reference
from iap_description.states import Command
from iap_learning.policies.policy import Policy
from iap_learning.tasks.agents import ScriptedAgent
from iap_learning.tasks.episodes import AnyEpisodes
from iap_learning.tasks.senses import Sense, Senses
from iap_learning.tasks.task import Task
from iap_physics.engines.engine import RUNNING
from iap_sensors.mounted.sensor_suite import SensorInput
from iap_simulation.loop.agents import FlightAgent, JointGuidance
from iap_simulation.scenario.scenario import Scenario
from iap_simulation.simulation.simulation import Simulation
from iap_simulation.tasks.outcomes import ARRIVED
from iap_simulation.vehicles.vehicle import Vehicle

ERROR_TIME = 1.0  # over which errors are averaged at an episode's end [s]


class EngineEpisode(ABC):
    """Follows one episode.

    Attributes:
        outcome: so far, number in `iap_simulation.tasks.outcomes.OUTCOMES`.
    """

    outcome: int = RUNNING

    @abstractmethod
    def observe(self) -> None:
        """Observe the end of a control period, each once and in order."""

    @property
    def succeeded(self) -> bool:
        """True if it is a success if it ends here."""
        return self.outcome == ARRIVED

    @property
    @abstractmethod
    def measures(self) -> Mapping[str, float]:
        """Measures of the episode so far, by their names in `iap_learning.evaluation.results.UNITS`."""


AnyAgent = ScriptedAgent[Any, Any]
NO_AGENTS: Mapping[str, type[AnyAgent]] = {}
NO_SETTINGS: Mapping[str, Any] = {}


def _whole_scenario(_: Task) -> None:
    """None: the whole scenario is flown."""


class FlyingPolicy(Protocol):
    """A policy that flies one platform, in the loop and between messages."""

    @property
    def info(self) -> Mapping[str, Any]:
        """Name and task of the policy."""

    @property
    def inputs(self) -> Sequence[SensorInput]:
        """Receivers of the sensors' readings that it acts on."""

    @property
    def asks_for(self) -> tuple[Sense, ...]:
        """Its senses beside the state."""

    @property
    def gives_references(self) -> bool:
        """True if its outputs are references for the vehicle's controller; else they are commands of its aircraft."""

    @property
    def closes(self) -> bool | None:
        """True if the gripper shall close after the last output; None of a policy that commands none."""

    def lacks(self, stamp: int, k: int) -> Sequence[str]:
        """Topics of the sensors that instant k of a stamp [ns] needs a reading of, and has none yet."""

    def __call__(
        self, k: int, x: Array, rpm: Array, reference: Array, senses: Senses
    ) -> Reference | Command:
        """The output at control instant k: a reference for the vehicle's controller, or a command of its aircraft.

        Args:
            k: number of the instant; none comes twice.
            x: (bodies, 13) state.
            rpm: (N, 4) rotor speeds [rpm].
            reference: (19 + N) row of the scenario's reference.
            senses: with what it asks for.
        """


class SingleRun(NamedTuple):
    """Episodes of a kind as single runs of its scenario in engines.

    Attributes:
        episode: makes what follows the episode at whose start a simulation stands.
        engine: the closest one to many worlds; auto is what is installed.
        script: value of the scenario's key `policy` by which it flies without learning.
        duration: length of a run that stands for an episode [s]; None flies the whole scenario.
        by_policy: values of the scenario's keys by their dotted paths while a policy flies.
    """

    episode: Callable[[Simulation, Any], EngineEpisode]
    engine: str
    script: str | None
    duration: Callable[[Any], float | None] = _whole_scenario
    by_policy: Mapping[str, Any] = NO_SETTINGS


class EpisodesMaker(Protocol):
    """Makes a task in many worlds."""

    def __call__(
        self,
        task: Any,  # noqa: ANN401 - of the kind
        worlds: int,
        *,
        scenario: Mapping[str, Any] | None,
        platform: str | None,
        threads: int,
    ) -> AnyEpisodes:
        """A task in B worlds.

        Args:
            task: of the kind.
            worlds: B.
            scenario: values of the scenario's keys by their dotted paths, over those of the task.
            platform: that flies, in place of the task's.
            threads: that share the worlds; no result depends on how many.
        """


class TaskKind(NamedTuple):
    """A kind of tasks; a part that is None is one that the kind lacks.

    Attributes:
        name: value of the key `episodes` of its files.
        task: record of its files.
        episodes: makes its worlds, with actions, observations, rewards and outcomes.
        agents: hand-written ones, by the key `guide` of their files.
        single_run: its episodes in engines.
        policy_agent: makes a policy fly a scenario: policy, task, scenario, vehicles.
        policy_guidance: makes a policy guide modules that dock: policy, task, scenario, vehicles.
        flying_policy: makes a policy fly one platform between messages: policy, task, scenario, vehicle.
    """

    name: str
    task: type[Task]
    episodes: EpisodesMaker | None = None
    agents: Mapping[str, type[AnyAgent]] = NO_AGENTS
    single_run: SingleRun | None = None
    policy_agent: Callable[[Policy, Any, Scenario, Sequence[Vehicle]], FlightAgent] | None = None
    policy_guidance: Callable[[Policy, Any, Scenario, Sequence[Vehicle]], JointGuidance] | None = (
        None
    )
    flying_policy: Callable[[Policy, Any, Scenario, Vehicle], FlyingPolicy] | None = None

    def part(self, name: str, needed_by: str) -> Any:  # noqa: ANN401 - of the part
        """A part.

        Args:
            name: of it.
            needed_by: what needs it, for errors.

        Raises:
            BadInput: the kind lacks it.
        """
        part = getattr(self, name)
        if part is None:
            raise BadInput(f"{needed_by}: tasks of kind '{self.name}' have no part '{name}'")
        return part
