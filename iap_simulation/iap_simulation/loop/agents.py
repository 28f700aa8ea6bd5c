# SPDX-License-Identifier: BSD-3-Clause
"""Agents and guidance by the key `policy` of a scenario: registered ones by name, a user's own as ``module:Class``.

Packages register theirs as entry points of the groups `AGENTS` and `GUIDANCE`: functions (scenario, vehicles) ->
`FlightAgent`, or -> `JointGuidance` for modules. The entry `POLICY` takes every name that no other entry has: those of
policies, and of their files.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any, Protocol

from iap_description.arrays import Array
from iap_description.config.alternatives import alternatives
from iap_description.config.plugins import load_class
from iap_description.errors import BadInput, shown
from iap_description.signals import Reference
from iap_description.states import Command
from iap_physics.plant.plant import Plant
from iap_sensors.mounted.sensor_suite import ReadingSink
from iap_simulation.loop.roles import Agent
from iap_simulation.scenario.scenario import Scenario
from iap_simulation.tasks.monitor import ObservedPlant, TaskMonitor
from iap_simulation.vehicles.vehicle import Vehicle

AGENTS, GUIDANCE = "iap.agents", "iap.guidance"  # groups of entry points
METHODS = {AGENTS: ("command",), GUIDANCE: ("reference",)}  # of a user's own class
SCRIPT, POLICY = "script", "policy"  # entries
KEY = "policy"  # of a scenario


class FlightAgent(Agent, Protocol):
    """An agent with what else takes part in its flight.

    A user's own needs no more than `command`.
    """

    @property
    def followers(self) -> Collection[int]:
        """Vehicles whose references count for it; without this all of them."""

    @property
    def task(self) -> TaskMonitor[ObservedPlant] | None:
        """Monitor of the agent's own task; None where it has none."""

    @property
    def sinks(self) -> Sequence[ReadingSink]:
        """Receivers of the sensors' readings for it."""

    @property
    def info(self) -> Mapping[str, Any]:
        """Key `policy` of metrics.json."""


class JointGuidance(Protocol):
    """Gives the reference of a module that docks in place of its coordinator's."""

    @property
    def info(self) -> Mapping[str, Any]:
        """Key `policy` of metrics.json; a user's own needs none."""

    def reference(
        self, k: int, shared: Array, plant: Plant, reference: Reference, *, is_due: bool
    ) -> Reference:
        """The reference at control instant k, of a module whose joint is about to close.

        Args:
            k: number of the instant; each comes once, in order.
            shared: (n, 13) rows of all modules as they are measured, in one frame.
            plant: at that instant.
            reference: of the module that docks, by its coordinator.
            is_due: whether this is an instant of coordination.
        """


class ProgramAgent:
    """The agent that is the program which steps the simulation.

    Args:
        names: of the vehicles, in their order.
    """

    def __init__(self, names: Sequence[str]) -> None:
        self._names = names
        self._commands: Mapping[int, Command] = {}

    def number(self, name: str) -> int:
        """Number of a vehicle.

        Raises:
            BadInput: no such vehicle.
        """
        if name not in self._names:
            raise BadInput(f"no vehicle '{name}', but {', '.join(self._names)}")
        return self._names.index(name)

    def take(self, command: Command | Mapping[str, Command] | None) -> None:
        """Take the commands of the present control period, see `Simulation.step`.

        Raises:
            BadInput: no such vehicle, no command, or several and a command without a name.
        """
        commands: list[object] = (
            list(command.values()) if isinstance(command, Mapping) else [command]
        )
        for one in commands:
            if not isinstance(one, Command | None):
                what = (
                    "an iap_description.states.Command is expected, or several by vehicles' names"
                )
                raise BadInput(f"step: {what} (got {shown(one)})")
        if command is None:
            self._commands = {}
        elif isinstance(command, Mapping):
            self._commands = {self.number(name): each for name, each in command.items()}
        elif len(self._names) > 1:
            raise BadInput(f"step: whose command is it? name one of {', '.join(self._names)}")
        else:
            self._commands = {0: command}

    def command(
        self,
        k: int,  # noqa: ARG002 - an agent's arguments
        plant: Plant,  # noqa: ARG002
        references: Sequence[Reference],  # noqa: ARG002
    ) -> Mapping[int, Command]:
        """The commands that were taken last."""
        return self._commands


@cache  # since files of all that is installed are read for it
def registered(group: str) -> Mapping[str, EntryPoint]:
    """Entry points of a group, by their names in alphabetical order."""
    return {each.name: each for each in sorted(entry_points(group=group), key=lambda e: e.name)}


def make_agent(scenario: Scenario, vehicles: Sequence[Vehicle]) -> FlightAgent | None:
    """The agent of a scenario; None where the vehicles' own controllers fly, guided or not.

    Raises:
        BadInput: there is no such agent, or it cannot fly this scenario.
    """
    if scenario.policy is None or scenario.modules is not None:
        return None
    agent: FlightAgent = _maker(scenario.policy, AGENTS)(scenario, vehicles)
    return agent


def make_joint_guidance(scenario: Scenario, vehicles: Sequence[Vehicle]) -> JointGuidance | None:
    """The guidance of modules that dock; None where their coordinator guides them.

    Raises:
        BadInput: there is no such guidance, or it cannot guide these modules.
    """
    if scenario.policy is None:
        return None
    guidance: JointGuidance = _maker(scenario.policy, GUIDANCE)(scenario, vehicles)
    return guidance


def info_of(agent: object, scenario: Scenario) -> dict[str, Any]:
    """Key `policy` of metrics.json: what an agent or guidance says of itself, or its name."""
    return dict(getattr(agent, "info", {"name": scenario.policy}))


def followers_of(agent: object, count: int) -> Collection[int]:
    """Those of so many vehicles whose references an agent follows; all where nobody but controllers flies."""
    followers: Collection[int] = getattr(agent, "followers", range(count))
    return followers


def unfollowed(agent: object, names: Sequence[str]) -> tuple[str, ...]:
    """Names of those vehicles whose references an agent does not follow."""
    followers = followers_of(agent, len(names))
    return tuple(name for i, name in enumerate(names) if i not in followers)


def _maker(name: str, group: str) -> Callable[[Scenario, Sequence[Vehicle]], Any]:
    """The function or class that the key `policy` names.

    Raises:
        BadInput: there is none.
    """
    if ":" in name:
        return load_class(name, METHODS[group], key=KEY)
    entries = registered(group)
    entry = entries.get(name) or entries.get(POLICY)
    if entry is None:
        other = f"{alternatives(name, entries)} (or module:Class)"
        raise BadInput(f"key '{KEY}': unknown name '{name}': {other}")
    maker: Callable[[Scenario, Sequence[Vehicle]], Any] = entry.load()
    return maker
